import { AppError } from '../../base/errors.ts'

export type TurnstileLimits = {
  /** At once, of everybody and of one company. */
  most: number
  mostOfOne: number
  /** Waiting, each for `patienceMs` at most. */
  mostWaiting: number
  mostWaitingOfOne: number
  patienceMs: number
}

export type Turnstile = { through<T>(companyId: number, work: () => Promise<T>): Promise<T> }

type Waiting = { letIn: () => void }

const RETRY_AFTER_SECONDS = 2

/**
 * Lets a few searches through at a time, and of one company fewer than of all. A search that finds no room waits for up
 * to `patienceMs`, then it is refused. Companies that wait take turns, so that a company with many waiting searches does
 * not use up the patience of the others. The bounds on waiting searches are for memory alone.
 */
export function createTurnstile(limits: TurnstileLimits): Turnstile {
  return new FairTurnstile(limits)
}

class FairTurnstile implements Turnstile {
  readonly #limits: TurnstileLimits
  /** The company of each search that runs. */
  readonly #inside: number[] = []
  /** Waiting searches by company. The order of the companies is the order of their turns; none has an empty list. */
  readonly #waiting = new Map<number, Waiting[]>()
  #waitingCount = 0

  constructor(limits: TurnstileLimits) {
    this.#limits = limits
  }

  async through<T>(companyId: number, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(companyId)) this.#inside.push(companyId)
    else await this.#wait(companyId)
    try {
      return await work()
    } finally {
      this.#leave(companyId)
    }
  }

  #hasRoom(companyId: number) {
    const { most, mostOfOne } = this.#limits
    return this.#inside.length < most && countOf(this.#inside, companyId) < mostOfOne
  }

  #wait(companyId: number): Promise<void> {
    const own = this.#waiting.get(companyId) ?? []
    const { mostWaiting, mostWaitingOfOne, patienceMs } = this.#limits
    if (this.#waitingCount >= mostWaiting || own.length >= mostWaitingOfOne) throw tooMany(this.#limits)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { letIn: resolve }
    own.push(waiting)
    this.#waiting.set(companyId, own)
    this.#waitingCount += 1
    const patience = setTimeout(() => {
      own.splice(own.indexOf(waiting), 1)
      this.#waitingCount -= 1
      if (own.length === 0) this.#waiting.delete(companyId)
      reject(tooMany(this.#limits))
    }, patienceMs)
    return promise.finally(() => clearTimeout(patience))
  }

  #leave(companyId: number) {
    this.#inside.splice(this.#inside.indexOf(companyId), 1)
    for (const [next, own] of this.#waiting) {
      if (this.#hasRoom(next)) return this.#letIn(next, own)
    }
  }

  /** Lets the oldest search of the company in; the company's next turn comes after all others'. */
  #letIn(companyId: number, own: Waiting[]) {
    const first = own.shift()!
    this.#waiting.delete(companyId)
    if (own.length > 0) this.#waiting.set(companyId, own)
    this.#waitingCount -= 1
    this.#inside.push(companyId)
    first.letIn()
  }
}

const countOf = (list: number[], value: number) => list.filter(each => each === value).length

const tooMany = ({ mostOfOne }: TurnstileLimits) =>
  new AppError('too_many_requests', 'Too many searches at once: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    limit: mostOfOne,
  })
