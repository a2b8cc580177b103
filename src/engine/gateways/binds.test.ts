import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { BindShare } from '../../domain/gateways/binds/binds.ts'
import { Binds } from './binds.ts'

/** Leases last 10 seconds, and binds are closed 4 seconds before the end. */
const CLOSED_AFTER_MS = 6000

type State = {
  now: number
  holding: BindShare
  /** How long the database takes to answer. */
  answerMs: number
  /** When set, the channel closes a bind only after this promise. */
  closing: Promise<void> | undefined
}

/** Binds with a clock, leases and a channel that the test controls. */
function someBinds() {
  const happened: string[] = []
  const state: State = { now: 1000, holding: { binds: [1, 2], tooMany: [] }, answerMs: 0, closing: undefined }
  const channel = {
    async setBinds(count: number, drainMs?: number) {
      happened.push(drainMs === undefined ? `${count} binds` : `${count} binds within ${drainMs} ms`)
      if (drainMs === undefined) await state.closing
    },
  }
  const leases = {
    async share() {
      state.now += state.answerMs
      return state.holding
    },
    async giveBack(binds: number[]) {
      happened.push(`gives back ${binds.join()}`)
    },
  }
  const binds = new Binds({ log: pino({ level: 'silent' }), channel, leases, now: () => state.now })
  return { binds, state, happened }
}

test('as many binds are opened as there are leases', async () => {
  const { binds, state, happened } = someBinds()
  await binds.renew()
  state.holding = { binds: [1, 2, 3], tooMany: [] }
  await binds.renew()
  expect(happened).toEqual(['2 binds', '3 binds'])
})

test('a lease beyond the share is given back only after its bind is closed, and meanwhile no bind is opened', async () => {
  const { binds, state, happened } = someBinds()
  const closed = Promise.withResolvers<void>()
  state.closing = closed.promise
  state.holding = { binds: [1, 2], tooMany: [2] }
  await binds.renew()
  state.holding = { binds: [1, 2, 3], tooMany: [] }
  await binds.renew()
  expect(happened).toEqual(['1 binds'])
  closed.resolve()
  await binds.stop()
  expect(happened).toEqual(['1 binds', 'gives back 2'])
})

test('binds are closed in a hurry, once, 4 seconds before leases end that cannot be renewed', async () => {
  const { binds, state, happened } = someBinds()
  await binds.renew()
  state.now += CLOSED_AFTER_MS - 1
  binds.check()
  expect(happened).toEqual(['2 binds'])
  state.now += 1
  binds.check()
  binds.check()
  expect(happened).toEqual(['2 binds', '0 binds within 1000 ms'])
})

test('renewed leases keep the binds open, and after a hurried close the binds are opened again', async () => {
  const { binds, state, happened } = someBinds()
  for (let second = 0; second < 20; second++) {
    await binds.renew()
    binds.check()
    state.now += 1000
  }
  expect(new Set(happened)).toEqual(new Set(['2 binds']))
  state.now += CLOSED_AFTER_MS
  binds.check()
  expect(happened.at(-1)).toBe('0 binds within 1000 ms')
  await new Promise(setImmediate) // the close ends
  await binds.renew()
  expect(happened.at(-1)).toBe('2 binds')
})

test('leases count from the request: an answer that comes too late opens no bind', async () => {
  const { binds, state, happened } = someBinds()
  state.answerMs = CLOSED_AFTER_MS
  await binds.renew()
  expect(happened).toEqual([])
  state.answerMs = CLOSED_AFTER_MS - 1
  await binds.renew()
  expect(happened).toEqual(['2 binds'])
})

test('leases that run out while a bind is slowly closed hurry the close, and nothing is given back before', async () => {
  const { binds, state, happened } = someBinds()
  const slowly = Promise.withResolvers<void>()
  state.closing = slowly.promise
  state.holding = { binds: [1, 2], tooMany: [2] }
  await binds.renew()
  state.now += CLOSED_AFTER_MS
  binds.check()
  expect(happened).toEqual(['1 binds', '0 binds within 1000 ms'])
  slowly.resolve()
  await binds.stop()
  expect(happened).toEqual(['1 binds', '0 binds within 1000 ms', 'gives back 2'])
})

test('a stop closes the channel before anything else, and a renewal during the stop opens and closes no bind', async () => {
  const { binds, state, happened } = someBinds()
  await binds.renew()
  await binds.stop(async () => {
    state.holding = { binds: [1, 2, 3], tooMany: [3] }
    await binds.renew()
    happened.push('channel closed')
  })
  expect(happened).toEqual(['2 binds', 'channel closed'])
})
