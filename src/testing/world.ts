import { money } from '../base/money.ts'
import type { Pool } from '../db/sql.ts'
import { createDispatch } from '../domain/dispatches/creating.ts'
import type { CallbackEvent, Recipient, Schedule } from '../domain/dispatches/dispatch.ts'
import { startDispatch, stopDispatch } from '../domain/dispatches/lifecycle.ts'
import { brands } from '../domain/numbering/brand.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'
import type { Sender } from '../domain/senders/sender.ts'
import { aCompany, anApprovedSender, aPartner, type TestPartner } from './factories.ts'

export const billingZone = 'Europe/Moscow'

/** A partner with one company and an approved SMS name for each brand, ready to send. */
export type World = { partner: TestPartner; companyId: number; senders: Sender[] }

export async function aWorld(
  sql: Pool,
  given: { budget?: string; commonType?: 'COMMON' | 'PROMO' } = {},
): Promise<World> {
  const partner = await aPartner(sql)
  const companyId = await aCompany(sql, partner, { budget: given.budget ? money(given.budget) : null })
  const senders: Sender[] = []
  for (const brand of brands) {
    senders.push(await anApprovedSender(sql, companyId, { brand, commonType: given.commonType ?? 'COMMON' }))
  }
  return { partner, companyId, senders }
}

export async function aDispatch(
  sql: Pool,
  numbering: Numbering,
  { partner, companyId, senders }: World,
  recipients: Recipient[],
  given: { text?: string; schedule?: Schedule; callbackUrl?: string; callbackEvents?: CallbackEvent[] } = {},
): Promise<number> {
  const { dispatchId } = await createDispatch(sql, numbering, {
    partner,
    companyId,
    recipients,
    once: undefined,
    dispatch: {
      name: 'Test',
      channelType: 'SMS',
      text: given.text ?? 'Hello',
      senderIds: senders.map(({ senderId }) => senderId),
      schedule: given.schedule,
      callbackUrl: given.callbackUrl,
      callbackEvents: given.callbackEvents,
    },
  })
  return dispatchId
}

export const start = (sql: Pool, world: World, dispatchId: number, now = new Date()) =>
  startDispatch(sql, world.partner, dispatchId, { billingZone, now })

export const stop = (sql: Pool, world: World, dispatchId: number, now = new Date()) =>
  stopDispatch(sql, world.partner, dispatchId, { billingZone, now })

const prefixes = ['7916', '7903', '7926', '7977']

/** Invented numbers of all four brands. No number ends like a test number. */
export const someRecipients = (count: number): Recipient[] =>
  Array.from({ length: count }, (_, i) => ({
    destination: `${prefixes[i % 4]}${String(30_000 + Math.floor(i / 4))}77`,
  }))
