import type { Logger } from 'pino'
import type { Channel, Feed } from '../../channels/channel.ts'
import type { LearntIds } from '../../channels/smpp/receipts/message-ids.ts'
import { rememberOwn } from '../../channels/smpp/receipts/own-ids.ts'
import { readSettings } from '../../channels/smpp/settings.ts'
import { type Answers, Smpp, type SmppEvent } from '../../channels/smpp/smpp.ts'
import type { Pool } from '../../db/sql.ts'
import { BIND_LEASE_SECONDS, giveBackBinds, type Holding, leaveBinds, shareBinds } from '../../domain/gateways/binds.ts'
import type { Gateway, OwnAnswers } from '../../domain/gateways/gateway.ts'
import { keepReceiptIds, noteAnswers } from '../../domain/gateways/receipt-ids.ts'
import { wakeUnreadReceipts } from '../../domain/receipts/receipts.ts'
import { repeat } from '../loop.ts'
import { findOutReceiptIds, recallReceiptIds } from './receipt-ids.ts'

const LOOK_EVERY_MS = 1000
const WATCH_EVERY_MS = 250
/** Binds are closed this long before another could take them: time to let what is open end, and to say goodbye. */
const SAFETY_MS = 4000
const HASTY_DRAIN_MS = 1000

/** An answer is recorded within this time after it came. */
const TO_RECORD_MS = 10_000

type Context = { sql: Pool; log: Logger; worker: string }

/** SMS over SMPP, with this engine's share of the gateway's binds. `worker` names this connection and no other. */
export function connectSmpp({ sql, log, worker }: Context, gateway: Gateway, feed: Feed): Channel {
  const { gatewayId } = gateway
  const { binds: contract, requestMs } = readSettings(gateway.settings)
  const own = rememberOwn(feed, { unsureForMs: requestMs + TO_RECORD_MS })
  const onEvent = (event: SmppEvent) => {
    if (event.kind === 'bound') own.reconnected()
    tell(log, gatewayId, event)
  }
  const learnt = keepLearnt(sql, log, gateway)
  const channel = new Smpp(gateway.settings, own.feed, { onEvent, firstBinds: 0, onLearnt: learnt.note })
  const binds = keepBinds(log, channel, {
    async share() {
      await learnt.look(channel, worker)
      return shareBinds(sql, gatewayId, worker, contract)
    },
    giveBack: tooMany => giveBackBinds(sql, gatewayId, worker, tooMany),
  })
  let stopping: Promise<void> | undefined

  async function stop() {
    await binds.stop(() => channel.stop())
    await learnt.leave(channel, worker)
    await leaveBinds(sql, gatewayId, worker).catch(err => log.warn({ err, gatewayId }, 'binds.not_given_back'))
  }

  return {
    submit: own.submitThrough(channel),
    get window() {
      return channel.window
    },
    health: () => channel.health(),
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
  const channel = new Smpp(gateway.settings, feed, { firstBinds: 0, onLearnt: learnt.note })
  const loop = repeat('receipt ids', LOOK_EVERY_MS, log, async () => {
    await learnt.look(channel)
    await channel.setBinds(1)
  })
  return {
    submit: (...given) => channel.submit(...given),
    get window() {
      return channel.window
    },
    health: () => channel.health(),
    async stop() {
      await loop.stop()
      await channel.stop()
      await learnt.leave(channel)
    },
  }
}

function tell(log: Logger, gatewayId: number, { kind, bind, mode, reason }: SmppEvent) {
  const level = kind === 'bound' ? 'info' : 'warn'
  log[level]({ gatewayId, bind, mode, ...(reason === undefined ? {} : { reason }) }, `bind.${kind}`)
}

/** Answers that came within so many looks may not be written down yet. */
const LOOKS_TO_WRITE = 3

/**
 * How the ids in receipts are to be read, learnt once for all engines. The channel finds out by itself where ids are long;
 * otherwise it is found out here, from all receipts together. It is looked for until it is known, the first time before
 * the first bind, so before the first receipt. Nothing of it keeps a lease from being renewed.
 */
function keepLearnt(sql: Pool, log: Logger, { gatewayId, settings }: Gateway) {
  const isAuto = readSettings(settings).receiptIds === 'auto'
  const seen: Answers[] = []
  let isKnown = !isAuto
  let unwritten: LearntIds | undefined
  let writing = Promise.resolve()

  /** What cannot be written now is written the next time. */
  async function writeLast() {
    const learnt = unwritten
    if (learnt === undefined) return
    unwritten = undefined
    try {
      await keepReceiptIds(sql, gatewayId, learnt)
      await wakeUnreadReceipts(sql, gatewayId)
    } catch (err) {
      unwritten ??= learnt
      log.warn({ err, gatewayId }, 'receipt_ids.not_kept')
    }
  }

  function write(): Promise<void> {
    writing = writing.then(writeLast)
    return writing
  }

  function note(learnt: LearntIds) {
    isKnown = true
    unwritten = learnt
    log.info({ gatewayId, ...learnt }, 'receipt_ids.learnt')
    return write()
  }

  async function lookFor(channel: Pick<Smpp, 'recall' | 'answers'>, worker: string | undefined) {
    if (worker !== undefined) await noteAnswers(sql, gatewayId, worker, answersSo(channel.answers()))
    const recalled = await recallReceiptIds(sql, gatewayId)
    const learnt = recalled ?? (await findOutReceiptIds(sql, gatewayId))
    if (isKnown || !learnt) return
    channel.recall(learnt)
    isKnown = true
    if (!recalled) await note(learnt)
  }

  /** As it was some looks ago: what was answered then is written down by now. */
  function answersSo(now: Answers): OwnAnswers {
    seen.push(now)
    const then = seen.length > LOOKS_TO_WRITE ? seen.shift()! : seen[0]!
    const recent = now.submitted - then.submitted
    return {
      behindMs: performance.now() - then.answeredTo,
      unanswered: now.unanswered,
      open: now.open + 2 * recent, // and as much again until the next look
    }
  }

  return {
    note: (learnt: LearntIds) => void note(learnt),
    /** The worker tells how far its answers are in; without one, nothing is submitted that counts. */
    async look(channel: Pick<Smpp, 'recall' | 'answers'>, worker?: string) {
      if (!isKnown) {
        await lookFor(channel, worker).catch(err => log.warn({ err, gatewayId }, 'receipt_ids.not_looked_for'))
      }
      await write()
    },
    /** Whatever has no answer by now will have none. */
    async leave(channel: Pick<Smpp, 'answers'>, worker?: string) {
      if (isAuto && worker !== undefined) {
        const { unanswered } = channel.answers()
        await noteAnswers(sql, gatewayId, worker, { behindMs: 0, unanswered, open: 0 }).catch(err =>
          log.warn({ err, gatewayId }, 'receipt_ids.not_kept'),
        )
      }
      await write()
    },
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
