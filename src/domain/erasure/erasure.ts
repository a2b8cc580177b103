import { randomBytes } from 'node:crypto'
import { invalid } from '../../base/errors.ts'
import { piecesOf } from '../../base/pieces.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { eraseEntry } from '../blacklist/blacklist.ts'
import { forgetRequests } from '../cascades/cascades.ts'
import { forgetFlashcallCodes } from '../flashcalls/flashcalls.ts'
import { monthOf } from '../ledger/account.ts'
import { lockStatusesAndAccount } from '../ledger/ledger.ts'
import { isLockTimeout, lockMonths } from '../messages/months.ts'
import { forgetPorted, hasPortedUpload } from '../numbering/numbering.ts'
import type { RecordingContext } from '../recording/context.ts'
import { deleteLinksOf } from '../short-links/short-links.ts'
import { stopMessages } from '../stopping/stopping.ts'
import { FEWEST_DIGITS } from './number.ts'
import * as store from './store.ts'

/** The rows of each table that name the number. */
export type Naming = { table: string; rows: number }

/** What an erasure would change, and why it is refused. */
export type Plan = { naming: Naming[]; objections: string[] }

/** A refused erasure has objections and changed nothing. `left`: the parts that could not be erased now. */
export type Erasure = Plan & { left: string[] }

const AT_ONCE = 500
const MOST_PASSES = 3

/**
 * Reads every table, as `ledger verify` does, and changes nothing. Messages that are CREATED are no objection before
 * the erasure has stopped them.
 */
export async function planErasure(pool: Sql, digits: string, isStopped = false): Promise<Plan> {
  if (digits.length < FEWEST_DIGITS) {
    throw invalid(`A number of less than ${FEWEST_DIGITS} digits cannot be told apart from other digits`)
  }
  const objections = [...(await unfinishedMessages(pool, digits, isStopped)), ...(await waitingUploads(pool))]
  const naming: Naming[] = []
  for (const target of await store.readTargets(pool)) {
    const rows = await store.countNaming(pool, target, digits)
    if (rows > 0) naming.push({ table: target.name, rows })
    for (const { column, rows } of await store.countObjecting(pool, target, digits, isStopped)) {
      const isDispatch = target.name === 'dispatches' && column === 'in use'
      const named = isDispatch ? await nameDispatches(pool, target, digits, rows) : ''
      objections.push(objectionOf(target, column, rows, named))
    }
  }
  return { naming, objections }
}

function objectionOf({ name, rule: { expiring } }: store.Target, column: string, rows: number, named: string): string {
  const end = expiring?.[column]
  if (end) return `the number is in ${name}.${column} (rows: ${rows}): housekeeping deletes it ${end}`
  return column === 'in use'
    ? `${rows} rows of ${name} have the number in a text that is still to be sent${named}: stop or wait for them`
    : `the number is a setting, ${name}.${column} (rows: ${rows}): change it first`
}

const MOST_NAMED = 5

/** ` (dispatch 7 of company 1: CREATED, …)` */
async function nameDispatches(pool: Sql, target: store.Target, digits: string, count: number): Promise<string> {
  const some = await store.selectDispatchesInUse(pool, target, digits, MOST_NAMED)
  const named = some.map(
    ({ companyId, dispatchId, status }) => `dispatch ${dispatchId} of company ${companyId}: ${status}`,
  )
  return ` (${[...named, ...(count > some.length ? ['…'] : [])].join(', ')})`
}

async function waitingUploads(pool: Sql): Promise<string[]> {
  const waits = await hasPortedUpload(pool)
  return waits ? ['a file of ported numbers waits in the cabinet and may have the number: apply or discard it'] : []
}

async function unfinishedMessages(pool: Sql, digits: string, isStopped: boolean): Promise<string[]> {
  const found = await store.selectUnfinished(pool, digits, AT_ONCE)
  const created = isStopped ? found.filter(({ status }) => status === 'CREATED') : []
  const sent = found.filter(({ status }) => status === 'SENT')
  return [
    ...objectionTo(created, count => `${count} messages are being sent or were just accepted`, 'in a minute'),
    ...objectionTo(sent, count => `the operator has not reported on ${count} messages yet`, 'in at most 25 hours'),
  ]
}

function objectionTo([first, ...others]: store.OwnMessage[], reason: (count: number) => string, when: string) {
  if (!first) return []
  return [`${reason(others.length + 1)}, such as ${first.uuid} of company ${first.companyId}: try again ${when}`]
}

type Context = RecordingContext & { record: (plan: Plan) => Promise<void> }

/**
 * Removes a number from the whole database. Each step is small and can be repeated, so after a crash the same command
 * does the rest. A message keeps its status and its price; its number becomes a random pseudonym, another in each company.
 * The service may write the number again meanwhile, so the tables are searched again afterwards.
 */
export async function eraseNumber(pool: Pool, digits: string, { record, ...context }: Context): Promise<Erasure> {
  const plan = await planErasure(pool, digits)
  if (plan.objections.length > 0) return { ...plan, left: [] }
  await record(plan)
  const left = await eraseAll(pool, digits, context)
  await renewStatistics(pool, plan.naming)
  return { ...plan, left }
}

/** Returns the parts that are left. */
async function eraseAll(pool: Pool, digits: string, context: RecordingContext): Promise<string[]> {
  for (let pass = 0; ; pass += 1) {
    await stopUnsent(pool, digits, context)
    const { naming, objections } = await planErasure(pool, digits, true)
    const isDone = pass > 0 && naming.length === 0
    if (isDone || objections.length > 0 || pass === MOST_PASSES) return [...objections, ...naming.map(leftOf)]
    await eraseFound(pool, digits, context)
  }
}

const leftOf = ({ table, rows }: Naming) => `${rows} rows of ${table} have the number`

async function eraseFound(pool: Pool, digits: string, context: RecordingContext) {
  const targets = await store.readTargets(pool)
  const ofNumber = targets.filter(({ rule }) => rule.number !== undefined)
  for (const target of ofNumber) await removeOwnValues(pool, target, digits)
  for (const companyId of await store.selectCompanies(pool, ofNumber, digits)) {
    await pool.begin(sql => renameIn(sql, companyId, { targets: ofNumber, digits, context })).catch(explainBusy)
  }
  await pool.begin(sql => forgetPorted(sql, digits))
  for (const target of targets.filter(store.isSearched)) await eraseNaming(pool, target, digits)
}

/** The statistics of a partitioned table have values of its partitions. */
async function renewStatistics(pool: Pool, naming: Naming[]) {
  const tables = naming.flatMap(({ table }) => (table.startsWith('messages_') ? [table, 'messages'] : [table]))
  for (const table of new Set(tables)) await store.renewStatistics(pool, table)
}

/**
 * Messages that no operator has fail as stopped, without a price. A cascade takes no further step. A message that a worker is
 * sending stays CREATED: the next plan objects to it.
 */
async function stopUnsent(pool: Pool, digits: string, context: RecordingContext) {
  for (;;) {
    const found = await store.selectUnfinished(pool, digits, AT_ONCE)
    const unsent = found.filter(({ status, hasStep }) => status === 'CREATED' || hasStep)
    let stopped = 0
    for (const [companyId, own] of Map.groupBy(unsent, message => message.companyId)) {
      const uuids = new Set(own.flatMap(({ uuid, cascadeUuid }) => (cascadeUuid ? [uuid, cascadeUuid] : [uuid])))
      const outcomes = await stopMessages(pool, companyId, [...uuids], context)
      stopped += outcomes.filter(({ outcome }) => outcome === 'stopped').length
    }
    if (found.length < AT_ONCE || stopped === 0) return
  }
}

/** Rows that belong to messages go first: after a crash their messages are found again. */
async function removeOwnValues(pool: Pool, target: store.Target, digits: string) {
  if (target.name === 'blacklist' || target.name.endsWith('_recipients')) return
  await inPieces(await store.selectOwn(pool, target, digits), async (companyId, own) => {
    const keys = own.map(({ key }) => key[0]!)
    if (target.name.startsWith('messages_')) await forgetBesideMessages(pool, companyId, keys)
    await store.removeValues(pool, target, own)
  })
}

async function forgetBesideMessages(pool: Pool, companyId: number, uuids: string[]) {
  await forgetRequests(pool, companyId, uuids)
  await forgetFlashcallCodes(pool, companyId, uuids)
  await deleteLinksOf(pool, companyId, uuids)
}

type Renaming = { targets: store.Target[]; digits: string; context: RecordingContext }

/**
 * One transaction, because unique recipients are charged: the messages and the recipients of a tariff always have the same
 * numbers, so the ledger can be verified at any moment. The statuses are locked, so no delivery is recorded meanwhile; the
 * months are locked, so none is summed and detached meanwhile.
 */
async function renameIn(sql: Transaction, companyId: number, { targets, digits, context }: Renaming) {
  await lockStatusesAndAccount(sql, companyId, monthOf(context.now, context.billingZone))
  await lockMonths(sql)
  const pseudonym = `erased-${randomBytes(8).toString('hex')}`
  for (const target of targets) {
    if (target.name === 'blacklist') await eraseEntry(sql, companyId, digits)
    else await store.renameNumber(sql, target, companyId, digits, pseudonym)
  }
}

function explainBusy(error: unknown) {
  if (isLockTimeout(error)) throw invalid('The messages are in use, such as by the detachment of a month: run it again')
  throw error
}

async function eraseNaming(pool: Pool, target: store.Target, digits: string) {
  await inPieces(await store.selectNaming(pool, target, digits), (_, own) =>
    target.name === 'audit_entries'
      ? eraseEntries(pool, target, own, digits)
      : store.eraseRows(pool, target, own, digits),
  )
}

const eraseEntries = (pool: Pool, target: store.Target, entries: store.Place[], digits: string) =>
  pool.begin(async sql => {
    await store.allowAuditChange(sql)
    await store.eraseRows(sql, target, entries, digits)
  })

/** In pieces of the rows of one company. */
async function inPieces(places: store.Place[], work: (companyId: number, own: store.Place[]) => Promise<unknown>) {
  for (const [company, ofCompany] of Map.groupBy(places, place => place.company)) {
    for (const own of piecesOf(ofCompany, AT_ONCE)) await work(Number(company), own)
  }
}
