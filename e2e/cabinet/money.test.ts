import { readFile } from 'node:fs/promises'
import type { Download, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { formatMoney, money } from '../../src/base/money.ts'
import { chargeDueFees } from '../../src/domain/ledger/fees.ts'
import { correctBalance, topUp } from '../../src/domain/ledger/ledger.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { recordStatusReports } from '../../src/domain/recording/recording.ts'
import { approveSender } from '../../src/domain/senders/moderation.ts'
import { aPerson, ofCompany, ofPartner, staff } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aSender } from '../../src/testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, type Looked, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const NASTY = '<img src=x onerror=alert(1)>'
const DAY_MS = 24 * 3600_000
let world: World
let emptyId: number

/** Months are counted in Moscow time, three hours ahead of UTC. */
function middleOfLastMonth(): Date {
  const moscow = new Date(Date.now() + 3 * 3600_000)
  return new Date(Date.UTC(moscow.getUTCFullYear(), moscow.getUTCMonth() - 1, 15, 12))
}

/** Messages of a month ago, and of the days until yesterday. */
beforeAll(async () => {
  const { sql } = cabinet
  world = await aWorld(sql, { budget: '600' })
  const { companyId, partner } = world
  emptyId = await aCompany(sql, partner, { name: NASTY })
  await sql`update companies set name = ${NASTY} where company_id = ${companyId}`
  const now = new Date()
  const monthAgo = middleOfLastMonth()
  const paid = await aSender(sql, companyId, { commonType: 'PROMO', senderName: 'SHOP' })
  await approveSender(sql, paid.senderId, () => money('25'), monthAgo)
  await chargeDueFees(sql, { billingZone, now: monthAgo })
  const note = `${NASTY} ${'payment order of the bank '.repeat(6)}`
  await topUp(sql, companyId, { amount: money('1000'), note }, { billingZone, now: monthAgo })
  const correction = { amount: money('-10'), reason: note.slice(0, 200) }
  await sql.begin(tx => correctBalance(tx, companyId, correction, { billingZone, now: monthAgo }))
  const numbering = await loadNumbering(sql)
  const days = [monthAgo, ...[4, 3, 2, 1, 0].map(back => new Date(now.getTime() - back * DAY_MS))]
  for (const [place, at] of days.entries()) {
    const dispatchId = await aDispatch(sql, numbering, world, someRecipients(8 + 4 * (place % 3)))
    await sql`update dispatches set name = ${NASTY} where dispatch_id = ${dispatchId}`
    await sql`update companies set budget = null where company_id = ${companyId}`
    await start(sql, world, dispatchId, at)
    await sql`update companies set budget = 600 where company_id = ${companyId}`
    const rows = await sql<
      { uuid: string }[]
    >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
    for (const some of [rows.slice(0, 3), rows.slice(3, -2)])
      await recordStatusReports(
        sql,
        companyId,
        some.map(({ uuid }) => ({ uuid, sentAt: at, final: { status: 'DELIVERED', at } })),
        { billingZone, now: at },
      )
  }
})

const { newPage } = browser
const lastMonth = () => middleOfLastMonth().toISOString().slice(0, 7)

async function signedIn(path: string, ...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(cabinet.sql, ...person)
  const page = await newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

async function downloaded(page: Page, click: () => Promise<void>): Promise<Buffer> {
  const [download]: [Download, unknown] = await Promise.all([page.waitForEvent('download'), click()])
  return readFile(await download.path())
}

const amountsIn = (csv: string, section: string) =>
  csv
    .split('\r\n')
    .filter(row => row.startsWith(`${section},`))
    .map(row => money(row.split(',').at(-1)!))

describe.skipIf(!hasBrowser)('money', () => {
  test('an accountant opens the last month, downloads CSV and PDF, and their sums equal the ledger', async () => {
    const { page, faults } = await signedIn('money', ofCompany(world.companyId), 'finance')
    await page.getByText('free of the monthly budget').waitFor()
    await page
      .getByText('Lasts until about')
      .or(page.getByText('Used up'))
      .or(page.getByText('Long enough'))
      .first()
      .waitFor()
    await page.locator('svg').getByText('Budget 600.00\u00a0₽').waitFor()
    const spent = await page.getByText('Spent this month').locator('xpath=following-sibling::dd').first().textContent()
    const days = page.getByRole('table', { name: 'Spending of this month' })
    expect(await days.getByRole('cell').last().textContent()).toBe(spent!.replace(' ', '\u00a0'))
    await page.getByRole('link', { name: 'Statements' }).click()
    await page.getByRole('row').nth(2).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'By tariff' }).waitFor()
    expect(page.url()).toContain(`/money/statements/${lastMonth()}`)
    const [ledger] = await cabinet.sql<{ spent: bigint }[]>`
      select sum(amount) as spent from ledger_entries
      where company_id = ${world.companyId} and month = ${`${lastMonth()}-01`} and kind not in ('TOPUP', 'CORRECTION')`
    const total = formatMoney(ledger!.spent).slice(0, -2)
    for (const name of ['By channel and operator', 'By tariff'])
      await page
        .getByRole('region', { name })
        .getByRole('row', { name: `Total ${total}` })
        .waitFor()

    const csv = String(await downloaded(page, () => page.getByRole('link', { name: 'CSV' }).click()))
    for (const section of ['By channel and operator', 'By tariff']) {
      const amounts = amountsIn(csv, section)
      expect([section, amounts.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)]).toEqual([
        section,
        ledger!.spent,
      ])
    }
    const pdf = await downloaded(page, () => page.getByRole('link', { name: 'PDF' }).click())
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')

    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: 720, height: 1000 }) // A4
    expect(await page.getByRole('columnheader', { name: 'Parts' }).first().isVisible()).toBe(true)
    const hidden = [page.getByRole('navigation'), page.getByRole('banner'), page.getByRole('link', { name: 'CSV' })]
    for (const part of hidden) expect(await part.count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 1400, height: 900 })

    await page.getByRole('link', { name: 'All statements' }).click()
    await page.getByRole('link', { name: 'Ledger' }).click()
    await page.getByText('Days and times: Moscow time').waitFor()
    await page.getByRole('combobox', { name: 'Kind of movement' }).selectOption('Top-up')
    await eventually(async () => expect(await page.getByRole('row').count()).toBe(3))
    expect(page.url()).toContain('kind=TOPUP')
    expect(await page.getByRole('row').nth(2).textContent()).toContain(NASTY)
    await page.getByRole('combobox', { name: 'Kind of movement' }).selectOption('Delivered messages')
    await page.getByRole('button', { name: 'Show its 2 entries' }).first().click()
    await page.getByText('Batch of 3').waitFor()
    faults.expectNone()
  })

  test('staff top up a company and correct it, each once although the button is clicked twice', async () => {
    const { page, faults } = await signedIn(`money?company=${emptyId}`, staff, 'admin')
    await page.getByRole('button', { name: 'Record a top-up' }).click()
    await page.getByRole('textbox', { name: 'Amount' }).fill('150 000 000')
    await page.getByRole('button', { name: 'Record the top-up' }).click()
    await page.getByText('At most 100,000,000.00 ₽ at once').waitFor()
    await page.getByRole('textbox', { name: 'Amount' }).fill('1 500,50')
    await page.getByText('The balance will be 1,500.50 ₽').waitFor()
    await page.getByRole('textbox', { name: 'Comment' }).fill('Order 12')
    await page.getByRole('button', { name: 'Record the top-up' }).dblclick()
    await page.getByText('The balance is 1,500.50 ₽ now').waitFor()
    await page.getByRole('link', { name: 'Ledger' }).click()
    await page.getByText('Order 12').waitFor()
    expect(await page.getByText('+1,500.50').count()).toBe(1)

    await cabinet.sql`update companies set billing = 'PREPAID' where company_id = ${emptyId}`
    await page.reload()
    await page.getByRole('button', { name: 'Correct the balance' }).click()
    await page.getByRole('textbox', { name: 'Amount' }).fill('1500.51')
    await page.getByRole('button', { name: 'Record the correction' }).click()
    await page.getByText('At most 1,500.50 ₽ can be taken').waitFor()
    await page.getByText('Enter the reason for the correction').waitFor()
    await page.getByRole('textbox', { name: 'Amount' }).fill('1350,45')
    await page.getByText('The balance will be 150.05 ₽').waitFor()
    await page.getByRole('textbox', { name: 'Reason' }).fill(`${NASTY} in Order 12`)
    await page.getByRole('button', { name: 'Record the correction' }).dblclick()
    await page.getByText('The balance is 150.05 ₽ now').waitFor()
    await page.getByText(`${NASTY} in Order 12`).waitFor()
    expect(await page.getByText('−1,350.45').count()).toBe(1)
    await cabinet.sql`update companies set billing = 'POSTPAID' where company_id = ${emptyId}`
    const [account] = await cabinet.sql`select balance from accounts where company_id = ${emptyId}`
    expect(account!.balance).toBe(money('150.05'))
    faults.expectNone()
  })

  test('a change of the budget does not overwrite the newer change of another person', async () => {
    const { page, faults } = await signedIn(`money?company=${emptyId}`, ofPartner(world.partner.partnerId), 'owner')
    await page.getByRole('button', { name: 'Change the budget' }).click()
    await page.getByRole('textbox', { name: 'Monthly budget' }).fill('700')
    await cabinet.sql`update companies set budget = 900 where company_id = ${emptyId}`
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Another person changed the budget').waitFor()
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByText('900.00 ₽').first().waitFor()
    faults.expectNone()
  })

  async function lookAtDialogs(page: Page) {
    await page.getByRole('img').first().waitFor()
    const [terms, topUp] = [/Budget and payment|Бюджет и оплата/, /^(Record a top-up|Внести пополнение)$/]
    await expectGoodDialog(page, 'terms', () => page.getByRole('button', { name: terms }).click())
    await expectGoodDialog(page, 'top-up', () => page.getByRole('button', { name: topUp }).click())
    expect(await page.locator('button:focus').textContent()).toMatch(topUp)
    await page.mouse.move(0, 0)
    await eventually(async () => expect(await page.evaluate('document.getAnimations().length')).toBe(0))
  }

  async function lookAtCorrection(page: Page) {
    await page.getByRole('row').nth(1).waitFor()
    const name = /^(Correct the balance|Исправить баланс)$/
    await expectGoodDialog(page, 'correction', () => page.getByRole('button', { name }).click())
    await page.mouse.move(0, 0)
    await eventually(async () => expect(await page.evaluate('document.getAnimations().length')).toBe(0))
  }

  /** Staff who chose a company have more pages than fit into the navigation. The account menu must stay visible. */
  async function findAccountMenu(page: Page) {
    const box = await page.getByRole('button', { name: 'Account menu of' }).first().boundingBox()
    expect(box!.y + box!.height).toBeLessThanOrEqual(page.viewportSize()!.height)
  }

  const titleShare = `(title => title.clientWidth / title.parentElement.clientWidth)(document.querySelector('tbody td'))`

  test.each(extremes)('looks right at $width pixels, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, staff, 'admin')
    const company = `?company=${world.companyId}`
    const heading = (page: Page) => page.getByRole('heading', { level: 2 }).first().waitFor()
    const rows = (page: Page) => page.getByRole('row').nth(1).waitFor()
    const pages: Looked[] = [
      { path: `money${company}`, ready: lookAtDialogs, after: screen.width < 760 ? undefined : findAccountMenu },
      { path: `money/ledger${company}`, ready: lookAtCorrection },
      {
        path: `money/statements${company}`,
        ready: async page => {
          await rows(page)
          // On a phone the month is above the figures, not beside the first figure.
          if (screen.width < 760) expect(await page.evaluate(titleShare)).toBe(1)
        },
      },
      { path: `money/statements/${lastMonth()}${company}`, ready: heading },
      { path: 'money', ready: rows },
    ]
    await lookAt(browser, cabinet, screen, login, pages)
  })
})
