import { expect, test } from 'vitest'
import { plainName, spellingsOf } from './bot-names.ts'

test('a bot name is the same with the @ sign and without it', () => {
  expect([plainName('@shop_bot'), plainName('shop_bot')]).toEqual(['shop_bot', 'shop_bot'])
  expect(spellingsOf('TELEGRAM', '@shop_bot')).toEqual(['shop_bot', '@shop_bot'])
  expect(spellingsOf('TELEGRAM', 'shop_bot')).toEqual(['shop_bot', '@shop_bot'])
})

test('in other channels the @ sign is part of the name', () => {
  expect(spellingsOf('SMS', '@SHOP')).toEqual(['@SHOP'])
  expect(spellingsOf('SMS', 'SHOP')).toEqual(['SHOP'])
})
