import { queryOptions } from '@tanstack/react-query'
import type { CalculationAnswer } from '../../../../src/http/cabinet/tariffs/prices.ts'
import { ask } from '../../api.ts'
import { brandNames, type SenderType, senderTypeNames, type TrafficType, trafficTypeNames } from '../names.ts'

/** The input of the calculator. All of it is in the URL. */
export type Question = {
  /** Only for staff without a chosen company. */
  partner?: number | undefined
  channel?: string | undefined
  country?: string | undefined
  sender?: SenderType | undefined
  brand?: (typeof brandNames)[number] | 'OTHER' | undefined
  traffic?: TrafficType | undefined
  messages?: number | undefined
  parts?: number | undefined
  volume?: number | undefined
}

const oneOf = <T extends string>(value: unknown, known: readonly T[]): T | undefined =>
  known.includes(value as T) ? (value as T) : undefined
const countIn = (value: unknown, most: number): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most ? (value as number) : undefined

const MOST_MESSAGES = 1_000_000_000

export const readQuestion = (search: Record<string, unknown>): Question => ({
  partner: countIn(search.partner, Number.MAX_SAFE_INTEGER),
  channel: typeof search.channel === 'string' ? search.channel : undefined,
  country: typeof search.country === 'string' && /^([A-Z]{2}|\*)$/.test(search.country) ? search.country : undefined,
  sender: oneOf(search.sender, senderTypeNames),
  brand: oneOf(search.brand, [...brandNames, 'OTHER']),
  traffic: oneOf(search.traffic, trafficTypeNames),
  messages: countIn(search.messages, MOST_MESSAGES),
  parts: countIn(search.parts, 100),
  volume: countIn(search.volume, MOST_MESSAGES),
})

/** The defaults. */
export const usual = {
  channel: 'SMS',
  country: 'RU',
  sender: 'COMMON',
  brand: 'MTS',
  traffic: 'PROMO',
  messages: 10_000,
  parts: 1,
} as const

export function calculationQuery(company: number | undefined, question: Question) {
  const asked = { ...usual, ...Object.fromEntries(Object.entries(question).filter(([, value]) => value !== undefined)) }
  const { channel, sender, brand, traffic, partner, ...rest } = asked as Required<Question>
  const given = {
    ...rest,
    channelType: channel,
    senderType: sender,
    brand,
    trafficType: traffic,
    ...(company === undefined ? (partner ? { partnerId: partner } : {}) : { companyId: company }),
  }
  const query = new URLSearchParams(Object.entries(given).map(([name, value]) => [name, String(value)]))
  return queryOptions({
    queryKey: ['tariffs', 'calculation', String(query)],
    queryFn: () => ask<CalculationAnswer>('GET', `/prices/calculation?${query}`),
    placeholderData: before => before,
  })
}
