import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { BindMode } from '../link.ts'
import { isResponse } from '../protocol/codec.ts'
import { type Connection, createConnection } from '../protocol/connection.ts'
import { commands, esmClass, type Pdu, type Tlvs } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { decodeInbound, encodeText, type InboundText, type LongMessages } from '../protocol/text.ts'
import { createLedger, type SmscCounts, type SmscReport } from './deliveries.ts'
import { createQueue, type Queue } from './queue.ts'

/** How the SMSC behaves. Rates are shares from 0 to 1. */
export type SmscSettings = {
  host?: string
  port?: number
  tls?: { key: string; cert: string }
  /** Passwords by system id; without them everybody may bind. */
  accounts?: Record<string, string>
  /** Most submissions of an account in any second; more are throttled. */
  partsPerSecond?: number
  /** Time until a submission is answered. */
  answerMs?: number
  /** A receipt comes anywhere up to this after the answer. */
  receiptMs?: number
  receiptStyle?: 'tlv' | 'text' | 'both'
  /** It counts its ids from here; unless told, from a large number of its own. */
  firstId?: number
  /** How ids are written in answers, and in receipts. */
  answerIds?: IdStyle
  receiptIds?: IdStyle
  refuseRate?: number
  /** What a refused submission is answered with. */
  refuseStatus?: number
  throttleRate?: number
  queueFullRate?: number
  /** Accepted, and then not delivered: a share of them, or those whose text is so. */
  failRate?: number
  failsWhen?: (text: string) => boolean
  /** Taken without ever answering. */
  silentRate?: number
  missingReceiptRate?: number
  duplicateReceiptRate?: number
  /** The receipt goes out before the answer. */
  earlyReceiptRate?: number
  /** Closes the connection on this share of submissions, which it has taken, without answering. */
  disconnectRate?: number
  /** Closes the connection on every so manieth submission, which it has taken, without answering. */
  disconnectEvery?: number
  /**
   * The last four digits of a number decide what happens to it, as with the simulated operators: 0003 is not delivered,
   * 0004 is refused, 0005 has no receipt, 0006 has two, 0007 has one before the answer, 0009 is throttled at first.
   */
  testNumbers?: boolean
  /** Every submission it takes; to keep them is the caller's affair. */
  onMessage?: (message: SmscMessage) => void
}

export type IdStyle = 'decimal' | 'hex' | 'HEX' | 'padded'

export type SmscMessage = InboundText & {
  id: string
  systemId: string
  from: string
  to: string
  pdu: Pdu<'submit_sm'>
}

export type Smsc = {
  readonly port: number
  readonly counts: SmscCounts
  /** How many parts it has taken for each destination. */
  readonly taken: ReadonlyMap<string, number>
  /** How many binds of each account there are, and how many there were at most. */
  readonly bound: ReadonlyMap<string, { now: number; most: number }>
  /** A subscriber writes to us, over a bind of the account that receives. */
  deliver(message: { systemId: string; from: string; to: string; text: string; longMessages?: LongMessages }): void
  /** Changes its behaviour from now on. */
  behave(changes: Partial<SmscSettings>): void
  /** Cuts every connection, as a network does. */
  disconnect(): void
  stop(): Promise<void>
}

type Bound = { systemId: string; mode: BindMode }

/** One connection of an ESME. */
type Visitor = {
  connection: Connection
  bound?: Bound
  reports: ReturnType<ReturnType<typeof createLedger>['visitor']>
}

/** An SMSC to test against, over real sockets. Takes everything, says what it is told to say, and counts. */
export async function startSmsc(initial: SmscSettings = {}): Promise<Smsc> {
  let settings = initial
  const counts = emptyCounts()
  const taken = new Map<string, number>()
  const bound = new Map<string, { now: number; most: number }>()
  const visitors = new Set<Visitor>()
  const limits = createLimits()
  const tried = new Set<string>()
  let lastId = settings.firstId === undefined ? (Date.now() % 1_000_000) * 1_000_000 : settings.firstId - 1
  let lastReference = 0

  const onSocket = (socket: Socket) => void welcome(socket)
  const server = settings.tls ? createTlsServer(settings.tls, onSocket) : createServer(onSocket)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port ?? 0, settings.host ?? '127.0.0.1', resolve)
  })
  const ledger = createLedger(counts) // which ticks: not before it is certain that there is somebody to stop it

  function welcome(socket: Socket) {
    counts.connections++
    const connection = createConnection(socket, {
      onPdu: pdu => take(visitor, pdu),
      onMalformed: () => void counts.malformed++,
      onClosed() {
        visitors.delete(visitor)
        if (visitor.bound) countBinds(visitor.bound.systemId, -1)
        visitor.reports.leave()
      },
    })
    const visitor: Visitor = { connection, reports: ledger.visitor(connection) }
    visitors.add(visitor)
  }

  function take(visitor: Visitor, pdu: Pdu) {
    const { connection } = visitor
    switch (pdu.command) {
      case 'bind_transceiver':
      case 'bind_transmitter':
      case 'bind_receiver':
        return bind(visitor, pdu)
      case 'submit_sm':
        return submit(visitor, pdu)
      case 'deliver_sm_resp':
        return visitor.reports.answered(pdu)
      case 'enquire_link':
        return connection.send({ command: 'enquire_link_resp', sequence: pdu.sequence })
      case 'unbind':
        counts.unbinds++
        connection.send({ command: 'unbind_resp', sequence: pdu.sequence })
        return connection.close('unbound')
      default:
        if (isResponse(commands[pdu.command].id)) return
        return connection.send({ command: 'generic_nack', status: status.ESME_RINVCMDID, sequence: pdu.sequence })
    }
  }

  function bind(visitor: Visitor, pdu: Pdu<'bind_transceiver' | 'bind_transmitter' | 'bind_receiver'>) {
    const command = `${pdu.command}_resp` as const
    const code = answerToBind(visitor, pdu.systemId, pdu.password, settings.accounts)
    if (code !== status.ESME_ROK) counts.bindsRefused++
    visitor.connection.send({ command, status: code, sequence: pdu.sequence, systemId: 'smsc' })
    if (code !== status.ESME_ROK) return
    counts.binds++
    visitor.bound = { systemId: pdu.systemId, mode: pdu.command.slice('bind_'.length) as BindMode }
    countBinds(pdu.systemId, 1)
    if (visitor.bound.mode !== 'transmitter') visitor.reports.join(pdu.systemId)
  }

  function countBinds(systemId: string, change: 1 | -1) {
    const before = bound.get(systemId) ?? { now: 0, most: 0 }
    const now = before.now + change
    bound.set(systemId, { now, most: Math.max(before.most, now) })
  }

  function submit(visitor: Visitor, pdu: Pdu<'submit_sm'>) {
    counts.submitted++
    const { bound } = visitor
    if (!bound || bound.mode === 'receiver') return answer(visitor, pdu, status.ESME_RINVBNDSTS)
    const no = refusal(bound.systemId, pdu)
    if (no !== undefined) return answer(visitor, pdu, no)
    accept(visitor, bound.systemId, pdu)
  }

  /** What is fixed for a number, where numbers are looked at. */
  const fixedFor = ({ destinationAddr }: Pdu<'submit_sm'>) =>
    settings.testNumbers ? TEST_NUMBERS[destinationAddr.slice(-4)] : undefined

  function isFirstTry({ destinationAddr }: Pdu<'submit_sm'>): boolean {
    if (tried.has(destinationAddr)) return false
    tried.add(destinationAddr)
    return true
  }

  function refusal(systemId: string, pdu: Pdu<'submit_sm'>): number | undefined {
    const fixed = fixedFor(pdu)
    if (fixed?.throttled && isFirstTry(pdu)) return status.ESME_RTHROTTLED
    if (settings.partsPerSecond && !limits.allows(systemId, settings.partsPerSecond)) return status.ESME_RTHROTTLED
    if (happens(settings.throttleRate)) return status.ESME_RTHROTTLED
    if (happens(settings.queueFullRate)) return status.ESME_RMSGQFUL
    if (happens(fixed?.refuse ?? settings.refuseRate)) return settings.refuseStatus ?? status.ESME_RINVDSTADR
  }

  function accept(visitor: Visitor, systemId: string, pdu: Pdu<'submit_sm'>) {
    const id = ++lastId
    counts.accepted++
    if (isFirstPart(pdu)) counts.messages++
    taken.set(pdu.destinationAddr, (taken.get(pdu.destinationAddr) ?? 0) + 1)
    tell(id, systemId, pdu)
    if (isCutOff()) return cut(visitor)
    const isEarly = happens(fixedFor(pdu)?.early ?? settings.earlyReceiptRate)
    if (isEarly) report(systemId, pdu, id, 0)
    if (!happens(settings.silentRate)) answer(visitor, pdu, status.ESME_ROK, written(id, settings.answerIds))
    if (!isEarly) report(systemId, pdu, id, (settings.answerMs ?? 0) + Math.random() * (settings.receiptMs ?? 0))
  }

  const isCutOff = () =>
    (settings.disconnectEvery && counts.accepted % settings.disconnectEvery === 0) || happens(settings.disconnectRate)

  function tell(id: number, systemId: string, pdu: Pdu<'submit_sm'>) {
    if (!settings.onMessage) return
    const read = decodeInbound(pdu, { gsmPacking: false })
    settings.onMessage({ ...read, id: String(id), systemId, from: pdu.sourceAddr, to: pdu.destinationAddr, pdu })
  }

  function cut(visitor: Visitor) {
    counts.disconnects++
    visitor.connection.destroy('cut')
  }

  function answer({ connection }: Visitor, { sequence }: Pdu, code: number, messageId = '') {
    if (code === status.ESME_RTHROTTLED || code === status.ESME_RMSGQFUL) counts.throttled++
    else if (code !== status.ESME_ROK) counts.refused++
    const send = () => connection.send({ command: 'submit_sm_resp', status: code, sequence, messageId })
    if (settings.answerMs) setTimeout(send, settings.answerMs)
    else send()
  }

  function report(systemId: string, pdu: Pdu<'submit_sm'>, id: number, afterMs: number) {
    const fixed = fixedFor(pdu)
    if ((pdu.registeredDelivery & 1) === 0 || happens(fixed?.missing ?? settings.missingReceiptRate)) return
    const receipt = receiptOf(
      pdu,
      written(id, settings.receiptIds),
      !happens(fixed?.fail ?? (settings.failsWhen?.(textOf(pdu)) ? 1 : settings.failRate)),
      settings.receiptStyle,
    )
    ledger.add(systemId, receipt, afterMs)
    if (happens(fixed?.duplicate ?? settings.duplicateReceiptRate)) ledger.add(systemId, receipt, afterMs)
  }

  return {
    port: (server.address() as AddressInfo).port,
    counts,
    taken,
    bound,
    behave(changes) {
      settings = { ...settings, ...changes }
      if (changes.firstId !== undefined) lastId = changes.firstId - 1
    },
    deliver({ systemId, from, to, text, longMessages = 'udh' }) {
      const parts = encodeText(text, ++lastReference, { longMessages, gsmPacking: false, latin1: false })
      for (const part of parts) ledger.add(systemId, { sourceAddr: from, destinationAddr: to, ...part }, 0)
    },
    disconnect() {
      for (const visitor of visitors) cut(visitor)
    },
    async stop() {
      ledger.stop()
      const closed = new Promise(resolve => server.close(resolve))
      for (const { connection } of visitors) connection.destroy('stopped')
      await closed
    },
  }
}

const emptyCounts = (): SmscCounts => ({
  connections: 0,
  binds: 0,
  bindsRefused: 0,
  unbinds: 0,
  submitted: 0,
  accepted: 0,
  messages: 0,
  refused: 0,
  throttled: 0,
  receipts: 0,
  receiptsAcknowledged: 0,
  receiptsAgain: 0,
  inboundAcknowledged: 0,
  malformed: 0,
  disconnects: 0,
})

/** A long message is counted by its first part. */
function isFirstPart(pdu: Pdu<'submit_sm'>): boolean {
  const mayBeJoined = (pdu.esmClass & esmClass.udh) !== 0 || pdu.tlvs.sarMsgRefNum !== undefined
  return !mayBeJoined || (decodeInbound(pdu, { gsmPacking: false }).joined?.part ?? 1) === 1
}

const textOf = (pdu: Pdu<'submit_sm'>) => decodeInbound(pdu, { gsmPacking: false }).text

type Fixed = { fail?: 1; refuse?: 1; missing?: 1; duplicate?: 1; early?: 1; throttled?: true }

const TEST_NUMBERS: Record<string, Fixed | undefined> = {
  '0003': { fail: 1 },
  '0004': { refuse: 1 },
  '0005': { missing: 1 },
  '0006': { duplicate: 1 },
  '0007': { early: 1 },
  '0009': { throttled: true },
}

const happens = (rate: number | undefined) => rate !== undefined && rate > 0 && Math.random() < rate

function answerToBind(visitor: Visitor, systemId: string, password: string, accounts: SmscSettings['accounts']) {
  if (visitor.bound) return status.ESME_RALYBND
  if (!accounts) return status.ESME_ROK
  if (!Object.hasOwn(accounts, systemId)) return status.ESME_RINVSYSID
  return accounts[systemId] === password ? status.ESME_ROK : status.ESME_RINVPASWD
}

/** By account: no more than so many in any second, wherever it begins. Those refused do not count. */
function createLimits() {
  const lastSecond = new Map<string, Queue<number>>()
  return {
    allows(systemId: string, perSecond: number): boolean {
      const now = performance.now()
      const moments = lastSecond.get(systemId) ?? createQueue()
      lastSecond.set(systemId, moments)
      while (moments.size > 0 && moments.first()! <= now - 1000) moments.shift()
      if (moments.size >= perSecond) return false
      moments.push(now)
      return true
    },
  }
}

const PADDED_TO = 20

function written(id: number, style: IdStyle = 'decimal'): string {
  switch (style) {
    case 'decimal':
      return String(id)
    case 'hex':
      return id.toString(16)
    case 'HEX':
      return id.toString(16).toUpperCase()
    case 'padded':
      return String(id).padStart(PADDED_TO, '0')
  }
}

const DELIVERED = 2
const UNDELIVERABLE = 5
/** GSM, "absent subscriber". */
const ABSENT = Buffer.from([3, 0, 27])

/** A receipt goes back from the subscriber to the sender. */
function receiptOf(
  pdu: Pdu<'submit_sm'>,
  id: string,
  isDelivered: boolean,
  style: SmscSettings['receiptStyle'] = 'both',
): SmscReport {
  const tlvs: Tlvs = {
    receiptedMessageId: id,
    messageState: isDelivered ? DELIVERED : UNDELIVERABLE,
    ...(isDelivered ? {} : { networkErrorCode: ABSENT }),
  }
  return {
    sourceAddrTon: pdu.destAddrTon,
    sourceAddrNpi: pdu.destAddrNpi,
    sourceAddr: pdu.destinationAddr,
    destAddrTon: pdu.sourceAddrTon,
    destAddrNpi: pdu.sourceAddrNpi,
    destinationAddr: pdu.sourceAddr,
    esmClass: esmClass.receipt,
    shortMessage: style === 'tlv' ? Buffer.alloc(0) : Buffer.from(receiptText(id, isDelivered, pdu)),
    ...(style === 'text' ? {} : { tlvs }),
  }
}

function receiptText(id: string, isDelivered: boolean, pdu: Pdu<'submit_sm'>): string {
  const now = new Date().toISOString().replace(/\D/g, '').slice(2, 12)
  const head = `id:${id} sub:001 dlvrd:00${isDelivered ? 1 : 0} submit date:${now} done date:${now}`
  const text = decodeInbound(pdu, { gsmPacking: false }).text.replace(/[^\x20-\x7e]/g, '.')
  return `${head} stat:${isDelivered ? 'DELIVRD' : 'UNDELIV'} err:${isDelivered ? '000' : '027'} text:${text.slice(0, 20)}`
}
