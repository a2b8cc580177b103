import { setTimeout as pause } from 'node:timers/promises'
import { closesAt } from '../../base/time/sending-window.ts'
import { byCompany } from '../../db/by-company.ts'
import {
  isShared,
  LEASE_SECONDS,
  type Lease,
  type RunnableLane,
  runsOf,
  type UnsentMessage,
  windowOf,
} from '../../domain/lanes/lane.ts'
import { blockedLanes, renewLeases } from '../../domain/lanes/lanes.ts'
import { closeLease, closeSentLeases, type LeaseWithMessages } from '../../domain/leases/leases.ts'
import type { QueuedMessage } from '../../domain/messages/message.ts'
import { queuedMessages } from '../../domain/messages/messages.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import type { Allowance, Allowances } from './allowances.ts'
import { batchByCompany } from './company-batcher.ts'
import { unwantedAmong } from './refusals.ts'
import { type ChunkInProgress, sendMessages } from './sender.ts'
import { type Attempt, type SenderContext, unsentMessageOf } from './work.ts'

export type ActiveChunksContext = SenderContext & {
  billingZone: string
  worker: string
  allowances: Pick<Allowances, 'draw' | 'giveBack' | 'fittingCount'>
  gateways: Pick<Gateways, 'carriersOf'>
  /** How long stops and the blacklist that were read with a lease count. Tests set it. */
  freshMs?: number | undefined
  /** True once the engine stops: no further message is submitted. */
  isStopping(): boolean
  /** Called when a gateway may have a free place for another chunk. */
  wakeUp(): void
  /** Called when messages of a chunk returned to their lane. */
  onReturned(): void
}

/** Most messages of a chunk. */
export const CHUNK = 1000
/** Most messages submitted between two checks of the blacklist, stop requests and expiry. */
const SLICE = 500
/** Stops and the blacklist, if read with the lease, count for so long. Limits may make a chunk wait longer. */
const FRESH_MS = 250
/** During a slice that takes longer than this, the checks are repeated. */
const LONG_SLICE_MS = 500
/** The worker stops submitting this long before another worker may take its lease. */
export const SAFETY_MS = 2000
/** The renewal of leases waits so long for an answer. Two renewals fit into the time until a lease is no longer safe. */
const ANSWER_MS = 1000
const LATE_AT_ONCE = 2
/** Pause before a message is tried again that is longer than its limits allow at present. */
const TOO_LONG_MS = 200
/** Pause before a message is tried again when no other gateway carries its sender name and that gateway is away. */
const CARRIER_AWAY_MS = 1000

/** The gateway of a chunk and how much of the chunk may be sent. Without a gateway the messages are only refused. */
export type Route = { gateway: LiveGateway | undefined; allowance: Allowance; mostMessages: number }

type ActiveChunk = ChunkInProgress & {
  lease: Lease
  /** On the clock of `performance.now()`. */
  leasedUntil: number
  /** The lane was stopped or suspended, or the lease belongs to another worker now. */
  isBlocked: boolean
}

/** The chunks that this process is sending. A chunk is sent as long as its lease is ours and its lane is not blocked. */
export class ActiveChunks {
  readonly #context: ActiveChunksContext
  /** By the token of the lease. */
  readonly #chunks = new Map<string, ActiveChunk>()
  /** Companies whose renewal waits for an answer. */
  readonly #renewing = new Set<number>()
  readonly #closeSent: (lease: Lease) => Promise<void>

  constructor(context: ActiveChunksContext) {
    this.#context = context
    const { sql, clock } = context
    this.#closeSent = batchByCompany(async (companyId, leases) => {
      await closeSentLeases(sql, companyId, leases, clock())
      return leases.map(() => undefined)
    })
  }

  /** Sends a leased chunk and returns to the lane what could not be sent. `askedAt`: when the lease was requested. */
  async send(
    lane: RunnableLane,
    { queued, ...lease }: LeaseWithMessages,
    route: Route,
    askedAt: number,
  ): Promise<void> {
    const chunk = this.#chunkOf(lane, lease, route.gateway, askedAt)
    const release = this.#occupy(route, chunk)
    this.#chunks.set(lease.token, chunk)
    try {
      const { messages, left } = await this.#messagesToSend(lane, lease, route, queued)
      const { freshMs = FRESH_MS } = this.#context
      if (queued && performance.now() < askedAt + freshMs) chunk.unwanted = unwantedAmong(queued)
      const sent = await this.#sendMeasured(lane, messages, route.gateway, chunk)
      await release() // the gateway can take the next chunk while this one is recorded
      await sent.recorded
      await this.#closeLease(lease, [...sent.left, ...left])
    } finally {
      this.#chunks.delete(lease.token)
      await release()
    }
  }

  /**
   * The lease counts from the moment it was requested, not from the answer: the process may have been frozen in between.
   * `mayContinue` is checked before every message, so that a stop, a pause or the end of the sending hours takes effect
   * inside a chunk.
   */
  #chunkOf(lane: RunnableLane, lease: Lease, gateway: LiveGateway | undefined, askedAt: number): ActiveChunk {
    const { clock, isStopping } = this.#context
    const window = windowOf(lane)
    const closing = window ? closesAt(window, clock()) : undefined
    const chunk: ActiveChunk = {
      lease,
      leasedUntil: askedAt + LEASE_SECONDS * 1000,
      isBlocked: false,
      submittedParts: 0,
      sliceSize: messagesPerSecond(gateway, SLICE),
      mayContinue: () =>
        !isStopping() &&
        !chunk.isBlocked &&
        !isLate(chunk) &&
        (!gateway || (!gateway.gateway.paused && (!closing || clock() < closing))),
    }
    return chunk
  }

  /** Counts the chunk against its gateway. The function that it returns ends that, once, and returns unused parts. */
  #occupy({ gateway, allowance }: Route, chunk: ActiveChunk): () => Promise<void> {
    let isReleased = false
    const places = placesOf(chunk.lease, gateway)
    if (gateway) gateway.busy += places
    return async () => {
      if (isReleased) return
      isReleased = true
      if (gateway) gateway.busy -= places
      this.#context.wakeUp()
      await this.#context.allowances.giveBack(allowance, allowance.parts - chunk.submittedParts)
    }
  }

  /** The messages of the chunk that may be sent now through this gateway, and the places of all others. */
  async #messagesToSend(lane: RunnableLane, lease: Lease, route: Route, queued: QueuedMessage[] | undefined) {
    const { gateway, allowance, mostMessages } = route
    const range = { ...lease, most: mostMessages }
    const read = attemptsOf(lane, lease, queued ?? (await queuedMessages(this.#context.sql, range, lane)))
    const { messages, elsewhere } = this.#byRoute(lane, read, gateway)
    const count = await this.#context.allowances.fittingCount(messages, allowance)
    const left =
      elsewhere.length === 0
        ? this.#leftBehind(lease, messages, count, mostMessages)
        : [
            ...elsewhere,
            ...this.#leftNow(messages.slice(count)),
            ...this.#leftBehind(lease, read, read.length, mostMessages),
          ]
    return { messages: messages.slice(0, count), left }
  }

  /**
   * In a shared lane every message has its own sender name. A gateway may have begun to carry such a name after the
   * message was accepted. The message then waits for that gateway, because no other gateway may send it.
   */
  #byRoute(lane: RunnableLane, read: Attempt[], gateway: LiveGateway | undefined) {
    if (!isShared(lane)) return { messages: read, elsewhere: [] }
    const { clock, gateways } = this.#context
    const messages: Attempt[] = []
    const elsewhere: UnsentMessage[] = []
    // A lane with a leaseId holds messages that already waited once: their gateway is paused or gone.
    const dueAt = lane.leaseId ? new Date(clock().getTime() + CARRIER_AWAY_MS) : clock()
    for (const message of read) {
      const carriers = gateways.carriersOf(lane.channelType, lane.brandId, message.senderName ?? '')
      const isOurs = carriers.size === 0 || (gateway && carriers.has(gateway.gateway.gatewayId))
      if (isOurs) messages.push(message)
      else elsewhere.push(unsentMessageOf({ ...message, gatewayId: [...carriers][0] }, dueAt))
    }
    return { messages, elsewhere }
  }

  #leftNow(messages: Attempt[]): UnsentMessage[] {
    return messages.map(message => unsentMessageOf(message, this.#context.clock()))
  }

  /**
   * The places from the first message that may not be sent to the end of the lease, as the first and the last place of
   * that range. It includes the places behind the messages that were read.
   */
  #leftBehind(lease: Lease, messages: Attempt[], count: number, most: number): UnsentMessage[] {
    const areAllRead = messages.length < most
    const last = messages.at(-1)
    if (!last || (areAllRead && count === messages.length)) return []
    const { clock } = this.#context
    const dueAt = count === 0 ? new Date(clock().getTime() + TOO_LONG_MS) : clock()
    const from = messages[count]?.seq ?? last.seq + 1
    const to = areAllRead ? last.seq : lease.nextSeq - 1
    return from > to ? [] : [from, to].map(seq => unsentMessageOf({ ...last, seq }, dueAt))
  }

  /** Measures how fast the gateway took the chunk: the size of the next chunk depends on it. */
  async #sendMeasured(lane: RunnableLane, messages: Attempt[], gateway: LiveGateway | undefined, chunk: ActiveChunk) {
    const begunAt = performance.now()
    const sent = await sendMessages(this.#context, lane, messages, gateway, chunk)
    const seconds = Math.max(1, performance.now() - begunAt) / 1000
    if (gateway) gateway.partsPerSecond = chunk.submittedParts / seconds
    return sent
  }

  async #closeLease(lease: Lease, left: UnsentMessage[]) {
    if (left.length === 0) return this.#closeSent(lease)
    const { sql, billingZone, clock } = this.#context
    await closeLease(sql, lease, runsOf(left), { billingZone, now: clock() })
    this.#context.onReturned()
  }

  /**
   * Renews the leases of all chunks. A chunk whose lease another worker has taken is not sent any further. A company that
   * does not answer, because its node hangs or its rows are locked, must not delay the others: their leases would run
   * out. So this function does not wait for it.
   */
  async renew(): Promise<void> {
    const renewing = this.#renewAll([...this.#chunks.values()].filter(chunk => !isLate(chunk)))
    await Promise.race([renewing, pause(ANSWER_MS, undefined, { ref: false })])
  }

  /** Renews the leases of companies that did not answer in time, with few connections. */
  async renewLate(): Promise<void> {
    await this.#renewAll([...this.#chunks.values()].filter(isLate), LATE_AT_ONCE)
  }

  async #renewAll(chunks: ActiveChunk[], atOnce?: number) {
    const leases = chunks.map(({ lease }) => lease)
    await byCompany(leases, (companyId, own) => this.#renewOf(companyId, own), atOnce)
  }

  async #renewOf(companyId: number, leases: Lease[]): Promise<[]> {
    if (this.#renewing.has(companyId)) return []
    this.#renewing.add(companyId)
    try {
      const askedAt = performance.now()
      const renewed = await renewLeases(this.#context.sql, companyId, leases, this.#context.worker)
      for (const { token } of leases) this.#noteRenewal(token, renewed.has(token), askedAt)
    } finally {
      this.#renewing.delete(companyId)
    }
    return []
  }

  #noteRenewal(token: string, isOurs: boolean, askedAt: number) {
    const chunk = this.#chunks.get(token)
    if (!chunk) return // it ended meanwhile
    if (isOurs) chunk.leasedUntil = askedAt + LEASE_SECONDS * 1000
    else chunk.isBlocked = true
  }

  /**
   * Blocks chunks whose dispatch was stopped, whose sender name was suspended or whose company was disabled, within a
   * second. At a slow gateway the blacklist and stop requests are read again, too.
   */
  async block(): Promise<void> {
    if (this.#chunks.size === 0) return
    const leases = [...this.#chunks.values()].map(({ lease }) => lease)
    const blocked = new Set((await blockedLanes(this.#context.sql, leases)).map(keyOf))
    for (const chunk of this.#chunks.values()) if (blocked.has(keyOf(chunk.lease))) chunk.isBlocked = true
    const slow = [...this.#chunks.values()].flatMap(({ slice }) => slice ?? []).filter(isSlow)
    await Promise.all(slow.map(slice => slice.checkAgain())) // chunks of one company share a check
  }
}

const isLate = ({ leasedUntil }: ActiveChunk) => performance.now() >= leasedUntil - SAFETY_MS

const isSlow = ({ startedAt }: { startedAt: number }) => performance.now() > startedAt + LONG_SLICE_MS

function attemptsOf(lane: RunnableLane, { attempts }: Lease, queued: QueuedMessage[]): Attempt[] {
  const before = { attempts, ...(lane.gatewayId ? { gatewayId: lane.gatewayId } : {}) }
  return queued.map(message => Object.assign(message, before))
}

const keyOf = ({ companyId, laneId }: { companyId: number; laneId: number }) => `${companyId}/${laneId}`

/** The smallest part of a place, so that a gateway never has hundreds of chunks. A sum of such parts is exact. */
const LEAST_PART = 1 / 32

/** Places of a gateway that a chunk takes: a small chunk takes a part of one, so that many small chunks go together. */
function placesOf({ firstSeq, nextSeq }: Lease, gateway: LiveGateway | undefined): number {
  const share = (nextSeq - firstSeq) / messagesPerSecond(gateway, CHUNK)
  return Math.min(1, Math.ceil(share / LEAST_PART) * LEAST_PART)
}

/** What a gateway takes within about a second, measured at its last chunk; before the first chunk, its window. */
export function messagesPerSecond(gateway: LiveGateway | undefined, most: number): number {
  if (!gateway) return most
  return Math.max(1, Math.min(most, Math.max(gateway.channel.window, Math.ceil(gateway.partsPerSecond ?? 0))))
}
