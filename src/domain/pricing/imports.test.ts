import { beforeAll, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aPartner, type TestPartner } from '../../testing/factories.ts'
import { importTariffs, readTariffFile, type TariffRow } from './imports.ts'
import { listTariffs, openPriceBook, tariffsByIds } from './pricing.ts'

const db = useDatabase()
let partner: TestPartner
let withoutTariffs: TestPartner

beforeAll(async () => {
  partner = await aPartner(db.sql)
  withoutTariffs = await aPartner(db.sql)
})

const question = {
  channelType: 'SMS',
  country: 'RU',
  senderType: 'COMMON',
  brand: 'MTS',
  trafficType: 'PROMO',
} as const

const fixed = (price: string): TariffRow => ({
  senderType: 'COMMON',
  brand: 'MTS',
  pricingModel: 'FIXED',
  steps: [{ from: 0, price }],
})

test("a partner's own tariff goes before the general one, for this partner alone", async () => {
  const other = await aPartner(db.sql)
  expect(await importTariffs(db.sql, partner.login, [fixed('1.23')])).toEqual({ added: 1, replaced: 0, unchanged: 0 })

  expect((await openPriceBook(db.sql, partner.partnerId)).priceOf(question).perPart).toBe(money('1.23'))
  expect((await openPriceBook(db.sql, other.partnerId)).priceOf(question).perPart).toBe(money('7.50'))
})

test('a new tariff takes the place of the old one, which is still found by its id', async () => {
  await importTariffs(db.sql, partner.login, [fixed('1.23')])
  const before = (await openPriceBook(db.sql, partner.partnerId)).priceOf(question)

  expect(await importTariffs(db.sql, partner.login, [fixed('1.50')])).toEqual({ added: 0, replaced: 1, unchanged: 0 })

  const after = (await openPriceBook(db.sql, partner.partnerId)).priceOf(question)
  expect(after.perPart).toBe(money('1.50'))
  expect(after.tariffId).not.toBe(before.tariffId)
  const [old] = await tariffsByIds(db.sql, [before.tariffId!])
  expect(old!.steps[0]!.price).toBe(money('1.23'))
  const listed = await listTariffs(db.sql, partner.partnerId, { senderType: 'COMMON', brand: 'MTS' })
  expect(listed.map(({ tariffId }) => tariffId)).toEqual([after.tariffId])
})

test('an import that says nothing new changes nothing, so that counts go on', async () => {
  await importTariffs(db.sql, partner.login, [fixed('2.00')])
  const before = (await openPriceBook(db.sql, partner.partnerId)).priceOf(question)

  expect(await importTariffs(db.sql, partner.login, [fixed('2')])).toEqual({ added: 0, replaced: 0, unchanged: 1 })

  expect((await openPriceBook(db.sql, partner.partnerId)).priceOf(question)).toEqual(before)
})

test('without a partner the general tariffs change', async () => {
  const row: TariffRow = { senderType: 'COMMON', brand: 'TELE2', pricingModel: 'FIXED', steps: [{ from: 0, price: 6 }] }
  expect(await importTariffs(db.sql, undefined, [row])).toEqual({ added: 0, replaced: 1, unchanged: 0 })
  const price = (await openPriceBook(db.sql, partner.partnerId)).priceOf({ ...question, brand: 'TELE2' })
  expect(price.perPart).toBe(money('6'))
})

test('imports at the same time follow one another', async () => {
  const other = await aPartner(db.sql)
  await Promise.all(Array.from({ length: 8 }, (_, i) => importTariffs(db.sql, other.login, [fixed(`${i + 1}.11`)])))
  const [row] = await db.sql`
    select count(*) as tariffs, count(*) filter (where superseded_at is null) as current
    from tariffs where partner_id = ${other.partnerId}`
  expect(row).toEqual({ tariffs: 8, current: 1 })
})

test.each([
  ['an unknown sender type', { ...fixed('1'), senderType: 'BEST' }, 'senderType "BEST"'],
  ['an unknown brand', { ...fixed('1'), brand: 'NONE' }, 'brand "NONE"'],
  ['a price that is no amount', fixed('cheap'), 'price "cheap"'],
  ['a negative price', fixed('-1'), 'price "-1"'],
  ['a price beyond all bounds', fixed('1e99'), 'price "1e99" is not an amount from 0 to 1000000'],
  ['the same as a number', { ...fixed('1'), steps: [{ from: 0, price: 1e99 }] }, 'price "1e+99" is not an amount'],
  ['a price just above the bound', fixed('1000000.0001'), 'price "1000000.0001" is not an amount from 0 to 1000000'],
  ['a fifth place', fixed('0.00001'), 'price "0.00001" is not an amount from 0 to 1000000 with at most four places'],
  ['a fifth place as a number', { ...fixed('1'), steps: [{ from: 0, price: 1e-7 }] }, 'price "1e-7" is not an amount'],
  ['a price in hexadecimal', fixed('0x10'), 'price "0x10"'],
  ['no price', fixed(''), 'price "" is not an amount'],
  ['a count that is not whole', { ...fixed('1'), steps: [{ from: '1e3', price: 1 }] }, 'from "1e3" is not a count'],
  [
    'a package beyond all bounds',
    { ...fixed('1'), pricingModel: 'MAU', steps: [{ from: 0, price: 1, priceMauBatch: '1e99' }] },
    'priceMauBatch "1e99" is not an amount from 0 to 1000000000',
  ],
  ['no steps', { ...fixed('1'), steps: [] }, 'no steps'],
  ['a first step above 1', { ...fixed('1'), steps: [{ from: 5, price: 1 }] }, 'from 0 or 1'],
  [
    'two fixed prices',
    {
      ...fixed('1'),
      steps: [
        { from: 0, price: 1 },
        { from: 5, price: 1 },
      ],
    },
    'one step',
  ],
  ['a package outside MAU', { ...fixed('1'), steps: [{ from: 0, price: 1, priceMauBatch: 5 }] }, 'priceMauBatch'],
])('%s is refused, and nothing of the file is taken', async (_, row, words) => {
  const good = { ...fixed('1'), brand: 'BEELINE' }
  await expect(importTariffs(db.sql, withoutTariffs.login, [good, row])).rejects.toThrow(words)
  expect(await db.sql`select from tariffs where partner_id = ${withoutTariffs.partnerId}`).toHaveLength(0)
})

test('two tariffs for one place are refused, and so is an unknown partner', async () => {
  await expect(importTariffs(db.sql, partner.login, [fixed('1'), fixed('2')])).rejects.toThrow('two tariffs')
  await expect(importTariffs(db.sql, 'unknown', [fixed('1')])).rejects.toThrow('no partner "unknown"')
})

test('a mistake in a CSV file is told with its line and field', async () => {
  const lines = (...rows: string[]) => ['senderType,brand,trafficType,pricingModel,from,price', ...rows].join('\n')
  const refusal = (text: string) =>
    importTariffs(db.sql, undefined, readTariffFile(text)).then(
      () => 'nothing',
      error => error.message,
    )
  const good = 'PRO,MTS,PROMO,SCALED,1,5.90'
  expect(await refusal(lines(good, '', 'PRO,MTS,PROMO,SCALED,101,1e99'))).toMatch(/^line 4: price "1e99" is not/)
  expect(await refusal(lines(good, 'START,,,FIXED,0,0.00001'))).toMatch(/^line 3: price "0\.00001" is not an amount/)
  expect(await refusal(lines('GOLD,,,FIXED,0,1'))).toMatch(/^line 2: senderType "GOLD" is none of/)
})

test('a CSV file has a line a step, a JSON file a list', async () => {
  const rows: TariffRow[] = [
    {
      senderType: 'PRO',
      brand: 'MTS',
      trafficType: 'PROMO',
      pricingModel: 'SCALED',
      steps: [step('1', '5.90'), step('101', '5')],
    },
    { senderType: 'START', brand: '', trafficType: '', pricingModel: 'MAU', steps: [step('1', '1.2', '900')] },
  ]
  const csv = `\uFEFFsenderType;brand;trafficType;pricingModel;from;price;priceMauBatch\r
PRO;MTS;PROMO;SCALED;1;5.90;\r
"PRO";"MTS";"PROMO";"SCALED";101;5;\r
START;;;MAU;1;1.2;900\r
`
  expect(readTariffFile(csv)).toMatchObject(rows)
  expect(readTariffFile(csv.replaceAll(';', ','))).toMatchObject(rows)
  expect(readTariffFile(JSON.stringify(rows))).toEqual(rows)
  expect(() => readTariffFile('brand,price\nMTS,1')).toThrow('no senderType')
  expect(() => readTariffFile('[{"brand": 1}]')).toThrow('JSON')

  const other = await aPartner(db.sql)
  expect(await importTariffs(db.sql, other.login, rows)).toEqual({ added: 2, replaced: 0, unchanged: 0 })
  expect(await importTariffs(db.sql, other.login, rows)).toEqual({ added: 0, replaced: 0, unchanged: 2 })
})

const step = (from: string, price: string, priceMauBatch = '') => ({ from, price, priceMauBatch })
