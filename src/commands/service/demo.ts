import { randomBytes } from 'node:crypto'
import type { ClientChannel } from '../../base/channel-types.ts'
import { AppError } from '../../base/errors.ts'
import { money } from '../../base/money.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { createCompany, listCompanies, setSwitches } from '../../domain/companies/companies.ts'
import { createKey } from '../../domain/keys/keys.ts'
import { type Brand, brands } from '../../domain/numbering/brand.ts'
import { adoptPassword, createPartner, partnerWithLogin } from '../../domain/partners/partners.ts'
import { adoptOwnerPassword, createOwnerWithPasswordOf } from '../../domain/people/company-owners.ts'
import { createOwner } from '../../domain/people/sign-in.ts'
import { adoptStaffPassword, createStaff } from '../../domain/people/staff.ts'
import { senderFeeTable } from '../../domain/pricing/pricing.ts'
import { approveSenderIn, type FeeOf } from '../../domain/senders/moderation.ts'
import type { Sender } from '../../domain/senders/sender.ts'
import { createSender, listSenders } from '../../domain/senders/senders.ts'
import { requestReviews } from './demo-review.ts'

export type Demo = {
  login: string
  /** Owner of the first company. Absent when somebody else has that login. */
  companyLogin: string | undefined
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

/**
 * A world to try things in, made at the first start: a partner with three companies, their senders, requests and a key.
 */
export async function makeDemo(pool: Pool, givenPassword: string | undefined, now: Date): Promise<Demo> {
  const known = await partnerWithLogin(pool, 'demo')
  const made = known ? undefined : await makeWorld(pool, givenPassword ?? inventPassword(), now)
  if (!made && givenPassword) {
    await adoptPassword(pool, 'demo', givenPassword)
    await adoptStaffPassword(pool, 'staff', givenPassword)
  }

  const partner = known ?? (await partnerWithLogin(pool, 'demo'))!
  const { items } = await listCompanies(pool, partner, 1, 1)
  const companyId = items[0]?.companyId
  const hasOwner = companyId !== undefined && (await letCompanyIn(pool, companyId, givenPassword))
  const senders = companyId ? await listSenders(pool, companyId, { status: ['APPROVED'], channelType: ['SMS'] }) : []
  return {
    login: 'demo',
    companyLogin: hasOwner ? 'company' : undefined,
    staffLogin: made && !made.hasStaff ? undefined : 'staff',
    password: givenPassword ?? made?.password,
    companyId,
    senderIds: onePerBrand(senders).map(sender => sender.senderId),
    key: made?.key,
  }
}

/** Also in a world of an earlier version, which had none. False when somebody else has the login. */
async function letCompanyIn(pool: Pool, companyId: number, givenPassword: string | undefined): Promise<boolean> {
  const isOwner = await createOwnerWithPasswordOf(pool, 'demo', companyId, 'company')
  if (isOwner && givenPassword) await adoptOwnerPassword(pool, 'company', givenPassword)
  return isOwner
}

function onePerBrand(senders: Sender[]): Sender[] {
  const usable = senders.filter(sender => !sender.suspended && sender.commonType === 'COMMON')
  return brands.flatMap(brand => usable.find(sender => sender.brand === brand) ?? [])
}

/** Nothing when another process was faster. */
async function makeWorld(pool: Pool, password: string, now: Date) {
  try {
    const world = await pool.begin(sql => makeRows(sql, password, now))
    return { ...world, password }
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}

/** False when the demo data already exists. */
async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

const isRefusal = (error: unknown) => error instanceof AppError && error.kind === 'invalid'

/**
 * All in one transaction, the approvals too: a crash half-way leaves nothing, the next start makes it whole, and only
 * the requests that are made for the review queue wait for staff, also where moderation is manual.
 */
async function makeRows(sql: Transaction, password: string, now: Date) {
  const { partnerId } = await createPartner(sql, 'demo', password)
  await createOwner(sql, 'demo')
  const partner = { partnerId, login: 'demo', currency: 'RUB' }
  const hasStaff = await unlessRefused(createStaff(sql, 'staff', password))
  const feeOf = await senderFeeTable(sql)
  const companyIds: number[] = []
  for (const { senderName, ...company } of companies) {
    const { companyId } = await createCompany(sql, partner, { ...company, counteragentType: 'LEGAL' })
    companyIds.push(companyId)
    for (const brand of brands) await makeSender(sql, companyId, { senderName, brand, channelType: 'SMS' }, feeOf, now)
  }
  const [first, , third] = companyIds
  const [firstCompany] = companies
  if (first === undefined || third === undefined || !firstCompany) throw new Error('The demo needs three companies')
  for (const channelType of ['VIBER', 'WHATSAPP'] as const) {
    const named = { senderName: firstCompany.senderName, brand: 'MTS' as const, channelType }
    await makeSender(sql, first, named, feeOf, now)
  }
  await requestReviews(sql, { templateOf: first, senderOf: third }, now)
  await setSwitches(sql, first, { inbound: true })
  const { key } = await createKey(sql, first, 'MESSAGE')
  return { hasStaff, key }
}

async function makeSender(
  sql: Transaction,
  companyId: number,
  named: { senderName: string; brand: Brand; channelType: ClientChannel },
  feeOf: FeeOf,
  now: Date,
) {
  const { senderId } = await createSender(sql, companyId, {
    ...named,
    commonType: 'COMMON',
    countryCode: 'RU',
    validFrom: new Date('2020-01-01T00:00:00Z'),
    description: 'Made for the demo',
    documentIds: [],
  })
  await approveSenderIn(sql, senderId, feeOf, now)
}

const inventPassword = () => randomBytes(9).toString('base64url')
