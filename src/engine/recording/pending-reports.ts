import { SetAside } from './set-aside.ts'

/**
 * Status reports that a caller noted and waits for. All share one promise: several promises for each message made much
 * work for the garbage collector. No report may be added after `ended` or `recorded` has resolved.
 */
export class PendingReports {
  /** Why reports were not written, by the uuid of the message. */
  readonly failures = new Map<string, unknown>()
  #open = 0
  #ended: PromiseWithResolvers<void> | undefined

  /** The recorder took one more report. */
  begin(): void {
    this.#open += 1
  }

  /** One report is committed. */
  written(): void {
    this.#close()
  }

  /** One report is not written. */
  failed(uuid: string, error: unknown): void {
    this.failures.set(uuid, error)
    this.#close()
  }

  /** Resolves when no report is open any more, with or without failures. */
  async ended(): Promise<void> {
    if (this.#open === 0) return
    this.#ended ??= Promise.withResolvers()
    await this.#ended.promise
  }

  /** Resolves when all reports are committed or set aside. Rejects with the first other failure. */
  async recorded(): Promise<void> {
    await this.ended()
    for (const error of this.failures.values()) if (!(error instanceof SetAside)) throw error
  }

  #close() {
    this.#open -= 1
    if (this.#open === 0) this.#ended?.resolve()
  }
}
