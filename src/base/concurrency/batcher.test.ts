import { expect, test } from 'vitest'
import { createBatcher, createFinder } from './batcher.ts'

test('the requests of one turn are one call, and each request gets its own value', async () => {
  const calls: number[][] = []
  const double = createBatcher(async (numbers: number[]) => {
    calls.push(numbers)
    return numbers.map(number => number * 2)
  }, 10)
  expect(await Promise.all([1, 2, 1].map(double))).toEqual([2, 4, 2])
  expect(await double(5)).toBe(10)
  expect(calls).toEqual([[1, 2, 1], [5]])
})

test('a batch has at most `mostKeys` keys', async () => {
  const sizes: number[] = []
  const ask = createBatcher(async (questions: number[]) => {
    sizes.push(questions.length)
    return questions
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([1, 2, 3, 4, 5])
  expect(sizes).toEqual([2, 2, 1])
})

test('a request that arrives while a batch is loading does not get a value of that batch', async () => {
  let truth = 'old'
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let calls = 0
  const ask = createBatcher(async (questions: string[]) => {
    const seen = truth
    if (++calls === 1) await held
    return questions.map(() => seen)
  }, 10)
  const first = ask('first')
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
  truth = 'new'
  expect(await ask('second')).toBe('new')
  release()
  expect(await first).toBe('old')
})

test('a failure rejects all requests of its turn, and no later request', async () => {
  let isBroken = true
  const ask = createBatcher(async (questions: number[]) => {
    if (isBroken) throw new Error('no database')
    return questions
  }, 10)
  const answers = await Promise.allSettled([ask(1), ask(2)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isBroken = false
  expect(await ask(3)).toBe(3)
})

test('a finder loads each key of a turn once, and finds no value for an unknown key', async () => {
  const calls: string[][] = []
  const find = createFinder(async keys => {
    calls.push(keys)
    return new Map([['known', 1]])
  })
  expect(await Promise.all(['known', 'unknown', 'known'].map(find))).toEqual([1, undefined, 1])
  expect(calls).toEqual([['known', 'unknown']])
})
