import { invalid, notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import type { Brand } from '../numbering/brand.ts'
import { isPaidType, type Mover, type ReviewStatus, reviewStates, type Sender, waitingStates } from './sender.ts'
import * as store from './store.ts'

export type Moderation = 'auto' | 'manual'

/** Fee of a brand's paid names, where its operator asks for one. Passed in: fees belong to pricing. */
export type FeeOf = (brand: Brand) => Money | null

/** A batch is small enough to be one short transaction a name, and the next tick takes the rest. */
const BATCH = 500

/**
 * Moves every name that is due: a draft is submitted, automatic moderation passes what is under review, and the
 * clock approves and closes. Names in `leftToStaff` (`CHANNEL name`, those that belong to gateways) wait for staff in any
 * case: with one, a company could write as another company's bot. Each move is conditional on the state it started from, so any number of processes may
 * do this at once. Returns how many moves were made.
 */
export async function moveDueSenders(
  sql: Sql,
  moderation: Moderation,
  feeOf: FeeOf,
  now: Date,
  leftToStaff: string[] = [],
): Promise<number> {
  const movable: ReviewStatus[] = moderation === 'auto' ? [...reviewStates] : ['DRAFT', 'AWAITING']
  let moves = 0
  for (const sender of await store.selectDue(sql, movable, leftToStaff, now, BATCH)) {
    moves += await walk(sql, sender, stepsOf(sender, moderation, now), { by: 'clock', feeOf, now })
  }
  return moves
}

function stepsOf(sender: store.Due, moderation: Moderation, now: Date): ReviewStatus[] {
  if (sender.validTo && sender.validTo <= now && isOneOf(sender.status, ['AWAITING', 'APPROVED'])) return ['CLOSED']
  if (moderation === 'manual' && sender.status === 'DRAFT') return ['PRE_REVIEW']
  return stepsToApproval(sender, now)
}

/** The remaining states of the review, up to AWAITING, and APPROVED once its first day has come. */
function stepsToApproval(sender: Pick<Sender, 'status' | 'validFrom'>, now: Date): ReviewStatus[] {
  const place = reviewStates.indexOf(sender.status as (typeof reviewStates)[number])
  const steps: ReviewStatus[] = reviewStates.slice(place + 1)
  return sender.validFrom <= now ? [...steps, 'APPROVED'] : steps
}

type Word = { by: Mover; comment?: string | undefined; feeOf: FeeOf; now: Date }

/** Takes a name through states, one after the other; a comment goes with the last of them. */
async function walk(sql: Sql, sender: store.Due, steps: ReviewStatus[], { by, comment, feeOf, now }: Word) {
  let from = sender.status
  let moves = 0
  for (const to of steps) {
    const fee = to === 'APPROVED' ? (isPaidType(sender.commonType) ? feeOf(sender.brand) : null) : undefined
    const { count } = await store.moveSender(sql, {
      ...sender,
      from,
      to,
      by,
      fee,
      comment: to === steps.at(-1) ? comment : undefined,
      seen: sender,
      now,
    })
    if (count === 0) break // someone else moved or changed it meanwhile
    from = to
    moves += 1
  }
  return moves
}

/** Submits a draft to staff: they decide on it also where moderation is automatic. */
export async function submitToStaff(sql: Sql, { companyId, senderId }: Sender, now: Date): Promise<void> {
  await store.moveSender(sql, { companyId, senderId, from: 'DRAFT', to: 'PRE_REVIEW', by: 'staff', now })
}

/** Staff say yes, and record the operator's yes: what is left of the review is passed. */
export function approveSender(
  pool: Pool,
  senderId: number,
  feeOf: FeeOf,
  now: Date,
  comment?: string,
): Promise<Sender> {
  return pool.begin(sql => approveSenderIn(sql, senderId, feeOf, now, comment))
}

/** The same, as part of a larger piece of work. */
export function approveSenderIn(
  sql: Transaction,
  senderId: number,
  feeOf: FeeOf,
  now: Date,
  comment?: string,
): Promise<Sender> {
  return decide(sql, senderId, async sender => {
    if (!isOneOf(sender.status, reviewStates)) throw wrongState(sender, 'approved')
    await walk(sql, sender, stepsToApproval(sender, now), { by: 'staff', comment, feeOf, now })
  })
}

/** What is still being written, or has passed, is not under review. */
export function rejectSender(pool: Pool, senderId: number, comment: string, now: Date): Promise<Sender> {
  return pool.begin(sql =>
    decide(sql, senderId, async sender => {
      if (!isOneOf(sender.status, waitingStates)) throw wrongState(sender, 'rejected')
      await store.moveSender(sql, { ...sender, from: sender.status, to: 'REJECTED', by: 'staff', comment, now })
    }),
  )
}

export function denySender(pool: Pool, senderId: number, comment: string | undefined, now: Date): Promise<Sender> {
  return pool.begin(sql =>
    decide(sql, senderId, async sender => {
      if (isOneOf(sender.status, ['CLOSED', 'DENIED'])) throw wrongState(sender, 'denied')
      await store.moveSender(sql, { ...sender, from: sender.status, to: 'DENIED', by: 'staff', comment, now })
    }),
  )
}

async function decide(sql: Transaction, senderId: number, decision: (sender: Sender) => Promise<void>) {
  const [owner] = await store.selectCompanyOf(sql, senderId)
  if (!owner) throw notFound('Sender')
  const [sender] = await store.selectSenderForUpdate(sql, owner.companyId, senderId)
  await decision(sender!)
  const [decided] = await store.selectSender(sql, owner.companyId, senderId)
  return decided!
}

const isOneOf = (status: ReviewStatus, states: readonly ReviewStatus[]) => states.includes(status)

const wrongState = (sender: Sender, what: string) =>
  invalid(`Sender ${sender.senderId} is ${sender.status} and cannot be ${what}`)
