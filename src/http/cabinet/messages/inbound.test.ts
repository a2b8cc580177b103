import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../../base/uuid7.ts'
import { setSwitches } from '../../../domain/companies/companies.ts'
import { receiveInbound } from '../../../domain/inbound/inbound.ts'
import { countIncoming, searchInbound } from '../../../domain/inbound/inbound-search.ts'
import { defaultCenter, ensureCenter } from '../../../domain/traffic-centers/traffic-centers.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aGateway } from '../../../testing/engines.ts'
import { aCompany, anApprovedSender, aPartner, aSender, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { InboundAnswer, InboundRuleRow, RulesAnswer, TrialAnswer } from './inbound.ts'

const { api } = useApp('/docs/partner.json')
const anna = '79160000061'
const boris = '79030000062'
let partner: TestPartner
let gatewayId: number
let names = 0

beforeAll(async () => {
  partner = await aPartner(api.sql)
  gatewayId = (await aGateway(api.sql, { channelType: 'WHATSAPP' })).gatewayId
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

/** A company that receives messages under two names, and its owner. */
async function aWrittenTo() {
  const companyId = await aCompany(api.sql, partner)
  await setSwitches(api.sql, companyId, { inbound: true })
  const [shop, help] = [`Shop ${++names}`, `Help ${names}`]
  for (const senderName of [shop, help])
    await anApprovedSender(api.sql, companyId, { channelType: 'WHATSAPP', senderName })
  const browser = await signedIn(ofCompany(companyId), 'owner')
  const list = async (query = '') => (await browser.ask('GET', `/inbound${query}`)).body as InboundAnswer
  const rules = async () => (await browser.ask('GET', '/inbound/rules')).body as RulesAnswer
  const write = (from: string, text: string, to = shop) =>
    receiveInbound(api.sql, gatewayId, { from, to, text, receivedAt: new Date() })
  const trial = async (name: string, given: object = {}) => {
    const query = new URLSearchParams({ channel: 'WHATSAPP', name, ...given })
    return (await browser.ask('GET', `/inbound/trial?${query}`)).body as TrialAnswer
  }
  return { companyId, browser, shop, help, list, rules, write, trial }
}

const aRule = (senderNames: string[], center: string, callbackUrl = 'https://shop.example/inbound') => ({
  channelType: 'WHATSAPP',
  senderNames,
  center,
  callbackUrl,
})

const textsOf = ({ items }: InboundAnswer) => items.map(({ text }) => text)

describe('inbound messages', () => {
  test('are shown with the newest first, with rule, center and the effect of a stop word', async () => {
    const { companyId, browser, help, list, write } = await aWrittenTo()
    const rule = (await browser.ask('POST', '/inbound/rules', aRule([help], 'Support'))).body as InboundRuleRow
    await write(anna, 'When do you open?')
    await write(boris, ' stop ')
    await write(anna, 'My order is late', help)
    const answer = await list()
    expect(textsOf(answer)).toEqual(['My order is late', ' stop ', 'When do you open?'])
    expect(answer).toMatchObject({ isOn: true, by: 'index', older: null, cutAt: null })
    expect(answer.items[0]).toMatchObject({
      centerName: 'Support',
      ruleId: rule.ruleId,
      isRuleThere: true,
      isStop: false,
    })
    expect(answer.items[1]).toMatchObject({ centerName: 'Default', ruleId: null, isStop: true, isBlacklisted: true })
    await browser.ask('DELETE', `/blacklist/${boris}`)
    await browser.ask('DELETE', `/inbound/rules/${rule.ruleId}`)
    const later = await list()
    expect(later.items[0]).toMatchObject({ ruleId: rule.ruleId, isRuleThere: false })
    expect(later.items[1]).toMatchObject({ isStop: true, isBlacklisted: false })

    const support = await ensureCenter(api.sql, companyId, 'Support')
    expect(textsOf(await list(`?center=${support.centerId}`))).toEqual(['My order is late'])
  })

  test('are found by number at any time, and by words within a period, by default the last day', async () => {
    const { companyId, list, write } = await aWrittenTo()
    const { centerId } = await defaultCenter(api.sql, companyId)
    const old = new Date(Date.now() - 3 * 24 * 3600_000)
    await api.sql`
      insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, center_id, received_at)
      select ${companyId}, message_uuid, 'WHATSAPP', 'Shop', ${anna}, 'Old 100%', ${centerId}, ${old}
      from unnest(${uuid7Batch(old, 1)}::uuid[]) message_uuid`
    await write(boris, 'New 100_')
    expect(textsOf(await list('?q=8916000-00-61'))).toEqual(['Old 100%'])
    expect(textsOf(await list('?q=%2B79030000'))).toEqual(['New 100_'])
    const words = await list('?q=100')
    expect([textsOf(words), words.by]).toEqual([['New 100_'], 'period'])
    expect(Date.parse(String(words.to)) - Date.parse(String(words.from))).toBe(24 * 3600_000)
    const week = `from=${new Date(Date.now() - 7 * 24 * 3600_000).toISOString()}`
    expect(textsOf(await list(`?q=old&${week}`))).toEqual(['Old 100%'])
    expect(textsOf(await list(`?q=100%25&${week}`))).toEqual(['Old 100%'])
    expect(textsOf(await list('?to=2020-01-01T00:00:00Z'))).toEqual([])
  })

  test('are read in pages, also through thousands of messages that the search does not match', async () => {
    const { companyId, list } = await aWrittenTo()
    const { centerId } = await defaultCenter(api.sql, companyId)
    await api.sql`
      insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, center_id, received_at)
      select ${companyId}, message_uuid, 'WHATSAPP', 'Shop', (79160000000 + place)::text,
        case when place % 4000 = 1 then 'Rare ' || place else 'Often' end, ${centerId}, now()
      from unnest(${uuid7Batch(new Date(), 12_001)}::uuid[]) with ordinality q (message_uuid, place)`
    const texts: string[] = []
    let before = ''
    do {
      const page = await list(`?q=rare&perPage=1${before}`)
      texts.push(...textsOf(page))
      before = page.older ? `&before=${page.older}` : ''
    } while (before)
    expect(texts).toEqual(['Rare 12001', 'Rare 8001', 'Rare 4001', 'Rare 1'])
    await api.sql`analyze inbound_messages`
    for (const mode of planModes)
      for (const [typed, index, most] of [
        ['', 'inbound_messages_pkey', 200],
        ['rare', 'inbound_messages_pkey', 15_000],
        ['79160000500', 'inbound_messages_by_destination', 2],
      ] as const) {
        const find = (sql: typeof api.sql) => searchInbound(sql, companyId, { typed, limit: 50 }, new Date())
        const reads = await readsOf(api, mode, find, /from inbound_messages/)
        expect(reads[0]).toMatchObject({ table: 'inbound_messages', index })
        expect(reads[0]!.rows).toBeLessThan(most)
      }
    const count = (sql: typeof api.sql) => countIncoming(sql, [companyId], { typed: '79160000500' }, new Date())
    const counted = await readsOf(api, 'force_custom_plan', count, /from inbound_messages/)
    const [read] = counted.filter(({ table }) => table !== 'companies')
    expect(read).toEqual({ table: 'inbound_messages', index: 'inbound_messages_by_destination', rows: 1 })
  })

  test('the report has the messages of the list, and no cell that a spreadsheet would calculate', async () => {
    const { browser, write } = await aWrittenTo()
    await write(anna, '=1+1')
    await write(boris, 'Hello')
    const read = async (query: string) => {
      const url = `/cabinet/api/inbound/report${query}`
      const answer = await api.app.inject({ url, headers: { host: 'localhost:8080', cookie: browser.cookie! } })
      return answer.body.trimEnd().split('\r\n')
    }
    expect(await read('')).toHaveLength(3)
    const [, line] = await read('?q=1%2B1')
    expect(line).toMatch(/,79160000061,WhatsApp,Shop \d+,'=1\+1,Default,no,[\da-f-]{36}$/)
    const [head, russian] = await read('?q=1%2B1&language=ru&zone=Asia/Omsk')
    expect(head).toMatch(/^\ufeffПолучено \(Asia\/Omsk\);Номер;Канал;Кому;/)
    expect(russian).toMatch(/;79160000061;WhatsApp;Shop \d+;'=1\+1;Default;нет;/)
  })
})

describe('rules and centers', () => {
  test('the tester names the center that a message then gets, and why other rules did not match', async () => {
    const { browser, shop, help, trial, write, list } = await aWrittenTo()
    const add = async (...rule: Parameters<typeof aRule>) =>
      ((await browser.ask('POST', '/inbound/rules', aRule(...rule))).body as InboundRuleRow).ruleId
    const everything = await add([], 'Hall')
    const forHelp = await add([help], 'Support', 'https://anna:secret@shop.example/support')
    const second = await add([help, shop], 'Second')

    const found = await trial(help, { from: anna, text: 'Stop' })
    expect(found).toMatchObject({ hindrance: null, isStop: true, isBlacklisted: false, center: { name: 'Support' } })
    expect(found.rule).toMatchObject({ ruleId: forHelp, callbackUrl: 'https://anna:***@shop.example/support' })
    expect(found.others.map(({ rule, verdict }) => [rule.ruleId, verdict])).toEqual([
      [second, 'later'],
      [everything, 'later'],
    ])
    const ofShop = await trial(shop, { text: 'Hello' })
    expect([ofShop.rule?.ruleId, ofShop.others.map(({ verdict }) => verdict)]).toEqual([second, ['names', 'later']])
    await write(anna, 'Hello', help)
    await write(anna, 'Hello', shop)
    expect((await list()).items.map(({ centerName }) => centerName)).toEqual(['Second', 'Support'])
  })

  test('the tester says why a message would not be stored', async () => {
    const { companyId, trial, shop } = await aWrittenTo()
    await aSender(api.sql, companyId, { channelType: 'WHATSAPP', senderName: 'Not yet' })
    expect(await trial('Not yet')).toMatchObject({ hindrance: 'name', center: { name: 'Default' }, rule: null })
    expect(await trial(shop, { channel: 'SMS' })).toMatchObject({ hindrance: 'channel', center: null })
    await setSwitches(api.sql, companyId, { inbound: false })
    expect(await trial(shop)).toMatchObject({ hindrance: 'switch' })
  })

  test('a changed rule keeps its position; a change based on an old version is refused', async () => {
    const { browser, shop, help, rules } = await aWrittenTo()
    const secret = 'https://anna:secret@shop.example/inbound'
    const rule = (await browser.ask('POST', '/inbound/rules', aRule([shop], 'Support', secret))).body as InboundRuleRow
    await browser.ask('POST', '/inbound/rules', aRule([help], 'Hall'))
    const { senderNames, centerId, callbackUrl } = rule
    const seen = { senderNames, centerId, callbackUrl }
    const change = (given: object) => browser.ask('PATCH', `/inbound/rules/${rule.ruleId}`, { seen, ...given })
    expect((await change({ senderNames: [shop, help] })).body).toMatchObject({
      senderNames: [shop, help],
      centerName: 'Support',
    })
    const [kept] = await api.sql`select callback_url as url from inbound_rules where rule_id = ${rule.ruleId}`
    expect(kept!.url).toBe(secret)
    const late = await change({ center: 'Hall' })
    expect([late.status, late.body.error.msg]).toEqual([400, expect.stringMatching(/^Somebody else changed this/)])
    expect((await rules()).rules.map(({ ruleId, centerName }) => [ruleId, centerName])[0]).toEqual([
      rule.ruleId,
      'Support',
    ])
    expect((await browser.ask('POST', '/inbound/rules', aRule(['Foreign'], 'Support'))).status).toBe(400)
    expect((await browser.ask('POST', '/inbound/rules', aRule([], 'Support', 'ftp://x'))).status).toBe(400)
  })

  test('a center is added once, and becomes the default unless another person changed the default before', async () => {
    const { browser, rules } = await aWrittenTo()
    const [first] = (await rules()).centers
    const support = (await browser.ask('POST', '/inbound/centers', { name: ' Support ' })).body
    expect(support).toMatchObject({ name: 'Support', isDefault: false })
    expect((await browser.ask('POST', '/inbound/centers', { name: 'Support' })).status).toBe(400)
    const move = (centerId: number, seen: number) => browser.ask('PUT', '/inbound/centers/default', { centerId, seen })
    expect((await move(support.centerId, first!.centerId)).body).toMatchObject({ name: 'Support', isDefault: true })
    expect((await move(first!.centerId, first!.centerId)).status).toBe(400)
    expect((await move(99_999_999, support.centerId)).status).toBe(404)
    expect((await rules()).centers.map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ['Default', false],
      ['Support', true],
    ])
  })
})

describe('rights', () => {
  const asks = (companyId: number, ruleId: number) => {
    const seen = { senderNames: [], centerId: 1, callbackUrl: '' }
    const of = `?companyId=${companyId}`
    return [
      ['traffic.see', 'GET', `/inbound${of}`],
      ['settings.see', 'GET', `/inbound/rules${of}`],
      ['settings.see', 'GET', `/inbound/trial${of}&channel=SMS&name=Shop`],
      ['settings.change', 'POST', `/inbound/rules${of}`, aRule([], 'Support')],
      ['settings.change', 'PATCH', `/inbound/rules/${ruleId}${of}`, { seen }],
      ['settings.change', 'DELETE', `/inbound/rules/${ruleId}${of}`],
      ['settings.change', 'POST', `/inbound/centers${of}`, { name: 'New' }],
      ['settings.change', 'PUT', `/inbound/centers/default${of}`, { centerId: 1, seen: 1 }],
      ['traffic.see', 'GET', `/inbound/report${of}`],
    ] as const
  }

  test("another company is not found, nor is another company's rule", async () => {
    const theirs = await aCompany(api.sql, await aPartner(api.sql))
    const [rule] = await api.sql`
      insert into inbound_rules (company_id, channel_type, center_id, callback_url)
      values (${theirs}, 'WHATSAPP', ${(await defaultCenter(api.sql, theirs)).centerId}, 'https://x.example')
      returning rule_id as id`
    const { companyId, browser } = await aWrittenTo()
    for (const person of [browser, await signedIn(ofPartner(partner.partnerId), 'owner')])
      for (const [, method, path, body] of asks(theirs, rule!.id))
        expect([method, path, (await person.ask(method, path, body)).status]).toEqual([method, path, 404])
    for (const [, method, path, body] of asks(companyId, rule!.id).filter(([, , path]) =>
      path.includes(`/${rule!.id}`),
    ))
      expect((await browser.ask(method, path, body)).status).toBe(404)
  })

  test.each([
    ['COMPANY', 'viewer', ['traffic.see', 'settings.see']],
    ['COMPANY', 'finance', ['traffic.see']],
    ['PARTNER', 'viewer', ['traffic.see', 'settings.see']],
    ['STAFF', 'support', ['traffic.see', 'settings.see']],
  ] as const)('%s in the role %s', async (kind, role, rights) => {
    const company = await aCompany(api.sql, partner)
    const places = { COMPANY: ofCompany(company), PARTNER: ofPartner(partner.partnerId), STAFF: staff }
    const browser = await signedIn(places[kind], role)
    for (const [right, method, path, body] of asks(company, 1).slice(0, -1)) {
      const may = (rights as readonly string[]).includes(right)
      expect([path, (await browser.ask(method, path, body)).status]).toEqual([path, may ? 200 : 403])
    }
  })
})
