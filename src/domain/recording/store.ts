import type { Sql } from '../../db/sql.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import type { TrafficKind } from '../statistics/traffic.ts'

/** The fields of a dispatch that decide about its messages: money held while CREATED, callbacks, statistics. */
export type DispatchSummary = TrafficKind & {
  dispatchId: number
  status: DispatchStatus
  api: 'partner' | 'messaging'
  callbackUrl: string | null
  callbackEvents: string[]
}

/** By the id of the dispatch. */
export type Dispatches = Map<number, DispatchSummary>

export function selectDispatches(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<DispatchSummary[]>`
    select dispatch_id, status, api, callback_url,
      coalesce(callback_events, '{delivered}') as callback_events, channel_type,
      traffic_type
    from dispatches
    where company_id = ${companyId} and dispatch_id = any(${dispatchIds}::bigint[])`
}
