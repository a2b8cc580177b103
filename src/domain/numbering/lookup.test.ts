import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brandFinder, brandIds, brandOf } from './brand.ts'
import { codeOf, Numbering, type Place } from './lookup.ts'
import { includedPlan } from './plan.ts'
import { PortedNumbers, packPorted } from './ported.ts'
import { regionOf, regions } from './region.ts'
import { CODE_SIZE, type PlanRange } from './register.ts'

const brandOfOperator = brandFinder([])
const operators = [
  { inn: '7740000076', name: 'ПАО "МТС"' },
  { inn: '7713076301', name: 'ПАО "ВымпелКом"' },
  { inn: '7700000000', name: 'ООО "Другой"' },
]

/** Cuts within one code; every second piece between them is a range, so that ranges touch, and gaps remain. */
const ranges = fc
  .record({
    code: fc.constantFrom(900, 901, 999),
    cuts: fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 12 }),
    kinds: fc.array(fc.nat({ max: 3 }), { minLength: 12, maxLength: 12 }),
  })
  .map(({ code, cuts, kinds }) => {
    const points = cuts.sort((a, b) => a - b)
    return points.slice(1).flatMap((end, i): PlanRange[] => {
      const operator = operators[kinds[i]!]
      const at = (subscriber: number) => (7000 + code) * CODE_SIZE + subscriber
      return operator ? [{ first: at(points[i]!), last: at(end - 1), operator, region: regions[kinds[i]!]!.code }] : []
    })
  })

const plans = fc
  .uniqueArray(ranges, { selector: some => some[0] && codeOf(some[0].first), maxLength: 3 })
  .map(some => some.flat())
  .chain(plan => fc.shuffledSubarray(plan, { minLength: plan.length }))

const numbers = fc
  .tuple(fc.constantFrom(900, 901, 999, 905), fc.integer({ min: 0, max: 62 }))
  .map(([code, subscriber]) => (7000 + code) * CODE_SIZE + subscriber)

const portedEntries = fc.uniqueArray(fc.tuple(numbers, fc.integer({ min: 1, max: 4 })), {
  selector: ([number]) => number,
})

test('a lookup finds what a walk through all ranges and ported numbers finds', () => {
  fc.assert(
    fc.property(plans, portedEntries, fc.array(numbers), (plan, ported, asked) => {
      const numbering = new Numbering(1, plan, packed(ported), brandOfOperator)
      for (const number of asked) {
        expect(numbering.lookup(String(number))).toEqual(slowLookup(plan, ported, number))
      }
    }),
    { numRuns: 500 },
  )
})

function packed(entries: [number, number][]): Map<number, PortedNumbers> {
  const byCode = Map.groupBy(entries, ([number]) => codeOf(number))
  const pack = ([number, brandId]: [number, number]) => packPorted(number, brandId)
  return new Map([...byCode].map(([code, some]) => [code, new PortedNumbers(Uint32Array.from(some, pack))]))
}

function slowLookup(plan: PlanRange[], ported: [number, number][], number: number): Place | undefined {
  const range = plan.find(({ first, last }) => first <= number && number <= last)
  const portedTo = ported.find(([other]) => other === number)?.[1]
  const { name: region, zone } = regionOf(range?.region ?? '00')
  if (portedTo) return { brandId: portedTo, operator: brandOf(portedTo)!, region, zone }
  return range && { brandId: brandOfOperator(range.operator), operator: range.operator.name, region, zone }
}

test('a lookup makes no objects', () => {
  const numbering = new Numbering(1, includedPlan(), packed([[79160000001, brandIds.TELE2]]), brandOfOperator)
  expect(numbering.lookup('79160000002')).toBe(numbering.lookup('79160000003'))
  expect(numbering.lookup('79160000001')).toBe(numbering.lookup('79160000001'))
})

test('the last number of a code and the first of the next are kept apart', () => {
  const [mts, beeline] = operators as [PlanRange['operator'], PlanRange['operator']]
  const plan = [
    { first: 79160000000, last: 79169999999, operator: mts, region: '77' },
    { first: 79170000000, last: 79179999999, operator: beeline, region: '16' },
  ]
  const numbering = new Numbering(1, plan, new Map(), brandOfOperator)
  expect(numbering.lookup('79169999999')).toMatchObject({ brandId: brandIds.MTS, region: 'Москва' })
  expect(numbering.lookup('79170000000')).toMatchObject({ brandId: brandIds.BEELINE })
  expect(numbering.lookup('79159999999')).toBeUndefined()
  expect(numbering.lookup('79180000000')).toBeUndefined()
})

test('the carried plan is in order, within its codes, and names operators and regions that exist', () => {
  let end = 0
  for (const { first, last, operator, region } of includedPlan()) {
    expect(first).toBeGreaterThan(end)
    expect(last).toBeGreaterThan(first)
    expect(codeOf(last)).toBe(codeOf(first))
    expect(operator.name).not.toBe('')
    expect(regionOf(region).name).not.toBe(region)
    end = last
  }
})

test.each([
  ['79161234567', 'MTS', 'Москва и Московская область', 'Europe/Moscow'],
  ['79031234567', 'BEELINE', 'Москва и Московская область', 'Europe/Moscow'],
  ['79261234567', 'MEGAFON', 'Москва и Московская область', 'Europe/Moscow'],
  ['79771234567', 'TELE2', 'Москва и Московская область', 'Europe/Moscow'],
  ['79139123456', 'MTS', 'Новосибирская область', 'Asia/Novosibirsk'],
])('the carried plan knows %s: %s, %s', (digits, brand, region, zone) => {
  const place = new Numbering(1, includedPlan(), new Map(), brandOfOperator).lookup(digits)
  expect(place).toMatchObject({ brandId: brandIds[brand as keyof typeof brandIds], region, zone })
})
