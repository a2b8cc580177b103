import { expect, test } from 'vitest'
import { pluralForm } from './plurals.ts'

const counts = [...Array(1300).keys()].flatMap(count => [count, -count, count * 1000 + 1])

test.each(['en-GB', 'ru-RU'])('plurals of %s are chosen as the browser chooses them', locale => {
  const browser = new Intl.PluralRules(locale)
  for (const count of counts) expect(pluralForm(locale, count), String(count)).toBe(browser.select(count))
})

test('other languages and counts are left to the browser', () => {
  expect([pluralForm('de', 1), pluralForm('en-GB', Number.NaN), pluralForm('ru-RU', 1.5)]).toEqual(
    Array(3).fill(undefined),
  )
})
