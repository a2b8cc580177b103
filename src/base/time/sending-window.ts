/**
 * The times at which messages may be sent: from `startAt` until before `endAt`, in the allowed hours of the allowed
 * days of a zone. Absent hours or days allow all of them; an empty list allows none.
 *
 * An hour is allowed as a whole, 10:00:00 to 10:59:59.999 on the zone's own clock. Where the clock is put forward, an
 * hour that does not exist is passed over; where it is put back, both hours of the same name are allowed.
 */
export type SendingWindow = {
  startAt?: Date | null
  endAt?: Date | null
  /** 0 to 23. */
  hours?: readonly number[] | null
  /** 1 Monday to 7 Sunday. */
  days?: readonly number[] | null
  zone: Zone
}

/** A fixed offset from UTC, or the IANA name of a zone. */
export type Zone = { offsetMinutes: number } | { name: string }

/** Returns `now` when sending is allowed now, else the next moment when it is; undefined when there is none. */
export function nextOpening(window: SendingWindow, now: Date): Date | undefined {
  const earliestMs = Math.max(now.getTime(), window.startAt?.getTime() ?? Number.NEGATIVE_INFINITY)
  const openMs = firstMoment(window, earliestMs, true)
  if (openMs === undefined || isOver(window, openMs)) return undefined
  return openMs === now.getTime() ? now : new Date(openMs)
}

/**
 * The end of the time from `now` on in which sending is allowed: `now` when it is not, undefined when it never ends.
 */
export function closesAt(window: SendingWindow, now: Date): Date | undefined {
  const nowMs = now.getTime()
  if (isOver(window, nowMs) || (window.startAt && nowMs < window.startAt.getTime())) return now
  const closedMs = firstMoment(window, nowMs, false)
  if (closedMs === undefined || isOver(window, closedMs)) return window.endAt ?? undefined
  return closedMs === nowMs ? now : new Date(closedMs)
}

const isOver = (window: SendingWindow, ms: number) => !!window.endAt && ms >= window.endAt.getTime()

/**
 * The instant at which a clock of the zone shows `YYYY-MM-DD hh:mm:ss`; undefined when the text is no such time. Of a
 * time that occurs twice, the earlier instant counts. A time that the clock skips is read with the offset before the
 * change, so that 02:30 becomes 03:30 and is never too early. (Temporal calls this rule "compatible".)
 */
export function localTimeToInstant(local: string, zone: Zone): Date | undefined {
  const localMs = readLocalTime(local)
  if (localMs === undefined) return undefined
  const before = offsetAt(zone, localMs - DAY_MS)
  const after = offsetAt(zone, localMs + DAY_MS)
  const happensOnlyAfter = offsetAt(zone, localMs - before) !== before && offsetAt(zone, localMs - after) === after
  return new Date(localMs - (happensOnlyAfter ? after : before))
}

/**
 * The time as if it were UTC. JavaScript reads 30 February as 2 March, so the result is formatted again and compared.
 */
function readLocalTime(local: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(local)) return undefined
  const iso = local.replace(' ', 'T')
  const time = new Date(`${iso}Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(iso) ? time.getTime() : undefined
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ALL_HOURS = 2 ** 24 - 1
const ALL_DAYS = 2 ** 7 - 1

/** Two weeks: a change of the clock (or a skipped date) may remove the only allowed hour of the first week. */
const SEARCH_MS = 21 * DAY_MS

/**
 * The first moment, from `fromMs` on, whose hour is allowed (or is not). Goes from hour to hour of the local clock
 * while the offset stays the same, and reads the offset again where it changes. The caller checks `startAt` and
 * `endAt`.
 */
function firstMoment(window: SendingWindow, fromMs: number, open: boolean): number | undefined {
  const hours = window.hours ? bits(window.hours, 0) : ALL_HOURS
  const days = window.days ? bits(window.days, 1) : ALL_DAYS
  if (hours === ALL_HOURS && days === ALL_DAYS) return open ? fromMs : undefined
  const lastMs = fromMs + SEARCH_MS
  let ms = fromMs
  while (ms < lastMs) {
    const { offsetMs, untilMs } = spanAt(window.zone, ms)
    const endMs = Math.min(untilMs, lastMs)
    let hour = Math.floor((ms + offsetMs) / HOUR_MS)
    while (ms < endMs) {
      if (isAllowed(hours, days, hour) === open) return ms
      hour += 1
      ms = hour * HOUR_MS - offsetMs
    }
    ms = endMs
  }
  return undefined
}

function bits(values: readonly number[], first: number): number {
  let set = 0
  for (const value of values) set |= 1 << (value - first)
  return set
}

/** `hour` counts from the beginning of 1970, which was a Thursday. */
function isAllowed(hours: number, days: number, hour: number): boolean {
  const weekday = modulo(Math.floor(hour / 24) + 3, 7)
  return ((hours >> modulo(hour, 24)) & (days >> weekday) & 1) === 1
}

const modulo = (value: number, by: number) => ((value % by) + by) % by

const offsetAt = (zone: Zone, ms: number) => spanAt(zone, ms).offsetMs

/** A time during which a zone keeps its offset. */
type Span = { fromMs: number; untilMs: number; offsetMs: number }
type ZoneTable = { format: Intl.DateTimeFormat; chunks: Map<number, Span[]>; last: Span }

const tables = new Map<string, ZoneTable>()
const CHUNK_MS = 32 * DAY_MS
const MOST_CHUNKS = 500

/**
 * A call of Intl takes microseconds, and every lane needs an offset several times a second. So the offsets of a zone
 * are cached, 32 days at a time.
 */
function spanAt(zone: Zone, ms: number): Span {
  if ('offsetMinutes' in zone) {
    return {
      fromMs: Number.NEGATIVE_INFINITY,
      untilMs: Number.POSITIVE_INFINITY,
      offsetMs: zone.offsetMinutes * 60_000,
    }
  }
  const table = tables.get(zone.name) ?? addTable(zone.name)
  if (ms < table.last.fromMs || ms >= table.last.untilMs) {
    table.last = chunkOf(table, Math.floor(ms / CHUNK_MS)).find(span => ms < span.untilMs)!
  }
  return table.last
}

/** Throws a RangeError for a zone that does not exist. */
function addTable(name: string): ZoneTable {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  const table = { format, chunks: new Map(), last: { fromMs: 0, untilMs: 0, offsetMs: 0 } }
  tables.set(name, table)
  return table
}

function chunkOf(table: ZoneTable, chunk: number): Span[] {
  const known = table.chunks.get(chunk)
  if (known) return known
  if (table.chunks.size >= MOST_CHUNKS) table.chunks.clear()
  const spans = learnSpans(table.format, chunk * CHUNK_MS, (chunk + 1) * CHUNK_MS)
  table.chunks.set(chunk, spans)
  return spans
}

/** Reads one offset per day: no zone changes its clock twice within a day. */
function learnSpans(format: Intl.DateTimeFormat, fromMs: number, untilMs: number): Span[] {
  const spans = [{ fromMs, untilMs, offsetMs: askOffset(format, fromMs) }]
  for (let ms = fromMs + DAY_MS; ms <= untilMs; ms += DAY_MS) {
    const span = spans.at(-1)!
    const offsetMs = askOffset(format, ms)
    if (offsetMs === span.offsetMs) continue
    const changeMs = findChange(format, ms - DAY_MS, ms)
    span.untilMs = changeMs
    if (changeMs < untilMs) spans.push({ fromMs: changeMs, untilMs, offsetMs })
  }
  return spans
}

/** The second at which the offset becomes that of `afterMs`. */
function findChange(format: Intl.DateTimeFormat, beforeMs: number, afterMs: number): number {
  const newOffsetMs = askOffset(format, afterMs)
  let [oldMs, newMs] = [beforeMs, afterMs]
  while (newMs - oldMs > 1000) {
    const middleMs = oldMs + Math.floor((newMs - oldMs) / 2000) * 1000
    if (askOffset(format, middleMs) === newOffsetMs) newMs = middleMs
    else oldMs = middleMs
  }
  return newMs
}

/** Reads the offset off `7/1/2026, GMT+05:30`; UTC itself is a bare `GMT`. */
function askOffset(format: Intl.DateTimeFormat, ms: number): number {
  const match = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(ms))
  if (!match) return 0
  const [, sign, hours, minutes, seconds = 0] = match
  const offsetMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -offsetMs : offsetMs
}
