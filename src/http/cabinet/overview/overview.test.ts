import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import type { Place } from '../../../domain/people/person.ts'
import { advanceDueSenders, denySender } from '../../../domain/senders/moderation.ts'
import { acceptSingles } from '../../../domain/singles/singles.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, aSender, aSingle, type TestPartner } from '../../../testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../../testing/world.ts'
import type { OverviewAnswer } from './overview.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner, { budget: money('1000.00') })
})
afterEach(() => {
  api.now = undefined
})

async function signedIn(place: Place, role: string) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, place, role)).login)
  return browser
}

async function overviewFor(place: Place, role: string, query = ''): Promise<OverviewAnswer> {
  const { status, body } = await (await signedIn(place, role)).ask('GET', `/overview${query}`)
  expect([status, body]).toEqual([200, body])
  return body
}

type Sums = { channelType?: string; brandId?: number; sent?: number; delivered?: number; failed?: number }

/** Writes the sums that the engine writes. */
async function traffic(of: number, hour: string, sums: Sums) {
  const { channelType = 'SMS', brandId = 1, sent = 0, delivered = 0, failed = 0 } = sums
  await api.sql`
    insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, sent, delivered, failed)
    values (${of}, ${new Date(`${hour}:00:00Z`)}, ${channelType}, ${brandId}, 'PROMO', ${sent}, ${delivered}, ${failed})`
}

const spend = (of: number, month: string, spent: string) => api.sql`
  insert into account_months (company_id, month, spent) values (${of}, ${month}, ${api.sql.typed.money(money(spent))})`

const kindsOf = ({ attention }: OverviewAnswer) => attention.map(({ kind }) => kind)
const lineOf = ({ attention }: OverviewAnswer, kind: string) => attention.find(line => line.kind === kind)

describe('the figures', () => {
  test('are of today in the billing zone, beside the same hours of yesterday and the usual shares', async () => {
    const company = await aCompany(api.sql, partner)
    await traffic(company, '2026-06-03T10', { sent: 100, delivered: 90, failed: 10 })
    await traffic(company, '2026-06-08T21', { sent: 50, delivered: 50 }) // yesterday, 00:00
    await traffic(company, '2026-06-09T11', { sent: 100, delivered: 100 }) // yesterday, 14:00
    await traffic(company, '2026-06-09T12', { sent: 900, delivered: 900 }) // yesterday, 15:00
    await traffic(company, '2026-06-09T21', { sent: 30, delivered: 20, failed: 5 }) // today, 00:00
    await traffic(company, '2026-06-10T11', { sent: 80, delivered: 40, brandId: 3 }) // today, 14:00
    await traffic(company, '2026-06-10T11', { sent: 9, failed: 1, brandId: 0, channelType: 'VIBER' })
    api.now = new Date('2026-06-10T11:30:00Z')
    const { today, hours, operators, channels, zone } = await overviewFor(ofCompany(company), 'viewer')

    expect(today).toEqual({ sent: 119, sentYesterday: 100, delivered: 60, failed: 6, onTheWay: 53 })
    expect(hours).toHaveLength(24)
    expect(hours.at(-1)).toEqual({ hour: '2026-06-10T11:00:00.000Z', delivered: 40, onTheWay: 53, failed: 1 })
    expect(operators).toEqual([
      { brand: 'MEGAFON', sent: 80, failed: 0, share: 1, usualShare: null },
      { brand: 'MTS', sent: 30, failed: 5, share: 0.8, usualShare: 1140 / 1150 },
    ])
    expect(channels).toEqual([
      { channelType: 'SMS', sent: 110, failed: 5, share: 60 / 65, usualShare: 1140 / 1150 },
      { channelType: 'VIBER', sent: 9, failed: 1, share: 0, usualShare: null },
    ])
    expect(zone).toBe('Europe/Moscow')
  })

  test('of all companies are sums: for a partner over its own companies, for staff over every company', async () => {
    const [ours, theirs] = [await aPartner(api.sql), await aPartner(api.sql)]
    const first = await aCompany(api.sql, ours)
    for (const [of, sent] of [
      [first, 10],
      [await aCompany(api.sql, ours), 20],
      [await aCompany(api.sql, theirs), 400],
    ] as const)
      await traffic(of, '2026-07-01T09', { sent })
    api.now = new Date('2026-07-01T10:00:00Z')
    const sent = async (...asked: Parameters<typeof overviewFor>) => (await overviewFor(...asked)).today.sent
    expect(await sent(ofPartner(ours.partnerId), 'viewer')).toBe(30)
    expect(await sent(ofPartner(ours.partnerId), 'viewer', `?companyId=${first}`)).toBe(10)
    expect(await sent(staff, 'support')).toBe(430)
    expect((await overviewFor(ofPartner(ours.partnerId), 'owner')).companies).toBe(2)
  })

  test('include money only for people who may see money', async () => {
    const month = '2026-08-01'
    await spend(companyId, month, '400.50')
    await api.sql`update accounts set reserved = 20 where company_id = ${companyId}`
    api.now = new Date('2026-08-20T10:00:00Z')
    const funds = [{ currency: 'RUB', spent: 400.5, reserved: 20, budget: 1000 }]
    expect((await overviewFor(ofCompany(companyId), 'finance')).funds).toEqual(funds)
    expect((await overviewFor(ofCompany(companyId), 'viewer')).funds).toBeUndefined()
    expect((await overviewFor(staff, 'moderator')).funds).toBeUndefined()
  })

  test('of a foreign company are refused like the figures of an unknown company', async () => {
    const other = await aCompany(api.sql, await aPartner(api.sql))
    for (const browser of [
      await signedIn(ofCompany(companyId), 'owner'),
      await signedIn(ofPartner(partner.partnerId), 'owner'),
    ])
      expect((await browser.ask('GET', `/overview?companyId=${other}`)).status).toBe(404)
    const admin = await signedIn(staff, 'admin')
    expect((await admin.ask('GET', '/overview?companyId=999999')).status).toBe(404)
    expect((await admin.ask('GET', '/overview?companyId=x')).status).toBe(400)
    expect((await new CabinetBrowser(() => api.app).ask('GET', '/overview')).status).toBe(401)
  })
})

describe('a new company', () => {
  test('gets the first steps, until it has sent a message', async () => {
    const world = await aWorld(api.sql)
    const steps = async () => (await overviewFor(ofCompany(world.companyId), 'owner')).firstSteps
    expect(await steps()).toEqual({ hasSender: true, hasKey: false, hasTraffic: false })
    await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(1))
    expect(await steps()).toBeUndefined()
  })
})

describe('dispatches', () => {
  let world: World
  let dispatchId: number

  beforeAll(async () => {
    world = await aWorld(api.sql)
    dispatchId = await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(40))
    await start(api.sql, world, dispatchId)
  })

  /** Records a status as the engine does. */
  const results = (delivered: number, failed: number) => api.sql`
    update dispatch_blocks set created_messages = ${40 - delivered - failed}, delivered_messages = ${delivered},
      failed_messages = ${failed} where dispatch_id = ${dispatchId}`

  test('that run are shown with their counters, and with the number of messages that wait for their hours', async () => {
    await results(30, 0)
    await api.sql`update lanes set start_at = now() where dispatch_id = ${dispatchId}`
    await api.sql`update dispatches set hours = ${[10, 11]} where dispatch_id = ${dispatchId}`
    const { running } = await overviewFor(ofCompany(world.companyId), 'viewer')
    expect(running).toMatchObject({
      total: 1,
      items: [{ dispatchId, name: 'Test', messageCount: 40, waiting: 10, sent: 0, delivered: 30, failed: 0 }],
    })
    expect(running.items[0]!.hours).toMatchObject([{ messages: 40, window: { hours: [10, 11] } }])
    await api.sql`update lanes set start_at = null where dispatch_id = ${dispatchId}`
  })

  test('that no engine sends show the reason and the beginning of their wait', async () => {
    const answer = await overviewFor(ofCompany(world.companyId), 'viewer')
    expect(answer.oldest).toMatchObject({ channelType: 'SMS', dispatch: { dispatchId }, reason: { kind: 'engine' } })
    expect(Date.parse(String(answer.oldest!.since))).toBeGreaterThan(Date.now() - 600_000)
    expect(kindsOf(answer)).toEqual(['engine'])
  })

  test('with unusually many failures need attention, with the most frequent reason', async () => {
    await results(30, 10)
    await api.sql`update messages set status = 'FAILED', error_code = case when dispatch_position < 7 then 603 else 602 end
      where dispatch_id = ${dispatchId} and dispatch_position < 10`
    const line = lineOf(await overviewFor(ofCompany(world.companyId), 'viewer'), 'failures')
    expect(line).toMatchObject({ dispatch: { dispatchId, failedShare: 0.25, usualShare: null, errorCode: 603 } })
    await results(39, 1)
    expect(kindsOf(await overviewFor(ofCompany(world.companyId), 'viewer'))).toEqual(['engine'])
  })

  test('come after single messages that wait longer', async () => {
    const [sender] = world.senders
    await acceptSingles(api.sql, world.companyId, [aSingle(sender!)], { billingZone, now: new Date() })
    await api.sql`update dispatches set started_at = now() + interval '1 minute' where dispatch_id = ${dispatchId}`
    const { oldest } = await overviewFor(ofCompany(world.companyId), 'viewer')
    expect(oldest).toMatchObject({ channelType: 'SMS', dispatch: null })
  })

  test('show the names and errors of gateways only to staff', async () => {
    const worker = crypto.randomUUID()
    await api.sql`insert into engines (worker) values (${worker})`
    const [gateway] = await api.sql`
      insert into gateways (name, channel_type, connector) values ('secret-name', 'SMS', 'simulator')
      returning gateway_id`
    await api.sql`
      insert into gateway_states (gateway_id, worker, up, open_messages, window_size, bound, wanted, parts_last_minute,
        last_error, last_error_at, seen_at)
      values (${gateway!.gatewayId}, ${worker}, false, 0, 0, 0, 1, 0, 'bind refused', now(), now())`
    const own = await overviewFor(ofCompany(world.companyId), 'owner')
    expect(own.oldest!.reason).toMatchObject({ kind: 'gateways', gateways: [] })
    expect(JSON.stringify(own)).not.toMatch(/secret-name|bind refused/)
    expect(lineOf(own, 'channel')).toMatchObject({ channelType: 'SMS' })
    const line = lineOf(await overviewFor(staff, 'support'), 'gateway')
    expect(line).toMatchObject({ gatewayId: gateway!.gatewayId, name: 'secret-name', error: 'bind refused' })
    await api.sql`delete from engines`
  })
})

describe('money', () => {
  const atTen = (date: string) => {
    api.now = new Date(`${date}T10:00:00Z`)
  }

  test('that is nearly used needs attention, with the day on which it runs out', async () => {
    const company = await aCompany(api.sql, partner, { budget: money('1000.00') })
    await spend(company, '2026-09-01', '850.00')
    atTen('2026-09-17') // 50 a day
    const budget = async () => lineOf(await overviewFor(ofCompany(company), 'finance'), 'budget')
    expect(await budget()).toMatchObject({ usedShare: 0.85, runsOutOn: '2026-09-20' })
    atTen('2026-09-29')
    expect(await budget()).toMatchObject({ runsOutOn: null })
    expect(kindsOf(await overviewFor(ofCompany(company), 'sender'))).not.toContain('budget')
    const all = await overviewFor(ofPartner(partner.partnerId), 'viewer')
    expect(lineOf(all, 'budget')).toMatchObject({ company: { companyId: company, name: 'Ромашка' } })
  })

  test('of a prepaid company needs attention if it lasts three days or less', async () => {
    const company = await aCompany(api.sql, partner)
    await api.sql`update companies set billing = 'PREPAID' where company_id = ${company}`
    await spend(company, '2026-09-01', '170.00')
    const balanceOf = async (balance: number) => {
      await api.sql`update accounts set balance = ${api.sql.typed.money(money(balance))} where company_id = ${company}`
      return lineOf(await overviewFor(ofCompany(company), 'finance'), 'balance')
    }
    atTen('2026-09-17') // 10 a day
    expect(await balanceOf(35)).toMatchObject({ left: 35, currency: 'RUB', runsOutOn: '2026-09-20' })
    expect(await balanceOf(0)).toMatchObject({ left: 0, runsOutOn: null })
    expect(await balanceOf(45)).toBeUndefined()
  })
})

describe('problems for staff or developers', () => {
  test('a paused receiver is shown to people who see callbacks', async () => {
    const receiver = 'https://crm.example'
    await api.sql`insert into receivers (company_id, receiver, failures) values (${companyId}, ${receiver}, 20)`
    await api.sql`
      insert into callbacks (company_id, receiver, url, api, events, event_count, happened_at, expires_at)
      values (${companyId}, ${receiver}, ${receiver}, 'partner', '[]', 7, now(), now() + interval '1 day')`
    const line = lineOf(await overviewFor(ofCompany(companyId), 'owner'), 'receiver')
    expect(line).toMatchObject({ receiver, failures: 20, waitingEvents: 7 })
    expect(kindsOf(await overviewFor(ofCompany(companyId), 'sender'))).not.toContain('receiver')
  })

  test('staff see the number of waiting names, and a company sees its denied names', async () => {
    const { senderId } = await aSender(api.sql, companyId, { senderName: '<b>NAME</b>' })
    await advanceDueSenders(api.sql, 'manual', () => null, new Date())
    expect(lineOf(await overviewFor(staff, 'moderator'), 'review')).toMatchObject({ senders: 1, templates: 0 })
    expect(kindsOf(await overviewFor(staff, 'moderator', `?companyId=${companyId}`))).not.toContain('review')
    await denySender(api.sql, senderId, 'Not yours', new Date())
    const line = lineOf(await overviewFor(ofCompany(companyId), 'sender'), 'refused')
    expect(line).toMatchObject({ senderId, senderName: '<b>NAME</b>', status: 'DENIED' })
    api.now = new Date(Date.now() + 8 * 24 * 3600_000)
    expect(kindsOf(await overviewFor(ofCompany(companyId), 'sender'))).not.toContain('refused')
  })
})
