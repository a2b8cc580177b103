import { expect, test } from 'vitest'
import { runsOf } from './lane.ts'

const at = (ms: number) => new Date(1_780_000_000_000 + ms)

test('messages that are due at about the same time make one run, which may cover final messages', () => {
  const left = [5, 1, 2, 9].map(seq => ({ seq, attempts: 1, dueAt: at(seq) }))
  expect(runsOf(left)).toEqual([{ firstSeq: 1, nextSeq: 10, attempts: 1, dueAt: at(9) }])
})

test('a run never covers a message of another run', () => {
  const left = [
    { seq: 1, attempts: 1, dueAt: at(0) },
    { seq: 3, attempts: 0, dueAt: at(0) },
    { seq: 5, attempts: 1, dueAt: at(0) },
  ]
  expect(runsOf(left).map(({ firstSeq, nextSeq }) => [firstSeq, nextSeq])).toEqual([
    [1, 2],
    [3, 4],
    [5, 6],
  ])
})

test('messages with parts at two gateways make two runs', () => {
  const left = [1, 2, 3].map(seq => ({ seq, attempts: 1, dueAt: at(0), gatewayId: seq < 3 ? 7 : 8 }))
  expect(runsOf(left)).toEqual([
    { firstSeq: 1, nextSeq: 3, attempts: 1, dueAt: at(0), gatewayId: 7 },
    { firstSeq: 3, nextSeq: 4, attempts: 1, dueAt: at(0), gatewayId: 8 },
  ])
})

test('a message that is due much later does not delay its neighbours', () => {
  const left = [
    { seq: 1, attempts: 1, dueAt: at(500) },
    { seq: 2, attempts: 1, dueAt: at(30_000) },
    { seq: 3, attempts: 1, dueAt: at(700) },
    { seq: 4, attempts: 1, dueAt: at(600) },
  ]
  expect(runsOf(left)).toEqual([
    { firstSeq: 1, nextSeq: 2, attempts: 1, dueAt: at(500) },
    { firstSeq: 2, nextSeq: 3, attempts: 1, dueAt: at(30_000) },
    { firstSeq: 3, nextSeq: 5, attempts: 1, dueAt: at(700) },
  ])
})
