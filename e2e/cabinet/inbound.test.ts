import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../src/base/uuid7.ts'
import { addToBlacklist } from '../../src/domain/blacklist/blacklist.ts'
import { setSwitches } from '../../src/domain/companies/companies.ts'
import { receiveInbound } from '../../src/domain/inbound/inbound.ts'
import { followLink, saveLinks } from '../../src/domain/short-links/short-links.ts'
import { aPerson, ofCompany } from '../../src/testing/cabinet.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const NASTY = '<img src=x onerror=alert(1)>'
const anna = '79160000061'
let companyId: number
let gatewayId: number
let login: string

beforeAll(async () => {
  const { sql } = cabinet
  companyId = await aCompany(sql, await aPartner(sql), { name: 'Romashka' })
  await setSwitches(sql, companyId, { inbound: true })
  for (const senderName of ['SHOP', 'HELP'])
    await anApprovedSender(sql, companyId, { channelType: 'WHATSAPP', senderName })
  gatewayId = (await aGateway(sql, { channelType: 'WHATSAPP' })).gatewayId
  login = (await aPerson(sql, ofCompany(companyId), 'owner')).login
  await write('79160000062', `${NASTY} When do you open?`, 'SHOP')
  await addToBlacklist(sql, companyId, '79160000063', NASTY, 'API')
  const [uuid] = uuid7Batch(new Date(), 1)
  const links = [{ code: 'sale123456', messageUuid: uuid!, url: 'https://shop.example/<img>?sale' }]
  await sql.begin(tx => saveLinks(tx, companyId, links, new Date()))
  await followLink(sql, 'sale123456', { base: cabinet.origin, now: new Date() })
})

const write = (from: string, text: string, to: string) =>
  receiveInbound(cabinet.sql, gatewayId, { from, to, text, receivedAt: new Date() })

async function signedIn(path: string) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

/** The pause of typing is over before the page is drawn again, as on a slow device. */
const hurryTyping = `{
  const later = window.setTimeout
  window.hurried = 0
  window.setTimeout = (run, ms, ...more) => {
    if (ms < 300 || ms > 400) return later(run, ms, ...more)
    window.hurried += 1
    queueMicrotask(run)
    return 0
  }
}`

describe.skipIf(!hasBrowser)('incoming messages', () => {
  test('a subscriber writes STOP: the owner sees it, finds the number on the blacklist, and removes it', async () => {
    await write(anna, 'Stop', 'SHOP')
    const { page, faults } = await signedIn('inbound')
    await rowOf(page, NASTY).waitFor()
    const stop = rowOf(page, '+7 916 000‑00‑61')
    await stop.getByText('Stop word: the number is on the blacklist').waitFor()
    await stop.getByRole('link', { name: 'Show it there' }).click()

    const entry = rowOf(page, '+7 916 000‑00‑61')
    await entry.getByText('Asked to stop').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await entry.getByRole('button', { name: /Take .* off the blacklist/ }).click()
    await page.getByRole('dialog').getByText('This person asked to get no more messages.').waitFor()
    await page.getByRole('button', { name: 'Take off' }).click()
    await page.getByText('Not on the blacklist').waitFor()
    await page.getByRole('button', { name: 'Clear the search' }).last().click()
    await rowOf(page, NASTY).waitFor()

    await page.getByRole('link', { name: 'Incoming' }).first().click()
    await stop.getByText('the number was removed from the blacklist later').waitFor()
    await page.getByRole('textbox', { name: 'Number or words of the text' }).fill('when open')
    await eventually(async () => expect(await page.getByRole('row').count()).toBe(2))
    await page.getByText(/Searched from .* to /).waitFor()
    expect(page.url()).toContain('q=when')
    faults.expectNone()
  })

  test('on a slow device a search field keeps the typed text, and a cleared search does not come back', async () => {
    const { page, faults } = await signedIn('blacklist?q=7999')
    await page.getByText('Not on the blacklist').waitFor()
    await page.evaluate(hurryTyping)
    await page.getByRole('button', { name: 'Clear the search' }).last().click()
    await rowOf(page, NASTY).waitFor()
    const field = page.getByRole('textbox', { name: /number/i })
    expect(await field.inputValue()).toBe('')
    await field.pressSequentially('79160000063')
    await eventually(() => expect(page.url()).toContain('79160000063'))
    expect(await field.inputValue()).toBe('79160000063')
    expect(await page.evaluate('hurried')).toBeGreaterThan(0)
    faults.expectNone()
  })

  test('a rule sends messages to a second name to a second center, as the tester said before', async () => {
    const { page, faults } = await signedIn('inbound/rules')
    await page.getByText('Every message, while there is no rule').waitFor()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('HELP').check()
    await dialog.getByLabel('Traffic center').fill('Support')
    await dialog.getByRole('button', { name: 'Add a rule' }).click()
    await dialog.getByText('Enter an address that begins with').waitFor()
    const address = dialog.getByLabel('Callback address')
    await address.fill('https://anna:secret@shop.example/desk')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('anna')
    await page.reload() // it keeps the typed values, except the password
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await dialog.getByText('The text that you typed before is here again.').waitFor()
    expect(await dialog.getByLabel('HELP').isChecked()).toBe(true)
    await address.fill('https://anna:secret@shop.example/desk')
    await dialog.getByRole('button', { name: 'Add a rule' }).click()
    await rowOf(page, 'Support').getByText('https://anna:***@shop.example/desk').waitFor()

    const tester = page.getByRole('region', { name: 'Which center would it go to?' })
    await tester.getByLabel('Written to').fill('HELP')
    await tester.getByLabel('Text').fill('My order is late')
    await tester.getByRole('button', { name: 'Try it' }).click()
    await tester.getByText('It goes to Support').waitFor()
    await tester.getByText('Rule 1 applies: it is for this name.').waitFor()
    await tester.getByLabel('Written to').fill('SHOP')
    await tester.getByLabel('Text').fill('stop')
    await tester.getByRole('button', { name: 'Try it' }).click()
    await tester.getByText('It goes to Default').waitFor()
    await tester.getByText('is only for HELP.').waitFor()
    await tester.getByText('It is a stop word').waitFor()
    await page.reload()
    await tester.getByText('It goes to Default').waitFor()

    await write(anna, 'My order is late', 'HELP')
    await page.getByRole('link', { name: 'What people wrote' }).click()
    await rowOf(page, 'My order is late').getByText('Support').waitFor()

    await page.getByRole('link', { name: 'Traffic centers' }).click()
    await rowOf(page, 'Support').getByRole('button', { name: 'Make default' }).click()
    await cabinet.sql`update traffic_centers set is_default = not is_default where company_id = ${companyId}`
    await page.getByRole('dialog').getByRole('button', { name: 'Make default' }).click()
    await page.getByText('Another person changed this meanwhile').waitFor()
    await page.keyboard.press('Escape')
    await rowOf(page, 'Support').getByText('Default', { exact: true }).waitFor()
    faults.expectNone()
  })

  test('a file is imported, its bad lines are named, and the same file again adds nothing', async () => {
    const { page, faults } = await signedIn('blacklist')
    const lines = Array.from({ length: 12_000 }, (_, i) => `790300${10_000 + i}`)
    const buffer = Buffer.from(`phone;name\n${lines.join(';x\n')}\nno number;y\n${lines[0]};z\n`)
    for (const [added, there] of [
      ['12,000', '0'],
      ['0', '12,000'],
    ]) {
      await page.getByRole('button', { name: 'Import' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.locator('input[type=file]').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
      await dialog.getByText('Line 12,002: no number').waitFor()
      const report = await dialog.locator('dl').textContent()
      expect(report).toBe(
        `${added}added${there}were on the blacklist already1stand in the file more than once1are no numbers`,
      )
      await dialog.getByRole('button', { name: 'Done' }).click()
    }
    await page.getByText(/^12,00\d numbers get no messages/).waitFor()
    faults.expectNone()
  })

  test('a short link is found by the host of its target, with its clicks by day', async () => {
    const { page, faults } = await signedIn('links')
    await page.getByText('1 click in the last 30 days').waitFor()
    await page.getByRole('textbox', { name: /Code, short link/ }).fill('unknown.example')
    await page.getByText('No link fits').waitFor()
    await page.getByRole('textbox', { name: /Code, short link/ }).fill('shop.ex')
    await rowOf(page, 'shop.example/<img>?sale').getByRole('link').first().click()
    await page.getByRole('dialog').getByText('https://shop.example/<img>?sale').waitFor()
    expect(await page.getByRole('dialog').getByRole('textbox').inputValue()).toMatch(/\/s\/sale123456$/)
    await page.reload()
    await page.getByRole('dialog').getByRole('img', { name: 'Clicks on this link by day' }).waitFor()
    faults.expectNone()
  })

  test.each(extremes)('looks good at $width px, $locale, $colorScheme', async screen => {
    await lookAt(browser, cabinet, screen, login, [
      { path: 'inbound', ready: page => page.getByText(NASTY).first().waitFor() },
      {
        path: 'inbound/rules?name=HELP&text=stop',
        ready: page => page.getByRole('status').getByText('Support').first().waitFor(),
        after: page =>
          expectGoodDialog(page, 'rule', () =>
            page.getByRole('button', { name: /^(Add a rule|Добавить правило)$/ }).click(),
          ),
      },
      { path: 'links', ready: page => page.getByText('shop.example/<img>?sale').first().waitFor() },
      { path: 'inbound/centers', ready: page => page.getByRole('row').filter({ hasText: 'Support' }).waitFor() },
      {
        path: 'blacklist',
        ready: page =>
          page
            .getByRole('button', { name: /^(Take|Убрать) / })
            .first()
            .waitFor(),
        after: async page => {
          await expectGoodDialog(page, 'import', () =>
            page.getByRole('button', { name: /^(Import|Загрузить)$/ }).click(),
          )
          await expectGoodDialog(page, 'remove', () =>
            page
              .getByRole('button', { name: /^(Take|Убрать)/ })
              .first()
              .click(),
          )
        },
      },
    ])
  })
})
