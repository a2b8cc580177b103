import { randomBytes } from 'node:crypto'
import { money } from '../base/money.ts'
import type { Pool } from '../db/sql.ts'
import { createCompany } from '../domain/companies/companies.ts'
import type { NewCompany } from '../domain/companies/company.ts'
import type { NewSingle } from '../domain/messages/single.ts'
import type { Brand } from '../domain/numbering/brand.ts'
import { logIn } from '../domain/partners/log-in.ts'
import type { Partner } from '../domain/partners/partner.ts'
import { createPartner } from '../domain/partners/partners.ts'
import { usePasswordCost } from '../domain/partners/password.ts'
import { approveSender } from '../domain/senders/moderation.ts'
import type { NewSender, Sender } from '../domain/senders/sender.ts'
import { createSender } from '../domain/senders/senders.ts'

/** Each factory makes one object in one line. Values that the test does not give are invented. */

/** A cheap hash, because tests make many partners. */
const CHEAP = 4
usePasswordCost(CHEAP)

/** An address in its own network, so that the logins of many partners do not wait for each other. */
const anAddress = () => `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`

export type TestPartner = Partner & { token: string; password: string }

export async function aPartner(sql: Pool, login = `partner-${randomBytes(8).toString('hex')}`): Promise<TestPartner> {
  const password = 'correct horse'
  usePasswordCost(CHEAP) // a command that ran in this process has set another cost
  const { partnerId } = await createPartner(sql, login, password)
  const { token } = await logIn(sql, { login, password, address: anAddress() }, new Date())
  return { partnerId, login, currency: 'RUB', token, password }
}

export async function aCompany(sql: Pool, partner: Partner, given: Partial<NewCompany> = {}): Promise<number> {
  const { companyId } = await createCompany(sql, partner, {
    name: 'Ромашка',
    counteragentType: 'LEGAL',
    counteragentInn: '7700000001',
    budget: null,
    ...given,
  })
  return companyId
}

export function aSender(sql: Pool, companyId: number, given: Partial<NewSender> = {}): Promise<Sender> {
  return sql.begin(tx =>
    createSender(tx, companyId, {
      senderName: 'ROMASHKA',
      channelType: 'SMS',
      commonType: 'COMMON',
      brand: 'MTS',
      countryCode: 'RU',
      validFrom: new Date('2026-01-01T00:00:00Z'),
      description: undefined,
      documentIds: [],
      ...given,
    }),
  )
}

export async function anApprovedSender(sql: Pool, companyId: number, given: Partial<NewSender> = {}): Promise<Sender> {
  const { senderId } = await aSender(sql, companyId, given)
  return approveSender(sql, senderId, () => null, new Date())
}

/** Invented numbers, one for each brand of the built-in plan. */
export const numberOf: Record<Brand, string> = {
  MTS: '79160000001',
  BEELINE: '79030000001',
  MEGAFON: '79260000001',
  TELE2: '79770000001',
}

/** A single message in the form that the intake makes. */
export function aSingle(sender: Pick<Sender, 'senderId' | 'senderName'>, given: Partial<NewSingle> = {}): NewSingle {
  return {
    channelType: 'SMS',
    senderId: sender.senderId,
    senderName: sender.senderName,
    brandId: 1,
    priority: 0,
    destination: '79160000077',
    text: 'Code 4321',
    parts: 1,
    tariffId: null,
    price: money('3.90'),
    content: null,
    trafficType: 'AUTHORIZE',
    templateId: null,
    externalId: null,
    centerId: null,
    method: 'API',
    options: {},
    callbackUrl: null,
    callbackEvents: null,
    sendAt: null,
    completeBy: null,
    expiresAt: new Date(Date.now() + 25 * 3600_000),
    endsEarly: false,
    links: [],
    ...given,
  }
}
