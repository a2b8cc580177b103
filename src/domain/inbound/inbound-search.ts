import { invalid } from '../../base/errors.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { type Box, readBox } from '../message-search/box.ts'
import { keyAt } from '../message-search/search.ts'
import { searchLimitersOf } from '../message-search/search-limiters.ts'
import * as store from './store.ts'

export type { SeenInbound } from './store.ts'

/** What a person looks for among the messages that people wrote to a company. */
export type InboundSearch = {
  /** Number or its beginning, id, or words of the text. */
  typed: string
  centerId?: number | undefined
  /** When the message reached us. */
  from?: Date | undefined
  to?: Date | undefined
  /** The key that the page before ended with. */
  before?: string | undefined
  limit: number
}

export type InboundPage = {
  items: store.SeenInbound[]
  /** Where the next page goes on; null at the end. */
  older: string | null
  /** `period`: no index finds it, so the messages of a period were read. */
  by: 'index' | 'period'
  from: Date | null
  to: Date | null
  /** The time for the search was over when it had come back to this moment; null when it came to the end. */
  cutAt: Date | null
}

const DAY_MS = 24 * 3600_000
const SEARCH_MS = 3000
/** Messages that one statement reads at most, whatever it looks for. */
const BLOCK = 5000

/**
 * The newest first. The list itself, whole numbers, their beginnings and ids are read by an index, at any time; words, short
 * beginnings and centers are looked for among the messages of a period, by default the last day.
 */
export async function searchInbound(
  pool: Pool,
  companyId: number,
  search: InboundSearch,
  now: Date,
): Promise<InboundPage> {
  const question = questionOf(companyId, search, now)
  const endsAt = performance.now() + SEARCH_MS
  const found: store.SeenInbound[] = []
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

/** Everything that the search finds, a page at a time: the next is read when the reader has taken the last. */
export async function* everyInbound(
  sql: Sql,
  companyId: number,
  search: Omit<InboundSearch, 'limit' | 'before'>,
  now: Date,
): AsyncGenerator<store.SeenInbound[]> {
  const question = questionOf(companyId, search, now)
  let next: string | undefined
  do {
    const page = await readPage(sql, question, next, BLOCK)
    if (page.items.length > 0) yield page.items
    next = page.next
  } while (next !== undefined)
}

/** How many messages people wrote to a company that fit what was typed. `isLeast`: there are more. */
export type Incoming = { companyId: number; companyName: string; count: number; isLeast: boolean }

const MOST_COUNTED = 100
const COUNT_MS = 1000

/**
 * Counts for people who search the messages of their companies. Words are looked for in one company alone, because only
 * numbers have an index. Undefined when counting takes too long.
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

/** In place of the one company that takes its turn among others. */
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

/** A page of what fits; `next` where there may be more. What no index finds is looked for in one block of messages. */
async function readPage(sql: Sql, question: Question, before: string | undefined, limit: number) {
  const greatest = before ?? question.greatest
  if (question.by === 'index') {
    const items = await store.selectSeen(sql, { ...question, greatest }, limit)
    return { items, next: items.length === limit ? items.at(-1)!.uuid : undefined }
  }
  const [floor] = await store.selectFloor(sql, { ...question, greatest }, BLOCK)
  const block = { ...question, greatest, least: floor?.uuid ?? question.least }
  return { items: await store.selectSeen(sql, block, limit), next: floor?.uuid }
}

/** One more than the page was asked for, or a block that is not the last: there may be another page. */
function cut(found: store.SeenInbound[], limit: number, next: string | undefined) {
  const items = found.slice(0, limit)
  return { items, older: found.length > limit ? items.at(-1)!.uuid : (next ?? null) }
}

const boundsOf = ({ by, from, to }: Question) => ({ by, from, to })

const QUERY_CANCELED = '57014'

/** Undefined when the time was over first. Takes its turn among the searches of messages. */
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
