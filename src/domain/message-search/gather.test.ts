import { expect, test } from 'vitest'
import { gather } from './gather.ts'

test('what is asked in one turn is one call, and everyone gets their own answer', async () => {
  const calls: number[][] = []
  const double = gather(async (numbers: number[]) => {
    calls.push(numbers)
    return numbers.map(number => number * 2)
  }, 10)
  expect(await Promise.all([1, 2, 1].map(double))).toEqual([2, 4, 2])
  expect(await double(5)).toBe(10)
  expect(calls).toEqual([[1, 2, 1], [5]])
})

test('a call has at most so many questions', async () => {
  const sizes: number[] = []
  const ask = gather(async (questions: number[]) => {
    sizes.push(questions.length)
    return questions
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([1, 2, 3, 4, 5])
  expect(sizes).toEqual([2, 2, 1])
})

test('who asks while others wait for their answer is not given theirs', async () => {
  let truth = 'old'
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let calls = 0
  const ask = gather(async (questions: string[]) => {
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

test('a failure is told to all who asked in that turn, and to nobody later', async () => {
  let isBroken = true
  const ask = gather(async (questions: number[]) => {
    if (isBroken) throw new Error('no database')
    return questions
  }, 10)
  const answers = await Promise.allSettled([ask(1), ask(2)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isBroken = false
  expect(await ask(3)).toBe(3)
})
