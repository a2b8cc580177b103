import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../testing/eventually.ts'
import type { Connection } from '../protocol/connection.ts'
import type { Pdu } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { createLedger, type SmscCounts } from './deliveries.ts'
import { createQueue } from './queue.ts'

describe('a queue', () => {
  test('gives what came first, also when it is filled and emptied by turns', () => {
    const queue = createQueue<number>()
    const out: number[] = []
    let next = 0
    for (let turn = 0; turn < 300; turn++) {
      for (let i = 0; i < 20; i++) queue.push(next++)
      for (let i = 0; i < 19; i++) out.push(queue.shift()!)
    }
    expect(queue.size).toBe(300)
    expect(queue.first()).toBe(next - 300)
    while (queue.size > 0) out.push(queue.shift()!)
    expect(out).toEqual(Array.from({ length: next }, (_, i) => i))
    expect(queue.shift()).toBeUndefined()
  })
})

describe('what waits for a receiver', () => {
  let counts: SmscCounts
  let ledger: ReturnType<typeof createLedger>

  beforeEach(() => {
    counts = { receipts: 0, receiptsAcknowledged: 0, receiptsAgain: 0, inboundAcknowledged: 0 } as SmscCounts
    ledger = createLedger(counts)
  })

  afterEach(() => ledger.stop())

  /** A connection that keeps what it is sent; `acknowledge` answers the oldest of it. */
  function aReceiver() {
    const sent: Pdu<'deliver_sm'>[] = []
    const visitor = ledger.visitor({ send: pdu => void sent.push(pdu as Pdu<'deliver_sm'>) } as Connection)
    let answered = 0
    return {
      sent,
      join: () => visitor.join('tidings'),
      acknowledge(code: number = status.ESME_ROK) {
        const { sequence } = sent[answered++]!
        visitor.answered({
          command: 'deliver_sm_resp',
          status: code,
          sequence,
          messageId: '',
        } as Pdu<'deliver_sm_resp'>)
      },
    }
  }

  const add = (count: number) => {
    for (let i = 0; i < count; i++) ledger.add('tidings', { sourceAddr: String(i) }, 0)
  }

  test('comes in the order in which it happened, no more than the window at once', () => {
    add(2000)
    const { sent, join, acknowledge } = aReceiver()
    join()
    expect(sent).toHaveLength(500)
    for (let i = 0; i < 2000; i++) acknowledge()
    expect(sent.map(({ sourceAddr }) => Number(sourceAddr))).toEqual(Array.from({ length: 2000 }, (_, i) => i))
    expect(counts.inboundAcknowledged).toBe(2000)
  })

  test('what is not acknowledged comes again', async () => {
    add(1)
    const { sent, join, acknowledge } = aReceiver()
    join()
    acknowledge(status.ESME_RX_T_APPN)
    await eventually(() => expect(sent).toHaveLength(2))
    acknowledge()
    expect(counts).toMatchObject({ receiptsAgain: 1, inboundAcknowledged: 1 })
  })
})
