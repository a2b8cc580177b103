import { decimal } from './decimals.ts'

/**
 * Numbers, moments and names as a language writes them. What the browser needs for it is slow to make and quick to use:
 * it is made when a text is first wanted, and kept.
 */
export const numberFormat =
  (locale: string, options: Intl.NumberFormatOptions = {}) =>
  (value: number) =>
    decimal(locale, options, value) ?? numbers(locale, options).format(value)

export const dateFormat = (locale: string, options?: Intl.DateTimeFormatOptions) => (moment: string | Date) =>
  dates(locale, options).format(new Date(moment))

/** How long ago, below zero, or how long until. */
export const relativeTimeFormat = (locale: string) => (value: number, unit: Intl.RelativeTimeFormatUnit) =>
  spans(locale, { numeric: 'auto' }).format(value, unit)

export const pluralOf = (locale: string, count: number) => plurals(locale, {}).select(count)

/** `₽` of `RUB`. */
export const signOfCurrency = (locale: string, currency: string) =>
  currency === 'RUB' ? '₽' : signByBrowser(locale, currency)

const signByBrowser = (locale: string, currency: string) =>
  numbers(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')!.value

/** The zone of this device's clock, on which the pages show moments. */
export const zoneOfReader = () => dates('en', {}).resolvedOptions().timeZone

export const nameOfCountry = (locale: string, code: string) => nameIn(names(locale, { type: 'region' }), code)
export const nameOfLanguage = (locale: string, code: string) => nameIn(names(locale, { type: 'language' }), code)

const numbers = kept<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat)
const dates = kept<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
const spans = kept<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(Intl.RelativeTimeFormat)
const plurals = kept<Intl.PluralRulesOptions, Intl.PluralRules>(Intl.PluralRules)
const names = kept<Intl.DisplayNamesOptions, Intl.DisplayNames>(Intl.DisplayNames)

/** A code that is none is shown as it is. */
function nameIn(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

/** There are a few dozen of them, whatever a person does. */
function kept<Options, Made>(Maker: new (locale: string, options: Options) => Made) {
  const made = new Map<string, Made>()
  return (locale: string, options: Options = {} as Options): Made => {
    const key = locale + JSON.stringify(options)
    const known = made.get(key) ?? new Maker(locale, options)
    made.set(key, known)
    return known
  }
}
