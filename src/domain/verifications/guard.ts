import { networkOf } from '../../base/network/networks.ts'
import type { NewCode } from './verification.ts'

/** How often codes were sent for a subject, and until when no more are. */
export type SubjectState = {
  subject: string
  /** The window that is counted began then. */
  since: Date
  count: number
  lastAt: Date
  /** Of a number: codes in a row that were not confirmed. */
  streak: number
  /** The end of the newest block, which may be over. */
  blockedUntil: Date | null
  /** How often it was blocked lately: each block lasts twice as long as the last. */
  blocks: number
  reason: string | null
}

/** The limits after the allowed codes. Subjects in `first` have no row yet and are not blocked. */
export type CountedLimits = { first: SubjectState[]; further: SubjectState[]; now: Date }

export type Rule = { subject: string; most: number; windowMs: number; pauseMs: number }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MOST_PAUSE_MS = HOUR_MS
const MOST_BLOCK_MS = DAY_MS

/** What a code for this number counts against. */
export function rulesFor(destination: string, code: NewCode): Rule[] {
  const { limits } = code
  const hourly = (subject: string, most: number) => ({ subject, most, windowMs: HOUR_MS, pauseMs: 0 })
  return [
    ruleOfNumber(destination, limits.perNumber, code.pauseSeconds),
    ...(code.clientAddress ? [hourly(`address:${networkOf(code.clientAddress)}`, limits.perAddress)] : []),
    hourly(`prefix:${code.prefix}`, limits.perPrefix),
    hourly(`verifier:${code.verifierId}`, limits.perVerifier),
    hourly('company', limits.perCompany),
  ]
}

export const ruleOfNumber = (destination: string, most: number, pauseSeconds: number): Rule => ({
  subject: `number:${destination}`,
  most,
  windowMs: DAY_MS,
  pauseMs: pauseSeconds * 1000,
})

export const subjectKinds = ['number', 'address', 'prefix', 'verifier', 'company'] as const
export type SubjectKind = (typeof subjectKinds)[number]

export const kindOf = (subject: string): SubjectKind => subject.split(':')[0] as SubjectKind

/** Gets the effects of the limits after the commit. */
export type GuardWatch = { blocked(companyId: number, subjects: SubjectState[]): void; refused(subject: string): void }

export const isNumber = ({ subject }: Pick<Rule, 'subject'>) => subject.startsWith('number:')

/** When a code may go for this subject; now or earlier when it may go at once. */
export function sendableAt(rule: Rule, state: SubjectState | undefined, now: Date): Date {
  if (!state) return now
  const { lastAt } = state
  if (isBlocked(state, now)) return state.blockedUntil!
  return rule.pauseMs > 0 ? new Date(lastAt.getTime() + pauseMs(rule, state)) : now
}

/** The pause before the next code for a number doubles with every code that was not confirmed. */
const pauseMs = ({ pauseMs: first }: Rule, { streak }: SubjectState) =>
  Math.max(first, Math.min(first * 2 ** Math.min(Math.max(streak - 1, 0), 16), MOST_PAUSE_MS))

/** The state after one more code. A subject that has had all it may have is blocked until its window ends, or longer. */
export function countOne(rule: Rule, state: SubjectState | undefined, now: Date): SubjectState {
  const isNewWindow = !state || now.getTime() - state.since.getTime() >= rule.windowMs
  const next: SubjectState = {
    subject: rule.subject,
    since: isNewWindow ? now : state.since,
    count: isNewWindow ? 1 : state.count + 1,
    lastAt: now,
    streak: (state?.streak ?? 0) + 1,
    ...blocksLately(state, now),
  }
  if (next.count < rule.most) return next
  const windowEnd = new Date(next.since.getTime() + rule.windowMs)
  const codes = next.count === 1 ? '1 code' : `${next.count} codes`
  return block(next, windowEnd, now, `${codes} within ${rule.windowMs === DAY_MS ? 'a day' : 'an hour'}`)
}

/** Blocks are forgotten a day after the last one ended, however many codes were sent since. */
function blocksLately(state: SubjectState | undefined, now: Date) {
  const isLately = state?.blockedUntil && now.getTime() - state.blockedUntil.getTime() < DAY_MS
  if (!isLately) return { blockedUntil: null, blocks: 0, reason: null }
  const { blockedUntil, blocks, reason } = state
  return { blockedUntil, blocks, reason }
}

export const isBlocked = ({ blockedUntil }: Pick<SubjectState, 'blockedUntil'>, now: Date): boolean =>
  blockedUntil !== null && blockedUntil > now

/** Blocked until then at least; each further block lasts twice as long, a day at most. */
export function block(state: SubjectState, atLeastUntil: Date, now: Date, reason: string): SubjectState {
  const shortest = atLeastUntil.getTime() - now.getTime()
  const grown = Math.max(shortest, Math.min(HOUR_MS * 2 ** state.blocks, MOST_BLOCK_MS))
  const lastsMs = state.blocks === 0 ? shortest : grown
  return { ...state, blockedUntil: new Date(now.getTime() + lastsMs), blocks: state.blocks + 1, reason }
}

/** A prefix is judged when it has had so many codes within its window, and again after every few more. */
const JUDGED_FROM = 30
const JUDGED_EVERY = 10

export const isToBeJudged = (state: SubjectState, now: Date) =>
  state.subject.startsWith('prefix:') && !isBlocked(state, now) && isAtStep(state)

const isAtStep = ({ count }: SubjectState) => count >= JUDGED_FROM && (count - JUDGED_FROM) % JUDGED_EVERY === 0

/** The sent and the confirmed codes of a prefix, without codes that may still be confirmed. */
export type PrefixShare = { prefix: string; sent: number; confirmed: number }

/** Blocks a prefix whose codes are hardly ever confirmed: that is how paid traffic to invented numbers looks. */
export function judgePrefix(state: SubjectState, share: PrefixShare, leastConfirmed: number, now: Date): SubjectState {
  if (share.sent < JUDGED_FROM || share.confirmed / share.sent >= leastConfirmed) return state
  const reason = `${share.confirmed} of ${share.sent} codes confirmed`
  return block(state, new Date(now.getTime() + HOUR_MS), now, reason)
}
