import { expect, test } from 'vitest'
import { readRegisterLine } from './register.ts'

const good =
  '916;0000000;0009999;10000;ПАО "МТС";Москва и Московская область;Город Москва, Московская область;7740000076'

test('a line of the register is a range with its operator and region', () => {
  expect(readRegisterLine(good)).toEqual({
    first: 79160000000,
    last: 79160009999,
    operator: { name: 'ПАО "МТС"', inn: '7740000076' },
    region: '77+50',
  })
})

test('a line from before the territories were added has one column less', () => {
  const line = '495;0000000;0009999;10000;ПАО МГТС;г. Москва;7710016640'
  expect(readRegisterLine(line)).toMatchObject({ first: 74950000000, last: 74950009999, region: '77' })
})

test('a quoted name loses its outer quotes', () => {
  const line = good.replace('ПАО "МТС"', '"ПАО ""МТС"""')
  expect(readRegisterLine(line).operator.name).toBe('ПАО "МТС"')
})

test.each([
  ['-;Тверская область', '69'],
  ['Тверская обл.;-', '69'],
  ['Тверская обл.;', '69'],
  ['Тверская обл.;Атлантида', '69'],
  ['Атлантида;-', 'Атлантида'],
])('the region of "%s" is %s', (columns, region) => {
  expect(readRegisterLine(`900;0100000;0199999;100000;ООО "Т2 Мобайл";${columns};7743895280`).region).toBe(region)
})

test.each([
  ['916;0000000;0009999', /8 columns/],
  [`${good};`, /8 columns/],
  [good.replace('916', '91'), /"91" is not a code/],
  [good.replace('916', '777'), /"777" is not a code/],
  [good.replace('0000000', '000000'), /"000000" is not a subscriber number/],
  [good.replace('0009999', 'x009999'), /"x009999" is not a subscriber number/],
  [good.replace('0000000', '0010000'), /ends \(0009999\) before it begins \(0010000\)/],
  [good.replace('ПАО "МТС"', ' '), /no name/],
  [good.replace('7740000076', '77400000'), /not an INN/],
  ['916;0000000;0009999;10000;ПАО "МТС";-;;7740000076', /region is missing/],
])('"%s" is refused', (line, message) => {
  expect(() => readRegisterLine(line)).toThrow(message)
})
