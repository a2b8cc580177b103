import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../testing/eventually.ts'
import type { Draft } from '../protocol/pdu.ts'
import { status } from '../protocol/status.ts'
import { type DeliveryCounts, type Receiver, SmscDeliveries } from './deliveries.ts'
import { Queue } from './queue.ts'

describe('a queue', () => {
  test('gives the oldest item first, also when it is filled and emptied by turns', () => {
    const queue = new Queue<number>()
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

describe('a delivery that waits for a receiver', () => {
  let counts: DeliveryCounts
  let deliveries: SmscDeliveries

  beforeEach(() => {
    counts = { receipts: 0, receiptsAcknowledged: 0, receiptsAgain: 0, inboundAcknowledged: 0 }
    deliveries = new SmscDeliveries(counts)
  })

  afterEach(() => deliveries.stop())

  /** A connection that keeps its PDUs; `acknowledge` answers the oldest. */
  function aReceiver() {
    const sent: Draft<'deliver_sm'>[] = []
    let receiver: Receiver | undefined
    let answered = 0
    return {
      sent,
      join() {
        receiver = deliveries.join('tidings', {
          send(draft) {
            if (draft.command === 'deliver_sm') sent.push(draft)
          },
        })
      },
      acknowledge(code: number = status.ESME_ROK) {
        receiver?.onAnswer({ status: code, sequence: sent[answered++]!.sequence })
      },
    }
  }

  const add = (count: number) => {
    for (let i = 0; i < count; i++) deliveries.add('tidings', { sourceAddr: String(i) }, 0)
  }

  test('is sent in order, with no more than a window unanswered', () => {
    add(2000)
    const { sent, join, acknowledge } = aReceiver()
    join()
    expect(sent).toHaveLength(500)
    for (let i = 0; i < 2000; i++) acknowledge()
    expect(sent.map(({ sourceAddr }) => Number(sourceAddr))).toEqual(Array.from({ length: 2000 }, (_, i) => i))
    expect(counts.inboundAcknowledged).toBe(2000)
  })

  test('is sent again when it is not acknowledged', async () => {
    add(1)
    const { sent, join, acknowledge } = aReceiver()
    join()
    acknowledge(status.ESME_RX_T_APPN)
    await eventually(() => expect(sent).toHaveLength(2))
    acknowledge()
    expect(counts).toMatchObject({ receiptsAgain: 1, inboundAcknowledged: 1 })
  })
})
