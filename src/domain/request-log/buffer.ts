import { isRefused, type LoggedRequest, type Owner } from './request.ts'

/** How many requests of an owner came with a key within one minute, and how many of them are only counted. */
export type MinuteCount = {
  owner: Owner
  keyId: number
  minute: Date
  requests: number
  refused: number
  unlisted: number
  lastAt: Date
}

export type Collected = { requests: LoggedRequest[]; counts: MinuteCount[] }

export type BufferLimits = {
  /** Of one owner, between two writes: requests that succeeded, and requests that were refused. */
  successesOfOwner: number
  refusalsOfOwner: number
  /** Of all owners together, between two writes. */
  successes: number
  refusals: number
  counts: number
}

export const usualBufferLimits: BufferLimits = {
  successesOfOwner: 20,
  refusalsOfOwner: 100,
  successes: 1000,
  refusals: 1000,
  counts: 5000,
}

/**
 * Requests between two writes. Refusals have a room of their own, so that no number of successes pushes them out. What
 * does not fit is counted, and beyond the bound of counts forgotten.
 */
export class RequestBuffer {
  readonly #limits: BufferLimits
  #successes: LoggedRequest[] = []
  #refusals: LoggedRequest[] = []
  #counts = new Map<string, MinuteCount>()
  #listed = new Map<string, { successes: number; refusals: number }>()

  constructor(limits: BufferLimits = usualBufferLimits) {
    this.#limits = limits
  }

  add(request: LoggedRequest) {
    const count = this.#countOf(request)
    if (!count) return
    const refused = isRefused(request)
    count.requests++
    if (refused) count.refused++
    if (request.at > count.lastAt) count.lastAt = request.at
    if (!this.#list(request, refused)) count.unlisted++
  }

  get isEmpty() {
    return this.#counts.size === 0
  }

  /** Everything since the last time. */
  take(): Collected {
    const collected = { requests: [...this.#refusals, ...this.#successes], counts: [...this.#counts.values()] }
    this.#successes = []
    this.#refusals = []
    this.#counts = new Map()
    this.#listed = new Map()
    return collected
  }

  #countOf({ owner, keyId, at }: LoggedRequest): MinuteCount | undefined {
    const minute = Math.floor(at.getTime() / MINUTE_MS)
    const name = `${owner.kind} ${owner.id} ${keyId} ${minute}`
    const known = this.#counts.get(name)
    if (known || this.#counts.size >= this.#limits.counts) return known
    const made = {
      owner,
      keyId,
      minute: new Date(minute * MINUTE_MS),
      requests: 0,
      refused: 0,
      unlisted: 0,
      lastAt: at,
    }
    this.#counts.set(name, made)
    return made
  }

  #list(request: LoggedRequest, refused: boolean): boolean {
    const { successesOfOwner, refusalsOfOwner, successes, refusals } = this.#limits
    const listed = this.#listedOf(request.owner)
    const room = refused ? this.#refusals : this.#successes
    if (room.length >= (refused ? refusals : successes)) return false
    if (refused ? listed.refusals >= refusalsOfOwner : listed.successes >= successesOfOwner) return false
    if (refused) listed.refusals++
    else listed.successes++
    room.push(request)
    return true
  }

  #listedOf({ kind, id }: Owner) {
    const name = `${kind} ${id}`
    let listed = this.#listed.get(name)
    if (!listed) {
      listed = { successes: 0, refusals: 0 }
      this.#listed.set(name, listed)
    }
    return listed
  }
}

const MINUTE_MS = 60_000
