import type { Money } from '../../base/money.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { listEntries } from '../audit-log/audit-log.ts'
import { callbacksOfMessage } from '../callbacks/callbacks-of-message.ts'
import type { Dispatch } from '../dispatches/dispatch.ts'
import { type OpenCounts, requireAnyDispatch } from '../dispatches/reading.ts'
import { listGateways } from '../gateways/gateways.ts'
import { nameOfKey } from '../keys/keys.ts'
import { requireShownMessage, type ShownMessage, stepsOfCascade } from '../message-search/box-search.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import { lateReceiptsOf } from '../receipts/late-receipts.ts'
import { submittedParts } from '../receipts/submissions.ts'
import { linksOfText } from '../short-links/short-links.ts'
import { reasonsToWait } from '../waiting/waiting.ts'
import { inOrder, type Moment, type Sender } from './moment.ts'

/** One message, or one step of a cascade, with all its known events. */
export type LifeOfStep = {
  message: ShownMessage
  moments: Moment[]
  money: { held: Money; released: Money; charged: Money }
  /** `unread`: the search for callbacks took too long. */
  callbacks: 'none asked' | 'known' | 'unread'
}

export type LifeOfMessage = {
  message: ShownMessage
  /** The message itself, or all steps of its cascade in their order. */
  steps: LifeOfStep[]
  dispatch: Pick<Dispatch, 'dispatchId' | 'name' | 'status' | 'startedAt'> | null
}

/** The stored events of a message of one of these companies. */
export async function lifeOfMessage(pool: Pool, companyIds: number[], uuid: string, now: Date): Promise<LifeOfMessage> {
  const message = await requireShownMessage(pool, companyIds, uuid)
  const { companyId, cascadeUuid, dispatchId } = message
  const steps = cascadeUuid ? await stepsOfCascade(pool, companyId, cascadeUuid) : [message]
  const dispatch = dispatchId === null ? null : await requireAnyDispatch(pool, dispatchId)
  const lives: LifeOfStep[] = []
  for (const step of steps) lives.push(await lifeOfStep(pool, step, dispatch, now)) // each takes a connection
  return { message, steps: lives, dispatch }
}

type DispatchOfMessage = (Dispatch & OpenCounts) | null

async function lifeOfStep(
  pool: Pool,
  message: ShownMessage,
  dispatch: DispatchOfMessage,
  now: Date,
): Promise<LifeOfStep> {
  const callbacks = await callbacksOf(pool, message)
  const moments = [
    await acceptance(pool, message),
    ...(await pricing(pool, message)),
    ...holding(message, dispatch),
    ...(await waiting(pool, message, dispatch, now)),
    ...(await sending(pool, message, now)),
    ...ending(message),
    ...(await lateReceipts(pool, message)),
    ...(await clicks(pool, message)),
    ...(callbacks ?? []).map((callback): Moment => ({ kind: 'callback', at: callback.happenedAt, callback })),
  ]
  return {
    message,
    moments: inOrder(moments),
    money: moneyOf(message, dispatch),
    callbacks: message.callbackUrl === null ? 'none asked' : callbacks ? 'known' : 'unread',
  }
}

const acceptedAt = ({ uuid }: ShownMessage) => timeOfUuid7(uuid)
/** The transaction that accepts the message writes the entry. Clocks of processes differ. */
const SAME_MOMENT_MS = 60_000
const isLaterStep = ({ cascadeStep }: ShownMessage) => (cascadeStep ?? 1) > 1
const isFinal = ({ status }: ShownMessage) => status === 'DELIVERED' || status === 'FAILED'

async function acceptance(pool: Pool, message: ShownMessage): Promise<Moment> {
  const at = acceptedAt(message)
  if (isLaterStep(message)) return { kind: 'next step', at }
  const { method, position } = message
  const [key, person] = [await keyOf(pool, message), await personOf(pool, message)]
  return { kind: 'accepted', at, method, position, key, person }
}

async function keyOf(sql: Sql, { companyId, keyId }: ShownMessage) {
  return keyId === null ? null : { keyId, name: await nameOfKey(sql, companyId, keyId) }
}

/** The person that sent the message from the cabinet, as long as the audit log has that month. */
async function personOf(sql: Sql, message: ShownMessage): Promise<Sender | null> {
  if (message.method !== 'UI') return null
  const at = acceptedAt(message).getTime()
  const around = { from: new Date(at - SAME_MOMENT_MS), to: new Date(at + SAME_MOMENT_MS) }
  const { entries } = await listEntries(sql, { subject: { kind: 'message', id: message.uuid }, ...around }, 10)
  const sent = entries.find(({ what }) => what === 'message.sent')
  return sent ? { kind: sent.actorKind, login: sent.actor } : null
}

async function pricing(pool: Pool, message: ShownMessage): Promise<Moment[]> {
  const { tariffId, parts, price, isRejected } = message
  if (isRejected) return []
  const [tariff] = tariffId === null ? [] : await tariffsByIds(pool, [tariffId])
  return [{ kind: 'priced', at: acceptedAt(message), parts, price, model: tariff?.pricingModel ?? null }]
}

/** The start of a dispatch reserves the price of all its messages. Later messages reserve theirs when they are accepted. */
function holding(message: ShownMessage, dispatch: DispatchOfMessage): Moment[] {
  const at = heldAt(message, dispatch)
  const accepted = acceptedAt(message)
  return at ? [{ kind: 'held', at, amount: message.price, isByStart: at > accepted }] : []
}

function heldAt(message: ShownMessage, dispatch: DispatchOfMessage): Date | undefined {
  if (message.isRejected || message.price === 0n) return undefined
  const accepted = acceptedAt(message)
  if (!dispatch || isLaterStep(message)) return accepted
  if (!dispatch.startedAt) return undefined
  return dispatch.startedAt > accepted ? dispatch.startedAt : accepted
}

async function waiting(pool: Pool, message: ShownMessage, dispatch: DispatchOfMessage, now: Date): Promise<Moment[]> {
  if (message.status !== 'CREATED') return []
  const isStarted = dispatch?.status === 'STARTED'
  const reasons = isStarted ? await reasonsToWait(pool, { ...dispatch, awaitingReceipt: 0 }, now) : []
  const notBefore = message.sendAt && message.sendAt > now ? message.sendAt : null
  return [{ kind: 'waiting', at: null, reasons, notBefore }]
}

async function sending(pool: Pool, message: ShownMessage, now: Date): Promise<Moment[]> {
  const { companyId, sentAt } = message
  if (!sentAt) return []
  const parts = await submittedParts(pool, companyId, { ...message, sentAt }, now)
  if (typeof parts === 'string') return [{ kind: 'sent', at: sentAt, parts }]
  const names = new Map((await listGateways(pool)).map(({ gatewayId, name }) => [gatewayId, name]))
  const seen = parts.map(({ gatewayId, part, providerId, status }) => ({
    gateway: names.get(gatewayId) ?? `#${gatewayId}`,
    part: part + 1,
    providerId,
    status,
  }))
  return [{ kind: 'sent', at: sentAt, parts: seen }]
}

function ending(message: ShownMessage): Moment[] {
  const { status, finalAt, readAt, errorCode, operatorError, isRejected } = message
  const { charged, released } = fateOfPrice(message)
  const at = finalAt ?? acceptedAt(message)
  return [
    ...(status === 'DELIVERED' ? [{ kind: 'delivered', at, charged, released } as const] : []),
    ...(status === 'FAILED'
      ? [
          {
            kind: 'failed',
            at,
            errorCode,
            operatorError,
            wasSent: message.sentAt !== null,
            isRejected,
            released,
          } as const,
        ]
      : []),
    ...(readAt ? [{ kind: 'read', at: readAt } as const] : []),
  ]
}

/** Receipts that came after the final status. */
async function lateReceipts(pool: Pool, { companyId, uuid, finalAt }: ShownMessage): Promise<Moment[]> {
  if (!finalAt) return []
  const receipts = await lateReceiptsOf(pool, companyId, uuid)
  return receipts.map(({ receivedAt, ...receipt }): Moment => ({ kind: 'late receipt', at: receivedAt, ...receipt }))
}

/** The final price of a DELIVERED message differs from its hold if a scaled tariff changed the price. */
function fateOfPrice(message: ShownMessage): { charged: Money; released: Money } {
  const { price, finalPrice, status } = message
  if (!isFinal(message) || message.isRejected) return { charged: 0n, released: 0n }
  const charged = status === 'DELIVERED' ? (finalPrice ?? price) : 0n
  return { charged, released: price > charged ? price - charged : 0n }
}

function moneyOf(message: ShownMessage, dispatch: DispatchOfMessage) {
  const isHeld = heldAt(message, dispatch) !== undefined
  const { charged, released } = fateOfPrice(message)
  return { held: isHeld ? message.price : 0n, charged, released: isHeld ? released : 0n }
}

async function clicks(pool: Pool, { companyId, uuid, text }: ShownMessage): Promise<Moment[]> {
  const links = await linksOfText(pool, companyId, uuid, text ?? '')
  return links.flatMap(({ url, code, clicks, clickedAt }) =>
    clickedAt.map((at, place): Moment => ({ kind: 'clicked', at, url, code, clicks, place: place + 1 })),
  )
}

/** Callbacks are written when a message is accepted, sent, final or read, and when a subscriber follows its links. */
async function callbacksOf(pool: Pool, message: ShownMessage) {
  const times = callbackTimesIn(message)
  return times && callbacksOfMessage(pool, times)
}

/** The address and the moments around which callbacks of a message were written. Undefined without an address. */
export const callbackTimesOf = async (sql: Sql, companyId: number, uuid: string) =>
  callbackTimesIn(await requireShownMessage(sql, [companyId], uuid))

function callbackTimesIn(message: ShownMessage) {
  const { companyId, uuid, callbackUrl, sentAt, finalAt, readAt } = message
  if (callbackUrl === null) return undefined
  const moments = [acceptedAt(message), sentAt, finalAt, readAt].filter(moment => moment !== null)
  return { companyId, messageUuid: uuid, url: callbackUrl, moments }
}
