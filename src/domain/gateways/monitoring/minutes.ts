import type { Sql } from '../../../db/sql.ts'
import type { GatewayError } from './minute.ts'
import * as store from './minute-store.ts'

export { forgetOldMinutes, writeGatewayMinutes } from './minute-store.ts'

export type GatewayDay = {
  /** The approximate number of receipts still to come: accepted parts of a day, minus receipts. */
  outstanding: number
  /** Receipts of the last minute. */
  endedLastMinute: number
  /** The last hour, the oldest minute first; minutes without counts are absent. */
  hour: { minute: Date; parts: number; failed: number; errors: number }[]
  /** Errors of the last hour, the most frequent first. */
  errors: GatewayError[]
}

const MOST_ERRORS = 20
/** A gateway counts as throttled for this time after the operator answered "too fast". */
const THROTTLED_MS = 90_000

/** The counts of the last day by gateway. Gateways without messages are absent. */
export async function gatewayDays(sql: Sql): Promise<Map<number, GatewayDay>> {
  const [sums, minutes] = await Promise.all([store.selectDaySums(sql), store.selectHour(sql)])
  const rows = Map.groupBy(minutes, ({ gatewayId }) => gatewayId)
  return new Map(
    sums.map(({ gatewayId, outstanding, endedLastMinute }) => {
      const hour = rows.get(gatewayId) ?? []
      const day = { outstanding: Math.max(0, outstanding), endedLastMinute, hour: minutesOf(hour) }
      return [gatewayId, { ...day, errors: errorsOf(hour) }]
    }),
  )
}

/** The time at which the operator last answered "too fast", if that was lately. */
export function throttledAt({ errors }: Pick<GatewayDay, 'errors'>, now: Date): Date | null {
  const times = errors.filter(({ kind }) => kind === 'busy').map(({ lastAt }) => Date.parse(lastAt))
  const last = Math.max(...times, 0)
  return now.getTime() - last < THROTTLED_MS ? new Date(last) : null
}

/** The minutes, each summed over all engines. */
function minutesOf(rows: store.MinuteRow[]): GatewayDay['hour'] {
  return [...Map.groupBy(rows, ({ minute }) => minute.getTime()).values()].map(alike => ({
    minute: alike[0]!.minute,
    parts: sumOf(alike, ({ parts }) => parts),
    failed: sumOf(alike, ({ failed }) => failed),
    errors: sumOf(
      alike.flatMap(({ errors }) => errors),
      ({ count }) => count,
    ),
  }))
}

const sumOf = <T>(list: T[], of: (each: T) => number) => list.reduce((sum, each) => sum + of(each), 0)

function errorsOf(minutes: store.MinuteRow[]): GatewayError[] {
  const all = minutes.flatMap(({ errors }) => errors)
  const alike = Map.groupBy(all, ({ kind, errorCode, operatorError, reason }) =>
    [kind, errorCode, operatorError, reason].join('\n'),
  )
  return [...alike.values()]
    .map(list => ({
      ...list[0]!,
      count: sumOf(list, ({ count }) => count),
      lastAt: list
        .map(({ lastAt }) => lastAt)
        .sort()
        .at(-1)!,
    }))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_ERRORS)
}

/** The approximate number of outstanding receipts of a gateway. */
export async function outstandingOf(sql: Sql, gatewayId: number): Promise<number> {
  const [row] = await store.selectOutstanding(sql, gatewayId)
  return Math.max(0, row!.outstanding)
}
