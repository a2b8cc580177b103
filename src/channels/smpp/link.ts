import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isResponse } from './protocol/codec.ts'
import { CLOSED_BY_PEER, Connection } from './protocol/connection.ts'
import { commands, type Draft, type Malformed, type Pdu } from './protocol/pdu.ts'
import { status, statusName } from './protocol/status.ts'
import { ReadingClock } from './reading-clock.ts'

export type BindMode = 'transceiver' | 'transmitter' | 'receiver'

export type LinkOptions = {
  host: string
  port: number
  /** The certificate is always verified: against the authorities of the system, or against `ca`. */
  tls?: { ca?: string; serverName?: string }
  mode: BindMode
  systemId: string
  password: string
  systemType: string
  /** The longest time for connecting and binding. */
  connectMs: number
  /** The longest time for the answer to a request after the bind. */
  requestMs: number
  /** After so long without a PDU from the SMSC the link sends `enquire_link`. */
  enquireMs: number
}

export type Delivery = Pdu<'deliver_sm' | 'data_sm'>

export type LinkHandlers = {
  onBound(): void
  /** The SMSC delivers a receipt or a message. `answer` must be called when it is stored. */
  onDelivery(pdu: Delivery, answer: (status: number) => void): void
  onMalformed(reason: string): void
  /** Called once, before the open requests end as lost. `bindStatus` is there if the SMSC refused the bind. */
  onClosed(reason: string, bindStatus?: number): void
}

export type Answered = { kind: 'answered'; status: number; messageId: string }

/** The end of a request. */
export type RequestResult =
  | Answered
  | { kind: 'silent'; reason: string } // no answer in time, but the SMSC is alive
  | { kind: 'unreadable'; reason: string } // the answer is malformed or of the wrong kind
  | { kind: 'lost'; reason: string } // the connection ended before the answer

type RequestCommand = 'submit_sm' | 'enquire_link' | 'unbind' | `bind_${BindMode}`
export type RequestDraft = { [C in RequestCommand]: Omit<Draft<C>, 'sequence' | 'status'> }[RequestCommand]

const NO_TLS_YET = 'TLS handshake (the other side may not speak TLS on this port)'
const INTERFACE_VERSION = 0x34
const MOST_SEQUENCE = 0x7fffffff
/** With so many unanswered deliveries the link stops reading. It reads on when half of them are answered. */
const MOST_UNANSWERED = 5000
const UNBIND_WITHIN_MS = 2000
/** After so many unreadable PDUs in a row the link closes the connection. */
const MOST_MALFORMED = 100
/** So many timed-out requests are remembered, in case their answer comes late. */
const MOST_SILENT = 20_000

type OpenRequest = {
  command: RequestCommand
  done: (answer: RequestResult) => void
  late: ((answer: Answered) => void) | undefined
  /** By the clock of the link. */
  sentAt: number
  /** By `performance.now()`. */
  at: number
}

/**
 * One connection to an SMSC, from connecting to its end: binds, matches answers to requests, watches the time of each
 * request and sends `enquire_link` when the SMSC is quiet.
 *
 * A request without an answer in time is `silent` only if the link heard anything after the request was due: then the
 * SMSC is alive and may have accepted the message. PDUs heard before that prove nothing, because a connection can die
 * under traffic. If nothing was heard, the link sends `enquire_link` first. If that has no answer either, the connection
 * is dead and every open request is `lost`. Until this is clear the link is in doubt, and callers must not send more.
 *
 * Delays of this process do not count against the SMSC. The clock of the link leaves out the time in which the process
 * was frozen or busy. The link judges no time-out before it has read everything that arrived, because the answer may be
 * in the socket behind megabytes of receipts. An answer that comes later still goes to the `late` callback.
 */
export class Link {
  readonly #options: LinkOptions
  readonly #handlers: LinkHandlers
  readonly #requests = new Map<number, OpenRequest>()
  readonly #silent = new Map<number, OpenRequest>()
  readonly #clock: ReadingClock
  readonly #connectingSince: number
  readonly #socket: Socket
  readonly #connection: Connection
  readonly #ticking: NodeJS.Timeout
  #sequence = 0
  #unanswered = 0
  #isBound = false
  #isClosed = false
  #isEnquiring = false
  #isInDoubt = false
  #isReadingUp = false
  #malformedInRow = 0
  #heardAt = 0
  #bindStatus: number | undefined

  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
    const tickMs = tickOf(options)
    this.#clock = new ReadingClock(STALL_TICKS * tickMs)
    this.#connectingSince = this.#clock.now()
    this.#socket = dial(options, () => this.#bind())
    this.#connection = new Connection(this.#socket, {
      onPdu: pdu => this.#onPdu(pdu),
      onMalformed: malformed => this.#onMalformed(malformed),
      onClosed: reason => this.#onClosed(reason),
    })
    this.#ticking = setInterval(() => this.#tick(), tickMs)
  }

  /**
   * Throws a RangeError, before anything is sent, if the request cannot be encoded. `late` gets an answer that comes
   * after `done` was called with `silent`.
   */
  request(draft: RequestDraft, done: (answer: RequestResult) => void, late?: (answer: Answered) => void): void {
    const sequence = this.#sequence === MOST_SEQUENCE ? 1 : this.#sequence + 1
    this.#sequence = sequence
    this.#connection.send({ ...draft, sequence })
    this.#silent.delete(sequence)
    const sentAt = this.#clock.now()
    this.#requests.set(sequence, { command: draft.command, done, late, sentAt, at: performance.now() })
  }

  /** Writes the requests so far at once, without waiting for others. */
  flush(): void {
    this.#connection.flush()
  }

  /** Bound, and not about to end. */
  get isUp(): boolean {
    return this.#isBound && this.#connection.isOpen
  }

  /** An answer is overdue and nothing was heard since: `enquire_link` is under way. */
  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  /** How many requests have no answer. */
  get open(): number {
    return this.#requests.size
  }

  /** How many deliveries of the SMSC have no answer of ours. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** When the oldest request without an answer was sent, by `performance.now()`. */
  get oldestAt(): number | undefined {
    return this.#requests.values().next().value?.at
  }

  /** Sends `unbind`, waits a little for the answer, and closes. */
  unbind() {
    if (!this.#isBound) return this.#connection.destroy('stopped')
    this.request({ command: 'unbind' }, () => this.#connection.close('stopped'))
    setTimeout(() => this.#connection.destroy('stopped'), UNBIND_WITHIN_MS).unref()
  }

  destroy(reason: string): void {
    this.#connection.destroy(reason)
  }

  #bind() {
    const { systemId, password, systemType, mode } = this.#options
    const command = `bind_${mode}` as const
    try {
      const draft = { command, systemId, password, systemType, interfaceVersion: INTERFACE_VERSION }
      this.request(draft, answer => this.#onBindAnswered(answer))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // The message does not say which character: it may be one of the password.
      this.#connection.destroy('the system id, password or system type cannot be encoded in SMPP')
    }
  }

  #onBindAnswered(answer: RequestResult) {
    if (answer.kind !== 'answered') return this.#connection.destroy(answer.reason)
    if (answer.status === status.ESME_ROK) {
      this.#isBound = true
      return this.#handlers.onBound()
    }
    this.#bindStatus = answer.status
    this.#connection.close(`bind refused: ${statusName(answer.status)}`)
  }

  #onPdu(pdu: Pdu) {
    this.#heard()
    this.#malformedInRow = 0
    switch (pdu.command) {
      case 'deliver_sm':
      case 'data_sm':
        return this.#deliver(pdu)
      case 'enquire_link':
        return this.#connection.send({ command: 'enquire_link_resp', sequence: pdu.sequence })
      case 'unbind':
        this.#connection.send({ command: 'unbind_resp', sequence: pdu.sequence })
        return this.#connection.close('unbound by the other side')
      case 'alert_notification': // has no answer, and no meaning for us
      case 'outbind':
        return
      default:
        return isResponse(commands[pdu.command].id) ? this.#settle(pdu) : this.#refuse(pdu)
    }
  }

  #heard() {
    this.#heardAt = this.#clock.now()
    this.#isInDoubt = false
  }

  #deliver(pdu: Delivery) {
    if (++this.#unanswered >= MOST_UNANSWERED) this.#pauseReading()
    const command = `${pdu.command}_resp` as const
    this.#handlers.onDelivery(pdu, code => {
      this.#connection.send({ command, sequence: pdu.sequence, status: code })
      if (--this.#unanswered <= MOST_UNANSWERED / 2 && this.#clock.isStopped) this.#resumeReading()
    })
  }

  #pauseReading() {
    this.#clock.stop()
    this.#connection.pause()
  }

  #resumeReading() {
    this.#clock.resume()
    this.#connection.resume()
  }

  #refuse(pdu: Pdu) {
    this.#connection.send({ command: 'generic_nack', status: status.ESME_RINVCMDID, sequence: pdu.sequence })
  }

  #settle(pdu: Pdu) {
    const request = this.#take(pdu.sequence)
    if (!request) return this.#settleLate(pdu)
    if (pdu.command !== 'generic_nack' && pdu.command !== `${request.command}_resp`)
      return request.done({ kind: 'unreadable', reason: `${request.command} was answered with ${pdu.command}` })
    request.done(answeredBy(pdu))
  }

  /** The request has timed out and its message counts as sent, but receipts still need the id of the answer. */
  #settleLate(pdu: Pdu) {
    const request = this.#silent.get(pdu.sequence)
    this.#silent.delete(pdu.sequence)
    if (request && pdu.command === `${request.command}_resp`) request.late?.(answeredBy(pdu))
  }

  #take(sequence: number): OpenRequest | undefined {
    const request = this.#requests.get(sequence)
    this.#requests.delete(sequence)
    return request
  }

  #onMalformed({ id, sequence, reason }: Malformed) {
    this.#heard()
    this.#handlers.onMalformed(reason)
    if (isResponse(id)) this.#take(sequence)?.done({ kind: 'unreadable', reason })
    if (++this.#malformedInRow === MOST_MALFORMED) this.#connection.close(`malformed: ${MOST_MALFORMED} PDUs in a row`)
  }

  #tick() {
    this.#clock.now() // the clock must be read often: it takes a long gap for a frozen process
    if (this.#clock.isStopped || this.#isReadingUp || !this.#isAnythingDue()) return
    this.#isReadingUp = true
    const readsBefore = this.#connection.reads
    // The event loop runs timers, then reads, then setImmediate: without a read in between, the socket is empty.
    setImmediate(() => {
      this.#isReadingUp = false
      if (!this.#isClosed && !this.#clock.isStopped) this.#judge(this.#connection.reads === readsBefore)
    })
  }

  #isAnythingDue(): boolean {
    return this.#isBindDue() || this.#isQuiet() || this.#longestWaitMs() !== undefined
  }

  #isBindDue(): boolean {
    return !this.#isBound && this.#clock.now() - this.#connectingSince >= this.#options.connectMs
  }

  #isQuiet(): boolean {
    return this.#isBound && this.#clock.now() - this.#heardAt >= this.#options.enquireMs
  }

  /** How long the oldest request has waited, if it is overdue. */
  #longestWaitMs(): number | undefined {
    if (!this.#isBound) return undefined
    const [first] = this.#requests.values()
    const waitedMs = first ? this.#clock.now() - first.sentAt : 0
    return waitedMs >= this.#options.requestMs ? waitedMs : undefined
  }

  /** If the socket never runs empty, a request gets its time twice. Then it is judged all the same. */
  #judge(isAllRead: boolean) {
    const { requestMs } = this.#options
    if (isAllRead && this.#isBindDue()) return this.#giveUpBinding()
    if (this.#isQuiet()) this.#enquire()
    if (!isAllRead && (this.#longestWaitMs() ?? 0) < 2 * requestMs) return
    for (const [sequence, request] of this.#requests) {
      if (this.#clock.now() - request.sentAt < requestMs || this.#isClosed || !this.#isBound) break
      this.#endOverdue(sequence, request)
    }
  }

  #giveUpBinding() {
    const { mode, connectMs } = this.#options
    const missing =
      this.#requests.size > 0 ? `answer to bind_${mode}` : this.#socket.connecting ? 'connection' : NO_TLS_YET
    this.#connection.destroy(`no ${missing} within ${connectMs} ms`)
  }

  #endOverdue(sequence: number, request: OpenRequest) {
    const { requestMs } = this.#options
    const reason = `no answer to ${request.command} within ${requestMs} ms`
    if (request.command !== 'submit_sm') return this.#connection.destroy(reason)
    if (this.#heardAt < request.sentAt + requestMs) return this.#doubt()
    this.#requests.delete(sequence)
    this.#rememberSilent(sequence, request)
    request.done({ kind: 'silent', reason })
  }

  #rememberSilent(sequence: number, request: OpenRequest) {
    this.#silent.set(sequence, request)
    const [oldest] = this.#silent.keys()
    if (oldest !== undefined && this.#silent.size > MOST_SILENT) this.#silent.delete(oldest)
  }

  #doubt() {
    this.#isInDoubt = true
    this.#enquire()
  }

  #enquire() {
    if (this.#isEnquiring) return
    this.#isEnquiring = true
    this.request({ command: 'enquire_link' }, () => {
      this.#isEnquiring = false
    })
  }

  #onClosed(reason: string) {
    this.#isClosed = true
    clearInterval(this.#ticking)
    const open = [...this.#requests.values()]
    this.#requests.clear()
    const isBeforeBind = reason === CLOSED_BY_PEER && !this.#isBound
    this.#handlers.onClosed(isBeforeBind ? closedBeforeBind(this.#options) : reason, this.#bindStatus)
    for (const { done } of open) done({ kind: 'lost', reason })
  }
}

function dial({ host, port, tls }: LinkOptions, onConnected: () => void): Socket {
  if (!tls) return connectPlain({ host, port }, onConnected)
  const { ca, serverName } = tls
  const trusted = { ...(ca ? { ca } : {}), ...(serverName ? { servername: serverName } : {}) }
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the verification off.
  return connectTls({ host, port, ...trusted, minVersion: 'TLSv1.2', rejectUnauthorized: true }, onConnected)
}

/** Many servers that expect TLS close a connection without TLS and give no reason. */
const closedBeforeBind = ({ mode, tls }: LinkOptions) =>
  `${CLOSED_BY_PEER} before it answered bind_${mode}: check the port${tls ? '' : ', and set tls=true when the operator expects TLS'}`

const answeredBy = (pdu: Pdu): Answered => ({
  kind: 'answered',
  status: statusOf(pdu),
  messageId: 'messageId' in pdu ? pdu.messageId : '',
})

/** A generic_nack is an error, even with the status "ok". */
const statusOf = (pdu: Pdu) =>
  pdu.command === 'generic_nack' && pdu.status === status.ESME_ROK ? status.ESME_RUNKNOWNERR : pdu.status

/** A tenth of the shortest time-out, within bounds. */
const tickOf = ({ requestMs, connectMs }: LinkOptions) =>
  Math.min(Math.max(Math.min(requestMs, connectMs) / 10, LEAST_TICK_MS), MOST_TICK_MS)

const LEAST_TICK_MS = 10
const MOST_TICK_MS = 1000
/** If the process did not read the clock for so many ticks, it was frozen or busy. */
const STALL_TICKS = 2
