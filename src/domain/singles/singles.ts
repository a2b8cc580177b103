import { errorCodes } from '../../base/error-codes.ts'
import { AppError } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import { timeOfUuid7, uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { insertCascades } from '../cascades/cascade-rows.ts'
import { type IsNameOfGateway, namesOfGateways } from '../gateways/names.ts'
import { hasTooManyLanes } from '../lanes/lanes.ts'
import { extendLanes, type LaneKey, nameOfLane } from '../lanes/single-lanes.ts'
import { type Account, monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount, lockStatusesAndAccount, refusalOf } from '../ledger/ledger.ts'
import type { Acceptance, NewSingle, Refusal } from '../messages/single.ts'
import { copySingles, type PlacedSingle, updatePlaces } from '../messages/single-rows.ts'
import { saveLinks } from '../short-links/short-links.ts'
import { countAccepted } from '../statistics/statistics.ts'
import { TemplatesChanged } from '../templates/approved.ts'
import { setExpiries, setFirstTimers, type Timer } from '../timers/timers.ts'
import { type CountedLimits, type Rule, rulesFor, type SubjectState } from '../verifications/guard.ts'
import type { NewCode, SentCode } from '../verifications/verification.ts'
import {
  beginCounting,
  type CountedMessage,
  type Counting,
  countCode,
  endCounting,
  readLimits,
  storeCodes,
} from '../verifications/verifications.ts'
import * as store from './store.ts'

export type AcceptContext = {
  billingZone: string
  now: Date
  /** The version of the templates of the drafts. Undefined if the templates were read in this transaction. */
  templatesVersion?: number
  /** Refuses messages that would give a company too many lanes. Messages that are already accepted are sent. */
  isLaneBound?: boolean
  /** Gets the subjects that are blocked from now on, before the transaction commits. */
  noteBlocked?: (subjects: SubjectState[]) => void
  /** Is called when all rows are written and only the commit is left. */
  onWritten?: (() => void) | undefined
}

/**
 * Accepts single messages of one company in one transaction. An accepted message holds its price and gets a place at the end
 * of its lane. A message is refused if its destination is on the blacklist or if the company cannot pay; the others are
 * accepted. Throws TemplatesChanged and accepts nothing if a template was approved or ended after the drafts.
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

/** Accepts single messages in a transaction of the caller. */
export async function acceptWithin(
  sql: Transaction,
  companyId: number,
  singles: NewSingle[],
  { billingZone, now, templatesVersion, isLaneBound = false, noteBlocked = () => {} }: AcceptContext,
): Promise<Acceptance[]> {
  const numbers = singles.map(({ destination }) => destination)
  const rulesOf = new Map<NewSingle, Rule[]>(
    singles.filter(hasCode).map(single => [single, rulesFor(single.destination, single.code)]),
  )
  const [account, blacklisted, isCarried, [read], limits] = await Promise.all([
    lockAccount(sql, companyId, monthOf(now, billingZone)),
    blacklistedAmong(sql, companyId, numbers),
    carriedNames(sql, singles),
    store.beginWrite(sql, companyId),
    readLimits(sql, companyId, [...rulesOf.values()].flat()),
  ])
  if (!read) throw new Error('The database returned no time')
  if (templatesVersion !== undefined && read.templatesVersion !== templatesVersion) throw new TemplatesChanged()
  const counting = await beginCounting(sql, companyId, limits, read.now)
  const { accepted, refusals, sum } = acceptOrRefuse(account, blacklisted, singles, rulesOf, counting)
  const counted = await endCounting(sql, companyId, counting)
  noteBlocked(counted.blocked)
  const uuids = uuid7Batch(read.now, accepted.length)
  await storeAccepted(sql, companyId, accepted, uuids, sum, counted.limits, { now, isCarried, isLaneBound })

  const uuidOf = new Map(accepted.map((single, i) => [single, uuids[i]!]))
  return singles.map(single => refusals.get(single) ?? { kind: 'accepted', uuid: uuidOf.get(single)! })
}

/** Splits messages, in their order, into accepted messages and refusals. Only accepted messages count for budget and limits. */
function acceptOrRefuse(
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

async function storeAccepted(
  sql: Transaction,
  companyId: number,
  singles: NewSingle[],
  uuids: string[],
  sum: Money,
  limits: CountedLimits,
  { now, isCarried, isLaneBound }: { now: Date; isCarried: IsNameOfGateway; isLaneBound: boolean },
): Promise<void> {
  if (singles.length === 0) return
  const verificationOf = (i: number) => {
    const { code } = singles[i]!
    return code ? (code.verificationUuid ?? uuids[i]!) : null
  }
  const cascades = singles.flatMap(({ cascade }, i) =>
    cascade && 'plan' in cascade ? [{ uuid: uuids[i]!, plan: cascade.plan, verificationUuid: verificationOf(i) }] : [],
  )
  // The statements are sent together, because each round trip would delay the whole group.
  const [reserved, said] = await Promise.all([
    reservePlaces(sql, companyId, singles, isCarried),
    withLinks(sql, companyId, singles, uuids, now),
    setFirstTimers(
      sql,
      companyId,
      singles.flatMap((single, i) => timersOf(single, uuids[i]!)),
    ),
    setExpiries(
      sql,
      companyId,
      singles.flatMap(({ endsEarly, expiresAt }, i) => (endsEarly ? [{ uuid: uuids[i]!, expiresAt }] : [])),
    ),
    store.notifyLanes(sql, companyId, singles),
    changeReserved(sql, companyId, sum),
    cascades.length > 0 ? insertCascades(sql, companyId, cascades) : undefined,
    storeCodes(
      sql,
      companyId,
      singles.flatMap((single, i) => sentCodeOf(single, uuids[i]!)),
      limits,
      singles.flatMap(sentForStatistics),
    ),
    countAccepted(sql, companyId, singles, timeOfUuid7(uuids[0]!)),
  ])
  if (isLaneBound && reserved.isLaneNew) await refuseTooManyLanes(sql, companyId)
  const placed = singles.map((single, i): PlacedSingle => {
    const { text, content } = said[i]!
    const { laneId = null, seq = null } = reserved.places[i] ?? {}
    return { ...single, text, content, uuid: uuids[i]!, laneId, seq }
  })
  await copySingles(sql, companyId, placed)
}

function sentCodeOf({ code, channelType, destination }: NewSingle, uuid: string): SentCode[] {
  return code ? [{ ...code, uuid, channelType, destination }] : []
}

function sentForStatistics({ options: { verification }, channelType }: NewSingle): CountedMessage[] {
  return verification ? [{ ...verification, channelType, what: 'sent', cost: 0n }] : []
}

async function refuseTooManyLanes(sql: Transaction, companyId: number) {
  if (!(await hasTooManyLanes(sql, companyId))) return
  throw new AppError('too_many_requests', 'Messages under too many sender names wait to be sent: try again later', {
    retryAfterSeconds: LANES_RETRY_SECONDS,
  })
}

const LANES_RETRY_SECONDS = 60

/** Stores messages that cannot be sent as FAILED, so that the client sees their results. */
export async function storeFailed(
  sql: Transaction,
  companyId: number,
  singles: { single: NewSingle; errorCode: number }[],
  now: Date,
): Promise<string[]> {
  const [clock] = await store.beginWrite(sql, companyId)
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
  await countAccepted(sql, companyId, rows, clock!.now)
  await copySingles(sql, companyId, rows)
  return uuids
}

/** Puts messages that are due at the ends of their lanes. */
export async function appendToLanes(
  pool: Pool,
  companyId: number,
  uuids: string[],
  { billingZone, now }: AcceptContext,
): Promise<void> {
  await pool.begin(async sql => {
    await lockStatusesAndAccount(sql, companyId, monthOf(now, billingZone))
    const due = await store.selectToPlace(sql, companyId, uuids)
    if (due.length === 0) return
    const isCarried = await carriedNames(sql, due)
    const { places } = await reservePlaces(sql, companyId, due, isCarried)
    const placed = due.map(({ uuid }, i) => ({ uuid, ...places[i]! }))
    await Promise.all([updatePlaces(sql, companyId, placed), store.notifyLanes(sql, companyId, due)])
  })
}

type Named = Pick<NewSingle, 'channelType' | 'senderId' | 'senderName' | 'brandId' | 'priority'>

const noneCarried: IsNameOfGateway = () => false

/** Reads only sender names without registration, because a registered name has an id. */
async function carriedNames(sql: Transaction, singles: Named[]): Promise<IsNameOfGateway> {
  const channels = new Set(singles.flatMap(({ senderId, channelType }) => (senderId === null ? channelType : [])))
  return channels.size === 0 ? noneCarried : namesOfGateways(sql, [...channels])
}

/**
 * Sender names without registration share a lane in each channel, because a client may use another name in every message.
 * Names that a gateway carries have their own lanes, because no other gateway accepts their messages.
 */
const keyOf = ({ channelType, senderId, senderName, brandId, priority }: Named, isCarried: IsNameOfGateway) => ({
  channelType,
  senderId,
  laneName: senderId === null && isCarried(channelType, senderName) ? senderName : null,
  brandId,
  priority,
})

/** The places of messages in their order. `isLaneNew`: a lane was created, which is rare. */
type Reserved = { places: ({ laneId: number; seq: number } | undefined)[]; isLaneNew: boolean }

/**
 * Reserves a place at the end of its lane for each message. A message with a later time of sending gets its place when it
 * is due.
 */
async function reservePlaces(
  sql: Transaction,
  companyId: number,
  singles: (Named & { sendAt: Date | null })[],
  isCarried: IsNameOfGateway,
): Promise<Reserved> {
  const wanted = new Map<string, LaneKey & { count: number }>()
  const names = singles.map(single => {
    if (single.sendAt) return undefined
    const key = keyOf(single, isCarried)
    const name = nameOfLane(key)
    const lane = wanted.get(name)
    if (lane) lane.count += 1
    else wanted.set(name, { ...key, count: 1 })
    return name
  })
  const lanes = await extendLanes(sql, companyId, [...wanted.values()])
  const next = new Map(lanes.map(lane => [nameOfLane(lane), { laneId: lane.laneId, seq: lane.first }]))
  const places = names.map(name => {
    const place = name === undefined ? undefined : next.get(name)!
    return place && { laneId: place.laneId, seq: place.seq++ }
  })
  return { places, isLaneNew: lanes.some(({ first }) => first === 0) }
}

/** Links were shortened before the parts were counted. A code that is already in use is replaced by a code of equal length. */
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

/** Replaces the code in the text and in the content. */
const withCode = (said: Said, drawn: string, stored: string): Said =>
  stored === drawn ? said : JSON.parse(JSON.stringify(said).replaceAll(drawn, stored))

/** The timers of one message. The end of its lifetime needs none: expiries and deadlines of lanes cover it. */
function timersOf({ sendAt, completeBy }: NewSingle, uuid: string): Timer[] {
  return [
    ...(sendAt ? [{ uuid, kind: 'send' as const, dueAt: sendAt }] : []),
    ...(completeBy ? [{ uuid, kind: 'complete' as const, dueAt: completeBy }] : []),
  ]
}
