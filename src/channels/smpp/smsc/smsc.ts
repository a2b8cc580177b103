import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { BindMode } from '../link.ts'
import { isResponse } from '../protocol/codec.ts'
import { Connection } from '../protocol/connection.ts'
import { commands, type Pdu } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { decodeInbound, encodeText, type LongMessages } from '../protocol/text.ts'
import { AccountLimits } from './account-limits.ts'
import { type DeliveryCounts, type Receiver, SmscDeliveries } from './deliveries.ts'
import { idInStyle, isFirstPart, receiptOf, textOf } from './receipts.ts'
import type { SmscSettings } from './settings.ts'

export type { SmscMessage, SmscSettings } from './settings.ts'

export type SmscCounts = DeliveryCounts & {
  connections: number
  binds: number
  bindsRefused: number
  unbinds: number
  submitted: number
  accepted: number
  /** Accepted messages: a long message counts once. */
  messages: number
  refused: number
  throttled: number
  malformed: number
  disconnects: number
}

/** One connection of a client. `receiver` is there when its bind receives. */
type Client = {
  connection: Connection
  bound?: { systemId: string; mode: BindMode }
  receiver?: Receiver
}

type Submit = Pdu<'submit_sm'>

const bindModes = {
  bind_transceiver: 'transceiver',
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
} as const satisfies Record<string, BindMode>

type BindCommand = keyof typeof bindModes

/** Starts an SMSC for tests, over real sockets. It accepts every message, behaves as its settings say, and counts. */
export async function startSmsc(settings: SmscSettings = {}): Promise<Smsc> {
  const smsc = new Smsc(settings)
  await smsc.listen()
  return smsc
}

export class Smsc {
  readonly counts: SmscCounts = emptyCounts()
  readonly #server: Server
  readonly #clients = new Set<Client>()
  readonly #limits = new AccountLimits()
  readonly #taken = new Map<string, number>()
  readonly #bound = new Map<string, { now: number; most: number }>()
  readonly #tried = new Set<string>()
  #settings: SmscSettings
  #startedDeliveries: SmscDeliveries | undefined
  #lastId: number
  #lastReference = 0

  constructor(settings: SmscSettings) {
    this.#settings = settings
    this.#lastId = settings.firstId === undefined ? (Date.now() % 1_000_000) * 1_000_000 : settings.firstId - 1
    const onSocket = (socket: Socket) => this.#onSocket(socket)
    this.#server = settings.tls ? createTlsServer(settings.tls, onSocket) : createServer(onSocket)
    this.#server.on('tlsClientError', () => {})
  }

  async listen(): Promise<void> {
    const { port = 0, host = '127.0.0.1' } = this.#settings
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    this.#startedDeliveries = new SmscDeliveries(this.counts) // has a timer: started only when `listen` succeeded
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the SMSC does not listen on a port')
    return address.port
  }

  /** How many parts were accepted for each destination. */
  get taken(): ReadonlyMap<string, number> {
    return this.#taken
  }

  /** How many binds each account has, and the most that it had at once. */
  get bound(): ReadonlyMap<string, { now: number; most: number }> {
    return this.#bound
  }

  /** Changes the behaviour from now on. */
  behave(changes: Partial<SmscSettings>): void {
    this.#settings = { ...this.#settings, ...changes }
    if (changes.firstId !== undefined) this.#lastId = changes.firstId - 1
  }

  /** A subscriber writes a message. It goes to a receiving bind of the account. */
  deliver(message: { systemId: string; from: string; to: string; text: string; longMessages?: LongMessages }): void {
    const { systemId, from, to, text, longMessages = 'udh' } = message
    const parts = encodeText(text, ++this.#lastReference, { longMessages, gsmPacking: false, latin1: false })
    for (const part of parts) this.#deliveries.add(systemId, { sourceAddr: from, destinationAddr: to, ...part }, 0)
  }

  /** Cuts every connection, as a network failure does. */
  disconnect(): void {
    for (const client of this.#clients) this.#cut(client)
  }

  async stop(): Promise<void> {
    this.#deliveries.stop()
    const closed = new Promise(resolve => this.#server.close(resolve))
    for (const { connection } of this.#clients) connection.destroy('stopped')
    await closed
  }

  get #deliveries(): SmscDeliveries {
    if (!this.#startedDeliveries) throw new Error('the SMSC does not listen yet')
    return this.#startedDeliveries
  }

  #onSocket(socket: Socket) {
    this.counts.connections++
    const connection = new Connection(socket, {
      onPdu: pdu => this.#onPdu(client, pdu),
      onMalformed: () => void this.counts.malformed++,
      onClosed: () => this.#onClosed(client),
    })
    const client: Client = { connection }
    this.#clients.add(client)
  }

  #onClosed(client: Client) {
    this.#clients.delete(client)
    if (client.bound) this.#countBinds(client.bound.systemId, -1)
    client.receiver?.leave()
  }

  #onPdu(client: Client, pdu: Pdu) {
    const { connection } = client
    switch (pdu.command) {
      case 'bind_transceiver':
      case 'bind_transmitter':
      case 'bind_receiver':
        return this.#bind(client, pdu)
      case 'submit_sm':
        return this.#submit(client, pdu)
      case 'deliver_sm_resp':
        return client.receiver?.onAnswer(pdu)
      case 'enquire_link':
        return connection.send({ command: 'enquire_link_resp', sequence: pdu.sequence })
      case 'unbind':
        return this.#unbind(client, pdu)
      default:
        if (isResponse(commands[pdu.command].id)) return
        return connection.send({ command: 'generic_nack', status: status.ESME_RINVCMDID, sequence: pdu.sequence })
    }
  }

  #bind(client: Client, { command, sequence, systemId, password }: Pdu<BindCommand>) {
    const code = answerToBind(client, systemId, password, this.#settings.accounts)
    client.connection.send({ command: `${command}_resp`, status: code, sequence, systemId: 'smsc' })
    if (code !== status.ESME_ROK) {
      this.counts.bindsRefused++
      return
    }
    this.counts.binds++
    const mode = bindModes[command]
    client.bound = { systemId, mode }
    this.#countBinds(systemId, 1)
    if (mode !== 'transmitter') client.receiver = this.#deliveries.join(systemId, client.connection)
  }

  #unbind({ connection }: Client, { sequence }: Pdu<'unbind'>) {
    this.counts.unbinds++
    connection.send({ command: 'unbind_resp', sequence })
    connection.close('unbound')
  }

  #countBinds(systemId: string, change: 1 | -1) {
    const before = this.#bound.get(systemId) ?? { now: 0, most: 0 }
    const now = before.now + change
    this.#bound.set(systemId, { now, most: Math.max(before.most, now) })
  }

  #submit(client: Client, pdu: Submit) {
    this.counts.submitted++
    const { bound } = client
    if (!bound || bound.mode === 'receiver') return this.#answer(client, pdu, status.ESME_RINVBNDSTS)
    const refusal = this.#refusalOf(bound.systemId, pdu)
    if (refusal !== undefined) return this.#answer(client, pdu, refusal)
    this.#accept(client, bound.systemId, pdu)
  }

  #refusalOf(systemId: string, pdu: Submit): number | undefined {
    const settings = this.#settings
    const fixed = this.#fixedFor(pdu)
    if (fixed?.throttled && this.#isFirstTry(pdu)) return status.ESME_RTHROTTLED
    if (settings.partsPerSecond && !this.#limits.allows(systemId, settings.partsPerSecond))
      return status.ESME_RTHROTTLED
    if (happens(settings.throttleRate)) return status.ESME_RTHROTTLED
    if (happens(settings.queueFullRate)) return status.ESME_RMSGQFUL
    if (happens(fixed?.refuse ?? settings.refuseRate)) return settings.refuseStatus ?? status.ESME_RINVDSTADR
  }

  #fixedFor({ destinationAddr }: Submit): Fixed | undefined {
    return this.#settings.testNumbers ? TEST_NUMBERS[destinationAddr.slice(-4)] : undefined
  }

  #isFirstTry({ destinationAddr }: Submit): boolean {
    if (this.#tried.has(destinationAddr)) return false
    this.#tried.add(destinationAddr)
    return true
  }

  #accept(client: Client, systemId: string, pdu: Submit) {
    const { earlyReceiptRate, silentRate, answerIds, answerMs = 0, receiptMs = 0 } = this.#settings
    const id = ++this.#lastId
    this.#countAccepted(pdu)
    this.#callOnMessage(id, systemId, pdu)
    if (this.#isCutOff()) return this.#cut(client)
    const isEarly = happens(this.#fixedFor(pdu)?.early ?? earlyReceiptRate)
    if (isEarly) this.#sendReceipt(systemId, pdu, id, 0)
    if (!happens(silentRate)) this.#answer(client, pdu, status.ESME_ROK, idInStyle(id, answerIds))
    if (!isEarly) this.#sendReceipt(systemId, pdu, id, answerMs + Math.random() * receiptMs)
  }

  #countAccepted(pdu: Submit) {
    this.counts.accepted++
    if (isFirstPart(pdu)) this.counts.messages++
    this.#taken.set(pdu.destinationAddr, (this.#taken.get(pdu.destinationAddr) ?? 0) + 1)
  }

  #callOnMessage(id: number, systemId: string, pdu: Submit) {
    if (!this.#settings.onMessage) return
    const read = decodeInbound(pdu, { gsmPacking: false })
    this.#settings.onMessage({ ...read, id: String(id), systemId, from: pdu.sourceAddr, to: pdu.destinationAddr, pdu })
  }

  #isCutOff(): boolean {
    const { disconnectEvery, disconnectRate } = this.#settings
    if (disconnectEvery && this.counts.accepted % disconnectEvery === 0) return true
    return happens(disconnectRate)
  }

  #cut({ connection }: Client) {
    this.counts.disconnects++
    connection.destroy('cut')
  }

  #answer({ connection }: Client, { sequence }: Submit, code: number, messageId = '') {
    if (code === status.ESME_RTHROTTLED || code === status.ESME_RMSGQFUL) this.counts.throttled++
    else if (code !== status.ESME_ROK) this.counts.refused++
    const send = () => connection.send({ command: 'submit_sm_resp', status: code, sequence, messageId })
    if (this.#settings.answerMs) setTimeout(send, this.#settings.answerMs)
    else send()
  }

  #sendReceipt(systemId: string, pdu: Submit, id: number, afterMs: number) {
    const { missingReceiptRate, duplicateReceiptRate, contradictingReceiptRate, wrongIdReceiptRate } = this.#settings
    const fixed = this.#fixedFor(pdu)
    if ((pdu.registeredDelivery & 1) === 0 || happens(fixed?.missing ?? missingReceiptRate)) return
    const isDelivered = this.#isDelivered(pdu)
    const add = (ofId: number, delivered: boolean) =>
      this.#deliveries.add(systemId, this.#receipt(pdu, ofId, delivered), afterMs)
    add(id, isDelivered)
    if (happens(fixed?.duplicate ?? duplicateReceiptRate)) add(id, isDelivered)
    if (happens(contradictingReceiptRate)) add(id, !isDelivered)
    if (happens(wrongIdReceiptRate)) add(id + UNKNOWN_IDS, isDelivered)
  }

  #receipt(pdu: Submit, id: number, isDelivered: boolean) {
    const { receiptIds, receiptStyle } = this.#settings
    return receiptOf(pdu, idInStyle(id, receiptIds), isDelivered, receiptStyle)
  }

  #isDelivered(pdu: Submit): boolean {
    const { failsWhen, failRate } = this.#settings
    return !happens(this.#fixedFor(pdu)?.fail ?? (failsWhen?.(textOf(pdu)) ? 1 : failRate))
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

type Fixed = { fail?: 1; refuse?: 1; missing?: 1; duplicate?: 1; early?: 1; throttled?: true }

const TEST_NUMBERS: Record<string, Fixed | undefined> = {
  '0003': { fail: 1 },
  '0004': { refuse: 1 },
  '0005': { missing: 1 },
  '0006': { duplicate: 1 },
  '0007': { early: 1 },
  '0009': { throttled: true },
}

/** Ids that are so much larger than all others belong to no message. */
const UNKNOWN_IDS = 1e13

const happens = (rate: number | undefined) => rate !== undefined && rate > 0 && Math.random() < rate

function answerToBind(client: Client, systemId: string, password: string, accounts: SmscSettings['accounts']) {
  if (client.bound) return status.ESME_RALYBND
  if (!accounts) return status.ESME_ROK
  if (!Object.hasOwn(accounts, systemId)) return status.ESME_RINVSYSID
  return accounts[systemId] === password ? status.ESME_ROK : status.ESME_RINVPASWD
}
