import { expect, test } from 'vitest'
import { stepsUpTo } from './cores.ts'

test('the steps are the powers of two and all cores, and at last twice the processes on all cores', () => {
  const coresOf = (all: number) => stepsUpTo(all).map(({ cores, api }) => [cores, api])
  expect(coresOf(1)).toEqual([
    [1, 1],
    [1, 2],
  ])
  expect(coresOf(2)).toEqual([
    [1, 1],
    [2, 1],
    [2, 2],
  ])
  expect(coresOf(6)).toEqual([
    [1, 1],
    [2, 1],
    [4, 1],
    [6, 1],
    [6, 2],
  ])
})
