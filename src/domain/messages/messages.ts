import { inPieces } from '../../db/in-pieces.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import {
  BLOCK_SIZE,
  type ChangedMessage,
  type Message,
  type MessageStatus,
  type NewMessage,
  type StatusUpdate,
} from './message.ts'
import * as store from './store.ts'

export {
  acceptedMessages,
  ensureMessageMonths,
  failuresOf,
  type MessagesOfDispatch,
  overdueMessages,
  placesInLanes,
  queuedMessages,
  setFinalPrices,
} from './store.ts'

/** Writes a request's messages and adds them to the counters of their dispatch. */
export async function writeMessages(
  sql: Transaction,
  dispatch: store.ReceivingDispatch,
  batches: AsyncIterable<NewMessage[]>,
): Promise<void> {
  const blocks = new Map<number, store.NewBlock>()
  await store.copyMessages(sql, dispatch, counted(batches, blocks))
  await store.addToBlocks(sql, dispatch, [...blocks.values()])
}

async function* counted(batches: AsyncIterable<NewMessage[]>, blocks: Map<number, store.NewBlock>) {
  for await (const batch of batches) {
    for (const message of batch) countIn(blocks, message)
    yield batch
  }
}

function countIn(blocks: Map<number, store.NewBlock>, message: NewMessage) {
  const block = Math.floor(message.position / BLOCK_SIZE)
  const counts = blocks.get(block) ?? { block, created: 0, failed: 0, createdParts: 0 }
  blocks.set(block, counts)
  if (message.status === 'FAILED') counts.failed += 1
  else {
    counts.created += 1
    counts.createdParts += message.parts
  }
}

/** A page of the messages of a dispatch, by position. A deep page is as fast as the first page. */
export async function pageOfMessages(
  sql: Sql,
  dispatch: store.MessagesOfDispatch & { messageCount: number },
  status: MessageStatus | undefined,
  page: number,
  perPage: number,
): Promise<{ total: number; items: Message[] }> {
  const offset = (page - 1) * perPage
  if (status) return pageOfStatus(sql, dispatch, status, offset, perPage)
  const items = offset < dispatch.messageCount ? await store.selectByPosition(sql, dispatch, offset, perPage) : []
  return { total: dispatch.messageCount, items }
}

async function pageOfStatus(
  sql: Sql,
  dispatch: store.MessagesOfDispatch,
  status: MessageStatus,
  offset: number,
  limit: number,
) {
  const counts = await store.selectBlocks(sql, dispatch, status)
  const { blocks, skip } = blocksOfPage(counts, offset, limit)
  const items = blocks.length > 0 ? await store.selectFromBlocks(sql, dispatch, status, blocks, skip, limit) : []
  return { total: counts.reduce((sum, { messages }) => sum + messages, 0), items }
}

/** The blocks that a page needs, and the number of their messages before the page. */
export function blocksOfPage(counts: readonly store.BlockCount[], offset: number, limit: number) {
  const blocks: number[] = []
  let skip = 0
  let before = 0
  for (const { block, messages } of counts) {
    if (before >= offset + limit) break
    if (before + messages > offset) {
      if (blocks.length === 0) skip = offset - before
      blocks.push(block)
    }
    before += messages
  }
  return { blocks, skip }
}

const REPORT_PAGE = 1000

/** All messages of a dispatch by position, page by page. No connection is used between two pages. */
export async function* everyMessage(
  sql: Sql,
  dispatch: store.MessagesOfDispatch & { messageCount: number },
): AsyncGenerator<Message[]> {
  for (let from = 0; from < dispatch.messageCount; from += REPORT_PAGE) {
    yield await store.selectByPosition(sql, dispatch, from, Math.min(REPORT_PAGE, dispatch.messageCount - from))
  }
}

type Range = Parameters<typeof store.queuedMessages>[1]
type Bounds = Parameters<typeof store.queuedMessages>[2]

/**
 * The CREATED messages of leases of a company, with the lane of each. Single messages and messages of dispatches are read
 * apart, because they are in different months.
 */
export async function queuedOfLeases(sql: Sql, companyId: number, leases: (Omit<Range, 'companyId'> & Bounds)[]) {
  const { singles = [], ofDispatches = [] } = Object.groupBy(leases, ({ firstUuid }) =>
    firstUuid ? 'ofDispatches' : 'singles',
  )
  const read = (some: typeof leases) =>
    some.length > 0 ? store.queuedOfLeases(sql, companyId, some, boundsOf(some)) : []
  const [first, second] = await Promise.all([read(singles), read(ofDispatches)])
  return [...first, ...second]
}

/** Bounds that contain the messages of all these dispatches. */
function boundsOf(dispatches: Bounds[]): Bounds {
  const firstUuids = dispatches.flatMap(({ firstUuid }) => firstUuid ?? [])
  const lastUuids = dispatches.flatMap(({ lastUuid }) => lastUuid ?? [])
  return { firstUuid: firstUuids.sort()[0] ?? null, lastUuid: lastUuids.sort().at(-1) ?? null }
}

export async function lastSentIn(sql: Sql, range: Range & Bounds): Promise<Date | null> {
  const [row] = await store.selectLastSent(sql, range)
  return row?.last ?? null
}

/** The number of CREATED messages in a range, and the sum of their prices. */
export async function createdIn(sql: Sql, range: Range, bounds: Bounds) {
  const [sum] = await store.sumCreated(sql, range, bounds)
  return sum ?? { price: 0n, count: 0 }
}

/** A status change that happened: the row as the conditional UPDATE returned it. `sent`: the operator has accepted it, now or before. */
export type StatusChange = ChangedMessage & {
  from: 'CREATED' | 'SENT'
  to: StatusUpdate['to']
  at: Date
  errorCode: number | null
  sent: boolean
  /** The moment of sending, if this change is the first to know it. */
  sentAt: Date | null
}

/** Whether a message was sent and reached its final status in one change. Clients learn of both, first of the sending. */
export const skippedSent = ({ from, to, sent }: StatusChange) => from === 'CREATED' && to !== 'SENT' && sent

/** Updates statuses, each message at most once. Returns the changes that really happened. */
export async function updateStatuses(
  sql: Sql,
  companyId: number,
  from: 'CREATED' | 'SENT',
  updates: StatusUpdate[],
): Promise<StatusChange[]> {
  const wanted = new Map<string, StatusUpdate>()
  for (const update of updates) wanted.set(update.uuid, update)
  const byStatus = [...Map.groupBy(wanted.values(), ({ to }) => to)]
  const changes = await Promise.all(
    byStatus.map(([to, alike]) =>
      inPieces(alike.sort(byUuid), async some =>
        changesOf(from, some, await store.updateStatuses(sql, companyId, from, to, some)),
      ),
    ),
  )
  return changes.flat()
}

const byUuid = (a: StatusUpdate, b: StatusUpdate) => (a.uuid < b.uuid ? -1 : 1)

function changesOf(
  from: StatusChange['from'],
  updates: StatusUpdate[],
  changed: readonly store.ChangedAlike[],
): StatusChange[] {
  return changed.flatMap(({ places, positions, destinations, ...common }) =>
    places.map((place, i) => {
      const update = updates[place - 1]!
      const { uuid, to, sentAt, errorCode } = update
      return {
        ...common,
        uuid,
        position: positions[i]!,
        destination: destinations[i]!,
        from,
        to,
        at: momentOf(update),
        errorCode,
        sent: from === 'SENT' || sentAt !== null,
        sentAt,
      }
    }),
  )
}

function momentOf({ uuid, finalAt, sentAt }: StatusUpdate): Date {
  const at = finalAt ?? sentAt
  if (!at) throw new Error(`The status update of message ${uuid} has no time`)
  return at
}

/**
 * Adds status changes to the counters of their dispatches. Returns the dispatches that may be finished by them: no changed
 * block has a message left that is not final.
 */
export async function countChanges(sql: Sql, companyId: number, changes: StatusChange[]): Promise<number[]> {
  const blocks = new Map<string, store.BlockChange>()
  let counts: store.BlockChange | undefined // most messages are in the block of the message before
  for (const change of changes) {
    if (change.dispatchId === null || change.position === null) continue
    const block = Math.floor(change.position / BLOCK_SIZE)
    if (counts?.dispatchId !== change.dispatchId || counts.block !== block) {
      const key = `${change.dispatchId}/${block}`
      counts = blocks.get(key) ?? noChange(change.dispatchId, block)
      blocks.set(key, counts)
    }
    counts.messages[change.from] -= 1
    counts.messages[change.to] += 1
    counts.parts[change.from] -= change.parts
    counts.parts[change.to] += change.parts
    if (change.to === 'FAILED' && !change.sent) {
      counts.unsentMessages += 1
      counts.unsentParts += change.parts
    }
  }
  if (blocks.size === 0) return []
  const changed = await store.changeBlocks(sql, companyId, [...blocks.values()])
  const byDispatch = Map.groupBy(changed, ({ dispatchId }) => dispatchId)
  return [...byDispatch].flatMap(([dispatchId, all]) => (all.every(({ open }) => open === 0) ? dispatchId : []))
}

const noChange = (dispatchId: number, block: number): store.BlockChange => ({
  dispatchId,
  block,
  messages: noCounts(),
  parts: noCounts(),
  unsentMessages: 0,
  unsentParts: 0,
})

const noCounts = (): store.StatusCounts => ({ CREATED: 0, SENT: 0, DELIVERED: 0, FAILED: 0 })
