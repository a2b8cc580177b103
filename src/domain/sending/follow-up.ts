import { errorCodes } from '../../base/error-codes.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { advanceCascades, endCascades } from '../cascades/cascades.ts'
import { laneTimes } from '../dispatches/schedule.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import type { Step } from '../messages/messages.ts'
import { type Telling, tell } from '../singles/telling.ts'
import { setTimers, type Timer } from '../timers/timers.ts'
import { type CountedMessage, countMessages } from '../verifications/verifications.ts'
import type { RecordingContext, StatusReport } from './status-report.ts'
import * as store from './timing-store.ts'

/** Channels whose subscribers can be seen reading. */
const READABLE = ['VIBER', 'WHATSAPP', 'VK', 'TELEGRAM']

type Context = RecordingContext & { pool: Pool; currency: string }
type Known = Map<string, store.ToldMessage>

/**
 * What follows from the steps of single messages, and of dispatches of the messaging API, in the same transaction: their
 * clients are told, reading is waited for, and cascades go on.
 */
export async function followUp(sql: Transaction, companyId: number, steps: Step[], context: Context): Promise<void> {
  if (steps.length === 0) return
  const known = await messagesOf(sql, companyId, steps)
  await tell(
    sql,
    companyId,
    steps.flatMap(step => tellingsOf(step, known.get(step.uuid)!, context)),
    context.now,
  )
  await setTimers(
    sql,
    companyId,
    steps.flatMap(step => timersOf(step, known.get(step.uuid)!)),
  )
  await countMessages(
    sql,
    companyId,
    steps.flatMap(step => deliveredCode(step, known.get(step.uuid)!)),
  )
  await endDelivered(sql, companyId, steps, known, context.now)
  await goOn(sql, companyId, steps, known, context)
}

/** A number that has its code gets no other message with it. */
async function endDelivered(sql: Transaction, companyId: number, steps: Step[], known: Known, now: Date) {
  const cascadeUuids = steps.flatMap(({ to, uuid }) => {
    const { cascadeUuid, verification } = known.get(uuid)!
    return to === 'DELIVERED' && cascadeUuid && verification ? [cascadeUuid] : []
  })
  await endCascades(sql, companyId, cascadeUuids, now)
}

function deliveredCode({ to }: Step, { verification, channelType, finalPrice }: store.ToldMessage): CountedMessage[] {
  if (to !== 'DELIVERED' || !verification) return []
  return [{ ...verification, channelType, what: 'delivered', cost: finalPrice ?? 0n }]
}

async function messagesOf(sql: Transaction, companyId: number, steps: Pick<Step, 'uuid'>[]): Promise<Known> {
  const rows = await store.selectTold(
    sql,
    companyId,
    steps.map(({ uuid }) => uuid),
  )
  return new Map(rows.map(row => [row.uuid, row]))
}

/** A message that went straight to its end was sent on the way; its price is set when it ends. */
function tellingsOf(step: Step, of: store.ToldMessage, { currency }: Context): Telling[] {
  const wasSent = step.from === 'CREATED' && step.sent
  const sent = { kind: 'status' as const, status: 'sent' as const, at: of.sentAt ?? step.at }
  if (step.to === 'SENT') return [{ of, what: sent }]
  const status = step.to === 'DELIVERED' ? 'delivered' : of.sentAt ? 'undelivered' : 'unsent'
  const price = { kind: 'price' as const, parts: of.parts, price: of.finalPrice ?? 0n, currency, at: step.at }
  return [
    ...(wasSent ? [{ of, what: sent }] : []),
    { of, what: { kind: 'status', status, errorCode: step.errorCode, at: step.at } },
    { of, what: price },
  ]
}

function timersOf(step: Step, of: store.ToldMessage): Timer[] {
  const { uuid } = step
  const sentAt = of.sentAt ?? step.at
  const wantsReads = step.to === 'DELIVERED' && of.callbackEvents?.includes('read') && READABLE.includes(of.channelType)
  const unreadAt = of.expiresAt ?? new Date(sentAt.getTime() + LIFETIME_MS)
  const stepEndsAt = of.stepSeconds && step.sent ? new Date(sentAt.getTime() + of.stepSeconds * 1000) : undefined
  return [
    ...(wantsReads ? [{ uuid, kind: 'unread' as const, dueAt: unreadAt }] : []),
    ...(stepEndsAt && step.to !== 'FAILED' ? [{ uuid, kind: 'step' as const, dueAt: stepEndsAt }] : []),
  ]
}

/** A step that failed brings the next one; one that its client stopped, or that is too late for all of them, does not. */
async function goOn(sql: Transaction, companyId: number, steps: Step[], known: Known, context: Context) {
  if (!context.cascades) return
  const ended = steps.flatMap(({ to, uuid, errorCode }) => {
    const of = known.get(uuid)!
    const { cascadeUuid, cascadeStep } = of
    if (to !== 'FAILED' || !cascadeUuid || errorCode === errorCodes.stopped || isTooLate(of, context.now)) return []
    return [{ cascadeUuid, step: cascadeStep! }]
  })
  if (ended.length > 0) await advanceCascades(sql, companyId, ended, { ...context, ...context.cascades })
}

/** Past its completion nothing more of a cascade is written; one of a dispatch ends with the lane of its zone. */
export function isTooLate({ completeBy, completionTime, zone }: store.ToldMessage, now: Date): boolean {
  const end = completeBy ?? laneTimes(completionTime ? { localCompletionTime: completionTime } : null, zone).endAt
  return end !== null && end <= now
}

/** Notes that messages were read, once each, and tells their clients. Where nobody can be seen reading, nobody was. */
export async function noteReads(
  sql: Transaction,
  companyId: number,
  statusReports: StatusReport[],
  now: Date,
): Promise<void> {
  const reads = statusReports.flatMap(({ uuid, read }) => (read ? [{ uuid, at: read.at }] : []))
  if (reads.length === 0) return
  const noted = await store.updateReads(sql, companyId, READABLE, reads)
  if (noted.length === 0) return
  const known = await messagesOf(sql, companyId, noted)
  const tellings = noted.map(
    ({ uuid, readAt }): Telling => ({
      of: known.get(uuid)!,
      what: { kind: 'status', status: 'read', at: readAt },
    }),
  )
  await tell(
    sql,
    companyId,
    tellings.filter(({ of }) => known.get(of.uuid)!.format === 'messaging'),
    now,
  )
}
