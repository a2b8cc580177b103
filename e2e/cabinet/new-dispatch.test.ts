import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../src/base/money.ts'
import { addToBlacklist } from '../../src/domain/blacklist/blacklist.ts'
import { aPerson, ofCompany, ofPartner } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner, type TestPartner } from '../../src/testing/factories.ts'
import { aWorkbook } from '../../src/testing/workbook.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, useCabinet, watchFaults } from './cabinet.ts'
import { expectGood, extremes, lookAt } from './looks.ts'

/** A new dispatch, from the text to the start. */

const cabinet = useCabinet()
const browser = useBrowser()
const { newPage } = browser
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(cabinet.sql)
  companyId = await aCompany(cabinet.sql, partner, { name: 'Romashka', budget: money('1000000') })
  for (const brand of ['MTS', 'BEELINE', 'MEGAFON', 'TELE2'] as const)
    await anApprovedSender(cabinet.sql, companyId, { brand })
  await anApprovedSender(cabinet.sql, companyId, { channelType: 'VIBER' })
  await addToBlacklist(cabinet.sql, companyId, '79160000009', undefined)
})

async function signedIn(place = ofCompany(companyId), role = 'owner') {
  const { login } = await aPerson(cabinet.sql, place, role)
  const page = await newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, 'dispatches/new')
  return { page, faults }
}

const goOn = (page: Page, step: string) => page.getByRole('button', { name: `Continue to ${step}` }).click()

async function writeText(page: Page, text: string) {
  await page.getByRole('textbox', { name: 'Name of the dispatch' }).fill('Black Friday')
  await page.getByRole('combobox', { name: 'Sender name' }).selectOption('ROMASHKA')
  await page.getByRole('textbox', { name: 'Text of the message' }).fill(text)
}

async function giveFile(page: Page, name: string, content: string | Blob) {
  const buffer = Buffer.from(typeof content === 'string' ? content : new Uint8Array(await content.arrayBuffer()))
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer })
}

const withMistakes = [
  'Телефон;Имя',
  '+7 916 000-00-01;Анна',
  '8 (903) 000-00-01;Олег',
  '89160000001;Анна',
  'olga;Ольга',
  '79160000009;Вера',
  '79260000001;',
  '+375 29 100-00-01;Янка',
].join('\r\n')

const sendButton = (page: Page) => page.getByRole('button', { name: /^Send [\d,]+ messages? for/ })

/** Figures of the newest dispatch, and the held amount of the company. */
async function newest() {
  const [row] = await cabinet.sql<
    { name: string; status: string; count: number; estimate: bigint; reserved: bigint }[]
  >`
    select d.name, d.status, d.message_count as count, d.price_estimate as estimate, a.reserved
    from dispatches d join accounts a using (company_id)
    where d.company_id = ${companyId} order by d.dispatch_id desc limit 1`
  return row!
}

describe.skipIf(!hasBrowser)('a new dispatch', () => {
  test('goes from a file with bad, repeated and blacklisted numbers to a start that holds the price shown', async () => {
    const { page, faults } = await signedIn()
    await writeText(page, '{name}, 30% off today – only for you. '.padEnd(80, 'x'))
    await page.getByText('2 parts').first().waitFor()
    await page.getByRole('button', { name: 'Use “-”' }).click()
    await page.getByText('1 part', { exact: false }).first().waitFor()
    await goOn(page, 'Recipients')

    await giveFile(page, 'list.csv', withMistakes)
    await page.getByText('UTF-8, columns separated by “;”').waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: /^2will be sent/ })
      .waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: /^1repeated/ })
      .waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: /^3cannot be sent/ })
      .waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: /^1on your blacklist/ })
      .waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'As CSV' }).click(),
    ])
    expect(await readFile(await file.path(), 'utf8')).toMatch(/^\ufeffLine,Number,Mistake\r\n(\d+,.*,.*\r\n){3}$/)
    const sent = (count: number) =>
      page
        .getByRole('listitem')
        .filter({ hasText: new RegExp(`^${count}will be sent`) })
        .waitFor()
    await page.getByRole('combobox', { name: 'Repeated numbers' }).selectOption('send as often as listed')
    await sent(3)
    await page.getByRole('combobox', { name: 'Repeated numbers' }).selectOption('send once')
    await sent(2)
    await page.getByRole('row').filter({ hasText: 'Олег, 30% off today - only' }).waitFor()
    await goOn(page, 'When')
    await goOn(page, 'Check and send')

    const before = (await cabinet.sql`select reserved from accounts where company_id = ${companyId}`)[0]!.reserved
    const label = await sendButton(page).textContent()
    await sendButton(page).click()
    await page.getByText('2 messages are being sent').waitFor()
    const { status, count, estimate, reserved } = await newest()
    expect([status, count, reserved - before]).toEqual(['STARTED', 2, estimate])
    expect(money(/for ([\d.,]+)/.exec(label!)![1]!.replaceAll(',', ''))).toBe(estimate)
    faults.expectNone()
  })

  test('accepts pasted numbers, and a placeholder from the list that opens after a brace', async () => {
    const { page } = await signedIn(ofCompany(companyId), 'sender')
    await writeText(page, 'Hello ')
    const text = page.getByRole('textbox', { name: 'Text of the message' })
    await text.press('End')
    await text.pressSequentially('{na')
    await page.getByRole('option', { name: '{name}' }).waitFor()
    await text.press('Enter')
    await eventually(async () => expect(await text.inputValue()).toBe('Hello {name}'))
    await goOn(page, 'Recipients')
    await page.getByRole('textbox', { name: 'Numbers, one in each line' }).fill('79160000001,Anna\n79160000002,Oleg')
    await page.getByRole('button', { name: 'Use these numbers' }).click()
    await page.getByText('Choose the column with {name}.').waitFor()
    await page.getByRole('combobox', { name: 'Use of column Column 2' }).selectOption('{name}')
    await page.getByRole('row').filter({ hasText: 'Hello Oleg' }).waitFor()
  })

  test('by cascade is tested with all its steps, shows its highest price, and holds the price of its first step', async () => {
    const { page, faults } = await signedIn()
    await writeText(page, 'Hello {name}')
    await page.getByRole('radio', { name: /^Cascade/ }).check()
    await page.getByRole('combobox', { name: 'Sender name' }).first().selectOption('ROMASHKA')
    await goOn(page, 'Recipients')
    await giveFile(page, 'list.csv', 'phone,name\n79160000001,Anna\n79160000002,Oleg')
    await page.getByRole('row').filter({ hasText: 'Hello Oleg' }).waitFor()
    await goOn(page, 'When')
    await goOn(page, 'Check and send')
    await page.getByRole('textbox', { name: 'Your number' }).fill('8 916 000 00 77')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('On its way').waitFor()
    const [test] = await cabinet.sql`
      select m.text, m.channel_type, c.steps from messages m join cascades c using (company_id, cascade_uuid)
      where m.destination = '79160000077'`
    expect([test!.channelType, test!.text]).toEqual(['VIBER', 'Hello Anna'])
    const most = /^Send 2 messages for at most ([\d.]+)/.exec((await sendButton(page).textContent())!)![1]!
    await sendButton(page).click()
    await page.getByText('2 messages are being sent').waitFor()
    const [row] = await cabinet.sql`
      select cascade, price_estimate as held from dispatches order by dispatch_id desc limit 1`
    expect(row!.cascade.map(({ channelType }: { channelType: string }) => channelType)).toEqual(['VIBER', 'SMS'])
    expect(row!.held).toBeGreaterThan(0n)
    expect(row!.held).toBeLessThan(money(most))
    faults.expectNone()
  })

  test('of a partner is read from a workbook, limited to hours and a rate, and survives a reload', async () => {
    const { page } = await signedIn(ofPartner(partner.partnerId), 'manager')
    await page.getByRole('combobox', { name: 'Company' }).click()
    await page.getByRole('option', { name: 'Romashka' }).click()
    await writeText(page, '{name}, hello')
    await goOn(page, 'Recipients')
    const rows = [
      ['phone', 'name'],
      [79160000001, 'Anna'],
      ['8 926 000-00-01', 'Oleg'],
    ]
    await giveFile(page, 'list.xlsx', await aWorkbook(rows, 'shared'))
    await page.getByRole('row').filter({ hasText: 'Oleg, hello' }).waitFor()
    await goOn(page, 'When')
    await page.getByRole('button', { name: 'Every day 10 to 20' }).click()
    await page.getByRole('gridcell', { name: 'Monday, 09:00' }).click()
    await page.getByText('Mon–Sun, 09:00–20:00').waitFor()
    await page.getByRole('gridcell', { name: 'Monday, 09:00' }).press('Shift+ArrowDown')
    await page.getByText('Mon–Tue, 09:00–10:00').waitFor()
    await page.getByRole('radio', { name: 'At most' }).check()
    await page.getByText(/^About 1 minute; ends (Monday|Tuesday)/).waitFor()
    await goOn(page, 'Check and send')
    await sendButton(page).waitFor()
    await page.reload()
    await sendButton(page).click()
    await page.getByText('2 messages are being sent').waitFor()
    const [options] = await cabinet.sql`select options from dispatches order by dispatch_id desc limit 1`
    expect(options!.options).toMatchObject({ hours: [9], days: [1, 2], useLocalTime: true, rate: 30 })
  })

  test('in two tabs continues in one tab, with the values of the other', async () => {
    const { page } = await signedIn()
    await writeText(page, 'Привет – всем')
    expect(await page.locator('mark').count()).toBe(0) // the dash costs nothing among Cyrillic letters
    const other = await page.context().newPage()
    await openPage(other, cabinet, 'dispatches/new')
    const nameIn = (tab: Page) => tab.getByRole('textbox', { name: 'Name of the dispatch' })
    await nameIn(other).fill('Changed')
    await page.getByText('The draft was changed in another tab').waitFor()
    await page.getByRole('button', { name: 'Continue here' }).click()
    await eventually(async () => expect(await nameIn(page).inputValue()).toBe('Changed'))
    await page.getByRole('button', { name: 'Start anew' }).click()
    await other.getByText('The draft was changed in another tab').waitFor()
  })

  test('that cannot be started waits with its recipients and the reason, and is started later without a second upload', async () => {
    const poor = await aCompany(cabinet.sql, partner, { name: 'Poor', budget: money('0.01') })
    await anApprovedSender(cabinet.sql, poor, { brand: 'MTS' })
    const { page } = await signedIn(ofCompany(poor), 'sender')
    await writeText(page, 'Hello')
    await goOn(page, 'Recipients')
    await page.getByRole('textbox', { name: 'Numbers, one in each line' }).fill('79160000001\n79160000002')
    await page.getByRole('button', { name: 'Use these numbers' }).click()
    await goOn(page, 'When')
    await goOn(page, 'Check and send')
    const uploads: string[] = []
    page.on('request', request => void (/\/\d+\/recipients$/.test(request.url()) && uploads.push(request.url())))
    await sendButton(page).click()
    const reason = page.getByText('The monthly budget of the company is too small.', { exact: false })
    await reason.waitFor()
    await page.reload()
    await reason.waitFor()
    await page.getByRole('button', { name: 'Back to the check' }).click()
    await sendButton(page).click()
    await reason.waitFor()
    await page.getByRole('link', { name: 'Open it in the list' }).click()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    const start = page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true })
    await start.click()
    await page.getByRole('dialog').getByText('The monthly budget of the company is too small').waitFor()
    await cabinet.sql`update companies set budget = null where company_id = ${poor}`
    await start.click()
    await page.getByText('Black Friday is started').waitFor()
    expect(await cabinet.sql`select status, message_count from dispatches where company_id = ${poor}`).toEqual([
      { status: 'STARTED', messageCount: 2 },
    ])
    expect(uploads).toHaveLength(1)
  })

  test('continues after a broken connection and a closed tab, with no recipient twice', async () => {
    const { page } = await signedIn()
    await writeText(page, 'Hello')
    await goOn(page, 'Recipients')
    const count = 20_001
    const numbers = Array.from({ length: count }, (_, i) => `7916${String(1_000_000 + i)}`)
    await giveFile(page, 'many.csv', `phone\n${numbers.join('\n')}`)
    await page.getByText('20,001 lines').waitFor()
    await goOn(page, 'When')
    await goOn(page, 'Check and send')
    await sendButton(page).waitFor()

    let requests = 0
    await page.context().route('**/recipients*', async route => {
      if (++requests === 1) return route.continue()
      // The server gets the second request, but the page gets no answer.
      if (requests === 2) await route.fetch()
      await route.abort()
    })
    await sendButton(page).click()
    await page.getByText('No connection.', { exact: false }).first().waitFor()
    const { context } = { context: page.context() }
    await page.close()
    await context.unroute('**/recipients*')
    const again = await context.newPage()
    await openPage(again, cabinet, 'dispatches/new')
    await again.getByText('20,001 messages are being sent').waitFor()
    const [found] = await cabinet.sql`
      select count(*)::int as count, count(distinct destination)::int as numbers from messages
      where dispatch_id = (select max(dispatch_id) from dispatches)`
    expect(found).toEqual({ count, numbers: count })
    expect((await newest()).status).toBe('STARTED')
  })
})

/** Fills in the first step, and opens the second. */
async function openRecipients(page: Page) {
  await page
    .getByRole('textbox', { name: /^(Name of the dispatch|Название рассылки)$/ })
    .fill('<img src=x onerror=alert(1)>')
  await page.getByRole('combobox', { name: /^(Sender name|Имя отправителя)$/ }).selectOption('ROMASHKA')
  await page
    .getByRole('textbox', { name: /^(Text of the message|Текст сообщения)$/ })
    .fill('{name}, 30% off today – only for you. '.padEnd(80, 'x'))
  await continueWith(page)
  await page.locator('input[type=file]').waitFor({ state: 'attached' })
}

const continueWith = (page: Page) => page.getByRole('button', { name: /^(Continue|Далее)/ }).click()

/** Each step with all its parts visible. The last steps are of a cascade, whose prices need the most space. */
async function lookAtSteps(page: Page) {
  await giveFile(page, 'list.csv', withMistakes)
  await page.getByRole('row').filter({ hasText: 'Олег, 30% off' }).waitFor()
  await expectGood(page, 'the recipients')
  await page.getByRole('button', { name: /^(Who and what|Кто и что)$/ }).click()
  await page.getByText(/^(Other: 1 number|Прочие: 1 номер)/).waitFor()
  await expectGood(page, 'the text')
  await page.getByRole('radio', { name: /^(Cascade|Каскад)/ }).check()
  await page
    .getByRole('combobox', { name: /^(Sender name|Имя отправителя)$/ })
    .first()
    .selectOption('ROMASHKA')
  await expectGood(page, 'the steps of a cascade')
  await continueWith(page)
  await continueWith(page)
  await page.getByRole('button', { name: /^(Every day 10|Каждый день с 10)/ }).click()
  await page.getByRole('radio', { name: /^(At most|Не более)/ }).check()
  await expectGood(page, 'the hours')
  await continueWith(page)
  await page.getByRole('button', { name: /(for at most|не более чем за)/ }).waitFor()
  await expectGood(page, 'the check')
}

describe.skipIf(!hasBrowser)('the steps of a new dispatch', () => {
  test.each(extremes)('at $width pixels, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'owner')
    const looked = { path: 'dispatches/new', ready: openRecipients, after: lookAtSteps }
    await lookAt(browser, cabinet, screen, login, [looked])
  })
})
