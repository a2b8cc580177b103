import { createHmac, timingSafeEqual } from 'node:crypto'
import { type BoxKey, boxKey } from '../../base/secret-box.ts'

/** A confirmed number of a page of a site builder. The form sends it, signed, to the server that processes the form. */
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
    return this.#signed(body)
  }

  /**
   * Undefined when we did not sign it. The whole text is compared: a second spelling of a result would pass where each
   * result is accepted once.
   */
  read(text: string): Result | undefined {
    const body = text.split('.', 1)[0]!
    const [given, right] = [Buffer.from(text), Buffer.from(this.#signed(body))]
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
    const [widgetId, destination, time] = JSON.parse(Buffer.from(body, 'base64url').toString())
    return { widgetId, destination, confirmedAt: new Date(time) }
  }

  #signed(body: string): string {
    return `${body}.${createHmac('sha256', this.#key).update(body).digest('base64url')}`
  }
}

export const isOld = ({ confirmedAt }: Result, now: Date): boolean =>
  now.getTime() - confirmedAt.getTime() > GOOD_FOR_MS
