import { beforeAll, describe, expect, test } from 'vitest'
import { formatMoney, money } from '../../../base/money.ts'
import { addToBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner } from '../../../testing/cabinet.ts'
import { aCompany, anApprovedSender, aPartner, numberOf, type TestPartner } from '../../../testing/factories.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let foreignCompany: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner, { budget: money('1000') })
  await anApprovedSender(api.sql, companyId, { brand: 'MTS' })
  foreignCompany = await aCompany(api.sql, await aPartner(api.sql))
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Your order is ready' }
const telegram = { channelType: 'TELEGRAM', senderName: 'romashka', content: { contentType: 'text', text: 'Ready' } }
const toMts = (...steps: object[]) => ({ destination: `+${numberOf.MTS}`, steps })

let keys = 0
const withKey = (key = `key ${++keys}`) => ({ headers: { 'idempotency-key': key } })

const messagesOf = (id = companyId) => api.sql`
  select destination, channel_type, sending_method, text, status from messages where company_id = ${id} order by message_uuid`

const reservedOf = async () => {
  const [row] = await api.sql<{ reserved: bigint }[]>`select reserved from accounts where company_id = ${companyId}`
  return row?.reserved ?? 0n
}

describe('a single message', () => {
  test('holds exactly the price that was shown, has the cabinet as its origin, and is sent once for one idempotency key', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    const { body: priced } = await browser.ask('POST', '/send/price', toMts(sms))
    expect(priced).toMatchObject({ currency: 'RUB', steps: [{ operator: 'MTS', parts: 1 }] })
    expect(await messagesOf()).toHaveLength(0)
    const before = await reservedOf()
    const answers = [
      await browser.ask('POST', '/send', toMts(sms), withKey('the same')),
      await browser.ask('POST', '/send', toMts(sms), withKey('the same')),
    ]
    expect(answers[0]!.status).toBe(200)
    expect(answers[1]!.body).toEqual(answers[0]!.body)
    expect(formatMoney((await reservedOf()) - before)).toBe(priced.steps[0].price)
    const [row, ...more] = await messagesOf()
    expect(more).toEqual([])
    expect(Object.values(row!)).toEqual([numberOf.MTS, 'SMS', 'UI', 'Your order is ready', 'CREATED'])
  })

  test('is refused with the reason, and nothing is held', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    await addToBlacklist(api.sql, companyId, '79160000077', undefined)
    const before = await reservedOf()
    for (const [form, reason] of [
      [{ destination: 'no number', steps: [sms] }, /destination/],
      [toMts({ ...sms, senderName: 'UNKNOWN' }), /senderName/],
      [{ destination: '79160000077', steps: [sms] }, /blacklist/],
      [toMts({ ...sms, content: '' }), /content/],
      [{ destination: numberOf.BEELINE, steps: [sms] }, /BEELINE/],
    ] as const) {
      const { status, body } = await browser.ask('POST', '/send', form, withKey())
      expect([status, body.error.msg]).toEqual([400, expect.stringMatching(reason)])
    }
    expect(await reservedOf()).toBe(before)
    const { body } = await browser.ask('POST', '/send/price', { destination: '79160000077', steps: [sms] })
    expect(body.steps).toEqual([{ refusal: expect.stringMatching(/blacklist/), errorCode: 7402 }])
  })

  test('without an idempotency key is refused', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    expect((await browser.ask('POST', '/send', toMts(sms))).status).toBe(400)
  })
})

test('several steps make a cascade: each step has a price, and the first is sent', async () => {
  const browser = await signedIn(ofCompany(companyId), 'owner')
  const form = toMts({ ...telegram, ttl: 120, condition: 'not_read' }, sms)
  const { body: priced } = await browser.ask('POST', '/send/price', form)
  expect(priced.steps.map(({ price }: { price: string }) => Number(price) > 0)).toEqual([true, true])
  const { status, body } = await browser.ask('POST', '/send', form, withKey())
  expect(status).toBe(200)
  const cascades = await api.sql`select 1 from cascades where cascade_uuid = ${body.messageUuid}`
  expect(cascades).toHaveLength(1)
  const wrong = await browser.ask('POST', '/send', toMts(telegram, { ...sms, ttl: 120 }), withKey())
  expect([wrong.status, wrong.body.error.msg]).toEqual([400, 'cascade[1].ttl: the last step has none'])
})

describe('rights', () => {
  test.each(['/send', '/send/price'])('%s is closed to people of another company, and to a viewer', async path => {
    const owner = await signedIn(ofPartner(partner.partnerId), 'owner')
    const foreign = await owner.ask('POST', `${path}?companyId=${foreignCompany}`, toMts(sms), withKey())
    expect(foreign.status).toBe(404)
    const unnamed = await owner.ask('POST', path, toMts(sms), withKey())
    expect([unnamed.status, unnamed.body.error.msg]).toEqual([400, 'companyId: is required'])
    for (const role of ['viewer', 'finance']) {
      const browser = await signedIn(ofCompany(companyId), role)
      expect((await browser.ask('POST', path, toMts(sms), withKey())).status).toBe(403)
    }
    expect(await messagesOf(foreignCompany)).toEqual([])
  })
})
