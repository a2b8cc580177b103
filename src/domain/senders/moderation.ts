import { notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import type { Brand } from '../numbering/brand.ts'
import { advanceRows, approve, deny, MOST_ROWS_OF_A_RUN, type ReviewedSlice, reject } from '../review/decisions.ts'
import { type Moderation, type ReviewStatus, statusesOfEngine } from '../review/review.ts'
import { isPaidType, type Sender } from './sender.ts'
import { companyOfSender, requireSender } from './senders.ts'
import * as store from './store.ts'

/** The fee of a brand for paid names. Null where its operator asks for none. A parameter, because fees belong to pricing. */
export type FeeOf = (brand: Brand) => Money | null

/**
 * Changes the status of every name that is due. The engine submits drafts, passes the review where moderation is
 * automatic, approves names on their first day and closes them on their last. Names in `leftToStaff` (`CHANNEL name`)
 * belong to gateways and wait for staff in any case: with such a name a company could write as another company's bot.
 * Returns the number of changes.
 */
export async function advanceDueSenders(
  pool: Pool,
  moderation: Moderation,
  feeOf: FeeOf,
  now: Date,
  leftToStaff: string[] = [],
): Promise<number> {
  const due = { statuses: statusesOfEngine(moderation), now, limit: MOST_ROWS_OF_A_RUN }
  return advanceRows(pool, sendersWith(feeOf), await store.selectDue(pool, due, leftToStaff), moderation, now)
}

/** Submits a draft to staff. They decide on it even where moderation is automatic. */
export async function submitToStaff(sql: Transaction, sender: Sender, now: Date): Promise<void> {
  await store.changeStatus(sql, sender, { from: 'DRAFT', to: 'PRE_REVIEW', by: 'staff', at: now })
}

export function approveSender(
  pool: Pool,
  senderId: number,
  feeOf: FeeOf,
  now: Date,
  comment?: string,
): Promise<Sender> {
  return pool.begin(sql => approveSenderIn(sql, senderId, feeOf, now, comment))
}

/** The same as a part of a larger transaction. */
export function approveSenderIn(
  sql: Transaction,
  senderId: number,
  feeOf: FeeOf,
  now: Date,
  comment?: string,
): Promise<Sender> {
  return approve(sql, sendersWith(feeOf), senderId, { comment, now })
}

export function rejectSender(pool: Pool, senderId: number, comment: string, now: Date): Promise<Sender> {
  return pool.begin(sql => reject(sql, sendersWith(noFee), senderId, { comment, now }))
}

export function denySender(pool: Pool, senderId: number, comment: string | undefined, now: Date): Promise<Sender> {
  return pool.begin(sql => deny(sql, sendersWith(noFee), senderId, { comment, now }))
}

/** Only an approval sets the fee. */
const noFee: FeeOf = () => null

const sendersWith = (feeOf: FeeOf): ReviewedSlice<store.DueSender, Sender> => ({
  noun: 'Sender',
  idOf: ({ senderId }) => senderId,
  lock: lockSender,
  read: (sql, { companyId, senderId }) => requireSender(sql, companyId, senderId),
  changeStatus: (sql, sender, change) =>
    store.changeStatus(sql, sender, { ...change, ...feeAfter(sender, change.to, feeOf), seen: sender }),
})

async function lockSender(sql: Transaction, senderId: number): Promise<Sender> {
  const [sender] = await store.selectSenderForUpdate(sql, await companyOfSender(sql, senderId), senderId)
  if (!sender) throw notFound('Sender')
  return sender
}

const feeAfter = ({ commonType, brand }: store.DueSender, to: ReviewStatus, feeOf: FeeOf) =>
  to === 'APPROVED' ? { fee: isPaidType(commonType) ? feeOf(brand) : null } : {}
