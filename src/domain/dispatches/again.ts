import { compileTemplate } from '../../base/content/text-template.ts'
import { invalid } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { Numbering } from '../numbering/numbering.ts'
import * as store from './again-store.ts'
import type { Dispatch, DispatchKey, Recipient } from './dispatch.ts'
import { insertDispatchId, lockDispatch } from './store.ts'
import { addRecipientsTo } from './writing.ts'

const PAGE = 5000
const MOST_AGAIN = 200_000

/** The new dispatch. A repeated request gets the dispatch of the first request, and `isNew` is false. */
export type Again = { dispatchId: number; isNew: boolean }

/**
 * Creates a new dispatch with the recipients whose messages failed, each recipient and text once. The new dispatch is
 * CREATED, so that its price is known before a person starts it. A dispatch is sent again only once. Both of two
 * concurrent requests lock the original, so the second request gets the dispatch of the first.
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
    const dispatchId = await copyDispatch(sql, original, name)
    await addFailed(sql, numbering, original, dispatchId)
    await alongside(sql, { dispatchId })
    return { dispatchId, isNew: true }
  })
}

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

async function addFailed(sql: Transaction, numbering: Numbering, original: Dispatch, dispatchId: number) {
  const company = await requireAnyCompany(sql, original.companyId)
  const hasPlaces = compileTemplate(original.text).names.length > 0
  const positions = (await store.selectFailedPositions(sql, original, MOST_AGAIN + 1)).map(({ position }) => position)
  if (positions.length > MOST_AGAIN)
    throw invalid(`More than ${MOST_AGAIN} messages failed: make a dispatch from the report`)
  let count = 0
  for (let from = 0; from < positions.length; from += PAGE) {
    const failed = await store.selectAt(sql, original, positions.slice(from, from + PAGE))
    const recipients = failed.flatMap(message => recipientOf(message, hasPlaces))
    if (recipients.length === 0) continue
    count += recipients.length
    const dispatch = await lockDispatch(sql, original.companyId, dispatchId)
    await addRecipientsTo(sql, numbering, { dispatch, company, recipients })
  }
  if (count === 0) throw invalid('No message of the dispatch can be sent again')
}

const recipientOf = ({ destination, text }: store.Failed, hasPlaces: boolean): Recipient[] => {
  if (text !== null) return [{ destination, customText: text }]
  return hasPlaces ? [] : [{ destination }]
}
