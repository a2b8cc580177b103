import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { aPerson, ofCompany } from '../../src/testing/cabinet.ts'
import { aGateway, useEngines } from '../../src/testing/engines.ts'
import { aCompany, anApprovedSender, aPartner, numberOf } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet } from './cabinet.ts'
import { extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const { anEngine } = useEngines(cabinet)
let companyId: number

beforeAll(async () => {
  companyId = await aCompany(cabinet.sql, await aPartner(cabinet.sql), { name: '<img src=x onerror=alert(1)>' })
  await anApprovedSender(cabinet.sql, companyId, { brand: 'MTS' })
  if (hasBrowser) await aGateway(cabinet.sql, {})
})

const aSender = async () => (await aPerson(cabinet.sql, ofCompany(companyId), 'sender')).login

async function fill(page: Page, text: string) {
  await page.getByRole('textbox', { name: /^(Number|Номер)$/ }).fill(numberOf.MTS)
  await page.getByLabel(/^(Sender name|Имя отправителя)$/).selectOption('ROMASHKA')
  await page.getByRole('textbox', { name: /^(Text|Текст)$/ }).fill(text)
}

describe.skipIf(!hasBrowser)('a single message', () => {
  test('shows its price while it is written, survives a reload, is sent once and is shown as delivered', async () => {
    const page = await browser.newPage()
    await enter(page, cabinet, await aSender(), 'send')
    await fill(page, 'Your order is ready')
    const price = page.getByRole('region', { name: 'Price' })
    await price.getByText(/1 part, \d+\.\d\d\s₽/).waitFor()
    await page.reload()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Your order is ready')
    await anEngine()
    await page.getByRole('button', { name: 'Send', exact: true }).dblclick()
    await page.getByText('Delivered', { exact: true }).first().waitFor()
    expect(await cabinet.sql`select text from messages where company_id = ${companyId}`).toEqual([
      { text: 'Your order is ready' },
    ])
    await page.reload()
    await page.getByText('Delivered', { exact: true }).first().waitFor()
    await page.getByRole('link', { name: 'Whole life' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(page.url()).toMatch(/messages\/[0-9a-f-]{36}/)
  })

  test('shows beside its text why it cannot be sent', async () => {
    const page = await browser.newPage()
    await enter(page, cabinet, await aSender(), `send?to=${numberOf.BEELINE}`)
    await page.getByLabel('Sender name').selectOption('ROMASHKA')
    await page.getByRole('textbox', { name: 'Text' }).fill('Hello')
    await page.getByText(/ROMASHKA is not registered with the recipient's operator, BEELINE/).waitFor()
  })
})

describe.skipIf(!hasBrowser)('the page of one message', () => {
  test.each(extremes)('at $width pixels, $locale, $colorScheme', async screen => {
    const cascade = async (page: Page) => {
      await fill(page, 'Your order is ready')
      await page.getByRole('button', { name: /Add a step|Добавить шаг/ }).click()
      await page.getByRole('heading', { name: /^(Step|Шаг) 2$/ }).waitFor()
    }
    await lookAt(browser, cabinet, screen, await aSender(), [{ path: 'send', ready: cascade }])
  })
})
