import type { Channel, Feed } from '../channel.ts'
import { createDeliveries } from './deliveries.ts'
import type { BindMode } from './link.ts'
import { createMessageIds } from './message-ids.ts'
import { createOutbox } from './outgoing.ts'
import { createSession, type Session, type SessionEvent, type SessionListener } from './session.ts'
import { readSettings, type SmppSettings } from './settings.ts'

/** What happens to the binds, for the log; `bind` counts from 1. */
export type SmppEvent = SessionEvent & { bind: number; mode: BindMode }

export type BindState = { bind: number; mode: BindMode } & ReturnType<Session['state']>

/**
 * SMS over SMPP 3.4: one operator's SMSC over as many binds as the contract allows. Throws when a setting is wrong;
 * an operator that cannot be reached is no surprise, but a channel that is not up yet.
 */
export function createSmpp(
  raw: Record<string, unknown>,
  feed: Feed,
  onEvent: (event: SmppEvent) => void = () => {},
): Channel & { binds(): BindState[] } {
  const settings = readSettings(raw)
  const ids = createMessageIds(settings.receiptIds)
  const deliveries = createDeliveries(settings, ids, feed)
  const sessions = modesOf(settings).map((mode, i) => ({ bind: i + 1, mode, session: open(mode, i + 1) }))
  const senders = sessions.filter(({ mode }) => mode !== 'receiver').map(({ session }) => session)
  const outbox = createOutbox(settings, senders, ids)
  let stopping: Promise<void> | undefined

  function open(mode: BindMode, bind: number): Session {
    const listener: SessionListener = {
      onDelivery: deliveries.take,
      onChange: () => outbox.pump(),
      onEvent: event => onEvent({ ...event, bind, mode }),
    }
    return createSession(sessionOptions(settings, mode), listener)
  }

  async function stop() {
    outbox.stop()
    await Promise.all(sessions.map(({ session }) => session.stop()))
    await deliveries.stop()
  }

  const binds = () => sessions.map(({ bind, mode, session }) => ({ bind, mode, ...session.state() }))

  return {
    submit: outbox.submit,
    window: settings.window * senders.length,
    binds,
    health() {
      const up = senders.some(session => session.state().state === 'bound')
      const lastError = binds().find(bind => bind.lastError !== undefined)?.lastError
      return { up, ...(lastError === undefined ? {} : { lastError }) }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

function modesOf({ mode, binds }: SmppSettings): BindMode[] {
  const each: BindMode[] = mode === 'pair' ? ['transmitter', 'receiver'] : ['transceiver']
  return Array.from({ length: binds }, () => each).flat()
}

function sessionOptions(settings: SmppSettings, mode: BindMode) {
  const { tls, tlsCa, tlsServerName, ...rest } = settings
  const verified = { ...(tlsCa ? { ca: tlsCa } : {}), ...(tlsServerName ? { serverName: tlsServerName } : {}) }
  return { ...rest, mode, ...(tls ? { tls: verified } : { tls: undefined }) }
}
