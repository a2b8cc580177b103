import { errorCodes } from '../../base/error-codes.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { advanceCascades, endCascades } from '../cascade-steps/cascade-steps.ts'
import { laneTimes } from '../dispatches/acceptance/schedule.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import { type StatusChange, skippedSent } from '../messages/messages.ts'
import { updateReads } from '../messages/reads.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { type EventOfMessage, enqueueEvents } from '../singles/message-callbacks.ts'
import { setTimers, type Timer } from '../timers/timers.ts'
import { type CountedMessage, countMessages } from '../verifications/verifications.ts'
import type { RecordingContext } from './context.ts'
import { type ReportedMessage, reportedMessages } from './reported-messages.ts'

/** Channels that report when the recipient reads a message. */
const READABLE = ['VIBER', 'WHATSAPP', 'VK', 'TELEGRAM']

type Context = RecordingContext & { pool: Pool; currency: string }

/** A status change with the fields of its message. */
type Followed = { change: StatusChange; message: ReportedMessage }

/**
 * Follows up the status changes of messages of the messaging API, in the same transaction: writes callbacks, sets timers,
 * counts delivered codes and starts the next steps of cascades.
 */
export async function followUp(
  sql: Transaction,
  companyId: number,
  changes: StatusChange[],
  context: Context,
): Promise<void> {
  if (changes.length === 0) return
  const followed = await withMessages(sql, companyId, changes)
  const callbacks = followed.flatMap(each => eventsOf(each, context))
  await enqueueEvents(sql, companyId, callbacks, context.now)
  await setTimers(sql, companyId, followed.flatMap(timersOf))
  await countMessages(sql, companyId, followed.flatMap(deliveredCode))
  await endDelivered(sql, companyId, followed, context.now)
  await startNextSteps(sql, companyId, followed, context)
}

async function withMessages(sql: Transaction, companyId: number, changes: StatusChange[]): Promise<Followed[]> {
  const messages = await reportedMessages(sql, companyId, changes)
  return changes.flatMap(change => {
    const message = messages.get(change.uuid)
    return message ? { change, message } : []
  })
}

/** The price is known when the message is final. */
function eventsOf({ change, message: of }: Followed, { currency }: Context): EventOfMessage[] {
  const sent = { kind: 'status' as const, status: 'sent' as const, at: of.sentAt ?? change.at }
  if (change.to === 'SENT') return [{ of, what: sent }]
  const status = change.to === 'DELIVERED' ? 'delivered' : of.sentAt ? 'undelivered' : 'unsent'
  const price = { kind: 'price' as const, parts: of.parts, price: of.finalPrice ?? 0n, currency, at: change.at }
  return [
    ...(skippedSent(change) ? [{ of, what: sent }] : []),
    { of, what: { kind: 'status', status, errorCode: change.errorCode, at: change.at } },
    { of, what: price },
  ]
}

function timersOf({ change, message }: Followed): Timer[] {
  const { uuid, to } = change
  const sentAt = message.sentAt ?? change.at
  const isReadable = READABLE.includes(message.channelType)
  const wantsReads = to === 'DELIVERED' && message.callbackEvents?.includes('read') && isReadable
  const unreadAt = message.expiresAt ?? new Date(sentAt.getTime() + LIFETIME_MS)
  const hasStepEnd = message.stepSeconds && change.sent && to !== 'FAILED'
  const stepEndsAt = new Date(sentAt.getTime() + (message.stepSeconds ?? 0) * 1000)
  return [
    ...(wantsReads ? [{ uuid, kind: 'unread' as const, dueAt: unreadAt }] : []),
    ...(hasStepEnd ? [{ uuid, kind: 'step' as const, dueAt: stepEndsAt }] : []),
  ]
}

function deliveredCode({ change, message }: Followed): CountedMessage[] {
  const { verification, channelType, finalPrice } = message
  if (change.to !== 'DELIVERED' || !verification) return []
  return [{ ...verification, channelType, what: 'delivered', cost: finalPrice ?? 0n }]
}

/** Ends the cascade of a delivered verification code: the number needs no second message with it. */
async function endDelivered(sql: Transaction, companyId: number, followed: Followed[], now: Date) {
  const cascadeUuids = followed.flatMap(({ change, message: { cascadeUuid, verification } }) =>
    change.to === 'DELIVERED' && cascadeUuid && verification ? [cascadeUuid] : [],
  )
  await endCascades(sql, companyId, cascadeUuids, now)
}

/** A failed step starts the next one, unless the client stopped it or the time of the whole cascade is over. */
async function startNextSteps(sql: Transaction, companyId: number, followed: Followed[], context: Context) {
  if (!context.cascades) return
  const failed = followed.flatMap(({ change: { to, errorCode }, message }) => {
    const { cascadeUuid, cascadeStep } = message
    const isLast = errorCode === errorCodes.stopped || isTooLate(message, context.now)
    return to === 'FAILED' && cascadeUuid && cascadeStep && !isLast ? [{ cascadeUuid, step: cascadeStep }] : []
  })
  if (failed.length > 0) await advanceCascades(sql, companyId, failed, { ...context, ...context.cascades })
}

/** Whether the completion time has passed. In a dispatch it is the end of the lane of the recipient's time zone. */
export function isTooLate({ completeBy, completionTime, zone }: ReportedMessage, now: Date): boolean {
  const end = completeBy ?? laneTimes(completionTime ? { localCompletionTime: completionTime } : null, zone).endAt
  return end !== null && end <= now
}

/** Records that messages were read, each once, and writes the callbacks. Channels without read reports are left out. */
export async function recordReads(
  sql: Transaction,
  companyId: number,
  reports: StatusReport[],
  now: Date,
): Promise<void> {
  const reads = reports.flatMap(({ uuid, read }) => (read ? [{ uuid, at: read.at }] : []))
  if (reads.length === 0) return
  const recorded = await updateReads(sql, companyId, READABLE, reads)
  if (recorded.length === 0) return
  const messages = await reportedMessages(sql, companyId, recorded)
  const callbacks = recorded.flatMap(({ uuid, readAt }): EventOfMessage[] => {
    const of = messages.get(uuid)
    return of?.api === 'messaging' ? [{ of, what: { kind: 'status', status: 'read', at: readAt } }] : []
  })
  await enqueueEvents(sql, companyId, callbacks, now)
}
