import { isRefused, type LoggedRequest, type Owner } from './request.ts'

/** The requests of one key within one minute: their number, and the number of requests that are only counted. */
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
  /** The limits of one owner between two writes: for successful and for refused requests. */
  successesOfOwner: number
  refusalsOfOwner: number
  /** The limits of all owners together between two writes. */
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
 * The requests between two writes. Refused requests have a limit of their own, so that successful requests cannot
 * displace them. Requests above the limit are only counted, and above the limit of counts they are dropped.
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

  /** Returns all requests since the last call. */
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
