import type { Logger } from 'pino'
import type { ChannelType } from '../../base/channel-types.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Pool } from '../../db/sql.ts'
import type { Announcement } from '../../domain/lanes/announcements.ts'
import { CODES, type PagedLane } from '../../domain/lanes/lane.ts'
import type { CodeBox } from '../../domain/verifications/code-box.ts'
import type { CodesThread } from '../codes/codes-thread.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import { type Loop, repeat } from '../loop.ts'
import type { Recorder } from '../recording/recorder.ts'
import { ActiveChunks, CHUNK, messagesPerSecond } from './active-chunks.ts'
import { Allowances } from './allowances.ts'
import { ChunkStarter } from './chunk-starter.ts'
import { isSmall, LaneQueue } from './lane-queue.ts'
import { type Turn, TurnOfCodes, TurnOfOthers } from './turn.ts'
import { CompanyTurns, createTurns, LEAST_COST, type Turns } from './turns.ts'
import { WakeUp } from './wake-up.ts'
import { type FoundWork, searchAll, WorkSearch } from './work-search.ts'

export type SchedulerContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  billingZone: string
  recorder: Recorder
  gateways: Pick<Gateways, 'serving' | 'carriersOf' | 'ofChannel'>
  worker: string
  /** Decrypts the texts of verification codes. */
  codes?: CodeBox | undefined
  /** Pause of an engine without work before it reads the lanes again. */
  idleMs?: number
  /** How long stops and the blacklist that were read with a lease count. Tests set it. */
  freshMs?: number | undefined
  tracer?: Tracer | undefined
  /** The thread that sends the codes, once it is ready. */
  codesThread?: Pick<CodesThread, 'isServing' | 'start'> | undefined
  /** Of the codes thread: all other messages are sent by the main thread. */
  onlyCodes?: boolean
  /** A code waits for this limit: for so long, only codes may draw from it. */
  onWanted?: ((subject: string, forMs: number) => void) | undefined
}

/** Shares of the priorities behind verification codes: TRANSACT, SERVICE, PROMO. Each of them gets its share. */
export const WEIGHTS = [8, 4, 1]
const OTHERS = [1, 2, 3]
const IDLE_MS = 100
export const RENEW_EVERY_MS = 2000
const BLOCK_EVERY_MS = 300
/** A turn that found work ends after this time, so that lanes which became ready meanwhile join the next turn. */
const TURN_MS = 200
/** Least time from the beginning of a turn that started chunks to the next turn. */
const TURN_EVERY_MS = 25
/** A gateway with a limit takes so many chunks a second. */
const CHUNKS_PER_SECOND = 10
/** Other work of the process goes on after so many lanes that could not send. */
const SETTLE_EVERY = 50
/** Most small lanes that are started together. */
const TOGETHER = 50

/**
 * Finds lanes with messages to send and starts chunks of them, as many at once as the gateways take. All its state is in
 * the database: another engine reads the same lanes and takes other chunks. It runs from its construction until `stop`.
 */
export class Scheduler {
  readonly #context: SchedulerContext
  readonly #allowances: Allowances
  readonly #starter: ChunkStarter
  readonly #sharesOfOthers = createTurns(WEIGHTS)
  readonly #sharesOfCodes = createTurns([1])
  /** By priority. */
  readonly #companyTurns = new Map([CODES, ...OTHERS].map(priority => [priority, new CompanyTurns()]))
  readonly #searchOfOthers: WorkSearch
  readonly #searchOfCodes: WorkSearch
  readonly #wakeUp = new WakeUp()
  readonly #wakeUpOfCodes = new WakeUp()
  readonly #sending: Loop[]
  readonly #leases: Loop[]
  #isStopping = false
  /** The turns that are under way, or were the last. */
  #codes: TurnOfCodes
  #others: TurnOfOthers
  /** When the last turn began that started chunks, codes excluded. */
  #lastTurnAt = Number.NEGATIVE_INFINITY

  constructor(context: SchedulerContext) {
    this.#context = context
    const { sql, log, gateways, onlyCodes = false } = context
    this.#codes = new TurnOfCodes(gateways)
    this.#others = new TurnOfOthers(gateways)
    this.#searchOfOthers = new WorkSearch(now => searchAll(sql, OTHERS, now))
    this.#searchOfCodes = new WorkSearch(now => searchAll(sql, [CODES], now))
    this.#allowances = new Allowances(context)
    const allowances = this.#allowances
    const onRoom = () => this.#wakeUpForRoom()
    const chunks = new ActiveChunks({
      ...context,
      allowances,
      isStopping: () => this.#isStopping,
      wakeUp: onRoom,
      onReturned: () => this.wake(),
    })
    this.#starter = new ChunkStarter({
      ...context,
      allowances,
      chunks,
      onRoom,
      onRested: () => this.#wakeUp.now(),
    })
    this.#sending = [
      ...(onlyCodes ? [] : [repeat('lanes', 0, log, () => this.#turnOfOthers())]),
      repeat('codes', 0, log, () => this.#turnOfCodes()),
    ]
    this.#leases = [
      repeat('leases', RENEW_EVERY_MS, log, () => chunks.renew()),
      repeat('late leases', RENEW_EVERY_MS, log, () => chunks.renewLate()),
      repeat('blocked', BLOCK_EVERY_MS, log, () => chunks.block()),
    ]
  }

  /** Reads the lanes at once: there are new messages in a queue, or anywhere. */
  wake(announcement?: Announcement): void {
    const isServed = this.#context.codesThread?.isServing ?? false
    if (!announcement || (announcement.priority === CODES && !isServed)) {
      this.#searchOfCodes.announce(announcement)
      this.#wakeUpOfCodes.now()
    }
    if (!announcement || announcement.priority !== CODES) {
      this.#searchOfOthers.announce(announcement)
      this.#wakeUp.now()
    }
  }

  /** A code in the codes thread waits for this limit: for so long, only codes may draw from it. */
  leaveToCodes(subject: string, forMs: number): void {
    this.#allowances.leaveToCodes(subject, forMs)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await Promise.all(this.#sending.map(loop => loop.stop()))
    await this.#starter.finished()
    await Promise.all(this.#leases.map(loop => loop.stop())) // leases are renewed until the last chunk is finished
  }

  /** Codes have a loop of their own, so that they never wait until other chunks are started. */
  async #turnOfCodes() {
    const { codesThread, gateways } = this.#context
    const { next } = this.#wakeUpOfCodes // taken before the lanes are read: a wake-up during the turn counts
    if (codesThread?.isServing) return this.#idle(next, this.#searchOfCodes)
    this.#codes = new TurnOfCodes(gateways)
    const isIdle = await this.#serve([CODES], this.#searchOfCodes, this.#sharesOfCodes, this.#codes)
    if (isIdle) await this.#idle(next, this.#searchOfCodes)
    else codesThread?.start()
  }

  async #turnOfOthers() {
    await this.#untilNextTurn()
    this.#others = new TurnOfOthers(this.#context.gateways)
    const { next } = this.#wakeUp
    const begunAt = performance.now()
    const isIdle = await this.#serve(OTHERS, this.#searchOfOthers, this.#sharesOfOthers, this.#others)
    if (isIdle) await this.#idle(next, this.#searchOfOthers)
    else this.#lastTurnAt = begunAt
  }

  /** Messages that arrive shortly after a turn wait for a moment and are sent together. A lone message does not wait. */
  async #untilNextTurn() {
    const waitMs = this.#lastTurnAt + TURN_EVERY_MS - performance.now()
    if (waitMs > 0) await timeout(waitMs)
  }

  async #idle(wakeUp: Promise<void>, search: WorkSearch) {
    if (this.#isStopping) return // the wake-up of the stop may have come before this turn
    await Promise.race([wakeUp, timeout(Math.max(this.#context.idleMs ?? IDLE_MS, search.pauseMs))])
  }

  /**
   * Starts chunks of the lanes of these priorities until no lane is left, or until the turn is over. Returns true when
   * no lane had messages that can be sent now.
   */
  async #serve(priorities: number[], search: WorkSearch, shares: Turns, turn: Turn): Promise<boolean> {
    const now = this.#context.clock()
    const queues = this.#openQueues(priorities, await search.find(now), now, turn)
    let endsAt = Number.POSITIVE_INFINITY
    let isAnyStarted = false
    let attempts = 0
    while (!this.#isStopping && performance.now() < Math.min(endsAt, turn.endsAt)) {
      const kind = shares.next(each => queues[each]?.hasMore() ?? false)
      const queue = kind === undefined ? undefined : queues[kind]
      if (kind === undefined || !queue) break
      const lanes = await this.#nextLanes(queue)
      const started = await this.#starter.startAll(lanes, turn)
      const served: { lane: PagedLane; messages: number }[] = []
      for (const [i, lane] of lanes.entries()) {
        const messages = started[i]
        if (typeof messages !== 'number' && lane.priority !== CODES) queue.leaveOut(lane) // codes ask anew for each chunk
        if (messages !== 'busy') served.push({ lane, messages: typeof messages === 'number' ? messages : 0 })
      }
      const [first] = served
      if (!first) continue
      endsAt = Math.min(endsAt, performance.now() + TURN_MS)
      const messages = queue.served(first.lane.companyId, served, this.#leastCost(first.lane))
      if (messages === 0) {
        if (++attempts % SETTLE_EVERY === 0) await turn.settled()
        continue
      }
      isAnyStarted = true
      shares.served(kind, messages)
    }
    await turn.settled()
    for (const [i, queue] of queues.entries()) if (!queue.hasMore()) this.#turnsOf(priorities[i] ?? 0).forgetAttempts()
    return !isAnyStarted && !queues.some(queue => queue.hasMore())
  }

  /** The lane whose turn it is, or several small lanes of its company, which are started together. */
  async #nextLanes(queue: LaneQueue): Promise<PagedLane[]> {
    const lane = await queue.next()
    if (!lane) return []
    if (!isSmall(lane)) return [lane]
    const taken = new Map<LiveGateway, number>()
    this.#fits(lane, taken)
    return [lane, ...queue.takeSmall(lane.companyId, TOGETHER - 1, other => this.#fits(other, taken))]
  }

  /**
   * Whether the lane may join a group: a group has no more messages for a gateway than it takes within about a second,
   * because higher priorities would have to wait for more. The slowest gateway of the lane counts.
   */
  #fits({ channelType, brandId, senderName, waiting }: PagedLane, taken: Map<LiveGateway, number>): boolean {
    const { up } = this.#context.gateways.serving(channelType, brandId, senderName)
    const slowest = up.toSorted((a, b) => messagesPerSecond(a, CHUNK) - messagesPerSecond(b, CHUNK))[0]
    if (!slowest) return true
    const messages = (taken.get(slowest) ?? 0) + waiting
    if (taken.has(slowest) && messages > messagesPerSecond(slowest, CHUNK)) return false
    taken.set(slowest, messages)
    return true
  }

  /**
   * The least that a chunk of the lane counts. A limited gateway is scarcer than the time of the engine: its chunks are
   * small, and they count by their messages.
   */
  #leastCost({ channelType, brandId, senderName }: PagedLane): number {
    const { up } = this.#context.gateways.serving(channelType, brandId, senderName)
    const rates = up.map(({ gateway }) => gateway.partsPerSecond ?? Number.POSITIVE_INFINITY)
    return Math.min(LEAST_COST, Math.max(1, ...rates) / CHUNKS_PER_SECOND)
  }

  #openQueues(priorities: number[], found: FoundWork, now: Date, turn: Turn): LaneQueue[] {
    const { sql } = this.#context
    return priorities.map(priority => {
      const queues = found.queues.get(priority) ?? []
      const isFull = (channelType: ChannelType) => turn.isFull(channelType, priority)
      return new LaneQueue({ sql, priority, now, turns: this.#turnsOf(priority), isFull }, queues, found.withLeases)
    })
  }

  #turnsOf(priority: number): CompanyTurns {
    const turns = this.#companyTurns.get(priority)
    if (!turns) throw new Error(`There is no priority ${priority}`)
    return turns
  }

  /** A loop is woken up only when some of its messages wait for a place. */
  #wakeUpForRoom() {
    if (this.#others.isWaiting) this.#wakeUp.now()
    if (this.#codes.isWaiting) this.#wakeUpOfCodes.now()
  }
}

const timeout = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
