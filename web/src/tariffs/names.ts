import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { dateFormat, numberFormat } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'
import type { Place, Step, Tariff } from './tariffs.ts'

const senderTypes = {
  COMMON: 'tariffs.sender.COMMON',
  START: 'tariffs.sender.START',
  PRO: 'tariffs.sender.PRO',
} as const
const trafficTypes = {
  PROMO: 'tariffs.traffic.PROMO',
  SERVICE: 'tariffs.traffic.SERVICE',
  TRANSACT: 'tariffs.traffic.TRANSACT',
  AUTHORIZE: 'tariffs.traffic.AUTHORIZE',
} as const
const models = { FIXED: 'tariffs.model.FIXED', SCALED: 'tariffs.model.SCALED', MAU: 'tariffs.model.MAU' } as const

export type SenderType = keyof typeof senderTypes
export type TrafficType = keyof typeof trafficTypes
export type PricingModel = keyof typeof models
export const senderTypeNames: SenderType[] = ['COMMON', 'START', 'PRO']
export const trafficTypeNames: TrafficType[] = ['PROMO', 'SERVICE', 'TRANSACT', 'AUTHORIZE']
export const modelNames: PricingModel[] = ['FIXED', 'SCALED', 'MAU']

/** Translates sender types, brands and traffic types. */
export function useTariffNames() {
  const { say } = useWords()
  const names = useTrafficNames()
  const senderType = (type: SenderType) => say(senderTypes[type])
  const brand = (name: Tariff['brand']) => (name === null ? say('tariffs.anyOperator') : names.operator(name))
  const trafficType = (type: TrafficType | null) => say(type === null ? 'tariffs.anyTraffic' : trafficTypes[type])
  return {
    senderType,
    brand,
    trafficType,
    model: (model: PricingModel) => say(models[model]),
    /** The unit that a pricing model counts. */
    counted: (model: PricingModel) => say(model === 'MAU' ? 'tariffs.recipients' : 'tariffs.messages'),
    place: (place: Place) =>
      [senderType(place.senderType), brand(place.brand), trafficType(place.trafficType)].join(' · '),
  }
}

/** Prices have two to four decimals. Days are in the billing zone. */
export function useTariffFormats(zone: string) {
  const { language, say } = useWords()
  const locale = locales[language]
  const price = numberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
  const date = dateFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: zone })
  const day = (moment: string) => date(moment).replace(/\sг\.$/, '')
  return {
    price,
    day,
    since: (moment: string | null) => (moment === null ? say('tariffs.always') : day(moment)),
    /** The highest and the lowest price of the steps. */
    span: (steps: readonly Step[]) => {
      const all = steps.map(step => step.price)
      const [most, least] = [Math.max(...all), Math.min(...all)]
      return most === least ? price(most) : `${price(most)} – ${price(least)}`
    },
  }
}

const DAY_MS = 24 * 3600_000

/** Tomorrow in the time zone, in the format of a date input. */
export const tomorrowIn = (zone: string) => dateFormat('sv-SE', { timeZone: zone })(new Date(Date.now() + DAY_MS))
