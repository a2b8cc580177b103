import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deactivatePerson, requirePerson } from '../../src/domain/people/people.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { codeAt } from '../../src/domain/people/totp.ts'
import { aPerson, ofCompany, ofPartner, PASSWORD, staff } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aPartner } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, typeCredentials, useCabinet, watchFaults } from './cabinet.ts'

/** Stories of people in the cabinet, from sign-in to result. */

const cabinet = useCabinet()
const { newPage } = useBrowser()
let companyId: number
let places: Record<'company' | 'partner' | 'staff', { place: Place; first: string; other: string; company: string }>

beforeAll(async () => {
  const partner = await aPartner(cabinet.sql)
  companyId = await aCompany(cabinet.sql, partner, { name: 'Romashka' })
  await aCompany(cabinet.sql, partner, { name: 'Nordwind' })
  places = {
    company: { place: ofCompany(companyId), first: 'owner', other: 'Sender', company: 'Romashka' },
    partner: { place: ofPartner(partner.partnerId), first: 'owner', other: 'Manager', company: 'All companies' },
    staff: { place: staff, first: 'admin', other: 'Support', company: 'All companies' },
  }
})

beforeEach(async () => {
  await cabinet.sql`truncate login_failures`
})

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

async function signedIn(place: Place, role: string, path = 'people') {
  const { login, personId } = await aPerson(cabinet.sql, place, role)
  const page = await newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await openPage(page, cabinet, path)
  await typeCredentials(page, login)
  return { page, login, personId, faults }
}

/** Opens the dialog, invites, and returns the link that it shows. */
async function invite(page: Page, login: string, name: string, role: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'E-mail or login' }).fill(login)
  await dialog.getByRole('textbox', { name: 'Name, optional' }).fill(name)
  await dialog.getByRole('radio', { name: role }).check()
  await dialog.getByRole('button', { name: 'Make the invitation' }).click()
  const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue()
  await dialog.getByRole('button', { name: 'Done' }).click()
  return link
}

async function accept(link: string, password: string): Promise<Page> {
  const page = await newPage()
  await page.goto(link)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Repeat the password').fill(password)
  await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  return page
}

async function choose(page: Page, person: string, action: string) {
  await page.getByRole('button', { name: `Actions for ${person}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

describe.skipIf(!hasBrowser)('each kind of person', () => {
  test.each(['company', 'partner', 'staff'] as const)(
    'of a %s signs in and invites a colleague, who accepts and uses the cabinet',
    async kind => {
      const { place, first, other, company } = places[kind]
      const { page, faults } = await signedIn(place, first)
      await heading(page, 'People').waitFor()
      await page.getByRole('banner').getByText(company).waitFor()

      const login = `anna.${kind}@romashka.example`
      const link = await invite(page, login, 'Anna', other)
      expect(link).toMatch(new RegExp(`^${cabinet.origin}/cabinet/accept-invitation#[\\w-]{32}$`))
      await rowOf(page, login).getByText('Invited').waitFor()

      const theirs = await accept(link, 'a password of Anna')
      await theirs.getByRole('button', { name: 'Account menu of Anna' }).first().waitFor()
      await openPage(theirs, cabinet, 'account')
      await theirs.getByText(`${other}, signed in as ${login}`).waitFor()

      await page.reload()
      await rowOf(page, login).getByText('Active').waitFor()
      faults.expectNone()
    },
  )

  test('without the right to see people gets a message and no link to them, and can return from an unknown page', async () => {
    const { page } = await signedIn(ofCompany(companyId), 'viewer', '')
    await heading(page, 'Overview').waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
    await openPage(page, cabinet, 'people')
    await heading(page, 'You have no access to this page').waitFor()
    await openPage(page, cabinet, 'no/such/page')
    await heading(page, 'This page does not exist').waitFor()
    await page.getByRole('link', { name: 'Go to the start page' }).click()
    await heading(page, 'Overview').waitFor()
    await openPage(page, cabinet, 'dispatches/999999')
    await page.getByText('There is nothing at this address').waitFor()
    expect(await page.getByText(/not found|Try again/).count()).toBe(0)
    await page.getByRole('link', { name: 'Go to “Dispatches”' }).click()
    await heading(page, 'Dispatches').waitFor()
  })

  test('support sees people and cannot change them', async () => {
    const { page } = await signedIn(staff, 'support')
    await heading(page, 'People').waitFor()
    await page.getByRole('row').nth(1).waitFor()
    expect(await page.getByRole('button', { name: /Invite|Actions/ }).count()).toBe(0)
  })

  test('of a partner chooses a company, manages its people, and the choice is in the address of every page', async () => {
    const { page } = await signedIn(places.partner.place, 'owner')
    const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'finance')
    await page.getByRole('row').nth(1).waitFor()
    expect(await rowOf(page, login).count()).toBe(0)
    await page.getByRole('button', { name: 'Company: All companies' }).click()
    await page.getByRole('textbox', { name: 'Find a company' }).fill('roma')
    await eventually(async () => expect(await page.getByRole('option').allTextContents()).toEqual(['Romashka']))
    await page.getByRole('option', { name: 'Romashka' }).click()
    await page.getByRole('button', { name: 'Company: Romashka' }).waitFor()
    await rowOf(page, login).getByText('Finance').waitFor()
    await invite(page, 'gleb@romashka.example', 'Gleb', 'Sender')
    await rowOf(page, 'gleb@romashka.example').getByText('Invited').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).first().click()
    await page.waitForURL(`${cabinet.origin}/cabinet/audit?company=${companyId}`)
    await page.reload()
    await page.getByRole('button', { name: 'Company: Romashka' }).click()
    await page.getByRole('option', { name: 'All companies' }).click()
    await page.waitForURL(`${cabinet.origin}/cabinet/audit`)
  })
})

describe.skipIf(!hasBrowser)('opening a page', () => {
  test('requests its scripts, its words and its font while the request for the session runs, and requests the session once', async () => {
    const page = await newPage()
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'owner')
    const hasAsked = (path: RegExp) => eventually(async () => expect(asked.some(one => path.test(one))).toBe(true))
    await page.route('**/api/session', async route => {
      if (route.request().method() === 'GET') {
        for (const path of [/people-page/, /\/en-/, /inter-latin/]) await hasAsked(path)
      }
      await route.continue()
    })
    await enter(page, cabinet, login, 'people')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    expect(asked.filter(path => path.endsWith('/api/session'))).toHaveLength(1)
  })
})

describe.skipIf(!hasBrowser)('signing in', () => {
  test('with a wrong password shows a message and keeps the typed login', async () => {
    const { login } = await aPerson(cabinet.sql, staff, 'admin')
    const page = await newPage()
    await openPage(page, cabinet)
    await typeCredentials(page, login, 'something else')
    await page.getByText('The login or the password is wrong.').waitFor()
    expect(await page.getByRole('textbox', { name: 'E-mail or login' }).inputValue()).toBe(login)
    await typeCredentials(page, login)
    await heading(page, 'Overview').waitFor()
  })

  test('leads to the requested page, and to no other origin', async () => {
    const { page } = await signedIn(staff, 'admin', 'account?company=7')
    await heading(page, 'Account').waitFor()
    expect(page.url()).toBe(`${cabinet.origin}/cabinet/account?company=7`)
    const { login } = await aPerson(cabinet.sql, staff, 'admin')
    for (const back of ['https://elsewhere.example/', '//elsewhere.example', '/\\elsewhere.example']) {
      const other = await newPage()
      await openPage(other, cabinet, `sign-in?back=${encodeURIComponent(back)}`)
      await typeCredentials(other, login)
      await heading(other, 'Overview').waitFor()
      expect(new URL(other.url()).origin).toBe(cabinet.origin)
    }
  })

  test('out leads to the sign-in page, and the pages require signing in again', async () => {
    const { page } = await signedIn(staff, 'admin')
    await page
      .getByRole('button', { name: /^Account menu of/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Sign in').waitFor()
    await page.goBack()
    await heading(page, 'Sign in').waitFor()
  })

  test('is refused to a deactivated person, whose open page leads to the sign-in page and later back', async () => {
    const { page, login, personId } = await signedIn(ofCompany(companyId), 'owner', 'account')
    await heading(page, 'Account').waitFor()
    const person = await requirePerson(cabinet.sql, ofCompany(companyId), personId)
    await cabinet.sql.begin(sql => deactivatePerson(sql, person))
    await page.getByRole('navigation').getByRole('link', { name: 'People' }).first().click()
    await page.getByText('Your session has ended. Sign in again to continue.').waitFor()
    expect(new URL(page.url()).searchParams.get('back')).toBe('/people')
    await typeCredentials(page, login)
    await page.getByText('The login or the password is wrong.').waitFor()
    await cabinet.sql`update people set disabled_at = null where person_id = ${personId}`
    await typeCredentials(page, login)
    await heading(page, 'People').waitFor()
  })

  test('without a connection shows a message', async () => {
    const page = await newPage()
    await openPage(page, cabinet)
    await heading(page, 'Sign in').waitFor()
    await page.context().setOffline(true)
    await typeCredentials(page, 'anna', 'a password of Anna')
    await page.getByText('The server did not answer. Check the connection and try again.').waitFor()
  })

  test('shows a message when the scripts of the page cannot be loaded', async () => {
    const page = await newPage()
    await page.route('**/draw-*.js', route => route.abort())
    await openPage(page, cabinet)
    await page.getByRole('alert').getByText('The page could not be loaded.').waitFor()
    await page.unroute('**/draw-*.js')
    await page.reload()
    await heading(page, 'Sign in').waitFor()
  })
})

describe.skipIf(!hasBrowser)('the second step', () => {
  test('is switched on with a code, required at sign-in, passed with a recovery code once, and switched off', async () => {
    const { page, login } = await signedIn(staff, 'admin', 'account')
    const section = page.getByRole('region', { name: 'Second step at sign-in' })
    await section.getByRole('button', { name: 'Switch on' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    const secret = (await dialog.getByText(/^([A-Z2-7]{4} ?){8}$/).textContent())!.replaceAll(' ', '')

    await dialog.getByRole('textbox', { name: 'Code from the app' }).fill('000000')
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByText('Fill this in.').waitFor()
    await dialog.getByLabel('Current password').fill('not the password')
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByText('The code is wrong.').waitFor()
    const code = codeAt(secret, new Date())
    await dialog.getByRole('textbox', { name: 'Code from the app' }).fill(code)
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByText('The current password is wrong.').waitFor()
    await dialog.getByLabel('Current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('heading', { name: 'Keep these recovery codes' }).waitFor()
    const codes = await dialog.getByRole('listitem').allTextContents()
    expect(codes).toHaveLength(10)
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('tidings-recovery-codes.txt')
    await dialog.getByRole('button', { name: 'I have stored them' }).click()
    await section.getByText('10 recovery codes left').waitFor()

    const again = await newPage()
    await openPage(again, cabinet, 'account')
    await typeCredentials(again, login)
    await again.getByRole('textbox', { name: 'Code' }).fill(code) // a used recovery code
    await again.getByText('The code is wrong.').waitFor()
    await again.getByRole('button', { name: 'Phone lost? Use a recovery code' }).click()
    await again.getByRole('textbox', { name: 'Recovery code' }).fill(codes[0]!.replace('-', ''))
    await again.getByRole('button', { name: 'Continue' }).click()
    await heading(again, 'Account').waitFor()
    const theirs = again.getByRole('region', { name: 'Second step at sign-in' })
    await theirs.getByText('9 recovery codes left').waitFor()

    await theirs.getByRole('button', { name: 'Switch off' }).click()
    const asking = again.getByRole('dialog')
    await asking.getByRole('textbox').fill(codes[0]!)
    await asking.getByRole('button', { name: 'Switch off' }).click()
    await asking.getByText('The code is wrong.').waitFor()
    await asking.getByRole('textbox').fill(codes[1]!)
    await asking.getByRole('button', { name: 'Switch off' }).click()
    await theirs.getByText('Off', { exact: true }).waitFor()
  })
})

describe.skipIf(!hasBrowser)('the account', () => {
  test('stores name, language and theme of the person for every device', async () => {
    const { page, login } = await signedIn(staff, 'admin', 'account')
    await page.getByRole('textbox', { name: 'Name' }).fill('Anna Ivanova')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Account menu of Anna Ivanova' }).first().waitFor()
    await page.getByText('Dark', { exact: true }).click()
    await page.getByText('Русский', { exact: true }).click()
    await heading(page, 'Учётная запись').waitFor()

    const other = await newPage({ colorScheme: 'light' })
    await openPage(other, cabinet, 'account')
    await typeCredentials(other, login)
    await heading(other, 'Учётная запись').waitFor()
    await eventually(async () =>
      expect(await other.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark'),
    )
    expect(await other.evaluate('document.documentElement.lang')).toBe('ru')
  })

  test('changes the password, which ends the other sessions', async () => {
    const { page, login } = await signedIn(staff, 'admin', 'account')
    const other = await newPage()
    await openPage(other, cabinet, 'account')
    await typeCredentials(other, login)
    await heading(other, 'Account').waitFor()

    const section = page.getByRole('region', { name: 'Password' })
    const change = async (before: string, password: string, again = password) => {
      await section.getByLabel('Current password').fill(before)
      await section.getByLabel('New password', { exact: true }).fill(password)
      await section.getByLabel('New password again').fill(again)
      await section.getByRole('button', { name: 'Change the password' }).click()
    }
    await change(PASSWORD, 'short')
    await section.getByText('Use at least 10 characters.').waitFor()
    await change(PASSWORD, 'a new password', 'another one')
    await section.getByText('The two passwords are different.').waitFor()
    await change('a wrong one', 'a new password')
    await section.getByText('The current password is wrong.').waitFor()
    await change(PASSWORD, 'a new password')
    await page.getByText('Password changed. Your other sessions have ended.').waitFor()

    await other.getByRole('navigation').getByRole('link', { name: 'People' }).first().click()
    await other.getByText('Your session has ended.').waitFor()
    await typeCredentials(other, login, 'a new password')
    await heading(other, 'People').waitFor()
  })

  test('lists sessions and ends them', async () => {
    const { page, login } = await signedIn(staff, 'admin', 'account')
    const section = page.getByRole('region', { name: 'Sessions' })
    await section.getByText('This one').waitFor()
    for (let i = 0; i < 2; i++) {
      const other = await newPage()
      await openPage(other, cabinet)
      await typeCredentials(other, login)
      await heading(other, 'Overview').waitFor()
    }
    await page.reload()
    await section
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .waitFor()
    await section
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .click()
    await page.getByText('1 session ended').waitFor()
    await eventually(async () => expect(await section.getByRole('listitem').count()).toBe(2))
  })
})

describe.skipIf(!hasBrowser)('people', () => {
  test('get another role, and are deactivated and activated again', async () => {
    const { page } = await signedIn(ofCompany(await aCompany(cabinet.sql, await aPartner(cabinet.sql))), 'owner')
    await invite(page, 'boris@romashka.example', 'Boris', 'Viewer')
    await choose(page, 'Boris', 'Change the role')
    await page.getByRole('dialog').getByRole('radio', { name: 'Finance' }).check()
    await page.getByRole('button', { name: 'Change the role' }).click()
    await rowOf(page, 'Boris').getByText('Finance').waitFor()
    await choose(page, 'Boris', 'Deactivate')
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await rowOf(page, 'Boris').getByText('Deactivated').waitFor()
    await choose(page, 'Boris', 'Activate')
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await rowOf(page, 'Boris').getByText('Invited').waitFor()
  })

  test('with an existing login are refused with a message at the field', async () => {
    const { login } = await aPerson(cabinet.sql, staff, 'support')
    const { page } = await signedIn(ofCompany(companyId), 'owner')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Make the invitation' }).click()
    await dialog.getByText('Enter an e-mail address').waitFor()
    await dialog.getByRole('textbox', { name: 'E-mail or login' }).fill(login)
    await dialog.getByRole('button', { name: 'Make the invitation' }).click()
    await dialog.getByText('A person with this login exists already.').waitFor()
  })

  test('whose link was renewed or used see a page with that reason', async () => {
    const { page } = await signedIn(staff, 'admin')
    const first = await invite(page, 'vera@tidings.example', 'Vera', 'Support')
    await choose(page, 'Vera', 'New link')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    const second = await dialog.getByRole('textbox', { name: 'Link' }).inputValue()
    const lost = await newPage()
    await lost.goto(first)
    await heading(lost, 'This invitation no longer works').waitFor()
    const accepted = await accept(second, 'a password of Vera')
    await heading(accepted, 'Overview').waitFor()
    await lost.goto('about:blank')
    await lost.goto(second)
    await heading(lost, 'This invitation no longer works').waitFor()
  })

  test('with markup in their names are shown with the markup as text', async () => {
    const name = '<img src=x onerror="document.title=1">'
    const { page, faults } = await signedIn(ofCompany(companyId), 'owner')
    const link = await invite(page, 'markup@romashka.example', name, 'Owner')
    await rowOf(page, name).waitFor()
    await choose(page, name, 'Deactivate')
    await page.getByRole('heading', { name: `Deactivate ${name}?` }).waitFor()
    await page.keyboard.press('Escape')
    await choose(page, name, 'Change the role')
    await page.getByRole('dialog').getByRole('radio', { name: 'Viewer' }).check()
    await page.getByRole('button', { name: 'Change the role' }).click()
    await page.getByText(`The role of ${name} is now: Viewer`).waitFor()
    const theirs = await accept(link, 'a password of theirs')
    await theirs
      .getByRole('button', { name: `Account menu of ${name}` })
      .first()
      .waitFor()
    for (const one of [page, theirs]) expect(await one.locator('img').count()).toBe(0)
    faults.expectNone()
  })
})
