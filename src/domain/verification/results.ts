import { createHmac, timingSafeEqual } from 'node:crypto'
import { type BoxKey, boxKey } from '../../base/secret-box.ts'

/** That a number was confirmed on a page of a site builder: the form carries it, signed, to whoever handles the form. */
export type Result = { widgetId: string; destination: string; confirmedAt: Date }

const GOOD_FOR_MS = 24 * 3600_000

/** Signs and reads results: the signature alone proves them. */
export class Results {
  readonly #key: BoxKey

  constructor(secret: string) {
    this.#key = boxKey(secret, 'verification results')
  }

  sign({ widgetId, destination, confirmedAt }: Result): string {
    const body = Buffer.from(JSON.stringify([widgetId, destination, confirmedAt.getTime()])).toString('base64url')
    return `${body}.${this.#signatureOf(body).toString('base64url')}`
  }

  /** Undefined when we did not sign it. */
  read(text: string): Result | undefined {
    const [body = '', signature = ''] = text.split('.', 2)
    const given = Buffer.from(signature, 'base64url')
    const right = this.#signatureOf(body)
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
    const [widgetId, destination, time] = JSON.parse(Buffer.from(body, 'base64url').toString())
    return { widgetId, destination, confirmedAt: new Date(time) }
  }

  #signatureOf(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest()
  }
}

export const isOld = ({ confirmedAt }: Result, now: Date): boolean =>
  now.getTime() - confirmedAt.getTime() > GOOD_FOR_MS
