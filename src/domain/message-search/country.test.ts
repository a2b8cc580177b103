import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countries } from '../../base/phone/countries.ts'
import { useDatabase } from '../../testing/database.ts'
import { countryOf, numberPatternOf } from './country.ts'

const db = useDatabase()

test('the digits of a number determine its country, and a text that is no number has no country', () => {
  expect(countryOf('79160000001')).toBe('RU')
  expect(countryOf('77010000003')).toBe('KZ')
  expect(countryOf('375290000004')).toBe('BY')
  for (const none of ['', 'no number', '7abcdefghij', '+79160000001', '7916000000']) {
    expect(countryOf(none)).toBeUndefined()
  }
})

test('the pattern of a country matches exactly the numbers of the country, also in PostgreSQL', async () => {
  const codes = ['RU', 'KZ', 'BY', 'US', 'CA', 'GB', 'GG', 'IT', 'VA', 'RE', 'YT', 'FI', 'AX', 'SH', 'BL', 'GP', 'DE']
  expect(codes.every(code => countries.some(country => country.code === code))).toBe(true)
  const starts = [
    '7',
    '77',
    '1',
    '1204',
    '44',
    '447911',
    '39',
    '3906698',
    '262',
    '262693',
    '358',
    '35818',
    '247',
    '590',
  ]
  const number = fc
    .tuple(fc.constantFrom('', ...starts), fc.stringMatching(/^[0-9]{3,13}$/))
    .map(([start, rest]) => (start + rest).slice(0, 15))
  const numbers = [...fc.sample(number, 3000), 'no number', '7abcdefghij']
  const rows = await db.sql<{ number: string; codes: string[] }[]>`
    select number, array(
      select code from unnest(${codes}::text[], ${codes.map(numberPatternOf)}::text[]) p (code, pattern)
      where number ~ pattern) as codes
    from unnest(${numbers}::text[]) number`
  const seen = new Set<string>()
  for (const { number, codes: fitting } of rows) {
    const code = countryOf(number)
    expect(fitting, number).toEqual(code && codes.includes(code) ? [code] : [])
    for (const one of fitting) seen.add(one)
  }
  expect(seen.size).toBeGreaterThan(10)
})
