import type { Sql } from '../../db/sql.ts'
import { KEPT_MS, type Owner } from './request.ts'
import * as store from './store.ts'

export { countRequests, type Place } from './store.ts'

/** The token of a partner has no name. */
export type ListedRequest = store.StoredRequest & { keyName: string | null }

export const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'refused'] as const
export type StatusClass = (typeof statusClasses)[number]

export type RequestFilter = {
  statusClass?: StatusClass | undefined
  keyId?: number | undefined
  method?: string | undefined
  requestId?: string | undefined
  before?: store.Place | undefined
}

/** `next`: the start of the next page. A page may be empty and still have a next page. */
export type RequestPage = {
  requests: ListedRequest[]
  next: store.Place | undefined
  /** Minutes of this page in which requests were only counted. */
  unlisted: { minute: Date; unlisted: number }[]
}

/** For a filter without an index, one page reads at most this many rows. The next page continues after them. */
const MOST_READ = 10_000
const MOST_OF_ID = 100

/** Requests of the last day, the newest first. */
export async function listRequests(
  sql: Sql,
  owner: Owner,
  filter: RequestFilter,
  limit: number,
  now: Date,
): Promise<RequestPage> {
  const since = new Date(now.getTime() - KEPT_MS)
  const until = new Date(now.getTime() + FUTURE_MS)
  if (filter.requestId !== undefined) {
    const requests = await store.selectById(sql, owner, since, until, filter.requestId, MOST_OF_ID)
    return { requests: await withKeyNames(sql, owner, requests), next: undefined, unlisted: [] }
  }
  const before = filter.before ?? { at: until, requestNo: 0 }
  const sqlFilter = storeFilterOf(filter)
  const bounds = { most: MOST_READ, limit: limit + 1 }
  const found = await store.selectRequests(sql, owner, since, before, sqlFilter, bounds)
  const requests = found.slice(0, limit)
  const next =
    found.length > limit
      ? requests.at(-1)
      : (await store.selectLastRead(sql, owner, since, before, sqlFilter.refused, MOST_READ))[0]
  const unlisted = await unlistedAmong(sql, owner, filter, requests, now)
  return { requests: await withKeyNames(sql, owner, requests), next, unlisted }
}

async function withKeyNames(sql: Sql, owner: Owner, requests: store.StoredRequest[]): Promise<ListedRequest[]> {
  const names = new Map<number, string>()
  if (owner.kind === 'COMPANY' && requests.length > 0) {
    const keyIds = [...new Set(requests.map(({ keyId }) => keyId))]
    for (const { keyId, name } of await store.selectKeyNames(sql, owner.id, keyIds)) names.set(keyId, name)
  }
  return requests.map(request => ({ ...request, keyName: names.get(request.keyId) ?? null }))
}

/** The clock of another process may be ahead. */
const FUTURE_MS = 60_000

function storeFilterOf({ statusClass, keyId, method }: RequestFilter): store.Filter {
  const hundreds = statusClass === undefined || statusClass === 'refused' ? undefined : Number(statusClass[0]) * 100
  return {
    refused: statusClass === 'refused' || (hundreds ?? 0) >= 400,
    statusFrom: hundreds,
    statusTo: hundreds === undefined ? undefined : hundreds + 100,
    keyId,
    method,
  }
}

/** Only a list without a filter shows these counts, because requests that are only counted cannot be filtered. */
async function unlistedAmong(
  sql: Sql,
  owner: Owner,
  filter: RequestFilter,
  requests: store.StoredRequest[],
  now: Date,
) {
  const { statusClass, keyId, method, before } = filter
  const oldest = requests.at(-1)
  if (!oldest || statusClass !== undefined || keyId !== undefined || method !== undefined) return []
  const found = await store.selectUnlisted(sql, owner, startOfMinute(oldest.at), before?.at ?? now)
  const shown = new Set(requests.map(({ at }) => startOfMinute(at).getTime()))
  return found.filter(({ minute }) => shown.has(minute.getTime()))
}

const startOfMinute = (at: Date) => new Date(Math.floor(at.getTime() / 60_000) * 60_000)

/** The last use of each key of a company, to the minute. */
export async function lastUses(sql: Sql, companyId: number): Promise<Map<number, Date>> {
  const uses = await store.selectUses(sql, companyId)
  return new Map(uses.map(({ keyId, usedAt }) => [keyId, usedAt]))
}

const SWEEP_SIZE = 5000
const KEPT_MINUTES_MS = KEPT_MS + 3_600_000

/** Housekeeping: deletes each hour a day after its end. */
export async function forgetOldRequests(sql: Sql, now: Date): Promise<void> {
  await store.dropHours(sql, new Date(now.getTime() - KEPT_MS))
  const before = new Date(now.getTime() - KEPT_MINUTES_MS)
  while ((await store.deleteMinutes(sql, before, SWEEP_SIZE)).count === SWEEP_SIZE);
}
