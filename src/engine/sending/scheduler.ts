import type { Logger } from 'pino'
import type { ChannelType } from '../../base/channel-types.ts'
import { nextOpening } from '../../base/sending-window.ts'
import type { Pool } from '../../db/sql.ts'
import { CODES, isOver, isShared, type Lease, type RunnableLane, windowOf } from '../../domain/lanes/lane.ts'
import { companiesWithLeases, postponeLane, takeChunk, takeOver } from '../../domain/lanes/lanes.ts'
import type { CodeBox } from '../../domain/verifications/code-box.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import { type Loop, repeat } from '../loop.ts'
import type { Recorder } from '../recording/recorder.ts'
import { aSecondOf, createHands, type WayOut } from './active-chunks.ts'
import { type Allowance, createAllowances, type UsedUp } from './allowances.ts'
import { LaneQueue } from './lane-queue.ts'
import { CompanyTurns, createTurns, type Turns } from './turns.ts'

export type SchedulerContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  billingZone: string
  recorder: Recorder
  gateways: Gateways
  worker: string
  /** Opens the texts of verification codes. */
  codes?: CodeBox | undefined
  /** How long an engine without work waits until it looks by itself. */
  idleMs?: number
}

/** The most that is taken of a lane at once. */
const CHUNK = 1000
/** Of the priorities behind codes nobody is left out: TRANSACT, SERVICE, PROMO. */
const WEIGHTS = [8, 4, 1]
const IDLE_MS = 100
/** Chunks under way at once for one gateway; codes, which come one by one, may have more beside them. */
const CHUNKS_PER_GATEWAY = 3
const MORE_FOR_CODES = 8
const RENEW_EVERY_MS = 2000
const HOLD_EVERY_MS = 300
/** A turn with work in it ends after this: who came meanwhile is in the next one. */
const TURN_MS = 200
/** How soon to look again at a lane whose gateways are down or whose name is not approved. */
const LOOK_AGAIN_MS = 1000
const BUSY_MS = 100
const NEVER_MS = 24 * 3600_000

/** How many messages of a lane may go; `busy` when its gateways have no free place now. */
type Started = number | 'busy'

/** What was found out in one turn of the scheduler. */
type Found = {
  /** Limits that have nothing left. */
  usedUp(): UsedUp
  /** Whether a gateway can take one more chunk of this priority. */
  hasPlace(gateway: LiveGateway, priority: number): boolean
}

/**
 * Finds lanes with work and brings their chunks out, as many at once as the gateways take. Nothing is remembered that
 * the database does not know: another engine beside this one finds the same lanes and takes other chunks.
 */
export function startScheduler(context: SchedulerContext): Pick<Loop, 'stop'> & { wake(): void } {
  const { sql, clock, log, gateways, worker } = context
  const allowances = createAllowances(context)
  const hands = createHands({ ...context, allowances, isStopping: () => stopping, wakeUp })
  const running = new Set<Promise<void>>()
  const turnsOfKinds = createTurns(WEIGHTS)
  const turnsOfCodes = createTurns([1])
  const companyTurns = [CODES, 1, 2, 3].map(() => new CompanyTurns())
  const lastUsed = new WeakMap<LiveGateway, number>()
  const bell = new Bell()
  const bellOfCodes = new Bell()
  let stopping = false
  /** A gateway had no place for a code: the next place that becomes free rings for codes too. */
  let isCodeWaiting = false

  /** Codes go as soon as they come, whatever else is being started. */
  async function turnOfCodes() {
    isCodeWaiting = false
    const hasPlace = (gateway: LiveGateway, priority: number) => {
      if (hasPlaceNow(gateway, priority)) return true
      isCodeWaiting = true
      return false
    }
    const found = { usedUp: () => new Map(), hasPlace }
    const { rung } = bellOfCodes // a ring that comes while we look is not missed
    const isDone = await serve([CODES], turnsOfCodes, found)
    if (isDone) await idle(rung)
  }

  /**
   * A gateway that was full for one lane counts as full until the turn ends. Otherwise a place that becomes free in the
   * middle of a turn would go to the lighter kind that asks next, and not to the heavier one that has just asked.
   */
  async function turnOfOthers() {
    const usedUp: UsedUp = new Map()
    const full = new Set<LiveGateway>()
    const hasPlace = (gateway: LiveGateway, priority: number) => {
      if (!hasPlaceNow(gateway, priority)) full.add(gateway)
      return !full.has(gateway)
    }
    const { rung } = bell
    const isDone = await serve([1, 2, 3], turnsOfKinds, { usedUp: () => usedUp, hasPlace })
    if (isDone) await idle(rung)
  }

  const idle = (rung: Promise<void>) => Promise.race([rung, timeout(context.idleMs ?? IDLE_MS)])

  /**
   * Serves the lanes of these priorities until there is none left, or for a while when there is much to do. True when
   * nothing was there that could go.
   */
  async function serve(priorities: number[], turns: Turns, found: Found): Promise<boolean> {
    const queues = await openQueues(priorities, found)
    let until = Number.POSITIVE_INFINITY
    let isAnyTaken = false
    while (!stopping && performance.now() < until) {
      const kind = turns.next(each => queues[each]!.hasMore())
      if (kind === undefined) break
      const lane = await queues[kind]!.next()
      const taken = lane ? await startLane(lane, found) : 'busy'
      if (!lane || taken === 'busy') continue
      until = Math.min(until, performance.now() + TURN_MS)
      queues[kind]!.served(lane, taken)
      if (taken === 0) continue
      isAnyTaken = true
      turns.served(kind, taken)
    }
    return !isAnyTaken && !queues.some(queue => queue.hasMore())
  }

  async function openQueues(priorities: number[], found: Found): Promise<LaneQueue[]> {
    const now = clock()
    const withLeases = companiesWithLeases(sql, now)
    const queues = priorities.map(priority => {
      const isFull = (channelType: ChannelType) => isChannelFull(channelType, priority, found)
      return LaneQueue.open({ sql, priority, now, withLeases, turns: companyTurns[priority]!, isFull })
    })
    return Promise.all(queues)
  }

  /** Takes a chunk of a lane if it may go now and something can take it. */
  async function startLane(lane: RunnableLane, found: Found): Promise<Started> {
    const now = clock()
    const opening = openingOf(lane, now)
    if (opening > now) return stepAside(lane, opening)
    const free = isGone(lane.senderStatus) || isOver(lane, now) ? [undefined] : freeGateways(lane, found)
    if (free === 'busy') return 'busy'
    if (free === 'down') return stepAside(lane, after(now, LOOK_AGAIN_MS))
    const way = await findRoom(lane, free, found.usedUp())
    if (way.allowance.parts === 0 && lane.gatewayId) return 'busy' // the rest of the lane may go elsewhere
    if (way.allowance.parts === 0) return stepAside(lane, retryAtOf(lane, way.allowance))
    const asked = performance.now()
    const lease = await takeLease(lane, way)
    if (!lease) return 0
    if (way.gateway) lastUsed.set(way.gateway, performance.now())
    const work = hands
      .workOff(lane, lease, way, asked)
      .catch(err => log.error({ err, lane: lane.laneId }, 'chunk.failed'))
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
      if (!lease) await allowances.giveBack(way.allowance, way.allowance.parts)
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
  function freeGateways(lane: RunnableLane, found: Found): (LiveGateway | undefined)[] | 'busy' | 'down' {
    const { known, up, isElsewhere } = servingOf(lane)
    if (!known) return [undefined] // its messages are refused: there is no route
    if (up.length === 0) return isElsewhere ? 'busy' : 'down'
    const free = up.filter(one => mayTake(one, lane) && found.hasPlace(one, lane.priority))
    const lastUse = (one: LiveGateway) => lastUsed.get(one) ?? 0
    return free.length > 0 ? free.sort((a, b) => a.busy - b.busy || lastUse(a) - lastUse(b)) : 'busy'
  }

  /** Messages of a shared lane that were put aside for one gateway go there, whatever names it carries. */
  function servingOf(lane: RunnableLane) {
    const name = isShared(lane) && lane.gatewayId ? undefined : lane.senderName
    return gateways.serving(lane.channelType, lane.brandId, name)
  }

  function hasPlaceNow({ busy }: LiveGateway, priority: number): boolean {
    return busy < CHUNKS_PER_GATEWAY + (priority === CODES ? MORE_FOR_CODES : 0)
  }

  /** Not so when a gateway of the channel is missing or down: then its lanes are to step aside, or to be refused. */
  function isChannelFull(channelType: ChannelType, priority: number, found: Found): boolean {
    const { up, all } = gateways.ofChannel(channelType)
    return all > 0 && up.length === all && up.every(one => !found.hasPlace(one, priority))
  }

  /** Until its limits have room again; but another gateway that is only busy now may have it much earlier. */
  function retryAtOf(lane: RunnableLane, { retryAt }: Allowance): Date {
    const { up } = servingOf(lane)
    const soon = after(clock(), BUSY_MS)
    return up.some(one => !hasPlaceNow(one, lane.priority)) && soon < retryAt ? soon : retryAt
  }

  /** The first of these that has room under its limits; else how long until one of them has. */
  async function findRoom(lane: RunnableLane, free: (LiveGateway | undefined)[], usedUp: UsedUp): Promise<WayOut> {
    let soonest: WayOut | undefined
    for (const gateway of free) {
      const most = aSecondOf(gateway, CHUNK)
      const allowance = await allowances.draw(lane, gateway, most, usedUp)
      const way = { gateway, allowance, mostMessages: Math.min(most, allowance.parts) }
      if (way.allowance.parts > 0) return way
      if (!soonest || way.allowance.retryAt < soonest.allowance.retryAt) soonest = way
    }
    return soonest!
  }

  /** There may be room for another chunk. Codes seldom wait for room: their loop is left alone unless they do. */
  function wakeUp() {
    bell.ring()
    if (isCodeWaiting) bellOfCodes.ring()
  }

  /** There may be something new to send. */
  function wake() {
    bellOfCodes.ring()
    bell.ring()
  }

  const loops = [
    repeat('lanes', 0, log, turnOfOthers),
    repeat('codes', 0, log, turnOfCodes),
    repeat('leases', RENEW_EVERY_MS, log, hands.renew),
    repeat('holds', HOLD_EVERY_MS, log, hands.hold),
  ]

  return {
    wake,
    async stop() {
      stopping = true
      wake()
      await Promise.all([loops[0]!.stop(), loops[1]!.stop()])
      await Promise.all(running)
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

/** Wakes a loop that waits for work. */
class Bell {
  #ring = Promise.withResolvers<void>()

  /** Resolves with the next ring. */
  get rung(): Promise<void> {
    return this.#ring.promise
  }

  ring(): void {
    this.#ring.resolve()
    this.#ring = Promise.withResolvers()
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

/** A gateway that may have taken something of a message is asked again, and no other as long as it is there. */
const mayTake = ({ gateway }: LiveGateway, lane: RunnableLane) =>
  !lane.gatewayId || lane.gatewayId === gateway.gatewayId

const isGone = (senderStatus: string) => ['CLOSED', 'DENIED'].includes(senderStatus)

const after = (now: Date, ms: number) => new Date(now.getTime() + ms)

const timeout = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
