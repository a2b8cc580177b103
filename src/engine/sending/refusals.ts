import { isFreeText } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { nextOpening } from '../../base/time/sending-window.ts'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import { foreignNames, isForeign, ownsName } from '../../domain/gateways/name-owners.ts'
import { subscribersThatWrote } from '../../domain/inbound/inbound.ts'
import { isOver } from '../../domain/lanes/lane.ts'
import type { CheckedMessage } from '../../domain/messages/message.ts'
import { stoppedAmong } from '../../domain/stopping/stopping.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import { batchByCompany } from './company-batcher.ts'
import { contentOf } from './outgoing.ts'
import { type Attempt, refuseAll, senderNameOf, sendLater, type Work } from './work.ts'

/**
 * Checks messages once more right before they are submitted, because much may have changed since they were accepted.
 * Records the refusals and returns the messages that may be sent. `unwanted`: the unwanted messages, if they were just read.
 */
export async function refuseForbidden(
  work: Work,
  messages: Attempt[],
  gateway: LiveGateway | undefined,
  unwanted?: Unwanted,
): Promise<Attempt[]> {
  const now = work.clock()
  if (isOver(work.lane, now)) return refuseAll(work, messages, errorCodes.expired)
  if (['CLOSED', 'DENIED'].includes(work.lane.senderStatus))
    return refuseAll(work, messages, errorCodes.refusedByChannel)
  if (!gateway) return refuseAll(work, messages, errorCodes.noRoute)
  const own = await refuseForeign(work, messages, gateway)
  const inTime = refuse(work, own, errorCodes.expired, message => isExpired(message, now))
  const inHours = postponeOutsideHours(work, inTime, now)
  const wanted = refuseUnwanted(work, inHours, unwanted ?? (await findUnwanted(work, inHours)))
  return refuseUnasked(work, wanted, gateway, now)
}

/** Only its owners may use a sender name of the gateway. The owners may have changed since the message was accepted. */
async function refuseForeign(work: Work, messages: Attempt[], { gateway }: LiveGateway): Promise<Attempt[]> {
  const { channelType, companyId } = work.lane
  if (gateway.companies.includes(companyId)) return messages
  const names = new Set(messages.map(message => senderNameOf(work.lane, message)))
  const asked = [...names].filter(name => ownsName(gateway, name)).map(senderName => ({ channelType, senderName }))
  if (asked.length === 0) return messages
  const foreign = await foreignNames(work.sql, companyId, asked)
  const isOfOthers = (message: Attempt) =>
    isForeign(foreign, { channelType, senderName: senderNameOf(work.lane, message) })
  return refuse(work, messages, errorCodes.refusedByChannel, isOfOthers)
}

function isExpired({ expiresAt, waitsUntil }: Attempt, now: Date): boolean {
  const end = expiresAt ?? waitsUntil
  return end !== null && end <= now
}

/** A single message outside its sending hours waits for the next opening. Without one it has expired. */
function postponeOutsideHours(work: Work, messages: Attempt[], now: Date): Attempt[] {
  return messages.filter(message => {
    if (!message.window) return true
    const { zone, endAt, ...hours } = message.window
    const opening = nextOpening({ ...hours, endAt: endAt ? new Date(endAt) : null, zone: { name: zone } }, now)
    if (opening && opening <= now) return true
    if (opening) sendLater(work, message, opening)
    else refuseAll(work, [message], errorCodes.expired)
    return false
  })
}

/** The error code of each message that must not be sent: its client stopped it, or its number is on the blacklist. */
export type Unwanted = Map<string, number>

/** The same of messages that were read together with their lease. Undefined if a statement of its own must tell. */
export function unwantedAmong(messages: CheckedMessage[]): Unwanted | undefined {
  const unwanted: Unwanted = new Map()
  for (const { uuid, isStopped, isBlacklisted } of messages) {
    if (isBlacklisted === null) return undefined
    if (isBlacklisted) unwanted.set(uuid, errorCodes.blacklisted)
    if (isStopped) unwanted.set(uuid, errorCodes.stopped)
  }
  return unwanted
}

export async function findUnwanted({ sql, lane }: Work, messages: Attempt[]): Promise<Unwanted> {
  const check = checks.get(sql) ?? batchChecks(sql)
  const { blacklisted, stopped } = await check({ companyId: lane.companyId, messages })
  const unwanted: Unwanted = new Map()
  if (blacklisted.size > 0)
    for (const { uuid, destination } of messages)
      if (blacklisted.has(destination)) unwanted.set(uuid, errorCodes.blacklisted)
  for (const { uuid } of messages) if (stopped.has(uuid)) unwanted.set(uuid, errorCodes.stopped)
  return unwanted
}

type Check = { companyId: number; messages: Attempt[] }
type Checked = { blacklisted: Set<string>; stopped: Set<string> }

const checks = new WeakMap<Work['sql'], (check: Check) => Promise<Checked>>()

/** Chunks of a company that begin together are checked together. */
function batchChecks(sql: Work['sql']) {
  const check = batchByCompany(async (companyId, all: Check[]) => {
    const messages = all.flatMap(one => one.messages)
    const [blacklisted, stopped] = await Promise.all([
      blacklistedAmong(
        sql,
        companyId,
        messages.map(({ destination }) => destination),
      ),
      stoppedAmong(
        sql,
        companyId,
        messages.map(({ uuid }) => uuid),
      ),
    ])
    return all.map(() => ({ blacklisted, stopped }))
  })
  checks.set(sql, check)
  return check
}

/** Refuses unwanted messages that have no result yet, and returns the others. */
export function refuseUnwanted(work: Work, messages: Attempt[], unwanted: Unwanted): Attempt[] {
  if (unwanted.size === 0) return messages
  return messages.filter(message => {
    const errorCode = unwanted.get(message.uuid)
    if (errorCode !== undefined && !work.decided.has(message.uuid)) refuseAll(work, [message], errorCode)
    return errorCode === undefined
  })
}

const ANSWER_MS = 24 * 3600_000

/**
 * WhatsApp accepts free texts only within a day after the subscriber wrote. Simulated operators check it themselves,
 * so that it can be tried with a test number.
 */
async function refuseUnasked(work: Work, messages: Attempt[], { gateway }: LiveGateway, now: Date): Promise<Attempt[]> {
  const { sql, lane } = work
  if (lane.channelType !== 'WHATSAPP' || gateway.connector === 'simulator') return messages
  const free = messages.filter(message => isFreeText(contentOf(lane, message)))
  if (free.length === 0) return messages
  const numbers = free.map(({ destination }) => destination)
  const since = new Date(now.getTime() - ANSWER_MS)
  const heard = await subscribersThatWrote(sql, lane.companyId, lane.senderName, numbers, since)
  const unasked = new Set(free.filter(({ destination }) => !heard.has(destination)))
  return refuse(work, messages, errorCodes.refusedByChannel, message => unasked.has(message))
}

/** Refuses the messages that are forbidden, and returns the others. */
function refuse(work: Work, messages: Attempt[], errorCode: number, isForbidden: (message: Attempt) => boolean) {
  const { forbidden = [], allowed = [] } = Object.groupBy(messages, each =>
    isForbidden(each) ? 'forbidden' : 'allowed',
  )
  refuseAll(work, forbidden, errorCode)
  return allowed
}
