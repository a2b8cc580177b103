import type { Connection } from '../protocol/connection.ts'
import { type Draft, esmClass, type Pdu } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { Queue } from './queue.ts'

/** How the deliveries of the SMSC went; `SmscCounts` contains these counts. */
export type DeliveryCounts = {
  receipts: number
  receiptsAcknowledged: number
  /** Deliveries without an acknowledgement; the SMSC sends them again. */
  receiptsAgain: number
  inboundAcknowledged: number
}

/** A receipt, or a message of a subscriber. */
export type SmscDelivery = Omit<Draft<'deliver_sm'>, 'command' | 'sequence' | 'status'>

type Waiting = { systemId: string; delivery: SmscDelivery }

/** The most deliveries without an answer on one connection. */
const WINDOW = 500
const TICK_MS = 5
const AGAIN_AFTER_MS = 200

/**
 * The deliveries of the SMSC to its accounts. Each goes to any receiving bind of its account when it is due, and again
 * until it is acknowledged. One timer serves all of them: a timer for each of a million receipts would be too slow.
 */
export class SmscDeliveries {
  readonly #counts: DeliveryCounts
  readonly #due = new Map<string, Queue<SmscDelivery>>()
  readonly #later = new Map<number, Waiting[]>()
  readonly #receivers = new Map<string, Set<Receiver>>()
  readonly #ticking = setInterval(() => this.#collect(), TICK_MS)
  #lastTick = tickOf(performance.now())

  constructor(counts: DeliveryCounts) {
    this.#counts = counts
  }

  add(systemId: string, delivery: SmscDelivery, afterMs: number) {
    if (afterMs < TICK_MS) return this.#deliver(systemId, delivery)
    const tick = tickOf(performance.now() + afterMs)
    const waiting = this.#later.get(tick)
    if (waiting) waiting.push({ systemId, delivery })
    else this.#later.set(tick, [{ systemId, delivery }])
  }

  /** The connection receives the deliveries of the account from now on. */
  join(systemId: string, connection: Pick<Connection, 'send'>): Receiver {
    const receiver = new Receiver(connection, this.#counts, {
      onRoom: () => this.#drain(systemId),
      onUnacknowledged: delivery => this.#addAgain(systemId, delivery),
      onLeave: () => this.#receivers.get(systemId)?.delete(receiver),
    })
    const all = this.#receivers.get(systemId) ?? new Set()
    this.#receivers.set(systemId, all.add(receiver))
    this.#drain(systemId)
    return receiver
  }

  stop(): void {
    clearInterval(this.#ticking)
  }

  #collect() {
    const now = tickOf(performance.now())
    for (; this.#lastTick <= now; this.#lastTick++) {
      for (const { systemId, delivery } of this.#later.get(this.#lastTick) ?? []) this.#deliver(systemId, delivery)
      this.#later.delete(this.#lastTick)
    }
  }

  #deliver(systemId: string, delivery: SmscDelivery) {
    const receiver = this.#receiverOf(systemId)
    if (receiver) receiver.send(delivery)
    else this.#queueOf(systemId).push(delivery)
  }

  #receiverOf(systemId: string): Receiver | undefined {
    for (const receiver of this.#receivers.get(systemId) ?? []) if (receiver.room > 0) return receiver
  }

  #queueOf(systemId: string): Queue<SmscDelivery> {
    const queue = this.#due.get(systemId) ?? new Queue()
    this.#due.set(systemId, queue)
    return queue
  }

  /** Sends the waiting deliveries, the oldest first. */
  #drain(systemId: string) {
    const queue = this.#queueOf(systemId)
    for (let receiver = this.#receiverOf(systemId); receiver; receiver = this.#receiverOf(systemId)) {
      const delivery = queue.shift()
      if (!delivery) return
      receiver.send(delivery)
    }
  }

  #addAgain(systemId: string, delivery: SmscDelivery) {
    this.#counts.receiptsAgain++
    this.add(systemId, delivery, AGAIN_AFTER_MS)
  }
}

type ReceiverEvents = {
  onRoom(): void
  onUnacknowledged(delivery: SmscDelivery): void
  onLeave(): void
}

/** One connection that receives, with its unanswered deliveries by sequence number. */
export class Receiver {
  readonly #connection: Pick<Connection, 'send'>
  readonly #counts: DeliveryCounts
  readonly #events: ReceiverEvents
  readonly #open = new Map<number, SmscDelivery>()
  #sequence = 0

  constructor(connection: Pick<Connection, 'send'>, counts: DeliveryCounts, events: ReceiverEvents) {
    this.#connection = connection
    this.#counts = counts
    this.#events = events
  }

  get room(): number {
    return WINDOW - this.#open.size
  }

  send(delivery: SmscDelivery): void {
    const sequence = ++this.#sequence
    this.#open.set(sequence, delivery)
    if (isReceipt(delivery)) this.#counts.receipts++
    this.#connection.send({ command: 'deliver_sm', sequence, ...delivery })
  }

  onAnswer({ sequence, status: code }: Pick<Pdu<'deliver_sm_resp'>, 'sequence' | 'status'>): void {
    const delivery = this.#open.get(sequence)
    if (!delivery) return
    this.#open.delete(sequence)
    if (code !== status.ESME_ROK) this.#events.onUnacknowledged(delivery)
    else if (isReceipt(delivery)) this.#counts.receiptsAcknowledged++
    else this.#counts.inboundAcknowledged++
    this.#events.onRoom()
  }

  /** The connection has ended. */
  leave(): void {
    this.#events.onLeave()
    for (const delivery of this.#open.values()) this.#events.onUnacknowledged(delivery)
    this.#open.clear()
  }
}

const tickOf = (ms: number) => Math.ceil(ms / TICK_MS)

const isReceipt = (delivery: SmscDelivery) => ((delivery.esmClass ?? 0) & esmClass.receipt) !== 0
