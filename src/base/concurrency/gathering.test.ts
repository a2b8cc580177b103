import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Gathering } from './gathering.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Gathers three requests, of which the first is there. */
function ofThree() {
  const gathering = new Gathering()
  const state = { there: 1, isOver: false }
  const over = gathering
    .until(() => state.there >= 3, 10)
    .then(() => {
      state.isOver = true
    })
  const arrive = () => {
    state.there += 1
    gathering.arrived()
  }
  return { state, over, arrive }
}

test('ends with the request that is enough', async () => {
  const { state, over, arrive } = ofThree()
  await turn()
  arrive()
  await turn()
  expect(state.isOver).toBe(false)
  arrive()
  await over
  expect(vi.getTimerCount()).toBe(0)
})

test('ends at once if enough requests arrive while the answers are written', async () => {
  const { over, arrive } = ofThree()
  arrive()
  arrive()
  await over
  expect(vi.getTimerCount()).toBe(0)
})

test('ends after its time if clients do not come back; the time begins when the answers are written', async () => {
  const { state, over } = ofThree()
  vi.advanceTimersByTime(10)
  await turn()
  expect(state.isOver).toBe(false)
  vi.advanceTimersByTime(10)
  await over
})
