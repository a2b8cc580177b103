import { beforeAll, describe, expect, test, vi } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import { uuid7Batch } from '../../../base/uuid7.ts'
import { renameKey } from '../../../domain/keys/keys.ts'
import { everyShownMessage, reportBounds } from '../../../domain/message-search/box-search.ts'
import { countRecent } from '../../../domain/message-search/recent-counts.ts'
import { searchLimitersOf } from '../../../domain/message-search/search-limiters.ts'
import { loadNumbering, type Numbering } from '../../../domain/numbering/numbering.ts'
import { defaultCenter } from '../../../domain/traffic-centers/traffic-centers.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { numberOf } from '../../../testing/factories.ts'
import { aKey } from '../../../testing/messaging-api.ts'
import { monthBack, planModes, readsOf } from '../../../testing/plans.ts'
import { aCascade, aDispatchWithFates, aSingleMessage, HOOK } from '../../../testing/traffic.ts'
import { aWorld, type World } from '../../../testing/world.ts'
import { messageReport } from './message-report.ts'
import type { IncomingAnswer, MessageAnswer, MessageMoment, MessagesAnswer, RecentCounts } from './messages.ts'

const { api } = useApp('/docs/partner.json')
let numbering: Numbering
let ours: World
let theirs: World
let sent: Awaited<ReturnType<typeof aDispatchWithFates>>
let single: string
let foreign: string
let owner: CabinetBrowser

beforeAll(async () => {
  numbering = await loadNumbering(api.sql)
  ours = await aWorld(api.sql)
  theirs = await aWorld(api.sql)
  sent = await aDispatchWithFates(api.sql, numbering, ours)
  single = await aSingleMessage(api.sql, numbering, ours, { externalId: 'order-10517' })
  foreign = await aSingleMessage(api.sql, numbering, theirs, { destination: '79162001078' })
  owner = await signedIn(ofCompany(ours.companyId), 'owner')
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

const find = async (query: string, browser = owner) =>
  (await browser.ask('GET', `/messages?${query}`)).body as MessagesAnswer
const uuidsOf = ({ items }: MessagesAnswer) => items.map(({ uuid }) => uuid)
const lifeOf = async (uuid: string, browser = owner) =>
  (await browser.ask('GET', `/messages/${uuid}`)).body as MessageAnswer

describe('the search finds', () => {
  test.each([
    ['a whole number, however it is written', () => '8 (926) 200-10-14', 'number', () => [sent.undelivered]],
    ['the beginning of a number', () => '+7 926 200', 'period', () => [sent.undelivered]],
    ['a long beginning of a number by its index', () => '+7 926 200-1', 'beginning', () => [sent.undelivered]],
    ['a part of a number', () => '200-10-1', 'period', () => [sent.undelivered]],
    ['an id of ours', () => single.toUpperCase(), 'uuid', () => [single]],
    ['an id of the client', () => 'order-10517', 'own id', () => [single]],
    ['words of the text in any order', () => 'READY order', 'period', () => [single]],
    ['exact words', () => '"order ready"', 'period', () => []],
    ['digits in the text', () => '10517', 'period', () => [single]],
    ['no pattern', () => '%', 'period', () => [sent.sending, sent.sent, sent.undelivered, sent.delivered]],
  ])('%s', async (_, typed, by, wanted) => {
    const answer = await find(`q=${encodeURIComponent(typed())}`)
    expect([answer.by, uuidsOf(answer)]).toEqual([by, wanted()])
  })

  test('all messages of the last day if it is empty, in pages, the newest first', async () => {
    const all = [single, sent.sending, sent.sent, sent.undelivered, sent.delivered]
    const first = await find('perPage=3')
    expect([uuidsOf(first), first.older]).toEqual([all.slice(0, 3), all[2]])
    const second = await find(`perPage=3&before=${first.older}`)
    expect([uuidsOf(second), second.older, second.cutAt]).toEqual([all.slice(3), null, null])
    expect(Date.parse(String(second.to)) - Date.parse(String(second.from))).toBe(24 * 3600_000)
  })

  test('nothing outside the period, but an id at any time', async () => {
    const past = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'
    expect(uuidsOf(await find(past))).toEqual([])
    expect(uuidsOf(await find(`q=order-10517`))).toEqual([single])
    expect((await owner.ask('GET', '/messages?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')).status).toBe(400)
  })
})

describe('the tabs', () => {
  const countsFor = async (browser: CabinetBrowser, query = '') =>
    (await browser.ask('GET', `/messages/counts${query}`)).body.counts as RecentCounts

  test('have counts of the last day for the companies that the viewer sees', async () => {
    expect(await countsFor(owner)).toEqual({ all: 5, failed: 1, waiting: 2, isLeast: false })
    const partner = await signedIn(ofPartner(theirs.partner.partnerId), 'viewer')
    expect(await countsFor(partner)).toEqual({ all: 1, failed: 0, waiting: 1, isLeast: false })
    expect((await partner.ask('GET', `/messages/counts?companyId=${ours.companyId}`)).status).toBe(404)
    const both = [ours.companyId, theirs.companyId]
    expect(await countRecent(api.sql, both, new Date(), 2)).toMatchObject({ all: 2, isLeast: true })
    expect(await countRecent(api.sql, both, new Date(Date.now() + 2 * 24 * 3600_000))).toMatchObject({ all: 0 })
  })

  test('take the same work with any number of messages', async () => {
    const busy = await aWorld(api.sql)
    await api.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text)
      select ${busy.companyId}, message_uuid, 1, 'DELIVERED', 1, 1, '79160000001', 'Hello'
      from unnest(${uuid7Batch(new Date(), 8000)}::uuid[]) message_uuid`
    await api.sql`analyze messages`
    for (const companyIds of [[busy.companyId], [busy.companyId, theirs.companyId]])
      for (const mode of planModes) {
        const reads = await readsOf(api, mode, sql => countRecent(sql, companyIds, new Date()), /newest/)
        const [read, ...others] = reads.filter(({ table }) => table !== 'companies')
        expect(read).toMatchObject({ table: monthBack(0), index: `${monthBack(0)}_pkey` })
        expect([others, read!.rows]).toEqual([[], 5001])
      }
    await api.sql`delete from messages where company_id = ${busy.companyId}`
  })
})

describe('the number of inbound messages', () => {
  const incomingFor = async (browser: CabinetBrowser, query: string) =>
    (await browser.ask('GET', `/messages/incoming?${query}`)).body.companies as IncomingAnswer['companies']

  test('is counted by the same number or words, for the companies that the viewer sees', async () => {
    const write = async ({ companyId }: World, destination: string, text: string) => {
      const { centerId } = await defaultCenter(api.sql, companyId)
      await api.sql`
        insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, center_id, received_at)
        values (${companyId}, ${uuid7Batch(new Date(), 1)[0]!}, 'SMS', 'Shop', ${destination}, ${text}, ${centerId}, now())`
    }
    await write(ours, '79262001014', 'When do you open?')
    await write(ours, '79262001014', 'Thank you')
    await write(theirs, '79262001014', 'Thank you')
    const counted = ({ companyId }: World, count: number) =>
      expect.objectContaining({ companyId, count, isLeast: false })
    expect(await incomingFor(owner, 'q=8(926)2001014')).toEqual([counted(ours, 2)])
    expect(await incomingFor(owner, 'q=thank')).toEqual([counted(ours, 1)])
    expect(await incomingFor(owner, 'q=79262001014&to=2026-01-01T00:00:00Z')).toEqual([])
    for (const nothing of ['', 'q=79262001015', `q=${single}`]) expect(await incomingFor(owner, nothing)).toEqual([])
    const everybody = await signedIn(staff, 'support')
    expect(await incomingFor(everybody, 'q=79262001014')).toEqual([counted(ours, 2), counted(theirs, 1)])
    expect(await incomingFor(everybody, 'q=thank')).toEqual([])
    expect((await owner.ask('GET', `/messages/incoming?q=1&companyId=${theirs.companyId}`)).status).toBe(404)
  })

  test('is null if counting takes too long', async () => {
    await api.sql.begin(async tx => {
      await tx`lock table inbound_messages in access exclusive mode`
      expect(await incomingFor(owner, 'q=79262001014')).toBeNull()
    })
  })
})

describe('filters', () => {
  test.each([
    ['status=undelivered&status=delivered', () => [sent.undelivered, sent.delivered]],
    ['status=sending', () => [single, sent.sending]],
    ['operator=MEGAFON', () => [sent.undelivered]],
    ['operator=OTHER', () => []],
    ['error=603', () => [sent.undelivered]],
    ['channel=VIBER', () => []],
    ['dispatch={dispatch}&channel=SMS', () => [sent.sending, sent.sent, sent.undelivered, sent.delivered]],
    ['dispatch={dispatch}&status=undelivered', () => [sent.undelivered]],
    ['dispatch=999999', () => []],
    ['q=926&status=delivered', () => []],
  ])('%s', async (query, wanted) => {
    expect(uuidsOf(await find(query.replace('{dispatch}', String(sent.dispatchId))))).toEqual(wanted())
  })

  test('that are wrong are refused', async () => {
    for (const query of ['status=lost', 'operator=NOBODY', 'perPage=1000', 'before=7', `q=${'x'.repeat(201)}`])
      expect([query, (await owner.ask('GET', `/messages?${query}`)).status]).toEqual([query, 400])
  })
})

describe('the messages that a viewer sees', () => {
  test.each(['owner', 'sender', 'finance', 'viewer'])(
    'a company %s sees the messages of the own company',
    async role => {
      const browser = await signedIn(ofCompany(ours.companyId), role)
      expect(uuidsOf(await find('', browser))).not.toContain(foreign)
      expect(uuidsOf(await find('q=79162001078', browser))).toEqual([])
      expect(uuidsOf(await find(`q=${foreign}`, browser))).toEqual([])
      expect((await browser.ask('GET', `/messages/${foreign}`)).status).toBe(404)
      for (const path of ['/messages', `/messages/${foreign}`])
        expect((await browser.ask('GET', `${path}?companyId=${theirs.companyId}`)).status).toBe(404)
      expect(
        uuidsOf(await find(`dispatch=${sent.dispatchId}`, await signedIn(ofCompany(theirs.companyId), role))),
      ).toEqual([])
    },
  )

  test('a partner sees the messages of all its companies, or of the chosen company', async () => {
    const browser = await signedIn(ofPartner(theirs.partner.partnerId), 'viewer')
    expect(uuidsOf(await find('', browser))).toEqual([foreign])
    expect((await browser.ask('GET', `/messages/${single}`)).status).toBe(404)
    expect((await browser.ask('GET', `/messages?companyId=${ours.companyId}`)).status).toBe(404)
  })

  test('staff see the messages of every company', async () => {
    const browser = await signedIn(staff, 'support')
    expect(uuidsOf(await find('perPage=2', browser))).toEqual([foreign, single])
    expect(uuidsOf(await find(`companyId=${ours.companyId}&perPage=1`, browser))).toEqual([single])
    expect(uuidsOf(await find('q=79162001078', browser))).toEqual([foreign])
    expect((await lifeOf(foreign, browser)).companyId).toBe(theirs.companyId)
  })

  test('a person without a session sees none', async () => {
    const browser = new CabinetBrowser(() => api.app)
    for (const path of [
      '/messages',
      '/messages/report',
      '/messages/counts',
      '/messages/incoming',
      `/messages/${single}`,
    ])
      expect((await browser.ask('GET', path)).status).toBe(401)
  })
})

describe('the file of a search', () => {
  const fileOf = async (query: string, browser = owner) => {
    const url = `/cabinet/api/messages/report?${query}`
    const answer = await api.app.inject({ url, headers: { host: 'localhost:8080', cookie: browser.cookie! } })
    return { status: answer.statusCode, lines: answer.body.trimEnd().split('\r\n') }
  }
  const rowsOf = async (bounds: Partial<typeof reportBounds>) => {
    const within = { ...reportBounds, pauseMs: 1, ...bounds }
    const pages = everyShownMessage(api.sql, [ours.companyId], { typed: '' }, new Date(), within)
    const options = { language: 'ru', zone: 'Asia/Tokyo', hasPrices: false, hasCompanies: false } as const
    let file = ''
    for await (const piece of messageReport(pages, options)) file += piece
    return file.trimEnd().split('\r\n').slice(1)
  }

  test('has the messages of the list, in the language and the time zone of its reader', async () => {
    const { lines } = await fileOf('status=undelivered&language=ru&zone=Asia/Tokyo')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^\ufeffНомер;Оператор;.*;Частей;Цена;Принято \(Asia\/Tokyo\);/)
    const [undelivered] = (await find('status=undelivered')).items
    const accepted = new Date(undelivered!.acceptedAt).getTime() + 9 * 3600_000
    const clock = new Date(accepted).toISOString().slice(0, 19).replace('T', ' ')
    expect(lines[1]).toContain('79262001014;МегаФон;SMS;')
    expect(lines[1]).toContain(';Не доставлено;Телефон выключен или вне сети;603;stat:UNDELIV err:027;2;0;')
    expect(lines[1]).toContain(`;${clock};`)
    expect(lines[1]!.endsWith(`;${sent.undelivered}`)).toBe(true)
    expect((await fileOf('')).lines).toHaveLength(6)
  })

  test('has no formulas, no prices for people who may not see them, and nothing of other companies', async () => {
    const world = await aWorld(api.sql)
    await aSingleMessage(api.sql, numbering, world, { text: '=HYPERLINK("x")' })
    const viewer = await signedIn(ofCompany(world.companyId), 'viewer')
    const { lines } = await fileOf('', viewer)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(`,"'=HYPERLINK(""x"")",`)
    expect(lines[0]).not.toContain('Price')
    expect((await fileOf(`companyId=${ours.companyId}`, viewer)).status).toBe(404)
    expect((await fileOf('zone=Mars', viewer)).status).toBe(400)
    const partner = await signedIn(ofPartner(world.partner.partnerId), 'viewer')
    expect((await fileOf('', partner)).lines[0]).toMatch(/^\ufeffCompany,Number,.*,Price,/)
  })

  test('says in its last row that the search found more messages', async () => {
    const byCount = await rowsOf({ most: 3, page: 2 })
    expect(byCount).toHaveLength(4)
    expect(byCount[3]).toMatch(/^"В файле только последние 100000 сообщений, начиная с 20/)
    const byTime = await rowsOf({ most: 10, page: 2, timeMs: -1 })
    expect(byTime).toHaveLength(3)
    expect(byTime[2]).toMatch(/^Поиск занял слишком много времени и остановился на 20/)
    expect(await rowsOf({ most: 5, page: 2 })).toHaveLength(5)
  })

  test('is complete although the search limiter refuses a page, or says where it stopped', async () => {
    const { wide } = searchLimitersOf(api.sql)
    const refused = new AppError('too_many_requests', 'Too many searches at once')
    const run = vi.spyOn(wide, 'run').mockRejectedValueOnce(refused)
    expect(await rowsOf({ page: 2 })).toHaveLength(5)
    run.mockRejectedValue(refused)
    expect(await rowsOf({ timeMs: 10 })).toEqual([expect.stringMatching(/^Поиск занял слишком много времени/)])
    run.mockRestore()
  })
})

describe('the history of a message', () => {
  const kindsOf = ({ steps }: MessageAnswer) => steps.map(({ moments }) => moments.map(({ kind }) => kind))

  test('that failed shows the gateway, the ids of its parts, the operator’s error, money and callbacks', async () => {
    const life = await lifeOf(sent.undelivered)
    expect(life).toMatchObject({ status: 'undelivered', errorCode: 603, operator: 'MEGAFON', dispatchName: 'Test' })
    const [step] = life.steps
    expect(kindsOf(life)[0]!.toSorted()).toEqual(
      ['accepted', 'priced', 'held', 'sent', 'failed', 'callback', 'callback'].toSorted(),
    )
    const momentOf = (kind: string) => step!.moments.find(moment => moment.kind === kind)
    const gateway = `MegaFon direct ${ours.companyId}`
    expect(momentOf('sent')).toMatchObject({
      parts: [
        { gateway, part: 1, providerId: '7F3A1-1', status: 'SENT' },
        { gateway, part: 2, providerId: '7F3A1-2', status: 'SENT' },
      ],
    })
    expect(momentOf('failed')).toMatchObject({ errorCode: 603, operatorError: 'stat:UNDELIV err:027', wasSent: true })
    const { held, released, charged } = step!.money!
    expect([held > 0, released, charged]).toEqual([true, held, 0])
    const callback = momentOf('callback') as Extract<typeof step, object>['moments'][number] & { kind: 'callback' }
    expect(callback.callback).toMatchObject({
      url: HOOK,
      status: 'DELIVERED',
      events: [{ name: 'sent', isReceived: true }],
    })
    expect(callback.callback.attempts.map(({ statusCode }) => statusCode)).toEqual([503, 200])
  })

  test('that was delivered shows its charge', async () => {
    const { steps } = await lifeOf(sent.delivered)
    const { held, released, charged } = steps[0]!.money!
    expect([charged, released]).toEqual([held, 0])
  })

  test('that failed can be sent again, unless it has a code or another step of its cascade may be delivered', async () => {
    const text = expect.stringMatching(/^Autumn bouquets/)
    const again = { destination: '79262001014', channelType: 'SMS', senderName: 'ROMASHKA', text }
    expect((await lifeOf(sent.undelivered)).again).toMatchObject(again)
    expect((await lifeOf(sent.delivered)).again).toBeNull()
    const world = await aWorld(api.sql)
    const { first } = await aCascade(api.sql, numbering, world)
    const code = await aSingleMessage(api.sql, numbering, world, { method: 'VERIFIER_API', text: 'Code ****' })
    await api.sql`update messages set status = 'FAILED', final_at = now(), final_price = 0 where message_uuid = ${code}`
    const browser = await signedIn(ofCompany(world.companyId), 'owner')
    for (const uuid of [first, code]) {
      const { status, again } = await lifeOf(uuid, browser)
      expect([['undelivered', 'unsent'].includes(status), again]).toEqual([true, null])
    }
  })

  test('shows no amounts to people who may not see prices', async () => {
    const life = await lifeOf(sent.delivered, await signedIn(ofCompany(ours.companyId), 'viewer'))
    expect(kindsOf(life)[0]).not.toEqual(expect.arrayContaining(['priced']))
    expect(kindsOf(life)[0]).not.toEqual(expect.arrayContaining(['held']))
    expect(life.steps[0]!.money).toBeNull()
    const delivered = life.steps[0]!.moments.find(({ kind }) => kind === 'delivered')
    expect(delivered).toMatchObject({ charged: 0, released: 0 })
  })

  test('names the key or the person who sent it, but names no member of staff to a company', async () => {
    const world = await aWorld(api.sql)
    const message = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' }
    const destination = numberOf.MTS
    const { key, keyId } = await aKey(api.sql, world.companyId)
    await renameKey(api.sql, world.companyId, keyId, 'Shop')
    const headers = { authorization: `Bearer ${key}` }
    const payload = { ...message, destination }
    const answer = await api.app.inject({ method: 'POST', url: '/api/v1/message', headers, payload })
    const theOwner = await signedIn(ofCompany(world.companyId), 'owner')
    const bySend = async (browser: CabinetBrowser) => {
      const path = `/send?companyId=${world.companyId}`
      const once = { headers: { 'idempotency-key': crypto.randomUUID() } }
      return (await browser.ask('POST', path, { destination, steps: [message] }, once)).body.messageUuid
    }
    const originOf = async (uuid: string, browser = theOwner) => {
      const { key, person } = (await lifeOf(uuid, browser)).steps[0]!.moments[0] as MessageMoment & { kind: 'accepted' }
      return { key, person }
    }
    expect(await originOf(answer.json().items[0].messageUuid)).toEqual({ key: { keyId, name: 'Shop' }, person: null })
    const login = expect.stringMatching(/^person\d+@example.com$/)
    expect(await originOf(await bySend(theOwner))).toEqual({ key: null, person: { kind: 'COMPANY', login } })
    const admin = await signedIn(staff, 'admin')
    const ofStaff = await bySend(admin)
    expect((await originOf(ofStaff, admin)).person).toEqual({ kind: 'STAFF', login })
    expect((await originOf(ofStaff)).person).toBeNull()
  })

  test('that waits says the reason', async () => {
    const { steps } = await lifeOf(sent.sending)
    expect(steps[0]!.moments.at(-1)).toMatchObject({ kind: 'waiting', reasons: [{ kind: 'engine' }] })
  })

  test('that waits for its sending time shows its price and the amount held', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    const options = { localSendTime: `${tomorrow} 12:00:00` }
    const life = await lifeOf(await aSingleMessage(api.sql, numbering, ours, { options }))
    expect(kindsOf(life)[0]).toEqual(['accepted', 'priced', 'held', 'waiting'])
    expect(life.steps[0]!.money!.held).toBeGreaterThan(0)
  })

  test('of a cascade has an entry for each step', async () => {
    const { first } = await aCascade(api.sql, numbering, ours)
    const life = await lifeOf(first)
    expect(life.steps.map(({ text, status }) => [text, status])).toEqual([
      ['First step', 'undelivered'],
      ['Second step', 'sending'],
    ])
    expect(kindsOf(life)[1]![0]).toBe('next step')
    const second = await lifeOf(life.steps[1]!.uuid)
    expect(second.steps.map(({ uuid }) => uuid)).toEqual(life.steps.map(({ uuid }) => uuid))
  })

  test('says after three days that the ids of its parts were deleted', async () => {
    api.now = new Date(Date.now() + 4 * 24 * 3600_000)
    const { steps } = await lifeOf(sent.delivered, await signedIn(ofCompany(ours.companyId), 'viewer'))
    api.now = undefined
    expect(steps[0]!.moments.find(({ kind }) => kind === 'sent')).toMatchObject({ parts: 'gone' })
  })
})

describe('the replay of a callback', () => {
  const replayPath = async () => {
    const [row] =
      await api.sql`select callback_id from callbacks where company_id = ${ours.companyId} order by callback_id limit 1`
    return `/messages/${sent.delivered}/callbacks/${row!.callbackId}/replay`
  }

  test('puts it back into the queue', async () => {
    const path = await replayPath()
    expect((await owner.ask('POST', path)).status).toBe(204)
    const [row] =
      await api.sql`select status, done_events from callbacks where company_id = ${ours.companyId} order by callback_id limit 1`
    expect(row).toEqual({ status: 'WAITING', doneEvents: 0 })
    const entries = (await owner.ask('GET', '/audit')).body.entries
    expect(entries[0]).toMatchObject({ what: 'callback.replayed' })
  })

  test.each(['sender', 'finance', 'viewer'])('is not for a %s', async role => {
    const browser = await signedIn(ofCompany(ours.companyId), role)
    expect((await browser.ask('POST', await replayPath())).status).toBe(403)
  })

  test('is not for callbacks of other companies', async () => {
    const browser = await signedIn(ofCompany(theirs.companyId), 'owner')
    const path = await replayPath()
    expect((await browser.ask('POST', path)).status).toBe(404)
    expect((await browser.ask('POST', path.replace(sent.delivered, foreign))).status).toBe(404)
    expect((await browser.ask('POST', `${path}?companyId=${ours.companyId}`)).status).toBe(404)
  })
})
