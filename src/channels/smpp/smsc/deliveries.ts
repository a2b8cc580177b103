import type { Connection } from '../protocol/connection.ts'
import { type Draft, esmClass, type Pdu } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { createQueue, type Queue } from './queue.ts'

export type SmscCounts = {
  connections: number
  binds: number
  bindsRefused: number
  unbinds: number
  submitted: number
  accepted: number
  /** Of those accepted, long messages counted once. */
  messages: number
  refused: number
  throttled: number
  receipts: number
  receiptsAcknowledged: number
  /** Deliveries answered with an error, or cut off; they are sent again. */
  receiptsAgain: number
  inboundAcknowledged: number
  malformed: number
  disconnects: number
}

/** What the SMSC has to deliver: a receipt, or a message of a subscriber. */
export type SmscReport = Omit<Draft<'deliver_sm'>, 'command' | 'sequence' | 'status'>

type Waiting = { systemId: string; report: SmscReport }

/** Deliveries under way on a connection. */
const WINDOW = 500
const TICK_MS = 5
const AGAIN_AFTER_MS = 200

/**
 * Delivers to whichever bind of an account receives, when the time has come, and again until it is acknowledged.
 * One timer for all: a timer for each of a million receipts would be the slowest thing here.
 */
export function createLedger(counts: SmscCounts) {
  const due = new Map<string, Queue<SmscReport>>()
  const later = new Map<number, Waiting[]>()
  const receivers = new Map<string, Set<Receiver>>()
  let lastTick = tickOf(performance.now())
  const ticking = setInterval(collect, TICK_MS)

  type Receiver = { send(report: SmscReport): void; room(): number }

  function add(systemId: string, report: SmscReport, afterMs: number) {
    if (afterMs < TICK_MS) return deliver(systemId, report)
    const tick = tickOf(performance.now() + afterMs)
    const waiting = later.get(tick)
    if (waiting) waiting.push({ systemId, report })
    else later.set(tick, [{ systemId, report }])
  }

  function collect() {
    const now = tickOf(performance.now())
    for (; lastTick <= now; lastTick++) {
      for (const { systemId, report } of later.get(lastTick) ?? []) deliver(systemId, report)
      later.delete(lastTick)
    }
  }

  function deliver(systemId: string, report: SmscReport) {
    const receiver = receiverOf(systemId)
    if (receiver) receiver.send(report)
    else queueOf(systemId).push(report)
  }

  function receiverOf(systemId: string): Receiver | undefined {
    for (const receiver of receivers.get(systemId) ?? []) if (receiver.room() > 0) return receiver
  }

  function queueOf(systemId: string): Queue<SmscReport> {
    const queue = due.get(systemId) ?? createQueue()
    due.set(systemId, queue)
    return queue
  }

  /** What waited longest goes first. */
  function drain(systemId: string) {
    const queue = due.get(systemId)
    while (queue && queue.size > 0) {
      const receiver = receiverOf(systemId)
      if (!receiver) return
      receiver.send(queue.shift()!)
    }
  }

  /** One connection's side of it. */
  function visitor(connection: Connection) {
    const open = new Map<number, SmscReport>()
    let sequence = 0
    let systemId: string | undefined
    const receiver: Receiver = {
      room: () => WINDOW - open.size,
      send(report) {
        open.set(++sequence, report)
        if (isReceipt(report)) counts.receipts++
        connection.send({ command: 'deliver_sm', sequence, ...report })
      },
    }

    return {
      join(account: string) {
        systemId = account
        const all = receivers.get(account) ?? new Set()
        receivers.set(account, all.add(receiver))
        drain(account)
      },
      answered(pdu: Pdu<'deliver_sm_resp'>) {
        const report = open.get(pdu.sequence)
        if (!report || systemId === undefined) return
        open.delete(pdu.sequence)
        if (pdu.status !== status.ESME_ROK) again(systemId, report)
        else if (isReceipt(report)) counts.receiptsAcknowledged++
        else counts.inboundAcknowledged++
        drain(systemId)
      },
      leave() {
        if (systemId === undefined) return
        receivers.get(systemId)?.delete(receiver)
        for (const report of open.values()) again(systemId, report)
        open.clear()
      },
    }
  }

  function again(systemId: string, report: SmscReport) {
    counts.receiptsAgain++
    add(systemId, report, AGAIN_AFTER_MS)
  }

  return { add, visitor, stop: () => clearInterval(ticking) }
}

const tickOf = (ms: number) => Math.ceil(ms / TICK_MS)

const isReceipt = (report: SmscReport) => ((report.esmClass ?? 0) & esmClass.receipt) !== 0
