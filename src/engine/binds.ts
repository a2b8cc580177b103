import type { Logger } from 'pino'
import type { Channel, Feed } from '../channels/channel.ts'
import { rememberOwn } from '../channels/smpp/own-ids.ts'
import { readSettings } from '../channels/smpp/settings.ts'
import { createSmpp, type Smpp, type SmppEvent } from '../channels/smpp/smpp.ts'
import type { Pool } from '../db/sql.ts'
import {
  BIND_LEASE_SECONDS,
  giveBackBinds,
  type Holding,
  keepReceiptIds,
  learntReceiptIds,
  leaveBinds,
  shareBinds,
} from '../domain/gateways/binds.ts'
import type { Gateway } from '../domain/gateways/gateway.ts'
import { repeat } from './loop.ts'

const LOOK_EVERY_MS = 1000
const WATCH_EVERY_MS = 250
/** Binds are closed this long before another could take them: time to let what is open end, and to say goodbye. */
const SAFETY_MS = 4000
const HASTY_DRAIN_MS = 1000

type Context = { sql: Pool; log: Logger; worker: string }

/** SMS over SMPP, with this engine's share of the gateway's binds. `worker` names this connection and no other. */
export function connectSmpp({ sql, log, worker }: Context, gateway: Gateway, feed: Feed): Channel {
  const { gatewayId } = gateway
  const contract = readSettings(gateway.settings).binds
  const own = rememberOwn(feed)
  const onEvent = (event: SmppEvent) => tell(log, gatewayId, event)
  const learnt = keepLearnt(sql, log, gateway)
  const channel = createSmpp(gateway.settings, own.feed, onEvent, 0, learnt.note)
  const binds = keepBinds(log, channel, {
    async share() {
      await learnt.recall(channel)
      await learnt.write()
      return shareBinds(sql, gatewayId, worker, contract)
    },
    giveBack: tooMany => giveBackBinds(sql, gatewayId, worker, tooMany),
  })
  let stopping: Promise<void> | undefined

  async function stop() {
    await binds.stop(() => channel.stop())
    await learnt.write()
    await leaveBinds(sql, gatewayId, worker).catch(err => log.warn({ err, gatewayId }, 'binds.not_given_back'))
  }

  return {
    submit: own.submitThrough(channel),
    get window() {
      return channel.window
    },
    health: channel.health,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/**
 * One connection to the operator beside those of the engines. Receipts of their messages come to it as well: it knows
 * as much as they do of how to read the ids in them.
 */
export function connectSmppOnce({ sql, log }: Omit<Context, 'worker'>, gateway: Gateway, feed: Feed): Channel {
  const learnt = keepLearnt(sql, log, gateway)
  const channel = createSmpp(gateway.settings, feed, undefined, 0, learnt.note)
  const loop = repeat('receipt ids', LOOK_EVERY_MS, log, async () => {
    await learnt.recall(channel)
    await channel.setBinds(1)
  })
  return {
    submit: channel.submit,
    get window() {
      return channel.window
    },
    health: channel.health,
    async stop() {
      await loop.stop()
      await channel.stop()
      await learnt.write()
    },
  }
}

function tell(log: Logger, gatewayId: number, { kind, bind, mode, reason }: SmppEvent) {
  const level = kind === 'bound' ? 'info' : 'warn'
  log[level]({ gatewayId, bind, mode, ...(reason === undefined ? {} : { reason }) }, `bind.${kind}`)
}

/**
 * How the ids in receipts are to be read, learnt once for all: written as soon as somebody has found out, and read until
 * then, the first time before the first bind, so before the first receipt.
 */
function keepLearnt(sql: Pool, log: Logger, { gatewayId, settings }: Gateway) {
  let isKnown = readSettings(settings).receiptIds !== 'auto'
  let unwritten: string | undefined
  let writing = Promise.resolve()

  /** What cannot be written now is written the next time: no lease waits for it. */
  async function writeLast() {
    const relation = unwritten
    if (relation === undefined) return
    unwritten = undefined
    await keepReceiptIds(sql, gatewayId, relation).catch(err => {
      unwritten ??= relation
      log.warn({ err, gatewayId }, 'receipt_ids.not_kept')
    })
  }

  function write(): Promise<void> {
    writing = writing.then(writeLast)
    return writing
  }

  return {
    note(relation: string) {
      isKnown = true
      unwritten = relation
      void write()
    },
    async recall(channel: Pick<Smpp, 'recall'>) {
      if (isKnown) return
      const relation = await learntReceiptIds(sql, gatewayId)
      if (relation === undefined) return
      channel.recall(relation)
      isKnown = true
    },
    write,
  }
}

type Leases = { share(): Promise<Holding>; giveBack(binds: number[]): Promise<void> }

/**
 * Keeps as many binds open as we hold leases for. A lease is ours from when we asked for it, not from when we heard of
 * it; when it cannot be renewed in time, by our own monotonic clock, its bind is closed before another engine could
 * open it. Nothing is opened while something is being closed: the operator counts both. At the end leases are renewed
 * until the channel has let go of the last bind.
 */
export function keepBinds(log: Logger, channel: Pick<Smpp, 'setBinds'>, leases: Leases) {
  let until = 0
  let open = 0
  let isEnding = false
  let isHasty = false
  let closing: Promise<void> | undefined

  const isOver = () => performance.now() >= until - SAFETY_MS

  async function look() {
    const asked = performance.now()
    const { binds, tooMany } = await leases.share()
    until = asked + BIND_LEASE_SECONDS * 1000
    if (closing || isEnding || isOver()) return
    open = binds.length - tooMany.length
    if (tooMany.length > 0) close(channel.setBinds(open).then(() => leases.giveBack(tooMany)))
    else void channel.setBinds(open)
  }

  /** Acts once for each lease that is over, on what is still being closed as well: it may not take its time any more. */
  function watch() {
    if (!isOver()) isHasty = false
    else if (!isHasty && (open > 0 || closing)) closeInHaste()
  }

  function closeInHaste() {
    isHasty = true
    open = 0
    log.warn({ until }, 'binds.lease_over')
    close(channel.setBinds(0, HASTY_DRAIN_MS))
  }

  function close(closed: Promise<void>) {
    const both = Promise.all([closing, closed])
      .catch(err => log.warn({ err }, 'binds.not_given_back'))
      .then(() => {
        if (closing === both) closing = undefined
      })
    closing = both
  }

  const loop = repeat('binds', LOOK_EVERY_MS, log, look)
  const watching = setInterval(watch, WATCH_EVERY_MS)

  return {
    async stop(letGo: () => Promise<void> = async () => {}) {
      isEnding = true
      await letGo()
      clearInterval(watching)
      await loop.stop()
      await closing
    },
  }
}
