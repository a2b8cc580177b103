import type { Channel, Health, Outgoing, SendResult } from '../../channels/channel.ts'
import type { GatewayTally } from './tally.ts'

const SECONDS = 60

type LastError = { lastError: string; lastErrorAt: Date }

/** A channel that counts the parts of the last minute and remembers the last error, also after the error is over. */
export class MeteredChannel implements Channel {
  /** The channel without the counting. */
  readonly connection: Channel
  readonly #tally: GatewayTally | undefined
  readonly #partsBySecond = new Array<number>(SECONDS).fill(0)
  #second = currentSecond()
  #lastError: LastError | undefined

  constructor(channel: Channel, tally?: GatewayTally) {
    this.connection = channel
    this.#tally = tally
  }

  submit(...[batch, report, mayGo]: Parameters<Channel['submit']>): Promise<void> {
    const submittedAt = performance.now()
    const countAndReport = (index: number, result: SendResult) => {
      const message = batch[index]
      if (!message) throw new Error(`The channel reported message ${index} of a batch of ${batch.length}`)
      this.#count(message, result)
      this.#tally?.submitted(message, result, performance.now() - submittedAt)
      report(index, result)
    }
    return this.connection.submit(batch, countAndReport, mayGo)
  }

  get window(): number {
    return this.connection.window
  }

  health(): Health {
    return this.connection.health()
  }

  stop(): Promise<void> {
    return this.connection.stop()
  }

  partsLastMinute(): number {
    this.#moveTo(currentSecond())
    return this.#partsBySecond.reduce((sum, parts) => sum + parts, 0)
  }

  /** A channel may not say when its error happened. Then a new error is recognised by its text. */
  lastError(): LastError | undefined {
    const { lastError, lastErrorAt } = this.connection.health()
    if (lastError !== undefined && (lastErrorAt || lastError !== this.#lastError?.lastError))
      this.#lastError = { lastError, lastErrorAt: lastErrorAt ?? new Date() }
    return this.#lastError
  }

  #count({ parts }: Outgoing, { kind }: SendResult) {
    if (kind !== 'accepted' && kind !== 'unknown') return
    this.#moveTo(currentSecond())
    const place = this.#second % SECONDS
    this.#partsBySecond[place] = (this.#partsBySecond[place] ?? 0) + parts
  }

  /** Empties the places of the seconds that have passed. */
  #moveTo(now: number) {
    const first = Math.max(this.#second + 1, now - SECONDS + 1)
    for (let second = first; second <= now; second++) this.#partsBySecond[second % SECONDS] = 0
    this.#second = Math.max(this.#second, now)
  }
}

const currentSecond = () => Math.floor(performance.now() / 1000)
