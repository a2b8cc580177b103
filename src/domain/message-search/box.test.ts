import { expect, test } from 'vitest'
import { readBox } from './box.ts'

test.each([
  ['  ', { kind: 'nothing' }],
  ['01A1CF85-0000-7000-8000-000000000001', { kind: 'uuid', uuid: '01a1cf85-0000-7000-8000-000000000001' }],
  ['+7 (916) 200-10-01', { kind: 'number', number: '79162001001' }],
  ['8 916 200 10 01', { kind: 'number', number: '79162001001' }],
  ['9162001001', { kind: 'number', number: '79162001001' }],
  ['+7 916 200-1', { kind: 'beginning', digits: '79162001' }],
  ['8916200-1', { kind: 'beginning', digits: '79162001' }],
  ['+375 29 123-45-67', { kind: 'beginning', digits: '375291234567' }],
  ['+7 916', { kind: 'digits', digits: '7916', typed: '+7 916' }],
  ['926 200-10', { kind: 'digits', digits: '92620010', typed: '926 200-10' }],
  ['12', { kind: 'words', words: ['12'], id: '12' }],
  ['order-10517', { kind: 'words', words: ['order-10517'], id: 'order-10517' }],
  ['order "is ready" now', { kind: 'words', words: ['order', 'is ready', 'now'], id: undefined }],
  ['«Ваш заказ»', { kind: 'words', words: ['Ваш заказ'], id: undefined }],
])('reads the text "%s" of the search box', (typed, box) => {
  expect(readBox(typed)).toEqual(box)
})
