import { invalidField, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireDocuments } from '../documents/documents.ts'
import type { Partner } from '../partners/partner.ts'
import type { ReviewActor, ReviewChange } from '../review/review.ts'
import { selectReviewChanges } from '../review/statements.ts'
import { refuseOldVersion } from '../review/version.ts'
import {
  changeableFields,
  type NewSender,
  refuseBadDates,
  refuseBadName,
  type Sender,
  type SenderChange,
  type SenderRequest,
} from './sender.ts'
import * as store from './store.ts'
import { versionOf } from './version.ts'

export {
  listAllSenders,
  listSenders,
  sendersByIds,
  sendersByNames,
} from './store.ts'

export async function createSender(sql: Transaction, companyId: number, sender: NewSender): Promise<Sender> {
  refuseBadName(sender.senderName, sender.channelType, sender.brand)
  await requireDocuments(sql, companyId, sender.documentIds)

  const [id] = await store.insertSenderId(sql, companyId)
  await store.insertSender(sql, companyId, id!.senderId, sender)
  return requireSender(sql, companyId, id!.senderId)
}

/** Registers a name with several operators at once. Throws if the company has one of these registrations already. */
export async function createSenders(
  sql: Transaction,
  companyId: number,
  sender: Omit<NewSender, 'brand'>,
  brands: Sender['brand'][],
): Promise<Sender[]> {
  await store.lockSendersOf(sql, companyId)
  const existing = (await store.sendersByNames(sql, companyId, [sender.senderName])).filter(
    ({ channelType, status }) => channelType === sender.channelType && status !== 'DENIED' && status !== 'CLOSED',
  )
  const made: Sender[] = []
  for (const brand of brands) {
    if (existing.some(one => one.brand === brand && one.commonType === sender.commonType)) {
      throw invalidField('senderName', `${sender.senderName} is registered for ${brand} already`)
    }
    made.push(await createSender(sql, companyId, { ...sender, brand }))
  }
  return made
}

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

/** A name in a channel, with its registrations at the operators. */
export type NameOfCompany = { channelType: Sender['channelType']; senderName: string; registrations: Sender[] }

/** The names of a company, the newest first. Pages count from 1. */
export async function pageOfNames(
  sql: Sql,
  companyId: number,
  filter: store.NameFilter,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ total: number; names: NameOfCompany[] }> {
  const [count] = await store.countNames(sql, companyId, filter)
  const rows = await store.selectNamePage(sql, companyId, filter, { offset: (page - 1) * perPage, limit: perPage })
  const names = Map.groupBy(rows, ({ channelType, senderName }) => `${channelType} ${senderName}`)
  return {
    total: count!.total,
    names: [...names.values()].map(registrations => {
      const { channelType, senderName } = registrations[0]!
      return { channelType, senderName, registrations }
    }),
  }
}

export async function requireSender(sql: Sql, companyId: number, senderId: number): Promise<Sender> {
  const [sender] = await store.selectSender(sql, companyId, senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

export async function requireSenderRequest(sql: Sql, companyId: number, senderId: number): Promise<SenderRequest> {
  const [sender] = await store.selectSenderRequest(sql, companyId, senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

/** Locks a name until the transaction ends. Throws if the name changed after the person read it. */
export async function requireUnchanged(
  sql: Transaction,
  companyId: number,
  senderId: number,
  version: string,
): Promise<SenderRequest> {
  await store.selectSenderForUpdate(sql, companyId, senderId)
  const sender = await requireSenderRequest(sql, companyId, senderId)
  refuseOldVersion('sender name', { read: version, current: versionOf(sender), status: sender.status })
  return sender
}

/** The company of a sender name, from its bare id. */
export async function companyOfSender(sql: Sql, senderId: number): Promise<number> {
  const [owner] = await store.selectCompanyOf(sql, senderId)
  if (!owner) throw notFound('Sender')
  return owner.companyId
}

/** The latest changes of the review status, the oldest first. */
export const reviewChangesOfSender = (sql: Sql, companyId: number, senderId: number): Promise<ReviewChange[]> =>
  selectReviewChanges(sql, store.reviewed, companyId, senderId)

/** A sender of this partner. A sender of another partner counts as not found. */
export async function requireSenderOf(sql: Sql, partner: Partner, senderId: number): Promise<Sender> {
  const [sender] = await store.selectSenderOfPartner(sql, partner.partnerId, senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

/** Whether the company uploaded documents that prove its right to the name. */
export async function hasDocuments(sql: Sql, { companyId, senderId }: Sender): Promise<boolean> {
  const [row] = await store.countDocuments(sql, companyId, senderId)
  return row !== undefined && row.documents > 0
}

/** Changes the fields that the review status allows to change. A rejected name goes back into review. */
export async function updateSender(
  pool: Pool,
  { companyId, senderId }: Pick<Sender, 'companyId' | 'senderId'>,
  change: SenderChange,
  now: Date,
  by: ReviewActor = 'partner',
) {
  return pool.begin(async sql => {
    const [sender] = await store.selectSenderForUpdate(sql, companyId, senderId)
    if (!sender) throw notFound('Sender')

    changeableFields.refuseOthers(sender.status, change)
    if (change.senderName !== undefined) refuseBadName(change.senderName, sender.channelType, sender.brand)
    if (change.validFrom || change.validTo) {
      refuseBadDates(
        { validFrom: change.validFrom ?? sender.validFrom, validTo: change.validTo ?? sender.validTo },
        now,
      )
    }
    await requireDocuments(sql, companyId, change.documentIds ?? [])

    await store.updateSender(sql, sender, change)
    if (sender.status === 'REJECTED') {
      await store.changeStatus(sql, sender, { from: 'REJECTED', to: 'PRE_REVIEW', by, at: now })
    }
    return requireSender(sql, companyId, senderId)
  })
}

export async function suspendSender(
  sql: Sql,
  { companyId, senderId }: Pick<Sender, 'companyId' | 'senderId'>,
  reason: string | undefined,
) {
  await store.updateSuspension(sql, companyId, senderId, true, reason ?? null)
  return requireSender(sql, companyId, senderId)
}

export async function unsuspendSender(sql: Sql, { companyId, senderId }: Pick<Sender, 'companyId' | 'senderId'>) {
  await store.updateSuspension(sql, companyId, senderId, false, null)
  return requireSender(sql, companyId, senderId)
}

/** For staff: sets the limit of a name in parts per second, or removes it. Engines read the limit before every chunk. */
export async function setSenderRate(sql: Sql, senderId: number, partsPerSecond: number | null): Promise<Sender> {
  const companyId = await companyOfSender(sql, senderId)
  await store.updateRate(sql, companyId, senderId, partsPerSecond)
  return requireSender(sql, companyId, senderId)
}
