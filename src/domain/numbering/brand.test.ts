import { expect, test } from 'vitest'
import { brandFinder, brandIds, brandOf } from './brand.ts'

const skartel = { inn: '7701725181', name: 'ООО "Скартел"', brandId: brandIds.MEGAFON }
const brandOfOperator = brandFinder([skartel])

test.each([
  ['ПАО "МТС"', '7740000076', 'MTS'],
  ['ПАО "Мобильные ТелеСистемы"', '', 'MTS'],
  ['ПАО  «МОБИЛЬНЫЕ ТЕЛЕСИСТЕМЫ»', '', 'MTS'],
  ['ПАО "ВЫМПЕЛКОМ"', '', 'BEELINE'],
  ['ОАО "Вымпел-Коммуникации"', '', 'BEELINE'],
  ['ПАО "МегаФон"', '', 'MEGAFON'],
  ['ООО "Т2 Мобайл"', '', 'TELE2'],
  ['ООО "Т2 МОБАЙЛ"', '7743895280', 'TELE2'],
  ['Общество под новым именем', '7743895280', 'TELE2'],
  ['ООО "СКАРТЕЛ"', '', 'MEGAFON'],
  ['ООО "Йота"', '7701725181', 'MEGAFON'],
])('%s, INN %j, is %s', (name, inn, brand) => {
  expect(brandOf(brandOfOperator({ name, inn }))).toBe(brand)
})

test.each(['ООО "ТМТ"', 'ПАО МГТС', 'ООО "МТС-2"', 'ООО "ЕКАТЕРИНБУРГ-2000"'])('%s is none of the four', name => {
  expect(brandOfOperator({ name, inn: '' })).toBe(0)
})

test('the table of virtual operators has the last word', () => {
  const own = brandFinder([{ inn: '7812014560', name: 'ПАО "МегаФон"', brandId: 0 }])
  expect(own({ inn: '7812014560', name: 'ПАО "МЕГАФОН"' })).toBe(0)
})

test('brands have the ids of the specification', () => {
  expect([0, 1, 2, 3, 4, 5].map(brandOf)).toEqual([undefined, 'MTS', 'BEELINE', 'MEGAFON', 'TELE2', undefined])
})
