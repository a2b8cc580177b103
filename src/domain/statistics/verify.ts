import { type Money, money } from '../../base/money.ts'
import { waitWithoutEnd } from '../../db/patience.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { attachedMonths } from '../messages/months.ts'
import { addTraffic } from './statistics.ts'
import { type TrafficHour, TrafficTally } from './traffic.ts'
import * as store from './verify-store.ts'

export type { Difference, Scope } from './verify-store.ts'

/** Gets the number of months or companies that are read, and their total. */
export type Progress = (done: number, of: number) => void

/**
 * Counts the messages and compares the sums with the traffic hours. All statements see the same snapshot, so the service can
 * run meanwhile. PostgreSQL reads the messages month by month, and only the differences are transferred.
 */
export function verifyTraffic(
  pool: Pool,
  scope: store.Scope = {},
  progress: Progress = () => {},
): Promise<store.Difference[]> {
  return pool.begin('isolation level repeatable read', async sql => {
    await store.preventDetaching(sql)
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
 * Corrects the traffic hours, company by company. The service can run meanwhile: later transactions change messages and
 * traffic together, so a difference that was found stays the same. Returns the number of corrected differences.
 */
export function rebuildTraffic(pool: Pool, progress: Progress = () => {}): Promise<number> {
  return pool.begin(async lock => {
    await waitWithoutEnd(lock) // other transactions do the work while this transaction has the lock
    await store.lockRebuild(lock)
    const companies = await store.selectCompanies(pool)
    let corrected = 0
    for (const [index, { companyId }] of companies.entries()) {
      progress(index, companies.length)
      corrected += await rebuildCompany(pool, companyId)
    }
    return corrected
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
