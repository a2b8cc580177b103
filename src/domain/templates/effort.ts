import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { AppError, invalid } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'

/**
 * The limit of steps for the matching of a request: `base`, plus `perCharacter` for each character of its texts, but
 * never more than `most`. Usual templates take 2 to 5 steps for a character, and a step takes 10 to 30 ns.
 */
export type Allowance = { base: number; perCharacter: number; most: number }

/** For texts that are matched with all templates of a company. */
export const forAllTemplates: Allowance = { base: 5_000_000, perCharacter: 100, most: 100_000_000 }
/** For the texts of a dispatch, which are matched with one template. The size of the request limits them. */
export const forOneTemplate: Allowance = { base: 5_000_000, perCharacter: 50, most: Number.POSITIVE_INFINITY }
/** For messages that are already accepted: they must be sent, so there is no limit. */
export const forAccepted: Allowance = { ...forOneTemplate, base: Number.POSITIVE_INFINITY }

/** After this number of steps, about one to three milliseconds, other requests run. */
const SLICE_STEPS = 100_000

/** Counts the steps of matching for one request, lets other requests run, and refuses a request with too many steps. */
export class Effort {
  steps = 0
  readonly #allowance: Allowance
  readonly #company: CompanyBudget | undefined
  #characters = 0
  #charged = 0
  #pauseAt = SLICE_STEPS

  constructor(allowance: Allowance, company?: CompanyBudget) {
    this.#allowance = allowance
    this.#company = company
    company?.refuseOverdrawn()
  }

  /** Announces a text with its number of characters. Reading the text costs one step for each character. */
  begin(characters: number) {
    this.#characters += characters
    this.steps += characters
  }

  /** Throws if the request or its company has taken too many steps. */
  check() {
    this.#company?.charge(this.steps - this.#charged)
    this.#charged = this.steps
    const { base, perCharacter, most } = this.#allowance
    if (this.steps > Math.min(most, base + perCharacter * this.#characters)) throw tooLong()
    this.#company?.refuseOverdrawn()
  }

  /** The number of steps until the next pause. */
  get slice() {
    return Math.max(1, this.#pauseAt - this.steps)
  }

  /** Lets other requests run if the slice of steps is used up. */
  async pause(): Promise<void> {
    if (this.steps < this.#pauseAt) return
    this.check()
    await nextTurn()
    this.#pauseAt = this.steps + SLICE_STEPS
  }
}

const tooLong = () =>
  invalid(
    "Matching these texts with the company's templates takes too long: send fewer or shorter texts at once, " +
      'or use templates with fewer places',
  )

const STEPS_A_SECOND = 20_000_000
const MOST_SAVED = 200_000_000

/**
 * The limit of steps for all requests of a company in this process: about a third of a processor in the long run. A
 * running request may overdraw the budget. Then requests are refused until the budget is filled up again.
 */
export class CompanyBudget {
  readonly #clock: () => number
  #left = MOST_SAVED
  #at: number

  constructor(clockMs: () => number = () => performance.now()) {
    this.#clock = clockMs
    this.#at = clockMs()
  }

  charge(steps: number) {
    this.#fillUp()
    this.#left -= steps
  }

  refuseOverdrawn() {
    this.#fillUp()
    if (this.#left >= 0) return
    throw new AppError(
      'too_many_requests',
      "Matching texts with the company's templates takes too long: send more slowly, or use templates with fewer places",
      { retryAfterSeconds: Math.ceil(-this.#left / STEPS_A_SECOND) },
    )
  }

  #fillUp() {
    const now = this.#clock()
    this.#left = Math.min(MOST_SAVED, this.#left + ((now - this.#at) / 1000) * STEPS_A_SECOND)
    this.#at = now
  }
}

const MOST_COMPANIES = 1000

/** The budgets for each pool, so that two databases in one process do not mix. */
const budgets = new WeakMap<Pool, LRUCache<number, CompanyBudget>>()

export function budgetOf(pool: Pool, companyId: number): CompanyBudget {
  const ofPool = budgets.get(pool) ?? new LRUCache<number, CompanyBudget>({ max: MOST_COMPANIES })
  budgets.set(pool, ofPool)
  const budget = ofPool.get(companyId) ?? new CompanyBudget()
  ofPool.set(companyId, budget)
  return budget
}
