import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Channel, Health, Outgoing, SendResult } from '../../channels/channel.ts'
import { MeteredChannel } from './meter.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'], now: new Date('2026-03-01T10:00:00Z') })
})

afterEach(() => {
  vi.useRealTimers()
})

function aMeter(result: SendResult = { kind: 'accepted' }) {
  const health: { now: Health } = { now: { up: true } }
  const channel: Channel = {
    window: 7,
    health: () => health.now,
    stop: async () => {},
    async submit(batch, report) {
      for (const index of batch.keys()) report(index, result)
    },
  }
  const meter = new MeteredChannel(channel)
  const reported: SendResult[] = []
  const send = (...parts: number[]) =>
    meter.submit(
      parts.map(count => ({ parts: count }) as Outgoing),
      (_, told) => reported.push(told),
      () => true,
    )
  return { meter, health, send, reported }
}

test('counts the parts that were submitted within the last minute, and passes every result on', async () => {
  const { meter, send, reported } = aMeter()
  await send(1, 3)
  vi.advanceTimersByTime(30_000)
  await send(2)
  expect(meter.partsLastMinute()).toBe(6)
  expect(reported).toHaveLength(3)
  vi.advanceTimersByTime(31_000)
  expect(meter.partsLastMinute()).toBe(2)
  vi.advanceTimersByTime(3_600_000)
  expect(meter.partsLastMinute()).toBe(0)
  await send(5)
  expect(meter.partsLastMinute()).toBe(5)
})

test.each<[SendResult, number]>([
  [{ kind: 'accepted' }, 2],
  [{ kind: 'unknown', reason: 'no answer' }, 2],
  [{ kind: 'refused', errorCode: 456, reason: 'no' }, 0],
  [{ kind: 'busy', reason: 'later', retryAfterMs: 1 }, 0],
  [{ kind: 'lost', reason: 'cut' }, 0],
])('%j counts for %i parts', async (result, parts) => {
  const { meter, send } = aMeter(result)
  await send(2)
  expect(meter.partsLastMinute()).toBe(parts)
})

test('takes the time of an error from the channel, also when the same error happens again', () => {
  const { meter, health } = aMeter()
  for (const lastErrorAt of [new Date('2026-03-01T09:00:00Z'), new Date('2026-03-01T09:30:00Z')]) {
    health.now = { up: true, lastError: 'cut', lastErrorAt }
    expect(meter.lastError()).toEqual({ lastError: 'cut', lastErrorAt })
  }
})

test('keeps the last error with its time after it is over, until there is a new error', () => {
  const { meter, health } = aMeter()
  expect(meter.lastError()).toBeUndefined()
  health.now = { up: false, lastError: 'cut' }
  const first = { lastError: 'cut', lastErrorAt: new Date() }
  expect(meter.lastError()).toEqual(first)
  vi.advanceTimersByTime(5000)
  health.now = { up: true }
  expect(meter.lastError()).toEqual(first)
  health.now = { up: false, lastError: 'refused' }
  expect(meter.lastError()).toEqual({ lastError: 'refused', lastErrorAt: new Date() })
})
