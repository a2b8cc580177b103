import { written, zoneOfDevice } from './dates.ts'
import { decimal } from './decimals.ts'
import { pluralForm } from './plurals.ts'

/**
 * Numbers, times and names as a language writes them. The formatters of the browser are slow to create and fast to use,
 * so each is created when it is first needed, and kept.
 */
export const numberFormat =
  (locale: string, options: Intl.NumberFormatOptions = {}) =>
  (value: number) =>
    decimal(locale, options, value) ?? numbers(locale, options).format(value)

export const dateFormat =
  (locale: string, options: Intl.DateTimeFormatOptions = {}) =>
  (moment: string | Date) =>
    written(locale, options, new Date(moment)) ?? dates(locale, options).format(new Date(moment))

/** A time span relative to now: negative is past. */
export const relativeTimeFormat = (locale: string) => (value: number, unit: Intl.RelativeTimeFormatUnit) =>
  spans(locale, { numeric: 'auto' }).format(value, unit)

export const pluralOf = (locale: string, count: number) =>
  pluralForm(locale, count) ?? plurals(locale, {}).select(count)

/** `₽` of `RUB`. */
export const signOfCurrency = (locale: string, currency: string) =>
  currency === 'RUB' ? '₽' : signByBrowser(locale, currency)

const signByBrowser = (locale: string, currency: string) =>
  numbers(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')?.value ?? currency

/** The time zone of this device. The pages show times in it. */
export const zoneOfReader = () => zoneOfDevice() ?? dates('en', {}).resolvedOptions().timeZone

export const nameOfCountry = (locale: string, code: string) => nameIn(names(locale, { type: 'region' }), code)
export const nameOfLanguage = (locale: string, code: string) => nameIn(names(locale, { type: 'language' }), code)

const numbers = kept<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat)
const dates = kept<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
const spans = kept<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(Intl.RelativeTimeFormat)
const plurals = kept<Intl.PluralRulesOptions, Intl.PluralRules>(Intl.PluralRules)
const names = kept<Intl.DisplayNamesOptions, Intl.DisplayNames>(Intl.DisplayNames)

/** An unknown code is shown unchanged. */
function nameIn(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

/** The formatters by language and options: a few dozen at most. */
function kept<Options, Made>(Maker: new (locale: string, options: Options) => Made) {
  const made = new Map<string, Made>()
  return (locale: string, options: Options = {} as Options): Made => {
    const key = locale + JSON.stringify(options)
    const known = made.get(key) ?? new Maker(locale, options)
    made.set(key, known)
    return known
  }
}
