import type { Challenge } from '../api.ts'
import { makeConstants, makeSchedule, makeSearch, makeSha256 } from './search.ts'

/** The service accepts a challenge for ten minutes. The widget does not send an older solution. */
const GOOD_FOR_MS = 9 * 60_000
const NUMBERS_A_SLICE = 4_000

/**
 * Finds the number that a challenge asks for, in a worker, so that the page stays responsive. If the page's policy
 * forbids workers, the search runs in short slices between the page's own tasks.
 */
export class ProofOfWork {
  readonly kind = 'proof'
  /** The share of the numbers that the search has tried. */
  share = 0
  hasPassed = false
  readonly #askChallenge: () => Promise<Challenge>
  readonly #onChange: () => void
  #answer: Promise<string>
  #startedAt = 0
  #isUsed = false
  #stop = () => {}

  constructor(challenge: Challenge, askChallenge: () => Promise<Challenge>, onChange: () => void) {
    this.#askChallenge = askChallenge
    this.#onChange = onChange
    this.#answer = this.#solve(challenge)
  }

  /**
   * The solution in the form that the service reads. The service accepts each challenge once, so the next request
   * solves a new one.
   */
  async token(): Promise<string> {
    if (this.#isUsed || Date.now() - this.#startedAt > GOOD_FOR_MS)
      this.#answer = this.#solve(await this.#askChallenge())
    const answer = await this.#answer
    this.#isUsed = true
    return answer
  }

  stop() {
    this.#stop()
  }

  async #solve(challenge: Challenge): Promise<string> {
    this.#stop()
    this.#isUsed = false
    this.#startedAt = Date.now()
    this.#show(0, false)
    const number = await this.#find(challenge)
    this.#show(1, true)
    const { algorithm, challenge: hash, salt, signature } = challenge
    return btoa(JSON.stringify({ algorithm, challenge: hash, number, salt, signature }))
  }

  #show(share: number, hasPassed: boolean) {
    this.share = share
    this.hasPassed = hasPassed
    this.#onChange()
  }

  #find(challenge: Challenge): Promise<number | undefined> {
    return this.#findInWorker(challenge).catch(() => this.#findInSlices(challenge))
  }

  #findInWorker({ salt, challenge, maxNumber }: Challenge): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const address = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }))
      const worker = new Worker(address) // throws, or fails later, where the policy forbids it
      const end = () => {
        worker.terminate()
        URL.revokeObjectURL(address)
      }
      this.#stop = end
      worker.onerror = event => {
        event.preventDefault()
        end()
        reject(event)
      }
      worker.onmessage = ({ data: { done, number } }) => {
        if (!done) return this.#show(number / maxNumber, false)
        end()
        resolve(number)
      }
      worker.postMessage({ salt, challenge, maxNumber, slice: NUMBERS_A_SLICE })
    })
  }

  #findInSlices({ salt, challenge, maxNumber }: Challenge): Promise<number | undefined> {
    return new Promise(resolve => {
      const search = makeSearch(salt, challenge)
      let timer: ReturnType<typeof setTimeout>
      this.#stop = () => clearTimeout(timer)
      const next = (from: number) => {
        const found = search(from, Math.min(from + NUMBERS_A_SLICE / 8, maxNumber + 1))
        if (found !== undefined || from > maxNumber) return resolve(found)
        this.#show(from / maxNumber, false)
        timer = setTimeout(next, 0, from + NUMBERS_A_SLICE / 8)
      }
      next(0)
    })
  }
}

interface Task {
  salt: string
  challenge: string
  maxNumber: number
  slice: number
}

interface Make {
  search: typeof makeSearch
  sha256: typeof makeSha256
  schedule: typeof makeSchedule
  constants: typeof makeConstants
}

/** Runs in the worker as text, so that it can use nothing but its parameters. */
function work(make: Make, answer: (message: object) => void) {
  self.onmessage = ({ data }: MessageEvent<Task>) => {
    const search = make.search(data.salt, data.challenge, make.sha256(make.schedule(), make.constants()))
    for (let from = 0; from <= data.maxNumber; from += data.slice) {
      const number = search(from, Math.min(from + data.slice, data.maxNumber + 1))
      if (number !== undefined) return answer({ done: true, number })
      answer({ done: false, number: from })
    }
    answer({ done: true })
  }
}

const MAKE = `{search:${makeSearch},sha256:${makeSha256},schedule:${makeSchedule},constants:${makeConstants}}`
const WORKER = `(${work})(${MAKE},m=>postMessage(m))`
