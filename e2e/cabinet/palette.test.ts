import { beforeAll, describe, expect, test } from 'vitest'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { aPerson, ofPartner, staff } from '../../src/testing/cabinet.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet } from './cabinet.ts'
import { expectGoodDialog, extremes } from './looks.ts'

const cabinet = useCabinet()
const { newPage } = useBrowser()
let world: World
let dispatchId: number

beforeAll(async () => {
  world = await aWorld(cabinet.sql)
  dispatchId = await aDispatch(cabinet.sql, await loadNumbering(cabinet.sql), world, [{ destination: '79160004242' }])
})

const anOwner = async () => (await aPerson(cabinet.sql, ofPartner(world.partner.partnerId), 'owner')).login

describe.skipIf(!hasBrowser)('Ctrl K', () => {
  test('finds a page, a dispatch, a company and the message of a number, only by keyboard', async () => {
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    await enter(page, cabinet, await anOwner(), 'account')
    await page.getByRole('link', { name: 'Audit log' }).waitFor()
    const jump = async (typed: string, expected: string | RegExp) => {
      await page.keyboard.press('Control+K')
      await page.getByRole('dialog').waitFor()
      await page.locator('[role=dialog] input:focus').waitFor()
      await page.keyboard.type(typed)
      const first = page.getByRole('dialog').getByRole('option').first()
      await first.getByText(expected).waitFor()
      await page.locator('[role=option][data-combobox-selected]').getByText(expected).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('textbox', { name: 'Name' }).focus()
    await page.keyboard.press('Control+K')
    await page.locator('[role=dialog] input:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('main input:focus').waitFor()
    await jump('audit', 'Audit log')
    await page.waitForURL(/\/audit/)
    await jump('Test', 'Test')
    await page.waitForURL(new RegExp(`/dispatches/${dispatchId}`))
    await jump('7916000424', /\d\d:\d\d/) // when the message was accepted
    await page.waitForURL(/\/messages\/[0-9a-f-]{36}/)
    const [company] = await cabinet.sql<{ name: string }[]>`
      select name from companies where company_id = ${world.companyId}`
    await jump(company!.name, company!.name)
    await page.waitForURL(new RegExp(`company=${world.companyId}`))
    await page.getByRole('button', { name: `Company: ${company!.name}` }).waitFor()
  })

  test('finds partners and gateways for staff by name, and pages by other words in both languages', async () => {
    const { gatewayId } = await aGateway(cabinet.sql, { name: 'mts-main' })
    const { login } = await aPerson(cabinet.sql, staff, 'support')
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    await enter(page, cabinet, login, 'account')
    await page.getByRole('link', { name: 'Audit log' }).waitFor()
    await page.keyboard.press('Control+K')
    const found = page.getByRole('dialog').getByRole('option')
    const typed = page.locator('[role=dialog] input')
    const place = async () => (await typed.boundingBox())!.y
    await found.first().waitFor()
    await eventually(async () => expect(await page.evaluate('document.getAnimations().length')).toBe(0))
    const placeBefore = await place()
    for (const [text, name] of [
      [world.partner.login, world.partner.login],
      ['модерац', undefined], // support does not review
      ['шлюз', 'Gateways'],
      ['пароль', 'Account'],
      ['MTS-m', 'mts-main'],
    ] as const) {
      await typed.fill(text)
      if (name) await found.getByText(name, { exact: true }).waitFor()
      else await page.getByText('Nothing found.').waitFor()
      expect(await place()).toBe(placeBefore)
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/gateways/${gatewayId}`))
  })

  test('shows no results of the previous input while a request runs', async () => {
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    await enter(page, cabinet, await anOwner(), 'account')
    await page.getByRole('link', { name: 'Audit log' }).waitFor()
    await page.keyboard.press('Control+K')
    const options = page.getByRole('dialog').getByRole('option')
    await page.locator('[role=dialog] input:focus').waitFor()
    await page.keyboard.type('Test')
    await options.getByText('Test', { exact: true }).waitFor()

    const asked: string[] = []
    await page.route(/\/cabinet\/api\/(companies|dispatches)\?.*search=audit/, route => {
      asked.push(new URL(route.request().url()).pathname) // the request is never answered
    })
    await page.locator('[role=dialog] input').fill('audit')
    await eventually(() => expect(asked).toHaveLength(2))
    expect(await options.allTextContents()).toEqual(['Audit log'])
  })

  test.each(extremes)('at $width pixels, $locale, $colorScheme', async ({ width, locale, colorScheme }) => {
    const page = await newPage({ viewport: { width, height: 844 }, locale, colorScheme })
    await enter(page, cabinet, await anOwner(), 'account')
    const button = page.getByRole('button', { name: /Search or jump to|Найти или перейти/ })
    await expectGoodDialog(page, 'palette', async () => {
      await button.click()
      await page.locator('[role=dialog] input:focus').waitFor()
      await page.keyboard.type('7916000')
      await page.getByRole('dialog').getByRole('option').first().waitFor()
    })
    if (width > 760) return
    await expectGoodDialog(page, 'more pages', () => page.getByRole('button', { name: /^(More|Ещё)$/ }).click())
  })
})
