import { notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireDocuments } from '../documents/documents.ts'
import type { Partner } from '../partners/partner.ts'
import {
  type NewSender,
  refuseBadDates,
  refuseBadName,
  refuseForbiddenChange,
  type Sender,
  type SenderChange,
} from './sender.ts'
import * as store from './store.ts'

export async function createSender(sql: Transaction, companyId: number, sender: NewSender): Promise<Sender> {
  refuseBadName(sender.senderName, sender.channelType, sender.brand)
  await requireDocuments(sql, companyId, sender.documentIds)

  const [id] = await store.insertSenderId(sql, companyId)
  await store.insertSender(sql, companyId, id!.senderId, sender)
  return requireSender(sql, companyId, id!.senderId)
}

export const listSenders = (sql: Sql, companyId: number, filter: store.SenderFilter): Promise<Sender[]> =>
  store.selectSenders(sql, companyId, filter)

/** Pages count from 1. */
export async function pageOfSenders(
  sql: Sql,
  companyId: number,
  filter: store.SenderFilter,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ total: number; items: Sender[] }> {
  const [count] = await store.countSenders(sql, companyId, filter)
  const items = await store.selectSenderPage(sql, companyId, filter, { offset: (page - 1) * perPage, limit: perPage })
  return { total: count!.total, items }
}

export async function requireSender(sql: Sql, companyId: number, senderId: number): Promise<Sender> {
  const [sender] = await store.selectSender(sql, companyId, senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

/** A sender of this partner. Someone else's is as unknown as one that does not exist. */
export async function requireSenderOf(sql: Sql, partner: Partner, senderId: number): Promise<Sender> {
  const [sender] = await store.selectSenderOfPartner(sql, partner.partnerId, senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

/** Whether anything was handed in to prove that the name may be used. */
export async function hasDocuments(sql: Sql, { companyId, senderId }: Sender): Promise<boolean> {
  const [row] = await store.countDocuments(sql, companyId, senderId)
  return row !== undefined && row.documents > 0
}

/** Changes a name as far as its state allows; one that was rejected goes back into review. */
export async function updateSender(pool: Pool, { companyId, senderId }: Sender, change: SenderChange, now: Date) {
  return pool.begin(async sql => {
    const [sender] = await store.selectSenderForUpdate(sql, companyId, senderId)
    if (!sender) throw notFound('Sender')

    refuseForbiddenChange(sender, change)
    if (change.senderName !== undefined) refuseBadName(change.senderName, sender.channelType, sender.brand)
    if (change.dateFrom || change.dateTo) {
      refuseBadDates({ dateFrom: change.dateFrom ?? sender.dateFrom, dateTo: change.dateTo ?? sender.dateTo }, now)
    }
    await requireDocuments(sql, companyId, change.documentIds ?? [])

    await store.updateSender(sql, sender, change)
    if (sender.status === 'REJECTED') await resubmit(sql, sender, now)
    return requireSender(sql, companyId, senderId)
  })
}

const resubmit = (sql: Sql, { companyId, senderId }: Sender, now: Date) =>
  store.moveSender(sql, { companyId, senderId, from: 'REJECTED', to: 'PRE_REVIEW', by: 'partner', now })

export async function suspendSender(sql: Sql, { companyId, senderId }: Sender, reason: string | undefined) {
  await store.updateSuspension(sql, companyId, senderId, true, reason ?? null)
  return requireSender(sql, companyId, senderId)
}

export async function unsuspendSender(sql: Sql, { companyId, senderId }: Sender) {
  await store.updateSuspension(sql, companyId, senderId, false, null)
  return requireSender(sql, companyId, senderId)
}

/** Every registration of these names, in whatever state. */
export const sendersCalled = (sql: Sql, companyId: number, names: string[]): Promise<Sender[]> =>
  store.selectSendersByNames(sql, companyId, names)

export const sendersByIds = (sql: Sql, companyId: number, senderIds: number[]): Promise<Sender[]> =>
  store.selectSendersByIds(sql, companyId, senderIds)

/** For staff: every partner's names, or those of one company; what waits for review comes first. */
export const listAllSenders = (sql: Sql, companyId: number | undefined): Promise<Sender[]> =>
  store.selectAllSenders(sql, companyId)

/** For staff: the most parts a second under a name, or none. Engines look at it before every chunk. */
export async function setSenderRate(sql: Sql, senderId: number, partsPerSecond: number | null): Promise<Sender> {
  const [changed] = await store.updateRate(sql, senderId, partsPerSecond)
  if (!changed) throw notFound('Sender')
  return requireSender(sql, changed.companyId, senderId)
}
