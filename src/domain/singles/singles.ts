import { errorCodes } from '../../base/error-codes.ts'
import { AppError } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { insertCascades } from '../cascades/cascade-rows.ts'
import { type IsCarriedName, namesOfGateways } from '../gateways/names.ts'
import { hasTooManyLanes } from '../lanes/lanes.ts'
import { extendLanes, type LaneKey } from '../lanes/single-lanes.ts'
import { type Account, monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount, refusalOf } from '../ledger/ledger.ts'
import type { Acceptance, NewSingle, Refusal } from '../messages/single.ts'
import { copySingles, type PlacedSingle, updatePlaces } from '../messages/single-rows.ts'
import { saveLinks } from '../short-links/short-links.ts'
import { countAccepted } from '../statistics/statistics.ts'
import { TemplatesChanged } from '../templates/approved.ts'
import { setFirstTimers, type Timer } from '../timers/timers.ts'
import { type CountedLimits, type Rule, rulesFor, type SubjectState } from '../verifications/guard.ts'
import type { NewCode, SentCode } from '../verifications/verification.ts'
import {
  beginCounting,
  type CountedMessage,
  type Counting,
  countCode,
  endCounting,
  keepCodes,
  readLimits,
} from '../verifications/verifications.ts'
import * as store from './store.ts'

export type AcceptContext = {
  billingZone: string
  now: Date
  /** Of the templates that the messages were drafted with, unless these were read in the transaction. */
  templatesVersion?: number
  /** Refuses messages that would give a company more lanes than it may have; what was accepted before goes on. */
  isLaneBound?: boolean
  /** Is given the subjects that are blocked from now on, before the transaction commits. */
  noteBlocked?: (subjects: SubjectState[]) => void
  /** Is called when everything is written and only the commit is left. */
  onWritten?: (() => void) | undefined
}

/**
 * Accepts single messages of one company, any number in one transaction: each holds its price from now on, or is
 * refused because its number is on the blacklist or the company cannot pay for it, and takes its place at the end of
 * its lane. One that is refused does not hinder the others. Throws TemplatesChanged, and accepts nothing, when a
 * template was approved or ended since the messages were drafted.
 */
export function acceptSingles(
  pool: Pool,
  companyId: number,
  singles: NewSingle[],
  context: AcceptContext,
): Promise<Acceptance[]> {
  return pool.begin(async sql => {
    const answers = await acceptWithin(sql, companyId, singles, context)
    context.onWritten?.()
    return answers
  })
}

/** The same within a transaction of the caller's. */
export async function acceptWithin(
  sql: Transaction,
  companyId: number,
  singles: NewSingle[],
  { billingZone, now, templatesVersion, isLaneBound = false, noteBlocked = () => {} }: AcceptContext,
): Promise<Acceptance[]> {
  const numbers = singles.map(({ destination }) => destination)
  const rulesOf = new Map(
    singles.filter(hasCode).map(single => [single as NewSingle, rulesFor(single.destination, single.code)]),
  )
  const [account, blacklisted, isCarried, [read], limits] = await Promise.all([
    lockAccount(sql, companyId, monthOf(now, billingZone)),
    blacklistedAmong(sql, companyId, numbers),
    carriedNames(sql, singles),
    store.beginToWrite(sql, companyId),
    readLimits(sql, companyId, [...rulesOf.values()].flat()),
  ])
  if (templatesVersion !== undefined && read!.templatesVersion !== templatesVersion) throw new TemplatesChanged()
  const counting = await beginCounting(sql, companyId, limits, read!.now)
  const { accepted, refusals, sum } = judge(account, blacklisted, singles, rulesOf, counting)
  const counted = await endCounting(sql, companyId, counting)
  noteBlocked(counted.blocked)
  const uuids = uuid7Batch(read!.now, accepted.length)
  await keep(sql, companyId, accepted, uuids, sum, counted.limits, { now, isCarried, isLaneBound })

  const uuidOf = new Map(accepted.map((single, i) => [single, uuids[i]!]))
  return singles.map(single => refusals.get(single) ?? { kind: 'accepted', uuid: uuidOf.get(single)! })
}

/** In the order given: what may go, and why the rest does not. Only what may go takes from the budget and the limits. */
function judge(
  account: Account,
  blacklisted: Set<string>,
  singles: NewSingle[],
  rulesOf: ReadonlyMap<NewSingle, Rule[]>,
  counting: Counting,
) {
  const accepted: NewSingle[] = []
  const refusals = new Map<NewSingle, Refusal>()
  let sum: Money = 0n
  for (const single of singles) {
    const refusal =
      refuseBlacklisted(single, blacklisted) ??
      refuseUnpaid(account, sum + single.price) ??
      refuseTooMany(single, rulesOf.get(single), counting)
    if (refusal) refusals.set(single, refusal)
    else {
      accepted.push(single)
      sum += single.price
    }
  }
  return { accepted, refusals, sum }
}

function refuseBlacklisted({ destination }: NewSingle, blacklisted: Set<string>): Refusal | undefined {
  if (!blacklisted.has(destination)) return undefined
  return {
    kind: 'refused',
    why: 'invalid',
    field: 'destination',
    reason: 'is on the blacklist',
    errorCode: errorCodes.blacklisted,
  }
}

function refuseUnpaid(account: Account, sum: Money): Refusal | undefined {
  const reason = refusalOf(account, sum)
  return reason ? { kind: 'refused', why: 'no funds', reason } : undefined
}

/** Verification codes are limited by number, address, prefix, verifier and company. */
function refuseTooMany({ code }: NewSingle, rules: Rule[] | undefined, counting: Counting): Refusal | undefined {
  const tooMany = code && rules && countCode(counting, rules, code.limits.leastConfirmed)
  if (!tooMany) return undefined
  const reason = `Too many codes were requested: try again in ${tooMany.retryAfterSeconds} s`
  return { kind: 'refused', why: 'too many', reason, ...tooMany }
}

const hasCode = (single: NewSingle): single is NewSingle & { code: NewCode } => single.code !== undefined

async function keep(
  sql: Transaction,
  companyId: number,
  singles: NewSingle[],
  uuids: string[],
  sum: Money,
  limits: CountedLimits,
  { now, isCarried, isLaneBound }: { now: Date; isCarried: IsCarriedName; isLaneBound: boolean },
): Promise<void> {
  if (singles.length === 0) return
  const verificationOf = (i: number) => {
    const { code } = singles[i]!
    return code ? (code.verificationUuid ?? uuids[i]!) : null
  }
  const cascades = singles.flatMap(({ cascade }, i) =>
    cascade && 'plan' in cascade ? [{ uuid: uuids[i]!, plan: cascade.plan, verificationUuid: verificationOf(i) }] : [],
  )
  // Sent together: every question that waits for the one before it makes the whole group wait.
  const [rooms, said] = await Promise.all([
    roomFor(sql, companyId, singles, isCarried),
    withLinks(sql, companyId, singles, uuids, now),
    setFirstTimers(
      sql,
      companyId,
      singles.flatMap((single, i) => timersOf(single, uuids[i]!)),
    ),
    store.notifyLanes(sql),
    changeReserved(sql, companyId, sum),
    cascades.length > 0 ? insertCascades(sql, companyId, cascades) : undefined,
    keepCodes(
      sql,
      companyId,
      singles.flatMap((single, i) => sentCodeOf(single, uuids[i]!)),
      limits,
      singles.flatMap(sentForStatistics),
    ),
    countAccepted(
      sql,
      companyId,
      singles.map((single, i) => ({ ...single, uuid: uuids[i]! })),
    ),
  ])
  if (isLaneBound) await refuseTooManyLanes(sql, companyId, [...rooms.values()])
  const placed = singles.map((single, i): PlacedSingle => {
    const room = single.sendAt ? undefined : rooms.get(laneOf(keyOf(single, isCarried)))!
    const { text, content } = said[i]!
    const place = { laneId: room?.laneId ?? null, seq: room ? room.next++ : null }
    return { ...single, text, content, uuid: uuids[i]!, ...place }
  })
  await copySingles(sql, companyId, placed)
}

function sentCodeOf({ code, channelType, destination }: NewSingle, uuid: string): SentCode[] {
  return code ? [{ ...code, uuid, channelType, destination }] : []
}

function sentForStatistics({ options: { verification }, channelType }: NewSingle): CountedMessage[] {
  return verification ? [{ ...verification, channelType, what: 'sent', cost: 0n }] : []
}

/** Counted only when a lane was made: that seldom happens. */
async function refuseTooManyLanes(sql: Transaction, companyId: number, rooms: { next: number }[]) {
  const isAnyNew = rooms.some(({ next }) => next === 0)
  if (!isAnyNew || !(await hasTooManyLanes(sql, companyId))) return
  throw new AppError('too_many_requests', 'Messages under too many sender names wait to be sent: try again later', {
    retryAfterSeconds: LANES_RETRY_SECONDS,
  })
}

const LANES_RETRY_SECONDS = 60

/** Messages that cannot be sent and are kept as such, so that their client can see what became of them. */
export async function keepFailed(
  sql: Transaction,
  companyId: number,
  singles: { single: NewSingle; errorCode: number }[],
  now: Date,
): Promise<string[]> {
  const [clock] = await store.beginToWrite(sql, companyId)
  const uuids = uuid7Batch(clock!.now, singles.length)
  const rows = singles.map(({ single, errorCode }, i) => ({
    ...single,
    price: 0n,
    uuid: uuids[i]!,
    laneId: null,
    seq: null,
    failed: { errorCode, at: now },
  }))
  if (rows.length === 0) return uuids
  await countAccepted(sql, companyId, rows)
  await copySingles(sql, companyId, rows)
  return uuids
}

/** Puts messages whose time has come at the ends of their lanes. */
export async function placeDue(
  pool: Pool,
  companyId: number,
  uuids: string[],
  { billingZone, now }: AcceptContext,
): Promise<void> {
  await pool.begin(async sql => {
    await lockAccount(sql, companyId, monthOf(now, billingZone))
    const due = await store.selectToPlace(sql, companyId, uuids)
    if (due.length === 0) return
    const isCarried = await carriedNames(sql, due)
    const rooms = await roomFor(sql, companyId, due, isCarried)
    const places = due.map(single => {
      const room = rooms.get(laneOf(keyOf(single, isCarried)))!
      return { uuid: single.uuid, laneId: room.laneId, seq: room.next++ }
    })
    await Promise.all([updatePlaces(sql, companyId, places), store.notifyLanes(sql)])
  })
}

type Named = Pick<NewSingle, 'channelType' | 'senderId' | 'senderName' | 'brandId' | 'priority'>

const noneCarried: IsCarriedName = () => false

/** Only names without registration are asked for: a registered one is known by its id. */
async function carriedNames(sql: Transaction, singles: Named[]): Promise<IsCarriedName> {
  const channels = new Set(singles.flatMap(({ senderId, channelType }) => (senderId === null ? channelType : [])))
  return channels.size === 0 ? noneCarried : namesOfGateways(sql, [...channels])
}

/**
 * Names without registration share a lane in each channel, for anyone may invent another one for every message. Names
 * that a gateway carries have lanes of their own: no other gateway takes their messages.
 */
const keyOf = ({ channelType, senderId, senderName, brandId, priority }: Named, isCarried: IsCarriedName) => ({
  channelType,
  senderId,
  laneName: senderId === null && isCarried(channelType, senderName) ? senderName : null,
  brandId,
  priority,
})

const laneOf = ({ channelType, senderId, laneName, brandId, priority }: LaneKey) =>
  `${channelType}/${senderId}/${laneName}/${brandId}/${priority}`

/** Places at the ends of the lanes; those that are to go later take theirs when their time has come. */
async function roomFor(
  sql: Transaction,
  companyId: number,
  singles: (Named & { sendAt: Date | null })[],
  isCarried: IsCarriedName,
) {
  const keys = singles.filter(({ sendAt }) => !sendAt).map(single => keyOf(single, isCarried))
  const byLane = Map.groupBy(keys, laneOf)
  if (byLane.size === 0) return new Map<string, { laneId: number; next: number }>()
  const wanted = [...byLane.values()].map(ofLane => ({ ...ofLane[0]!, count: ofLane.length }))
  const rooms = await extendLanes(sql, companyId, wanted)
  return new Map(rooms.map(room => [laneOf(room), { laneId: room.laneId, next: room.first }]))
}

/** Links were shortened when the parts were counted; a code that was taken since is replaced, and is as long. */
async function withLinks(
  sql: Transaction,
  companyId: number,
  singles: NewSingle[],
  uuids: string[],
  now: Date,
): Promise<Said[]> {
  const links = singles.flatMap((single, i) => single.links.map(link => ({ ...link, messageUuid: uuids[i]! })))
  if (links.length === 0) return singles
  const saved = (await saveLinks(sql, companyId, links, now)).values()
  return singles.map(({ text, content, links: own }) =>
    own.reduce((said, { code }) => withCode(said, code, saved.next().value!.code), { text, content }),
  )
}

type Said = Pick<NewSingle, 'text' | 'content'>

/** The text, and whatever the content repeats of it. */
const withCode = (said: Said, drawn: string, kept: string): Said =>
  kept === drawn ? said : JSON.parse(JSON.stringify(said).replaceAll(drawn, kept))

/** What is to happen at a moment of its own: the common lifetime, waiting or sent, is looked after lane by lane. */
function timersOf({ sendAt, completeBy, expiresAt, endsEarly }: NewSingle, uuid: string): Timer[] {
  return [
    ...(sendAt ? [{ uuid, kind: 'send' as const, dueAt: sendAt }] : []),
    ...(completeBy ? [{ uuid, kind: 'complete' as const, dueAt: completeBy }] : []),
    ...(endsEarly ? [{ uuid, kind: 'expire' as const, dueAt: expiresAt }] : []),
  ]
}
