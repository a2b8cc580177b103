import type { Channel, Feed, Health, Outgoing, SendResult } from '../channel.ts'
import { Deliveries } from './deliveries.ts'
import type { BindMode } from './link.ts'
import { createMessageIds, type LearntIds, type MessageIds } from './receipts/message-ids.ts'
import { Session, type SessionEvent, type SessionListener, type SessionOptions } from './session.ts'
import { readSettings, type SmppSettings } from './settings.ts'
import { Submitter } from './submitter.ts'

/** An event of a bind, for the log; `bind` counts from 1. */
export type SmppEvent = SessionEvent & { bind: number; mode: BindMode }

export type BindState = { bind: number; mode: BindMode } & ReturnType<Session['state']>

/**
 * Every submission before `answeredTo`, by `performance.now()`, has its answer or will never have one. `unanswered`
 * counts the submissions that ended without an id.
 */
export type Answers = { answeredTo: number; open: number; submitted: number; unanswered: number }

/** A bind of the contract: one session for both directions, or one for each. */
type Bind = { mode: BindMode; session: Session }[]

export type SmppOptions = {
  onEvent?: (event: SmppEvent) => void
  /** How many binds to open at first, if not as many as the settings say. */
  firstBinds?: number
  onLearnt?: (learnt: LearntIds) => void
}

/**
 * SMS over SMPP 3.4: the SMSC of one operator, over as many binds as the contract allows or `setBinds` says. The
 * constructor throws if a setting is wrong. An unreachable operator is no error: the channel is not up until it connects.
 */
export class Smpp implements Channel {
  readonly #settings: SmppSettings
  readonly #ids: MessageIds
  readonly #deliveries: Deliveries
  readonly #submitter: Submitter
  readonly #onEvent: (event: SmppEvent) => void
  readonly #open: Bind[] = []
  readonly #closing = new Set<Session>()
  #senders: Session[] = []
  #trouble: Pick<Health, 'lastError' | 'lastErrorAt'> = {}
  #stopping: Promise<void> | undefined

  constructor(raw: Record<string, unknown>, feed: Feed, options: SmppOptions = {}) {
    this.#settings = readSettings(raw)
    this.#onEvent = options.onEvent ?? (() => {})
    this.#ids = createMessageIds(this.#settings.receiptIds, options.onLearnt)
    this.#deliveries = new Deliveries(this.#settings, this.#ids, feed)
    this.#submitter = new Submitter(this.#settings, () => this.#senders, this.#ids, feed)
    void this.setBinds(options.firstBinds ?? this.#settings.binds)
  }

  submit(
    batch: Outgoing[],
    report: (index: number, result: SendResult) => void,
    mayGo: (index: number) => boolean,
  ): Promise<void> {
    return this.#submitter.submit(batch, report, mayGo)
  }

  get window(): number {
    return this.#settings.window * this.#senders.length
  }

  binds(): BindState[] {
    return this.#open.flatMap((bind, i) => bind.map(({ mode, session }) => ({ bind: i + 1, mode, ...session.state() })))
  }

  /** Sets how the ids of receipts relate to the ids of answers. Only `receiptIds=auto` uses it. */
  recall(learnt: LearntIds): void {
    this.#ids.recall(learnt)
  }

  answers(): Answers {
    const sessions = [...sendersOf(this.#open), ...this.#closing]
    const oldest = sessions.flatMap(session => session.oldestAt() ?? [])
    return {
      ...this.#submitter.counts(),
      answeredTo: Math.min(performance.now(), ...oldest),
      open: sessions.reduce((sum, session) => sum + session.state().open, 0),
    }
  }

  /**
   * Sets how many binds to keep. Resolves when all surplus binds are closed, also the binds that were closing before and
   * the binds of a channel that stops. Each waits at most `drainMs` for its open requests and deliveries.
   */
  async setBinds(count: number, drainMs = this.#settings.drainMs): Promise<void> {
    while (!this.#stopping && this.#open.length < count) this.#open.push(this.#openBind(this.#open.length + 1))
    await this.#close(this.#open.splice(count), drainMs)
  }

  health(): Health {
    const senders = sendersOf(this.#open)
    const bound = senders.filter(session => session.state().state === 'bound').length
    return {
      up: senders.some(session => session.isUp()), // a bind in doubt is not up: it takes no message
      open: this.binds().reduce((sum, state) => sum + state.open, 0),
      binds: { bound, wanted: this.#open.length },
      ...this.#trouble,
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  #openBind(bind: number): Bind {
    const opened = modesOf(this.#settings).map(mode => ({
      mode,
      session: new Session(sessionOptions(this.#settings, mode), this.#listenerOf(bind, mode)),
    }))
    this.#senders = [...this.#senders, ...sendersOf([opened])]
    return opened
  }

  #listenerOf(bind: number, mode: BindMode): SessionListener {
    return {
      onDelivery: (pdu, answer) => this.#deliveries.take(pdu, answer),
      onChange: () => this.#submitter.pump(),
      onEvent: event => this.#onEvent({ ...event, bind, mode }),
      onTrouble: lastError => {
        this.#trouble = { lastError, lastErrorAt: new Date() }
      },
    }
  }

  async #close(binds: Bind[], drainMs: number) {
    for (const { session } of binds.flat()) this.#closing.add(session)
    this.#senders = this.#senders.filter(session => !this.#closing.has(session))
    await Promise.all([...this.#closing].map(session => this.#closeSession(session, drainMs)))
  }

  async #closeSession(session: Session, drainMs: number) {
    await session.stop(drainMs)
    this.#closing.delete(session)
  }

  async #stop() {
    this.#submitter.stop()
    await this.#close(this.#open.splice(0), this.#settings.drainMs)
    await this.#deliveries.stop()
  }
}

const sendersOf = (binds: Bind[]) => binds.flat().flatMap(({ mode, session }) => (mode === 'receiver' ? [] : [session]))

const modesOf = ({ mode }: SmppSettings): BindMode[] =>
  mode === 'pair' ? ['transmitter', 'receiver'] : ['transceiver']

function sessionOptions(settings: SmppSettings, mode: BindMode): SessionOptions {
  const { tls, tlsCa, tlsServerName, ...rest } = settings
  const verified = { ...(tlsCa ? { ca: tlsCa } : {}), ...(tlsServerName ? { serverName: tlsServerName } : {}) }
  return { ...rest, mode, ...(tls ? { tls: verified } : {}) }
}
