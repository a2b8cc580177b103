import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Pool } from '../../../db/sql.ts'
import { writeGatewayMinutes } from '../../../domain/gateways/monitoring/minutes.ts'
import { writeGatewayStates } from '../../../domain/gateways/monitoring/states.ts'
import { waitingByRoute } from '../../../domain/lanes/lanes.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { lateReceiptsOfGateway } from '../../../domain/receipts/late-receipts.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { eventually } from '../../../testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import { aDispatch, someRecipients, start } from '../../../testing/world.ts'
import type { NewGatewayBody } from './gateway-changes.ts'
import type { GatewayAnswer, GatewaysAnswer, ListedGateway } from './gateways.ts'

const { api } = useApp('/docs/partner.json')
const worker = randomUUID()
let admin: CabinetBrowser
let companyId: number

beforeAll(async () => {
  const partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  admin = await signedIn(staff, 'admin')
  const senders = [await anApprovedSender(api.sql, companyId)]
  const world = { partner, companyId, senders }
  const dispatchId = await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(1))
  await start(api.sql, world, dispatchId)
})

beforeEach(async () => {
  await api.sql`delete from gateways`
  await api.sql`delete from gateway_states`
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  return browser
}

const simulator: NewGatewayBody = {
  name: 'operator',
  channelType: 'SMS',
  connector: 'simulator',
  brands: [],
  rate: null,
  companies: [],
  settings: { receiptMs: 20 },
}

const smpp: NewGatewayBody = {
  ...simulator,
  name: 'direct',
  connector: 'smpp',
  settings: { host: '127.0.0.1', port: 1, systemId: 'shop', password: 'sesame' },
}

async function aGateway(given: Partial<NewGatewayBody> = {}, base = simulator): Promise<number> {
  const { status, body } = await admin.ask('POST', '/gateways', { ...base, ...given })
  expect([status, body]).toEqual([201, { gatewayId: expect.any(Number), enginesBehind: 0 }])
  return body.gatewayId
}

/** Waits until the shared answer of one second is old. */
const seen = async (gatewayId: number, expected: Partial<ListedGateway>) =>
  eventually(async () => {
    const { gateways } = (await admin.ask('GET', '/gateways')).body as GatewaysAnswer
    expect(gateways.find(one => one.gatewayId === gatewayId)).toMatchObject(expected)
  })

const shown = async (gatewayId: number): Promise<GatewayAnswer> =>
  (await admin.ask('GET', `/gateways/${gatewayId}`)).body

const aState = (gatewayId: number, given: object = {}) =>
  writeGatewayStates(api.sql, worker, [
    {
      gatewayId,
      up: true,
      open: 2,
      window: 10,
      bound: 1,
      wanted: 2,
      partsLastMinute: 90,
      lastError: null,
      lastErrorAt: null,
      answerMs: 40,
      version: 1000, // it applies every change at once
      ...given,
    },
  ])

/** The same for all calls: a second call in the next minute would write another row. */
const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000)

function aMinute(gatewayId: number, given: object = {}) {
  const counts = { parts: 5, taken: 4, ended: 1, failed: 1, errors: [], changes: 1 }
  return writeGatewayMinutes(api.sql, worker, [{ gatewayId, minute, ...counts, ...given }])
}

describe('a gateway', () => {
  test('is shown with the figures of the engines: state, rate, window, outstanding receipts, errors and waiting companies', async () => {
    const gatewayId = await aGateway({ rate: 50, brands: ['MTS', 'OTHER'], companies: [companyId] })
    await seen(gatewayId, { standing: 'unknown', rate: 0, waiting: 1, stuck: 1 })

    await aState(gatewayId)
    const busy = { kind: 'busy', errorCode: null, operatorError: null, reason: 'too fast', count: 7 } as const
    await aMinute(gatewayId, { errors: [{ ...busy, lastAt: new Date().toISOString() }] })
    const figures = { rate: 1.5, rateLimit: 50, open: 2, window: 10, bound: 1, wanted: 2, answerMs: 40, outstanding: 3 }
    await seen(gatewayId, { standing: 'throttled', ...figures, errorsLastHour: 7, brands: ['MTS', 'OTHER'] })
    const details = await shown(gatewayId)
    expect(details.errors).toMatchObject([busy])
    expect(details.hour).toMatchObject([{ parts: 5, failed: 1, errors: 7 }])
    expect(details.engines).toMatchObject([{ worker, up: true, bound: 1, wanted: 2 }])
    expect(details.companies).toEqual([{ companyId, name: expect.any(String) }])

    await aState(gatewayId, { up: false, lastError: 'the password is wrong', lastErrorAt: new Date() })
    await seen(gatewayId, { standing: 'down', lastError: 'the password is wrong' })
  })

  test('never shows a secret, keeps a secret that the form does not repeat, and shows settings only to people who may change them', async () => {
    const gatewayId = await aGateway({}, smpp)
    const values = { host: '127.0.0.1', port: 1, systemId: 'shop' }
    expect((await shown(gatewayId)).settings).toEqual({ values, secrets: ['password'], isSealed: false })
    expect((await admin.ask('PATCH', `/gateways/${gatewayId}`, { version: 1, settings: { port: 2 } })).status).toBe(200)
    expect((await shown(gatewayId)).settings).toMatchObject({ values: { port: 2 }, secrets: ['password'] })
    const support = await signedIn(staff, 'support')
    const seenBySupport = await support.ask('GET', `/gateways/${gatewayId}`)
    expect(seenBySupport.body.settings).toBeNull()
    const [row] = await api.sql`select settings::text || coalesce(encode(secrets, 'escape'), '') as kept from gateways`
    expect(JSON.stringify(seenBySupport.body) + row!.kept).not.toContain('sesame')
  })

  test('that another person changed meanwhile is not overwritten', async () => {
    const gatewayId = await aGateway()
    const change = (version: number, rate: number) => admin.ask('PATCH', `/gateways/${gatewayId}`, { version, rate })
    expect((await change(1, 10)).status).toBe(200)
    const refused = await change(1, 20)
    expect([refused.status, refused.body.error.msg]).toEqual([400, expect.stringContaining('changed this gateway')])
    expect(await shown(gatewayId)).toMatchObject({ rateLimit: 10, version: 2 })
    expect((await change(2, 20)).status).toBe(200)
  })

  test('is paused, drained and resumed; it is removed after its drain, but not while receipts are outstanding', async () => {
    const gatewayId = await aGateway()
    await aState(gatewayId, { open: 0 })
    await aMinute(gatewayId)
    await admin.ask('POST', `/gateways/${gatewayId}/pause`)
    await seen(gatewayId, { standing: 'paused', pausedAt: expect.any(String) as never, drainUntil: null, waiting: 1 })
    const refused = await admin.ask('DELETE', `/gateways/${gatewayId}`)
    expect([refused.status, refused.body.error.msg]).toEqual([400, expect.stringContaining('About 3 receipts')])

    await admin.ask('POST', `/gateways/${gatewayId}/drain`, { hours: 2 })
    await seen(gatewayId, { standing: 'draining', outstanding: 3 })
    expect((await admin.ask('DELETE', `/gateways/${gatewayId}`)).status).toBe(400)
    await admin.ask('POST', `/gateways/${gatewayId}/resume`)
    await aState(gatewayId, { open: 0 })
    await seen(gatewayId, { standing: 'up', pausedAt: null, drainUntil: null })

    await admin.ask('POST', `/gateways/${gatewayId}/drain`, {})
    await aMinute(gatewayId, { ended: 4 })
    await seen(gatewayId, { standing: 'drained', outstanding: 0 })
    expect((await admin.ask('DELETE', `/gateways/${gatewayId}`)).status).toBe(204)
    expect((await admin.ask('GET', `/gateways/${gatewayId}`)).status).toBe(404)
  })

  test('whose operator sends no receipts can be removed after the time of its drain', async () => {
    const gatewayId = await aGateway()
    await aMinute(gatewayId)
    await admin.ask('POST', `/gateways/${gatewayId}/drain`, {})
    await api.sql`update gateways set drain_until = now() - interval '1 second'`
    await seen(gatewayId, { standing: 'drained', outstanding: 3 })
    expect((await admin.ask('DELETE', `/gateways/${gatewayId}`)).status).toBe(204)
  })

  test('is tested with one message, which is neither stored nor billed, and the answer has the result', async () => {
    const gatewayId = await aGateway()
    const before = await api.sql`select count(*) from messages`
    const trial = (to: string) =>
      admin.ask('POST', `/gateways/${gatewayId}/trials`, { to, sender: 'Shop', text: 'Hello' })
    expect((await trial('79160000001')).body).toMatchObject({
      outcome: 'accepted',
      receipts: [{ status: 'DELIVERED', at: expect.any(String) }],
    })
    expect((await trial('79160000004')).body).toMatchObject({ outcome: 'refused', reason: 'test number', receipts: [] })
    expect((await trial('Anna')).body.error.msg).toBe('to must be a phone number, not "Anna"')
    expect(await api.sql`select count(*) from messages`).toEqual(before)

    const far = await aGateway({}, smpp)
    const unreachable = await admin.ask('POST', `/gateways/${far}/trials`, {
      to: '79160000001',
      sender: 'Shop',
      text: 'Hi',
    })
    expect([unreachable.status, unreachable.body.error.msg]).toEqual([
      400,
      expect.stringContaining('could not be reached'),
    ])
  })
})

test.each([
  [{ connector: 'pigeon' }, 'connector: is not known'],
  [{ connector: 'smpp', channelType: 'VIBER' }, 'channelType: the connector smpp serves SMS'],
  [{ settings: { failRate: 2 } }, 'setting "failRate" must be 0 to 1'],
  [{ companies: [999_999] }, 'companies: there is no company 999999'],
  [{ name: 'taken' }, 'A gateway with the name "taken" exists already'],
  [{ name: '' }, 'name: must not be empty'],
  [{ rate: 0 }, 'rate'],
])('a new gateway with %j is refused with the reason of the domain', async (given, words) => {
  await aGateway({ name: 'taken' })
  const { status, body } = await admin.ask('POST', '/gateways', { ...simulator, ...given })
  expect([status, body.error.msg]).toEqual([400, expect.stringContaining(words)])
  expect(await api.sql`select name from gateways`).toHaveLength(1)
})

test('people see only the fields that their role allows, and unknown gateways are not found', async () => {
  const gatewayId = await aGateway()
  const support = await signedIn(staff, 'support')
  const others = [
    await signedIn(staff, 'moderator'),
    await signedIn(ofCompany(companyId), 'owner'),
    await signedIn(ofPartner((await aPartner(api.sql)).partnerId), 'owner'),
  ]
  const changes: ['POST' | 'PATCH' | 'DELETE', string, object?][] = [
    ['PATCH', '', { version: 1, rate: 1 }],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/drain', {}],
    ['POST', '/trials', { to: '79160000001', sender: 'Shop', text: 'Hi' }],
    ['DELETE', ''],
  ]
  for (const [method, path, body] of changes) {
    for (const browser of [support, ...others])
      expect((await browser.ask(method, `/gateways/${gatewayId}${path}`, body)).status).toBe(403)
    expect((await admin.ask(method, `/gateways/999999${path}`, body)).status).toBe(404)
  }
  for (const browser of others) {
    expect((await browser.ask('GET', '/gateways')).status).toBe(403)
    expect((await browser.ask('GET', `/gateways/${gatewayId}`)).status).toBe(403)
  }
  for (const browser of [support, ...others]) {
    expect((await browser.ask('GET', '/connectors')).status).toBe(403)
    expect((await browser.ask('POST', '/gateways', simulator)).status).toBe(403)
  }
  expect((await support.ask('GET', `/gateways/${gatewayId}`)).status).toBe(200)
  expect((await admin.ask('GET', '/connectors')).body.connectors.map(({ name }: { name: string }) => name)).toContain(
    'smpp',
  )
})

test.each(planModes)('waiting messages are summed only over lanes that have messages, with %s', async mode => {
  await api.sql`
    insert into lanes (company_id, dispatch_id, channel_type, brand_id, priority, tail, cursor, open)
    select ${companyId}, 1000000 + n, 'SMS', 1, 1, 10, 10, n % 2 = 0 from generate_series(1, 10000) n
    on conflict do nothing`
  await api.sql`analyze lanes, leases`
  const reads = await readsOf(api, mode, waitingByRoute, /sum\(messages\)/)
  const lanes = reads.filter(({ table }) => table === 'lanes')
  expect(lanes.every(({ index, rows }) => index !== undefined && rows <= 10)).toBe(true)
  expect(lanes.map(({ index }) => index)).toContainEqual(expect.stringMatching(/^lanes_(ready|in_turn)$/))
})

test('late receipts of the last day are counted up to a limit, and the newest are shown with their messages', async () => {
  const gatewayId = await aGateway()
  expect((await shown(gatewayId)).late).toEqual({ count: 0, isMore: false, newest: [] })
  await api.sql`
    insert into late_receipts (company_id, message_uuid, status, received_at, gateway_id)
    select ${companyId}, gen_random_uuid(), 'DELIVERED', now() - n * interval '1 minute', ${gatewayId} + n % 400
    from generate_series(1, 40000) n`
  const [{ uuid, destination }] = (await api.sql`
    select message_uuid as uuid, destination from messages where company_id = ${companyId} limit 1`) as [
    { uuid: string; destination: string },
  ]
  await api.sql`
    update late_receipts set message_uuid = ${uuid}
    where company_id = ${companyId} and gateway_id = ${gatewayId} and received_at > now() - interval '401 minutes'`
  await api.sql`analyze late_receipts`
  const { late } = await shown(gatewayId)
  expect(late).toMatchObject({ count: 3, isMore: false, newest: { length: 3, 0: { uuid, destination } } })

  await api.sql`update late_receipts set gateway_id = ${gatewayId} where received_at > now() - interval '23 hours'`
  expect((await shown(gatewayId)).late).toMatchObject({ count: 1000, isMore: true })
  const work = (sql: Pool) => lateReceiptsOfGateway(sql, gatewayId + 1)
  for (const about of [/count\(\*\)/, /order by received_at desc/])
    for (const mode of planModes) {
      const reads = await readsOf(api, mode, work, about)
      expect(reads.filter(({ table }) => table === 'late_receipts')).toMatchObject([
        { index: 'late_receipts_of_gateway' },
      ])
    }
})
