import { expect, test } from 'vitest'
import { isInn } from './inn.ts'

test.each(['7740000076', '7743895280', '7700000009', '500100732259'])('%s has right check digits', inn => {
  expect(isInn(inn)).toBe(true)
  const last = Number(inn.at(-1))
  for (let digit = 0; digit < 10; digit++) expect(isInn(inn.slice(0, -1) + digit)).toBe(digit === last)
})

test.each(['', '770000000', '77000000090', 'x700000009', '7700000009 ', '7704000076', '500100732269'])(
  '"%s" is none',
  inn => {
    expect(isInn(inn)).toBe(false)
  },
)
