import type { Logger } from 'pino'
import type { Channel, Feed, Health } from '../../channels/channel.ts'
import { OwnIds } from '../../channels/smpp/receipts/own-ids.ts'
import { readSettings } from '../../channels/smpp/settings.ts'
import { Smpp, type SmppEvent } from '../../channels/smpp/smpp.ts'
import type { Pool } from '../../db/sql.ts'
import { releaseAllBinds, releaseBinds, shareBinds } from '../../domain/gateways/binds/binds.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { type Loop, repeat } from '../loop.ts'
import { Binds } from './binds.ts'
import { ReceiptIdLearner } from './receipt-id-learner.ts'

const LOOK_EVERY_MS = 1000

/** An answer of the operator is recorded within this time. */
const TO_RECORD_MS = 10_000

/** `worker` is unique to the connection. It owns the leases of the binds. */
type SmppContext = { sql: Pool; log: Logger; worker: string }

/** Sends SMS over SMPP, with this engine's share of the binds that the operator allows. */
export const connectSmpp = (context: SmppContext, gateway: Gateway, feed: Feed): Channel =>
  new SmppConnection(context, gateway, feed)

class SmppConnection implements Channel {
  readonly #context: SmppContext
  readonly #gatewayId: number
  readonly #channel: Smpp
  readonly #learner: ReceiptIdLearner
  readonly #binds: Binds
  readonly submit: Channel['submit']
  #stopping: Promise<void> | undefined

  constructor(context: SmppContext, gateway: Gateway, feed: Feed) {
    this.#context = context
    this.#gatewayId = gateway.gatewayId
    const own = new OwnIds(feed, { unsureForMs: readSettings(gateway.settings).requestMs + TO_RECORD_MS })
    const onEvent = (event: SmppEvent) => {
      if (event.kind === 'bound') own.reconnected()
      this.#log(event)
    }
    this.#learner = new ReceiptIdLearner(context, gateway)
    this.#channel = new Smpp(gateway.settings, own.feed, {
      onEvent,
      firstBinds: 0,
      onLearnt: learnt => void this.#learner.learn(learnt),
    })
    this.#binds = this.#startBinds(readSettings(gateway.settings).binds)
    this.submit = own.submitThrough(this.#channel)
  }

  get window(): number {
    return this.#channel.window
  }

  health(): Health {
    return this.#channel.health()
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop() {
    const { sql, log, worker } = this.#context
    const gatewayId = this.#gatewayId
    await this.#binds.stop(() => this.#channel.stop())
    await this.#learner.finish(this.#channel, worker)
    await releaseAllBinds(sql, gatewayId, worker).catch(err => log.warn({ err, gatewayId }, 'binds.not_given_back'))
  }

  /** `contract`: how many binds the operator allows for all engines together. */
  #startBinds(contract: number): Binds {
    const { sql, log, worker } = this.#context
    const leases = {
      share: async () => {
        await this.#learner.look(this.#channel, worker)
        return shareBinds(sql, this.#gatewayId, worker, contract)
      },
      giveBack: (tooMany: number[]) => releaseBinds(sql, this.#gatewayId, worker, tooMany),
    }
    return new Binds({ log, channel: this.#channel, leases }).start()
  }

  #log({ kind, bind, mode, reason }: SmppEvent) {
    const level = kind === 'bound' ? 'info' : 'warn'
    const fields = { gatewayId: this.#gatewayId, bind, mode, ...(reason === undefined ? {} : { reason }) }
    this.#context.log[level](fields, `bind.${kind}`)
  }
}

/**
 * One connection to the operator for a trial, in addition to the connections of the engines. The operator may send it
 * receipts of the engines' messages, so it reads the ids in receipts like the engines do.
 */
export const connectSmppOnce = (context: Omit<SmppContext, 'worker'>, gateway: Gateway, feed: Feed): Channel =>
  new TrialSmppConnection(context, gateway, feed)

class TrialSmppConnection implements Channel {
  readonly #channel: Smpp
  readonly #learner: ReceiptIdLearner
  readonly #loop: Loop

  constructor(context: Omit<SmppContext, 'worker'>, gateway: Gateway, feed: Feed) {
    this.#learner = new ReceiptIdLearner(context, gateway)
    this.#channel = new Smpp(gateway.settings, feed, {
      firstBinds: 0,
      onLearnt: learnt => void this.#learner.learn(learnt),
    })
    this.#loop = repeat('receipt ids', LOOK_EVERY_MS, context.log, async () => {
      await this.#learner.look(this.#channel)
      await this.#channel.setBinds(1)
    })
  }

  submit(...batch: Parameters<Channel['submit']>): Promise<void> {
    return this.#channel.submit(...batch)
  }

  get window(): number {
    return this.#channel.window
  }

  health(): Health {
    return this.#channel.health()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#channel.stop()
    await this.#learner.finish(this.#channel)
  }
}
