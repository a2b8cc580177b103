import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClientChannel } from '../../base/channel-types.ts'
import { timeOfUuid7, uuid7 } from '../../base/uuid7.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aCompany, anApprovedSender, aPartner, aSender, type TestPartner } from '../../testing/factories.ts'
import { blacklistedAmong, removeFromBlacklist } from '../blacklist/blacklist.ts'
import { listCallbacks } from '../callbacks/callbacks.ts'
import { setSwitches } from '../companies/companies.ts'
import { defaultCenter, ensureCenter, listCenters, setDefaultCenter } from '../traffic-centers/traffic-centers.ts'
import { forgetOldStops, type InboundMessage, receiveInbound, subscribersThatWrote } from './inbound.ts'
import { addRule, listRules, removeRule } from './rules.ts'

const db = useDatabase()
const anna = '79160000061'
const boris = '79030000062'
const receivedAt = new Date('2026-05-01T12:00:00.250Z')
let partner: TestPartner
let companyId: number
let gatewayId: number
let name: string
let names = 0

beforeAll(async () => {
  partner = await aPartner(db.sql)
})

/** Every test has its own sender name, so that only the company of the test matches. */
beforeEach(async () => {
  await db.sql`delete from gateways`
  gatewayId = (await aGateway(db.sql, { channelType: 'WHATSAPP' })).gatewayId
  name = `Shop ${++names}`
  companyId = await aWrittenTo()
})

async function aWrittenTo(channelType: ClientChannel = 'WHATSAPP') {
  const company = await aCompany(db.sql, partner)
  await setSwitches(db.sql, company, { inbound: true })
  await anApprovedSender(db.sql, company, { channelType, senderName: name })
  return company
}

const write = (given: Partial<InboundMessage> = {}, stopWords?: string[]) =>
  receiveInbound(db.sql, gatewayId, { from: anna, to: name, text: 'Hello', receivedAt, ...given }, stopWords)

const rows = async (company = companyId) =>
  await db.sql`
    select message_uuid as uuid, gateway_id, provider_id, channel_type,
      sender_name, destination, text, content, center_id, received_at
    from inbound_messages where company_id = ${company} order by message_uuid`

const urls = async (company = companyId) =>
  (await listCallbacks(db.sql, company, { limit: 100 })).map(({ url }) => url).reverse()

const aRule = (given: { senderNames?: string[]; center?: string; callbackUrl?: string } = {}, company = companyId) =>
  addRule(db.sql, company, {
    channelType: 'WHATSAPP',
    senderNames: [],
    callbackUrl: 'https://client.example/inbound',
    ...given,
  })

describe('an inbound message', () => {
  test('is stored for the company that has the sender name', async () => {
    const [before] = await db.sql<{ now: Date }[]>`select clock_timestamp() as now`
    const outcome = await write({ providerId: 'wamid.1' })
    const [row, ...others] = await rows()
    expect(row).toEqual({
      uuid: expect.any(String),
      gatewayId,
      providerId: 'wamid.1',
      channelType: 'WHATSAPP',
      senderName: name,
      destination: anna,
      text: 'Hello',
      content: null,
      centerId: (await defaultCenter(db.sql, companyId)).centerId,
      receivedAt,
    })
    expect(others).toEqual([])
    expect(outcome).toEqual({ kind: 'kept', companyId, messageUuid: row!.uuid })
    expect(timeOfUuid7(row!.uuid).getTime()).toBeGreaterThanOrEqual(before!.now.getTime())
    expect(await urls()).toEqual([])
  })

  test('may come from a number in any form', async () => {
    await write({ from: '+7 (916) 000-00-61' })
    expect(await rows()).toMatchObject([{ destination: anna }])
    expect(await write({ from: 'Anna' })).toEqual({ kind: 'unknown subscriber' })
    expect(await rows()).toHaveLength(1)
  })

  test('is stored without characters that the database cannot store', async () => {
    await aRule()
    expect(await write({ text: 'a\0b\ud83dc', providerId: 'p\0' })).toMatchObject({ kind: 'kept' })
    expect(await rows()).toMatchObject([{ text: 'ab\ufffdc', providerId: 'p' }])
    expect(await write({ to: `${name}\0`, text: '' })).toMatchObject({ kind: 'kept' })
    expect(await urls()).toHaveLength(2)
  })

  test('that the same gateway repeats is stored once and causes one callback', async () => {
    await aRule()
    expect(await write({ providerId: 'wamid.1' })).toMatchObject({ kind: 'kept' })
    expect(await write({ providerId: 'wamid.1' })).toEqual({ kind: 'repeated', companyId })
    expect(await rows()).toHaveLength(1)
    expect(await urls()).toHaveLength(1)
  })

  test('that arrives eight times at once is stored once and causes one callback', async () => {
    await aRule()
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => write({ providerId: 'wamid.1' })))
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['kept', ...Array(7).fill('repeated')])
    expect(await rows()).toHaveLength(1)
    expect(await urls()).toHaveLength(1)
  })

  test('is stored each time if the gateway gives no ids, or if another gateway gives the same id', async () => {
    const other = await aGateway(db.sql, { name: 'other', channelType: 'WHATSAPP' })
    await write()
    await write()
    const message = { from: anna, to: name, text: 'Hello', receivedAt, providerId: 'wamid.1' }
    await receiveInbound(db.sql, gatewayId, message)
    await receiveInbound(db.sql, other.gatewayId, message)
    expect(await rows()).toHaveLength(4)
  })

  test('leaves nothing behind if its transaction fails', async () => {
    await aRule()
    const message = { from: anna, to: name, text: 'STOP', receivedAt }
    const failing = db.sql.begin(async sql => {
      expect(await receiveInbound(sql, gatewayId, message)).toMatchObject({ kind: 'stopped', companyIds: [companyId] })
      throw new Error('The rest failed')
    })
    await expect(failing).rejects.toThrow('The rest failed')
    expect([await rows(), await urls(), [...(await blacklistedAmong(db.sql, companyId, [anna]))]]).toEqual([[], [], []])
  })
})

describe('an inbound message is ignored', () => {
  test('if no company has the name', async () => {
    expect(await write({ to: 'Unknown' })).toEqual({ kind: 'ignored' })
    expect(await rows()).toEqual([])
  })

  test('while inbound messages of the company are switched off, and only then', async () => {
    await aRule()
    await setSwitches(db.sql, companyId, { inbound: false })
    expect(await write()).toEqual({ kind: 'ignored' })
    expect([await rows(), await urls()]).toEqual([[], []])
    await setSwitches(db.sql, companyId, { inbound: true })
    expect(await write()).toMatchObject({ kind: 'kept', companyId })
  })

  test('if the name is still under review', async () => {
    const other = `Later ${name}`
    await aSender(db.sql, companyId, { channelType: 'WHATSAPP', senderName: other })
    expect(await write({ to: other })).toEqual({ kind: 'ignored' })
  })

  test.each<ClientChannel>(['SMS', 'VIBER', 'TELEGRAM'])('if it comes by %s, also with a rule', async channelType => {
    await aRule()
    await anApprovedSender(db.sql, companyId, { channelType, senderName: name })
    gatewayId = (await aGateway(db.sql, { name: 'other', channelType })).gatewayId
    expect(await write({ providerId: '1' })).toEqual({ kind: 'ignored' })
    expect([await rows(), await urls()]).toEqual([[], []])
  })

  test('if its gateway was deleted', async () => {
    await db.sql`delete from gateways`
    expect(await write()).toEqual({ kind: 'ignored' })
  })
})

describe('a stop word', () => {
  test('that the gateway repeats changes nothing, also if the number was removed from the blacklist meanwhile', async () => {
    for (const inbound of [true, false]) {
      await setSwitches(db.sql, companyId, { inbound })
      const stop = { text: 'STOP', providerId: `wamid.stop-${inbound}` }
      expect(await write(stop)).toMatchObject({ kind: 'stopped', companyIds: [companyId] })
      await removeFromBlacklist(db.sql, companyId, anna)
      expect(await write(stop)).toEqual(inbound ? { kind: 'repeated', companyId } : { kind: 'ignored' })
      expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set())
      expect(await write({ ...stop, providerId: `wamid.again-${inbound}` })).toMatchObject({ kind: 'stopped' })
    }
    await forgetOldStops(db.sql, new Date(Date.now() + 31 * 24 * 3_600_000))
    expect(await db.sql`select from inbound_stops`).toHaveLength(0)
  })

  test('to a name of the gateway is for the owners of the name only, not for other companies that uploaded the subscriber', async () => {
    const [listed, stranger] = [await aCompany(db.sql, partner), await aCompany(db.sql, partner)]
    const bot = { name: 'bot', channelType: 'TELEGRAM', connector: 'telegram', settings: { botName: name } } as const
    await db.sql`
      insert into subscribers (company_id, channel_type, sender_name, destination, address)
      values (${stranger}, 'TELEGRAM', ${name}, ${anna}, '777')` // from before the name had owners
    const { gatewayId: botId } = await aGateway(db.sql, { ...bot, companies: [listed] })
    const stop = { from: anna, to: name, text: 'STOP', receivedAt }
    expect(await receiveInbound(db.sql, botId, stop)).toEqual({ kind: 'stopped', companyIds: [listed] })
    expect(await receiveInbound(db.sql, botId, { ...stop, from: 'chat:777' })).toEqual({ kind: 'unknown subscriber' })
    expect(await blacklistedAmong(db.sql, stranger, [anna])).toEqual(new Set())
  })

  const isBlacklisted = async (company = companyId) => (await blacklistedAmong(db.sql, company, [anna])).has(anna)

  test('puts the number on the blacklist, is stored and causes a callback like any other text', async () => {
    await aRule()
    const outcome = await write({ text: ' стоп\n', providerId: 'wamid.1' })
    const [row] = await rows()
    expect(outcome).toEqual({ kind: 'stopped', companyIds: [companyId], messageUuid: row!.uuid })
    expect(row!.text).toBe(' стоп\n')
    expect(await isBlacklisted()).toBe(true)
    expect(await urls()).toHaveLength(1)

    expect(await write({ text: ' стоп\n', providerId: 'wamid.1' })).toEqual({ kind: 'repeated', companyId })
    expect([await rows(), await urls()]).toMatchObject([[row], { length: 1 }])
  })

  test('within a longer text has no effect', async () => {
    expect(await write({ text: 'Do not stop' })).toMatchObject({ kind: 'kept' })
    expect(await isBlacklisted()).toBe(false)
  })

  test('is one of the configured words', async () => {
    expect(await write({ text: 'stop' }, ['BASTA'])).toMatchObject({ kind: 'kept' })
    expect(await isBlacklisted()).toBe(false)
    expect(await write({ text: 'Basta' }, ['BASTA'])).toMatchObject({ kind: 'stopped' })
    expect(await isBlacklisted()).toBe(true)
  })

  test('has its effect if inbound messages of the company are switched off, but is not stored', async () => {
    await setSwitches(db.sql, companyId, { inbound: false })
    expect(await write({ text: 'STOP' })).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await isBlacklisted()).toBe(true)
    expect(await rows()).toEqual([])
  })

  test('has its effect in every channel', async () => {
    await anApprovedSender(db.sql, companyId, { channelType: 'SMS', senderName: `S${names}` })
    gatewayId = (await aGateway(db.sql, { name: 'sms' })).gatewayId
    expect(await write({ to: `S${names}`, text: 'STOP' })).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await isBlacklisted()).toBe(true)
    expect(await rows()).toEqual([])
  })

  test('blacklists the number for every company with the name, and is stored only for the company of the message', async () => {
    const other = await aWrittenTo()
    const outcome = await write({ text: 'STOP' })
    expect(outcome.kind === 'stopped' && outcome.companyIds.toSorted()).toEqual([companyId, other].toSorted())
    expect([await isBlacklisted(), await isBlacklisted(other)]).toEqual([true, true])
    expect([(await rows()).length, (await rows(other)).length]).toEqual([1, 0])
  })
})

describe('a message to a name of several companies', () => {
  let other: number

  beforeEach(async () => {
    other = await aWrittenTo()
  })

  /** Stores a message that was sent to a subscriber under a name. */
  async function sent(company: number, destination: string, minutesAgo: number, senderName = name) {
    const [sender] = await db.sql<{ id: number }[]>`
      select sender_id as id from senders where company_id = ${company} and sender_name = ${senderName}`
    const at = new Date(Date.now() - minutesAgo * 60_000)
    await db.sql`
      insert into messages (company_id, message_uuid, sender_id, price, status, sent_at, parts, brand_id, destination, text)
      values (${company}, ${uuid7(new Date())}, ${sender!.id}, 0, 'SENT', ${at}, 1, 0, ${destination}, 'Hello')`
  }

  test('is for the company that wrote to the subscriber last', async () => {
    await sent(companyId, anna, 10)
    await sent(other, anna, 5)
    await sent(companyId, boris, 1)
    expect(await write()).toMatchObject({ kind: 'kept', companyId: other })
    expect(await write({ from: boris })).toMatchObject({ kind: 'kept', companyId })
    await sent(companyId, anna, 1)
    expect(await write()).toMatchObject({ kind: 'kept', companyId })
  })

  test('is for the oldest company if none has written to the subscriber under the name', async () => {
    await anApprovedSender(db.sql, other, { channelType: 'WHATSAPP', senderName: `Other ${name}` })
    await sent(other, anna, 5, `Other ${name}`)
    expect(await write()).toMatchObject({ kind: 'kept', companyId })
  })

  test('is for a company that accepts inbound messages, even if another company wrote last', async () => {
    await sent(companyId, anna, 5)
    await setSwitches(db.sql, companyId, { inbound: false })
    expect(await write()).toMatchObject({ kind: 'kept', companyId: other })
  })

  test('stays with its company when the gateway repeats it, even if another company has written meanwhile', async () => {
    expect(await write({ providerId: 'wamid.1' })).toMatchObject({ kind: 'kept', companyId })
    await sent(other, anna, 1)
    expect(await write({ providerId: 'wamid.1' })).toEqual({ kind: 'repeated', companyId })
    expect(await write({ providerId: 'wamid.2' })).toMatchObject({ kind: 'kept', companyId: other })
  })
})

describe('rules', () => {
  const centerOfFirst = async () => {
    const [row] = await rows()
    return (await listCenters(db.sql, companyId)).find(({ centerId }) => centerId === row!.centerId)!.name
  }

  const named = { senderNames: ['NAME'], center: 'Named' }
  const general = { center: 'General' }
  test.each([
    ['no rule', [], undefined],
    ['a rule for all names', [general], 'General'],
    ['a rule for this name', [named], 'Named'],
    ['a rule for another name', [{ senderNames: ['OTHER'], center: 'Other' }], undefined],
    ['a rule for several names', [{ senderNames: ['OTHER', 'NAME'], center: 'Both' }], 'Both'],
    ['a rule for all names, then a rule for this name', [general, named], 'Named'],
    ['a rule for this name, then a rule for all names', [named, general], 'Named'],
    [
      'a rule for another name, then a rule for all names',
      [{ senderNames: ['OTHER'], center: 'Other' }, general],
      'General',
    ],
    ['two rules for all names', [general, { center: 'Second' }], 'General'],
    ['two rules for this name', [named, { ...named, center: 'Second' }], 'Named'],
  ])('%s: %j', async (_, rules, expected) => {
    const other = `Other ${name}`
    await anApprovedSender(db.sql, companyId, { channelType: 'WHATSAPP', senderName: other })
    for (const { center, ...rule } of rules) {
      const senderNames = ('senderNames' in rule ? rule.senderNames : []).map(one => (one === 'NAME' ? name : other))
      await aRule({ senderNames, center, callbackUrl: `https://client.example/${center}` })
    }
    await write()
    expect(await centerOfFirst()).toBe(expected ?? 'Default')
    expect(await urls()).toEqual(expected ? [`https://client.example/${expected}`] : [])
  })

  test('of another company have no effect', async () => {
    const other = await aCompany(db.sql, partner)
    await aRule({ center: 'Elsewhere' }, other)
    await write()
    expect(await urls()).toEqual([])
    expect(await urls(other)).toEqual([])
  })

  test('are listed, of one company or of all, and only their own company removes them', async () => {
    const other = await aWrittenTo()
    const mine = await aRule({ senderNames: [name, name], center: 'Shop' })
    const theirs = await aRule({}, other)
    expect(await listRules(db.sql, companyId)).toEqual([
      {
        companyId,
        ruleId: mine.ruleId,
        channelType: 'WHATSAPP',
        senderNames: [name],
        centerId: (await ensureCenter(db.sql, companyId, 'Shop')).centerId,
        centerName: 'Shop',
        callbackUrl: 'https://client.example/inbound',
      },
    ])
    expect(await listRules(db.sql, companyId)).toEqual([mine])
    expect((await listRules(db.sql)).slice(-2)).toEqual([mine, theirs])

    await expect(removeRule(db.sql, companyId, theirs.ruleId)).rejects.toMatchObject({ kind: 'not_found' })
    await removeRule(db.sql, companyId, mine.ruleId)
    expect((await listRules(db.sql)).slice(-1)).toEqual([theirs])
    await write()
    expect(await urls()).toEqual([])
  })

  test('cannot have a sender name that the company does not have, a bad callback address or a bad center', async () => {
    await anApprovedSender(db.sql, companyId, { senderName: `S${names}` })
    const refused = (given: Parameters<typeof aRule>[0], message: string) =>
      expect(aRule(given)).rejects.toMatchObject({ kind: 'invalid', message })
    await refused({ senderNames: [name, 'Unknown'] }, 'The company has no sender name "Unknown" for WHATSAPP')
    await refused({ senderNames: [`S${names}`] }, `The company has no sender name "S${names}" for WHATSAPP`)
    await refused({ callbackUrl: 'file:///x' }, 'callbackUrl: must be an http or https address')
    await refused(
      { callbackUrl: `https://a.example/${'x'.repeat(2048)}` },
      'callbackUrl: must be at most 2048 characters',
    )
    await refused({ center: '' }, 'center: must be 1 to 100 characters, without spaces around them')
    await expect(aRule({}, 987_654)).rejects.toMatchObject({ kind: 'not_found' })
    expect([await listRules(db.sql, companyId), await listCenters(db.sql, companyId)]).toEqual([[], []])
  })
})

describe('the default center', () => {
  const defaults = async () =>
    (await listCenters(db.sql, companyId)).filter(({ isDefault }) => isDefault).map(center => center.name)

  test('can be changed: later messages without a matching rule get the new center', async () => {
    const first = await defaultCenter(db.sql, companyId)
    const shop = await ensureCenter(db.sql, companyId, 'Shop')
    await write()
    expect(await setDefaultCenter(db.sql, companyId, 'Shop')).toEqual({ ...shop, isDefault: true })
    await write()
    expect((await rows()).map(({ centerId }) => centerId)).toEqual([first.centerId, shop.centerId])
    expect(await defaults()).toEqual(['Shop'])
    expect(await setDefaultCenter(db.sql, companyId, 'Shop')).toEqual({ ...shop, isDefault: true })
  })
})

describe('recent inbound messages', () => {
  const since = new Date(Date.now() - 24 * 3600_000)
  const heard = (senderName = name, company = companyId, destinations = [anna, boris]) =>
    subscribersThatWrote(db.sql, company, senderName, destinations, since)

  test('show which subscribers wrote since a time, to the millisecond', async () => {
    await write({ receivedAt: since })
    await write({ from: boris, receivedAt: new Date(since.getTime() - 1) })
    expect(await heard()).toEqual(new Set([anna]))
    await write({ from: boris, receivedAt: new Date() })
    expect(await heard()).toEqual(new Set([anna, boris]))
    expect(await heard(name, companyId, [boris, boris])).toEqual(new Set([boris]))
    expect(await heard(name, companyId, [])).toEqual(new Set())
  })

  test('count for the company and the sender name of the message only', async () => {
    const second = `Second ${name}`
    await anApprovedSender(db.sql, companyId, { channelType: 'WHATSAPP', senderName: second })
    const other = await aWrittenTo()
    await write({ receivedAt: new Date() })
    expect(await heard(name)).toEqual(new Set([anna]))
    expect(await heard(second)).toEqual(new Set())
    expect(await heard(name, other)).toEqual(new Set())
  })
})
