import { compileTemplate } from '../../base/content/text-template.ts'
import { invalid } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { TrafficTally } from '../statistics/traffic.ts'
import { prepareAcceptance } from './acceptance/preparing.ts'
import * as store from './again-store.ts'
import { requireDispatchOf } from './client-dispatches.ts'
import type { Dispatch, DispatchKey, Recipient } from './dispatch.ts'
import { insertDispatchId, lockDispatch } from './store.ts'
import { addRecipientsTo, countTraffic } from './writing.ts'

const PAGE = 10_000
const COUNT_TIMEOUT_MS = 20_000

/** All messages of the new dispatch are written in one transaction, which takes about a minute for so many. */
export const MOST_AGAIN = 1_000_000

/** The new dispatch. A repeated request gets the dispatch of the first request, and `isNew` is false. */
export type Again = { dispatchId: number; isNew: boolean }

/**
 * Creates a new dispatch with the recipients whose messages failed, each recipient and text once. The new dispatch is
 * CREATED, so that its price is known before a person starts it. A dispatch is sent again only once. Both of two
 * concurrent requests lock the original, so the second request gets the dispatch of the first.
 *
 * All pages are written in one transaction, so that a crash leaves no dispatch with a part of the recipients. It may
 * take a minute. It locks only the two dispatches and the new lanes until its end, when it locks the counts of the company.
 *
 * A recipient that was rejected before its text was rendered is left out if the text has placeholders, because its
 * substitutions are not stored.
 */
export async function sendAgain(
  pool: Pool,
  numbering: Numbering,
  key: DispatchKey,
  name: string,
  alongside: (sql: Transaction, made: { dispatchId: number }) => Promise<void>,
): Promise<Again> {
  return pool.begin(async sql => {
    await allowLongWork(sql)
    const original = await lockDispatch(sql, key.companyId, key.dispatchId)
    const [earlier] = await store.selectAgainOf(sql, key)
    if (earlier) return { dispatchId: earlier.dispatchId, isNew: false }
    refuseUnfit(original)
    const positions = await failedPositions(sql, original)
    const dispatchId = await copyDispatch(sql, original, name)
    const traffic = await addFailed(sql, numbering, { original, dispatchId, positions })
    await alongside(sql, { dispatchId })
    await countTraffic(sql, original.companyId, traffic)
    return { dispatchId, isNew: true }
  })
}

export type { AgainCounts } from './again-store.ts'

/**
 * Counts what `sendAgain` would send and what it would leave out. Refuses as `sendAgain` does, for example if the
 * sender name may not be used any more. It reads every message of the dispatch. Null if that takes too long.
 */
export async function countAgain(
  pool: Pool,
  numbering: Numbering,
  key: DispatchKey,
): Promise<store.AgainCounts | null> {
  try {
    return await pool.begin(async sql => {
      await store.limitTime(sql, COUNT_TIMEOUT_MS)
      const dispatch = await requireDispatchOf(sql, key.companyId, key.dispatchId)
      refuseUnfit(dispatch)
      const company = await requireAnyCompany(sql, key.companyId)
      await prepareAcceptance(sql, numbering, { dispatch, company, recipients: [] })
      return store.selectAgainCounts(sql, dispatch, hasPlaces(dispatch))
    })
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return null
    throw error
  }
}

const QUERY_CANCELED = '57014'

/** The dispatch that was made from this dispatch, and the dispatch that this dispatch was made from. */
export async function linkedBySendingAgain(sql: Sql, key: DispatchKey) {
  const linked = await store.selectLinked(sql, key)
  const link = (isLater: boolean) => {
    const found = linked.find(each => each.isLater === isLater)
    return found ? { dispatchId: found.dispatchId, name: found.name } : null
  }
  return { again: link(true), againOf: link(false) }
}

function refuseUnfit({ status, cascade }: Dispatch) {
  if (status !== 'COMPLETED') throw invalid(`The dispatch is ${status}: only a COMPLETED one can be sent again`)
  if (cascade) throw invalid('A dispatch by cascade cannot be sent again')
}

async function copyDispatch(sql: Transaction, { companyId, dispatchId }: Dispatch, name: string): Promise<number> {
  const copy = await insertDispatchId(sql, companyId)
  await store.insertCopy(sql, { companyId, dispatchId }, { dispatchId: copy.dispatchId, name })
  return copy.dispatchId
}

const hasPlaces = ({ text }: Dispatch) => compileTemplate(text).names.length > 0

/** Four bytes for each position, so that a million take little memory. */
async function failedPositions(sql: Sql, original: Dispatch): Promise<Int32Array> {
  const positions = new Int32Array(Math.min(original.messageCount, MOST_AGAIN + 1))
  let count = 0
  const found = store.selectFailedPositions(sql, original, hasPlaces(original), MOST_AGAIN + 1)
  for await (const rows of found.cursor(PAGE)) for (const { position } of rows) positions[count++] = position
  if (count === 0) throw nothingToSend()
  if (count > MOST_AGAIN) throw invalid(`More than ${MOST_AGAIN} messages failed: make a dispatch from the report`)
  return positions.subarray(0, count)
}

const nothingToSend = () => invalid('No message of the dispatch can be sent again')

type Addition = { original: Dispatch; dispatchId: number; positions: Int32Array }

async function addFailed(sql: Transaction, numbering: Numbering, { original, dispatchId, positions }: Addition) {
  const company = await requireAnyCompany(sql, original.companyId)
  const traffic = new TrafficTally()
  let count = 0
  for await (const recipients of pagesOf(sql, original, positions)) {
    count += recipients.length
    const dispatch = await lockDispatch(sql, original.companyId, dispatchId)
    await addRecipientsTo(sql, numbering, { dispatch, company, recipients, traffic })
  }
  if (count === 0) throw nothingToSend()
  return traffic
}

/**
 * Recipients of the messages at the positions. Other failed messages between them are skipped, and positions whose texts
 * were removed after the positions were read.
 */
async function* pagesOf(sql: Sql, original: Dispatch, positions: Int32Array): AsyncGenerator<Recipient[]> {
  for (let from = 0; from < positions.length; ) {
    const page = positions.subarray(from, from + PAGE)
    const range = { hasPlaces: hasPlaces(original), first: page.at(0)!, last: page.at(-1)!, limit: PAGE }
    const failed = await store.selectFailedFrom(sql, original, range)
    const readTo = failed.length < PAGE ? range.last : failed.at(-1)!.position
    const known = new Map(failed.map(message => [message.position, message]))
    const recipients: Recipient[] = []
    for (; from < positions.length && positions[from]! <= readTo; from++) {
      const message = known.get(positions[from]!)
      if (message) recipients.push(recipientOf(message))
    }
    if (recipients.length > 0) yield recipients
  }
}

const recipientOf = ({ destination, text }: store.Failed): Recipient =>
  text === null ? { destination } : { destination, customText: text }
