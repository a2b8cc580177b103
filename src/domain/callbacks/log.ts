import { notFound } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import {
  type CallbackBatch,
  type CallbackStatus,
  FAILURES_UNTIL_PROBE,
  MOST_ARRAY_EVENTS,
  requestBodyOf,
  withoutPassword,
} from './callback.ts'
import { listCallbackAttempts } from './callbacks.ts'
import { callbacksOfMessage } from './callbacks-of-message.ts'
import { nameOfEvent } from './event-name.ts'
import * as store from './store.ts'

export type { LogPlace } from './store.ts'

/** A batch as the members of a company see it. Its address has no password. */
export type LogEntry = Omit<store.LoggedCallback, 'api'> & store.LastAttempt

export type LogFilter = {
  status?: CallbackStatus | undefined
  from?: Date | undefined
  to?: Date | undefined
  before?: store.LogPlace | undefined
}

/** One page reads at most this many batches, because not every status has an index. The next page continues after them. */
const MOST_READ = 5000

/** Batches of a company, the newest first. Older batches begin at `next`. Even an empty page may have a `next`. */
export async function listLog(
  sql: Sql,
  companyId: number,
  { status, from = new Date(0), to, before = { happenedAt: to ?? FAR, callbackId: 0 } }: LogFilter,
  limit: number,
): Promise<{ entries: LogEntry[]; next: store.LogPlace | undefined }> {
  const filter = { status, from, before }
  const found = await store.selectLog(sql, companyId, filter, { most: MOST_READ, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const next = found.length > limit ? shown.at(-1) : (await store.selectLastInLog(sql, companyId, filter, MOST_READ))[0]
  return { entries: shown.map(entryOf), next }
}

const FAR = new Date('9999-01-01')

const entryOf = ({ api, ...entry }: store.LoggedCallback & store.LastAttempt): LogEntry => ({
  ...entry,
  url: withoutPassword(entry.url),
})

type CallbackTimes = Parameters<typeof callbacksOfMessage>[1]

/** The batches with events of a message. Undefined if the search takes too long. */
export async function logOfMessage(pool: Pool, times: CallbackTimes): Promise<LogEntry[] | undefined> {
  const found = await callbacksOfMessage(pool, times)
  if (!found) return undefined
  const ids = found.map(({ callbackId }) => callbackId)
  return (await store.selectLogOf(pool, times.companyId, ids)).map(entryOf)
}

export type OpenedCallback = Omit<store.LoggedCallback, 'api' | 'attempts'> & {
  /** The number of events by name. */
  events: { name: string; count: number }[]
  attempts: store.ListedAttempt[]
  /** An example of a request body. It has the first events that are not accepted yet, or the first events if all are. */
  body: string
  /** How many events are in `body`. */
  shownEvents: number
}

const SHOWN_EVENTS = 3

/** One batch with its attempts, the newest first, and an example of a request body. */
export async function openCallback(sql: Sql, companyId: number, callbackId: number): Promise<OpenedCallback> {
  const [found] = await store.selectCallback(sql, companyId, callbackId)
  if (!found) throw notFound('Callback')
  const { events, progress, ...whole } = found
  const batch = { ...found, companyId, done: [], held: new Set() } as unknown as CallbackBatch
  const left = events.map((_, index) => index).filter(index => progress[index] !== '1')
  const shown = (left.length > 0 ? left : events.map((_, index) => index)).slice(0, mostShown(batch))
  return {
    ...withoutApi(whole),
    url: withoutPassword(found.url),
    events: countsOf((events as Parameters<typeof nameOfEvent>[0][]).map(nameOfEvent)),
    attempts: await listCallbackAttempts(sql, companyId, callbackId),
    body: shown.length > 0 ? requestBodyOf(shown.map(index => ({ batch, index }))) : '',
    shownEvents: shown.length,
  }
}

const mostShown = ({ api }: CallbackBatch) => (api === 'partner' ? 1 : Math.min(SHOWN_EVENTS, MOST_ARRAY_EVENTS))

const withoutApi = ({ api, ...rest }: Omit<store.WholeCallback, 'events' | 'progress'>) => rest

const countsOf = (names: string[]) =>
  [...Map.groupBy(names, name => name)].map(([name, same]) => ({ name, count: same.length }))

export type ReceiverState = 'open' | 'failing' | 'paused'
export type ShownReceiver = store.ListedReceiver & { state: ReceiverState }

const MOST_RECEIVERS = 50
/** Waiting batches of a receiver are counted up to this number. */
export const MOST_COUNTED = 1000

/** The receivers of a company, with paused receivers first. */
export async function listReceivers(sql: Sql, companyId: number): Promise<ShownReceiver[]> {
  const found = await store.selectReceivers(sql, companyId, MOST_RECEIVERS, MOST_COUNTED)
  return found.map(receiver => ({ ...receiver, state: stateOf(receiver) }))
}

function stateOf({ failures }: store.ListedReceiver): ReceiverState {
  if (failures >= FAILURES_UNTIL_PROBE) return 'paused'
  return failures > 0 ? 'failing' : 'open'
}

/** Tries a paused receiver at once. */
export async function probeReceiver(sql: Sql, companyId: number, receiver: string): Promise<void> {
  const { count } = await store.updateProbeDue(sql, { companyId, receiver })
  if (count === 0) throw notFound('Receiver')
}

/** The address of the newest batch, including its password. */
export const newestAddress = async (sql: Sql, companyId: number) => (await store.selectNewestUrl(sql, companyId))[0]
