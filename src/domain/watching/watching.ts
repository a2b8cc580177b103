import { AppError, notFound } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import { companiesOfDispatches } from '../dispatches/reading.ts'
import type { MessagesOfDispatch } from '../messages/messages.ts'
import { liveSessions } from '../people/sessions.ts'
import { mergeSlices, type Pace, sliceSeconds } from './pace.ts'
import * as store from './store.ts'
import type { DispatchFilter, LiveDispatch, Place, Share, WatchedDispatch } from './watched.ts'

/** Dispatches for the cabinet: of one company, of all companies of a partner, or of all companies. */

export type DispatchPage = { items: WatchedDispatch[]; hasNewer: boolean; hasOlder: boolean }

/** Returns one page. The newest dispatch is first. */
export async function listWatched(
  sql: Sql,
  scope: CompanyScope,
  filter: DispatchFilter,
  place: Place,
  perPage: number,
): Promise<DispatchPage> {
  const found = await store.selectWatched(sql, scope, filter, place, perPage + 1)
  const hasMore = found.length > perPage
  if (place && 'newerThan' in place)
    return { items: hasMore ? found.slice(1) : found, hasNewer: hasMore, hasOlder: true }
  return { items: found.slice(0, perPage), hasNewer: place !== undefined, hasOlder: hasMore }
}

/** The number of dispatches by status. Null for staff, because counting all companies would read every dispatch. */
export async function countWatched(
  sql: Sql,
  scope: CompanyScope,
): Promise<Partial<Record<DispatchStatus, number>> | null> {
  if (scope.kind === 'STAFF') return null
  const counts = await store.countByStatus(sql, scope)
  return Object.fromEntries(counts.map(({ status, dispatches }) => [status, dispatches]))
}

/** A dispatch of the scope. A dispatch outside the scope is reported as not found. */
export async function requireWatched(sql: Sql, scope: CompanyScope, dispatchId: number): Promise<WatchedDispatch> {
  const companyId = (await companiesOfDispatches(sql, [dispatchId])).get(dispatchId)
  const [dispatch] = companyId === undefined ? [] : await store.selectOneWatched(sql, scope, companyId, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return dispatch
}

export async function requireAllWatched(sql: Sql, scope: CompanyScope, dispatchIds: number[]): Promise<void> {
  const companies = await companiesOfDispatches(sql, dispatchIds)
  const companyIds = new Set(companies.values())
  const owned = await store.selectOwned(sql, scope, [...companyIds])
  if (companies.size < new Set(dispatchIds).size || owned.length < companyIds.size) throw notFound('Dispatch')
}

export type LiveState = { dispatches: LiveDispatch[]; sessions: Set<string> }

/** Reads the dispatches and the sign-in sessions of all viewers of a process together. */
export async function liveState(
  sql: Sql,
  dispatchIds: number[],
  sessionHashes: string[],
  now: Date,
): Promise<LiveState> {
  const [dispatches, sessions] = await Promise.all([
    liveDispatches(sql, dispatchIds),
    liveSessions(sql, sessionHashes, now),
  ])
  return { dispatches, sessions }
}

async function liveDispatches(sql: Sql, dispatchIds: number[]): Promise<LiveDispatch[]> {
  const companies = await companiesOfDispatches(sql, dispatchIds)
  return store.selectLive(sql, [...new Set(companies.values())], dispatchIds)
}

const SHARES_TIMEOUT_MS = 20_000
const MOST_AT_ONCE = 2
const KEPT_MS = 5000

export type Breakdown = { countedAt: Date; shares: Share[]; pace: Pace | null }

type Counted = MessagesOfDispatch & { startedAt: Date | null }

/** The database counts up to this many slices, and the page shows fewer: the last message may be sent a day later. */
const MOST_SLICES = 10_000
const SHOWN_SLICES = 60

/**
 * Counts the messages of a dispatch by operator, status and error code. This reads every message of the dispatch, so the page
 * requests it when it opens and not every second. Viewers share a count for some seconds. A process counts at most two
 * dispatches at a time, and cancels a count that takes too long.
 */
export class Breakdowns {
  readonly #sql: Pool
  readonly #clock: () => Date
  readonly #known = new Map<number, Promise<Breakdown>>()
  #running = 0

  constructor(sql: Pool, clock: () => Date) {
    this.#sql = sql
    this.#clock = clock
  }

  of(dispatch: Counted): Promise<Breakdown> {
    const known = this.#known.get(dispatch.dispatchId)
    if (known) return known
    if (this.#running >= MOST_AT_ONCE)
      throw new AppError('not_ready', 'Other dispatches are being counted: try again in a moment', {
        retryAfterSeconds: 2,
      })
    const counted = this.#count(dispatch)
    this.#known.set(dispatch.dispatchId, counted)
    return counted
  }

  async #count(dispatch: Counted): Promise<Breakdown> {
    this.#running += 1
    try {
      const slices = slicesOf(dispatch, this.#clock())
      const rows = await this.#sql.begin(async tx => {
        await store.limitTime(tx, SHARES_TIMEOUT_MS)
        return store.selectShares(tx, dispatch, slices)
      })
      setTimeout(() => this.#known.delete(dispatch.dispatchId), KEPT_MS).unref()
      const shares = rows.filter(({ isSlice }) => !isSlice)
      return { countedAt: this.#clock(), shares, pace: paceOf(rows, slices) }
    } catch (error) {
      this.#known.delete(dispatch.dispatchId)
      throw error
    } finally {
      this.#running -= 1
    }
  }
}

function slicesOf({ startedAt }: Counted, now: Date): store.Slices {
  const from = startedAt ?? now
  const seconds = sliceSeconds((now.getTime() - from.getTime()) / 1000, MOST_SLICES)
  return { from, seconds, most: MOST_SLICES }
}

/** The pace from the first sent message to the last. Null if no message was sent. */
function paceOf(rows: SliceRow[], { from, seconds }: store.Slices): Pace | null {
  const sent = rows.flatMap(({ slice, messages, lastAt }) => (slice === null ? [] : [{ slice, messages, lastAt }]))
  if (sent.length === 0) return null
  const first = Math.min(...sent.map(({ slice }) => slice))
  const last = sent.reduce((latest, row) => (row.slice > latest.slice ? row : latest))
  const counts = new Array<number>(last.slice - first + 1).fill(0)
  for (const { slice, messages } of sent) counts[slice - first] = messages
  const beginning = new Date(from.getTime() + first * seconds * 1000)
  return mergeSlices({ from: beginning, until: last.lastAt ?? beginning, seconds, counts }, SHOWN_SLICES)
}

type SliceRow = { slice: number | null; messages: number; lastAt: Date | null }
