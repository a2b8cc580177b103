import { expect, test } from 'vitest'
import { piecesOf } from './pieces.ts'

test('items come in their order, in lists of at most the given length, and none comes twice', () => {
  expect([...piecesOf([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]])
  expect([...piecesOf([1, 2], 2)]).toEqual([[1, 2]])
  expect([...piecesOf([], 2)]).toEqual([])
})
