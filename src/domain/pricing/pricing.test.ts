import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { channelTypes, trafficTypes } from '../../base/channel-types.ts'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aPartner, type TestPartner } from '../../testing/factories.ts'
import { brands } from '../numbering/brand.ts'
import { senderTypeOf, senderTypes } from '../senders/sender.ts'
import { listSenderFees, listTariffs, openPriceBook, senderFeeTable } from './pricing.ts'
import { pickTariff, pricingModels, reservedPrice, type Tariff, type TariffQuestion } from './tariff.ts'

const db = useDatabase()

let partner: TestPartner
let stranger: TestPartner
beforeAll(async () => {
  partner = await aPartner(db.sql)
  stranger = await aPartner(db.sql)
})
afterEach(() => db.sql`delete from tariffs where partner_id is not null`)

type Place = Pick<Tariff, 'partnerId' | 'senderType' | 'brand' | 'trafficType'>

const senderType = fc.constantFrom(...senderTypes)
const brand = fc.constantFrom(...brands)
const trafficType = fc.constantFrom(...trafficTypes)
const OURS = 7

const place: fc.Arbitrary<Place> = fc.record({
  partnerId: fc.constantFrom(null, OURS),
  senderType,
  brand: fc.option(brand),
  trafficType: fc.option(trafficType),
})
const question: fc.Arbitrary<TariffQuestion> = fc.record({ senderType, brand, trafficType })

const placeKey = (at: Place) => `${at.partnerId}/${at.senderType}/${at.brand}/${at.trafficType}`

const tariffAt = (at: Place, tariffId: number): Tariff => ({
  ...at,
  tariffId,
  pricingModel: 'FIXED',
  currency: 'RUB',
  steps: [{ from: 0, price: BigInt(tariffId), priceMauBatch: null }],
})

/** The rule in the order it is told: own before general, then with the brand, then with the traffic type. */
function pickSlowly(tariffs: Tariff[], asked: TariffQuestion): Tariff | undefined {
  for (const partnerId of [OURS, null]) {
    for (const brand of [asked.brand, null]) {
      for (const trafficType of [asked.trafficType, null]) {
        const wanted = placeKey({ partnerId, senderType: asked.senderType, brand, trafficType })
        const found = tariffs.find(tariff => placeKey(tariff) === wanted)
        if (found) return found
      }
    }
  }
}

describe('the tariff of a message', () => {
  test('is the most specific tariff that applies', () => {
    fc.assert(
      fc.property(fc.uniqueArray(place, { selector: placeKey, maxLength: 40 }), question, (places, asked) => {
        const tariffs = places.map(tariffAt)
        expect(pickTariff(tariffs, asked)).toBe(pickSlowly(tariffs, asked))
      }),
      { numRuns: 2000 },
    )
  })

  test('is reserved at the highest price of any step, wherever it stands', () => {
    const steps = fc.array(fc.bigInt({ min: 0n, max: 10n ** 9n }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(steps, prices => {
        const tariff = { steps: prices.map((price, from) => ({ from, price, priceMauBatch: null })) } as Tariff
        const highest = [...prices].sort((a, b) => (a < b ? 1 : -1))[0]
        expect(reservedPrice(tariff)).toBe(highest)
      }),
    )
  })

  test.each([
    ['COMMON', null, 'COMMON'],
    ['COMMON', money('10'), 'COMMON'],
    ['PROMO', null, 'START'],
    ['PROMO', money('10'), 'PRO'],
    ['MULTISIGNATURE', money('10'), 'PRO'],
    ['INTERNATIONAL_COMMON', null, 'START'],
  ] as const)('of a name of type %s with the fee %s is one of %s', (commonType, fee, expected) => {
    expect(senderTypeOf({ commonType, fee })).toBe(expected)
  })
})

describe('the price book', () => {
  const sms = { channelType: 'SMS', country: 'RU' } as const

  async function anOwnTariff(owner: TestPartner, at: Omit<Place, 'partnerId'>, prices: string[]): Promise<number> {
    const [row] = await db.sql<{ tariffId: number }[]>`
      insert into tariffs (partner_id, sender_type, brand, traffic_type, pricing_model, currency)
      values (${owner.partnerId}, ${at.senderType}, ${at.brand}, ${at.trafficType}, 'SCALED', 'RUB')
      returning tariff_id`
    for (const [i, price] of prices.entries()) {
      await db.sql`insert into tariff_steps (tariff_id, from_count, price) values (${row!.tariffId}, ${i}, ${db.sql.typed.money(money(price))})`
    }
    return row!.tariffId
  }

  test("a partner's own general tariff wins over the most specific general one, for this partner alone", async () => {
    const asked = { ...sms, senderType: 'START', brand: 'MTS', trafficType: 'PROMO' } as const
    const general = (await openPriceBook(db.sql, partner.partnerId)).priceOf(asked)
    const own = await anOwnTariff(partner, { senderType: 'START', brand: null, trafficType: null }, [
      '1.5',
      '2.25',
      '1',
    ])

    const price = (await openPriceBook(db.sql, partner.partnerId)).priceOf(asked)
    expect(price).toEqual({ tariffId: own, perPart: money('2.25') })
    expect((await openPriceBook(db.sql, stranger.partnerId)).priceOf(asked)).toEqual(general)
  })

  test('answers as the model does, with own tariffs of any kind in the way', async () => {
    const own: fc.Arbitrary<Place> = place.map(at => ({ ...at, partnerId: partner.partnerId }))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(own, { selector: placeKey, maxLength: 6 }), async places => {
        await db.sql`delete from tariffs where partner_id is not null`
        for (const at of places) await anOwnTariff(partner, at, ['3'])
        const book = await openPriceBook(db.sql, partner.partnerId)
        const rows = await db.sql<Tariff[]>`
          select tariff_id, case when partner_id is null then null else ${OURS}::int end as partner_id,
            sender_type, brand, traffic_type from tariffs`
        for (const senderType of senderTypes) {
          for (const brand of brands) {
            for (const trafficType of trafficTypes) {
              const asked = { senderType, brand, trafficType }
              expect(book.priceOf({ ...sms, ...asked }).tariffId).toBe(pickSlowly([...rows], asked)!.tariffId)
            }
          }
        }
      }),
      { numRuns: 15 },
    )
  })

  test('other channels and other countries have prices of their own', async () => {
    const book = await openPriceBook(db.sql, partner.partnerId)
    const name = { senderType: 'COMMON', brand: 'MTS', trafficType: 'PROMO' } as const
    const priceOf = (channelType: (typeof channelTypes)[number], country: string) =>
      book.priceOf({ ...name, channelType, country })

    expect(priceOf('VIBER', 'RU')).toEqual({ tariffId: null, perPart: money('3.9') })
    expect(priceOf('VIBER', 'KZ')).toEqual(priceOf('VIBER', 'RU'))
    expect(priceOf('SMS', 'KZ')).toEqual({ tariffId: null, perPart: money('14.5') })
    expect(priceOf('SMS', 'BR')).toEqual({ tariffId: null, perPart: money('28') })
    for (const channelType of channelTypes) expect(priceOf(channelType, 'RU').perPart).toBeGreaterThan(0n)
  })
})

describe('the list a partner sees', () => {
  test('has its own tariffs in place of the general ones they replace', async () => {
    const before = await listTariffs(db.sql, partner.partnerId, {})
    const [own] = await db.sql<{ tariffId: number }[]>`
      insert into tariffs (partner_id, sender_type, brand, traffic_type, pricing_model, currency)
      values (${partner.partnerId}, 'COMMON', 'MTS', null, 'FIXED', 'RUB') returning tariff_id`
    await db.sql`insert into tariff_steps (tariff_id, from_count, price) values (${own!.tariffId}, 0, 1.00)`

    const after = await listTariffs(db.sql, partner.partnerId, {})
    expect(after).toHaveLength(before.length)
    const ofMts = after.filter(tariff => tariff.senderType === 'COMMON' && tariff.brand === 'MTS')
    expect(ofMts.map(tariff => tariff.tariffId)).toEqual([own!.tariffId])
    expect(await listTariffs(db.sql, stranger.partnerId, {})).toEqual(before)
  })

  test('can be narrowed by every field at once; what nothing has is an empty list', async () => {
    const filter = { senderType: 'PRO', brand: 'MEGAFON', trafficType: 'PROMO', pricingModel: 'MAU' } as const
    expect(await listTariffs(db.sql, partner.partnerId, filter)).toMatchObject([filter])
    expect(await listTariffs(db.sql, partner.partnerId, { ...filter, pricingModel: 'FIXED' })).toEqual([])
    expect(await listTariffs(db.sql, partner.partnerId, { brand: 'NOBODY' })).toEqual([])
    expect(await listTariffs(db.sql, partner.partnerId, { ...filter, foo: 'bar' } as never)).toMatchObject([filter])
  })
})

describe('the prices a new installation starts with', () => {
  let tariffs: Tariff[]
  beforeAll(async () => {
    tariffs = await listTariffs(db.sql, partner.partnerId, {})
  })

  test('know every kind of name, every brand, every traffic type and every model', () => {
    const present = <K extends keyof Tariff>(field: K) => new Set(tariffs.map(tariff => tariff[field]))
    expect(present('senderType')).toEqual(new Set(senderTypes))
    expect(present('brand')).toEqual(new Set([...brands, null]))
    expect(present('trafficType')).toEqual(new Set([...trafficTypes, null]))
    expect(present('pricingModel')).toEqual(new Set(pricingModels))
  })

  test('answer every question, also about a brand without a row', () => {
    for (const senderType of senderTypes) {
      for (const brand of [...brands, 'ANOTHER']) {
        for (const trafficType of trafficTypes) {
          expect(pickTariff(tariffs, { senderType, brand, trafficType })).toBeDefined()
        }
      }
    }
  })

  test('a fixed tariff has one step, the others have several that rise', () => {
    for (const { pricingModel, steps } of tariffs) {
      expect(steps.length > 1).toBe(pricingModel !== 'FIXED')
      expect(steps.map(step => step.from)).toEqual(steps.map(step => step.from).sort((a, b) => a - b))
      expect(steps[0]!.from).toBeLessThanOrEqual(1)
    }
  })

  test('packages of recipients belong to the model that has them', () => {
    for (const { pricingModel, steps } of tariffs) {
      for (const step of steps) expect(step.priceMauBatch !== null).toBe(pricingModel === 'MAU')
    }
  })

  test('every step costs something, and the more messages, the less', () => {
    for (const { steps } of tariffs) {
      const prices = steps.map(step => step.price)
      expect(prices.every(price => price > 0n)).toBe(true)
      expect(prices).toEqual([...prices].sort((a, b) => (a < b ? 1 : -1)))
    }
  })

  test('every brand has a fee for its paid names', async () => {
    const fees = await listSenderFees(db.sql)
    expect(fees.map(fee => fee.brand)).toEqual(brands)
    const feeOf = await senderFeeTable(db.sql)
    for (const fee of fees) expect(feeOf(fee.brand as never)).toBe(fee.value)
    await db.sql`delete from sender_fees where brand = 'TELE2'`
    expect((await senderFeeTable(db.sql))('TELE2')).toBeNull()
  })
})
