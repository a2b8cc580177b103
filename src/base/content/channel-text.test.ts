import { expect, test } from 'vitest'
import { channelTypes } from '../channel-types.ts'
import { refusalOfText } from './channel-text.ts'

test.each([
  ['FLASHCALL', '1234', '123'],
  ['FLASHCALL', '0000', '12345'],
  ['FLASHCALL', '9999', '12 34'],
  ['FLASHCALL', '0123', 'Hello, Anna'],
  ['VOICECODE', 'Your code is 1-2-3-4', 'Your code is 123'],
  ['VOICECODE', `1234${' '.repeat(996)}`, `1234${' '.repeat(997)}`],
  ['VK', 'x'.repeat(2048), 'x'.repeat(2049)],
  ['TEXT_TO_SPEECH', 'x'.repeat(1000), 'x'.repeat(1001)],
  ['VIBER', 'x'.repeat(4096), 'x'.repeat(4097)],
] as const)('%s takes %.20s and not %.20s', (channelType, good, bad) => {
  expect(refusalOfText(channelType, good)).toBeUndefined()
  expect(refusalOfText(channelType, bad)).toMatch(/^must /)
})

test.each(channelTypes)('%s refuses an empty text', channelType => {
  expect(refusalOfText(channelType, '')).toMatch(/^must /)
})

test('an SMS has no limit of characters, because its parts are counted', () => {
  expect(refusalOfText('SMS', 'x'.repeat(10_000))).toBeUndefined()
})
