import { expect, test } from 'vitest'
import { formatsOf } from './format.ts'

const en = formatsOf('en')
const ru = formatsOf('ru')

test('numbers and money have the separators of the language, kopecks and a true minus sign', () => {
  expect([en.number(1234567), ru.number(1234567)]).toEqual(['1,234,567', '1\u00a0234\u00a0567'])
  expect(en.money(1274530.4, 'RUB')).toBe('1,274,530.40\u00a0₽')
  expect(ru.money(-1274530.45, 'RUB')).toBe('−1\u00a0274\u00a0530,45\u00a0₽')
})

test('a date is short in both languages', () => {
  const moment = '2026-11-12T12:00:00Z'
  expect([en.date(moment), ru.date(moment)]).toEqual(['12 Nov 2026', '12 нояб. 2026'])
})

test('a past moment is shown in the largest unit that fits', () => {
  const now = new Date('2026-11-12T12:00:00Z')
  const before = (seconds: number) => new Date(now.getTime() - seconds * 1000)
  const shown = [-5, 0, 59, 60, 3599, 3600, 86_400, 3 * 86_400].map(seconds => en.ago(before(seconds), now))
  expect(shown).toEqual([
    'now',
    'now',
    'now',
    '1 minute ago',
    '59 minutes ago',
    '1 hour ago',
    'yesterday',
    '3 days ago',
  ])
  expect(ru.ago(before(180), now)).toBe('3 минуты назад')
})
