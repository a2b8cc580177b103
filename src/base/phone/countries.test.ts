import { getCountries } from 'libphonenumber-js/min'
import { expect, test } from 'vitest'
import { countries, countryCodeOf, countryIdOf, countryNameOf, countryZoneOf } from './countries.ts'

test('Russia is country 1', () => {
  expect(countryCodeOf(1)).toBe('RU')
  expect(countryIdOf('RU')).toBe(1)
  expect(countryZoneOf('RU')).toBe('Europe/Moscow')
  expect(countryNameOf('RU')).toBe('Россия')
})

test('the others have their ISO numeric codes', () => {
  expect(countryCodeOf(276)).toBe('DE')
  expect(countryCodeOf(398)).toBe('KZ')
  expect(countryIdOf('US')).toBe(840)
})

test('an unknown country has no id, code, zone or name', () => {
  expect(countryCodeOf(643)).toBeUndefined()
  expect(countryCodeOf(0)).toBeUndefined()
  expect(countryIdOf('ZZ')).toBeUndefined()
  expect(countryZoneOf('ZZ')).toBeUndefined()
  expect(countryNameOf('ZZ')).toBeUndefined()
})

test('ids and codes are unique, every zone is known to the runtime, every country has a name', () => {
  expect(new Set(countries.map(country => country.id)).size).toBe(countries.length)
  expect(new Set(countries.map(country => country.code)).size).toBe(countries.length)
  for (const { code, zone } of countries) {
    expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
    expect(countryNameOf(code)).not.toBe(code)
  }
})

test('every country that has numbers is in the table', () => {
  const shared = ['AC', 'TA'] // Ascension and Tristan da Cunha count as Saint Helena
  const missing = getCountries().filter(code => countryIdOf(code) === undefined)
  expect(missing.sort()).toEqual(shared)
})
