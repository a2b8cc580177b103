import { expect, test } from 'vitest'
import { clock, Words } from './words.ts'

const en = new Words('en')
const ru = new Words('ru')

test('plural forms follow the language', () => {
  expect([1, 2, 5].map(n => en.count('wrong', n))).toEqual([
    'Wrong code. 1 try left',
    'Wrong code. 2 tries left',
    'Wrong code. 5 tries left',
  ])
  expect([1, 3, 5, 21].map(n => ru.count('wrong', n))).toEqual([
    'Неверный код. Осталась 1 попытка',
    'Неверный код. Осталось 3 попытки',
    'Неверный код. Осталось 5 попыток',
    'Неверный код. Осталась 21 попытка',
  ])
  expect([4, 6].map(n => ru.count('code.input', n))).toEqual(['Код, 4 цифры', 'Код, 6 цифр'])
})

test('Russian has no line break after a short word', () => {
  expect(ru.of('start.by', { way: 'Telegram' })).toBe('Код придёт в\u00a0Telegram')
  expect(ru.of('flash.title')).toBe('Отвечать не\u00a0нужно')
})

test('every error number of the specification has a title, and the errors of visitors have advice', () => {
  for (const words of [en, ru]) {
    for (const code of [110, 130, 210, 230, 310, 320, 321, 330, 331, 340, 341, 350, 4000])
      expect(words.ofError(code, 'title'), String(code)).toBeDefined()
    for (const code of [110, 130]) expect(words.ofError(code, 'text'), String(code)).toBeDefined()
  }
})

test('a countdown has minutes and seconds', () => {
  expect([0, 9, 42, 60, 872].map(clock)).toEqual(['0:00', '0:09', '0:42', '1:00', '14:32'])
})
