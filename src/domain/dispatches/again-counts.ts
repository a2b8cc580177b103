import { AppError } from '../../base/errors.ts'
import type { AgainCounts } from './again.ts'
import type { DispatchKey } from './dispatch.ts'

const MOST_AT_ONCE = 2
const KEPT_MS = 5000

type Counts = AgainCounts | null

/**
 * Limits the counts before sending again, because each reads every message of a dispatch. Requests for the same dispatch
 * share its running count, and the answer for some seconds. A process counts at most two dispatches at a time, and one for
 * each person. Other requests are refused at once.
 */
export class AgainCounter {
  readonly #count: (key: DispatchKey) => Promise<Counts>
  readonly #known = new Map<number, Promise<Counts>>()
  readonly #people = new Set<number>()

  constructor(count: (key: DispatchKey) => Promise<Counts>) {
    this.#count = count
  }

  of(key: DispatchKey, personId: number): Promise<Counts> {
    const known = this.#known.get(key.dispatchId)
    if (known) return known
    if (this.#people.has(personId) || this.#people.size >= MOST_AT_ONCE)
      throw new AppError('not_ready', 'Other dispatches are being counted: try again in a moment', {
        retryAfterSeconds: 2,
      })
    const counted = this.#run(key, personId)
    this.#known.set(key.dispatchId, counted)
    return counted
  }

  async #run(key: DispatchKey, personId: number): Promise<Counts> {
    this.#people.add(personId)
    try {
      const counts = await this.#count(key)
      setTimeout(() => this.#known.delete(key.dispatchId), KEPT_MS).unref()
      return counts
    } catch (error) {
      this.#known.delete(key.dispatchId)
      throw error
    } finally {
      this.#people.delete(personId)
    }
  }
}
