type Names = { months: string[]; ofDay: string[]; short: string[]; weekdays: string[] }
type Fields = {
  year: number
  month: number
  day: number
  weekday: number
  hour: number
  minute: number
  second: number
}
type Options = Intl.DateTimeFormatOptions

const listOf = (text: string) => text.split(' ')

const english = listOf('January February March April May June July August September October November December')
/** Names of months alone and after a day, short names after a day, and days of the week from Sunday. */
const names: Record<string, Names> = {
  'en-GB': {
    months: english,
    ofDay: english,
    short: listOf('Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec'),
    weekdays: listOf('Sunday Monday Tuesday Wednesday Thursday Friday Saturday'),
  },
  'ru-RU': {
    months: listOf('январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь'),
    ofDay: listOf('января февраля марта апреля мая июня июля августа сентября октября ноября декабря'),
    short: listOf('янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.'),
    weekdays: listOf('воскресенье понедельник вторник среда четверг пятница суббота'),
  },
}

/** The forms that `written` knows, with a letter for each part: `w`eekday, `d`ay, `m`onth, `y`ear, and the `t`ime. */
const patterns: Record<string, string[]> = {
  'en-GB': ['t', 'm', 'm y', 'd m', 'd m y', 'd m, t', 'w d m', 'w, d m y'],
  'ru-RU': ['t', 'm', 'm y г.', 'd m', 'd m y г.', 'd m, t', 'w, d m', 'w, d m y г.'],
}

/**
 * A time as our two languages write it, equal to `Intl.DateTimeFormat`. The first `Intl.DateTimeFormat` takes a tenth of
 * the time in which a page is drawn. Undefined if only the browser knows the format or the zone.
 */
export function written(locale: string, options: Options, moment: Date): string | undefined {
  const fields = isUsual(options) && names[locale] ? fieldsOf(moment, options.timeZone) : undefined
  const pattern = patterns[locale]?.find(pattern => lettersOf(pattern) === lettersWanted(options))
  if (!fields || !pattern) return undefined
  const parts = partsOf(names[locale]!, options, fields)
  return pattern.replace(/[a-z]/g, letter => parts[letter as keyof typeof parts])
}

const lettersOf = (pattern: string) => pattern.replace(/[^a-z]/g, '')

const lettersWanted = ({ weekday, day, month, year, hour }: Options) =>
  [weekday && 'w', day && 'd', month && 'm', year && 'y', hour && 't'].filter(Boolean).join('')

const partsOf = (names: Names, options: Options, { year, month, day, weekday, hour, minute, second }: Fields) => ({
  w: names.weekdays[weekday]!,
  d: String(day),
  m: (options.month === 'short' ? names.short : options.day ? names.ofDay : names.months)[month]!,
  y: String(year),
  t: (options.second ? [hour, minute, second] : [hour, minute]).map(twoDigits).join(':'),
})

const twoDigits = (value: number) => String(value).padStart(2, '0')

const usual: Partial<Record<keyof Options, readonly unknown[]>> = {
  weekday: ['long'],
  day: ['numeric'],
  month: ['short', 'long'],
  year: ['numeric'],
  hour: ['2-digit'],
  minute: ['2-digit'],
  second: ['2-digit'],
}

/** A short month stands only after a day, a time only after a short month, and an hour only before its minute. */
const isUsual = (options: Options) =>
  Object.entries(options).every(
    ([name, value]) => name === 'timeZone' || usual[name as keyof Options]?.includes(value),
  ) &&
  (options.month !== 'short' || options.day !== undefined) &&
  (options.month !== 'long' || options.hour === undefined) &&
  (options.hour === undefined) === (options.minute === undefined) &&
  (options.second === undefined || options.minute !== undefined)

// Zones ---------------------------------------------------------------------------------------------------------------

/** The part of Temporal that this module needs. Not every browser has it. */
type Zoned = {
  year: number
  month: number
  day: number
  dayOfWeek: number
  hour: number
  minute: number
  second: number
}
type TemporalLike = {
  Now: { timeZoneId(): string }
  Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): Zoned } }
}
const temporal = () => (globalThis as { Temporal?: TemporalLike }).Temporal

/** The time zone of this device, if it can be told without `Intl.DateTimeFormat`. */
export const zoneOfDevice = () => temporal()?.Now.timeZoneId()

function fieldsOf(moment: Date, zone: string | undefined): Fields | undefined {
  if (Number.isNaN(moment.getTime())) return undefined
  if (zone === undefined) return fieldsHere(moment)
  if (zone === 'UTC') return fieldsInUtc(moment)
  const Temporal = temporal()
  if (!Temporal) return undefined
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(zone)
  const { year, month, day, dayOfWeek, hour, minute, second } = zoned
  return { year, month: month - 1, day, weekday: dayOfWeek % 7, hour, minute, second }
}

const fieldsHere = (moment: Date): Fields => ({
  year: moment.getFullYear(),
  month: moment.getMonth(),
  day: moment.getDate(),
  weekday: moment.getDay(),
  hour: moment.getHours(),
  minute: moment.getMinutes(),
  second: moment.getSeconds(),
})

const fieldsInUtc = (moment: Date): Fields => ({
  year: moment.getUTCFullYear(),
  month: moment.getUTCMonth(),
  day: moment.getUTCDate(),
  weekday: moment.getUTCDay(),
  hour: moment.getUTCHours(),
  minute: moment.getUTCMinutes(),
  second: moment.getUTCSeconds(),
})
