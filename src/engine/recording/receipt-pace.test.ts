import { expect, test } from 'vitest'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import { ReceiptPace } from './receipt-pace.ts'

const at = new Date()
const submitted = (given: Partial<StatusReport> = {}): StatusReport => ({
  uuid: 'a',
  sentAt: at,
  ids: { gatewayId: 1, providerIds: ['1'] },
  ...given,
})

/** How many of these submissions wait. */
function waitingOf(pace: ReceiptPace, count: number, came: boolean, report = submitted()): number {
  const waited = Array.from({ length: count }, () => pace.waitFor(report)).filter(each => each !== undefined)
  for (const tell of waited) tell(came)
  return waited.length
}

test('few submissions wait until the receipts of their gateway are known to be prompt, and then all', () => {
  const pace = new ReceiptPace()
  expect(waitingOf(pace, 160, true)).toBe(10)
  waitingOf(pace, 1600, true)
  expect(waitingOf(pace, 160, true)).toBe(160)
  expect(waitingOf(pace, 160, true, submitted({ ids: { gatewayId: 2, providerIds: ['1'] } }))).toBe(10)
})

test('few submissions wait again when receipts come late or to another process', () => {
  const pace = new ReceiptPace()
  waitingOf(pace, 3200, true)
  waitingOf(pace, 100, false)
  expect(waitingOf(pace, 160, false)).toBe(10)
})

test('only the submission of a message with one part and an id of the operator waits', () => {
  const pace = new ReceiptPace()
  waitingOf(pace, 3200, true)
  const others: Partial<StatusReport>[] = [
    { ids: { gatewayId: 1, providerIds: ['1', '2'] } },
    { ids: { gatewayId: 1, providerIds: [''] } },
    { final: { status: 'DELIVERED', at } },
  ]
  for (const other of others) expect(waitingOf(pace, 1, true, submitted(other))).toBe(0)
  expect(waitingOf(pace, 1, true, { uuid: 'a', sentAt: at })).toBe(0)
  expect(waitingOf(pace, 1, true, { uuid: 'a', refused: { at, errorCode: 601 } })).toBe(0)
})
