import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isResponse } from './protocol/codec.ts'
import { CLOSED_BY_PEER, type Connection, createConnection } from './protocol/connection.ts'
import { commands, type Draft, type Malformed, type Pdu } from './protocol/pdu.ts'
import { status, statusName } from './protocol/status.ts'

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

export type Answered = { kind: 'answered'; status: number; messageId: string }

/** What became of a request. */
export type Answer =
  | Answered
  | { kind: 'silent'; reason: string } // no answer in time, though the other side lives
  | { kind: 'unreadable'; reason: string } // an answer that says nothing
  | { kind: 'lost'; reason: string } // the connection went first

type RequestCommand = 'submit_sm' | 'enquire_link' | 'unbind' | `bind_${BindMode}`
export type RequestDraft = { [C in RequestCommand]: Omit<Draft<C>, 'sequence' | 'status'> }[RequestCommand]

export type Link = {
  /**
   * Throws a RangeError, before anything is sent, for what cannot be encoded. `late` is told an answer that comes after
   * the request was called silent.
   */
  request(draft: RequestDraft, done: (answer: Answer) => void, late?: (answer: Answered) => void): void
  /** Bound, and not about to end. */
  readonly isUp: boolean
  /** An answer is overdue and nothing was heard since: we are asking whether the other side is there. */
  readonly isInDoubt: boolean
  /** Requests without an answer, and deliveries we have not answered. */
  readonly open: number
  readonly unanswered: number
  /** When the oldest request without an answer was sent, by `performance.now()`. */
  readonly oldestAt: number | undefined
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

/** So many requests that were called silent may still be answered. */
const MOST_SILENT = 20_000

type OpenRequest = {
  command: RequestCommand
  done: (answer: Answer) => void
  late: ((answer: Answered) => void) | undefined
  /** By the clock of the connection, and by that of the process. */
  sentAt: number
  at: number
}

/**
 * One connection to an SMSC, from connecting to its end: binds, matches answers to requests, keeps the time of each,
 * and asks after a silent peer.
 *
 * A request that is not answered in time is `silent` only when something was heard after it was due: then the other
 * side lives and may have taken it. What was heard before says nothing, for a connection dies under traffic. When
 * nothing was, we ask `enquire_link` first; if that stays without answer too, the connection is dead and everything
 * open is `lost`. As long as we do not know, nothing more is to be sent.
 *
 * Our own delays do not count against the other side. The clock leaves out the time in which this process stood still, and
 * no time-out is judged before everything that has arrived is read: an answer may lie in the socket behind megabytes of
 * receipts. An answer that comes after all of this is still told, as late.
 */
export function openLink(options: LinkOptions, handlers: LinkHandlers): Link {
  const requests = new Map<number, OpenRequest>()
  const silent = new Map<number, OpenRequest>()
  let sequence = 0
  let unanswered = 0
  let isBound = false
  let isClosed = false
  let isProbing = false
  let isInDoubt = false
  let malformedInRow = 0
  let bindStatus: number | undefined
  const tickMs = tickOf(options)
  const clock = createClock(STALL_TICKS * tickMs)
  const dialledAt = clock.now()
  let heardAt = 0
  let isReadingUp = false

  const socket = dial(options, bind)
  const connection: Connection = createConnection(socket, { onPdu, onMalformed, onClosed })
  const ticking = setInterval(tick, tickMs)

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
    if (answer.kind !== 'answered') return connection.destroy(reasonOf(answer))
    if (answer.status === status.ESME_ROK) {
      isBound = true
      return handlers.onBound()
    }
    bindStatus = answer.status
    connection.close(`bind refused: ${statusName(answer.status)}`)
  }

  function request(draft: RequestDraft, done: (answer: Answer) => void, late?: (answer: Answered) => void) {
    sequence = sequence === MOST_SEQUENCE ? 1 : sequence + 1
    connection.send({ ...draft, sequence } as Draft)
    silent.delete(sequence)
    requests.set(sequence, { command: draft.command, done, late, sentAt: clock.now(), at: performance.now() })
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

  function settle(pdu: Pdu) {
    const asked = take(pdu.sequence)
    if (!asked) return settleLate(pdu)
    if (pdu.command !== 'generic_nack' && pdu.command !== `${asked.command}_resp`)
      return asked.done({ kind: 'unreadable', reason: `${asked.command} was answered with ${pdu.command}` })
    asked.done(answeredBy(pdu))
  }

  /** The request was called silent: what it is about counts as handed over, but its id is still of use. */
  function settleLate(pdu: Pdu) {
    const asked = silent.get(pdu.sequence)
    silent.delete(pdu.sequence)
    if (asked && pdu.command === `${asked.command}_resp`) asked.late?.(answeredBy(pdu))
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
    clock.now() // looks at the time, so that only a process that stands still looks seldom
    if (clock.isStopped || isReadingUp || !isAnythingDue()) return
    isReadingUp = true
    const readsBefore = connection.reads
    // Timers come before reads, and this after them: when nothing was read in between, nothing is left to read.
    setImmediate(() => {
      isReadingUp = false
      if (!isClosed && !clock.isStopped) judge(connection.reads === readsBefore)
    })
  }

  const isAnythingDue = () => isBindDue() || isQuiet() || firstDue() !== undefined
  const isBindDue = () => !isBound && clock.now() - dialledAt >= options.connectMs
  const isQuiet = () => isBound && clock.now() - heardAt >= options.enquireMs

  /** How long the oldest request waits, when it is due. */
  function firstDue(): number | undefined {
    if (!isBound) return undefined
    const [first] = requests.values()
    const waitedMs = first ? clock.now() - first.sentAt : 0
    return waitedMs >= options.requestMs ? waitedMs : undefined
  }

  /** Where something is always there to be read, requests get their time once more, and are judged then. */
  function judge(isAllRead: boolean) {
    if (isAllRead && isBindDue()) return giveUp()
    if (isQuiet()) probe()
    if (!isAllRead && (firstDue() ?? 0) < 2 * options.requestMs) return
    for (const [of, asked] of requests) {
      if (clock.now() - asked.sentAt < options.requestMs || isClosed || !isBound) break
      endOverdue(of, asked)
    }
  }

  function endOverdue(of: number, asked: OpenRequest) {
    const reason = `no answer to ${asked.command} within ${options.requestMs} ms`
    if (asked.command !== 'submit_sm') return connection.destroy(reason)
    if (heardAt < asked.sentAt + options.requestMs) return doubt()
    requests.delete(of)
    silent.set(of, asked)
    if (silent.size > MOST_SILENT) silent.delete(silent.keys().next().value!)
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
    get oldestAt() {
      return requests.values().next().value?.at
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

const answeredBy = (pdu: Pdu): Answered => ({
  kind: 'answered',
  status: statusOf(pdu),
  messageId: 'messageId' in pdu ? pdu.messageId : '',
})

/** A nack says no, even one that forgot to say why. */
const statusOf = (pdu: Pdu) =>
  pdu.command === 'generic_nack' && pdu.status === status.ESME_ROK ? status.ESME_RUNKNOWNERR : pdu.status

/** Often enough for the shortest of the times. */
const tickOf = ({ requestMs, connectMs }: LinkOptions) =>
  Math.min(Math.max(Math.min(requestMs, connectMs) / 10, LEAST_TICK_MS), MOST_TICK_MS)

const LEAST_TICK_MS = 10
const MOST_TICK_MS = 1000
/** A process that has not looked at the clock for so many ticks stood still. */
const STALL_TICKS = 2

/**
 * Stands still while we do not read: what we have not looked at is not late. It goes on by no more than `mostStepMs` from
 * one look to the next, so that the time in which the process was frozen or busy does not count.
 */
function createClock(mostStepMs: number) {
  let time = 0
  let lookedAt = performance.now()
  let isStopped = false

  function now(): number {
    const at = performance.now()
    if (!isStopped) time += Math.min(at - lookedAt, mostStepMs)
    lookedAt = at
    return time
  }

  return {
    now,
    stop() {
      now()
      isStopped = true
    },
    go() {
      now()
      isStopped = false
    },
    get isStopped() {
      return isStopped
    },
  }
}
