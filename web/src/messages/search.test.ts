import { expect, test } from 'vitest'
import { groupedNumber } from './names.ts'
import { queryOf, readSearch, readTyped } from './search.ts'

const now = new Date(2026, 10, 12, 14, 32)

test.each([
  ['today', { from: '2026-11-12', to: '2026-11-12' }],
  ['Вчера', { from: '2026-11-11', to: '2026-11-11' }],
  ['12.11', { from: '2026-11-12', to: '2026-11-12' }],
  ['5.10.2026 – 1.10.2026', { from: '2026-10-01', to: '2026-10-05' }],
  ['2026-11-01 - 2026-11-12', { from: '2026-11-01', to: '2026-11-12' }],
  ['31.02.2026', { q: '31.02.2026' }],
  ['#48213', { dispatch: 48213 }],
  ['926 200-10', { q: '926 200-10' }],
  ['order - 5', { q: 'order - 5' }],
  ['  ', {}],
])('the typed text is read as a search: %s', (typed, wanted) => {
  expect(readTyped(typed, now)).toEqual({ q: undefined, ...('from' in wanted ? { period: undefined } : {}), ...wanted })
})

test('an address keeps its valid values and loses invalid values', () => {
  const given = {
    q: 926,
    status: 'unsent,lost',
    channel: 7,
    operator: 'MTS,MTS',
    error: 603,
    dispatch: -1,
    from: '2026-13-01',
  }
  expect(readSearch(given)).toEqual({ q: '926', status: 'unsent', operator: 'MTS', error: 603 })
})

test('the request covers whole days in the reader’s time zone', () => {
  const query = new URLSearchParams(queryOf({ from: '2026-11-01', to: '2026-11-02' }, 7, undefined, now))
  expect(query.get('companyId')).toBe('7')
  const hours = (Date.parse(query.get('to')!) - Date.parse(query.get('from')!)) / 3600_000
  expect([new Date(query.get('from')!).getHours(), hours]).toEqual([0, 48])
  expect(queryOf({ period: 'hour', status: 'sent,unsent' }, undefined, undefined, now)).toBe(
    `status=sent&status=unsent&from=${encodeURIComponent(new Date(2026, 10, 12, 13, 32).toISOString())}`,
  )
})

test('Russian numbers are grouped, foreign numbers are not', () => {
  expect(groupedNumber('79262001014')).toBe('+7\u00a0926\u00a0200\u201110\u201114')
  expect(groupedNumber('375291234567')).toBe('+375291234567')
})
