import type { ChannelType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import { everyCompany, sweep } from '../../db/by-company.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { VerifierSettings } from '../verifiers/verifier.ts'
import { recordSent } from '../widgets/sessions.ts'
import {
  type CountedLimits,
  countOne,
  isBlocked,
  isNumber,
  isToBeJudged,
  judgePrefix,
  type Rule,
  ruleOfNumber,
  type SubjectState,
  sendableAt,
} from './guard.ts'
import * as store from './store.ts'
import type { FallbackSend, SentCode } from './verification.ts'

/** Why no code is sent now: too many were sent for the subject, which may have one again after so many seconds. */
export type TooMany = { subject: string; retryAfterSeconds: number }

/** Codes that may still be typed are not held against a prefix. */
const MATURE_SECONDS = 120
const SHARE_OF = 200

/** The current limits that codes count against. A subject without a row is absent. */
export type Limits = Map<string, SubjectState>

/** To be called under the lock of the company's account: then the limits hold over all processes. */
export async function readLimits(sql: Transaction, companyId: number, rules: Rule[]): Promise<Limits> {
  if (rules.length === 0) return new Map()
  const subjects = [...new Set(rules.map(({ subject }) => subject))]
  return new Map((await store.selectSubjects(sql, companyId, subjects)).map(state => [state.subject, state]))
}

/** The limits while codes are counted, one after another; prefixes are judged when all are. */
export type Counting = {
  states: Limits
  /** Subjects that have a row. */
  known: Limits
  changed: Set<string>
  /** Prefixes to be judged, with the share of their codes that must be confirmed. */
  toJudge: Map<string, number>
  now: Date
}

export async function beginCounting(sql: Transaction, companyId: number, known: Limits, now: Date): Promise<Counting> {
  const states = new Map(known)
  await forgiveConfirmed(sql, companyId, states)
  return { states, known, changed: new Set(), toJudge: new Map(), now }
}

/** Counts a code that may be sent, or says why it may not. */
export function countCode(counting: Counting, rules: Rule[], leastConfirmed: number): TooMany | undefined {
  const { states, changed, toJudge, now } = counting
  for (const rule of rules) {
    const waitMs = sendableAt(rule, states.get(rule.subject), now).getTime() - now.getTime()
    if (waitMs > 0) return { subject: rule.subject, retryAfterSeconds: Math.ceil(waitMs / 1000) }
  }
  for (const rule of rules) {
    const state = countOne(rule, states.get(rule.subject), now)
    states.set(rule.subject, state)
    changed.add(rule.subject)
    if (isToBeJudged(state, now)) toJudge.set(rule.subject, leastConfirmed)
  }
  return undefined
}

/** `blocked`: the subjects that are blocked from now on. The limits are written with `storeCodes` in the same transaction. */
export async function endCounting(
  sql: Transaction,
  companyId: number,
  counting: Counting,
): Promise<{ limits: CountedLimits; blocked: SubjectState[] }> {
  await judgePrefixes(sql, companyId, counting)
  const { states, known, changed, now } = counting
  const counted = [...changed].map(subject => states.get(subject)!)
  const isFirst = ({ subject, blockedUntil }: SubjectState) => !known.has(subject) && blockedUntil === null
  return {
    limits: { first: counted.filter(isFirst), further: counted.filter(state => !isFirst(state)), now },
    blocked: counted.filter(state => isBlocked(state, now)),
  }
}

/** A number that confirmed its last code has the short pause again. Its count of the day stays. */
async function forgiveConfirmed(sql: Sql, companyId: number, states: Limits) {
  const numbers = [...states.values()]
    .filter(state => isNumber(state) && state.streak > 0)
    .map(({ subject, lastAt }) => ({ destination: subject.slice('number:'.length), since: lastAt }))
  if (numbers.length === 0) return
  for (const { destination } of await store.selectConfirmedSince(sql, companyId, numbers)) {
    const state = states.get(`number:${destination}`)!
    states.set(state.subject, { ...state, streak: 0 })
  }
}

async function judgePrefixes(sql: Transaction, companyId: number, { states, toJudge, now }: Counting) {
  const judged = [...toJudge.keys()].map(subject => states.get(subject)!).filter(state => !isBlocked(state, now))
  if (judged.length === 0) return
  const prefixes = judged.map(({ subject }) => subject.slice('prefix:'.length))
  for (const share of await store.selectShares(sql, companyId, prefixes, SHARE_OF, MATURE_SECONDS)) {
    const state = states.get(`prefix:${share.prefix}`)!
    states.set(state.subject, judgePrefix(state, share, toJudge.get(state.subject)!, now))
  }
}

/**
 * Writes the codes of messages that were accepted, in the same transaction, with the limits that they count against, and
 * counts the messages for the statistics.
 */
export async function storeCodes(
  sql: Transaction,
  companyId: number,
  sent: SentCode[],
  limits: CountedLimits = { first: [], further: [], now: new Date() },
  messages: CountedMessage[] = [],
): Promise<void> {
  if (sent.length === 0) return countMessages(sql, companyId, messages)
  const rows = sent.map(code => ({ ...code, hashes: code.hashesFor(code.verificationUuid ?? code.uuid) }))
  const codes = rows.filter(({ verificationUuid }) => verificationUuid === undefined)
  const further = rows
    .filter(({ verificationUuid }) => verificationUuid !== undefined)
    .toSorted((a, b) => (a.verificationUuid! < b.verificationUuid! ? -1 : 1))
  await Promise.all([
    store.insertSent(sql, companyId, { codes, limits, counters: sumsOf(messages) }),
    ...further.map(row => store.addCode(sql, companyId, row)),
    recordSent(sql, companyId, rows.flatMap(sessionOf)),
  ])
}

const sessionOf = ({ sessionKeyHash: keyHash, verificationUuid, uuid, lifetimeSeconds }: SentCode) =>
  keyHash ? [{ keyHash, messageUuid: uuid, verificationUuid: verificationUuid ?? uuid, lifetimeSeconds }] : []

/** The state of a verification. Undefined if it was deleted. */
export async function findVerification(sql: Sql, companyId: number, verificationUuid: string) {
  const [state] = await store.selectVerification(sql, companyId, verificationUuid)
  return state
}

/** How long a number must wait for its next code, as far as the number itself is concerned. */
export async function secondsToNextCode(
  sql: Sql,
  companyId: number,
  destination: string,
  { pauseSeconds, limits: { perNumber } }: Pick<VerifierSettings, 'pauseSeconds' | 'limits'>,
  now: Date,
): Promise<number> {
  const rule = ruleOfNumber(destination, perNumber, pauseSeconds)
  const states: Limits = new Map()
  for (const state of await store.selectSubjects(sql, companyId, [rule.subject])) states.set(state.subject, state)
  await forgiveConfirmed(sql, companyId, states)
  return Math.max(0, Math.ceil((sendableAt(rule, states.get(rule.subject), now).getTime() - now.getTime()) / 1000))
}

/** A fallback sends the codes of its verification over another channel. */
export async function recordFallbacks(sql: Transaction, companyId: number, sends: FallbackSend[]): Promise<void> {
  if (sends.length > 0) await store.updateChannels(sql, companyId, sends)
}

/** A message with a code that was sent or delivered, for the statistics. */
export type CountedMessage = {
  verifierId: string
  country: string
  channelType: ChannelType
  what: 'sent' | 'delivered'
  cost: Money
}

export async function countMessages(sql: Sql, companyId: number, messages: CountedMessage[]): Promise<void> {
  if (messages.length > 0) await store.addToCounters(sql, companyId, sumsOf(messages))
}

function sumsOf(messages: CountedMessage[]): store.CounterChange[] {
  const sums = new Map<string, store.CounterChange>()
  for (const { verifierId, country, channelType, what, cost } of messages) {
    const key = `${verifierId}/${channelType}/${country}/${what}`
    const sum = sums.get(key)
    if (sum) {
      sum.count += 1
      sum.cost += cost
    } else sums.set(key, { verifierId, country, channelType, what, cost, count: 1 })
  }
  return [...sums.values()]
}

const BATCH = 5000
const MOST_BATCHES = 100

/** Forgets verifications of more than a week ago, and subjects that no code was sent for since days. */
export async function forgetOldVerifications(sql: Sql): Promise<void> {
  await everyCompany(sql, companyId => forgetVerificationsOf(sql, companyId))
  await sweep(
    limit => store.selectOldSubjects(sql, limit),
    (companyId, old) =>
      store.deleteOldSubjects(
        sql,
        companyId,
        old.map(({ subject }) => subject),
      ),
    { batch: BATCH, mostBatches: MOST_BATCHES },
  )
}

async function forgetVerificationsOf(sql: Sql, companyId: number): Promise<void> {
  let batches = 0
  while ((await store.deleteOldVerifications(sql, companyId, BATCH)).count === BATCH && ++batches < MOST_BATCHES);
}

export {
  type BlockedSubject,
  blockedSubjects,
  countBlocked,
  type StatisticsRow,
  type StatisticsSum,
  searchBlocked,
  type VerificationState,
  verificationStatistics,
  verificationSums,
} from './store.ts'

/** Lets codes be sent for a subject again; false when it was not known. */
export const unblockSubject = async (sql: Sql, companyId: number, subject: string): Promise<boolean> =>
  (await store.deleteSubject(sql, companyId, subject)).count > 0
