import type { Channel, Feed, Health } from '../channel.ts'
import { createDeliveries } from './deliveries.ts'
import type { BindMode } from './link.ts'
import { createOutbox } from './outgoing.ts'
import { createMessageIds, type LearntIds } from './receipts/message-ids.ts'
import { createSession, type Session, type SessionEvent, type SessionListener } from './session.ts'
import { readSettings, type SmppSettings } from './settings.ts'

/** What happens to the binds, for the log; `bind` counts from 1. */
export type SmppEvent = SessionEvent & { bind: number; mode: BindMode }

export type BindState = { bind: number; mode: BindMode } & ReturnType<Session['state']>

export type Smpp = Channel & {
  binds(): BindState[]
  /** What was learnt of how the ids of receipts relate to those of answers; of use to `receiptIds=auto` alone. */
  recall(learnt: LearntIds): void
  /** How far the answers to what was submitted are in. */
  answers(): Answers
  /**
   * How many binds to keep from now on. Resolves when those that are too many are closed, after at most `drainMs` for
   * what they have open: those too that were closing already, and those of a channel that is stopping.
   */
  setBinds(count: number, drainMs?: number): Promise<void>
}

/** All that was submitted before `answeredTo`, by `performance.now()`, has its answer, but for those that never get one. */
export type Answers = { answeredTo: number; open: number; submitted: number; unanswered: number }

/** A bind of the contract: one connection for both ways, or one for each. */
type Bind = { mode: BindMode; session: Session }[]

/**
 * SMS over SMPP 3.4: one operator's SMSC over as many binds as the contract allows, or as `setBinds` says. Throws
 * when a setting is wrong; an operator that cannot be reached is no surprise, but a channel that is not up yet.
 */
export function createSmpp(
  raw: Record<string, unknown>,
  feed: Feed,
  onEvent: (event: SmppEvent) => void = () => {},
  firstBinds?: number,
  onLearnt: (learnt: LearntIds) => void = () => {},
): Smpp {
  const settings = readSettings(raw)
  const ids = createMessageIds(settings.receiptIds, onLearnt)
  const deliveries = createDeliveries(settings, ids, feed)
  const open: Bind[] = []
  const leaving = new Set<Session>()
  let senders: Session[] = []
  let trouble: Pick<Health, 'lastError' | 'lastErrorAt'> = {}
  const outbox = createOutbox(settings, () => senders, ids, feed)
  let stopping: Promise<void> | undefined

  void setBinds(firstBinds ?? settings.binds)

  async function setBinds(count: number, drainMs = settings.drainMs) {
    while (!stopping && open.length < count) open.push(openBind(open.length + 1))
    await close(open.splice(count), drainMs)
  }

  function openBind(bind: number): Bind {
    const listener = (mode: BindMode): SessionListener => ({
      onDelivery: deliveries.take,
      onChange: () => outbox.pump(),
      onEvent: event => onEvent({ ...event, bind, mode }),
      onTrouble(lastError) {
        trouble = { lastError, lastErrorAt: new Date() }
      },
    })
    const opened = modesOf(settings).map(mode => ({
      mode,
      session: createSession(sessionOptions(settings, mode), listener(mode)),
    }))
    senders = [...senders, ...sendersOf([opened])]
    return opened
  }

  async function close(binds: Bind[], drainMs: number) {
    for (const { session } of binds.flat()) leaving.add(session)
    senders = senders.filter(session => !leaving.has(session))
    await Promise.all([...leaving].map(session => leave(session, drainMs)))
  }

  async function leave(session: Session, drainMs: number) {
    await session.stop(drainMs)
    leaving.delete(session)
  }

  async function stop() {
    outbox.stop()
    await close(open.splice(0), settings.drainMs)
    await deliveries.stop()
  }

  const binds = () =>
    open.flatMap((bind, i) => bind.map(({ mode, session }) => ({ bind: i + 1, mode, ...session.state() })))

  return {
    submit: outbox.submit,
    get window() {
      return settings.window * senders.length
    },
    binds,
    recall: ids.recall,
    answers() {
      const sessions = [...sendersOf(open), ...leaving]
      const oldest = sessions.flatMap(session => session.oldestAt() ?? [])
      return {
        ...outbox.counts(),
        answeredTo: Math.min(performance.now(), ...oldest),
        open: sessions.reduce((sum, session) => sum + session.state().open, 0),
      }
    },
    setBinds,
    health() {
      const ours = sendersOf(open)
      const bound = ours.filter(session => session.state().state === 'bound').length
      return {
        up: ours.some(session => session.isUp()), // one in doubt takes nothing: whatever came would be sent away
        open: binds().reduce((sum, state) => sum + state.open, 0),
        binds: { bound, wanted: open.length },
        ...trouble,
      }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

const sendersOf = (binds: Bind[]) => binds.flat().flatMap(({ mode, session }) => (mode === 'receiver' ? [] : [session]))

const modesOf = ({ mode }: SmppSettings): BindMode[] =>
  mode === 'pair' ? ['transmitter', 'receiver'] : ['transceiver']

function sessionOptions(settings: SmppSettings, mode: BindMode) {
  const { tls, tlsCa, tlsServerName, ...rest } = settings
  const verified = { ...(tlsCa ? { ca: tlsCa } : {}), ...(tlsServerName ? { serverName: tlsServerName } : {}) }
  return { ...rest, mode, ...(tls ? { tls: verified } : { tls: undefined }) }
}
