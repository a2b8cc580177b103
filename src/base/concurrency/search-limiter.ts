import { AppError } from '../errors.ts'

export type SearchLimits = {
  /** The most running work of all callers, and of one. */
  most: number
  mostOfOne: number
  /** The most waiting work of all callers, and of one. Each waits for at most `patienceMs`. */
  mostWaiting: number
  mostWaitingOfOne: number
  patienceMs: number
  /** The message of a refusal. */
  refusal: string
}

/** A caller is identified by a number or a text: a company, an IP address. */
export type Caller = number | string

type Waiting = { start: () => void }

const RETRY_AFTER_SECONDS = 2

/**
 * Limits concurrent work, in total and for each caller. Work above the limit waits for up to `patienceMs` and is then
 * refused. Waiting callers take turns, so that a caller with much waiting work does not delay the others. The limits on
 * waiting work only protect memory.
 */
export class SearchLimiter {
  readonly #limits: SearchLimits
  /** The caller of each piece of work that runs. */
  readonly #running: Caller[] = []
  /** Waiting work by caller. The order of the callers is the order of their turns; none has an empty list. */
  readonly #waiting = new Map<Caller, Waiting[]>()
  #waitingCount = 0

  constructor(limits: SearchLimits) {
    this.#limits = limits
  }

  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(caller)) this.#running.push(caller)
    else await this.#wait(caller)
    try {
      return await work()
    } finally {
      this.#end(caller)
    }
  }

  #hasRoom(caller: Caller) {
    const { most, mostOfOne } = this.#limits
    return this.#running.length < most && countOf(this.#running, caller) < mostOfOne
  }

  #wait(caller: Caller): Promise<void> {
    const own = this.#waiting.get(caller) ?? []
    const { mostWaiting, mostWaitingOfOne, patienceMs } = this.#limits
    if (this.#waitingCount >= mostWaiting || own.length >= mostWaitingOfOne) throw tooMany(this.#limits)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { start: resolve }
    own.push(waiting)
    this.#waiting.set(caller, own)
    this.#waitingCount += 1
    const patience = setTimeout(() => {
      own.splice(own.indexOf(waiting), 1)
      this.#waitingCount -= 1
      if (own.length === 0) this.#waiting.delete(caller)
      reject(tooMany(this.#limits))
    }, patienceMs)
    return promise.finally(() => clearTimeout(patience))
  }

  #end(caller: Caller) {
    this.#running.splice(this.#running.indexOf(caller), 1)
    for (const [next, own] of this.#waiting) {
      if (this.#hasRoom(next)) return this.#startNext(next, own)
    }
  }

  /** Starts the oldest work of the caller. The next turn of this caller is after all others. */
  #startNext(caller: Caller, own: Waiting[]) {
    const first = own.shift()
    this.#waiting.delete(caller)
    if (own.length > 0) this.#waiting.set(caller, own)
    this.#waitingCount -= 1
    this.#running.push(caller)
    first?.start()
  }
}

const countOf = (list: Caller[], value: Caller) => list.filter(each => each === value).length

const tooMany = ({ mostOfOne, refusal }: SearchLimits) =>
  new AppError('too_many_requests', refusal, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    limit: mostOfOne,
  })
