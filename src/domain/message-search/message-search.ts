import { AppError, notFound } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { FoundMessage } from './found-message.ts'
import {
  type Bounds,
  boundsFrom,
  boundsOf,
  type Filter,
  greatestSentTo,
  isEmptyFilter,
  leastSentFrom,
  MOST_FOUND,
  type Order,
  overlapOf,
  uuidsAmong,
} from './search.ts'
import { searchLimitersOf } from './search-limiters.ts'
import * as store from './store.ts'

export const NEWEST_FIRST: Order = { by: 'createdTime', descending: true }
const TIMEOUT_MS = 20_000

export type Found = { total: number; items: FoundMessage[] }
export type Paging = { order?: Order; page: number; perPage: number }

/** A page of a company's outbound and inbound messages. The total is exact up to MOST_FOUND. */
export async function searchMessages(
  pool: Pool,
  companyId: number,
  filter: Filter,
  { order = NEWEST_FIRST, page, perPage }: Paging,
): Promise<Found> {
  const sources = await sourcesOf(pool, companyId, filter)
  if (sources.length === 0) return { total: 0, items: [] }
  const search: Search = (sql, beforeCount) => cutPage(sql, sources, order, (page - 1) * perPage, perPage, beforeCount)
  const isFree = order.by === 'createdTime' && sources.every(({ key, rest }) => !rest && key?.column !== 'step_of')
  if (isFree) return search(pool)
  const { narrow, wide } = searchLimitersOf(pool)
  const limiter = sources.every(isNarrow) ? narrow : wide
  return limiter.run(companyId, () => bridled(pool, search))
}

/** Such a key mostly finds few messages. But a test number or a reused external id may have a million. */
const isNarrow = ({ key }: store.SearchSource) =>
  key !== undefined && ['message_uuid', 'external_id', 'destination', 'cascade_uuid'].includes(key.column)

type Search = (sql: Sql, beforeCount?: () => PromiseLike<unknown>) => Promise<Found>

/** Reads a page and the total. If the messages end within the page, no statement for the total is needed. */
async function cutPage(
  sql: Sql,
  sources: store.SearchSource[],
  order: Order,
  offset: number,
  limit: number,
  beforeCount?: () => PromiseLike<unknown>,
): Promise<Found> {
  const items = await store.selectPage(sql, sources, order, offset, limit)
  const isEnd = items.length < limit && (items.length > 0 || offset === 0)
  if (isEnd) return { total: offset + items.length, items }
  await beforeCount?.()
  const [counted] = await store.countUpTo(sql, sources, MOST_FOUND)
  return { total: counted!.total, items }
}

/**
 * Limits a search that may have to read all messages of a company. PostgreSQL plans it for its values, because they decide
 * whether reading the newest messages is enough. A time-out protects the database. PostgreSQL limits only single
 * statements, so the count gets the time that the page did not use.
 */
async function bridled(pool: Pool, search: Search): Promise<Found> {
  try {
    return await pool.begin('read only', async sql => {
      const begunAt = performance.now()
      const leftMs = () => Math.max(1, Math.ceil(begunAt + TIMEOUT_MS - performance.now()))
      await store.limitSearch(sql, TIMEOUT_MS)
      return search(sql, () => store.limitSearch(sql, leftMs()))
    })
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) throw tooWide()
    throw error
  }
}

const QUERY_CANCELED = '57014'
const tooWide = () => new AppError('search_too_wide', 'The search takes too long')

/** The message with this key, or else the newest message with this external id. */
export async function requireMessage(sql: Sql, companyId: number, id: string): Promise<FoundMessage> {
  const [uuid] = uuidsAmong([id])
  const message =
    (uuid && (await newestOf(sql, [outboundByUuid(companyId, [uuid]), inboundByUuid(companyId, [uuid])]))) ??
    (await newestOf(sql, [byExternalId(companyId, [id])]))
  if (!message) throw notFound('Message')
  return message
}

async function newestOf(sql: Sql, sources: store.SearchSource[]): Promise<FoundMessage | undefined> {
  const [message] = await store.selectPage(sql, sources, NEWEST_FIRST, 0, 1)
  return message
}

// The sources of a search -----------------------------------------------------------------------------------------------

async function sourcesOf(sql: Sql, companyId: number, filter: Filter): Promise<store.SearchSource[]> {
  const outbound = filter.directions.includes('outbound') ? await outboundWays(sql, companyId, filter) : []
  const inbound = filter.directions.includes('inbound') ? inboundWays(companyId, filter) : []
  return [...outbound, ...inbound]
}

const outboundByUuid = (companyId: number, uuids: string[]): store.SearchSource => ({
  companyId,
  table: 'messages',
  key: { column: 'message_uuid', values: uuids },
  bounds: boundsOf(uuids),
  rest: undefined,
})

const inboundByUuid = (companyId: number, uuids: string[]): store.SearchSource => ({
  ...outboundByUuid(companyId, uuids),
  table: 'inbound_messages',
  bounds: undefined,
})

const byExternalId = (companyId: number, externalIds: string[]): store.SearchSource => ({
  companyId,
  table: 'messages',
  key: { column: 'external_id', values: externalIds },
  bounds: undefined,
  rest: undefined,
})

/** Searches by the key that finds the fewest messages. The other filters are conditions on these messages. */
async function outboundWays(sql: Sql, companyId: number, filter: Filter): Promise<store.SearchSource[]> {
  const { messageIds, externalIds, cascadeUuid, destinations, dispatchIds, ...others } = filter
  const time = await boundsInTime(sql, companyId, filter)
  const source = (key: store.Key | undefined, rest: Filter, bounds = time): store.SearchSource => ({
    companyId,
    table: 'messages',
    key,
    bounds,
    rest: isEmptyFilter(rest) ? undefined : rest,
  })

  if (messageIds) return waysByMessageId(companyId, messageIds, { ...filter, messageIds: undefined })
  if (externalIds) {
    return [source({ column: 'external_id', values: externalIds }, { ...filter, externalIds: undefined })]
  }
  if (cascadeUuid) {
    return [source({ column: 'cascade_uuid', values: [cascadeUuid] }, { ...filter, cascadeUuid: undefined })]
  }
  if (destinations) {
    return [source({ column: 'destination', values: destinations }, { ...filter, destinations: undefined })]
  }
  if (dispatchIds) {
    const dispatches = await store.selectDispatchBounds(sql, companyId, dispatchIds)
    if (dispatches.length === 0) return []
    const { least, greatest } = boundsOf(dispatches.flatMap(({ firstUuid, lastUuid }) => [firstUuid, lastUuid]))
    const within = (bounds: Bounds) => (time ? overlapOf(bounds, time) : bounds)
    const cascading = dispatches.filter(({ isCascade }) => isCascade).map(({ dispatchId }) => dispatchId)
    return [
      source({ column: 'dispatch_id', values: dispatchIds }, others, within({ least, greatest })),
      // Later steps are written after the messages of the dispatch.
      ...(cascading.length > 0
        ? [source({ column: 'step_of', values: cascading }, others, within(boundsFrom(least, null)))]
        : []),
    ]
  }
  return [source(undefined, others)]
}

/** Searches by message key and by external id. An external id may have the form of a message key. */
function waysByMessageId(companyId: number, ids: string[], rest: Filter): store.SearchSource[] {
  const uuids = uuidsAmong(ids)
  const left = isEmptyFilter(rest) ? undefined : rest
  const byOwn = { ...byExternalId(companyId, ids), rest: left }
  if (uuids.length === 0) return [byOwn]
  return [
    { ...outboundByUuid(companyId, uuids), rest: left },
    { ...byOwn, exceptUuids: uuids },
  ]
}

/** There is no source if a filter excludes all inbound messages. */
function inboundWays(companyId: number, filter: Filter): store.SearchSource[] {
  const impossible =
    filter.externalIds ??
    filter.dispatchIds ??
    filter.tags ??
    filter.methods ??
    filter.trafficTypes ??
    filter.templateIds ??
    filter.cascadeUuid
  const { messageIds, destinations, statuses, isOfDispatch, isRoot, isReadyToStop, ...others } = filter
  const isExcluded = isOfDispatch === true || isRoot === false || isReadyToStop === true
  if (impossible || isExcluded || (statuses && !statuses.includes('inbound_sent'))) return []

  const source = (key: store.Key | undefined, rest: Filter): store.SearchSource[] => [
    { companyId, table: 'inbound_messages', key, bounds: undefined, rest: isEmptyFilter(rest) ? undefined : rest },
  ]
  if (messageIds) {
    const uuids = uuidsAmong(messageIds)
    return uuids.length > 0 ? source({ column: 'message_uuid', values: uuids }, { ...others, destinations }) : []
  }
  return destinations ? source({ column: 'destination', values: destinations }, others) : source(undefined, others)
}

/** Most messages are written shortly before they are sent. Only messages of a dispatch may wait long until its start. */
async function boundsInTime(sql: Sql, companyId: number, { from, to }: Filter): Promise<Bounds | undefined> {
  if (!from && !to) return undefined
  const [unfinished] = from ? await store.selectFirstOfUnfinished(sql, companyId, from) : []
  const starts = from ? [leastSentFrom(from), ...(unfinished ? [unfinished.firstUuid] : [])] : []
  return boundsFrom(starts.sort()[0], to && greatestSentTo(to))
}
