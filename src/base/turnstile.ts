import { AppError } from './errors.ts'

export type TurnstileLimits = {
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

/** A caller is known by a number or a text: a company, an address. */
export type Caller = number | string

export type Turnstile = { through<T>(caller: Caller, work: () => Promise<T>): Promise<T> }

type Waiting = { letIn: () => void }

const RETRY_AFTER_SECONDS = 2

/**
 * Limits concurrent work, in total and for each caller. Work above the limit waits for up to `patienceMs` and is then
 * refused. Waiting callers take turns, so that a caller with much waiting work does not delay the others. The limits on
 * waiting work only protect memory.
 */
export function createTurnstile(limits: TurnstileLimits): Turnstile {
  return new FairTurnstile(limits)
}

class FairTurnstile implements Turnstile {
  readonly #limits: TurnstileLimits
  /** The caller of each piece of work that runs. */
  readonly #inside: Caller[] = []
  /** Waiting work by caller. The order of the callers is the order of their turns; none has an empty list. */
  readonly #waiting = new Map<Caller, Waiting[]>()
  #waitingCount = 0

  constructor(limits: TurnstileLimits) {
    this.#limits = limits
  }

  async through<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(caller)) this.#inside.push(caller)
    else await this.#wait(caller)
    try {
      return await work()
    } finally {
      this.#leave(caller)
    }
  }

  #hasRoom(caller: Caller) {
    const { most, mostOfOne } = this.#limits
    return this.#inside.length < most && countOf(this.#inside, caller) < mostOfOne
  }

  #wait(caller: Caller): Promise<void> {
    const own = this.#waiting.get(caller) ?? []
    const { mostWaiting, mostWaitingOfOne, patienceMs } = this.#limits
    if (this.#waitingCount >= mostWaiting || own.length >= mostWaitingOfOne) throw tooMany(this.#limits)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { letIn: resolve }
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

  #leave(caller: Caller) {
    this.#inside.splice(this.#inside.indexOf(caller), 1)
    for (const [next, own] of this.#waiting) {
      if (this.#hasRoom(next)) return this.#letIn(next, own)
    }
  }

  /** Starts the oldest work of the caller. The next turn of this caller is after all others. */
  #letIn(caller: Caller, own: Waiting[]) {
    const first = own.shift()!
    this.#waiting.delete(caller)
    if (own.length > 0) this.#waiting.set(caller, own)
    this.#waitingCount -= 1
    this.#inside.push(caller)
    first.letIn()
  }
}

const countOf = (list: Caller[], value: Caller) => list.filter(each => each === value).length

const tooMany = ({ mostOfOne, refusal }: TurnstileLimits) =>
  new AppError('too_many_requests', refusal, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    limit: mostOfOne,
  })
