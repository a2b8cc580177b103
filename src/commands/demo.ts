import { randomBytes } from 'node:crypto'
import { UsageError } from '../base/errors.ts'
import { money } from '../base/money.ts'
import type { Pool, Transaction } from '../db/sql.ts'
import { createCompany, listCompanies } from '../domain/companies/companies.ts'
import { createKey } from '../domain/keys/keys.ts'
import { type Brand, brands } from '../domain/numbering/brand.ts'
import { adoptDemoPassword, createPartner, createStaff, partnerWithLogin } from '../domain/partners/partners.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { approveSender } from '../domain/senders/moderation.ts'
import type { Sender } from '../domain/senders/sender.ts'
import { createSender, listSenders } from '../domain/senders/senders.ts'

export type Demo = {
  login: string
  /** Absent when a member of staff with that login was there before, with a password of its own. */
  staffLogin: string | undefined
  /** Known only when it was made now or given: the database keeps a hash. */
  password: string | undefined
  companyId: number | undefined
  /** Of the first company, one for each operator: what a dispatch takes. */
  senderIds: number[]
  /** A MESSAGE key of the first company; shown when it is made. */
  key: string | undefined
}

const companies = [
  { name: 'Ромашка', senderName: 'ROMASHKA', counteragentInn: '7700000017', budget: money('50000.00') },
  { name: 'Северный ветер', senderName: 'NORDWIND', counteragentInn: '7800000024', budget: money('250000.00') },
  { name: 'Лавка у моста', senderName: 'LAVKA', counteragentInn: '540000000031', budget: null },
]

/** A world to try things in, made at the first start: a partner with three companies, their senders and a key. */
export async function makeDemo(pool: Pool, givenPassword: string | undefined, now: Date): Promise<Demo> {
  const known = await partnerWithLogin(pool, 'demo')
  const made = known ? undefined : await makeWorld(pool, givenPassword ?? inventPassword(), now)
  if (!made && givenPassword) await adoptDemoPassword(pool, 'demo', givenPassword)

  const partner = known ?? (await partnerWithLogin(pool, 'demo'))!
  const { items } = await listCompanies(pool, partner, 1, 1)
  const companyId = items[0]?.companyId
  const senders = companyId ? await listSenders(pool, companyId, { status: ['APPROVED'], channelType: ['SMS'] }) : []
  return {
    login: 'demo',
    staffLogin: made && !made.hasStaff ? undefined : 'staff',
    password: givenPassword ?? made?.password,
    companyId,
    senderIds: onePerBrand(senders).map(sender => sender.senderId),
    key: made?.key,
  }
}

function onePerBrand(senders: Sender[]): Sender[] {
  const usable = senders.filter(sender => !sender.suspended && sender.commonType === 'COMMON')
  return brands.flatMap(brand => usable.find(sender => sender.brand === brand) ?? [])
}

/** Nothing when another process was faster. */
async function makeWorld(pool: Pool, password: string, now: Date) {
  try {
    const world = await pool.begin(sql => makeRows(sql, password))
    const feeOf = await senderFeeTable(pool)
    // An engine that is already running may approve some of them first.
    for (const senderId of world.senderIds) await unlessRefused(approveSender(pool, senderId, feeOf, now))
    return { ...world, password }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
  }
}

/** False when what was asked for is there already. */
async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof UsageError) return false
    throw error
  }
}

/** All in one transaction: a crash half-way leaves nothing, and the next start makes it whole. */
async function makeRows(sql: Transaction, password: string) {
  const { partnerId } = await createPartner(sql, 'demo', password)
  const partner = { partnerId, login: 'demo', currency: 'RUB' }
  const hasStaff = await unlessRefused(createStaff(sql, 'staff', password))
  const companyIds: number[] = []
  const senderIds: number[] = []
  for (const { senderName, ...company } of companies) {
    const { companyId } = await createCompany(sql, partner, { ...company, counteragentType: 'LEGAL' })
    companyIds.push(companyId)
    for (const brand of brands) senderIds.push(await makeSender(sql, companyId, senderName, brand))
  }
  const { key } = await createKey(sql, companyIds[0]!, 'MESSAGE')
  return { hasStaff, senderIds, key }
}

async function makeSender(sql: Transaction, companyId: number, senderName: string, brand: Brand): Promise<number> {
  const { senderId } = await createSender(sql, companyId, {
    senderName,
    channelType: 'SMS',
    commonType: 'COMMON',
    brand,
    countryCode: 'RU',
    dateFrom: new Date('2020-01-01T00:00:00Z'),
    description: 'Made for the demo',
    documentIds: [],
  })
  return senderId
}

const inventPassword = () => randomBytes(9).toString('base64url')
