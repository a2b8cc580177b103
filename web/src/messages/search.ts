import type { Brand } from '../../../src/domain/numbering/brand.ts'
import { type ChannelName, channelNames, operatorNames, type StatusName, statusNames } from './names.ts'

/** The search in the address of the page. Lists are joined by commas. */
export type MessageSearch = {
  q?: string | undefined
  status?: string | undefined
  channel?: string | undefined
  operator?: string | undefined
  error?: number | undefined
  dispatch?: number | undefined
  period?: Period | undefined
  /** Days in the reader's time zone, both included. */
  from?: string | undefined
  to?: string | undefined
  /** The message that is open beside the list. */
  open?: string | undefined
}

export const periods = ['hour', 'week', 'month'] as const
export type Period = (typeof periods)[number]

const HOUR_MS = 3600_000
const lengths: Record<Period, number> = { hour: HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS }

/** `undefined` removes an invalid value from the address. */
export const readSearch = (given: Record<string, unknown>): MessageSearch => ({
  q: textIn(given.q, 200),
  status: listIn(given.status, statusNames),
  channel: listIn(given.channel, channelNames),
  operator: listIn(given.operator, operatorNames),
  error: countIn(given.error),
  dispatch: countIn(given.dispatch),
  period: periods.find(period => period === given.period),
  from: dayIn(given.from),
  to: dayIn(given.to),
  open: textIn(given.open, 36),
})

/** The router parses values of the address as JSON if possible, so a text of digits arrives as a number. */
function textIn(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return String(value).slice(0, most) || undefined
}

function listIn(value: unknown, names: readonly string[]): string | undefined {
  const known = typeof value === 'string' ? value.split(',').filter(name => names.includes(name)) : []
  return known.length > 0 ? [...new Set(known)].join(',') : undefined
}

const countIn = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined

export const dayIn = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined

export const listOf = <T extends string>(list: string | undefined) => (list?.split(',') ?? []) as T[]
export const statusesOf = ({ status }: MessageSearch) => listOf<StatusName>(status)
export const channelsOf = ({ channel }: MessageSearch) => listOf<ChannelName>(channel)
export const operatorsOf = ({ operator }: MessageSearch) => listOf<Brand | 'OTHER'>(operator)

/** The parameters of the request. */
export function queryOf(search: MessageSearch, companyId: number | undefined, before: string | undefined, now: Date) {
  const { q, error, dispatch } = search
  const { from, to } = boundsOf(search, now)
  const query = new URLSearchParams()
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) query.append(name, String(value))
  }
  add('companyId', companyId)
  add('q', q)
  for (const status of statusesOf(search)) add('status', status)
  for (const channel of channelsOf(search)) add('channel', channel)
  for (const operator of operatorsOf(search)) add('operator', operator)
  add('error', error)
  add('dispatch', dispatch)
  add('from', from?.toISOString())
  add('to', to?.toISOString())
  add('before', before)
  return query.toString()
}

function boundsOf({ period, from, to }: MessageSearch, now: Date): { from?: Date; to?: Date } {
  return period ? { from: new Date(now.getTime() - lengths[period]) } : boundsOfDays({ from, to })
}

/** The beginning of the first day and the end of the last day, each if it is given. */
export const boundsOfDays = ({ from, to }: Pick<MessageSearch, 'from' | 'to'>): { from?: Date; to?: Date } => ({
  ...(from ? { from: dayOf(from) } : {}),
  ...(to ? { to: nextDay(dayOf(to)) } : {}),
})

/** Midnight in the reader's time zone. */
const dayOf = (day: string) => new Date(`${day}T00:00:00`)

function nextDay(day: Date): Date {
  const next = new Date(day)
  next.setDate(day.getDate() + 1)
  return next
}

/** Reads the typed text: days and `#dispatch` become filters, the server searches for the rest. */
export function readTyped(typed: string, now: Date): Pick<MessageSearch, 'q' | 'from' | 'to' | 'dispatch' | 'period'> {
  const text = typed.trim()
  const dispatch = /^#\s*(\d{1,15})$/.exec(text)?.[1]
  if (dispatch) return { q: undefined, dispatch: Number(dispatch) }
  const [first = '', last, ...more] = text.split(/\s+[-–—]\s+|\s*[–—]\s*/)
  const from = readDay(first, now)
  const to = last === undefined ? from : readDay(last, now)
  if (!from || !to || more.length > 0) return { q: text || undefined }
  const [begin, end] = from < to ? [from, to] : [to, from]
  return { q: undefined, from: begin, to: end, period: undefined }
}

const words: Record<string, number> = { today: 0, сегодня: 0, yesterday: 1, вчера: 1 }

/** `2026-11-12`, `12.11.2026`, `12.11`, `today`, `yesterday`. */
function readDay(text: string, now: Date): string | undefined {
  const back = words[text.toLowerCase()]
  if (back !== undefined) return dayBack(now, back)
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  const [, d, m, y = String(now.getFullYear())] = /^(\d{1,2})\.(\d{1,2})(?:\.(\d{4}))?$/.exec(text) ?? []
  return realDay(Number(year ?? y), Number(month ?? m), Number(day ?? d))
}

export function dayBack(now: Date, days: number): string {
  const day = new Date(now)
  day.setDate(now.getDate() - days)
  return nameOfDay(day)
}

function realDay(year: number, month: number, day: number): string | undefined {
  const date = new Date(year, month - 1, day)
  return date.getMonth() === month - 1 && date.getDate() === day ? nameOfDay(date) : undefined
}

const two = (part: number) => String(part).padStart(2, '0')
const nameOfDay = (date: Date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`

/** Whether the address contains a search, not only the open message. */
export const isEmptySearch = ({ open: _, ...filters }: MessageSearch) =>
  Object.values(filters).every(value => value === undefined)

export const withoutOpen = ({ open: _, ...search }: MessageSearch): MessageSearch => search
