import type { Logger } from 'pino'
import { closesAt, nextOpening } from '../base/sending-window.ts'
import type { Pool } from '../db/sql.ts'
import { LEASE_SECONDS, type Lease, type RunnableLane, runsOf } from '../domain/lanes/lane.ts'
import { heldLanes, lanesWithWork, postponeLane, renewLeases, takeChunk, takeOver } from '../domain/lanes/lanes.ts'
import { drawParts, returnParts, tryDrawParts, type Wish } from '../domain/limits/limits.ts'
import { queuedMessages } from '../domain/messages/messages.ts'
import { closeLease } from '../domain/sending/leases.ts'
import type { Gateways, LiveGateway } from './gateways.ts'
import { type Loop, repeat } from './loop.ts'
import type { Recorder } from './recorder.ts'
import { type Hand, sendMessages } from './sender.ts'

export type SchedulerContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  billingZone: string
  recorder: Recorder
  gateways: Gateways
  worker: string
}

const CHUNK = 2000
const LANES_AT_ONCE = 200
const PAGES_A_TURN = 20
const IDLE_MS = 100
/** Chunks under way at once for one gateway; a code may always have one more. */
const CHUNKS_PER_GATEWAY = 3
const RENEW_EVERY_MS = 2000
const HOLD_EVERY_MS = 300
/** How soon to look again at a lane whose gateways are down or whose name is not approved. */
const LOOK_AGAIN_MS = 1000
const NEVER_MS = 24 * 3600_000
/** A worker stops submitting this long before its lease could be taken by another. */
const SAFETY_MS = 2000

/** What a message that is longer than what its limits had to give waits for more. */
const TOO_LONG_MS = 200

/** How many parts may go, drawn from these limits. */
type Allowance = { wishes: Wish[]; parts: number; retryAfterMs: number }

type Held = Hand & { lease: Lease; until: number; held: boolean }

/** Limits found used up in this turn, and when to ask again: who comes later in the order must not draw before. */
type UsedUp = Map<string, Date>

/**
 * Finds lanes with work and brings their chunks out, as many at once as the gateways take. Nothing is remembered that
 * the database does not know: another engine beside this one finds the same lanes and takes other chunks.
 */
export function startScheduler(context: SchedulerContext): Loop & { wake(): void } {
  const { sql, clock, log, gateways, worker } = context
  const hands = new Map<string, Held>()
  const running = new Set<Promise<void>>()
  let stopping = false
  let wake = Promise.withResolvers<void>()

  async function turn() {
    const woken = wake.promise // a wake that comes while we look is not missed
    const usedUp: UsedUp = new Map()
    let started = 0
    for (let page = 0; page < PAGES_A_TURN && !stopping; page++) {
      const { lanes, more } = await lanesWithWork(sql, clock(), {
        limit: LANES_AT_ONCE,
        offset: page * LANES_AT_ONCE,
      })
      for (const lane of lanes) if (!stopping && (await startLane(lane, usedUp))) started += 1
      if (!more) break
    }
    if (started === 0) await Promise.race([woken, timeout(IDLE_MS)])
  }

  /** Takes a chunk of a lane if it may go now and something can take it; false when not. */
  async function startLane(lane: RunnableLane, usedUp: UsedUp): Promise<boolean> {
    const now = clock()
    const opening = openingOf(lane, now)
    if (opening > now) return stepAside(lane, opening)
    const gateway = isGone(lane.senderStatus) ? undefined : freeGateway(lane)
    if (gateway === 'busy') return false
    if (gateway === 'down') return stepAside(lane, after(now, LOOK_AGAIN_MS))
    const allowance = await drawAllowance(lane, gateway, usedUp)
    if (allowance.parts === 0) return stepAside(lane, after(now, allowance.retryAfterMs))
    const asked = performance.now()
    const lease = lane.leaseId
      ? await takeOver(sql, { companyId: lane.companyId, leaseId: lane.leaseId }, worker)
      : await takeChunk(sql, lane, Math.min(CHUNK, allowance.parts), worker)
    if (!lease) {
      await giveBack(allowance, allowance.parts)
      return false
    }
    const hand = handOf(lane, lease, gateway, asked)
    const work = workOff(lane, hand, gateway, allowance).catch(err =>
      log.error({ err, lane: lane.laneId }, 'chunk.failed'),
    )
    running.add(work)
    void work.finally(() => {
      running.delete(work)
      wakeUp()
    })
    return true
  }

  /** Codes do not step aside for moments: they would come back behind those that drew meanwhile. */
  async function stepAside(lane: RunnableLane, until: Date): Promise<false> {
    const isForMoments = until.getTime() - clock().getTime() < LOOK_AGAIN_MS
    if (lane.priority > 0 || !isForMoments) await postponeLane(sql, lane, until)
    return false
  }

  function freeGateway(lane: RunnableLane): LiveGateway | undefined | 'busy' | 'down' {
    const { known, up } = gateways.serving(lane.channelType, lane.brandId)
    if (!known) return undefined // its messages are refused: there is no route
    if (up.length === 0) return 'down'
    const most = CHUNKS_PER_GATEWAY + (lane.priority === 0 ? 1 : 0)
    const free = up.filter(({ busy }) => busy < most).sort((a, b) => a.busy - b.busy)
    return free[0] ?? 'busy'
  }

  async function drawAllowance(lane: RunnableLane, gateway: LiveGateway | undefined, usedUp: UsedUp) {
    const wishes = limitsOf(lane, gateway)
    if (wishes.length === 0) return { wishes, parts: Number.POSITIVE_INFINITY, retryAfterMs: 0 }
    const key = wishes.map(({ subject }) => subject).join()
    const again = usedUp.get(key)
    if (again) return { wishes, parts: 0, retryAfterMs: Math.max(1, again.getTime() - clock().getTime()) }
    const wanted = Math.min(CHUNK, Math.max(lane.waiting, 1))
    const draw = await tryDrawParts(sql, wishes, wanted, { atLeast: Math.min(wanted, worthwhile(wishes)) })
    if (draw.parts === 0) usedUp.set(key, after(clock(), draw.retryAfterMs))
    return { wishes, ...draw }
  }

  async function giveBack({ wishes }: Allowance, parts: number) {
    if (wishes.length > 0 && parts > 0) await returnParts(sql, wishes, parts)
  }

  /**
   * The lease is ours from when we asked for it, not from when we heard of it: we may have been frozen in between.
   * Looked at before every message, so that a stop, a pause or the end of the window acts inside a chunk.
   */
  function handOf(lane: RunnableLane, lease: Lease, gateway: LiveGateway | undefined, asked: number): Held {
    const closing = lane.startAt ? closesAt(windowOf(lane), clock()) : undefined
    const hand: Held = {
      lease,
      until: asked + LEASE_SECONDS * 1000,
      held: false,
      mayGo: () =>
        !stopping &&
        !hand.held &&
        performance.now() < hand.until - SAFETY_MS &&
        (!gateway || (!gateway.gateway.paused && (!closing || clock() < closing))),
    }
    return hand
  }

  async function workOff(lane: RunnableLane, hand: Held, gateway: LiveGateway | undefined, allowance: Allowance) {
    const { lease } = hand
    hands.set(lease.token, hand)
    if (gateway) gateway.busy += 1
    let isFree = false
    const freeGateway = () => {
      if (gateway && !isFree) gateway.busy -= 1
      isFree = true
      wakeUp()
    }
    try {
      const queued = await queuedMessages(sql, lease, lane)
      const messages = queued.map(message => ({ ...message, attempts: lease.attempts }))
      const count = await fittingCount(messages, allowance)
      const due = count === 0 ? after(clock(), TOO_LONG_MS) : clock()
      const over = messages.slice(count).map(({ seq, attempts }) => ({ seq, attempts, dueAt: due }))
      const { recorded, left } = await sendMessages(context, lane, messages.slice(0, count), gateway, hand)
      freeGateway() // for the next chunk, while this one is written down
      await recorded
      await closeLease(sql, lease, runsOf([...left, ...over]), { billingZone: context.billingZone, now: clock() })
    } finally {
      hands.delete(lease.token)
      freeGateway()
    }
  }

  /** How many of the messages the allowance covers, counted in parts; what it does not need is given back. */
  async function fittingCount(messages: { parts: number }[], allowance: Allowance): Promise<number> {
    const { wishes, parts: allowed } = allowance
    if (wishes.length === 0) return messages.length
    let count = 0
    let used = 0
    while (count < messages.length && used + messages[count]!.parts <= allowed) used += messages[count++]!.parts
    await giveBack(allowance, allowed - used)
    if (count > 0 || messages.length === 0) return count
    // Longer than what was drawn: full limits lend a single message what it needs beyond them.
    const needed = messages[0]!.parts
    return (await drawParts(sql, wishes, needed, { atLeast: needed })) === needed ? 1 : 0
  }

  async function renew() {
    if (hands.size === 0) return
    const asked = performance.now()
    const ours = await renewLeases(sql, worker, [...hands.keys()])
    for (const [token, hand] of hands) {
      if (ours.has(token)) hand.until = asked + LEASE_SECONDS * 1000
      else hand.held = true
    }
  }

  /** Stops, suspensions and disabled companies act within a second. */
  async function hold() {
    if (hands.size === 0) return
    const held = await heldLanes(
      sql,
      [...hands.values()].map(({ lease }) => lease),
    )
    const ids = new Set(held.map(({ companyId, laneId }) => `${companyId}/${laneId}`))
    for (const hand of hands.values()) if (ids.has(`${hand.lease.companyId}/${hand.lease.laneId}`)) hand.held = true
  }

  function wakeUp() {
    wake.resolve()
    wake = Promise.withResolvers()
  }

  const loops = [
    repeat('lanes', 0, log, turn),
    repeat('leases', RENEW_EVERY_MS, log, renew),
    repeat('holds', HOLD_EVERY_MS, log, hold),
  ]

  return {
    wake: wakeUp,
    async stop() {
      stopping = true
      wakeUp()
      await loops[0]!.stop()
      await Promise.all(running)
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

/** When a lane may go: at once if its name is gone, because its messages are then refused one by one. */
function openingOf(lane: RunnableLane, now: Date): Date {
  if (isGone(lane.senderStatus)) return now
  if (lane.senderStatus !== 'APPROVED') return after(now, LOOK_AGAIN_MS)
  if (!lane.startAt) return now
  return nextOpening(windowOf(lane), now) ?? after(now, NEVER_MS)
}

/** A tenth of a second's worth: drawn part by part, every message would have a chunk of its own. */
const worthwhile = (wishes: Wish[]) =>
  Math.max(1, Math.floor(Math.min(...wishes.map(({ perSecond }) => perSecond)) / 10))

const isGone = (senderStatus: string) => ['CLOSED', 'DENIED'].includes(senderStatus)

const after = (now: Date, ms: number) => new Date(now.getTime() + ms)

const timeout = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const windowOf = (lane: RunnableLane) => ({
  startAt: lane.startAt!,
  hours: lane.hours!,
  days: lane.days!,
  zone: { offsetMinutes: lane.offsetMinutes! },
})

/** Every limit that a chunk draws from, in parts a second. */
function limitsOf(lane: RunnableLane, gateway: LiveGateway | undefined) {
  const limits: [string, number | null | undefined][] = [
    [`gateway:${gateway?.gateway.gatewayId}`, gateway?.gateway.partsPerSecond],
    [`sender:${lane.senderId}`, lane.senderRate],
    [`company:${lane.companyId}`, lane.companyRate],
    [`dispatch:${lane.dispatchId}`, lane.dispatchRate],
  ]
  return limits.flatMap(([subject, perSecond]) => (perSecond ? [{ subject, perSecond }] : []))
}
