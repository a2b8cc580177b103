import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../src/base/money.ts'
import { storeDocument } from '../../src/domain/documents/documents.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { aPerson, ofPartner, PASSWORD, staff } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aPartner, type TestPartner } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, typeCredentials, useCabinet, watchFaults } from './cabinet.ts'
import { expectGood, expectGoodDialog, extremes, lookAt } from './looks.ts'
import { PNG } from './pictures.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const NASTY = '<img src=x onerror=alert(1)>'
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(cabinet.sql, 'medialink')
  companyId = await aCompany(cabinet.sql, partner, { name: NASTY, budget: money('1000') })
  await aCompany(cabinet.sql, partner, { name: 'Okna Plus' })
  await cabinet.sql`update accounts set reserved = 900 where company_id = ${companyId}`
  await cabinet.sql.begin(tx => storeDocument(tx, companyId, { filename: `${NASTY}.png`, content: PNG }))
})

async function signedIn(place: Place, role: string, path = '') {
  const { login } = await aPerson(cabinet.sql, place, role)
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

const dialog = (page: Page) => page.getByRole('dialog')
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const isClosed = (page: Page) => dialog(page).waitFor({ state: 'detached' })

describe.skipIf(!hasBrowser)('companies', () => {
  test('a partner creates a company, uploads its charter, invites its owner, disables and enables it', async () => {
    const { page, faults } = await signedIn(ofPartner(partner.partnerId), 'owner')
    await row(page, NASTY).getByText('Budget nearly used').waitFor()
    await page.getByRole('button', { name: 'New company' }).click()
    await dialog(page).getByLabel('Name').fill('Romashka')
    await dialog(page).getByLabel('INN').fill('123')
    await dialog(page).getByRole('button', { name: 'Make the company' }).click()
    await dialog(page).getByText('An INN has 10 or 12 digits.').waitFor()
    await dialog(page).getByLabel('INN').fill('7701234560')
    await dialog(page).getByLabel('Monthly budget').fill('5000')
    await dialog(page).getByRole('button', { name: 'Make the company' }).click()
    await page.getByRole('heading', { name: 'Romashka', level: 1 }).waitFor()
    await page.getByText('0 % of 5,000.00 ₽').waitFor()

    await page.getByRole('link', { name: 'Upload and view' }).click()
    await uploadCharters(page)
    await page.getByRole('link', { name: 'charter.png', exact: true }).click()
    await eventually(async () => expect(await isPictureShown(page)).toBe(true))
    expect(page.url()).toContain('open=')
    await page.keyboard.press('Escape')
    await isClosed(page)

    await page.getByRole('link', { name: 'People' }).first().click()
    const link = await inviteOwner(page, 'anna@example.com')
    await page.getByRole('link', { name: 'Companies' }).first().click()
    await page.getByRole('link', { name: 'Romashka' }).click()
    await switchTo(page, 'Disable')
    await page.getByText('Disabled', { exact: true }).waitFor()
    await switchTo(page, 'Enable')
    await page.getByText('Active', { exact: true }).waitFor()
    faults.expectNone()

    const owner = await browser.newPage()
    await owner.goto(link)
    await owner.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await owner.getByLabel('Repeat the password').fill(PASSWORD)
    await owner.getByRole('button', { name: 'Set the password and sign in' }).click()
    await owner.getByText('Romashka').first().waitFor()
  })

  /** Uploads two files at once. The page refuses one before sending it. */
  async function uploadCharters(page: Page) {
    await page.locator('input[type=file]').setInputFiles([
      { name: 'charter.png', mimeType: 'image/png', buffer: PNG },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') },
    ])
    await page.getByRole('listitem').filter({ hasText: 'charter.png' }).getByText('Uploaded').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'note.txt' }).getByText('Not a PDF, JPG or PNG').waitFor()
  }

  const isPictureShown = (page: Page) =>
    page.evaluate(`document.querySelector('[role=dialog] img')?.naturalWidth === 1`)

  async function inviteOwner(page: Page, login: string): Promise<string> {
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog(page).getByLabel('E-mail or login').fill(login)
    await dialog(page).getByRole('radio', { name: 'Owner' }).check()
    await dialog(page).getByRole('button', { name: 'Make the invitation' }).click()
    const link = await dialog(page).getByLabel('Link').inputValue()
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    await isClosed(page)
    return link
  }

  async function switchTo(page: Page, verb: string) {
    await page.getByRole('button', { name: verb }).click()
    await dialog(page).getByRole('button', { name: verb }).click()
    await isClosed(page)
  }

  test('a change does not overwrite the change that another person made meanwhile', async () => {
    const { page, faults } = await signedIn(ofPartner(partner.partnerId), 'manager', `companies/${companyId}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await cabinet.sql`update companies set actual_address = 'Tver', updated_at = now() where company_id = ${companyId}`
    await dialog(page).getByLabel('Actual address').fill('Moscow')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByText('Another person changed the company meanwhile').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Tver').waitFor()
    faults.expectNone()
  })

  test('staff create a partner, who signs in with the password that was shown once', async () => {
    const { page, faults } = await signedIn(staff, 'admin', 'partners')
    await row(page, 'medialink').getByText('Active').waitFor()
    await page.getByRole('button', { name: 'New partner' }).click()
    await dialog(page).getByLabel('E-mail or login').fill('medialink')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('A person with this login exists already.').waitFor()
    await dialog(page).getByLabel('E-mail or login').fill('southwind')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape') // the answer with the password has not arrived yet
    await page.mouse.click(5, 500)
    await dialog(page).getByLabel('Password').waitFor()
    await page.mouse.click(5, 500)
    const password = await dialog(page).getByLabel('Password').inputValue()
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'southwind' }).click()
    await page.getByText('The partner has no companies yet.').waitFor()
    await row(page, 'southwind').getByText('Active').waitFor()
    await inviteOwner(page, 'vera@example.com')
    await row(page, 'vera@example.com').getByText('Invited').waitFor()
    await page.getByRole('button', { name: 'Actions for southwind' }).click()
    await page.getByRole('menuitem', { name: 'Deactivate' }).click()
    await dialog(page).getByText('The partner API still accepts this login').waitFor()
    await dialog(page).getByText('create a new password on the page of the partner').waitFor()
    await page.keyboard.press('Escape')

    await cabinet.sql`insert into partners (login, password_hash) select 'a' || n, '' from generate_series(1, 60) n`
    await openPage(page, cabinet, 'developers/requests')
    await page.getByRole('combobox', { name: 'Partner' }).fill('outhwin') // not among the first fifty
    await page.getByRole('option', { name: 'southwind' }).click()
    await page.getByText('No requests in the last 24 hours').waitFor()
    await page.reload()
    await eventually(async () =>
      expect(await page.getByRole('combobox', { name: 'Partner' }).inputValue()).toBe('southwind'),
    )
    await cabinet.sql`delete from partners where login ~ '^a[0-9]+$'`
    faults.expectNone()

    const owner = await browser.newPage()
    await openPage(owner, cabinet)
    await typeCredentials(owner, 'southwind', password)
    await owner.getByText('No companies yet').waitFor()
  })

  test.each(extremes)('every page looks right at $width, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, ofPartner(partner.partnerId), 'owner')
    const isNarrow = screen.width < 760
    const heading = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor()
    const opens = (page: Page, name: RegExp) => () => page.getByRole('button', { name }).last().click()
    await lookAt(browser, cabinet, screen, login, [
      {
        path: 'companies',
        ready: async page => {
          await row(page, NASTY).waitFor()
          await expectGoodDialog(page, 'new company', opens(page, /^(New company|Новая компания)$/))
          const switcher = opens(page, /^(Company|Компания): /)
          if (isNarrow) await expectGoodDialog(page, 'sheet of companies', switcher)
          else await expectGoodMenu(page, switcher)
        },
      },
      {
        path: `companies/${companyId}`,
        ready: async page => {
          await heading(page)
          await expectGoodDialog(page, 'limits', () =>
            page
              .getByRole('region', { name: /^(Limits|Ограничения)$/ })
              .getByRole('button')
              .click(),
          )
        },
      },
      {
        path: `documents?company=${companyId}`,
        ready: page => page.getByRole('link', { name: `${NASTY}.png`, exact: true }).waitFor(),
      },
    ])
    const member = await aPerson(cabinet.sql, staff, 'admin')
    await lookAt(browser, cabinet, screen, member.login, [
      {
        path: 'partners',
        ready: async page => {
          await row(page, 'medialink').waitFor()
          await expectGoodDialog(page, 'new partner', opens(page, /^(New partner|Новый партнёр)$/))
        },
      },
      {
        path: `partners/${partner.partnerId}`,
        ready: async page => {
          await row(page, NASTY).waitFor()
          await row(page, login).waitFor()
          await page.getByText(/(The owner|С логином) medialink/).waitFor()
          await expectGoodDialog(page, 'invitation', opens(page, /^(Invite|Пригласить)$/))
        },
      },
    ])
  })

  async function expectGoodMenu(page: Page, open: () => Promise<void>) {
    await open()
    await page.getByRole('listbox').waitFor()
    await eventually(async () => expect(await page.evaluate('document.getAnimations().length')).toBe(0))
    await expectGood(page, 'menu of companies')
    await page.keyboard.press('Escape')
  }
})
