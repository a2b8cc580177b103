import { generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { catalogue } from '../../channels/catalogue.ts'
import type { Feed } from '../../channels/channel.ts'
import { connectorNames } from '../../channels/connector-names.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { claimReceiptInbox } from '../../domain/receipts/receipts.ts'
import { addressesOf, saveChats, saveSubscribers } from '../../domain/subscribers/subscribers.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import type { PendingReports } from '../recording/pending-reports.ts'
import type { Recorder } from '../recording/recorder.ts'
import { connectGateway, connectOnce } from './connectors.ts'
import { feedOf } from './feed.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const deaf: Feed = { receipts: async () => {}, inbound: async () => {}, gone: async () => {} }

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  project_id: 'shop',
  client_email: 'push@shop.example',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
}

const settings: Record<string, Record<string, unknown>> = {
  simulator: {},
  smpp: { host: '127.0.0.1', port: 1, systemId: 'tidings', password: 'sesame' },
  whatsapp: { phoneNumberId: '106540352242922', accessToken: 'EAAG', appSecret: 'x', verifyToken: 'y' },
  telegram: { token: `123:${'a'.repeat(35)}` },
  'telegram-gateway': { token: 'abc' },
  http: { url: 'http://127.0.0.1:1/messages', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
  push: { fcmServiceAccount: JSON.stringify(account) },
}

beforeEach(() => db.sql`delete from gateways`)

describe.each(connectorNames)('%s', connector => {
  const gatewayOf = (id: number): Gateway => ({
    gatewayId: id,
    name: connector,
    channelType: catalogue[connector].channels[0]!,
    connector,
    brands: [],
    settings: settings[connector]!,
    sealed: null,
    partsPerSecond: null,
    paused: false,
    pausedAt: null,
    drainUntil: null,
    companies: [],
    version: 1,
  })

  test('connects and stops with settings that pass its check', async () => {
    expect(() => catalogue[connector].check(settings[connector]!)).not.toThrow()
    const { gatewayId } = await aGateway(db.sql)
    const worker = crypto.randomUUID()
    const channel = connectGateway({ sql: db.sql, log, worker }, gatewayOf(gatewayId), deaf)
    expect(channel.health()).toHaveProperty('up')
    await channel.stop()
    expect(channel.health().up).toBe(false)
    const once = connectOnce({ sql: db.sql, log }, gatewayOf(gatewayId), deaf)
    await once.stop()
  })
})

test('the error of an unknown connector contains its name', () => {
  const gateway = { connector: 'pigeon', settings: {} } as Gateway
  expect(() => connectGateway({ sql: db.sql, log, worker: '' }, gateway, deaf)).toThrow(
    'the connector "pigeon" is not known to this version',
  )
})

describe('the feed', () => {
  const noted: unknown[] = []
  const recorder = {
    noteSoonFor: (_: PendingReports, companyId: number, statusReport: object) =>
      void noted.push({ companyId, ...statusReport }),
  } as unknown as Recorder
  const at = new Date('2026-03-01T10:00:00Z')
  const uuid = '0195a0e0-0000-7000-8000-000000000001'

  beforeEach(() => void noted.splice(0))

  test('records a read message as delivered, by our id and by the operator’s id', async () => {
    const { gatewayId } = await aGateway(db.sql)
    const feed = feedOf({ sql: db.sql, log, recorder }, gatewayId)
    await feed.receipts([
      { of: { companyId: 7, uuid }, status: 'READ', happenedAt: at },
      { of: { providerId: 'p-1' }, status: 'READ', happenedAt: at },
    ])
    expect(noted).toEqual([{ companyId: 7, uuid, final: { status: 'DELIVERED', at, gatewayId }, read: { at } }])
    expect(await claimReceiptInbox(db.sql, 10)).toMatchObject([{ providerId: 'p-1', status: 'READ' }])
  })

  test('passes on the error text of the operator', async () => {
    const { gatewayId } = await aGateway(db.sql)
    const feed = feedOf({ sql: db.sql, log, recorder }, gatewayId)
    const failure = { status: 'FAILED', errorCode: 601, operatorError: '00d', happenedAt: at } as const
    await feed.receipts([{ of: { companyId: 7, uuid }, ...failure }])
    expect(noted).toMatchObject([{ final: { status: 'FAILED', errorCode: 601, operatorError: '00d' } }])
  })

  test('deletes an address that does not exist any more', async () => {
    const { gatewayId } = await aGateway(db.sql, { channelType: 'PUSH' })
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    const whose = { channelType: 'PUSH', senderName: 'Shop' } as const
    const destination = '79160001122'
    const subscribers = [
      { destination, address: 'one' },
      { destination, address: 'two' },
    ]
    await saveSubscribers(db.sql, companyId, { ...whose, subscribers })
    await saveChats(db.sql, gatewayId, [{ address: 'one', destination, gone: false }])
    await feedOf({ sql: db.sql, log, recorder }, gatewayId).gone({ companyId, ...whose, address: 'one' })
    expect(await addressesOf(db.sql, gatewayId, companyId, 'PUSH', 'Shop', [destination])).toEqual(
      new Map([[destination, ['two']]]),
    )
  })
})
