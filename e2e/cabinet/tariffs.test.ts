import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { importRegister, saveVirtualOperator } from '../../src/domain/numbering/imports.ts'
import { startUpload } from '../../src/domain/numbering/uploads.ts'
import { aPerson, ofCompany, staff } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aPartner } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'
import { expectGood, expectGoodDialog, extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const NASTY = '<img src=x onerror=alert(1)>'
let companyId: number
/** A tariff with steps, and its number. */
let scaled: number

const holder = (name: string, inn: string) => `${name};г. Москва;г. Москва;${inn}`
const mts = holder('ПАО "МТС"', '7740000076')
const tele2 = holder('ООО "Т2 Мобайл"', '7743895280')
const nasty = holder(NASTY, '7700000002')
const line = (first: string, last: string, of = mts) => `916;${first};${last};1;${of}`
const registerOf = (lines: string[]) => lines.join('\n')
const before = [line('0000000', '0999999'), line('1000000', '1999999'), line('2000000', '2999999')]
const after = [line('0000000', '0999999'), line('1000000', '1999999', tele2), line('3000000', '3999999', nasty)]

beforeAll(async () => {
  const { sql } = cabinet
  const partner = await aPartner(sql)
  companyId = await aCompany(sql, partner, { name: NASTY })
  await importRegister(sql, source(before), { name: NASTY })
  await saveVirtualOperator(sql, { inn: '7700000001', name: NASTY, brandId: 2 })
  const [row] = await sql`select tariff_id as id from tariffs where pricing_model = 'SCALED' order by tariff_id limit 1`
  scaled = row!.id
  await sql`
    insert into tariff_usage (company_id, tariff_id, month, delivered)
    select ${companyId}, ${scaled}, to_char(now() at time zone 'Europe/Moscow', 'YYYY-MM-01')::date, 4210`
})

async function* source(lines: string[]) {
  yield Buffer.from(registerOf(lines))
}

async function signedIn(path: string) {
  const { login } = await aPerson(cabinet.sql, staff, 'admin')
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

const section = (page: Page, name: string | RegExp) => page.getByRole('region', { name })
const fileOf = (lines: string[], name = 'register.csv') => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(registerOf(lines)),
})

describe.skipIf(!hasBrowser)('tariffs and the numbering plan', () => {
  test('staff change a price from tomorrow with steps, and the calculator shows both', async () => {
    const { page, faults } = await signedIn('tariffs')
    await page.getByRole('link', { name: 'Common name · MTS · Any traffic' }).click()
    await page.getByRole('button', { name: 'Change the price', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Model' }).selectOption('By messages of the month')
    await dialog.getByLabel('Step 1: price of a part').fill('7')
    await dialog.getByRole('button', { name: 'Add a step' }).click()
    await dialog.getByLabel('Step 2: from which count').fill('0')
    await dialog.getByLabel('Step 2: price of a part').fill('6.50001')
    await dialog.getByRole('button', { name: 'Change the price' }).click()
    await dialog.getByText('Must be above the step before.').waitFor()
    await dialog.getByText('An amount with at most four decimals.').waitFor()
    await dialog.getByLabel('Step 2: from which count').fill('1001')
    await dialog.getByLabel('Step 2: price of a part').fill('6.5')
    await dialog.getByRole('button', { name: 'Change the price' }).click()
    await dialog.waitFor({ state: 'detached' })
    await section(page, 'Over time').getByText('7.00 – 6.50').waitFor()

    await page.goto(`${cabinet.origin}/cabinet/tariffs/calculator?messages=3000`)
    await section(page, 'Today').getByText('22,500.00').first().waitFor()
    const next = section(page, /^From /)
    expect(await next.getByRole('row').allTextContents()).toEqual([
      expect.any(String),
      '1 to 1,0001,0007.007,000.00',
      '1,001 to 3,0002,0006.5013,000.00',
    ])
    expect(await next.textContent()).toContain('20,000.00')

    await page.goto(`${cabinet.origin}/cabinet/tariffs`)
    await page.getByRole('row', { name: /MTS.*7\.00 – 6\.50 from/ }).waitFor()

    await page.getByRole('button', { name: 'Change the price: Viber' }).click()
    await dialog.getByLabel('Price of a message, ₽').fill('4,25')
    await dialog.getByRole('button', { name: 'Change the price' }).click()
    await section(page, 'Other channels').getByText('4.25 ₽ from').waitFor()
    await page.getByRole('button', { name: 'Take back' }).click()
    await dialog.getByRole('button', { name: 'Take back' }).click()
    await section(page, 'Other channels').getByText('4.25').waitFor({ state: 'detached' })
    faults.expectNone()
  })

  test('a file of tariffs shows its changes and its mistakes before it is applied', async () => {
    const { page, faults } = await signedIn('tariffs/import')
    const heading = 'senderType,brand,trafficType,pricingModel,from,price'
    const choose = (lines: string[]) =>
      page.locator('input[type=file]').setInputFiles(fileOf([heading, ...lines], 'tariffs.csv'))
    await choose(['COMMON,TELE2,,FIXED,0,6.25', 'GOLD,,,FIXED,0,1', `COMMON,${NASTY},,FIXED,0,1`])
    await page.getByText(/^Line 3: “GOLD” is not known in the column senderType/).waitFor()
    await page.getByText(`Line 4: “${NASTY}” is not known in the column brand`).waitFor()
    expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0)
    await choose(['COMMON,TELE2,,FIXED,0,6.25'])
    await section(page, '1 changed tariff').getByText('6.25').waitFor()
    await page.getByText('At once').click()
    await page.getByRole('button', { name: 'Apply 1 change' }).click()
    await page.getByRole('row', { name: /Tele2.*6\.25/ }).waitFor()
    faults.expectNone()
  })

  test('a register shows exactly its three changes, and after its import a number has its new operator', async () => {
    const { page, faults } = await signedIn('numbering?number=79161234567')
    await page.getByText('ПАО "МТС"').first().waitFor()
    await page.locator('input[type=file]').setInputFiles(fileOf(after))
    await page.getByRole('heading', { name: 'Other operator 1 range' }).waitFor()
    const shown = section(page, 'Changes by the register')
    expect(await shown.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'Other operator1 range, 1,000,000 numbers',
      'New1 range, 1,000,000 numbers',
      'No longer assigned1 range, 1,000,000 numbers',
    ])
    await shown.getByText(NASTY).waitFor()
    const download = page.waitForEvent('download')
    await shown.getByRole('link', { name: 'Download the current numbering first.' }).click()
    expect((await download).suggestedFilename()).toMatch(/^numbering-v\d+\.csv$/)
    await page.reload() // the address keeps the waiting upload
    await page.getByRole('button', { name: 'Apply the changes' }).click()
    await shown.waitFor({ state: 'detached' })
    await eventually(async () =>
      expect(await section(page, 'Look up a number').textContent()).toContain('Sent throughTele2'),
    )
    faults.expectNone()
  })

  test.each(extremes)('looks good at $width pixels, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, staff, 'admin')
    const upload = { kind: 'register', name: NASTY, replaces: false, sizeBytes: 1 } as const
    const uploadId = await startUpload(cabinet.sql, upload, new Date())
    const rows = (page: Page) => page.getByRole('row').nth(3).waitFor()
    const change = /^(Change the price|Изменить цену)$/
    await lookAt(browser, cabinet, screen, login, [
      {
        path: 'tariffs',
        ready: rows,
        after: page =>
          expectGoodDialog(page, 'price of a country', () =>
            page.getByRole('button', { name: /: (Germany|Германия)$/ }).click(),
          ),
      },
      {
        path: `tariffs/${scaled}`,
        ready: async page => {
          await page.getByRole('img').last().waitFor()
          await expectGoodDialog(page, 'change of a price', () => page.getByRole('button', { name: change }).click())
        },
      },
      {
        path: 'tariffs/import',
        ready: async page => {
          const lines = ['senderType,brand,trafficType,pricingModel,from,price', 'PRO,,,FIXED,0,6', 'GOLD,,,FIXED,0,6']
          await page.locator('input[type=file]').setInputFiles(fileOf(lines))
          await page.getByText(/^(Line|Строка) 3/).waitFor()
        },
      },
      {
        path: 'tariffs/calculator?sender=PRO&traffic=PROMO&messages=250000',
        ready: page => page.getByRole('row').nth(1).waitFor(),
      },
      { path: 'numbering?number=79161234567', ready: rows },
      { path: `numbering?upload=${uploadId}`, ready: page => page.getByText(NASTY).first().waitFor() },
    ])
    await cabinet.sql`delete from numbering_uploads`
  })

  test('a company sees its prices and uses the calculator', async () => {
    const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'finance')
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
    await enter(page, cabinet, login, 'prices')
    await page.getByRole('row').nth(3).waitFor()
    await expectGood(page, 'prices')
    await page.getByRole('link', { name: 'Calculator' }).click()
    await section(page, 'Today').waitFor()
    await expectGood(page, 'calculator of a company')
  })
})
