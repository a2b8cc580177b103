import { createHmac, randomInt } from 'node:crypto'
import type { Content } from '../../base/content/content.ts'
import { type BoxKey, boxKey, open, seal } from '../../base/secret-box.ts'

/** What a message with a code says. */
export type CodeText = { text: string; content: Content | null }

/** Stands in for each digit of a code in every list, log and callback. It counts as one character of an SMS, as a digit does. */
const MASK = '*'

export const maskOf = (code: string): string => MASK.repeat(code.length)

/** From a secure generator, all codes alike. */
export const drawCode = (length: number): string => String(randomInt(10 ** length)).padStart(length, '0')

/** Hashes codes and seals the texts that carry them, with keys made of the secret of the service. */
export class CodeBox {
  readonly #hashKey: BoxKey
  readonly #textKey: BoxKey

  constructor(secret: string) {
    this.#hashKey = boxKey(secret, 'verification codes')
    this.#textKey = boxKey(secret, 'texts with codes')
  }

  /** In hex. Bound to its verification: the same code has another hash elsewhere. */
  hash(verificationUuid: string, code: string): string {
    return createHmac('sha256', this.#hashKey).update(`${verificationUuid}:${code}`).digest('hex')
  }

  seal(said: CodeText): Buffer {
    return seal(this.#textKey, JSON.stringify(said))
  }

  /** Throws when the text was sealed with another secret. */
  open(box: Buffer): CodeText {
    return JSON.parse(open(this.#textKey, box))
  }
}
