import type { Pool } from '../db/sql.ts'
import { nextBatches, saveResults } from '../domain/callbacks/callbacks.ts'
import { claimReceivers } from '../domain/callbacks/receivers.ts'
import type { CascadePlan, MessageRequest } from '../domain/messages/single.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'
import { recordStatusReports } from '../domain/recording/recording.ts'
import { Intake } from '../domain/singles/intake.ts'
import { aGateway } from './engines.ts'
import { aDispatch, billingZone, start, type World } from './world.ts'

/** Traffic with known results, without an engine: the code writes the results that operators would report. */

export const HOOK = 'https://hooks.romashka.example/tidings'
export const fates = ['delivered', 'undelivered', 'sent', 'sending'] as const
const destinations = ['79162001001', '79262001014', '79032001036', '79773001022']
const OPERATOR_WORDS = 'stat:UNDELIV err:027'

/** A started dispatch with a message of each result, whose callbacks were refused once and then accepted. */
export async function aDispatchWithFates(sql: Pool, numbering: Numbering, world: World) {
  const { companyId } = world
  const text = `Autumn bouquets are 20% off until Sunday. ${'Asters and dahlias. '.repeat(7)}`
  const recipients = destinations.map(destination => ({ destination }))
  const dispatchId = await aDispatch(sql, numbering, world, recipients, {
    text,
    callbackUrl: HOOK,
    callbackEvents: ['sent', 'delivered', 'failed'],
  })
  await start(sql, world, dispatchId)
  const { gatewayId } = await aGateway(sql, { name: `MegaFon direct ${companyId}` })
  const rows = await sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  const [delivered, undelivered, sent, sending] = rows.map(({ uuid }) => uuid) as [string, string, string, string]
  const now = new Date()
  const ids = (id: string) => ({ gatewayId, providerIds: [`${id}-1`, `${id}-2`] })
  const after = (ms: number) => new Date(now.getTime() + ms)
  const context = { billingZone, now }
  await recordStatusReports(
    sql,
    companyId,
    [delivered, undelivered, sent].map((uuid, i) => ({ uuid, sentAt: now, ids: ids(`7F3A${i}`) })),
    context,
  )
  await recordStatusReports(
    sql,
    companyId,
    [
      { uuid: delivered, final: { status: 'DELIVERED', at: after(500) } },
      { uuid: undelivered, final: { status: 'FAILED', at: after(700), errorCode: 603, operatorError: OPERATOR_WORDS } },
    ],
    context,
  )
  await deliverCallbacks(sql, companyId)
  return { dispatchId, delivered, undelivered, sent, sending }
}

/** An attempt that the receiver refuses, and an attempt that it accepts. */
async function deliverCallbacks(sql: Pool, companyId: number) {
  const worker = crypto.randomUUID()
  const key = { companyId, receiver: new URL(HOOK).origin }
  const now = new Date()
  await claimReceivers(sql, [key], worker, 60, now)
  const batches = await nextBatches(sql, key, now, { mostEvents: 1000, probe: false })
  for (const attempt of [
    { statusCode: 503, deliveredEvents: 0, tookMs: 2140 },
    { statusCode: 200, deliveredEvents: 1, tookMs: 84 },
  ]) {
    const passes = batches.map(batch => ({
      batch: { ...batch, done: batch.events.map(() => attempt.statusCode === 200) },
      attempt: { attemptedAt: now, triedEvents: batch.events.length, ...attempt },
    }))
    await saveResults(sql, worker, key, passes)
  }
}

/** A single message that waits to be sent. */
export async function aSingleMessage(
  sql: Pool,
  numbering: Numbering,
  { companyId }: Pick<World, 'companyId'>,
  given: Partial<MessageRequest> = {},
): Promise<string> {
  const linkBase = 'http://localhost:8080/s'
  const intake = new Intake({ sql, clock: () => new Date(), numbering: () => numbering, billingZone, linkBase })
  const [outcome] = await intake.accept(companyId, [aSingleRequest(given)])
  if (outcome!.kind === 'refused') throw new Error(outcome!.reason)
  return outcome!.uuid
}

export const aSingleRequest = (given: Partial<MessageRequest> = {}): MessageRequest => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: '79162001077',
  text: 'Order 10517 is ready. Pick it up until 21:00',
  content: null,
  trafficType: null,
  externalId: null,
  centerId: null,
  method: 'API',
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  ...given,
})

/** A cascade of two SMS whose first step failed and whose second step is being sent. */
export async function aCascade(sql: Pool, numbering: Numbering, world: World): Promise<{ first: string }> {
  const plan: CascadePlan = [
    { condition: 'not_delivered', ttlSeconds: 30, request: aSingleRequest({ text: 'First step' }) },
    { condition: 'not_delivered', ttlSeconds: null, request: aSingleRequest({ text: 'Second step' }) },
  ]
  const linkBase = 'http://localhost:8080/s'
  const first = await aSingleMessage(sql, numbering, world, { text: 'First step', cascade: { step: 1, plan } })
  await recordStatusReports(
    sql,
    world.companyId,
    [{ uuid: first, sentAt: new Date(), final: { status: 'FAILED', at: new Date(), errorCode: 7060 } }],
    { billingZone, now: new Date(), cascades: { numbering: () => numbering, linkBase } },
  )
  return { first }
}
