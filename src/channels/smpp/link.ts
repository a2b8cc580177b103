import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isResponse } from './codec.ts'
import { CLOSED_BY_PEER, type Connection, createConnection } from './connection.ts'
import { commands, type Draft, type Malformed, type Pdu } from './pdu.ts'
import { status, statusName } from './status.ts'

export type BindMode = 'transceiver' | 'transmitter' | 'receiver'

export type LinkOptions = {
  host: string
  port: number
  /** TLS, with the certificate always verified: against the system's authorities or those given here. */
  tls?: { ca?: string; serverName?: string }
  mode: BindMode
  systemId: string
  password: string
  systemType: string
  /** Time for connecting and binding. */
  connectMs: number
  /** Time for the answer to each request after that. */
  requestMs: number
  /** After so long without a word we ask whether the other side is there. */
  enquireMs: number
}

export type Delivery = Pdu<'deliver_sm' | 'data_sm'>

export type LinkHandlers = {
  onBound(): void
  /** Something came in; to be answered when it is safe. */
  onDelivery(pdu: Delivery, answer: (status: number) => void): void
  onMalformed(reason: string): void
  /** Once, right before every open request is told that it is lost; with the status when the bind was refused. */
  onClosed(reason: string, bindStatus?: number): void
}

/** What became of a request. */
export type Answer =
  | { kind: 'answered'; status: number; messageId: string }
  | { kind: 'silent'; reason: string } // no answer in time, though the other side lives
  | { kind: 'unreadable'; reason: string } // an answer that says nothing
  | { kind: 'lost'; reason: string } // the connection went first

type RequestCommand = 'submit_sm' | 'enquire_link' | 'unbind' | `bind_${BindMode}`
export type RequestDraft = { [C in RequestCommand]: Omit<Draft<C>, 'sequence' | 'status'> }[RequestCommand]

export type Link = {
  /** Throws a RangeError, before anything is sent, for what cannot be encoded. */
  request(draft: RequestDraft, done: (answer: Answer) => void): void
  /** Bound, and not about to end. */
  readonly isUp: boolean
  /** An answer is overdue and nothing was heard since: we are asking whether the other side is there. */
  readonly isInDoubt: boolean
  /** Requests without an answer, and deliveries we have not answered. */
  readonly open: number
  readonly unanswered: number
  /** Says goodbye, waits a little for the other side to say it too, and closes. */
  unbind(): void
  destroy(reason: string): void
}

const NO_TLS_YET = 'TLS handshake (the other side may not speak TLS on this port)'
const INTERFACE_VERSION = 0x34
const MOST_SEQUENCE = 0x7fffffff
/** So many deliveries may wait for the database; then we stop reading until half of them are answered. */
const MOST_UNANSWERED = 5000
const UNBIND_WITHIN_MS = 2000
/** So many PDUs in a row that cannot be read, and there is no sense in reading on. */
const MOST_MALFORMED = 100

type OpenRequest = { command: RequestCommand; done: (answer: Answer) => void; sentAt: number }

/**
 * One connection to an SMSC, from connecting to its end: binds, matches answers to requests, keeps the time of each,
 * and asks after a silent peer.
 *
 * A request that is not answered in time is `silent` only when something was heard after it was due: then the other
 * side lives and may have taken it. What was heard before says nothing, for a connection dies under traffic. When
 * nothing was, we ask `enquire_link` first; if that stays without answer too, the connection is dead and everything
 * open is `lost`. As long as we do not know, nothing more is to be sent.
 */
export function openLink(options: LinkOptions, handlers: LinkHandlers): Link {
  const requests = new Map<number, OpenRequest>()
  let sequence = 0
  let unanswered = 0
  let isBound = false
  let isClosed = false
  let isProbing = false
  let isInDoubt = false
  let malformedInRow = 0
  let bindStatus: number | undefined
  const clock = createClock()
  let heardAt = 0

  const socket = dial(options, bind)
  const connection: Connection = createConnection(socket, { onPdu, onMalformed, onClosed })
  const binding = setTimeout(giveUp, options.connectMs)
  const ticking = setInterval(tick, Math.min(Math.max(options.requestMs / 10, 10), 1000))

  function giveUp() {
    const missing = requests.size > 0 ? `answer to bind_${options.mode}` : socket.connecting ? 'connection' : NO_TLS_YET
    connection.destroy(`no ${missing} within ${options.connectMs} ms`)
  }

  function bind() {
    const { systemId, password, systemType, mode } = options
    const command = `bind_${mode}` as const
    try {
      request({ command, systemId, password, systemType, interfaceVersion: INTERFACE_VERSION }, bound)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      connection.destroy('the system id, password or system type cannot be said in SMPP') // which letter stays a secret
    }
  }

  function bound(answer: Answer) {
    clearTimeout(binding)
    if (answer.kind !== 'answered') return connection.destroy(reasonOf(answer))
    if (answer.status === status.ESME_ROK) {
      isBound = true
      return handlers.onBound()
    }
    bindStatus = answer.status
    connection.close(`bind refused: ${statusName(answer.status)}`)
  }

  function request(draft: RequestDraft, done: (answer: Answer) => void) {
    sequence = sequence === MOST_SEQUENCE ? 1 : sequence + 1
    connection.send({ ...draft, sequence } as Draft)
    requests.set(sequence, { command: draft.command, done, sentAt: clock.now() })
  }

  function onPdu(pdu: Pdu) {
    hear()
    malformedInRow = 0
    switch (pdu.command) {
      case 'deliver_sm':
      case 'data_sm':
        return deliver(pdu)
      case 'enquire_link':
        return connection.send({ command: 'enquire_link_resp', sequence: pdu.sequence })
      case 'unbind':
        connection.send({ command: 'unbind_resp', sequence: pdu.sequence })
        return connection.close('unbound by the other side')
      case 'alert_notification': // has no answer, and nothing for us
      case 'outbind':
        return
      default:
        return isResponse(commands[pdu.command].id) ? settle(pdu) : refuse(pdu)
    }
  }

  function hear() {
    heardAt = clock.now()
    isInDoubt = false
  }

  function deliver(pdu: Delivery) {
    if (++unanswered >= MOST_UNANSWERED) hold()
    const command = `${pdu.command}_resp` as const
    handlers.onDelivery(pdu, code => {
      connection.send({ command, sequence: pdu.sequence, status: code })
      if (--unanswered <= MOST_UNANSWERED / 2 && clock.isStopped) release()
    })
  }

  function hold() {
    clock.stop()
    connection.hold()
  }

  function release() {
    clock.go()
    connection.release()
  }

  const refuse = (pdu: Pdu) =>
    connection.send({ command: 'generic_nack', status: status.ESME_RINVCMDID, sequence: pdu.sequence })

  /** An answer to nothing came too late; whoever asked has been told. */
  function settle(pdu: Pdu) {
    const asked = take(pdu.sequence)
    if (!asked) return
    if (pdu.command !== 'generic_nack' && pdu.command !== `${asked.command}_resp`)
      return asked.done({ kind: 'unreadable', reason: `${asked.command} was answered with ${pdu.command}` })
    const messageId = 'messageId' in pdu ? pdu.messageId : ''
    asked.done({ kind: 'answered', status: statusOf(pdu), messageId })
  }

  function take(of: number): OpenRequest | undefined {
    const asked = requests.get(of)
    requests.delete(of)
    return asked
  }

  function onMalformed({ id, sequence: of, reason }: Malformed) {
    hear()
    handlers.onMalformed(reason)
    if (isResponse(id)) take(of)?.done({ kind: 'unreadable', reason })
    if (++malformedInRow === MOST_MALFORMED) connection.close(`malformed: ${MOST_MALFORMED} PDUs in a row`)
  }

  function tick() {
    if (clock.isStopped || !isBound) return
    if (clock.now() - heardAt >= options.enquireMs) probe()
    for (const [of, asked] of requests) {
      if (clock.now() - asked.sentAt < options.requestMs || isClosed) break
      endOverdue(of, asked)
    }
  }

  function endOverdue(of: number, asked: OpenRequest) {
    const reason = `no answer to ${asked.command} within ${options.requestMs} ms`
    if (asked.command !== 'submit_sm') return connection.destroy(reason)
    if (heardAt < asked.sentAt + options.requestMs) return doubt()
    requests.delete(of)
    asked.done({ kind: 'silent', reason })
  }

  function doubt() {
    isInDoubt = true
    probe()
  }

  function probe() {
    if (isProbing) return
    isProbing = true
    request({ command: 'enquire_link' }, () => {
      isProbing = false
    })
  }

  function onClosed(reason: string) {
    isClosed = true
    clearTimeout(binding)
    clearInterval(ticking)
    const open = [...requests.values()]
    requests.clear()
    handlers.onClosed(reason === CLOSED_BY_PEER && !isBound ? closedBeforeBind(options) : reason, bindStatus)
    for (const { done } of open) done({ kind: 'lost', reason })
  }

  return {
    request,
    get isUp() {
      return isBound && connection.isOpen
    },
    get isInDoubt() {
      return isInDoubt
    },
    get open() {
      return requests.size
    },
    get unanswered() {
      return unanswered
    },
    unbind() {
      if (!isBound) return connection.destroy('stopped')
      request({ command: 'unbind' }, () => connection.close('stopped'))
      setTimeout(() => connection.destroy('stopped'), UNBIND_WITHIN_MS).unref()
    },
    destroy: reason => connection.destroy(reason),
  }
}

function dial({ host, port, tls }: LinkOptions, onConnected: () => void): Socket {
  if (!tls) return connectPlain({ host, port }, onConnected)
  const { ca, serverName } = tls
  const trusted = { ...(ca ? { ca } : {}), ...(serverName ? { servername: serverName } : {}) }
  // Said aloud: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the verification off otherwise.
  return connectTls({ host, port, ...trusted, minVersion: 'TLSv1.2', rejectUnauthorized: true }, onConnected)
}

/** Many servers that expect TLS say nothing to a peer that does not begin with it. */
const closedBeforeBind = ({ mode, tls }: LinkOptions) =>
  `${CLOSED_BY_PEER} before it answered bind_${mode}: check the port${tls ? '' : ', and set tls=true when the operator expects TLS'}`

const reasonOf = (answer: Answer) => ('reason' in answer ? answer.reason : '')

/** A nack says no, even one that forgot to say why. */
const statusOf = (pdu: Pdu) =>
  pdu.command === 'generic_nack' && pdu.status === status.ESME_ROK ? status.ESME_RUNKNOWNERR : pdu.status

/** Stands still while we do not read: what we have not looked at is not late. */
function createClock() {
  let stoppedAt: number | undefined
  let lostMs = 0
  return {
    now: () => (stoppedAt ?? performance.now()) - lostMs,
    stop() {
      stoppedAt ??= performance.now()
    },
    go() {
      if (stoppedAt !== undefined) lostMs += performance.now() - stoppedAt
      stoppedAt = undefined
    },
    get isStopped() {
      return stoppedAt !== undefined
    },
  }
}
