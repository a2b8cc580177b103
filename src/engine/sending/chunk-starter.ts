import type { Logger } from 'pino'
import { nextOpening } from '../../base/time/sending-window.ts'
import type { Pool } from '../../db/sql.ts'
import { CODES, isOver, isShared, type Lease, type RunnableLane, windowOf } from '../../domain/lanes/lane.ts'
import { type PostponedLane, postponeLanes, takeChunks, takeOver, type WantedChunk } from '../../domain/lanes/lanes.ts'
import { type ChunkWithin, type LeaseWithMessages, takeWithMessages } from '../../domain/leases/leases.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import { type ActiveChunks, CHUNK, messagesPerSecond, type Route } from './active-chunks.ts'
import type { Allowance, Allowances } from './allowances.ts'
import { batchByCompany } from './company-batcher.ts'
import { isSmall } from './lane-queue.ts'
import { CHUNKS_PER_GATEWAY, isResting, type Turn } from './turn.ts'

export type ChunkStarterContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  gateways: Pick<Gateways, 'serving'>
  worker: string
  allowances: Pick<Allowances, 'draw' | 'giveBack' | 'fittingCount'>
  chunks: Pick<ActiveChunks, 'send'>
  /** Called when a chunk has ended, so that another chunk may have a free place. */
  onRoom(): void
  /** Called when a gateway has rested. */
  onRested(): void
}

type PostponeLane = (lane: PostponedLane & { companyId: number }) => Promise<undefined>

const postponing = (sql: Pool): PostponeLane =>
  batchByCompany(async (companyId, lanes) => {
    await postponeLanes(sql, companyId, lanes)
    return lanes.map(() => undefined)
  })

type TakeWithMessages = (chunk: ChunkWithin & { companyId: number }) => Promise<LeaseWithMessages | undefined>

/**
 * How many messages of a lane are being sent, or why it and the other lanes of its serving key cannot send now. `busy`:
 * their gateways have no free place. `waits`: another reason, and the lane is postponed if it may be.
 */
export type Started = number | 'busy' | 'waits'

/** Pause before a lane is read again whose gateways are down or whose sender name is not approved. */
const NOT_READY_MS = 1000
const BUSY_MS = 100
const NEVER_MS = 24 * 3600_000
/** A small lane may have grown since it was read: its chunk may have so many messages, or twice as many as were waiting. */
const LEAST_OF_SMALL = 8

/** Takes a chunk of a lane and has it sent, if the lane may send now and a gateway can take it. */
export class ChunkStarter {
  readonly #context: ChunkStarterContext
  readonly #running = new Set<Promise<void>>()
  /** Which of all uses was the last of a gateway. */
  readonly #lastUsed = new WeakMap<LiveGateway, number>()
  #uses = 0
  readonly #takeChunk: (chunk: WantedChunk & { companyId: number }) => Promise<Lease | undefined>
  readonly #takeWithMessages: TakeWithMessages
  readonly #takeCodes: TakeWithMessages
  readonly #postponeLane: PostponeLane

  constructor(context: ChunkStarterContext) {
    this.#context = context
    const { sql, worker } = context
    this.#takeChunk = batchByCompany((companyId, chunks) => takeChunks(sql, companyId, chunks, worker))
    this.#postponeLane = postponing(sql)
    const taking = (): TakeWithMessages =>
      batchByCompany((companyId, chunks) => takeWithMessages(sql, companyId, chunks, worker))
    this.#takeWithMessages = taking()
    this.#takeCodes = taking() // codes share no statement with other messages
  }

  /** Starts chunks of several lanes. Lanes of one company share the statement that takes their leases. */
  async startAll(lanes: RunnableLane[], turn: Turn): Promise<Started[]> {
    const planned: (Started | (() => Promise<number>))[] = []
    for (const lane of lanes) planned.push(await this.#plan(lane, turn))
    return Promise.all(planned.map(plan => (typeof plan === 'function' ? plan() : plan)))
  }

  /** Chooses the gateway of the next chunk of a lane. Returns the function that takes the chunk, or the reason why none is taken. */
  async #plan(lane: RunnableLane, turn: Turn): Promise<Started | (() => Promise<number>)> {
    const now = this.#context.clock()
    if (isUnapproved(lane, now)) return this.#waitForAll(lane, turn, now, after(now, NOT_READY_MS))
    const opening = openingOf(lane, now)
    if (opening > now) return this.#postpone(lane, turn, now, opening)
    const free = isEnded(lane, now) ? [undefined] : this.#freeGateways(lane, turn)
    if (free === 'busy') return this.#waitForPlace(lane, turn, now)
    if (free === 'down') return this.#waitForAll(lane, turn, now, after(now, NOT_READY_MS))
    const route = await this.#drawAllowance(lane, free, turn)
    if (route.allowance.parts === 0) return this.#waitForParts(lane, turn, now, route.allowance)
    if (route.gateway) this.#lastUsed.set(route.gateway, ++this.#uses) // the next lane of a group uses another gateway
    return () => this.#lease(lane, route)
  }

  /** Resolves when all chunks have been sent and recorded. */
  async finished(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #lease(lane: RunnableLane, route: Route): Promise<number> {
    const askedAt = performance.now()
    const lease = await this.#takeLease(lane, route)
    if (!lease) return 0
    this.#run(lane, lease, route, askedAt)
    return Math.min(lease.nextSeq - lease.firstSeq, route.mostMessages)
  }

  /** The moment a lease is taken. When another worker was faster or the database failed, the allowance is returned. */
  async #takeLease(lane: RunnableLane, route: Route): Promise<LeaseWithMessages | undefined> {
    const { sql, worker, allowances } = this.#context
    const { companyId } = lane
    const isWithMessages = isSmall(lane) || lane.dispatchId === null
    const takeOthers = isWithMessages ? this.#takeWithMessages : this.#takeChunk
    const take = lane.priority === CODES ? this.#takeCodes : takeOthers
    let lease: LeaseWithMessages | undefined
    try {
      lease = lane.leaseId
        ? await takeOver(sql, { companyId, leaseId: lane.leaseId }, worker)
        : await take({
            companyId,
            lane,
            size: isSmall(lane)
              ? Math.min(route.mostMessages, Math.max(2 * lane.waiting, LEAST_OF_SMALL))
              : route.mostMessages,
          })
    } finally {
      if (!lease) await allowances.giveBack(route.allowance, route.allowance.parts)
    }
    return lease
  }

  #run(lane: RunnableLane, lease: LeaseWithMessages, route: Route, askedAt: number) {
    const { chunks, log, onRoom } = this.#context
    const work = chunks
      .send(lane, lease, route, askedAt)
      .catch(err => log.error({ err, lane: lane.laneId }, 'chunk.failed'))
    this.#running.add(work)
    void work.finally(() => {
      this.#running.delete(work)
      onRoom()
    })
  }

  /**
   * Does not wait for the database, so that lanes tried in vain share a statement and hold up no others. A lane with
   * codes is not postponed for less than a second: lanes that drew meanwhile would get ahead of it.
   */
  #postpone({ companyId, laneId, priority }: RunnableLane, turn: Turn, now: Date, until: Date): 0 {
    const isShort = until.getTime() - now.getTime() < NOT_READY_MS
    if (priority === CODES && isShort) return 0
    turn.waitFor(this.#postponeLane({ companyId, laneId, until }))
    return 0
  }

  /** The limit of its dispatch holds up only this lane, and the other limits hold up all lanes of its serving key. */
  #waitForParts(lane: RunnableLane, turn: Turn, now: Date, allowance: Allowance): Started {
    if (lane.gatewayId) return 'busy' // the rest of the lane may use another gateway
    const isResting = allowance.restMs && lane.priority !== CODES && this.#freeGateways(lane, turn) === 'busy'
    if (isResting) return this.#waitForPlace(lane, turn, now)
    const until = this.#retryAt(lane, allowance)
    return lane.dispatchRate ? this.#postpone(lane, turn, now, until) : this.#waitForAll(lane, turn, now, until)
  }

  /** All lanes of its serving key wait for the same as this lane. */
  #waitForAll(lane: RunnableLane, turn: Turn, now: Date, until: Date): 'waits' {
    this.#postpone(lane, turn, now, until)
    return 'waits'
  }

  /**
   * A lane is postponed if all its gateways rest while others of its channel can send: then it must not stand before
   * their lanes. Otherwise its turn comes as soon as a gateway has a place.
   */
  #waitForPlace(lane: RunnableLane, turn: Turn, now: Date): 'busy' | 'waits' {
    const { up } = this.#servingOf(lane)
    const areAllResting = up.length > 0 && up.every(isResting)
    if (lane.priority === CODES || lane.gatewayId || !areAllResting) return 'busy'
    if (turn.isFull(lane.channelType, lane.priority)) return 'busy'
    const restMs = Math.min(...up.map(({ restsUntil = 0 }) => restsUntil)) - performance.now()
    return this.#waitForAll(lane, turn, now, after(now, Math.max(restMs, 1)))
  }

  /** The gateways with a free place: the least busy first, and among equals the gateway that was used longest ago. */
  #freeGateways(lane: RunnableLane, turn: Turn): (LiveGateway | undefined)[] | 'busy' | 'down' {
    const { known, up, isElsewhere } = this.#servingOf(lane)
    if (!known) return [undefined] // no gateway serves the lane: its messages are refused
    if (up.length === 0) return isElsewhere ? 'busy' : 'down'
    const free = up.filter(one => mayTake(one, lane) && turn.hasPlace(one, lane.priority))
    const lastUse = (one: LiveGateway) => this.#lastUsed.get(one) ?? 0
    return free.length > 0 ? free.sort((a, b) => a.busy - b.busy || lastUse(a) - lastUse(b)) : 'busy'
  }

  /** Messages of a shared lane that wait for one gateway are sent through it. The list of its sender names does not matter. */
  #servingOf(lane: RunnableLane) {
    const name = isShared(lane) && lane.gatewayId ? undefined : lane.senderName
    return this.#context.gateways.serving(lane.channelType, lane.brandId, name)
  }

  /** The first of the gateways whose limits have parts left; else the gateway whose limits are refilled first. */
  async #drawAllowance(lane: RunnableLane, free: (LiveGateway | undefined)[], turn: Turn): Promise<Route> {
    const routes: Route[] = []
    for (const gateway of free) {
      const most = messagesPerSecond(gateway, CHUNK)
      const allowance = await this.#context.allowances.draw(lane, gateway, most, turn.usedUp())
      if (gateway && allowance.restMs && lane.priority !== CODES) this.#rest(gateway, allowance.restMs, turn)
      const route = { gateway, allowance, mostMessages: Math.min(most, allowance.parts) }
      if (allowance.parts > 0) return route
      routes.push(route)
    }
    return routes.reduce((soonest, route) => (route.allowance.retryAt < soonest.allowance.retryAt ? route : soonest))
  }

  /**
   * All lanes of a gateway whose own limit is used up wait for the same time, except codes. Otherwise the lane that asks
   * first, or needs least, would draw every part.
   */
  #rest(gateway: LiveGateway, restMs: number, turn: Turn) {
    gateway.restsUntil = performance.now() + restMs
    turn.close(gateway)
    setTimeout(this.#context.onRested, restMs + 1).unref() // a timer may be a millisecond early
  }

  /** When the limits are refilled. Another gateway that is only busy now may have a place much earlier. */
  #retryAt(lane: RunnableLane, { retryAt }: Allowance): Date {
    const { up } = this.#servingOf(lane)
    const soon = after(this.#context.clock(), BUSY_MS)
    return up.some(({ busy }) => busy >= CHUNKS_PER_GATEWAY) && soon < retryAt ? soon : retryAt
  }
}

/** When a lane may send. A lane that has ended is started at once, so that its messages are refused one by one. */
function openingOf(lane: RunnableLane, now: Date): Date {
  if (isEnded(lane, now)) return now
  const window = windowOf(lane)
  if (!window) return now
  return nextOpening(window, now) ?? lane.endAt ?? after(now, NEVER_MS)
}

const isUnapproved = (lane: RunnableLane, now: Date) => lane.senderStatus !== 'APPROVED' && !isEnded(lane, now)

/** The sender name is closed or denied, or the time of the dispatch is over. */
const isEnded = (lane: RunnableLane, now: Date) => ['CLOSED', 'DENIED'].includes(lane.senderStatus) || isOver(lane, now)

/** A message that one gateway may have accepted in part is sent again through this gateway, as long as it exists. */
const mayTake = ({ gateway }: LiveGateway, lane: RunnableLane) =>
  !lane.gatewayId || lane.gatewayId === gateway.gatewayId

const after = (now: Date, ms: number) => new Date(now.getTime() + ms)
