import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../db/sql.ts'
import { CODES, type RunnableLane } from '../../domain/lanes/lane.ts'
import { bucketOf } from '../../domain/limits/limit.ts'
import {
  type Draw,
  drawParts,
  type Limit,
  returnParts,
  tryDrawParts,
  withinAnySecond,
} from '../../domain/limits/limits.ts'
import type { LiveGateway } from '../gateways/gateways.ts'

/**
 * How many parts may be sent, drawn from these limits. With no parts, `retryAt` says when to draw again. `restMs`: the
 * limit of the gateway itself had too few parts, and is refilled after this time.
 */
export type Allowance = {
  limits: Limit[]
  parts: number
  retryAt: Date
  restMs?: number | undefined
}

/**
 * Limits that gave all their parts in this turn, and when to draw from them again. They count as used up until the turn
 * ends. Otherwise parts that refill during a slow turn would go to the lanes at its end, without regard to their weight. All
 * lanes wait for the same time, because a lane that was due a millisecond earlier would draw everything.
 */
export type UsedUp = Map<string, Date>

/** When a code found a limit used up, only codes may draw from it for this time after it has parts again. */
const LEFT_TO_CODES_MS = 100

type AllowancesContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  onWanted?: ((subject: string, forMs: number) => void) | undefined
}

/** How long a message waits for the missing parts of its allowance, before its chunk is returned. */
const GATHER_MS = 2000

/** Draws the parts that a chunk may send from all its limits at once, and returns the parts that it does not need. */
export class Allowances {
  readonly #sql: Pool
  readonly #clock: () => Date
  readonly #log: Logger
  readonly #onWanted: AllowancesContext['onWanted']
  readonly #wantedByCodes = new Map<string, number>()

  constructor({ sql, clock, log, onWanted }: AllowancesContext) {
    this.#sql = sql
    this.#clock = clock
    this.#log = log
    this.#onWanted = onWanted
  }

  /** Draws for the next chunk of the lane, which has at most `most` messages. */
  async draw(lane: RunnableLane, gateway: LiveGateway | undefined, most: number, usedUp: UsedUp): Promise<Allowance> {
    const limits = limitsOf(lane, gateway)
    if (limits.length === 0) return { limits, parts: Number.POSITIVE_INFINITY, retryAt: this.#clock() }
    const ofGateway = gateway?.gateway.partsPerSecond ? limits[0] : undefined
    const key = limits.map(({ subject }) => subject).join()
    const leftForMs = lane.priority === CODES ? 0 : this.#leftToCodesMs(limits)
    if (leftForMs > 0) {
      const restMs = ofGateway && Math.max(0, this.#leftToCodesMs([ofGateway]))
      return { limits, parts: 0, retryAt: this.#later(leftForMs), restMs }
    }
    const again = usedUp.get(key)
    if (again) return { limits, parts: 0, retryAt: again }
    const wanted = Math.min(most, Math.max(lane.waiting, 1))
    const drawn = await tryDrawParts(this.#sql, limits, wanted, { atLeast: Math.min(wanted, worthwhile(limits)) })
    const retryMs = drawn.parts > 0 ? refillMs(limits) : drawn.retryAfterMs
    const allowance = { limits, parts: drawn.parts, retryAt: this.#later(retryMs) }
    if (drawn.parts === wanted) return allowance
    usedUp.set(key, allowance.retryAt)
    if (drawn.parts === 0 && lane.priority === CODES) this.#wantForCodes(drawn)
    const isGatewayShort = ofGateway && drawn.poorest === ofGateway.subject
    return isGatewayShort ? { ...allowance, restMs: Math.min(retryMs, refillMs([ofGateway])) } : allowance
  }

  #later(ms: number): Date {
    return new Date(this.#clock().getTime() + ms)
  }

  /** A code waits for this limit: for so long, only codes may draw from it. */
  leaveToCodes(subject: string, forMs: number): void {
    this.#wantedByCodes.clear() // the next draw of a code adds other limits again
    this.#wantedByCodes.set(subject, performance.now() + forMs)
  }

  /** Only the limit that is used up: a code that waits for the limit of its company does not hold up a gateway. */
  #wantForCodes({ poorest, retryAfterMs }: Draw) {
    if (!poorest) return this.#wantedByCodes.clear()
    const forMs = retryAfterMs + LEFT_TO_CODES_MS
    this.leaveToCodes(poorest, forMs)
    this.#onWanted?.(poorest, forMs)
  }

  #leftToCodesMs(limits: Limit[]): number {
    const until = Math.max(...limits.map(({ subject }) => this.#wantedByCodes.get(subject) ?? 0))
    return Math.ceil(until - performance.now())
  }

  /** Returns parts. An error is only logged: the limit is a little slower until it is refilled. */
  async giveBack({ limits }: Allowance, parts: number) {
    if (limits.length === 0 || parts <= 0) return
    await returnParts(this.#sql, limits, parts).catch(err => this.#log.warn({ err, parts }, 'parts.not_returned'))
  }

  /** How many of the messages the allowance covers, counted in parts. Parts that are not needed are returned. */
  async fittingCount(messages: { parts: number }[], allowance: Allowance): Promise<number> {
    const { limits, parts: allowed } = allowance
    if (limits.length === 0) return messages.length
    let count = 0
    let used = 0
    for (const { parts } of messages) {
      if (used + parts > allowed) break
      used += parts
      count += 1
    }
    const [first] = messages
    if (count === 0 && first) return this.#borrow(allowance, first.parts)
    allowance.parts = used
    await this.giveBack(allowance, allowed - used)
    return count
  }

  /** For a first message with more parts than were drawn. A full limit may be overdrawn for a single message. */
  async #borrow(allowance: Allowance, needed: number): Promise<0 | 1> {
    await this.#gather(allowance, Math.min(needed, fullBurst(allowance.limits)))
    const gathered = allowance.parts
    allowance.parts = 0
    await this.giveBack(allowance, gathered)
    allowance.parts = await drawParts(this.#sql, allowance.limits, needed, { atLeast: needed })
    return allowance.parts === needed ? 1 : 0
  }

  /**
   * Draws the parts of a full limit little by little. Waiting until the limit is full could last for ever, because short
   * messages draw from it as soon as it has parts.
   */
  async #gather(allowance: Allowance, wanted: number) {
    const until = performance.now() + GATHER_MS
    while (allowance.parts < wanted) {
      const missing = wanted - allowance.parts
      const atLeast = Math.min(missing, worthwhile(allowance.limits))
      const { parts, retryAfterMs } = await tryDrawParts(this.#sql, allowance.limits, missing, { atLeast })
      allowance.parts += parts
      const waitMs = parts > 0 ? 0 : Math.max(retryAfterMs, this.#leftToCodesMs(allowance.limits))
      if (performance.now() + waitMs > until) return
      if (waitMs > 0) await pause(waitMs)
    }
  }
}

/** The parts of a tenth of a second. If single parts were drawn, every message would be a chunk. */
const worthwhile = (limits: Limit[]) =>
  Math.max(1, Math.floor(Math.min(...limits.map(({ perSecond }) => perSecond)) / 10))

/** How long an empty limit needs until a draw is worthwhile again. */
const refillMs = (limits: Limit[]) =>
  Math.ceil((worthwhile(limits) * 1000) / Math.min(...limits.map(({ perSecond }) => perSecond)))

/** The parts of the slowest limit when it is full. The other limits are full earlier. */
function fullBurst(limits: Limit[]): number {
  const slowest = limits.reduce((a, b) => (b.perSecond < a.perSecond ? b : a))
  return Math.ceil(bucketOf(slowest).burst)
}

/** Every limit that a chunk draws from, in parts a second. */
function limitsOf(lane: RunnableLane, gateway: LiveGateway | undefined): Limit[] {
  const { gatewayId, partsPerSecond } = gateway?.gateway ?? {}
  const rates: [string, number | null | undefined][] = [
    [`sender:${lane.senderId}`, lane.senderRate],
    [`company:${lane.companyId}`, lane.companyRate],
    [`dispatch:${lane.dispatchId}`, lane.dispatchRate],
  ]
  const ours = rates.flatMap(([subject, perSecond]) => (perSecond ? [{ subject, perSecond }] : []))
  return partsPerSecond ? [withinAnySecond(`gateway:${gatewayId}`, partsPerSecond), ...ours] : ours
}
