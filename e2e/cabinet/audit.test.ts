import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { recordChange } from '../../src/domain/audit-log/audit-log.ts'
import { invitePerson } from '../../src/domain/people/people.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { aPerson, ofCompany, ofPartner } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aPartner } from '../../src/testing/factories.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'

const cabinet = useCabinet()
const { newPage } = useBrowser()
const NASTY = '<img src=x onerror=alert(1)>'
let partnerId: number
let company: Place
let companyId: number

beforeAll(async () => {
  const partner = await aPartner(cabinet.sql)
  partnerId = partner.partnerId
  companyId = await aCompany(cabinet.sql, partner, { name: NASTY })
  company = ofCompany(companyId)
  await cabinet.sql.begin(tx => invitePerson(tx, company, { login: 'boris@example.com', role: 'viewer' }, new Date()))
  await cabinet.sql.begin(async tx => {
    const subject = { kind: 'sender', id: 1, name: NASTY }
    const operator = { kind: 'OPERATOR', name: 'root' } as const
    for (let id = 1; id <= 60; id++)
      await recordChange(tx, operator, {
        what: 'sender.approved',
        subject: { ...subject, id },
        companyId,
        before: { status: 'PRE_REVIEW' },
        after: { id, status: 'APPROVED', brand: 'MTS' },
      })
  })
})

const rows = (page: Page) => page.getByRole('row')
const rowOf = (page: Page, text: string) => rows(page).filter({ hasText: text })

async function signedIn(place: Place, path: string) {
  const { login } = await aPerson(cabinet.sql, place, 'owner')
  const page = await newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, login, faults }
}

describe.skipIf(!hasBrowser)('the audit log', () => {
  test('shows an owner the person who changed a role, the old and the new role, and the request', async () => {
    const { page, login, faults } = await signedIn(company, 'people')
    await page.getByRole('button', { name: 'Actions for boris@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Change the role' }).click()
    await page.getByRole('radio', { name: 'Finance' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.getByRole('link', { name: 'Audit log' }).first().click()
    await rowOf(page, 'Sender name approved').first().getByText('In review').waitFor()
    await rowOf(page, 'Operator').first().getByText('MTS').waitFor()
    const row = rowOf(page, 'Role changed')
    await row.getByText('boris@example.com').waitFor()
    expect(await row.textContent()).toMatch(/Role\s*Viewer.*Role\s*Finance/)
    expect(await row.textContent()).toContain(login)
    await row.getByRole('button', { name: 'Details: Role changed' }).click()
    await row.getByText(/^Request [\w-]{8,}$/).waitFor()
    faults.expectNone()
  })

  test('keeps its filters in the address, finds older entries, and does not name members of staff', async () => {
    const { page, faults } = await signedIn(ofPartner(partnerId), 'audit?what=sender.approved')
    await rows(page).nth(50).waitFor()
    expect(await rows(page).count()).toBe(51)
    expect(await rows(page).nth(1).textContent()).toContain('Tidings staff')
    expect(await rows(page).nth(1).textContent()).toContain(`${NASTY}, ${NASTY}`)
    await page.getByRole('button', { name: 'Show older' }).click()
    await rows(page).nth(60).waitFor()

    await rows(page).nth(1).getByRole('button', { name: NASTY }).click()
    await eventually(async () => expect(await rows(page).count()).toBe(2))
    expect(page.url()).toContain('subject=sender%3A60')
    await page.reload()
    await page.getByRole('button', { name: 'Only sender 60' }).click()
    await rows(page).nth(50).waitFor()

    await page.getByRole('combobox', { name: 'Kind of change' }).selectOption('Role changed')
    await page.getByLabel('From', { exact: true }).fill('2999-01-01')
    await page.getByText('No change fits').waitFor()
    expect(page.url()).toContain('from=2999-01-01')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await rows(page).nth(50).waitFor()
    faults.expectNone()
  })
})
