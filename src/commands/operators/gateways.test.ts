import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Smpp } from '../../channels/smpp/smpp.ts'
import { type Smsc, startSmsc } from '../../channels/smpp/smsc/smsc.ts'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import { saveReceiptIds } from '../../domain/gateways/binds/receipt-ids.ts'
import { findGateway } from '../../domain/gateways/gateways.ts'
import { writeGatewayMinutes } from '../../domain/gateways/monitoring/minutes.ts'
import { gatewayKey, openSettings } from '../../domain/gateways/secrets.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { buildApp } from '../../http/app.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, completed, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { startFakeProvider } from '../../testing/providers/http-provider.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../testing/world.ts'
import { commands } from '../all-commands.ts'
import { runCommandLine } from '../command-line.ts'
import { sentenceOf } from '../failure.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
const secret = 'a secret of the tests, 32 or longer'
const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const atEnd: (() => unknown)[] = []
const env: NodeJS.ProcessEnv = {}
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-gateways-'))
})

afterAll(() => rm(folder, { recursive: true }))

beforeEach(() => db.sql`delete from gateways`)

afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
  process.exitCode = undefined
})

/** What a command prints, in this process. */
async function tidings(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await runCommandLine(commands, words, () => ({ ...env, DATABASE_URL: db.url, TIDINGS_SECRET: secret }))
    return write.mock.calls.map(([text]) => text).join('')
  } finally {
    write.mockRestore()
  }
}

const answerOf = async (...words: string[]) => JSON.parse(await tidings(...words, '--json'))
const sets = (settings: Record<string, unknown>) =>
  Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
const add = (channel: string, connector: string, settings: Record<string, unknown>, ...more: string[]) =>
  answerOf('gateway', 'add', '--channel', channel, '--connector', connector, ...sets(settings), ...more)

async function settingsOf(gatewayId: number) {
  const gateway = (await findGateway(db.sql, gatewayId))!
  return { plain: gateway.settings, all: openSettings(gateway, gatewayKey(secret)), rate: gateway.partsPerSecond }
}

async function anSmsc(settings: Parameters<typeof startSmsc>[0] = {}): Promise<Smsc> {
  const smsc = await startSmsc({ accounts: { tidings: 'sesame' }, receiptMs: 10, ...settings })
  atEnd.push(() => smsc.stop())
  return smsc
}

async function metricsOf(log: Logger): Promise<string> {
  const app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => undefined as never,
    log,
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: true,
    secret,
  })
  atEnd.push(() => app.close())
  return (await app.inject('/metrics')).body
}

const smpp = (port: number) => ({ host: '127.0.0.1', port, systemId: 'tidings', password: 'sesame' })

describe('settings', () => {
  test('secrets are stored encrypted in any form, and other settings are parsed', async () => {
    const { gatewayId } = await add('SMS', 'smpp', { ...smpp(2775), password: '12345678901234567890', tls: 'true' })
    const { plain, all } = await settingsOf(gatewayId)
    expect(plain).toEqual({ host: '127.0.0.1', port: 2775, systemId: 'tidings', tls: true })
    expect(all).toEqual({ ...plain, password: '12345678901234567890' })
  })

  test('companies that may use its sender names are listed, and unknown companies are refused', async () => {
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    const names = { senderNames: 'shop' }
    const added = await add('VK', 'simulator', names, '--companies', String(companyId))
    expect(added).toMatchObject({ companies: [companyId] })
    const set = (companies: string) =>
      answerOf('gateway', 'set', '--gateway', String(added.gatewayId), '--companies', companies)
    expect(await set('none')).toMatchObject({ companies: [] })
    expect(await set(`${companyId}, ${companyId}`)).toMatchObject({ companies: [companyId] })
    await expect(set('999999')).rejects.toThrow('There is no company 999999')
    await expect(set('shop')).rejects.toThrow('--companies must be none, or ids such as 1,2, not "shop".')
  })

  test('a number that would lose digits stays a text', async () => {
    const { gatewayId } = await add('SMS', 'smpp', { ...smpp(2775), systemId: '12345678901234567890' })
    expect((await settingsOf(gatewayId)).plain.systemId).toBe('12345678901234567890')
  })

  test('a change keeps the secrets that it does not name, and null removes', async () => {
    const { gatewayId } = await add('SMS', 'smpp', { ...smpp(2775), window: 50 })
    await tidings('gateway', 'set', '--gateway', String(gatewayId), ...sets({ window: 'null', binds: 2 }))
    expect((await settingsOf(gatewayId)).all).toEqual({ ...smpp(2775), binds: 2 })
    await tidings('gateway', 'set', '--gateway', String(gatewayId), ...sets({ password: 'barley' }))
    expect((await settingsOf(gatewayId)).all).toEqual({ ...smpp(2775), binds: 2, password: 'barley' })
    await tidings('gateway', 'set', '--gateway', String(gatewayId), ...sets({ password: 'null' }))
    expect((await settingsOf(gatewayId)).all).not.toHaveProperty('password')
  })

  test('a value is read from a file, without the line break at its end; two @ stand for one', async () => {
    const file = join(folder, 'secret')
    await writeFile(file, `${whsec}\n`)
    const url = 'https://provider.example/messages'
    const { gatewayId } = await add('VIBER', 'http', { url, secret: `@${file}`, authorization: '@@home' })
    expect((await settingsOf(gatewayId)).all).toEqual({ url, secret: whsec, authorization: '@home' })
    await expect(add('VIBER', 'http', { url, secret: `@${file}-none` })).rejects.toThrow(
      /^The file for the setting "secret" cannot be read \(ENOENT\)/,
    )
  })

  test.each([
    ['0', null],
    ['none', null],
    ['70', 70],
  ])('the rate may be set like a setting: %s', async (given, kept) => {
    const { gatewayId, rate } = await add('SMS', 'smpp', { ...smpp(2775), rate: given })
    expect(rate).toBe(kept)
    expect(await settingsOf(gatewayId)).toMatchObject({
      rate: kept,
      plain: expect.not.objectContaining({ rate: given }),
    })
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ ...smpp(2775), window: 0 }, /setting "window" must be 1 to 10000/],
    [{ systemId: 'tidings' }, /setting "host" is missing/],
    [{ ...smpp(2775), pasword: 'sesame' }, /setting "pasword" is not known to this connector/],
    [{ ...smpp(2775), rate: '-1' }, /setting "rate" must be 0 to 1000000/],
  ])('wrong ones are told by name, and nothing is stored: %j', async (settings, sentence) => {
    const refused = await add('SMS', 'smpp', settings).catch(error => error)
    expect(refused.message).toMatch(sentence)
    expect(refused.message).not.toContain('sesame')
    expect(await answerOf('gateway', 'list')).toEqual([])
  })

  test('a change that would make them wrong is refused, and nothing changes', async () => {
    const { gatewayId } = await add('SMS', 'smpp', smpp(2775))
    const set = (settings: Record<string, unknown>) =>
      tidings('gateway', 'set', '--gateway', String(gatewayId), '--name', 'other', ...sets(settings))
    await expect(set({ host: 'null' })).rejects.toThrow(/setting "host" is missing/)
    await expect(set({ mode: 'loud' })).rejects.toThrow(/setting "mode" must be one of transceiver, pair/)
    expect((await settingsOf(gatewayId)).all).toEqual(smpp(2775))
    expect(await answerOf('gateway', 'list')).toMatchObject([{ name: 'smpp-sms' }])
  })

  test('a connector serves its own channels', async () => {
    await expect(add('VIBER', 'smpp', smpp(2775))).rejects.toThrow('The connector smpp serves SMS, not VIBER.')
  })
})

describe('gateway list', () => {
  test('tells how each is doing', async () => {
    const smsc = await anSmsc()
    await add('SMS', 'smpp', { ...smpp(smsc.port), window: 50 }, '--brands', 'MTS,BEELINE')
    expect(await answerOf('gateway', 'list')).toEqual([
      {
        gatewayId: expect.any(Number),
        name: 'smpp-sms',
        channel: 'SMS',
        connector: 'smpp',
        brands: ['MTS', 'BEELINE'],
        companies: [],
        rate: null,
        paused: false,
        drainUntil: null,
        state: {
          up: false,
          bound: 0,
          wanted: 0,
          open: 0,
          window: 0,
          rate: 0,
          lastError: null,
          lastErrorAt: null,
          outstanding: 0,
        },
      },
    ])
    expect(await tidings('gateway', 'list')).toContain('no engine is running')
    await anEngine({ secret })
    await eventually(async () =>
      expect(await answerOf('gateway', 'list')).toMatchObject([
        { state: { up: true, bound: 1, wanted: 1, window: 50 } },
      ]),
    )
    expect(await tidings('gateway', 'list')).toMatch(/at work, 1 of 1 binds, 0 parts\/s/)
    await tidings('gateway', 'pause', '--gateway', 'smpp-sms')
    expect(await tidings('gateway', 'list')).toMatch(/ paused\n$/)
  })

  test('of a gateway that is drained it tells until when, and how many receipts are outstanding', async () => {
    const { gatewayId } = await add('SMS', 'simulator', {})
    await writeGatewayMinutes(db.sql, randomUUID(), [
      { gatewayId, minute: new Date(), parts: 3, taken: 3, ended: 1, failed: 0, errors: [], changes: 1 },
    ])
    const { paused, drainUntil } = await answerOf('gateway', 'drain', '--gateway', 'simulator-sms', '--hours', '2')
    expect({ paused, hours: Math.round((Date.parse(drainUntil) - Date.now()) / 3_600_000) }).toEqual({
      paused: true,
      hours: 2,
    })
    expect(await tidings('gateway', 'list')).toContain(`draining until ${drainUntil}, about 2 receipts outstanding`)
    await db.sql`update gateway_minutes set ended = taken`
    expect(await tidings('gateway', 'list')).toMatch(/ drained\n$/)
    expect(await answerOf('gateway', 'resume', '--gateway', 'simulator-sms')).toMatchObject({
      paused: false,
      drainUntil: null,
    })
  })

  test('it and the metrics count connections, open submissions, and messages accepted within a minute', async () => {
    const smsc = await anSmsc()
    await add('SMS', 'smpp', { ...smpp(smsc.port), binds: 2, window: 50, drainMs: 100 })
    await anEngine({ secret })
    const world = await aWorld(db.sql)
    const numbering = await loadNumbering(db.sql)
    const send = async (messages: number) => {
      const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages), { text: 'Hello' })
      await start(db.sql, world, dispatchId)
      return dispatchId
    }
    await completed(db.sql, world, await send(30))
    smsc.behave({ silentRate: 1, missingReceiptRate: 1 })
    await send(3)

    const state = { bound: 2, wanted: 2, open: 3, window: 100, rate: 0.5 }
    await eventually(async () => expect((await answerOf('gateway', 'list'))[0].state).toMatchObject(state))
    expect(await tidings('gateway', 'list')).toMatch(/at work, 2 of 2 binds, 0\.5 parts\/s/)
    const metrics = await metricsOf(pino({ level: 'silent' }))
    for (const [gauge, value] of Object.entries({ up: 1, bound: 2, open: 3, window: 100, rate: 0.5, paused: 0 }))
      expect(metrics).toContain(`tidings_gateway_${gauge}{name="smpp-sms",channel="SMS",connector="smpp"} ${value}\n`)
  })

  test('neither it nor the metrics nor a log line has a secret in it, also when the gateway is down', async () => {
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
    const smsc = await anSmsc()
    await add('SMS', 'smpp', { ...smpp(smsc.port), password: 'barley' })
    await add('VIBER', 'http', { url: 'http://127.0.0.1:1/messages', secret: whsec, authorization: 'Bearer rye' })
    await anEngine({ secret, log })
    await eventually(async () => {
      const listed = await answerOf('gateway', 'list')
      expect(listed[0].state.lastError).toBeTruthy()
      expect(listed[1].state.up).toBe(true)
    })
    const metrics = await metricsOf(log)
    expect(metrics).toContain('tidings_gateway_up{name="smpp-sms",channel="SMS",connector="smpp"} 0')
    expect(metrics).toContain('tidings_gateway_up{name="http-viber",channel="VIBER",connector="http"} 1')
    expect(metrics).toContain('tidings_gateway_window{name="http-viber",channel="VIBER",connector="http"} 20')
    expect(metrics).toContain('tidings_gateway_paused{name="http-viber",channel="VIBER",connector="http"} 0')
    expect(lines.length).toBeGreaterThan(0)

    const shown = [await tidings('gateway', 'list', '--json'), await tidings('gateway', 'list'), metrics, ...lines]
    for (const value of ['barley', 'rye', whsec, secret]) expect(shown.join('\n')).not.toContain(value)
  })
})

describe('gateway test', () => {
  const trial = (gateway: string, to: string, ...more: string[]) =>
    answerOf('gateway', 'test', '--gateway', gateway, '--to', to, '--sender', 'Shop', '--text', 'Hello', ...more)

  const stored = () => db.sql`
    select (select count(*) from receipt_inbox) as receipts, (select count(*) from messages) as messages`

  test('sends one message over SMPP and tells its receipt; nothing is stored', async () => {
    const smsc = await anSmsc({ testNumbers: true })
    await add('SMS', 'smpp', smpp(smsc.port))
    const before = await stored()
    const outcome = await trial('smpp-sms', '+7 916 000-00-01')
    expect(outcome).toMatchObject({
      outcome: 'accepted',
      providerIds: [expect.any(String)],
      receipts: [{ status: 'DELIVERED' }],
    })
    expect(smsc.taken).toEqual(new Map([['79160000001', 1]]))
    expect(await stored()).toEqual(before)
    expect(process.exitCode).toBeUndefined()
  })

  test('a refusal is told with the reason, and ends with exit code 1', async () => {
    const smsc = await anSmsc({ testNumbers: true })
    await add('SMS', 'smpp', smpp(smsc.port))
    const outcome = await trial('smpp-sms', '79160000004')
    expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('ESME_'), receipts: [] })
    expect(process.exitCode).toBe(1)
  })

  test('what an operator tells of other messages meanwhile is not lost', async () => {
    const smsc = await anSmsc({ testNumbers: true })
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    await anApprovedSender(db.sql, companyId, { senderName: 'Shop' })
    await add('SMS', 'smpp', smpp(smsc.port))
    // 0005 has no receipt: the command stays for as long as it is told to.
    const running = trial('smpp-sms', '79160000005', '--wait', '3')
    await eventually(() => expect(smsc.taken.size).toBe(1))
    smsc.deliver({ systemId: 'tidings', from: '79031112233', to: 'Shop', text: 'STOP' })
    await eventually(async () =>
      expect(await blacklistedAmong(db.sql, companyId, ['79031112233'])).toEqual(new Set(['79031112233'])),
    )
    expect(await running).toMatchObject({ outcome: 'accepted', receipts: [] })
  })

  test('a receipt of a message that an engine sent is kept as the engines would keep it', async () => {
    const smsc = await anSmsc({ testNumbers: true, answerIds: 'hex', receiptIds: 'decimal', receiptMs: 1500 })
    const { gatewayId } = await add('SMS', 'smpp', smpp(smsc.port))
    await saveReceiptIds(db.sql, gatewayId, { relation: 'hex-decimal', byAddress: true })
    const ids = await sendAndLeave(smsc.port, 20)
    await trial('smpp-sms', '79160000005', '--wait', '3')
    const kept = await db.sql`select provider_id as id from receipt_inbox where gateway_id = ${gatewayId}`
    expect(kept.length).toBeGreaterThan(0)
    expect(ids).toEqual(expect.arrayContaining(kept.map(({ id }) => id)))
  })

  /** A client that disconnects before the receipts arrive. Returns the operator's ids of the messages. */
  async function sendAndLeave(port: number, count: number): Promise<string[]> {
    const channel = new Smpp(smpp(port), { receipts: async () => {}, inbound: async () => {}, gone: async () => {} })
    await eventually(() => expect(channel.health().up).toBe(true))
    const messages = Array.from({ length: count }, (_, i) => ({
      companyId: 1,
      uuid: randomUUID(),
      channelType: 'SMS' as const,
      senderName: 'Shop',
      destination: String(79_161_110_000 + 10 * i),
      text: 'Hello',
      parts: 1,
      attempts: 0,
    }))
    const ids: string[] = []
    await channel.submit(
      messages,
      (_, result) => ids.push(...(result.kind === 'accepted' ? (result.providerIds ?? []) : [])),
      () => true,
    )
    await channel.stop()
    expect(ids).toHaveLength(count)
    return ids
  }

  test('a gateway that cannot be reached is told with the reason, without the password', async () => {
    const smsc = await anSmsc()
    await add('SMS', 'smpp', { ...smpp(smsc.port), password: 'barley' })
    const failure = await trial('smpp-sms', '79160000001').catch(error => error)
    expect(failure.message).toMatch(/^Gateway smpp-sms could not be reached: .*The engines may hold every connection/)
    expect(failure.message).not.toContain('barley')
  })

  test('of a provider with webhooks it says that receipts come to the service', async () => {
    const provider = await startFakeProvider({ secret: whsec })
    atEnd.push(() => provider.stop())
    await add('VIBER', 'http', { url: provider.url, secret: whsec })
    const words = [
      'gateway',
      'test',
      '--gateway',
      'http-viber',
      '--to',
      '79160000001',
      '--sender',
      'Shop',
      '--text',
      'Hi',
    ]
    expect(await tidings(...words)).toMatch(
      /^Gateway http-viber took the message as p-1\.\nReceipts come to the service, at \/webhooks\/\d+\.\n$/,
    )
    expect(provider.taken).toMatchObject([{ destination: '79160000001', sender: 'Shop', text: 'Hi' }])
    expect(provider.faults).toEqual([])
  })

  test('of a simulated operator, its outbox and what subscribers wrote to it stay as they are', async () => {
    await add('SMS', 'simulator', { receiptMs: 5 })
    await tidings('simulator', 'inbound', '--channel', 'SMS', '--from', '79160000009', '--to', 'Shop', '--text', 'Hi')
    expect(await trial('simulator-sms', '79160000001')).toMatchObject({
      outcome: 'accepted',
      receipts: [{ status: 'DELIVERED' }],
    })
    expect(await answerOf('simulator', 'outbox')).toEqual([])
    expect(await db.sql`select from simulator_inbound`).toHaveLength(1)
  })

  test.each([
    [['--to', 'me'], /^--to must be a phone number, not "me"/],
    [['--to', '79160000001', '--wait', 'long'], /^--wait must be from 0 to 600 seconds, not "long"/],
  ])('%j is a mistake', async (words, sentence) => {
    await add('SMS', 'simulator', {})
    const given = ['gateway', 'test', '--gateway', 'simulator-sms', '--sender', 'Shop', '--text', 'Hi', ...words]
    await expect(tidings(...given)).rejects.toThrow(sentence)
  })
})

describe('webhooks', () => {
  const http = { url: 'https://provider.example/messages', secret: whsec }

  test('their address is printed when a gateway is added, and with the list', async () => {
    env.TIDINGS_PUBLIC_URL = 'https://tidings.example/'
    atEnd.push(() => delete env.TIDINGS_PUBLIC_URL)
    const { gatewayId, webhook } = await add('VIBER', 'http', http)
    const address = `https://tidings.example/webhooks/${gatewayId}`
    expect(webhook).toBe(address)
    expect(await answerOf('gateway', 'list')).toMatchObject([{ webhook: address }])
    expect(await tidings('gateway', 'list')).toContain(`  ${address}  `)
    const words = ['--channel', 'VK', '--connector', 'http', ...sets(http)]
    expect(await tidings('gateway', 'add', ...words)).toMatch(
      /was added\. Its webhooks come to https:\/\/tidings\.example\/webhooks\/\d+\.\n$/,
    )
  })

  test('without an address of the service, its path; gateways without webhooks have none', async () => {
    const { gatewayId, webhook } = await add('VIBER', 'http', http)
    expect(webhook).toBe(`/webhooks/${gatewayId}`)
    expect(await add('SMS', 'simulator', {})).not.toHaveProperty('webhook')
  })
})

describe('nonsense is told in one sentence, and changes nothing', () => {
  const message = ['--to', '79160000001', '--sender', 'Shop', '--text', 'Hi']
  const none = /^There is no gateway "[^"]+": `tidings gateway list` shows them\.$/

  beforeEach(async () => {
    await add('SMS', 'smpp', smpp(1))
    await add('SMS', 'simulator', {}, '--name', 'other')
    // Of another version, which knew more connectors.
    await aGateway(db.sql, { name: 'pigeon', connector: 'pigeon', settings: {} })
  })

  test.each<[string, string[], RegExp]>([
    ...['99', '0', '-', 'sms', 'SMPP-SMS', '1e1'].map((called): [string, string[], RegExp] => [
      'pause',
      [`--gateway=${called}`],
      none,
    ]),
    ['resume', ['--gateway', '99'], none],
    ['drain', ['--gateway', '99'], none],
    ['drain', ['--gateway', 'other', '--hours', '49'], /^--hours must be from 1 to 48, not "49"\.$/],
    ['remove', ['--gateway', 'smpp'], none],
    ['test', ['--gateway', 'none', ...message], none],
    ['set', ['--gateway', 'none', '--rate', '5'], none],
    ['set', ['--gateway', 'smpp-sms', '--name', 'other'], /^A gateway with the name "other" exists already\.$/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'pasword=hunter2'], /"pasword" is not known to this connector/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'Window=5'], /"Window" is not known to this connector/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'window=hunter2'], /"window" must be 1 to 10000/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'systemId=null'], /"systemId" is missing/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'password:hunter2'], /^--set needs KEY=VALUE\.$/],
    ['set', ['--gateway', 'smpp-sms', '--set', 'rate=fast'], /"rate" must be 0 to 1000000 parts a second, or none/],
    ['set', ['--gateway', 'pigeon', '--set', 'window=5'], /There is no connector "pigeon"/],
    ['test', ['--gateway', 'pigeon', ...message], /^Gateway pigeon cannot be connected: the connector "pigeon" is not/],
    ['add', ['--channel', 'SMS', '--connector', 'simulator', '--name', 'other'], /^A gateway with the name "other" ex/],
    ['add', ['--channel', 'VIBER', '--connector', 'http', '--set', 'secret=hunter2'], /"url" is missing/],
  ])('tidings gateway %s %j', async (verb, words, sentence) => {
    const before = await answerOf('gateway', 'list')
    const failure = await tidings('gateway', verb, ...words).catch(error => error)
    expect(sentenceOf(failure)).toMatch(sentence)
    expect(failure.message).not.toMatch(/hunter2|\n/)
    expect(await answerOf('gateway', 'list')).toEqual(before)
  })

  test('but one of another version can be paused, resumed and removed', async () => {
    for (const [verb, paused] of [
      ['pause', true],
      ['resume', false],
    ] as const)
      expect(await answerOf('gateway', verb, '--gateway', 'pigeon')).toMatchObject({ name: 'pigeon', paused })
    await tidings('gateway', 'remove', '--gateway', 'pigeon')
    expect((await answerOf('gateway', 'list')).map(({ name }: { name: string }) => name)).toEqual(['smpp-sms', 'other'])
  })
})
