import { describe, expect, test } from 'vitest'
import { ReportBuffer } from './report-buffer.ts'

const at = new Date()
const sent = (uuid: string) => ({ uuid, sentAt: at })
const delivered = (uuid: string) => ({ uuid, final: { status: 'DELIVERED' as const, at } })
const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`)

/** A buffer with a clock that the test moves. */
function aBuffer() {
  let now = 1000
  const buffer = new ReportBuffer(() => now)
  const passMs = (ms: number) => {
    now += ms
  }
  const taken = () => buffer.take().map(({ statusReport }) => statusReport)
  return Object.assign(buffer, { passMs, taken })
}

test('an empty buffer is never ready', () => {
  expect(aBuffer().readyInMs()).toBeUndefined()
})

test('status reports wait for a short pause without new reports, and never longer than the time limit', () => {
  const buffer = aBuffer()
  buffer.add(sent('a'))
  expect(buffer.readyInMs()).toBe(5)
  buffer.passMs(4)
  buffer.add(sent('b'))
  expect(buffer.readyInMs()).toBe(5)
  buffer.passMs(5)
  expect(buffer.readyInMs()).toBe(0)

  for (let waited = 9; waited < 40; waited++) {
    buffer.add(sent('b'))
    buffer.passMs(1)
    expect(buffer.readyInMs()).toBe(Math.min(4, 40 - waited - 1))
  }
})

test('more than a few status reports wait longer for the next ones, within the same time limit', () => {
  const buffer = aBuffer()
  for (const uuid of named('few', 10)) buffer.add(sent(uuid))
  expect(buffer.readyInMs()).toBe(5)
  buffer.add(sent('one more'))
  expect(buffer.readyInMs()).toBe(20)
  buffer.passMs(15)
  buffer.add(delivered('few0'))
  expect(buffer.readyInMs()).toBe(20)
  buffer.passMs(15)
  expect(buffer.readyInMs()).toBe(5)
  buffer.add(delivered('few1'))
  expect(buffer.readyInMs()).toBe(10)
})

test('many status reports are ready at once', () => {
  const buffer = aBuffer()
  for (const uuid of named('m', 2000)) buffer.add(sent(uuid))
  expect(buffer.readyInMs()).toBe(0)
})

test('a receipt joins the waiting report of its submission: one status report instead of two', () => {
  const buffer = aBuffer()
  const first = buffer.add(sent('a'))
  const second = buffer.add(delivered('a'))
  expect(second).toBe(first)
  expect(buffer.taken()).toEqual([{ ...sent('a'), ...delivered('a') }])
  expect(buffer.readyInMs()).toBeUndefined()
})

test('final statuses are taken first, together with only the submissions that have waited long', () => {
  const buffer = aBuffer()
  for (const uuid of named('old', 3)) buffer.add(sent(uuid))
  buffer.passMs(40)
  for (const uuid of named('new', 3)) buffer.add(sent(uuid))
  for (const uuid of ['r0', 'new1']) buffer.add(delivered(uuid))
  expect(buffer.taken().map(({ uuid }) => uuid)).toEqual(['r0', 'new1', 'old0', 'old1', 'old2'])
  expect(buffer.taken().map(({ uuid }) => uuid)).toEqual(['new0', 'new2'])
})

test('at most a thousand reports are taken at once, each exactly once', () => {
  const buffer = aBuffer()
  for (const uuid of named('s', 1500)) buffer.add(sent(uuid))
  for (const uuid of named('r', 1200)) buffer.add(delivered(uuid))
  buffer.passMs(100)
  const takes = [buffer.taken(), buffer.taken(), buffer.taken()]
  expect(takes.map(({ length }) => length)).toEqual([1000, 1000, 700])
  expect(new Set(takes.flat().map(({ uuid }) => uuid)).size).toBe(2700)
  expect(buffer.readyInMs()).toBeUndefined()
})

test('submissions are taken too, for any number of receipts', () => {
  const buffer = aBuffer()
  for (const uuid of named('s', 900)) buffer.add(sent(uuid))
  const written: string[] = []
  for (let round = 0; round < 4; round++) {
    for (const uuid of named(`r${round}`, 1500)) buffer.add(delivered(uuid))
    buffer.passMs(40)
    written.push(...buffer.taken().map(({ uuid }) => uuid))
  }
  expect(written.filter(uuid => uuid.startsWith('s'))).toHaveLength(900)
  expect(written.filter(uuid => uuid.startsWith('r'))).toHaveLength(3100)
})

describe('a submission that waits for its receipt', () => {
  const waiting = (buffer: ReturnType<typeof aBuffer>, ...uuids: string[]) => {
    const came: boolean[] = []
    for (const uuid of uuids) buffer.add(sent(uuid), is => came.push(is))
    return came
  }

  test('is written with the receipt', () => {
    const buffer = aBuffer()
    const came = waiting(buffer, 'a')
    buffer.passMs(900)
    buffer.add(delivered('a'))
    expect(buffer.readyInMs()).toBe(5) // more receipts may follow
    buffer.passMs(5)
    expect(buffer.readyInMs()).toBe(0)
    expect(buffer.taken()).toEqual([{ ...sent('a'), ...delivered('a') }])
    expect(came).toEqual([true])
  })

  test('is written 5 ms after its receipt, together with those whose receipts came meanwhile', () => {
    const buffer = aBuffer()
    waiting(buffer, ...named('w', 20))
    buffer.passMs(500)
    for (const uuid of named('w', 5)) {
      buffer.add(delivered(uuid))
      buffer.passMs(1)
    }
    expect(buffer.readyInMs()).toBe(0)
    expect(buffer.taken()).toHaveLength(5)
    expect(buffer.awaiting).toBe(15)
  })

  test('is written without the receipt after a second', () => {
    const buffer = aBuffer()
    const came = waiting(buffer, 'a')
    buffer.passMs(999)
    expect(buffer.readyInMs()).toBe(1)
    expect(buffer.isAwaiting).toBe(true)
    buffer.passMs(1)
    expect(buffer.readyInMs()).toBe(0)
    expect(buffer.taken()).toEqual([sent('a')])
    expect(came).toEqual([false])
    expect(buffer.readyInMs()).toBeUndefined()
  })

  test('delays no other report', () => {
    const buffer = aBuffer()
    waiting(buffer, 'a')
    buffer.add(sent('b'))
    buffer.add(delivered('c'))
    buffer.passMs(5)
    expect(buffer.readyInMs()).toBe(0)
    expect(buffer.taken()).toEqual([delivered('c')])
    buffer.passMs(40)
    expect(buffer.taken()).toEqual([sent('b')])
    expect(buffer.size).toBe(1)
  })

  test('goes on waiting when an older one is written, however many there are', () => {
    const buffer = aBuffer()
    const came = waiting(buffer, 'old')
    buffer.passMs(500)
    waiting(buffer, ...named('w', 5000))
    buffer.passMs(500)
    expect(buffer.readyInMs()).toBe(0)
    expect(buffer.taken()).toEqual([sent('old')])
    expect(came).toEqual([false])
    expect(buffer.size).toBe(5000)
  })
})
