import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelType } from '../../base/channel-types.ts'
import { AppError, invalid, notFound } from '../../base/errors.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { companiesOfDispatches } from '../dispatches/reading.ts'
import { type Box, readBox } from './box.ts'
import * as boxStore from './box-store.ts'
import type { StatusWord } from './found-message.ts'
import { type Bounds, boundsFrom, boundsOf, keyAt, overlapOf } from './search.ts'
import { searchLimitersOf } from './search-limiters.ts'
import * as store from './store.ts'

export type { ShownMessage } from './box-store.ts'

/** A search of a person in the cabinet. */
export type BoxSearch = {
  /** A number or a part of it, an id, or words of the text. */
  typed: string
  statuses?: StatusWord[] | undefined
  channelTypes?: ChannelType[] | undefined
  brandIds?: number[] | undefined
  errorCodes?: number[] | undefined
  dispatchId?: number | undefined
  /** Bounds of the time at which the message was accepted. */
  from?: Date | undefined
  to?: Date | undefined
  /** The last key of the previous page. */
  before?: string | undefined
  limit: number
}

export type BoxAnswer = {
  items: boxStore.ShownMessage[]
  /** The next page begins after this key. Null if there are no older messages. */
  older: string | null
  /** How the messages were found. `period`: no index helps, so the messages of a period were read. */
  by: 'uuid' | 'own id' | 'number' | 'beginning' | 'period'
  /** The period of the search. Null means no bound. */
  from: Date | null
  to: Date | null
  /** The search ran out of time, and read only messages after this moment. Null if it read the whole period. */
  cutAt: Date | null
}

const DAY_MS = 24 * 3600_000
/** A search without an index reads messages for at most this time. */
const SEARCH_MS = 3000
/** The period ends a minute in the future, because clocks differ. The first slice is longer, so it includes past messages. */
const FIRST_SLICE_MS = 120_000

/**
 * Finds messages of some companies, the newest first. An index finds ids, whole numbers and long beginnings of numbers in
 * all messages. Other searches read the messages of the period, by default the last day, or of the dispatch.
 */
export async function searchBox(pool: Pool, companyIds: number[], search: BoxSearch, now: Date): Promise<BoxAnswer> {
  const box = readBox(search.typed)
  const indexed = await findByIndex(pool, companyIds, box, search)
  return indexed ?? (await searchBack(pool, companyIds, box, search, now))
}

/** A page of a report. */
export type FoundPage = {
  items: boxStore.ShownMessage[]
  /** The report ends although there are more messages: it has the most messages of a report, or its time is over. */
  endedBy: 'count' | 'time' | null
  /** The search read the messages back to this time. Null if it read all messages. */
  reachedAt: Date | null
}

/** The limits of a report: messages in total, messages of a page, total time, and the pause after a refused search. */
export const reportBounds = { most: 100_000, page: 1000, timeMs: 300_000, pauseMs: 1000 }

/**
 * Yields all messages that a search finds, page by page. The next page is read when the caller asks for it. The caller has
 * already written a part of a file by then, so a page that the search limiter refuses is requested again.
 */
export async function* everyShownMessage(
  pool: Pool,
  companyIds: number[],
  search: Omit<BoxSearch, 'before' | 'limit'>,
  now: Date,
  { most, page, timeMs, pauseMs } = reportBounds,
): AsyncGenerator<FoundPage> {
  const endsAt = performance.now() + timeMs
  let before: string | undefined
  for (let left = most; ; ) {
    const limit = Math.min(page, left)
    const ask = () => searchBox(pool, companyIds, { ...search, before, limit }, now)
    const found = await askUntil(endsAt, pauseMs, ask)
    if (!found) return yield { items: [], endedBy: 'time', reachedAt: before === undefined ? now : timeOfUuid7(before) }
    const { items, older } = found
    left -= items.length
    const endedBy = older === null ? null : left === 0 ? 'count' : performance.now() > endsAt ? 'time' : null
    yield { items, endedBy, reachedAt: older === null ? null : timeOfUuid7(older) }
    if (older === null || endedBy) return
    before = older
  }
}

/** Repeats a search that the limiter refused. Undefined if the time is over, or if one search takes too long. */
async function askUntil(endsAt: number, pauseMs: number, ask: () => Promise<BoxAnswer>) {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.kind !== 'too_many_requests' || performance.now() > endsAt) return undefined
    }
    await pause(pauseMs)
  }
}

/** One message of one of these companies. A message of another company is not found, like a missing message. */
export async function requireShownMessage(
  sql: Sql,
  companyIds: number[],
  uuid: string,
): Promise<boxStore.ShownMessage> {
  const [message] = await boxStore.selectShown(sql, {
    ...everything(companyIds, 1),
    key: { column: 'message_uuid', value: uuid },
    bounds: boundsOf([uuid]),
  })
  if (!message) throw notFound('Message')
  return message
}

const MOST_STEPS = 20

/** The messages of a cascade in the order of its steps. */
export async function stepsOfCascade(sql: Sql, companyId: number, cascadeUuid: string) {
  const steps = await boxStore.selectShown(sql, {
    ...everything([companyId], MOST_STEPS),
    key: { column: 'cascade_uuid', value: cascadeUuid },
  })
  return steps.sort((a, b) => (a.cascadeStep ?? 1) - (b.cascadeStep ?? 1))
}

const everything = (companyIds: number[], limit: number) => ({
  companyIds,
  bounds: boundsFrom(null, null),
  filter: { directions: ['outbound'] as const },
  limit,
})

// By an index ---------------------------------------------------------------------------------------------------------

/** Undefined if no index helps. If a text is no external id of a message, it may be a word of a message text. */
async function findByIndex(pool: Pool, companyIds: number[], box: Box, search: BoxSearch) {
  const find = (by: BoxAnswer['by'], key: boxStore.BoxKey) => findByKey(pool, companyIds, search, by, key)
  switch (box.kind) {
    case 'nothing':
      return undefined
    case 'uuid': {
      const ours = await find('uuid', { column: 'message_uuid', value: box.uuid })
      return ours.items.length > 0 ? ours : find('own id', { column: 'external_id', value: search.typed.trim() })
    }
    case 'number':
      return find('number', { column: 'destination', value: box.number })
    case 'beginning': {
      const before = String(BigInt(box.digits) + 1n)
      return find('beginning', { column: 'beginning', from: box.digits, before })
    }
    default: {
      const id = box.kind === 'words' ? box.id : box.typed
      const own = id === undefined ? undefined : await find('own id', { column: 'external_id', value: id })
      return own && own.items.length > 0 ? own : undefined
    }
  }
}

async function findByKey(
  pool: Pool,
  companyIds: number[],
  search: BoxSearch,
  by: BoxAnswer['by'],
  key: boxStore.BoxKey,
): Promise<BoxAnswer> {
  const period = boundsFrom(search.from && keyAt(search.from), search.to && keyAt(search.to))
  const question = { ...questionOf(companyIds, search), key, bounds: overlapOf(period, upTo(search.before)) }
  const items = await runWithinLimits(pool, 'narrow', companyIds, SEARCH_MS, sql => boxStore.selectShown(sql, question))
  if (!items) throw invalid('The search takes too long: choose a shorter period')
  return { ...cutPage(items, search.limit), by, from: search.from ?? null, to: search.to ?? null, cutAt: null }
}

const questionOf = (companyIds: number[], search: BoxSearch): Omit<boxStore.BoxQuestion, 'bounds'> => ({
  companyIds,
  filter: {
    directions: ['outbound'],
    statuses: search.statuses,
    channelTypes: search.channelTypes,
    dispatchIds: search.dispatchId === undefined ? undefined : [search.dispatchId],
  },
  errorCodes: search.errorCodes,
  brandIds: search.brandIds,
  limit: search.limit + 1,
})

const upTo = (before: string | undefined): Bounds => boundsFrom(null, before && keyBefore(before))

/** `found` has up to one message more than the page. If it has, there is another page. */
function cutPage(found: boxStore.ShownMessage[], limit: number) {
  const items = found.slice(0, limit)
  return { items, older: found.length > limit ? items.at(-1)!.uuid : null }
}

// Back in time --------------------------------------------------------------------------------------------------------

/**
 * Reads the messages of the period backwards from its end, in slices of time. Each slice is twice as long as the previous
 * slice. It stops when the page is full, the period is read or the time is over. The database cancels a slice that takes
 * longer than the remaining time.
 */
async function searchBack(
  pool: Pool,
  companyIds: number[],
  box: Box,
  search: BoxSearch,
  now: Date,
): Promise<BoxAnswer> {
  const place = await placeOf(pool, companyIds, search, now)
  const { from, to } = place
  const question = { ...questionOf(place.companyIds, search), ...contentOf(box) }
  const found: boxStore.ShownMessage[] = []
  const endsAt = performance.now() + SEARCH_MS
  const first =
    search.before === undefined ? to.getTime() : Math.min(to.getTime(), timeOfUuid7(search.before).getTime() + 1)
  const answer = (cutAt: Date | null): BoxAnswer => {
    const page = cutPage(found, search.limit)
    return { ...page, older: page.older ?? (cutAt && keyAt(cutAt)), by: 'period', from, to, cutAt }
  }
  for (let end = first, sliceMs = FIRST_SLICE_MS; end > from.getTime() && place.companyIds.length > 0; sliceMs *= 2) {
    const begin = Math.max(from.getTime(), end - sliceMs)
    const slice = { least: keyAt(new Date(begin)), greatest: keyBefore(keyAt(new Date(end))) }
    const bounds = overlapOf(slice, upTo(search.before))
    const limit = search.limit + 1 - found.length
    const leftMs = endsAt - performance.now()
    const more =
      leftMs > 0 &&
      (await runWithinLimits(pool, 'wide', companyIds, leftMs, sql =>
        boxStore.selectShown(sql, { ...question, bounds, limit }),
      ))
    if (!more) return answer(new Date(end))
    found.push(...more)
    if (found.length > search.limit) break
    end = begin
  }
  return answer(null)
}

function contentOf(box: Box): Pick<boxStore.BoxQuestion, 'digits' | 'words'> {
  if (box.kind === 'digits') return { digits: box }
  return box.kind === 'words' ? { words: box.words } : {}
}

/** The keys of the messages that a search without a period reads. */
export function recentKeys(now: Date): Bounds {
  const to = latestAt(now)
  return { least: keyAt(new Date(to.getTime() - DAY_MS)), greatest: keyBefore(keyAt(to)) }
}

/** Includes messages of processes whose clocks are up to a minute ahead. */
const latestAt = (now: Date) => new Date(now.getTime() + 60_000)

type SearchPlace = { companyIds: number[]; from: Date; to: Date }

/** The companies and the period to read. A dispatch stores its first and last key; later cascade steps have greater keys. */
async function placeOf(sql: Sql, companyIds: number[], search: BoxSearch, now: Date): Promise<SearchPlace> {
  const latest = latestAt(now)
  const { dispatchId, from, to = latest } = search
  if (dispatchId === undefined) return { companyIds, from: from ?? new Date(to.getTime() - DAY_MS), to }
  const companyId = (await companiesOfDispatches(sql, [dispatchId])).get(dispatchId)
  if (companyId === undefined || !companyIds.includes(companyId)) return { companyIds: [], from: from ?? now, to }
  const [dispatch] = await boxStore.selectDispatchPlace(sql, companyId, dispatchId)
  if (!dispatch?.firstUuid || !dispatch.lastUuid) return { companyIds: [], from: from ?? now, to }
  const begin = timeOfUuid7(dispatch.firstUuid)
  const end = dispatch.isCascade ? latest : new Date(timeOfUuid7(dispatch.lastUuid).getTime() + 1)
  return {
    companyIds: [companyId],
    from: from && from > begin ? from : begin,
    to: to < end ? to : end,
  }
}

const QUERY_CANCELED = '57014'

/** Runs a search within the limits. Undefined if the time was over before it ended. */
export async function runWithinLimits<T>(
  pool: Pool,
  width: 'narrow' | 'wide',
  companyIds: number[],
  timeoutMs: number,
  work: (sql: Sql) => Promise<T>,
): Promise<T | undefined> {
  const caller = companyIds.length === 1 ? companyIds[0]! : 'several companies'
  try {
    return (await searchLimitersOf(pool)[width].run(caller, () =>
      pool.begin('read only', async sql => {
        await store.limitSearch(sql, Math.max(1, Math.ceil(timeoutMs)))
        return work(sql)
      }),
    )) as T
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return undefined
    throw error
  }
}

/** The greatest key that is smaller than this key. */
function keyBefore(uuid: string): string {
  const number = BigInt(`0x${uuid.replaceAll('-', '')}`) - 1n
  const hex = number.toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
