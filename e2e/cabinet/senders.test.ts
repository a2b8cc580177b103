import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { storeDocument } from '../../src/domain/documents/documents.ts'
import { advanceDueSenders, denySender, rejectSender } from '../../src/domain/senders/moderation.ts'
import { advanceDueTemplates } from '../../src/domain/templates/moderation.ts'
import { createTemplate } from '../../src/domain/templates/templates.ts'
import { aPerson, ofCompany, staff } from '../../src/testing/cabinet.ts'
import { PDF } from '../../src/testing/conformance/world.ts'
import { eventually, settled } from '../../src/testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner, aSender } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser({ hasViewers: true })
const NASTY = '<img src=x onerror=alert(1)>'
let companyId: number
let rejectedId: number
let templateId: number

/** A company with names and templates in many states, and similar names of other companies. */
beforeAll(async () => {
  const { sql } = cabinet
  const partner = await aPartner(sql)
  companyId = await aCompany(sql, partner, { name: NASTY })
  const other = await aCompany(sql, await aPartner(sql), { name: 'Other & Sons' })
  for (const brand of ['MTS', 'MEGAFON', 'BEELINE'] as const) await anApprovedSender(sql, companyId, { brand })
  await anApprovedSender(sql, companyId, { senderName: NASTY, channelType: 'VIBER' })
  const denied = await aSender(sql, other, { senderName: 'ROMASHKA-VP' })
  await denySender(sql, denied.senderId, 'No right to the name', new Date())

  const document = await sql.begin(tx => storeDocument(tx, companyId, { filename: `${NASTY}.pdf`, content: PDF }))
  const rejected = await aSender(sql, companyId, { senderName: 'ROMASHKA24', documentIds: [document.id] })
  rejectedId = rejected.senderId
  await submit()
  await rejectSender(sql, rejectedId, `The letter has no stamp ${NASTY}`, new Date())

  await aSender(sql, companyId, {
    senderName: 'ROMASHKAVIP',
    commonType: 'PROMO',
    description: NASTY,
    documentIds: [document.id],
  })
  const text = { channelType: 'SMS', trafficType: 'AUTHORIZE', content: null, senderId: null, validTo: null } as const
  const now = new Date()
  const make = (pattern: string) =>
    sql.begin(tx => createTemplate(tx, companyId, { ...text, pattern, validFrom: now }, now))
  await make(`Hello %w, your code is %d{1,6}. ${NASTY}`)
  templateId = (await make('Order %d is ready: %w{1,5}')).templateId
  await submit()
})

/** Puts requests into review, as the engine does with manual moderation. */
async function submit() {
  await advanceDueSenders(cabinet.sql, 'manual', () => null, new Date())
  await advanceDueTemplates(cabinet.sql, 'manual', new Date())
}

async function signedIn(login: string, path: string) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

/** The nesting of frames: the page, the document, the browser's viewer, and the pages in it. */
const FRAMES_WITH_VIEWER = 4

const focused = (page: Page) => settled(() => page.evaluate('document.activeElement.tagName'))
const focusIs = (page: Page, tagName: string) => eventually(async () => expect(await focused(page)).toBe(tagName))

/** The viewer takes the focus after loading, and the page takes it back. */
async function expectFocusStays(page: Page) {
  const hasViewer = await page.evaluate('navigator.pdfViewerEnabled')
  if (hasViewer) await eventually(() => expect(page.frames()).toHaveLength(FRAMES_WITH_VIEWER))
  await focusIs(page, 'BODY')
}

/** Expects that the page gives the focus back to the element that had it. */
async function expectFocusReturns(page: Page) {
  await page.getByRole('link', { name: 'Download' }).last().focus()
  await page.evaluate('document.querySelector("iframe").focus()')
  await focusIs(page, 'A')
}

/** Expects that a person reaches the document with the Tab key. A key that the viewer gets while it loads moves nothing. */
async function expectFocusEnters(page: Page) {
  const link = page.getByRole('link', { name: 'Download' }).last()
  await eventually(async () => {
    await link.focus()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('IFRAME')
  })
  await link.focus()
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
const toast = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text })

/** Expects that a reload loses nothing, and that a link and Back leave only after a confirmation. */
async function expectKeptUntilLeft(page: Page) {
  const name = page.getByLabel('Name', { exact: true })
  await page.reload()
  await page.getByText('The text that you typed before is here again.').waitFor()
  expect(await page.getByRole('checkbox', { name: 'Tele2' }).isChecked()).toBe(false)
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  for (const leave of [() => page.getByRole('link', { name: 'Templates' }).click(), () => page.goBack()]) {
    await leave()
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    expect([page.url().endsWith('/senders/new'), await name.inputValue()]).toEqual([true, 'Daisy'])
  }
}

describe.skipIf(!hasBrowser)('sender names', () => {
  test('are requested with a PDF, sent back by keyboard, corrected, approved, and offered in a new dispatch', async () => {
    const owner = await signedIn((await aPerson(cabinet.sql, ofCompany(companyId), 'owner')).login, 'senders')
    const { page } = owner
    await page.getByRole('link', { name: 'Request a name' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Daisy')
    await page.getByRole('radio', { name: 'Advertising' }).check()
    for (const operator of ['Beeline', 'MegaFon', 'Tele2'])
      await page.getByRole('checkbox', { name: operator }).uncheck()
    await expectKeptUntilLeft(page)
    await page.getByRole('button', { name: 'Request the name' }).click()
    await page.getByText('Advertising needs a document.').waitFor()
    const file = { name: 'letter.pdf', mimeType: 'application/pdf', buffer: PDF }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: 'Remove letter.pdf' }).waitFor()
    await page.getByRole('button', { name: 'Request the name' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Daisy' })
    await row.getByText('Submitted').waitFor()
    await submit()

    const moderator = await signedIn((await aPerson(cabinet.sql, staff, 'moderator')).login, 'review')
    const reviewPage = moderator.page
    await heading(reviewPage, 'ROMASHKAVIP').waitFor() // the oldest
    await reviewPage
      .getByRole('link', { name: /Review\s*4/ })
      .first()
      .waitFor()
    for (let i = 0; i < 3; i++) await reviewPage.keyboard.press('j')
    await heading(reviewPage, 'Daisy').waitFor()
    await reviewPage.locator('iframe[title="letter.pdf"]').waitFor()
    await expectFocusStays(reviewPage)
    await expectFocusReturns(reviewPage)
    await expectFocusEnters(reviewPage)
    await reviewPage.keyboard.press('r')
    await reviewPage.getByLabel('Comment for the company').fill('The letter names another firm')
    await reviewPage.getByRole('button', { name: 'Send back', exact: true }).click()
    await toast(reviewPage, 'Daisy is sent back').waitFor()
    await eventually(async () => expect(await heading(reviewPage, 'Daisy').count()).toBe(0))

    await row.getByRole('link', { name: 'Daisy', exact: true }).click()
    await heading(page, 'Daisy').waitFor()
    await page.reload()
    await page.getByText('The letter names another firm').first().waitFor()
    await page.getByRole('link', { name: 'Edit and submit again' }).click()
    await page.getByLabel('Note for the review').fill('The firm has a new name')
    await page.getByRole('button', { name: 'Submit again' }).click()
    await page.getByText('Submitted for review').first().waitFor()

    await openPage(reviewPage, cabinet, 'review')
    await reviewPage.getByRole('link', { name: /^Daisy/ }).click()
    await reviewPage.getByText('The firm has a new name').waitFor()
    await reviewPage.keyboard.press('a')
    await toast(reviewPage, 'Daisy is approved').waitFor()

    await openPage(page, cabinet, 'dispatches/new')
    await page.getByRole('combobox', { name: 'Sender name' }).selectOption('Daisy')
    await page.getByRole('row', { name: /^MTS Approved/ }).waitFor()
    owner.faults.expectNone()
    moderator.faults.expectNone()
  })

  test('of two moderators with the same request, the second sees a message and the decision, and no other name in its place', async () => {
    const { senderId } = await aSender(cabinet.sql, companyId, { senderName: 'Both' })
    await submit()
    await cabinet.sql`update sender_moves set moved_at = moved_at - interval '1 hour' where sender_id = ${senderId}`
    const open = async () => (await signedIn((await aPerson(cabinet.sql, staff, 'moderator')).login, 'review')).page
    const [first, second] = [await open(), await open()]
    for (const page of [first, second]) await heading(page, 'Both').waitFor()
    await first.keyboard.press('a')
    await toast(first, 'Both is approved').waitFor()
    await second.keyboard.press('a')
    await toast(second, 'Another person decided or changed this request meanwhile').waitFor()
    await second.getByText('Already decided: Approved').waitFor()
    await heading(second, 'Both').waitFor()
    await second.keyboard.press('j')
    await heading(second, 'ROMASHKAVIP').waitFor()
    await second.keyboard.press('d')
    const dialog = second.getByRole('dialog', { name: 'Deny ROMASHKAVIP?' })
    await dialog.waitFor()
    expect(await dialog.getByText('Another person').count()).toBe(0)
  })

  test.each(extremes)('look good at $width px, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'owner')
    const nasty = (page: Page) => page.getByText(NASTY).first().waitFor()
    await lookAt(browser, cabinet, screen, login, [
      { path: 'senders', ready: nasty },
      { path: 'senders/new', ready: nasty },
      { path: `senders/${rejectedId}`, ready: nasty },
      { path: `senders/${rejectedId}?edit=true`, ready: nasty },
      {
        path: 'senders/1',
        ready: page => page.getByRole('heading', { name: 'ROMASHKA' }).waitFor(),
        after: async page => {
          await expectGoodDialog(page, 'suspend', () =>
            page.getByRole('button', { name: /^(Suspend|Поставить на паузу)$/ }).click(),
          )
          await expectGoodDialog(page, 'close', () => page.getByRole('button', { name: /^(Close|Закрыть)$/ }).click())
        },
      },
      { path: 'templates', ready: nasty },
      { path: 'templates/new', ready: page => page.getByRole('radiogroup').waitFor() },
      {
        path: `templates/${templateId}`,
        ready: page => page.getByRole('heading', { level: 1 }).waitFor(),
        after: page =>
          expectGoodDialog(page, 'withdraw', () => page.getByRole('button', { name: /^(Withdraw|Отозвать)$/ }).click()),
      },
    ])
    const moderator = await aPerson(cabinet.sql, staff, 'moderator')
    const vip = (page: Page) => page.getByRole('heading', { level: 1, name: 'ROMASHKAVIP' }).waitFor()
    await lookAt(browser, cabinet, screen, moderator.login, [
      {
        path: 'review',
        ready: vip,
        after: async page => {
          await expectGoodDialog(page, 'reject', () =>
            page.getByRole('button', { name: /^(Send back|Вернуть)…/ }).click(),
          )
          await expectGoodDialog(page, 'keys', () => page.keyboard.press('?'))
        },
      },
      { path: `review?template=${templateId}`, ready: page => page.getByRole('heading', { level: 1 }).waitFor() },
    ])
  })
})
