import { beforeAll, describe, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../../domain/numbering/numbering.ts'
import { Breakdowns, listWatched } from '../../../domain/watching/watching.ts'
import { useApp } from '../../../testing/api.ts'
import { filesIn } from '../../../testing/archive.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { countLockWaits } from '../../../testing/database.ts'
import { eventually } from '../../../testing/eventually.ts'
import { aCompany } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../../testing/world.ts'
import type { BreakdownAnswer, DispatchAnswer, DispatchesAnswer } from './dispatches.ts'

const { api } = useApp('/docs/partner.json')
let numbering: Numbering
let ours: World
let theirs: World

beforeAll(async () => {
  numbering = await loadNumbering(api.sql)
  ours = await aWorld(api.sql, { budget: '1000000.00' })
  theirs = await aWorld(api.sql)
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const list = async (query = '') => (await browser.ask('GET', `/dispatches${query}`)).body as DispatchesAnswer
  const raw = (path: string) =>
    api.app.inject({ url: `/cabinet/api${path}`, headers: { host: 'localhost:8080', cookie: browser.cookie! } })
  return { browser, list, raw }
}

const made = (world: World, count = 4, text?: string) =>
  aDispatch(api.sql, numbering, world, someRecipients(count), text === undefined ? {} : { text })

/** Sets statuses as receipts of operators do: the counters change together with the messages. */
async function fail(dispatchId: number, messages: number, errorCode: number, sentAt: Date | null = new Date()) {
  await api.sql`
    update messages set status = 'FAILED', error_code = ${errorCode}, sent_at = ${sentAt}, final_at = now()
    where dispatch_id = ${dispatchId} and dispatch_position in (
      select dispatch_position from messages where dispatch_id = ${dispatchId} and status = 'CREATED' order by dispatch_position limit ${messages})`
  await api.sql`
    update dispatch_blocks set created_messages = created_messages - ${messages}, failed_messages = failed_messages + ${messages}
    where dispatch_id = ${dispatchId}`
}

const idsOf = ({ items }: DispatchesAnswer) => items.map(({ dispatchId }) => dispatchId)

describe('the list', () => {
  test('shows the own company, with counts of messages and of statuses, newest first', async () => {
    const world = await aWorld(api.sql)
    const first = await made(world, 3)
    const second = await made(world, 8)
    await start(api.sql, world, second)
    const { list } = await signedIn(ofCompany(world.companyId), 'owner')
    const answer = await list()
    expect(idsOf(answer)).toEqual([second, first])
    expect(answer.items[1]).toMatchObject({ name: 'Test', status: 'CREATED', waiting: 3, channels: ['SMS'] })
    expect(answer).toMatchObject({ hasNewer: false, hasOlder: false, counts: { CREATED: 1, STARTED: 1 } })
    expect(idsOf(await list('?status=STARTED'))).toEqual([second])
    expect(idsOf(await list('?channel=VIBER'))).toEqual([])
    expect(idsOf(await list(`?search=${first}`))).toEqual([first])
    expect(idsOf(await list('?search=tES'))).toEqual([second, first])
    expect(idsOf(await list('?search=%25'))).toEqual([])
    expect(idsOf(await list('?to=2020-01-01T00:00:00Z'))).toEqual([])
    expect(idsOf(await list('?from=2020-01-01T00:00:00Z'))).toEqual([second, first])
  })

  test('is read in pages, forward and back', async () => {
    const world = await aWorld(api.sql)
    const ids: number[] = []
    for (let i = 0; i < 5; i += 1) ids.unshift(await made(world, 1))
    const { list } = await signedIn(ofCompany(world.companyId), 'viewer')
    const older = await list(`?perPage=2&olderThan=${ids[1]}`)
    expect([idsOf(older), older.hasNewer, older.hasOlder]).toEqual([ids.slice(2, 4), true, true])
    const last = await list(`?perPage=2&olderThan=${ids[3]}`)
    expect([idsOf(last), last.hasNewer, last.hasOlder]).toEqual([ids.slice(4), true, false])
    const back = await list(`?perPage=2&newerThan=${ids[2]}`)
    expect([idsOf(back), back.hasNewer, back.hasOlder]).toEqual([ids.slice(0, 2), false, true])
    const middle = await list(`?perPage=2&newerThan=${ids[4]}`)
    expect([idsOf(middle), middle.hasNewer, middle.hasOlder]).toEqual([ids.slice(2, 4), true, true])
  })

  test('shows a partner all its companies or one of them, shows staff every company, and shows no foreign company', async () => {
    const world = await aWorld(api.sql)
    const other = await aCompany(api.sql, world.partner, { name: 'Nordwind' })
    const own = await made(world)
    const foreign = await made(theirs)
    const partner = await signedIn(ofPartner(world.partner.partnerId), 'viewer')
    expect(idsOf(await partner.list())).toEqual([own])
    expect(idsOf(await partner.list(`?companyId=${other}`))).toEqual([])
    expect((await partner.browser.ask('GET', `/dispatches?companyId=${theirs.companyId}`)).status).toBe(404)
    const all = await (await signedIn(staff, 'support')).list()
    expect(idsOf(all).slice(0, 2)).toEqual([foreign, own])
    expect(all.counts).toBeNull()
    const company = await signedIn(ofCompany(world.companyId), 'owner')
    expect((await company.browser.ask('GET', `/dispatches?companyId=${other}`)).status).toBe(404)
  })

  test('leaves out money for people who may not see it', async () => {
    const world = await aWorld(api.sql)
    const dispatchId = await made(world)
    const estimates = async (role: string) => {
      const { browser, list } = await signedIn(ofCompany(world.companyId), role)
      const breakdown = await browser.ask('GET', `/dispatches/${dispatchId}/breakdown`)
      return [(await list()).items[0]!.estimate !== null, breakdown.body.money !== null]
    }
    expect(await estimates('viewer')).toEqual([false, false])
    expect(await estimates('finance')).toEqual([true, true])
    expect(await estimates('sender')).toEqual([true, true])
  })

  test.each(planModes)('a page of each company is read by its index, with %s', async mode => {
    const world = await aWorld(api.sql)
    await api.sql`
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids)
      select ${world.companyId}, 1000000000 + ${mode.length} * 100000 + i, 'Many', 'SMS', 'PROMO', 'Hello', '{}'
      from generate_series(1, 3000) i`
    await api.sql`analyze dispatches`
    const scope = { kind: 'PARTNER', partnerId: world.partner.partnerId } as const
    const list = (place?: { olderThan: number }) =>
      readsOf(api, mode, sql => listWatched(sql, scope, {}, place, 20), /from dispatches o/)
    for (const reads of [await list(), await list({ olderThan: 2_000_000_000 })]) {
      const ofDispatches = reads.filter(({ table }) => table === 'dispatches')
      expect(ofDispatches.map(({ index }) => index)).not.toContain(undefined)
      expect(Math.max(...ofDispatches.map(({ rows }) => rows))).toBeLessThanOrEqual(21)
      expect(reads.map(({ table }) => table).filter(table => table.startsWith('messages'))).toEqual([])
    }
  })
})

const everyDay = { hours: [10, 11], days: [1, 2, 3, 4, 5, 6, 7], isLocal: true }

describe('a dispatch', () => {
  test('is shown with its text, its sender names, and the reason why it waits', async () => {
    const dispatchId = await made(ours)
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    const page = async () => (await browser.ask('GET', `/dispatches/${dispatchId}`)).body as DispatchAnswer
    expect(await page()).toMatchObject({ text: 'Hello', senderNames: ['ROMASHKA'], status: 'CREATED', waits: [] })
    const started = await browser.ask('POST', `/dispatches/${dispatchId}/start`)
    expect(started.body).toMatchObject({ status: 'STARTED', waits: [{ kind: 'engine' }], hours: [{ messages: 4 }] })
    expect((await browser.ask('POST', `/dispatches/${dispatchId}/stop`)).body.status).toBe('STOPPED')
    expect((await browser.ask('POST', `/dispatches/${dispatchId}/stop`)).status).toBe(200)
    expect((await browser.ask('POST', `/dispatches/${dispatchId}/start`)).body.status).toBe('STARTED')
  })

  test.each([
    [{ hours: [10, 11], useLocalTime: true, rate: 60, rateTerm: 'hour' }, everyDay, { rate: 60, term: 'hour' }],
    [
      { hours: [10, 11], useLocalTime: false, rateTerm: 90 },
      { ...everyDay, isLocal: false },
      { rate: 90, term: 'minute' },
    ],
    [{ useLocalTime: true }, null, null],
  ])('with %j shows its sending hours and its rate', async (options, sendingHours, limit) => {
    const dispatchId = await made(ours)
    await api.sql`update dispatches set options = ${api.sql.json(options)} where dispatch_id = ${dispatchId}`
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    expect((await browser.ask('GET', `/dispatches/${dispatchId}`)).body).toMatchObject({ sendingHours, limit })
  })

  test('counts its messages by operator, reason and time, with the money', async () => {
    const dispatchId = await made(ours, 8)
    await start(api.sql, ours, dispatchId)
    const now = Date.now()
    const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000)
    await api.sql`update dispatches set started_at = ${minutesAgo(10)} where dispatch_id = ${dispatchId}`
    await fail(dispatchId, 2, 603, minutesAgo(9))
    await fail(dispatchId, 1, 603, minutesAgo(4))
    await fail(dispatchId, 1, 454, null)
    const { browser } = await signedIn(ofCompany(ours.companyId), 'owner')
    const { body } = await browser.ask('GET', `/dispatches/${dispatchId}/breakdown`)
    const { operators, reasons, money, pace } = body as BreakdownAnswer
    const until = minutesAgo(4).toISOString()
    expect(pace).toMatchObject({ until, seconds: 10, counts: [2, ...new Array(29).fill(0), 1] })
    expect(reasons).toEqual([
      { errorCode: 603, wasSent: true, messages: 3 },
      { errorCode: 454, wasSent: false, messages: 1 },
    ])
    expect(operators).toHaveLength(4)
    expect(operators.find(({ operator }) => operator === 'MTS')).toMatchObject({ waiting: 1, failed: 1 })
    expect(money!.held).toBeCloseTo(money!.estimate / 2)
    expect(money).toMatchObject({ charged: 0, released: money!.held })
  })

  test('reads only the messages of the dispatch for these counts', async () => {
    const dispatchId = await made(ours, 5)
    await made(ours, 200)
    await api.sql`analyze messages`
    const [home] = await api.sql`
      select company_id, dispatch_id, first_uuid, last_uuid
      from dispatches where dispatch_id = ${dispatchId}`
    for (const mode of planModes) {
      const reads = await readsOf(
        api,
        mode,
        sql => new Breakdowns(sql, () => new Date()).of(home as never),
        /from messages/,
      )
      expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(5)
    }
  })

  test.each(['', '/breakdown', '/report'])('of another company is unknown: GET %s', async path => {
    const dispatchId = await made(theirs)
    for (const place of [ofCompany(ours.companyId), ofPartner(ours.partner.partnerId)]) {
      const { browser } = await signedIn(place, 'owner')
      expect((await browser.ask('GET', `/dispatches/${dispatchId}${path}`)).status).toBe(404)
    }
  })

  test.each(['start', 'stop', 'again'])(
    'of another company cannot be changed, and a viewer cannot change an own one: %s',
    async verb => {
      const foreign = await made(theirs)
      const own = await made(ours)
      const ask = async (place: Parameters<typeof aPerson>[1], role: string, id: number) =>
        (await (await signedIn(place, role)).browser.ask('POST', `/dispatches/${id}/${verb}`)).status
      expect(await ask(ofCompany(ours.companyId), 'owner', foreign)).toBe(404)
      expect(await ask(ofPartner(ours.partner.partnerId), 'manager', foreign)).toBe(404)
      for (const role of ['viewer', 'finance']) expect(await ask(ofCompany(ours.companyId), role, own)).toBe(403)
      expect(await ask(ofPartner(ours.partner.partnerId), 'viewer', own)).toBe(403)
      for (const role of ['moderator', 'support']) expect(await ask(staff, role, own)).toBe(403)
    },
  )
})

describe('sending again', () => {
  test('creates one dispatch to the recipients of failed messages, also for two clicks at once', async () => {
    const dispatchId = await made(ours, 6)
    await fail(dispatchId, 2, 603)
    await api.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    const answers = await Promise.all([1, 2].map(() => browser.ask('POST', `/dispatches/${dispatchId}/again`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201])
    const [first, second] = answers.map(({ body }) => body.dispatchId)
    expect(first).toBe(second)
    expect((await browser.ask('GET', `/dispatches/${first}`)).body).toMatchObject({
      status: 'CREATED',
      waiting: 2,
      name: expect.stringMatching(/., again$/),
      againOf: { dispatchId },
      again: null,
    })
    expect((await browser.ask('GET', `/dispatches/${dispatchId}`)).body).toMatchObject({
      again: { dispatchId: first },
      againOf: null,
    })
  })

  test('waits for the dispatch with one connection, however often it is requested', async () => {
    const dispatchId = await made(ours, 2)
    await fail(dispatchId, 2, 603)
    await api.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    const requests = await api.sql.begin(async tx => {
      await tx`select from dispatches where dispatch_id = ${dispatchId} for update`
      const answers = [1, 2, 3].map(() => browser.ask('POST', `/dispatches/${dispatchId}/again`))
      await eventually(async () => expect(await countLockWaits(api.sql)).toBe(1))
      // The other requests would wait within this time too.
      await browser.ask('GET', `/dispatches/${dispatchId}`)
      expect(await countLockWaits(api.sql)).toBe(1)
      return { answers }
    })
    const statuses = (await Promise.all(requests.answers)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 201])
  })

  test('is counted before: what would be sent again, and what not with the reason', async () => {
    const [one, two, three] = someRecipients(3)
    const recipients = [one!, one!, two!, three!, { destination: 'no number' }]
    const dispatchId = await aDispatch(api.sql, numbering, ours, recipients, { text: 'Hello' })
    await fail(dispatchId, 3, 603)
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    const count = () => browser.ask('GET', `/dispatches/${dispatchId}/again`)
    expect((await count()).status).toBe(400)
    await api.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
    const { body } = await count()
    const left = { repeated: 1, reached: 0, removed: 0, withoutText: 0 }
    const counts = { ...left, messages: 3, price: expect.any(Number) }
    expect(body).toEqual({ counts, currency: 'RUB', most: 1_000_000 })
    const made = (await browser.ask('POST', `/dispatches/${dispatchId}/again`)).body.dispatchId
    const { waiting, failed } = (await browser.ask('GET', `/dispatches/${made}`)).body
    expect(waiting + failed).toBe(body.counts.messages)
    expect(
      (
        await (
          await signedIn(ofCompany(ours.companyId), 'viewer')
        ).browser.ask('GET', `/dispatches/${dispatchId}/again`)
      ).status,
    ).toBe(403)
  })

  test('names the new dispatch in the language of the page, within the longest name', async () => {
    const dispatchId = await made(ours, 1)
    await fail(dispatchId, 1, 603)
    await api.sql`update dispatches set status = 'COMPLETED', name = ${'я'.repeat(255)} where dispatch_id = ${dispatchId}`
    const { browser } = await signedIn(ofCompany(ours.companyId), 'sender')
    const { body } = await browser.ask('POST', `/dispatches/${dispatchId}/again?language=ru`)
    const { name } = (await browser.ask('GET', `/dispatches/${body.dispatchId}`)).body
    expect([name.length, name.slice(-12)]).toEqual([255, 'яя, повторно'])
  })
})

describe('the report', () => {
  const evil = '=HYPERLINK("http://evil.example"),\u0001 <b>&'

  test('as CSV has a line for each message, and no formula that a spreadsheet would calculate', async () => {
    const dispatchId = await made(ours, 3, evil)
    const { raw } = await signedIn(ofCompany(ours.companyId), 'owner')
    const { body, headers } = await raw(`/dispatches/${dispatchId}/report`)
    expect(headers['content-disposition']).toBe(`attachment; filename="dispatch-${dispatchId}.csv"`)
    const lines = body.trimEnd().split('\r\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^\ufeffNumber,Operator,Status,Reason,.*,Price,/)
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil.example"")`)
  })

  test("is in the reader's language and time zone", async () => {
    const dispatchId = await made(ours, 3)
    await fail(dispatchId, 1, 603, new Date('2026-11-12T20:30:00Z'))
    await fail(dispatchId, 1, 9999, null)
    await api.sql`update messages set price = 3.5 where dispatch_id = ${dispatchId}`
    const { raw } = await signedIn(ofCompany(ours.companyId), 'owner')
    const report = (query: string) => raw(`/dispatches/${dispatchId}/report?${query}`)
    const lines = (await report('language=ru&zone=Asia/Yekaterinburg')).body.split('\r\n')
    expect(lines[0]).toMatch(/^\ufeffНомер;Оператор;Статус;Причина;Код ошибки;.*;Отправлено \(Asia\/Yekaterinburg\);/)
    expect(lines[1]).toMatch(
      /;МТС;Не доставлено;Телефон выключен или вне сети;603;1;3,5;ROMASHKA;.*;2026-11-13 01:30:00;/,
    )
    expect(lines[2]).toMatch(/;Билайн;Не отправлено;Другая причина;9999;/)
    expect(lines[3]).toMatch(/;МегаФон;Ожидает;;;/)
    const english = (await report('language=en')).body.split('\r\n')
    expect(english[1]).toMatch(/,MTS,Undelivered,Phone switched off or out of reach,603,1,3.5,.*,2026-11-12 23:30:00,/)
    expect((await report('zone=Mars/Olympus')).statusCode).toBe(400)
    expect((await report('language=de')).statusCode).toBe(400)
    const { rawPayload, headers } = await report('format=xlsx&language=ru&zone=Asia/Yekaterinburg')
    expect(headers['content-type']).toContain('spreadsheetml')
    const sheet = filesIn(rawPayload).get('xl/worksheets/sheet1.xml')
    for (const text of ['Причина', 'Телефон выключен или вне сети', '2026-11-13 01:30:00'])
      expect(sheet).toContain(`>${text}</t>`)
  })

  test('has no prices for people who may not see money', async () => {
    const dispatchId = await made(ours, 1)
    const { raw } = await signedIn(ofCompany(ours.companyId), 'viewer')
    expect((await raw(`/dispatches/${dispatchId}/report`)).body).not.toContain('Price')
  })
})
