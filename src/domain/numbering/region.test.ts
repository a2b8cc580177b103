import { expect, test } from 'vitest'
import { regionCodeOf, regionOf, regions } from './region.ts'

test.each([
  ['Краснодарский край', 'Краснодарский край', 'Europe/Moscow'],
  ['Ростовская обл.', 'Ростовская область', 'Europe/Moscow'],
  ['Республика Саха /Якутия/', 'Республика Саха (Якутия)', 'Asia/Yakutsk'],
  ['Республика Алтай', 'Республика Алтай', 'Asia/Barnaul'],
  ['Алтайский край', 'Алтайский край', 'Asia/Barnaul'],
  ['Республика Удмуртская', 'Удмуртская Республика', 'Europe/Samara'],
  ['Ханты - Мансийский - Югра АО', 'Ханты-Мансийский автономный округ - Югра', 'Asia/Yekaterinburg'],
  ['Кемеровская область - Кузбасс обл.', 'Кемеровская область - Кузбасс', 'Asia/Novokuznetsk'],
  ['г. Москва', 'Москва', 'Europe/Moscow'],
  ['Город Санкт-Петербург', 'Санкт-Петербург', 'Europe/Moscow'],
  ['г. Москва * Московская область', 'Москва и Московская область', 'Europe/Moscow'],
  ['Московская область, Город Москва', 'Москва и Московская область', 'Europe/Moscow'],
  ['Московская область * Москва|Московская область * Москва', 'Москва и Московская область', 'Europe/Moscow'],
  ['Республика Крым и г. Севастополь', 'Республика Крым и Севастополь', 'Europe/Simferopol'],
  ['г. Норильск|г.о. город Норильск|Красноярский край', 'Красноярский край', 'Asia/Krasnoyarsk'],
  ['Российская Федерация', 'Российская Федерация', 'Europe/Moscow'],
  ['Сахалинская обл.', 'Сахалинская область', 'Asia/Sakhalin'],
])('"%s" is %s in %s', (words, name, zone) => {
  expect(regionOf(regionCodeOf(words)!)).toMatchObject({ name, zone })
})

test('a region we do not know keeps its words and has Moscow time', () => {
  expect(regionCodeOf('Атлантида')).toBeUndefined()
  expect(regionOf('Атлантида')).toMatchObject({ name: 'Атлантида', zone: 'Europe/Moscow' })
})

test('every region is found by its own name, and its zone is known to the runtime', () => {
  for (const { code, name, zone } of regions) {
    expect(regionCodeOf(name)).toBe(code)
    expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
  }
})
