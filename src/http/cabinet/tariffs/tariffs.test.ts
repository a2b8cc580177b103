import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { changeBook, GENERAL, type NewTariff } from '../../../domain/pricing/book.ts'
import { costOf, findPricing, greatestVolumes } from '../../../domain/pricing/calculation.ts'
import { openPriceBook } from '../../../domain/pricing/pricing.ts'
import { packagesBetween, priceAt, type Tariff } from '../../../domain/pricing/tariff.ts'
import { RecentReads } from '../../../domain/recording/recent-reads.ts'
import { settleDelivered } from '../../../domain/recording/settlement.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { CalculationAnswer, PricesAnswer } from './prices.ts'
import type { ImportAnswer, ListedTariff, TariffAnswer, TariffChange, TariffsAnswer } from './tariffs.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let admin: CabinetBrowser

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  admin = await signedIn(staff, 'admin')
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  return browser
}

const DAY_MS = 24 * 3600_000
/** The day in Moscow, this number of days from now. */
const dayAhead = (days: number) =>
  new Date(Date.now() + days * DAY_MS).toLocaleDateString('sv-SE', { timeZone: 'Europe/Moscow' })

const bookOf = async (partnerId?: number) =>
  (await admin.ask('GET', `/tariffs${partnerId ? `?partnerId=${partnerId}` : ''}`)).body as TariffsAnswer
const tariffOf = async (tariffId: number, query = '') =>
  (await admin.ask('GET', `/tariffs/${tariffId}${query}`)).body as TariffAnswer

async function findTariff(place: Partial<ListedTariff>, partnerId?: number): Promise<TariffAnswer> {
  const fits = (tariff: ListedTariff) =>
    Object.entries(place).every(([field, value]) => tariff[field as keyof ListedTariff] === value)
  return tariffOf((await bookOf(partnerId)).tariffs.find(fits)!.tariffId)
}

const step = (from: number, price: string, priceMauBatch: string | null = null) => ({
  from: String(from),
  price,
  priceMauBatch,
})

const changeOf = ({ tariff, version }: TariffAnswer, change: Partial<TariffChange>): TariffChange => ({
  ...(tariff.partnerId === null ? {} : { partnerId: tariff.partnerId }),
  senderType: tariff.senderType,
  brand: tariff.brand,
  trafficType: tariff.trafficType,
  from: null,
  version,
  tariff: { pricingModel: 'FIXED', steps: [step(0, '6.1234')] },
  ...change,
})

const change = (body: TariffChange) => admin.ask('POST', '/tariffs/changes', body)

const mts = { senderType: 'COMMON', brand: 'MTS', trafficType: null } as const
const question = {
  channelType: 'SMS',
  country: 'RU',
  senderType: 'COMMON',
  brand: 'MTS',
  trafficType: 'PROMO',
} as const
const priceOf = async () => (await openPriceBook(api.sql, partner.partnerId)).priceOf(question)

describe('a change of a tariff', () => {
  test('at once sets the price of the next message, and leaves earlier prices unchanged', async () => {
    const before = await findTariff(mts)
    expect((await change(changeOf(before, {}))).status).toBe(204)
    expect((await priceOf()).perPart).toBe(money('6.1234'))
    const after = await findTariff(mts)
    expect(after.tariff.steps).toEqual([{ from: 0, price: 6.1234, priceMauBatch: null }])
    expect(after.earlier.map(({ tariffId }) => tariffId)).toEqual([before.tariff.tariffId])
    expect(after.earlier[0]!.until).toBe(after.tariff.validFrom)
  })

  test('from a day on waits for its day, is shown, and can be cancelled', async () => {
    const before = await findTariff({ ...mts, brand: 'TELE2' })
    const steps = [step(0, '5'), step(1001, '4.5')]
    const planned = changeOf(before, { from: dayAhead(2), tariff: { pricingModel: 'SCALED', steps } })
    expect((await change(planned)).status).toBe(204)

    const { periods, version } = await tariffOf(before.tariff.tariffId)
    expect(periods.map(({ pricingModel }) => pricingModel)).toEqual(['FIXED', 'SCALED'])
    expect(periods[0]!.until).toBe(periods[1]!.validFrom)
    const tele2 = { ...question, brand: 'TELE2' } as const
    const { now, next } = await findPricing(api.sql, partner.partnerId, tele2)
    expect([now.tariff!.tariffId, next!.tariff!.tariffId]).toEqual(periods.map(({ tariffId }) => tariffId))
    expect((await openPriceBook(api.sql, partner.partnerId)).priceOf(tele2).tariffId).toBe(before.tariff.tariffId)

    // A price set at once is valid until the planned price.
    expect((await change(changeOf({ ...before, version }, {}))).status).toBe(204)
    const between = (await tariffOf(before.tariff.tariffId)).periods
    expect(between.map(({ steps }) => steps[0]!.price)).toEqual([6.1234, 5])

    expect((await admin.ask('DELETE', `/tariffs/${between[1]!.tariffId}`)).status).toBe(204)
    expect((await tariffOf(before.tariff.tariffId)).periods).toMatchObject([
      { steps: [{ price: 6.1234 }], until: null },
    ])
    expect((await admin.ask('DELETE', `/tariffs/${between[1]!.tariffId}`)).status).toBe(400)
    expect((await admin.ask('DELETE', `/tariffs/${between[0]!.tariffId}`)).status).toBe(400)
  })

  test('that would overwrite the change of another person is refused', async () => {
    const seen = await findTariff({ ...mts, brand: 'BEELINE' })
    expect((await change(changeOf(seen, { from: dayAhead(3) }))).status).toBe(204)
    const late = await change(changeOf(seen, { tariff: { pricingModel: 'FIXED', steps: [step(0, '1')] } }))
    expect([late.status, late.body.error.msg]).toEqual([400, expect.stringContaining('Somebody else changed')])
  })

  test('gives a partner its own price, and returns it to the general price', async () => {
    const none = { version: '', tariff: { ...(await findTariff(mts)).tariff, partnerId: partner.partnerId } }
    const { version } = await findTariff({ ...mts, brand: 'MEGAFON' })
    expect((await change(changeOf({ ...none, version } as TariffAnswer, {}))).status).toBe(400) // of another owner
    const empty = (await admin.ask('POST', '/tariffs/import/check', aFile([], { partnerId: partner.partnerId }))).body
    const own = changeOf({ ...none, version: empty.version } as TariffAnswer, {
      tariff: { pricingModel: 'FIXED', steps: [step(1, '1.5')] },
    })
    expect((await change(own)).status).toBe(204)
    expect((await priceOf()).perPart).toBe(money('1.5'))
    expect((await bookOf(partner.partnerId)).tariffs).toMatchObject([{ ...mts, partnerId: partner.partnerId }])
    expect((await bookOf()).books.find(({ hasOwn }) => hasOwn)).toMatchObject({ partnerId: partner.partnerId })

    const seen = await findTariff(mts, partner.partnerId)
    expect((await change(changeOf(seen, { tariff: null }))).status).toBe(204)
    expect((await priceOf()).perPart).toBe(money('6.1234'))
  })

  test('never leaves a message without a price', async () => {
    const last = await findTariff({ senderType: 'COMMON', brand: null, trafficType: null })
    const ended = await change(changeOf(last, { tariff: null, from: dayAhead(5) }))
    expect([ended.status, ended.body.error.msg]).toEqual([400, expect.stringContaining('no price for COMMON, *')])
    expect((await tariffOf(last.tariff.tariffId)).periods).toHaveLength(1)
  })

  test.each([
    ['a fifth place', { tariff: { pricingModel: 'FIXED', steps: [step(0, '1.00001')] } }, 'at most four places'],
    ['a gap at the beginning', { tariff: { pricingModel: 'SCALED', steps: [step(5, '1')] } }, 'from 0 or 1'],
    [
      'two steps at one count',
      { tariff: { pricingModel: 'SCALED', steps: [step(0, '2'), step(1, '1')] } },
      'same count',
    ],
    ['a day in the past', { from: '2020-01-01' }, 'from tomorrow on'],
    ['a day that is none', { from: '2026-02-31' }, 'from tomorrow on'],
    ['a day too far ahead', { from: '2999-01-01' }, 'within a year'],
    ['the same again', {}, 'same as before'],
  ] as [string, Partial<TariffChange>, string][])('with %s is refused', async (_, wrong, words) => {
    const { status, body } = await change(changeOf(await findTariff(mts), wrong))
    expect([status, body.error.msg]).toEqual([400, expect.stringContaining(words)])
  })
})

const heading = 'senderType,brand,trafficType,pricingModel,from,price,priceMauBatch'
const aFile = (lines: string[], more: object = {}) => ({
  text: [heading, ...lines].join('\n'),
  from: null,
  replaces: false,
  ...more,
})

describe('an import', () => {
  const lines = ['START,MTS,,FIXED,0,2.5,', 'PRO,TELE2,PROMO,SCALED,0,3,', 'PRO,TELE2,PROMO,SCALED,501,2.75,']
  const check = async (file: object) => (await admin.ask('POST', '/tariffs/import/check', file)).body as ImportAnswer

  test('shows new, changed, ended and wrong tariffs, and is applied exactly as shown or not at all', async () => {
    const own = await aPartner(api.sql)
    const ofOwn = { partnerId: own.partnerId }
    const first = aFile(lines, ofOwn)
    const { version, added } = await check(first)
    expect(added).toHaveLength(2)
    expect((await admin.ask('POST', '/tariffs/import', { ...first, version })).status).toBe(204)
    expect((await admin.ask('POST', '/tariffs/import', { ...first, version })).status).toBe(400) // the tariffs changed

    const next = aFile(['START,MTS,,FIXED,0,2.6,', 'START,,,FIXED,0,2,'], {
      ...ofOwn,
      replaces: true,
      from: dayAhead(1),
    })
    const shown = await check(next)
    expect(shown).toMatchObject({
      added: [{ senderType: 'START', brand: null }],
      changed: [{ before: { steps: [{ price: 2.5 }] }, after: { steps: [{ price: 2.6 }] } }],
      ended: [{ senderType: 'PRO', brand: 'TELE2' }],
      unchanged: 0,
      wrong: [],
    })
    expect((await admin.ask('POST', '/tariffs/import', { ...next, version: shown.version })).status).toBe(204)
    const { tariffs } = await bookOf(own.partnerId)
    expect(tariffs.map(({ senderType, until, validFrom }) => [senderType, !!until, !!validFrom])).toEqual([
      ['START', true, true],
      ['PRO', true, true],
      ['START', false, true],
      ['START', false, true],
    ])

    const bad = aFile(['GOLD,,,FIXED,0,1,', lines[0]!, 'PRO,,,FIXED,0,cheap,'], ofOwn)
    expect((await check(bad)).wrong).toEqual([
      expect.stringMatching(/^line 2: senderType "GOLD"/),
      expect.stringMatching(/^line 4: price "cheap"/),
    ])
    const refused = await admin.ask('POST', '/tariffs/import', { ...bad, version: 'any' })
    expect(refused.body.error.msg).toContain('line 2')
  })

  test('of an export changes nothing', async () => {
    const file = await api.app.inject({ url: '/cabinet/api/tariffs/export', headers: { cookie: admin.cookie! } })
    expect(file.headers['content-disposition']).toBe('attachment; filename="tariffs-general.csv"')
    const shown = await check({ text: file.body, from: null, replaces: true })
    expect(shown).toMatchObject({ added: [], changed: [], ended: [], wrong: [] })
    expect(shown.unchanged).toBeGreaterThan(20)
  })
})

describe('the calculator', () => {
  const tariffs = fc
    .record({
      model: fc.constantFrom('FIXED', 'SCALED', 'MAU'),
      begin: fc.constantFrom(0, 1),
      counts: fc.uniqueArray(fc.integer({ min: 2, max: 60 }), { maxLength: 4 }),
      prices: fc.array(fc.bigInt({ min: 0n, max: 90_000n }), { minLength: 5, maxLength: 5 }),
    })
    .map(({ model, begin, counts, prices }): Tariff => {
      const froms = model === 'FIXED' ? [begin] : [begin, ...counts.sort((a, b) => a - b)]
      const priceMauBatch = (price: bigint) => (model === 'MAU' ? price * 7n : null)
      const steps = froms.map((from, i) => ({ from, price: prices[i]!, priceMauBatch: priceMauBatch(prices[i]!) }))
      return { ...mts, tariffId: 1, partnerId: null, pricingModel: model as 'FIXED', currency: 'RUB', steps }
    })

  test('gives the sum that the engine charges message by message', () => {
    const amounts = fc.record({ volume: fc.nat(70), messages: fc.integer({ min: 1, max: 70 }), parts: fc.nat(3) })
    fc.assert(
      fc.property(tariffs, amounts, (tariff, { volume, messages, parts }) => {
        let sum = 0n
        for (let count = volume + 1; count <= volume + messages; count++) {
          sum += priceAt(tariff, count) * BigInt(parts)
          for (const { amount } of packagesBetween(tariff, count - 1, count)) sum += amount
        }
        const cost = costOf(tariff, { volume, messages, parts })
        expect(cost.total).toBe(sum)
        expect(cost.lines.reduce((total, line) => total + line.messages, 0)).toBe(messages)
      }),
      { numRuns: 500 },
    )
  })

  test('gives the amount that the settlement of such messages charges, at the volume of the month', async () => {
    const scaled: NewTariff = {
      senderType: 'PRO',
      brand: 'BEELINE',
      trafficType: 'SERVICE',
      pricingModel: 'SCALED',
      steps: [
        { from: 0, price: money('3'), priceMauBatch: null },
        { from: 5, price: money('2.5'), priceMauBatch: null },
      ],
    }
    await api.sql.begin(tx => changeBook(tx, { ...GENERAL, partnerId: partner.partnerId }, { tariffs: [scaled] }))
    const path =
      '/prices/calculation?channelType=SMS&senderType=PRO&brand=BEELINE&trafficType=SERVICE&messages=4&parts=2'
    const ask = async (more = '') =>
      (await admin.ask('GET', `${path}&companyId=${companyId}${more}`)).body as CalculationAnswer
    const { now } = await ask()
    expect(now).toMatchObject({ volume: 0, total: 24 })

    const month = `${dayAhead(0).slice(0, 7)}-01`
    const steps = Array.from({ length: 4 }, (_, i) => ({
      uuid: `0199d0b0-0000-7000-8000-00000000000${i}`,
      to: 'DELIVERED',
      at: new Date(),
      tariffId: now.tariff!.tariffId,
      parts: 2,
      price: money('6'),
      destination: `7916000000${i}`,
      dispatchId: null,
    }))
    const charge = async () => {
      const costs = await api.sql.begin(tx => settleDelivered(tx, companyId, month, steps as never, new RecentReads()))
      return costs.reduce((sum, { amount }) => sum + amount, 0n)
    }
    expect(await charge()).toBe(money(24))

    const second = (await ask()).now
    expect(second).toMatchObject({ volume: 4, lines: [{ from: 5, to: 8, messages: 4, perPart: 2.5 }], total: 20 })
    expect((await ask('&volume=2')).now.lines).toMatchObject([{ messages: 2 }, { messages: 2 }])
    expect(await charge()).toBe(money(20))
    expect((await tariffOf(now.tariff!.tariffId)).volumes).toMatchObject([{ companyId, count: 8 }])
    expect((await tariffOf(now.tariff!.tariffId, `?companyId=${companyId}`)).volumes).toMatchObject([{ count: 8 }])
  })

  test('knows the prices of other channels and countries', async () => {
    const ask = async (query: string) =>
      ((await admin.ask('GET', `/prices/calculation?messages=10&${query}`)).body as CalculationAnswer).now
    expect(await ask('channelType=VIBER')).toMatchObject({ tariff: null, total: 39 })
    expect(await ask('channelType=SMS&country=KZ&parts=2')).toMatchObject({ total: 290 })
  })
})

describe('prices of other channels and countries', () => {
  const priceOf = async (channelType: string, country: string | null = null) => {
    const { channels, countries } = await bookOf()
    return [...channels, ...countries].find(one => one.channelType === channelType && one.country === country)
  }
  const changePrice = async (channelType: string, country: string | null, price: string | null, more: object = {}) => {
    const version = (await priceOf(channelType, country))?.version ?? ''
    const body = { channelType, country, version, from: null, price, ...more }
    return admin.ask('POST', '/tariffs/prices/changes', body)
  }
  const charged = async (channelType: 'VIBER' | 'SMS', country = 'RU') =>
    (await openPriceBook(api.sql, partner.partnerId)).priceOf({ ...question, channelType, country }).perPart
  const calculated = async (query: string) =>
    (await admin.ask('GET', `/prices/calculation?messages=10&${query}`)).body as CalculationAnswer

  test('change at once or from a day on, and a planned change is calculated and cancelled', async () => {
    expect((await changePrice('VIBER', null, '4.25')).status).toBe(204)
    expect(await charged('VIBER')).toBe(money('4.25'))
    expect((await changePrice('VIBER', null, '5', { from: dayAhead(2) })).status).toBe(204)
    expect(await charged('VIBER')).toBe(money('4.25'))
    expect(await priceOf('VIBER')).toMatchObject({ price: 4.25, next: { price: 5 } })
    expect(await calculated('channelType=VIBER')).toMatchObject({ now: { total: 42.5 }, next: { total: 50 } })

    const { version } = (await priceOf('VIBER'))!
    const withdrawal = { channelType: 'VIBER', country: null, version }
    expect((await admin.ask('POST', '/tariffs/prices/withdrawals', withdrawal)).status).toBe(204)
    expect((await admin.ask('POST', '/tariffs/prices/withdrawals', withdrawal)).status).toBe(400)
    expect(await priceOf('VIBER')).toMatchObject({ price: 4.25, next: null })
  })

  test('a country gets its own price, and returns to the price of other countries', async () => {
    const elsewhere = await charged('SMS', 'FR')
    expect((await changePrice('SMS', 'FR', '11.5')).status).toBe(204)
    expect(await charged('SMS', 'FR')).toBe(money('11.5'))
    expect((await changePrice('SMS', 'FR', null, { from: dayAhead(1) })).status).toBe(204)
    expect((await calculated('channelType=SMS&country=FR')).next).toMatchObject({ total: Number(elsewhere) / 1000 })
    expect((await changePrice('SMS', 'FR', null)).status).toBe(204)
    expect(await charged('SMS', 'FR')).toBe(elsewhere)
  })

  test.each([
    ['VIBER', null, null, 'Only a country can lose its price'],
    ['SMS', '*', null, 'Only a country can lose its price'],
    ['SMS', 'RU', '1', 'which has tariffs'],
    ['SMS', 'XX', '1', 'no code of two letters'],
    ['SMS', null, '1', 'no code of two letters'],
    ['VIBER', 'KZ', '1', 'only SMS has prices for countries'],
    ['VIBER', null, '1.00001', 'at most four places'],
    ['VIBER', null, '4.25', 'same as before'],
  ])('%s %s at %s is refused', async (channelType, country, price, words) => {
    const { status, body } = await changePrice(channelType, country, price)
    expect([status, body.error.msg]).toEqual([400, expect.stringContaining(words)])
  })

  test('a change that would overwrite the change of another person is refused', async () => {
    const { version } = (await priceOf('SMS', 'KZ'))!
    expect((await changePrice('SMS', 'KZ', '16')).status).toBe(204)
    const late = await changePrice('SMS', 'KZ', '17', { version })
    expect([late.status, late.body.error.msg]).toEqual([400, expect.stringContaining('Somebody else changed')])
  })

  test('are imported from a file, after its difference and its mistakes were shown', async () => {
    const check = async (file: object) => (await admin.ask('POST', '/tariffs/import/check', file)).body as ImportAnswer
    const fileOf = (lines: string[], more: object = {}) => ({
      text: ['channelType;country;price', ...lines].join('\r\n'),
      from: null,
      replaces: false,
      ...more,
    })
    const good = fileOf(['VIBER;;4,50', 'SMS;ES;12', 'SMS;KZ;16'], { replaces: true })
    const shown = await check(good)
    expect(shown).toMatchObject({
      kind: 'prices',
      added: [{ country: 'ES', price: 12 }],
      changed: [{ before: { price: 4.25 }, after: { channelType: 'VIBER', price: 4.5 } }],
      unchanged: 1,
      wrong: [],
    })
    const ended = shown.ended.map(one => 'country' in one && one.country)
    expect(ended).toContain('BY')
    expect(ended).not.toContain('*')
    expect((await admin.ask('POST', '/tariffs/import', { ...good, version: shown.version })).status).toBe(204)
    expect((await admin.ask('POST', '/tariffs/import', { ...good, version: shown.version })).status).toBe(400)
    expect(await charged('SMS', 'ES')).toBe(money('12'))
    expect(await charged('SMS', 'BY')).toBe(await charged('SMS', 'FR'))

    const bad = fileOf(['PIGEON;;1', 'VIBER;;cheap', 'SMS;KZ;1', 'SMS;KZ;2'])
    expect((await check(bad)).wrong).toEqual([
      expect.stringMatching(/^line 2: channelType "PIGEON"/),
      expect.stringMatching(/^line 3: price "cheap"/),
      expect.stringMatching(/^line 5: there are two prices for SMS KZ/),
    ])
    expect((await admin.ask('POST', '/tariffs/import', { ...bad, version: 'any' })).status).toBe(400)
    expect(await check({ ...good, partnerId: partner.partnerId })).toMatchObject({
      error: { msg: expect.stringContaining('the same for every partner') },
    })

    const file = await api.app.inject({ url: '/cabinet/api/tariffs/prices/export', headers: { cookie: admin.cookie! } })
    expect(await check({ text: file.body, from: null, replaces: true })).toMatchObject({
      added: [],
      changed: [],
      ended: [],
    })
  })
})

test('the fee of a name is changed once, and only from the value that the person saw', async () => {
  const { fees } = await bookOf()
  const body = { brand: 'MTS', before: fees[0]!.value, value: '2500.50' }
  expect((await admin.ask('PATCH', '/tariffs/fees', body)).status).toBe(204)
  expect((await admin.ask('PATCH', '/tariffs/fees', body)).status).toBe(400)
  expect((await admin.ask('PATCH', '/tariffs/fees', { ...body, before: 2500.5, value: '-1' })).status).toBe(400)
  expect((await bookOf()).fees[0]).toMatchObject({ brand: 'MTS', value: 2500.5 })
})

test.each(planModes)('the volumes of a tariff are read by its index, with %s', async mode => {
  const { tariff } = await findTariff(mts)
  const month = '2026-11-01'
  // Many tariffs of one company. The page reads one of them.
  await api.sql`
    insert into tariff_usage (company_id, tariff_id, month, delivered)
    select ${companyId}, 1000000 + n, ${month}::date, n from generate_series(1, 20000) n on conflict do nothing`
  await api.sql`analyze tariff_usage`
  const reads = await readsOf(
    api,
    mode,
    sql => greatestVolumes(sql, { ...tariff, tariffId: 1000007 } as never, month),
    /tariff_usage/,
  )
  const [usage] = reads.filter(({ table }) => table === 'tariff_usage')
  expect(usage).toEqual({ table: 'tariff_usage', index: 'tariff_usage_of_tariff', rows: 1 })
})

describe('rights', () => {
  test('a company and its partner see only their own prices', async () => {
    const other = await aCompany(api.sql, await aPartner(api.sql))
    for (const place of [ofCompany(companyId), ofPartner(partner.partnerId)]) {
      const browser = await signedIn(place, 'owner')
      const prices = (await browser.ask('GET', '/prices')).body as PricesAnswer
      expect(prices.tariffs.filter(({ partnerId }) => partnerId !== null)).toMatchObject([{ brand: 'BEELINE' }])
      expect((await browser.ask('GET', `/prices?companyId=${other}`)).status).toBe(404)
      const calculation = '/prices/calculation?channelType=SMS&messages=1'
      expect((await browser.ask('GET', `${calculation}&companyId=${other}`)).status).toBe(404)
      expect((await browser.ask('GET', calculation)).status).toBe(200)
    }
    const ofThePartner = await signedIn(ofPartner(partner.partnerId), 'owner')
    const foreign = `/prices/calculation?channelType=SMS&messages=1&partnerId=${partner.partnerId + 1}`
    expect((await ofThePartner.ask('GET', foreign)).status).toBe(404)
  })

  test('only staff see the tariffs, and only an admin changes them', async () => {
    const body = changeOf(await findTariff(mts), {})
    const routes: Parameters<CabinetBrowser['ask']>[] = [
      ['POST', '/tariffs/changes', body],
      ['POST', '/tariffs/import/check', aFile([])],
      ['POST', '/tariffs/import', { ...aFile([]), version: 'x' }],
      ['DELETE', '/tariffs/1', undefined],
      ['PATCH', '/tariffs/fees', { brand: 'MTS', before: 1, value: '2' }],
      ['POST', '/tariffs/prices/changes', { channelType: 'VIBER', country: null, version: '', from: null, price: '1' }],
      ['POST', '/tariffs/prices/withdrawals', { channelType: 'VIBER', country: null, version: '' }],
    ]
    const reading = ['/tariffs', '/tariffs/1', '/tariffs/export', '/tariffs/prices/export']
    for (const place of [ofCompany(companyId), ofPartner(partner.partnerId)]) {
      const browser = await signedIn(place, 'owner')
      for (const path of reading) expect([path, (await browser.ask('GET', path)).status]).toEqual([path, 403])
      for (const route of routes) expect([route[1], (await browser.ask(...route)).status]).toEqual([route[1], 403])
    }
    const support = await signedIn(staff, 'support')
    expect((await support.ask('GET', '/tariffs')).status).toBe(200)
    for (const route of routes) expect([route[1], (await support.ask(...route)).status]).toEqual([route[1], 403])
    const viewer = await signedIn(ofCompany(companyId), 'viewer')
    expect((await viewer.ask('GET', '/prices')).status).toBe(403)
    expect((await admin.ask('GET', '/tariffs/99999999')).status).toBe(404)
    expect((await admin.ask('GET', '/tariffs?partnerId=99999999')).status).toBe(404)
    expect((await admin.ask('GET', '/tariffs/1?companyId=99999999')).status).toBe(404)
  })
})
