import type { Logger } from 'pino'
import type { CallingChannel } from '../../channels/calling-channel.ts'
import type { Channel, Health } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import { releaseAllBinds, releaseBinds, shareBinds } from '../../domain/gateways/binds/binds.ts'
import { Binds } from './binds.ts'

/** The window is leased in so many pieces at most: each piece is a row. */
const MOST_PIECES = 16

/** `worker` is unique to the connection. It owns the leases. */
type SharingContext = { sql: Pool; log: Logger; worker: string }

/**
 * Shares the window of a provider among all engines. Each engine makes as many calls at once as its share, and all engines
 * together as many as the window. The pieces of the window are leased as binds are.
 */
export class SharedWindow implements Channel {
  readonly #context: SharingContext
  readonly #gatewayId: number
  readonly #channel: CallingChannel
  readonly #binds: Binds
  #stopping: Promise<void> | undefined

  constructor(context: SharingContext, gatewayId: number, channel: CallingChannel) {
    this.#context = context
    this.#gatewayId = gatewayId
    this.#channel = channel
    this.#binds = this.#startLeases(channel.window)
  }

  submit(...batch: Parameters<Channel['submit']>): Promise<void> {
    return this.#channel.submit(...batch)
  }

  get window(): number {
    return this.#channel.window
  }

  /** Without a share this engine has no use of the gateway, and other engines have. */
  health(): Health {
    const health = this.#channel.health()
    return this.window > 0 ? health : { ...health, up: false, binds: { bound: 0, wanted: 0 } }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop() {
    const { sql, log, worker } = this.#context
    const gatewayId = this.#gatewayId
    await this.#binds.stop(() => this.#channel.stop())
    await releaseAllBinds(sql, gatewayId, worker).catch(err => log.warn({ err, gatewayId }, 'window.not_given_back'))
  }

  #startLeases(window: number): Binds {
    const { sql, log, worker } = this.#context
    const pieces = Math.min(window, MOST_PIECES)
    const setBinds = (count: number) => this.#channel.setWindow(Math.floor((window * count) / pieces))
    const leases = {
      share: () => shareBinds(sql, this.#gatewayId, worker, pieces),
      giveBack: (tooMany: number[]) => releaseBinds(sql, this.#gatewayId, worker, tooMany),
    }
    void setBinds(0)
    return new Binds({ log, channel: { setBinds }, leases }).start()
  }
}
