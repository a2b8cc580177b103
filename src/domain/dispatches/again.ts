import { invalid } from '../../base/errors.ts'
import { compileTemplate } from '../../base/text-template.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { Numbering } from '../numbering/numbering.ts'
import * as store from './again-store.ts'
import type { Dispatch, Recipient } from './dispatch.ts'
import { addTo } from './dispatches.ts'
import type { DispatchKey } from './lifecycle.ts'
import { insertDispatchId, lockDispatch } from './store.ts'

const PAGE = 5000
const MOST_AGAIN = 200_000

/** The new dispatch, and whether this request made it: a repeated one is told of the first. */
export type Again = { dispatchId: number; isNew: boolean }

/**
 * Makes a new dispatch of exactly the recipients whose messages failed, nobody twice, with the texts that they were to
 * get. It is CREATED: its price is known before somebody starts it. A dispatch is sent again once: a second request, also
 * at the same moment, is answered with the dispatch that the first one made, because both lock the original.
 *
 * Recipients who were refused before they had a text are left out where the text has placeholders: their values were
 * not kept.
 */
export async function sendAgain(
  pool: Pool,
  numbering: Numbering,
  home: DispatchKey,
  name: string,
  alongside: (sql: Transaction, made: { dispatchId: number }) => Promise<void>,
): Promise<Again> {
  return pool.begin(async sql => {
    await allowLongWork(sql)
    const [original] = await lockDispatch(sql, home.companyId, home.dispatchId)
    const [earlier] = await store.selectAgainOf(sql, home)
    if (earlier) return { dispatchId: earlier.dispatchId, isNew: false }
    refuseUnfit(original!)
    const dispatchId = await copyDispatch(sql, original!, name)
    await addFailed(sql, numbering, original!, dispatchId)
    await alongside(sql, { dispatchId })
    return { dispatchId, isNew: true }
  })
}

/** The first dispatch and the one made of it, each for the page of the other. */
export async function linkedBySendingAgain(sql: Sql, home: DispatchKey) {
  const linked = await store.selectLinked(sql, home)
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
  const [id] = await insertDispatchId(sql, companyId)
  await store.insertCopy(sql, { companyId, dispatchId }, { dispatchId: id!.dispatchId, name })
  return id!.dispatchId
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
    const [dispatch] = await lockDispatch(sql, original.companyId, dispatchId)
    await addTo(sql, numbering, { dispatch: dispatch!, company, recipients })
  }
  if (count === 0) throw invalid('No message of the dispatch can be sent again')
}

const recipientOf = ({ destination, text }: store.Failed, hasPlaces: boolean): Recipient[] => {
  if (text !== null) return [{ destination, customText: text }]
  return hasPlaces ? [] : [{ destination }]
}
