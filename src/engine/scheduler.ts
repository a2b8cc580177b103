import type { Logger } from 'pino'
import { closesAt, nextOpening } from '../base/sending-window.ts'
import type { Pool } from '../db/sql.ts'
import {
  isOver,
  LEASE_SECONDS,
  type Lease,
  type Left,
  type RunnableLane,
  runsOf,
  windowOf,
} from '../domain/lanes/lane.ts'
import { heldLanes, lanesWithWork, postponeLane, renewLeases, takeChunk, takeOver } from '../domain/lanes/lanes.ts'
import { drawParts, returnParts, tryDrawParts, type Wish } from '../domain/limits/limits.ts'
import { queuedMessages } from '../domain/messages/messages.ts'
import { closeLease } from '../domain/sending/leases.ts'
import type { Gateways, LiveGateway } from './gateways.ts'
import { type Loop, repeat } from './loop.ts'
import type { Recorder } from './recorder.ts'
import { type Attempt, type Hand, sendMessages } from './sender.ts'
import { createTurns } from './turns.ts'

export type SchedulerContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  billingZone: string
  recorder: Recorder
  gateways: Gateways
  worker: string
  /** How long an engine without work waits until it looks by itself. */
  idleMs?: number
}

/** The most that is taken of a lane at once, and handed over of that between two looks at what has changed. */
const CHUNK = 1000
const SLICE = 500
/** The priority of authorization codes: they have a loop of their own, and wait for nobody. */
const CODES = 0
/** Of the other priorities nobody is left out: TRANSACT, SERVICE, PROMO. */
const WEIGHTS = [8, 4, 1]
const LANES_AT_ONCE = 200
const PAGES_A_TURN = 20
const IDLE_MS = 100
/** Chunks under way at once for one gateway; codes, which come one by one, may have more beside them. */
const CHUNKS_PER_GATEWAY = 3
const MORE_FOR_CODES = 8
const RENEW_EVERY_MS = 2000
const HOLD_EVERY_MS = 300
/** A slice that is under way for longer is looked through again for what is no longer wanted. */
const LONG_SLICE_MS = 500
/** A turn with work in it ends after this: who came meanwhile is in the next one. */
const TURN_MS = 200
/** Limits that a code found used up are left to it for so long after they have something again. */
const LEFT_TO_CODES_MS = 100
/** How soon to look again at a lane whose gateways are down or whose name is not approved. */
const LOOK_AGAIN_MS = 1000
const BUSY_MS = 100
const NEVER_MS = 24 * 3600_000
/** A worker stops submitting this long before its lease could be taken by another. */
const SAFETY_MS = 2000

/** What a message that is longer than what its limits had to give waits for more. */
const TOO_LONG_MS = 200

/** How many parts may go, drawn from these limits. */
type Allowance = { wishes: Wish[]; parts: number; retryAfterMs: number }

type Held = Hand & { lease: Lease; until: number; held: boolean }

/** A way out and what may go there; none for messages that are only to be refused. */
type WayOut = { gateway: LiveGateway | undefined; allowance: Allowance; mostMessages: number }

/** Lanes of one priority with work, as far as they have been looked up. */
type Queue = { priority: number; lanes: RunnableLane[]; page: number; more: boolean }

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
  const turns = createTurns(WEIGHTS)
  const lastUsed = new WeakMap<LiveGateway, number>()
  const wantedByCodes = new Map<string, number>()
  let stopping = false
  let wake = Promise.withResolvers<void>()

  /** Codes go as soon as they come, whatever else is being started. */
  async function turnOfCodes() {
    const woken = wake.promise // a wake that comes while we look is not missed
    const queue = await openQueue(CODES)
    let started = 0
    for (let lane = queue.lanes.shift(); lane && !stopping; lane = queue.lanes.shift()) {
      if ((await startLane(lane, new Map())) > 0) started += 1
      if (queue.lanes.length === 0) await turnPage(queue)
    }
    if (started === 0) await Promise.race([woken, timeout(context.idleMs ?? IDLE_MS)])
  }

  async function turn() {
    const woken = wake.promise
    const usedUp: UsedUp = new Map()
    const queues = await Promise.all(WEIGHTS.map((_, kind) => openQueue(kind + 1)))
    let until = Number.POSITIVE_INFINITY
    while (!stopping && performance.now() < until) {
      const kind = turns.next(each => queues[each]!.lanes.length > 0)
      if (kind === undefined) break
      const queue = queues[kind]!
      const lane = queue.lanes.shift()!
      const taken = await startLane(lane, usedUp)
      if (taken > 0) {
        until = Math.min(until, performance.now() + TURN_MS)
        turns.served(kind, taken)
        // It comes again, behind the others of its kind: one lane alone may be due more than once a turn.
        if (!lane.leaseId && lane.waiting > taken) queue.lanes.push({ ...lane, waiting: lane.waiting - taken })
      }
      if (queue.lanes.length === 0) await turnPage(queue)
    }
    if (until === Number.POSITIVE_INFINITY) await Promise.race([woken, timeout(context.idleMs ?? IDLE_MS)])
  }

  async function openQueue(priority: number): Promise<Queue> {
    const queue = { priority, lanes: [], page: 0, more: true }
    await turnPage(queue)
    return queue
  }

  async function turnPage(queue: Queue) {
    if (!queue.more || queue.page >= PAGES_A_TURN) return
    const page = { limit: LANES_AT_ONCE, offset: queue.page++ * LANES_AT_ONCE }
    Object.assign(queue, await lanesWithWork(sql, queue.priority, clock(), page))
  }

  /** Takes a chunk of a lane if it may go now and something can take it; returns how many messages may go of it. */
  async function startLane(lane: RunnableLane, usedUp: UsedUp): Promise<number> {
    const now = clock()
    const opening = openingOf(lane, now)
    if (opening > now) return stepAside(lane, opening)
    const free = isGone(lane.senderStatus) || isOver(lane, now) ? [undefined] : freeGateways(lane)
    if (free === 'busy') return 0
    if (free === 'down') return stepAside(lane, after(now, LOOK_AGAIN_MS))
    const way = await findRoom(lane, free, usedUp)
    if (way.allowance.parts === 0 && lane.gatewayId) return 0 // the rest of the lane may go elsewhere
    if (way.allowance.parts === 0) return stepAside(lane, after(now, patienceMs(lane, way.allowance)))
    const asked = performance.now()
    const lease = await takeLease(lane, way)
    if (!lease) return 0
    const hand = handOf(lane, lease, way.gateway, asked)
    const work = workOff(lane, hand, way).catch(err => log.error({ err, lane: lane.laneId }, 'chunk.failed'))
    running.add(work)
    void work.finally(() => {
      running.delete(work)
      wakeUp()
    })
    return Math.min(lease.nextSeq - lease.firstSeq, way.mostMessages)
  }

  /** What was drawn for a chunk that somebody else got, or the database did not give, is given back. */
  async function takeLease(lane: RunnableLane, way: WayOut): Promise<Lease | undefined> {
    let lease: Lease | undefined
    try {
      lease = lane.leaseId
        ? await takeOver(sql, { companyId: lane.companyId, leaseId: lane.leaseId }, worker)
        : await takeChunk(sql, lane, way.mostMessages, worker)
    } finally {
      if (!lease) await giveBack(way.allowance, way.allowance.parts)
    }
    return lease
  }

  /** Codes do not step aside for moments: they would come back behind those that drew meanwhile. */
  async function stepAside(lane: RunnableLane, until: Date): Promise<0> {
    const isForMoments = until.getTime() - clock().getTime() < LOOK_AGAIN_MS
    if (lane.priority !== CODES || !isForMoments) await postponeLane(sql, lane, until)
    return 0
  }

  /** The least busy first; of those alike, the one that was used longest ago. */
  function freeGateways(lane: RunnableLane): (LiveGateway | undefined)[] | 'busy' | 'down' {
    const { known, up, isElsewhere } = gateways.serving(lane.channelType, lane.brandId, lane.senderName)
    if (!known) return [undefined] // its messages are refused: there is no route
    if (up.length === 0) return isElsewhere ? 'busy' : 'down'
    const free = up.filter(one => one.busy < mostChunks(lane) && mayTake(one, lane))
    const lastUse = (one: LiveGateway) => lastUsed.get(one) ?? 0
    return free.length > 0 ? free.sort((a, b) => a.busy - b.busy || lastUse(a) - lastUse(b)) : 'busy'
  }

  const mostChunks = ({ priority }: RunnableLane) => CHUNKS_PER_GATEWAY + (priority === CODES ? MORE_FOR_CODES : 0)

  /** Until its limits have room again; but another gateway that is only busy now may have it much earlier. */
  function patienceMs(lane: RunnableLane, { retryAfterMs }: Allowance): number {
    const { up } = gateways.serving(lane.channelType, lane.brandId, lane.senderName)
    return up.some(({ busy }) => busy >= mostChunks(lane)) ? Math.min(retryAfterMs, BUSY_MS) : retryAfterMs
  }

  /** The first of these that has room under its limits; else how long until one of them has. */
  async function findRoom(lane: RunnableLane, free: (LiveGateway | undefined)[], usedUp: UsedUp): Promise<WayOut> {
    let soonest: WayOut | undefined
    for (const gateway of free) {
      const allowance = await drawAllowance(lane, gateway, usedUp)
      const way = { gateway, allowance, mostMessages: Math.min(aSecondOf(gateway, CHUNK), allowance.parts) }
      if (way.allowance.parts > 0) return way
      if (!soonest || way.allowance.retryAfterMs < soonest.allowance.retryAfterMs) soonest = way
    }
    return soonest!
  }

  async function drawAllowance(lane: RunnableLane, gateway: LiveGateway | undefined, usedUp: UsedUp) {
    const wishes = limitsOf(lane, gateway)
    if (wishes.length === 0) return { wishes, parts: Number.POSITIVE_INFINITY, retryAfterMs: 0 }
    const key = wishes.map(({ subject }) => subject).join()
    const leftForMs = lane.priority === CODES ? 0 : leftToCodesMs(wishes)
    if (leftForMs > 0) return { wishes, parts: 0, retryAfterMs: leftForMs }
    const again = usedUp.get(key)
    if (again) return { wishes, parts: 0, retryAfterMs: Math.max(1, again.getTime() - clock().getTime()) }
    const wanted = Math.min(aSecondOf(gateway, CHUNK), Math.max(lane.waiting, 1))
    const draw = await tryDrawParts(sql, wishes, wanted, { atLeast: Math.min(wanted, worthwhile(wishes)) })
    if (draw.parts === 0) usedUp.set(key, after(clock(), draw.retryAfterMs))
    if (draw.parts === 0 && lane.priority === CODES) leaveToCodes(wishes, draw.retryAfterMs)
    return { wishes, ...draw }
  }

  function leaveToCodes(wishes: Wish[], retryAfterMs: number) {
    const until = performance.now() + retryAfterMs + LEFT_TO_CODES_MS
    wantedByCodes.clear() // of those before, the next draw tells again
    for (const { subject } of wishes) wantedByCodes.set(subject, until)
  }

  function leftToCodesMs(wishes: Wish[]): number {
    const until = Math.max(...wishes.map(({ subject }) => wantedByCodes.get(subject) ?? 0))
    return Math.ceil(until - performance.now())
  }

  /** A limit that does not get its parts back is only slower for a moment. */
  async function giveBack({ wishes }: Allowance, parts: number) {
    if (wishes.length === 0 || parts <= 0) return
    await returnParts(sql, wishes, parts).catch(err => log.warn({ err, parts }, 'parts.not_returned'))
  }

  /**
   * The lease is ours from when we asked for it, not from when we heard of it: we may have been frozen in between.
   * Looked at before every message, so that a stop, a pause or the end of the window acts inside a chunk.
   */
  function handOf(lane: RunnableLane, lease: Lease, gateway: LiveGateway | undefined, asked: number): Held {
    const window = windowOf(lane)
    const closing = window ? closesAt(window, clock()) : undefined
    const hand: Held = {
      lease,
      until: asked + LEASE_SECONDS * 1000,
      held: false,
      handedParts: 0,
      sliceSize: aSecondOf(gateway, SLICE),
      mayGo: () =>
        !stopping &&
        !hand.held &&
        performance.now() < hand.until - SAFETY_MS &&
        (!gateway || (!gateway.gateway.paused && (!closing || clock() < closing))),
    }
    return hand
  }

  async function workOff(lane: RunnableLane, hand: Held, way: WayOut) {
    const { lease } = hand
    const { gateway, allowance, mostMessages } = way
    hands.set(lease.token, hand)
    if (gateway) {
      gateway.busy += 1
      lastUsed.set(gateway, performance.now())
    }
    let isFree = false
    const letGo = async () => {
      if (isFree) return
      isFree = true
      if (gateway) gateway.busy -= 1
      wakeUp()
      await giveBack(allowance, allowance.parts - hand.handedParts)
    }
    try {
      const messages = await attemptsOf(lane, lease, mostMessages)
      const count = await fittingCount(messages, allowance)
      const over = overOf(lease, messages, count, mostMessages)
      const began = performance.now()
      const { recorded, left } = await sendMessages(context, lane, messages.slice(0, count), gateway, hand)
      if (gateway) gateway.partsPerSecond = (hand.handedParts * 1000) / Math.max(1, performance.now() - began)
      await letGo() // for the next chunk, while this one is written down
      await recorded
      await closeLease(sql, lease, runsOf([...left, ...over]), { billingZone: context.billingZone, now: clock() })
    } finally {
      hands.delete(lease.token)
      await letGo()
    }
  }

  async function attemptsOf(lane: RunnableLane, lease: Lease, most: number): Promise<Attempt[]> {
    const queued = await queuedMessages(sql, { ...lease, most }, lane)
    const before = { attempts: lease.attempts, ...(lane.gatewayId ? { gatewayId: lane.gatewayId } : {}) }
    return queued.map(message => ({ ...message, ...before }))
  }

  /** How many of the messages the allowance covers, counted in parts; what it does not need is given back. */
  async function fittingCount(messages: { parts: number }[], allowance: Allowance): Promise<number> {
    const { wishes, parts: allowed } = allowance
    if (wishes.length === 0) return messages.length
    let count = 0
    let used = 0
    while (count < messages.length && used + messages[count]!.parts <= allowed) used += messages[count++]!.parts
    allowance.parts = used
    await giveBack(allowance, allowed - used)
    if (count > 0 || messages.length === 0) return count
    // Longer than what was drawn: full limits lend a single message what it needs beyond them.
    const needed = messages[0]!.parts
    allowance.parts = await drawParts(sql, wishes, needed, { atLeast: needed })
    return allowance.parts === needed ? 1 : 0
  }

  /** What of a lease may not go this time, all the places behind what was read included: its first and last place. */
  function overOf(lease: Lease, messages: Attempt[], count: number, most: number): Left[] {
    const isReadThrough = messages.length < most
    if (isReadThrough && count === messages.length) return []
    const dueAt = count === 0 ? after(clock(), TOO_LONG_MS) : clock()
    const last = messages.at(-1)!
    const from = messages[count]?.seq ?? last.seq + 1
    const to = isReadThrough ? last.seq : lease.nextSeq - 1
    const { attempts, gatewayId } = last
    const places = from > to ? [] : [from, to]
    return places.map(seq => ({ seq, attempts, dueAt, ...(gatewayId ? { gatewayId } : {}) }))
  }

  async function renew() {
    if (hands.size === 0) return
    const asked = performance.now()
    const mine = [...hands] // who comes while we ask is not in the answer
    const ours = await renewLeases(
      sql,
      worker,
      mine.map(([token]) => token),
    )
    for (const [token, hand] of mine) {
      if (ours.has(token)) hand.until = asked + LEASE_SECONDS * 1000
      else hand.held = true
    }
  }

  /** Stops, suspensions and disabled companies act within a second; so does the blacklist at a slow gateway. */
  async function hold() {
    if (hands.size === 0) return
    const held = await heldLanes(
      sql,
      [...hands.values()].map(({ lease }) => lease),
    )
    const ids = new Set(held.map(({ companyId, laneId }) => `${companyId}/${laneId}`))
    for (const hand of hands.values()) if (ids.has(`${hand.lease.companyId}/${hand.lease.laneId}`)) hand.held = true
    for (const { slice } of [...hands.values()])
      if (slice && performance.now() > slice.since + LONG_SLICE_MS) await slice.lookAgain()
  }

  function wakeUp() {
    wake.resolve()
    wake = Promise.withResolvers()
  }

  const loops = [
    repeat('lanes', 0, log, turn),
    repeat('codes', 0, log, turnOfCodes),
    repeat('leases', RENEW_EVERY_MS, log, renew),
    repeat('holds', HOLD_EVERY_MS, log, hold),
  ]

  return {
    wake: wakeUp,
    async stop() {
      stopping = true
      wakeUp()
      await Promise.all([loops[0]!.stop(), loops[1]!.stop()])
      await Promise.all(running)
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

/** When a lane may go: at once if its name is gone or its time is over: its messages are then refused one by one. */
function openingOf(lane: RunnableLane, now: Date): Date {
  if (isGone(lane.senderStatus) || isOver(lane, now)) return now
  if (lane.senderStatus !== 'APPROVED') return after(now, LOOK_AGAIN_MS)
  const window = windowOf(lane)
  if (!window) return now
  return nextOpening(window, now) ?? lane.endAt ?? after(now, NEVER_MS)
}

/** A tenth of a second's worth: drawn part by part, every message would have a chunk of its own. */
const worthwhile = (wishes: Wish[]) =>
  Math.max(1, Math.floor(Math.min(...wishes.map(({ perSecond }) => perSecond)) / 10))

/** What a gateway takes within about a second, as its last chunk showed; of one that had none, as much as it takes at once. */
function aSecondOf(gateway: LiveGateway | undefined, most: number): number {
  if (!gateway) return most
  return Math.max(1, Math.min(most, Math.max(gateway.channel.window, Math.ceil(gateway.partsPerSecond ?? 0))))
}

/** A gateway that may have taken something of a message is asked again, and no other as long as it is there. */
const mayTake = ({ gateway }: LiveGateway, lane: RunnableLane) =>
  !lane.gatewayId || lane.gatewayId === gateway.gatewayId

const isGone = (senderStatus: string) => ['CLOSED', 'DENIED'].includes(senderStatus)

const after = (now: Date, ms: number) => new Date(now.getTime() + ms)

const timeout = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

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
