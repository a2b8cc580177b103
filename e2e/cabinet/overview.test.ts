import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../src/base/money.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { advanceDueSenders, denySender } from '../../src/domain/senders/moderation.ts'
import { aPerson, ofCompany, ofPartner, staff } from '../../src/testing/cabinet.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aSender } from '../../src/testing/factories.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, seriousFindings, useCabinet, watchFaults } from './cabinet.ts'
import { someTraffic } from './overview-traffic.ts'

/** The first page after signing in. */

const cabinet = useCabinet()
const { newPage } = useBrowser()
let world: World
let dispatchId: number
const MARKUP = '<img src=x onerror="document.title=1">'

beforeAll(async () => {
  world = await aWorld(cabinet.sql)
  const { sql } = cabinet
  dispatchId = await aDispatch(sql, await loadNumbering(sql), world, someRecipients(40))
  await start(sql, world, dispatchId)
  await progress(10)
  await sql`update dispatches set name = ${MARKUP} where dispatch_id = ${dispatchId}`
  await someTraffic(sql, world.companyId, 1000)
})

/** This number of the 40 messages is delivered. Ten have failed, most because the phone was off. */
async function progress(delivered: number) {
  await cabinet.sql`
    update dispatch_blocks set created_messages = ${30 - delivered}, delivered_messages = ${delivered},
      failed_messages = 10 where dispatch_id = ${dispatchId}`
  await cabinet.sql`
    update messages set status = 'FAILED', error_code = 603 where dispatch_id = ${dispatchId} and dispatch_position < 10`
}

async function signedIn(place: Place, role: string, width = 1400): Promise<Page> {
  const { login } = await aPerson(cabinet.sql, place, role)
  const page = await newPage({ viewport: { width, height: 900 } })
  await enter(page, cabinet, login, 'overview')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return page
}

/** The link of each line of "needs attention", by its title. */
async function leadsOf(page: Page): Promise<Record<string, string>> {
  const leads: [string, string][] = await page.evaluate(`[...document.querySelectorAll('main li:has(b)')].map(line => {
    const url = new URL([...line.querySelectorAll('a')].at(-1)?.href ?? 'none:')
    return [line.querySelector('b').textContent, url.pathname.replace('/cabinet', '') + url.search]
  })`)
  return Object.fromEntries(leads)
}

const pauseReceiver = (companyId: number) =>
  cabinet.sql.begin(async tx => {
    const receiver = 'https://crm.example'
    await tx`insert into receivers (company_id, receiver, failures) values (${companyId}, ${receiver}, 20)`
    await tx`
    insert into callbacks (company_id, receiver, url, api, events, event_count, happened_at, expires_at)
    values (${companyId}, ${receiver}, ${receiver}, 'partner', '[]', 7, now(), now() + interval '1 day')`
  })

async function aGatewayThatIsDown(): Promise<number> {
  const worker = crypto.randomUUID()
  const { gatewayId } = await aGateway(cabinet.sql, { name: 'north' })
  await cabinet.sql`insert into engines (worker, seen_at) values (${worker}, now() + interval '1 hour')`
  await cabinet.sql`
    insert into gateway_states (gateway_id, worker, up, open_messages, window_size, bound, wanted, parts_last_minute,
      last_error, last_error_at, seen_at)
    values (${gatewayId}, ${worker}, false, 0, 0, 0, 1, 0, 'bind refused', now(), now() + interval '1 hour')`
  return gatewayId
}

describe.skipIf(!hasBrowser)('the overview', () => {
  test('shows a company its figures and the reason why its dispatch fails, and updates them with one request', async () => {
    const page = await signedIn(ofCompany(world.companyId), 'viewer')
    const faults = watchFaults(page)
    await page.getByRole('img', { name: 'Messages by hour and status in the last 24 hours' }).waitFor()
    expect(await page.getByRole('table').first().getByRole('row').count()).toBe(25)
    await page.getByText('SMS: nothing is sent now').waitFor()
    await page.getByText(`“${MARKUP}” fails more than usual`).waitFor()
    await page.getByText('Mostly: phone switched off or out of reach.').waitFor()
    const row = page.getByRole('row').filter({ hasText: String(dispatchId) })
    await row.getByText('20 of 40').waitFor()
    expect(await page.getByText(/^Spent in/).count()).toBe(0)

    const asked = new Set<string>()
    page.on('request', request => asked.add(new URL(request.url()).pathname))
    await progress(30)
    await row.getByText('40 of 40').waitFor()
    asked.delete('/cabinet/api/session')
    expect([...asked]).toEqual(['/cabinet/api/overview'])
    await row.getByText('all submitted').waitFor()
    expect(await page.locator('img').count()).toBe(0)

    await page.setViewportSize({ width: 700, height: 450 })
    const chart = page.getByRole('img', { name: 'Messages by hour and status in the last 24 hours' })
    const below = page.getByRole('heading', { name: 'Needs attention' })
    const gap = async () => {
      const [drawn, heading] = [await chart.boundingBox(), await below.boundingBox()]
      return heading!.y - drawn!.y - drawn!.height
    }
    await eventually(async () => expect(await gap()).toBeGreaterThan(0))
    faults.expectNone()
  })

  test('shows a partner the company that needs attention, and only that company after choosing it', async () => {
    const poor = await aCompany(cabinet.sql, world.partner, { name: 'Nordwind', budget: money('100.00') })
    await cabinet.sql`update accounts set reserved = 90 where company_id = ${poor}`
    await pauseReceiver(poor)
    const { senderId } = await aSender(cabinet.sql, poor, { senderName: 'NORD' })
    await advanceDueSenders(cabinet.sql, 'manual', () => null, new Date())
    await denySender(cabinet.sql, senderId, 'Not yours', new Date())
    const page = await signedIn(ofPartner(world.partner.partnerId), 'owner')
    const line = page.getByRole('listitem').filter({ hasText: 'Budget is nearly used' })
    await line.getByText('90 % is spent or held.').waitFor()
    expect(await leadsOf(page)).toMatchObject({
      'Budget is nearly used': `/money?company=${poor}`,
      'crm.example is paused': `/developers/callbacks?company=${poor}`,
      'The name NORD was denied': `/senders/${senderId}?company=${poor}`,
      [`“${MARKUP}” fails more than usual`]: `/dispatches/${dispatchId}`,
    })
    await line.getByRole('link', { name: 'Nordwind' }).click()
    await page.waitForURL(`${cabinet.origin}/cabinet/overview?company=${poor}`)
    await page.getByRole('heading', { name: 'Send your first message' }).waitFor()

    await openPage(page, cabinet, 'companies')
    const rowOf = (company: string) => page.getByRole('row').filter({ hasText: company })
    await rowOf('Nordwind').getByText('Budget nearly used').waitFor()
    await rowOf('Ромашка').getByText('More failures').waitFor()
    await openPage(page, cabinet, `companies/${world.companyId}`)
    await page.getByText(`“${MARKUP}” fails more than usual`).waitFor()
  })

  test('leads staff to the gateway that is down, to the queue of the review and to the processes', async () => {
    const page = await signedIn(staff, 'admin')
    await page.getByText('Nothing is sent now', { exact: true }).waitFor()
    expect(await leadsOf(page)).toMatchObject({ 'Nothing is sent now': '/health' })
    const gatewayId = await aGatewayThatIsDown()
    await aSender(cabinet.sql, world.companyId, { senderName: 'WAITS' })
    await advanceDueSenders(cabinet.sql, 'manual', () => null, new Date())
    await page.reload()
    await page.getByText('north has been down since').waitFor()
    const leads = Object.entries(await leadsOf(page))
    expect(leads.find(([title]) => title.startsWith('north has been down'))?.[1]).toBe(`/gateways/${gatewayId}`)
    expect(leads.find(([title]) => title.includes('for review'))?.[1]).toBe('/review')
    await cabinet.sql`delete from engines`
  })

  test('shows a new company its first steps, also on a phone', async () => {
    const company = await aCompany(cabinet.sql, world.partner)
    const page = await signedIn(ofCompany(company), 'owner', 390)
    await page.getByText('Get a sender name').waitFor()
    await page.getByText('Create a dispatch').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
