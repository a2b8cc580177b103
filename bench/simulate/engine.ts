import { LEASE_SECONDS } from '../../src/domain/lanes/lane.ts'
import { CHUNK, SAFETY_MS } from '../../src/engine/sending/active-chunks.ts'
import { RENEW_EVERY_MS, WEIGHTS } from '../../src/engine/sending/scheduler.ts'
import { CompanyTurns, createTurns } from '../../src/engine/sending/turns.ts'
import type { Cost } from './costs.ts'
import type { Events } from './events.ts'
import { Heap } from './heap.ts'
import type { Shard } from './shard.ts'

/** A company with one lane. */
export type Company = {
  id: number
  shard: Shard
  /** The place of its priority in WEIGHTS. */
  priority: number
  waiting: number
  recorded: number
  /** When its first chunk was recorded. */
  firstAt: number | undefined
  /** Chunks of dead engines whose leases have expired. They are taken before other messages. */
  returned: Chunk[]
}

/** The messages of one lease. */
export type Chunk = { company: Company; messages: number; takenAt: number; lostAt: number | undefined }

export type EngineContext = {
  events: Events
  cost: Pick<Cost, 'engine' | 'database'>
  /** Chunks at once. */
  places: number
  /** From the submission of a chunk to the last answer of the operator. */
  answerSeconds: number
  /** The lease of a chunk of a dead engine is over. */
  onExpired(chunk: Chunk): void
  onTaken(chunk: Chunk): void
  onRecorded(chunk: Chunk): void
}

const SECOND_MS = 1000

/**
 * An engine: it takes chunks by the rules of the scheduler (`createTurns` between priorities, `CompanyTurns` between companies), spends
 * its processor time on them one after another, and records them in the company's shard.
 */
export class Engine {
  readonly #context: EngineContext
  readonly #shares = createTurns(WEIGHTS)
  readonly #turns = WEIGHTS.map(() => new CompanyTurns())
  /** By priority: companies with work, by their place in the turns. */
  readonly #queues = WEIGHTS.map(() => new Heap<Company>())
  readonly #queued = new Set<Company>()
  readonly #chunks = new Set<Chunk>()
  #busyUntil = 0
  #isLooking = false
  #isAlive = true

  constructor(context: EngineContext) {
    this.#context = context
  }

  get chunks(): number {
    return this.#chunks.size
  }

  /** The company has messages that no engine has a lease on. */
  offer(company: Company) {
    if (!this.#isAlive || this.#queued.has(company)) return
    this.#enqueue(company)
    this.#lookSoon()
  }

  /**
   * Ends the engine. After a kill its leases are over when they are not renewed any more. An engine that is drained finishes its
   * chunks and takes no others.
   */
  stop({ isKilled }: { isKilled: boolean }) {
    this.#isAlive = false
    if (!isKilled) return
    const { events, onExpired } = this.#context
    const lostAt = events.now
    for (const chunk of this.#chunks) {
      const renewals = Math.floor((lostAt - chunk.takenAt) / (RENEW_EVERY_MS / SECOND_MS))
      const lastRenewal = chunk.takenAt + renewals * (RENEW_EVERY_MS / SECOND_MS)
      chunk.lostAt = lostAt
      events.at(lastRenewal + LEASE_SECONDS, () => onExpired(chunk))
    }
    this.#chunks.clear()
  }

  #enqueue(company: Company) {
    this.#queued.add(company)
    this.#queues[company.priority]!.add(this.#placeOf(company), company)
  }

  /** At the same time, but after all that happens at this time: companies that accept messages together are seen together. */
  #lookSoon() {
    if (this.#isLooking || this.#chunks.size >= this.#context.places) return
    this.#isLooking = true
    this.#context.events.after(0, () => {
      this.#isLooking = false
      this.#takeChunks()
    })
  }

  #placeOf = ({ id, priority }: Company) => this.#turns[priority]!.placeOf(id)

  #takeChunks() {
    while (this.#isAlive && this.#chunks.size < this.#context.places) {
      const company = this.#nextCompany()
      if (!company) return
      this.#send(this.#takeChunk(company))
      if (hasWork(company)) this.#enqueue(company)
    }
  }

  /** The priority whose turn it is, and in it the company that was served least. */
  #nextCompany(): Company | undefined {
    for (;;) {
      const kind = this.#shares.next(priority => this.#queues[priority]!.firstKey !== undefined)
      if (kind === undefined) return undefined
      const queue = this.#queues[kind]!
      const key = queue.firstKey!
      const company = queue.take()!
      const place = this.#placeOf(company)
      if (!hasWork(company) || !company.shard.isUp) {
        this.#queued.delete(company) // it is offered again when it has work, or when its shard is back
      } else if (place > key && place > (queue.firstKey ?? Number.POSITIVE_INFINITY)) {
        queue.add(place, company)
      } else {
        this.#queued.delete(company)
        return company
      }
    }
  }

  #takeChunk(company: Company): Chunk {
    const { events, onTaken } = this.#context
    const returned = company.returned.shift()
    const messages = returned?.messages ?? Math.min(company.waiting, CHUNK)
    if (!returned) company.waiting -= messages
    const chunk = { company, messages, takenAt: events.now, lostAt: undefined }
    if (returned) onTaken(returned)
    this.#turns[company.priority]!.served(company.id, messages)
    this.#shares.served(company.priority, messages)
    return chunk
  }

  #send(chunk: Chunk) {
    const { events, cost, answerSeconds, onRecorded } = this.#context
    this.#chunks.add(chunk)
    const secondsOf = (ms: number) => (chunk.messages * ms) / SECOND_MS
    this.#busyUntil = Math.max(this.#busyUntil, events.now) + secondsOf(cost.engine)
    const isLost = () => chunk.lostAt !== undefined
    events.at(this.#busyUntil + answerSeconds, () => {
      if (isLost()) return
      this.#freeInTime(chunk)
      chunk.company.shard.write(secondsOf(cost.database), () => {
        if (isLost()) return
        onRecorded(chunk)
        this.#free(chunk)
      })
    })
  }

  /** A chunk whose lease cannot be renewed is given up before its end, so that a lost shard does not keep the places of the others. */
  #freeInTime(chunk: Chunk) {
    if (chunk.company.shard.isUp) return
    this.#context.events.after(LEASE_SECONDS - SAFETY_MS / SECOND_MS, () => this.#free(chunk))
  }

  #free(chunk: Chunk) {
    if (this.#chunks.delete(chunk)) this.#takeChunks()
  }
}

export const hasWork = ({ waiting, returned }: Company): boolean => waiting > 0 || returned.length > 0
