/** A receipt that comes within this time after the answer to its submission is prompt. */
export const PROMPT_MS = 500
/** It is worth waiting when so many of the receipts are prompt. */
const PROMPT_SHARE = 0.8
/** How much one message changes the share. */
const WEIGHT = 1 / 512
/** One of so many written submissions is remembered until its receipt comes. It counts for all of them. */
const SAMPLE = 8

/**
 * Learns whether the operators report soon after submissions. Then a submission that waits for its receipt is written together with
 * it: one change of the message instead of two. Operators that report after seconds would only delay the status SENT.
 */
export class ReceiptPace {
  #share = 0
  #written = 0
  /** Submissions that were written without a receipt, the oldest first, with the time of their answer. */
  readonly #samples = new Map<string, number>()

  get isPrompt(): boolean {
    return this.#share >= PROMPT_SHARE
  }

  /** A receipt came while its submission waited to be written. */
  joined(): void {
    this.#learn(1, 1)
  }

  /** A submission is written without its receipt. */
  written(uuid: string, since: number, now: number): void {
    if (now - since >= PROMPT_MS) this.#learn(0, 1)
    else if (this.#written++ % SAMPLE === 0) this.#samples.set(uuid, since)
    for (const [sample, sampledAt] of this.#samples) {
      if (now - sampledAt < PROMPT_MS) return
      this.#end(sample, 0)
    }
  }

  /** A receipt came alone: its submission is already written, or is of another process. */
  alone(uuid: string, now: number): void {
    const since = this.#samples.get(uuid)
    if (since !== undefined) this.#end(uuid, now - since < PROMPT_MS ? 1 : 0)
  }

  #end(sample: string, isPrompt: 0 | 1) {
    this.#samples.delete(sample)
    this.#learn(isPrompt, SAMPLE)
  }

  #learn(isPrompt: 0 | 1, messages: number) {
    this.#share += (isPrompt - this.#share) * WEIGHT * messages
  }
}
