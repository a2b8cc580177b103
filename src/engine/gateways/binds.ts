import type { Logger } from 'pino'
import type { Smpp } from '../../channels/smpp/smpp.ts'
import { BIND_LEASE_SECONDS, type BindShare } from '../../domain/gateways/binds/binds.ts'
import { type Loop, repeat } from '../loop.ts'

/** Binds that an engine has given back are opened by another engine within this time. */
const RENEW_EVERY_MS = 700
const WATCH_EVERY_MS = 250
/** Binds are closed this long before another engine may open them, so that open requests can end and the bind can unbind. */
const SAFETY_MS = 4000
const HURRIED_DRAIN_MS = 1000

export type BindLeases = {
  /** Renews the leases of this engine and takes free ones, up to its share. */
  share(): Promise<BindShare>
  giveBack(binds: number[]): Promise<void>
}

export type BindsContext = {
  log: Logger
  channel: Pick<Smpp, 'setBinds'>
  leases: BindLeases
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

/**
 * Keeps as many binds open as this engine has leases for. A lease counts from the moment it was requested. When it cannot be
 * renewed in time, its bind is closed before another engine may open it. No bind is opened while another one is being
 * closed, because the operator counts both.
 */
export class Binds {
  readonly #context: BindsContext
  readonly #now: () => number
  #leasedUntil = 0
  #open = 0
  #isStopping = false
  /** The binds are being closed in a hurry, because the leases run out. */
  #isHurrying = false
  #closing: Promise<void> | undefined
  #renewing: Loop | undefined
  #watching: NodeJS.Timeout | undefined

  constructor(context: BindsContext) {
    this.#context = context
    this.#now = context.now ?? (() => performance.now())
  }

  /** Renews the leases and checks them, again and again until `stop`. */
  start(): this {
    this.#renewing = repeat('binds', RENEW_EVERY_MS, this.#context.log, () => this.renew())
    this.#watching = setInterval(() => this.check(), WATCH_EVERY_MS)
    return this
  }

  /** Leases are renewed until `closeChannel` has closed the last bind. */
  async stop(closeChannel: () => Promise<void> = async () => {}): Promise<void> {
    this.#isStopping = true
    await closeChannel()
    clearInterval(this.#watching)
    await this.#renewing?.stop()
    await this.#closing
  }

  /** Renews the leases and opens or closes binds, until there are as many binds as leases within the share. */
  async renew(): Promise<void> {
    const { channel, leases } = this.#context
    const askedAt = this.#now()
    const { binds, tooMany } = await leases.share()
    this.#leasedUntil = askedAt + BIND_LEASE_SECONDS * 1000
    if (this.#closing || this.#isStopping || this.#isRunningOut()) return
    this.#open = binds.length - tooMany.length
    const changed = channel.setBinds(this.#open)
    if (tooMany.length > 0) this.#waitUntilClosed(changed.then(() => leases.giveBack(tooMany)))
  }

  /** Closes all binds in a hurry when the leases run out, also binds that are already being closed. */
  check(): void {
    if (!this.#isRunningOut()) this.#isHurrying = false
    else if (!this.#isHurrying && (this.#open > 0 || this.#closing)) this.#closeInHurry()
  }

  #isRunningOut(): boolean {
    return this.#now() >= this.#leasedUntil - SAFETY_MS
  }

  #closeInHurry() {
    this.#isHurrying = true
    this.#open = 0
    this.#context.log.warn({ until: this.#leasedUntil }, 'binds.lease_over')
    this.#waitUntilClosed(this.#context.channel.setBinds(0, HURRIED_DRAIN_MS))
  }

  #waitUntilClosed(closed: Promise<void>) {
    const all = Promise.all([this.#closing, closed])
      .catch(err => this.#context.log.warn({ err }, 'binds.not_given_back'))
      .then(() => {
        if (this.#closing === all) this.#closing = undefined
      })
    this.#closing = all
  }
}
