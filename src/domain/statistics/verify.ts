import { type Money, money } from '../../base/money.ts'
import { waitWithoutEnd } from '../../db/patience.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { attachedMonths } from '../messages/months.ts'
import { addTraffic } from './statistics.ts'
import { type TrafficHour, TrafficTally } from './traffic.ts'
import * as store from './verify-store.ts'

export type { Difference, Scope } from './verify-store.ts'

/** Is told which of how many months, or companies, is read. */
export type Progress = (done: number, of: number) => void

/**
 * Counts the messages and compares the sums with the rolled-up traffic. Everything is seen as it was at one moment, so
 * it may run beside a working service. The messages are read in the database, a month at a time; only differences are
 * brought here.
 */
export function verifyTraffic(
  pool: Pool,
  scope: store.Scope = {},
  progress: Progress = () => {},
): Promise<store.Difference[]> {
  return pool.begin('isolation level repeatable read', async sql => {
    await store.holdMonths(sql)
    await countMessages(sql, scope, progress)
    return store.selectDifferences(sql, scope)
  })
}

async function countMessages(sql: Transaction, scope: store.Scope, progress: Progress) {
  await store.beginCounts(sql, scope)
  const months = (await attachedMonths(sql)).filter(month => mayMatter(month, scope))
  for (const [index, month] of months.entries()) {
    progress(index, months.length)
    await store.countMonth(sql, month, scope)
  }
}

/** A message may be sent or final long after its month, never before it. */
const mayMatter = (month: string, { to }: store.Scope) => !to || new Date(`${month}-01T00:00:00Z`) < to

/**
 * Adds to the rolled-up traffic what it lacks, a company at a time. The service goes on meanwhile: a difference that was
 * seen at one moment stays the same when later transactions change messages and traffic together. Returns how many
 * differences were mended.
 */
export function rebuildTraffic(pool: Pool, progress: Progress = () => {}): Promise<number> {
  return pool.begin(async lock => {
    await waitWithoutEnd(lock) // the work is done in other transactions beside this one
    await store.lockRebuild(lock)
    const companies = await store.selectCompanies(pool)
    let mended = 0
    for (const [index, { companyId }] of companies.entries()) {
      progress(index, companies.length)
      mended += await rebuildCompany(pool, companyId)
    }
    return mended
  })
}

async function rebuildCompany(pool: Pool, companyId: number): Promise<number> {
  const differences = await verifyTraffic(pool, { companyId })
  if (differences.length > 0) await pool.begin(sql => addTraffic(sql, companyId, lackOf(differences)))
  return differences.length
}

function lackOf(differences: store.Difference[]): TrafficTally {
  const tally = new TrafficTally()
  for (const difference of differences) addLack(tally.at(difference.hour, difference, difference.brandId), difference)
  return tally
}

function addLack(row: TrafficHour, { what, rolledUp, counted }: store.Difference) {
  if (what === 'spent') row.spent += lackOfMoney(rolledUp, counted)
  else row[what] += Number(counted) - Number(rolledUp)
}

const lackOfMoney = (rolledUp: string, counted: string): Money => money(counted) - money(rolledUp)
