import type { Money } from '../../base/money.ts'
import type { Transaction } from '../../db/sql.ts'
import type { NewMessage } from '../messages/message.ts'
import type { StatusChange } from '../messages/messages.ts'
import * as store from './store.ts'
import { type TrafficKind, TrafficTally } from './traffic.ts'

/**
 * Traffic by hour, changed in the transactions that accept messages and change their status. Every message counts as accepted,
 * also a rejected recipient. So accepted minus delivered minus failed is the number of pending messages.
 */

/** Counts the messages of a request to a dispatch and yields them unchanged. All have the same time. */
export async function* countNew(
  batches: AsyncIterable<NewMessage[]>,
  tally: TrafficTally,
  kind: TrafficKind,
  now: Date,
): AsyncGenerator<NewMessage[]> {
  for await (const batch of batches) {
    for (const { brandId, parts, status } of batch) {
      const row = tally.at(now, kind, brandId)
      row.accepted += 1
      row.acceptedParts += parts
      if (status !== 'FAILED') continue
      row.failed += 1
      row.failedParts += parts
    }
    yield batch
  }
}

export type NewTraffic = TrafficKind & { brandId: number; parts: number; failed?: { at: Date } }

/** Counts single messages that are written in this transaction. `at`: the time of their keys. */
export async function countAccepted(
  sql: Transaction,
  companyId: number,
  messages: NewTraffic[],
  at: Date,
): Promise<void> {
  const tally = new TrafficTally()
  for (const message of messages) {
    const accepted = tally.at(at, message, message.brandId)
    accepted.accepted += 1
    accepted.acceptedParts += message.parts
    if (!message.failed) continue
    const failed = tally.at(message.failed.at, message, message.brandId)
    failed.failed += 1
    failed.failedParts += message.parts
  }
  await addTraffic(sql, companyId, tally)
}

/** Counts the status changes of this transaction, and the prices of delivered messages. */
export async function countStatusChanges(
  sql: Transaction,
  companyId: number,
  changes: StatusChange[],
  prices: { change: StatusChange; amount: Money }[],
  kindOf: (change: StatusChange) => TrafficKind,
): Promise<void> {
  const tally = new TrafficTally()
  for (const change of changes) countChange(tally, change, kindOf(change))
  for (const { change, amount } of prices) tally.at(change.at, kindOf(change), change.brandId).spent += amount
  await addTraffic(sql, companyId, tally)
}

/** A message that changes from CREATED to a final status counts as sent, too, in the hour of its sending. */
function countChange(tally: TrafficTally, { from, to, at, sentAt, brandId, parts }: StatusChange, kind: TrafficKind) {
  if (from === 'CREATED' && sentAt) {
    const row = tally.at(sentAt, kind, brandId)
    row.sent += 1
    row.sentParts += parts
  }
  if (to === 'SENT') return
  const row = tally.at(at, kind, brandId)
  if (to === 'DELIVERED') {
    row.delivered += 1
    row.deliveredParts += parts
  } else {
    row.failed += 1
    row.failedParts += parts
  }
}

export async function addTraffic(sql: Transaction, companyId: number, tally: TrafficTally): Promise<void> {
  const rows = tally.rows()
  if (rows.length > 0) await store.addTraffic(sql, companyId, rows)
}
