import { expect, test } from 'vitest'
import { masked } from './phone.ts'

test.each([
  ['79160000067', '+7 ••• ••• •• 67'],
  ['12025550123', '+1 ••• ••• •• 23'],
  ['4915100000078', '+49 ••• ••• ••• 78'],
  ['380440000012', '+380 ••• ••• • 12'],
  ['99890000034', '+998 ••• ••• 34'],
])('%s shows the code of its country and its last two digits', (digits, shown) => {
  expect(masked(digits).replaceAll('\u00a0', ' ')).toBe(shown)
})
