import { invalid } from '../../base/errors.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { type Box, readBox } from '../message-search/box.ts'
import { keyAt } from '../message-search/search.ts'
import { searchLimitersOf } from '../message-search/search-limiters.ts'
import * as store from './store.ts'

export type { ShownInbound } from './store.ts'

/** A search in the inbound messages of a company. */
export type InboundSearch = {
  /** A number or its beginning, an id, or words of the text. */
  typed: string
  centerId?: number | undefined
  /** The period in which the service received the messages. */
  from?: Date | undefined
  to?: Date | undefined
  /** The last key of the previous page. */
  before?: string | undefined
  limit: number
}

export type InboundPage = {
  items: store.ShownInbound[]
  /** The key from which the next page continues. Null at the end. */
  older: string | null
  /** `period`: no index supports the search, so it read all messages of a period. */
  by: 'index' | 'period'
  from: Date | null
  to: Date | null
  /** The search ran out of time when it reached messages of this moment. Null if the search was complete. */
  cutAt: Date | null
}

const DAY_MS = 24 * 3600_000
const SEARCH_MS = 3000
/** The most messages that one statement reads. */
const BLOCK = 5000

/**
 * Returns the newest messages first. An index finds the list without a search, numbers, beginnings of numbers and ids,
 * for any period. A search for words, short beginnings or a center reads all messages of a period, by default the last
 * day.
 */
export async function searchInbound(
  pool: Pool,
  companyId: number,
  search: InboundSearch,
  now: Date,
): Promise<InboundPage> {
  const question = questionOf(companyId, search, now)
  const endsAt = performance.now() + SEARCH_MS
  const found: store.ShownInbound[] = []
  let next: string | undefined = search.before
  do {
    const leftMs = endsAt - performance.now()
    const page =
      leftMs > 0 && (await within(pool, question, leftMs, sql => readPage(sql, question, next, search.limit + 1)))
    if (!page && question.by === 'index') throw invalid('The search takes too long: choose a shorter period')
    if (!page) {
      const reached = next ?? question.greatest
      return { ...cut(found, search.limit, reached), ...boundsOf(question), cutAt: timeOfUuid7(reached) }
    }
    found.push(...page.items)
    next = page.next
  } while (next !== undefined && found.length <= search.limit)
  return { ...cut(found, search.limit, next), ...boundsOf(question), cutAt: null }
}

/** All messages that the search finds, page by page. The next page is read after the reader took the last. */
export async function* everyInbound(
  sql: Sql,
  companyId: number,
  search: Omit<InboundSearch, 'limit' | 'before'>,
  now: Date,
): AsyncGenerator<store.ShownInbound[]> {
  const question = questionOf(companyId, search, now)
  let next: string | undefined
  do {
    const page = await readPage(sql, question, next, BLOCK)
    if (page.items.length > 0) yield page.items
    next = page.next
  } while (next !== undefined)
}

/** The number of inbound messages of a company that the search finds. `isLeast`: there are more. */
export type Incoming = { companyId: number; companyName: string; count: number; isLeast: boolean }

const MOST_COUNTED = 100
const COUNT_MS = 1000

/**
 * Counts the inbound messages of the companies of a person. A search for words counts only if there is one company,
 * because only numbers have an index. Undefined if counting takes too long.
 */
export async function countIncoming(
  pool: Pool,
  companyIds: number[],
  search: Pick<InboundSearch, 'typed' | 'from' | 'to'>,
  now: Date,
): Promise<Incoming[] | undefined> {
  const question = questionOf(companyIds.length === 1 ? companyIds[0]! : SEVERAL, search, now)
  const isAsked = search.typed.trim() !== '' && question.uuid === undefined
  if (!isAsked || (question.companyId === SEVERAL && question.by === 'period')) return []
  const count = (sql: Sql) => store.countByCompany(sql, companyIds, question, MOST_COUNTED + 1)
  const counted = await within(pool, question, COUNT_MS, count)
  return counted?.map(row => ({
    ...row,
    count: Math.min(row.count, MOST_COUNTED),
    isLeast: row.count > MOST_COUNTED,
  }))
}

/** Replaces the company id, by which searches take turns, for a search in several companies. */
const SEVERAL = 0

type Question = store.InboundQuestion & { by: InboundPage['by']; from: Date | null; to: Date | null }

function questionOf(companyId: number, search: Omit<InboundSearch, 'limit'>, now: Date): Question {
  const box = readBox(search.typed)
  const isIndexed = ['nothing', 'uuid', 'number', 'beginning'].includes(box.kind) && search.centerId === undefined
  const to = search.to ?? null
  const end = to ?? new Date(now.getTime() + 60_000) // clocks differ
  const from = search.from ?? (isIndexed ? null : new Date(end.getTime() - DAY_MS))
  return {
    companyId,
    by: isIndexed ? 'index' : 'period',
    from,
    to: isIndexed ? to : end,
    least: keyAt(from ?? new Date(0)),
    greatest: keyAt(end),
    centerId: search.centerId,
    ...contentOf(box),
  }
}

function contentOf(box: Box): Partial<store.InboundQuestion> {
  switch (box.kind) {
    case 'uuid':
      return { uuid: box.uuid }
    case 'number':
      return { number: box.number }
    case 'beginning':
      return { beginning: { from: box.digits, before: String(BigInt(box.digits) + 1n) } }
    case 'digits':
      return { digits: { digits: box.digits, typed: box.typed } }
    case 'words':
      return { words: box.words }
    default:
      return {}
  }
}

/** A page of found messages. `next` is set if there may be more. Without an index it searches one block of messages. */
async function readPage(sql: Sql, question: Question, before: string | undefined, limit: number) {
  const greatest = before ?? question.greatest
  if (question.by === 'index') {
    const items = await store.selectShown(sql, { ...question, greatest }, limit)
    return { items, next: items.length === limit ? items.at(-1)!.uuid : undefined }
  }
  const [floor] = await store.selectFloor(sql, { ...question, greatest }, BLOCK)
  const block = { ...question, greatest, least: floor?.uuid ?? question.least }
  return { items: await store.selectShown(sql, block, limit), next: floor?.uuid }
}

/** There may be another page if one message too many was found, or if the block was not the last. */
function cut(found: store.ShownInbound[], limit: number, next: string | undefined) {
  const items = found.slice(0, limit)
  return { items, older: found.length > limit ? items.at(-1)!.uuid : (next ?? null) }
}

const boundsOf = ({ by, from, to }: Question) => ({ by, from, to })

const QUERY_CANCELED = '57014'

/** Takes turns with the other searches of messages. Undefined after a timeout. */
async function within<T>(pool: Pool, { by, companyId }: Question, timeoutMs: number, work: (sql: Sql) => Promise<T>) {
  try {
    return (await searchLimitersOf(pool)[by === 'index' ? 'narrow' : 'wide'].run(companyId, () =>
      pool.begin('read only', async sql => {
        await store.limitStatement(sql, Math.max(1, Math.ceil(timeoutMs)))
        return work(sql)
      }),
    )) as T
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return undefined
    throw error
  }
}
