import { expect, test } from 'vitest'
import { createDesk } from './report-buffer.ts'

const at = new Date()
const sent = (uuid: string) => ({ uuid, sentAt: at })
const delivered = (uuid: string) => ({ uuid, final: { status: 'DELIVERED' as const, at } })
const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`)

/** A desk by a clock of our own. */
function aDesk() {
  let now = 1000
  const desk = createDesk(() => now)
  const passMs = (ms: number) => {
    now += ms
  }
  const taken = () => desk.take().map(({ statusReport }) => statusReport)
  return { ...desk, passMs, taken }
}

test('an empty desk is never ready', () => {
  expect(aDesk().readyInMs()).toBeUndefined()
})

test('status reports wait until nothing more comes for a moment, and no longer than their time', () => {
  const desk = aDesk()
  desk.add(sent('a'))
  expect(desk.readyInMs()).toBe(5)
  desk.passMs(4)
  desk.add(sent('b'))
  expect(desk.readyInMs()).toBe(5)
  desk.passMs(5)
  expect(desk.readyInMs()).toBe(0)

  for (let waited = 9; waited < 40; waited++) {
    desk.add(sent(`later ${waited}`))
    desk.passMs(1)
    expect(desk.readyInMs()).toBe(Math.min(4, 40 - waited - 1))
  }
})

test('many status reports wait for nothing', () => {
  const desk = aDesk()
  for (const uuid of named('m', 2000)) desk.add(sent(uuid))
  expect(desk.readyInMs()).toBe(0)
})

test('a receipt joins the submission that still waits: one status report for two', () => {
  const desk = aDesk()
  const first = desk.add(sent('a'))
  const second = desk.add(delivered('a'))
  expect([first.isNew, second.isNew]).toEqual([true, false])
  expect(second.entry).toBe(first.entry)
  expect(desk.taken()).toEqual([{ ...sent('a'), ...delivered('a') }])
  expect(desk.readyInMs()).toBeUndefined()
})

test('what operators reported goes first, and takes along only submissions that have waited long', () => {
  const desk = aDesk()
  for (const uuid of named('old', 3)) desk.add(sent(uuid))
  desk.passMs(40)
  for (const uuid of named('new', 3)) desk.add(sent(uuid))
  for (const uuid of ['r0', 'new1']) desk.add(delivered(uuid))
  expect(desk.taken().map(({ uuid }) => uuid)).toEqual(['r0', 'new1', 'old0', 'old1', 'old2'])
  expect(desk.taken().map(({ uuid }) => uuid)).toEqual(['new0', 'new2'])
})

test('no more than a thousand are taken at once, each of them once, and none is left behind', () => {
  const desk = aDesk()
  for (const uuid of named('s', 1500)) desk.add(sent(uuid))
  for (const uuid of named('r', 1200)) desk.add(delivered(uuid))
  desk.passMs(100)
  const takes = [desk.taken(), desk.taken(), desk.taken()]
  expect(takes.map(({ length }) => length)).toEqual([1000, 1000, 700])
  expect(new Set(takes.flat().map(({ uuid }) => uuid)).size).toBe(2700)
  expect(desk.readyInMs()).toBeUndefined()
})

test('however many receipts come, submissions are written too', () => {
  const desk = aDesk()
  for (const uuid of named('s', 900)) desk.add(sent(uuid))
  const written: string[] = []
  for (let round = 0; round < 4; round++) {
    for (const uuid of named(`r${round}`, 1500)) desk.add(delivered(uuid))
    desk.passMs(40)
    written.push(...desk.taken().map(({ uuid }) => uuid))
  }
  expect(written.filter(uuid => uuid.startsWith('s'))).toHaveLength(900)
  expect(written.filter(uuid => uuid.startsWith('r'))).toHaveLength(3100)
})
