import type { Logger } from 'pino'
import { byCompany } from '../../db/by-company.ts'
import type { Pool } from '../../db/sql.ts'
import type { MinuteCount } from './buffer.ts'
import * as store from './store.ts'

const USE_EVERY_MS = 60_000
const AGAIN_AFTER_MS = 10_000
const MOST_KEYS = 10_000
const WARN_EVERY_MS = 60_000
/** Few, so that a node that hangs does not take the connections of the pool. */
const COMPANIES_AT_ONCE = 2

type KeyUsesContext = { sql: Pool; log: Logger; againAfterMs?: number | undefined }

type WaitingUse = { companyId: number; keyId: number; lastAt: Date; notBeforeMs: number }

/**
 * Writes the last use of each key once a minute: an update for every second of traffic would be waste. One write runs at a
 * time, and nothing waits for it: a node of a cluster that hangs delays last uses, but not the log of requests. The uses
 * of a company that fails wait ten seconds before they are tried again.
 */
export class KeyUses {
  readonly #sql: Pool
  readonly #log: Logger
  readonly #againAfterMs: number
  /** By key. */
  readonly #waiting = new Map<number, WaitingUse>()
  readonly #written = new Map<number, number>()
  #writing: Promise<void> | undefined
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor({ sql, log, againAfterMs = AGAIN_AFTER_MS }: KeyUsesContext) {
    this.#sql = sql
    this.#log = log
    this.#againAfterMs = againAfterMs
  }

  note(counts: MinuteCount[]): void {
    for (const count of counts) if (count.keyId !== 0 && this.#isNew(count)) this.#add(count)
    void this.write()
  }

  /** Writes the waiting uses, or waits for the write that runs. Never throws. */
  write(): Promise<void> {
    this.#writing ??= this.#writeDue().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  #isNew({ keyId, lastAt }: Pick<MinuteCount, 'keyId' | 'lastAt'>): boolean {
    return lastAt.getTime() - (this.#written.get(keyId) ?? Number.NEGATIVE_INFINITY) >= USE_EVERY_MS
  }

  /** Above the bound a use is dropped. The next request of its key brings another one. */
  #add({ owner, keyId, lastAt }: MinuteCount) {
    const waiting = this.#waiting.get(keyId)
    if (waiting) waiting.lastAt = lastAt > waiting.lastAt ? lastAt : waiting.lastAt
    else if (this.#waiting.size < MOST_KEYS)
      this.#waiting.set(keyId, { companyId: owner.id, keyId, lastAt, notBeforeMs: Number.NEGATIVE_INFINITY })
  }

  async #writeDue() {
    const writeOwn = (companyId: number, uses: WaitingUse[]) => this.#writeCompany(companyId, uses)
    try {
      for (let due = this.#due(); due.length > 0; due = this.#due()) await byCompany(due, writeOwn, COMPANIES_AT_ONCE)
    } catch {
      // Logged already. The database may be away, so the other uses wait for the next call.
    }
  }

  /** Copies: the next request of a key may come during the write. */
  #due(): WaitingUse[] {
    const now = performance.now()
    return [...this.#waiting.values()].filter(({ notBeforeMs }) => notBeforeMs <= now).map(use => ({ ...use }))
  }

  async #writeCompany(companyId: number, uses: WaitingUse[]) {
    try {
      await store.insertUses(this.#sql, companyId, uses)
    } catch (err) {
      for (const { keyId } of uses) this.#waiting.get(keyId)!.notBeforeMs = performance.now() + this.#againAfterMs
      this.#warn(err, companyId)
      throw err
    }
    for (const use of uses) this.#setWritten(use)
    return []
  }

  #setWritten({ keyId, lastAt }: WaitingUse) {
    if (this.#written.size > MOST_KEYS) this.#written.clear()
    this.#written.set(keyId, lastAt.getTime())
    if (!this.#isNew(this.#waiting.get(keyId)!)) this.#waiting.delete(keyId)
  }

  #warn(err: unknown, companyId: number) {
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn({ err, companyId }, 'request_log.uses_not_written')
  }
}
