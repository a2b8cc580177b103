import { Gathering } from '../../base/concurrency/gathering.ts'
import { AppError } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import type { CodeBox } from './code-box.ts'
import * as store from './store.ts'
import type { CheckStatus } from './verification.ts'

/** The outcome of a check; `triesLeft` is 0 for a verification that is not known. */
export type Checked = { status: CheckStatus; triesLeft: number }

type Guess = { uuid: string; hash: string; answer: PromiseWithResolvers<Checked> }
/** Guesses that wait, by verification, each in the order in which they came. */
type Line = { waiting: Map<string, Guess[]>; count: number; isBusy: boolean; gathering: Gathering }

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MOST_AT_ONCE = 500
const MOST_WAITING = 50_000
/** The most waiting checks of one company, so that slow or attacked companies do not block the others. */
const MOST_WAITING_OF_COMPANY = 10_000
const RETRY_AFTER_SECONDS = 2
/** After a statement with fewer checks the next one does not wait: it would gain little. */
const LEAST_GATHERED = 8
/** The longest wait for further checks: a multiple of the time that the statement before took, but never longer than this. */
const GATHERING_TIMES = 2
const MOST_GATHERING_MS = 20

/**
 * Checks codes. Codes of a company that arrive while a statement of this company runs are checked together in the next
 * statement. After a statement with many codes, the next one waits a moment for the clients that were just answered. A
 * second guess at the same verification waits for another statement. If waiting guesses have the same answer, they get it
 * at once: a flood of guesses at one verification takes one statement for each of its tries, and does not delay the other
 * checks of the company. Companies do not wait for each other.
 */
export class CodeChecker {
  readonly #sql: Pool
  readonly #codes: CodeBox
  readonly #lines = new Map<number, Line>()
  #waiting = 0

  constructor(sql: Pool, codes: CodeBox) {
    this.#sql = sql
    this.#codes = codes
  }

  async check(companyId: number, verificationUuid: string, code: string): Promise<Checked> {
    const uuid = verificationUuid.toLowerCase()
    if (!UUID.test(uuid)) return NOT_FOUND
    const line = this.#lines.get(companyId) ?? newLine()
    if (this.#waiting >= MOST_WAITING || line.count >= MOST_WAITING_OF_COMPANY) throw tooBusy()
    const guess = { uuid, hash: this.#codes.hash(uuid, code), answer: Promise.withResolvers<Checked>() }
    this.#waiting += 1
    line.count += 1
    this.#lines.set(companyId, line)
    const ofSame = line.waiting.get(uuid)
    if (ofSame) ofSame.push(guess)
    else line.waiting.set(uuid, [guess])
    line.gathering.arrived()
    if (!line.isBusy) void this.#workOff(companyId, line)
    return guess.answer.promise
  }

  async #workOff(companyId: number, line: Line) {
    line.isBusy = true
    while (line.waiting.size > 0) {
      await new Promise(resolve => setImmediate(resolve)) // codes of the same turn are checked together
      const begunAt = performance.now()
      const guesses = takeDistinct(line)
      this.#leave(line, guesses)
      await this.#checkTogether(companyId, line, guesses)
      if (guesses.length >= LEAST_GATHERED) await gatherAsMany(line, guesses.length, performance.now() - begunAt)
    }
    this.#lines.delete(companyId)
  }

  async #checkTogether(companyId: number, line: Line, guesses: Guess[]) {
    try {
      const rows = await store.checkCodes(this.#sql, companyId, guesses)
      const found = new Map(rows.map(row => [row.uuid, row]))
      for (const guess of guesses) {
        const { status, triesLeft } = found.get(guess.uuid) ?? NOT_FOUND
        const checked = { status, triesLeft }
        const alike = takeAlike(line, guess, checked)
        this.#leave(line, alike)
        for (const { answer } of [guess, ...alike]) answer.resolve(checked)
      }
    } catch (error) {
      for (const { answer } of guesses) answer.reject(error)
    }
  }

  #leave(line: Line, guesses: Guess[]) {
    line.count -= guesses.length
    this.#waiting -= guesses.length
  }
}

/** Waits until as many checks are there as before: the checks that wait, and the next ones of the answered clients. */
function gatherAsMany(line: Line, answered: number, tookMs: number): Promise<void> {
  const enough = Math.min(line.count + answered, MOST_AT_ONCE)
  return line.gathering.until(() => line.count >= enough, Math.min(GATHERING_TIMES * tookMs, MOST_GATHERING_MS))
}

const newLine = (): Line => ({ waiting: new Map(), count: 0, isBusy: false, gathering: new Gathering() })

const NOT_FOUND: Checked = { status: 'NOT_FOUND', triesLeft: 0 }

const tooBusy = () =>
  new AppError('not_ready', 'Too many codes are being checked: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/** One guess for each verification. */
function takeDistinct({ waiting }: Line): Guess[] {
  const taken: Guess[] = []
  for (const [uuid, guesses] of waiting) {
    if (taken.length === MOST_AT_ONCE) break
    taken.push(guesses.shift()!)
    if (guesses.length === 0) waiting.delete(uuid)
  }
  return taken
}

/**
 * The waiting guesses with the same answer: every guess at an ended verification, and the same code again at a confirmed
 * verification. A wrong code has none, because each wrong code costs a try.
 */
function takeAlike({ waiting }: Line, { uuid, hash }: Guess, { status }: Checked): Guess[] {
  const guesses = waiting.get(uuid)
  if (!guesses || status === 'WRONG_CODE') return []
  const isAlike = (guess: Guess) => status !== 'CONFIRMED' || guess.hash === hash
  const rest = guesses.filter(guess => !isAlike(guess))
  if (rest.length > 0) waiting.set(uuid, rest)
  else waiting.delete(uuid)
  return guesses.filter(isAlike)
}
