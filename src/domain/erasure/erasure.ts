import { randomBytes } from 'node:crypto'
import { invalid } from '../../base/errors.ts'
import { byCompany } from '../../db/by-company.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { eraseEntry } from '../blacklist/blacklist.ts'
import { forgetRequests } from '../cascades/cascades.ts'
import { forgetFlashcallCodes } from '../flashcalls/flashcalls.ts'
import { forgetPorted } from '../numbering/numbering.ts'
import type { RecordingContext } from '../recording/context.ts'
import { deleteLinksOf } from '../short-links/short-links.ts'
import { stopMessages } from '../stopping/stopping.ts'
import { FEWEST_DIGITS } from './number.ts'
import * as store from './store.ts'

/** The rows of each table that name the number. */
export type Naming = { table: string; rows: number }

/** What an erasure would change, and why it is refused. */
export type Plan = { naming: Naming[]; objections: string[] }

const AT_ONCE = 500

/**
 * Reads every table, as `ledger verify` does, and changes nothing. Messages that are CREATED are no objection: the
 * erasure stops them first.
 */
export async function planErasure(pool: Sql, digits: string): Promise<Plan> {
  if (digits.length < FEWEST_DIGITS) {
    throw invalid(`A number of less than ${FEWEST_DIGITS} digits cannot be told apart from other digits`)
  }
  const objections = await unfinishedMessages(pool, digits)
  const naming: Naming[] = []
  for (const target of await store.readTargets(pool)) {
    const rows = await store.countNaming(pool, target, digits)
    if (rows > 0) naming.push({ table: target.name, rows })
    for (const { column, rows } of await store.countObjecting(pool, target, digits)) {
      objections.push(objectionOf(target.name, column, rows))
    }
  }
  return { naming, objections }
}

const objectionOf = (table: string, column: string, rows: number) =>
  column === 'in use'
    ? `${rows} rows of ${table} have the number in a text that is still to be sent: stop or wait for them`
    : `the number is a setting, ${table}.${column} (rows: ${rows}): change it first`

async function unfinishedMessages(pool: Sql, digits: string): Promise<string[]> {
  const found = (await store.selectUnfinished(pool, digits, AT_ONCE)).filter(({ status }) => status === 'SENT')
  const [first] = found
  if (!first) return []
  return [
    `the operator has not reported on ${found.length} messages yet, such as ${first.uuid} of company ${first.companyId}: try again in at most 25 hours`,
  ]
}

/**
 * Removes a number from the whole database. Each step is small and can be repeated, so after a crash the same command
 * does the rest. A message keeps its status and its price; its number becomes a random pseudonym, another in each company.
 */
export async function eraseNumber(
  pool: Pool,
  digits: string,
  { record, ...context }: RecordingContext & { record: (plan: Plan) => Promise<void> },
): Promise<Plan> {
  await stopUnsent(pool, digits, context)
  const plan = await planErasure(pool, digits)
  if (plan.objections.length > 0) return plan
  await record(plan)

  const targets = await store.readTargets(pool)
  const ofNumber = targets.filter(({ rule }) => rule.number !== undefined)
  for (const target of ofNumber) await removeOwnValues(pool, target, digits)
  for (const companyId of await store.selectCompanies(pool, ofNumber, digits)) {
    await pool.begin(sql => renameIn(sql, companyId, ofNumber, digits))
  }
  await pool.begin(sql => forgetPorted(sql, digits))
  for (const target of targets.filter(store.isSearched)) await eraseNaming(pool, target, digits)
  return plan
}

/** Messages that no operator has fail as stopped, without a price. A cascade takes no further step. */
async function stopUnsent(pool: Pool, digits: string, context: RecordingContext) {
  for (;;) {
    const found = await store.selectUnfinished(pool, digits, AT_ONCE)
    const unsent = found.filter(({ status, hasStep }) => status === 'CREATED' || hasStep)
    const outcomes = await byCompany(unsent, (companyId, own) =>
      stopMessages(pool, companyId, [...new Set(own.map(({ uuid }) => uuid))], context),
    )
    const leased = outcomes.filter(({ outcome }) => outcome === 'maybe')
    if (leased.length > 0) throw busy(leased[0]!.uuid)
    if (found.length < AT_ONCE || outcomes.every(({ outcome }) => outcome !== 'stopped')) return
  }
}

const busy = (uuid: string) => invalid(`A worker is sending message ${uuid} right now: try again in a minute`)

/** Rows that belong to messages go first: after a crash their messages are found again. */
async function removeOwnValues(pool: Pool, target: store.Target, digits: string) {
  if (target.name === 'blacklist' || target.name.endsWith('_recipients')) return
  for (;;) {
    const places = await store.selectOwn(pool, target, digits, AT_ONCE)
    await eachCompany(places, async (companyId, own) => {
      if (target.name.startsWith('messages_'))
        await forgetBesideMessages(
          pool,
          companyId,
          own.map(({ key }) => key[0]!),
        )
      await store.removeValues(pool, target, own)
    })
    if (places.length < AT_ONCE) return
  }
}

async function forgetBesideMessages(pool: Pool, companyId: number, uuids: string[]) {
  await forgetRequests(pool, companyId, uuids)
  await forgetFlashcallCodes(pool, companyId, uuids)
  await deleteLinksOf(pool, companyId, uuids)
}

/**
 * One transaction, because unique recipients are charged: the messages and the recipients of a tariff always have the same
 * numbers, so the ledger can be verified at any moment.
 */
async function renameIn(sql: Transaction, companyId: number, targets: store.Target[], digits: string) {
  const pseudonym = `erased-${randomBytes(8).toString('hex')}`
  for (const target of targets) {
    if (target.name === 'blacklist') await eraseEntry(sql, companyId, digits)
    else await store.renameNumber(sql, target, companyId, digits, pseudonym)
  }
}

async function eraseNaming(pool: Pool, target: store.Target, digits: string) {
  for (let places: store.Place[] = []; ; ) {
    places = await store.selectNaming(pool, target, digits, AT_ONCE)
    if (target.isOfCompany) {
      await eachCompany(places, (_, own) => store.eraseRows(pool, target, own, digits))
    } else if (places.length > 0) {
      await pool.begin(async sql => {
        if (target.name === 'audit_entries') await store.allowAuditChange(sql)
        await store.eraseRows(sql, target, places, digits)
      })
    }
    if (places.length < AT_ONCE) return
  }
}

async function eachCompany(places: store.Place[], work: (companyId: number, own: store.Place[]) => Promise<unknown>) {
  for (const [company, own] of Map.groupBy(places, place => place.company)) await work(Number(company), own)
}
