import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SmscCounts, SmscSettings } from '../../src/channels/smpp/smsc/smsc.ts'

const LOOK_MS = 50
/** A system that delivers nothing for so long has nothing left to deliver. */
const QUIET_MS = 2000

/** An operator in a process of its own. Its processor time counts for no system. */
export class SmscProcess {
  readonly port: number
  readonly #child: ChildProcess
  #asking: Promise<unknown> = Promise.resolve()

  static async start(): Promise<SmscProcess> {
    const child = fork(fileURLToPath(new URL('smsc-process.ts', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [{ port }] = await once(child, 'message')
    return new SmscProcess(child, port)
  }

  constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  counts(): Promise<SmscCounts> {
    return this.#ask('counts')
  }

  /** When the first message for each destination arrived, in milliseconds since 1970. */
  async arrivals(): Promise<Map<string, number>> {
    return new Map(Object.entries(await this.#ask<Record<string, number>>('arrivals')))
  }

  /** How many messages arrived for each destination. */
  async taken(): Promise<Map<string, number>> {
    return new Map(Object.entries(await this.#ask<Record<string, number>>('taken')))
  }

  /** The number in the last message for each destination, of messages that contain one number: verification codes. */
  async codes(): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.#ask<Record<string, string>>('codes')))
  }

  /** Changes the behaviour from now on. */
  async behave(changes: Partial<SmscSettings>): Promise<void> {
    await this.#ask({ behave: changes })
  }

  /** Waits until no receipt has been acknowledged for some time. The moment of the last acknowledgement, as `performance.now()`. */
  async untilQuiet(): Promise<number> {
    let last = (await this.counts()).receiptsAcknowledged
    let at = performance.now()
    while (performance.now() - at < QUIET_MS) {
      await pause(LOOK_MS)
      const { receiptsAcknowledged } = await this.counts()
      if (receiptsAcknowledged > last) at = performance.now()
      last = receiptsAcknowledged
    }
    return at
  }

  stop() {
    this.#child.disconnect()
  }

  /** Questions are asked one after the other, because answers do not name their question. */
  #ask<T>(question: string | object): Promise<T> {
    const answered = this.#asking.then(async () => {
      this.#child.send(question)
      const [answer] = await once(this.#child, 'message')
      return answer
    })
    this.#asking = answered
    return answered
  }
}
