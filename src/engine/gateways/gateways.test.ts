import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChannelType } from '../../base/channel-types.ts'
import { carriedNames } from '../../base/content/carried-names.ts'
import { entryOf } from '../../channels/catalogue.ts'
import { aFeed } from '../../channels/channel.contract.ts'
import type { Channel } from '../../channels/channel.ts'
import { type Smsc, type SmscSettings, startSmsc } from '../../channels/smpp/smsc/smsc.ts'
import type { Gateway, NewGateway } from '../../domain/gateways/gateway.ts'
import { addGateway, changeGateway, removeGateway } from '../../domain/gateways/gateways.ts'
import {
  gatewayStates,
  removeGatewayStates,
  waitForEngines,
  waitForRelease,
  writeGatewayStates,
} from '../../domain/gateways/monitoring/states.ts'
import { gatewayKey } from '../../domain/gateways/secrets.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, completed, expectBooksInOrder, fatesOf, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../testing/world.ts'
import { Gateways } from './gateways.ts'

const db = useDatabase()
const { anEngine, stopEngine } = useEngines(db)
const secret = 'a secret of the tests, 32 or longer'
const password = 'sesame'
const smscs: Smsc[] = []
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

afterEach(async () => {
  for (const smsc of smscs.splice(0)) await smsc.stop()
})

async function anSmsc(settings: SmscSettings = {}) {
  const smsc = await startSmsc({ accounts: { tidings: password }, receiptMs: 20, ...settings })
  smscs.push(smsc)
  return smsc
}

const rulesOf = (connector: string, sealedWith = secret) => {
  const { secrets, check } = entryOf(connector)
  return { key: gatewayKey(sealedWith), secretNames: secrets, check }
}

/** Adds a gateway as `tidings gateway add` does, with an encrypted password. */
async function anSmppGateway(
  { port }: Pick<Smsc, 'port'>,
  given: Partial<NewGateway> = {},
  sealedWith = secret,
): Promise<Gateway> {
  const added = await addGateway(
    db.sql,
    {
      name: 'operator',
      channelType: 'SMS',
      connector: 'smpp',
      brands: [],
      partsPerSecond: null,
      ...given,
      settings: { host: '127.0.0.1', port, systemId: 'tidings', password, mostBackoffMs: 200, ...given.settings },
    },
    rulesOf('smpp', sealedWith),
  )
  return added!
}

const change = (gateway: Gateway, settings: Record<string, unknown>) =>
  changeGateway(db.sql, gateway.gatewayId, { settings }, rulesOf(gateway.connector))
const pause = (gateway: Gateway, paused: boolean) =>
  changeGateway(db.sql, gateway.gatewayId, { paused }, rulesOf(gateway.connector))

async function send(count: number) {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(count))
  await start(db.sql, world, dispatchId)
  return dispatchId
}

const stateOf = async ({ gatewayId }: Gateway) => (await gatewayStates(db.sql)).get(gatewayId)
const isUp = (gateway: Gateway) => eventually(async () => expect((await stateOf(gateway))?.up).toBe(true))

test('a gateway that is added while the engine runs is used at once, with its decrypted password', async () => {
  const smsc = await anSmsc()
  await anEngine({ secret })
  const gateway = await anSmppGateway(smsc)
  expect(gateway.settings).not.toHaveProperty('password')
  const dispatchId = await send(20)
  await completed(db.sql, world, dispatchId)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 20 })
  expect(smsc.taken.size).toBe(20)
  await expectBooksInOrder(db.sql, world)
})

test('a change of settings during a dispatch loses no message and sends none twice', async () => {
  const smsc = await anSmsc({ answerMs: 100 })
  const gateway = await anSmppGateway(smsc, { settings: { window: 5 } })
  await anEngine({ secret })
  const dispatchId = await send(400)
  await eventually(() => expect(smsc.taken.size).toBeGreaterThan(20))
  expect(smsc.taken.size).toBeLessThan(400)
  await change(gateway, { window: 50 })
  await completed(db.sql, world, dispatchId)

  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 400 })
  expect(smsc.counts).toMatchObject({ binds: 2, unbinds: 1 })
  expect(smsc.taken.size).toBe(400)
  expect(new Set(smsc.taken.values())).toEqual(new Set([1]))
  await expectBooksInOrder(db.sql, world)
})

test('when a gateway gets another SMSC during a dispatch, the rest is sent there, each message once', async () => {
  const [first, second] = [await anSmsc({ answerMs: 100 }), await anSmsc()]
  const gateway = await anSmppGateway(first, { settings: { window: 5 } })
  await anEngine({ secret })
  const dispatchId = await send(400)
  await eventually(() => expect(first.taken.size).toBeGreaterThan(20))
  await change(gateway, { port: second.port, window: 50 })
  // Receipts that the first SMSC had not sent before the change never come. Their messages stay SENT.
  await eventually(async () => {
    const { DELIVERED, SENT = 0, ...others } = await fatesOf(db.sql, dispatchId)
    expect({ known: DELIVERED! + SENT, others }).toEqual({ known: 400, others: {} })
    expect(SENT).toBeLessThanOrEqual(5)
  })
  const times = [...first.taken.values(), ...second.taken.values()]
  expect(times).toHaveLength(400)
  expect(new Set(times)).toEqual(new Set([1]))
  await expectBooksInOrder(db.sql, world)
})

test('a paused gateway sends nothing and another one takes over; after the pause both share the work', async () => {
  const [first, second] = [await anSmsc(), await anSmsc()]
  const [paused, other] = [await anSmppGateway(first), await anSmppGateway(second, { name: 'other' })]
  await anEngine({ secret })
  await Promise.all([isUp(paused), isUp(other)])
  const taken = () => [first, second].map(smsc => [...smsc.taken.values()].reduce((sum, times) => sum + times, 0))
  for (let round = 1; round <= 5; round++) {
    expect(await waitForEngines(db.sql, await pause(paused, true))).toBe(0)
    await completed(db.sql, world, await send(8))
    expect(taken()).toEqual([4 * (round - 1), 8 * round])

    const both = await Promise.all([pause(paused, false), pause(other, true)])
    expect(await Promise.all(both.map(each => waitForEngines(db.sql, each)))).toEqual([0, 0])
    await completed(db.sql, world, await send(4))
    expect(taken()).toEqual([4 * round, 8 * round])
    await waitForEngines(db.sql, await pause(other, false))
  }
})

test('an engine that has not applied a change yet is counted', async () => {
  const gateway = await aGateway(db.sql)
  await anEngine()
  await isUp(gateway)
  const deaf = randomUUID()
  const state = { ...(await stateOf(gateway))!, version: gateway.version }
  const goByOld = () => writeGatewayStates(db.sql, deaf, [state])
  const paused = await pause(gateway, true)
  await eventually(async () => {
    await goByOld()
    expect(await waitForEngines(db.sql, paused, 100)).toBe(1)
  })
  await removeGateway(db.sql, gateway.gatewayId)
  await eventually(async () => {
    await goByOld()
    expect(await waitForRelease(db.sql, gateway.gatewayId, 100)).toBe(1)
  })
  await removeGatewayStates(db.sql, deaf)
  expect(await waitForRelease(db.sql, gateway.gatewayId)).toBe(0)
})

test('messages wait while their only gateway is paused', async () => {
  const smsc = await anSmsc()
  const gateway = await anSmppGateway(smsc)
  await pause(gateway, true)
  await anEngine({ secret })
  const dispatchId = await send(4)
  await eventually(async () => {
    const lanes = await db.sql`
      select from lanes where dispatch_id = ${dispatchId} and cursor < tail and not_before = '-infinity'`
    expect(lanes, 'lanes that no engine has looked at').toHaveLength(0)
  })
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 4 })
  expect(smsc.taken.size).toBe(0)
  await pause(gateway, false)
  await completed(db.sql, world, dispatchId)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 4 })
})

test('a gateway that is removed is stopped, and its connections are closed', async () => {
  const smsc = await anSmsc()
  const gateway = await anSmppGateway(smsc)
  await anEngine({ secret })
  await isUp(gateway)
  await removeGateway(db.sql, gateway.gatewayId)
  await eventually(() => expect(smsc.counts.unbinds).toBe(1))
  await eventually(async () => expect(await stateOf(gateway)).toBeUndefined())
  const other = await aGateway(db.sql, { name: 'other' })
  await isUp(other)
  await completed(db.sql, world, await send(4))
  expect(smsc.taken.size).toBe(0)
})

test('a wrong password is shown as the last error, and other gateways take over', async () => {
  const [strict, open] = [await anSmsc(), await anSmsc()]
  const wrong = await anSmppGateway(strict, { settings: { password: 'open-barley' } })
  const right = await anSmppGateway(open, { name: 'right' })
  await anEngine({ secret })
  const state = await eventually(async () => {
    const told = await stateOf(wrong)
    expect(told?.lastError).toBeTruthy()
    return told!
  })
  expect(state).toMatchObject({
    up: false,
    bound: 0,
    wanted: 1,
    lastError: expect.stringMatching(/ESME_RINVPASWD|password/i),
  })
  expect(state.lastErrorAt).toBeInstanceOf(Date)
  await isUp(right)
  const dispatchId = await send(12)
  await completed(db.sql, world, dispatchId)
  expect(open.taken.size).toBe(12)

  await change(wrong, { password })
  await eventually(async () => expect(await stateOf(wrong)).toMatchObject({ up: true, bound: 1, lastError: null }))
})

test('a gateway whose secrets cannot be decrypted shows that as its error, and the others work', async () => {
  const smsc = await anSmsc()
  const closed = await anSmppGateway(smsc, {}, 'another secret, also 32 or longer')
  const simulated = await aGateway(db.sql)
  await anEngine({ secret })
  await isUp(simulated)
  await eventually(async () =>
    expect(await stateOf(closed)).toMatchObject({ up: false, lastError: expect.stringContaining('TIDINGS_SECRET') }),
  )
  await completed(db.sql, world, await send(4))

  await expect(change(closed, { window: 7 })).rejects.toThrow(/TIDINGS_SECRET has changed since they were stored/)
  await change(closed, { password })
  await isUp(closed)
})

describe('the sender names that a gateway carries:', () => {
  const token = `123:${'a'.repeat(35)}`
  const kept: Gateways[] = []

  afterEach(async () => {
    for (const gateways of kept.splice(0)) await gateways.stop()
  })

  const upChannel: Channel = {
    submit: async () => {},
    window: 1,
    health: () => ({ up: true }),
    stop: async () => {},
  }

  const stateOf = (gatewayId: number, version: number, up: boolean) => ({
    gatewayId,
    version,
    up,
    open: 0,
    window: 1,
    bound: 0,
    wanted: 0,
    partsLastMinute: 0,
    lastError: null,
    lastErrorAt: null,
    answerMs: null,
  })

  async function routes(channel = upChannel) {
    const gateways = await Gateways.open({
      sql: db.sql,
      log: pino({ level: 'silent' }),
      worker: randomUUID(),
      key: gatewayKey(secret),
      connect: () => channel,
      feedOf: () => aFeed(),
    })
    kept.push(gateways)
    const serving = (channelType: ChannelType, senderName?: string, brandId = 1) =>
      gateways.serving(channelType, brandId, senderName)
    return {
      refresh: () => gateways.refresh(),
      serving,
      names: (...question: Parameters<typeof serving>) => serving(...question).up.map(({ gateway }) => gateway.name),
    }
  }

  async function aRoute(
    name: string,
    connector: string,
    settings: Record<string, unknown>,
    given: Partial<NewGateway> = {},
  ): Promise<Gateway> {
    const [channelType] = entryOf(connector).channels
    const gateway = { name, channelType: channelType!, connector, brands: [], partsPerSecond: null, ...given, settings }
    return (await addGateway(db.sql, gateway, rulesOf(connector)))!
  }

  const aBot = (name: string, settings: Record<string, unknown> = {}) =>
    aRoute(name, 'telegram', { token, ...settings })
  const aCodeGateway = (settings: Record<string, unknown> = {}) =>
    aRoute('codes', 'telegram-gateway', { token: 'abc', ...settings }, { channelType: 'TELEGRAM' })

  test('each of two bots carries its own name, with or without the @ before it', async () => {
    await aBot('first', { botName: '@shop_bot' })
    await aBot('second', { botName: 'bank_bot' })
    const { names, serving } = await routes()
    expect(names('TELEGRAM', 'shop_bot')).toEqual(['first'])
    expect(names('TELEGRAM', '@bank_bot')).toEqual(['second'])
    expect(serving('TELEGRAM', 'other_bot').up).toEqual([])
  })

  test('each of two WhatsApp numbers carries its own name', async () => {
    const account = { accessToken: 'EAAG', appSecret: 'x', verifyToken: 'y' }
    await aRoute('first', 'whatsapp', { ...account, phoneNumberId: '1', senderName: 'ROMASHKA' })
    await aRoute('second', 'whatsapp', { ...account, phoneNumberId: '2', senderNames: 'LANDYSH, 79160000001' })
    const { names } = await routes()
    expect(names('WHATSAPP', 'ROMASHKA')).toEqual(['first'])
    expect(names('WHATSAPP', 'LANDYSH')).toEqual(['second'])
    expect(names('WHATSAPP', '79160000001')).toEqual(['second'])
  })

  test('a Telegram code gateway carries its own names, bots never get these, and it gets no other names', async () => {
    await aBot('bot')
    await aCodeGateway({ senderNames: ['CODES'] })
    const { names } = await routes()
    expect(names('TELEGRAM', 'CODES')).toEqual(['codes'])
    expect(names('TELEGRAM', 'shop_bot')).toEqual(['bot'])
  })

  test('a Telegram code gateway without a name carries nothing', async () => {
    await aCodeGateway()
    const { serving, refresh } = await routes()
    expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: true, up: [], isElsewhere: false })
    await eventually(async () => {
      await refresh()
      expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: false, up: [], isElsewhere: false })
    })
  })

  test('a gateway that only this engine cannot reach is not down: another engine sends its messages', async () => {
    const { gatewayId, version } = await aBot('bot')
    const { serving, refresh } = await routes({ ...upChannel, health: () => ({ up: false }) })
    expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: true, up: [], isElsewhere: false })
    const other = randomUUID()
    await writeGatewayStates(db.sql, other, [stateOf(gatewayId, version, true)])
    await refresh()
    expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: true, up: [], isElsewhere: true })
    await writeGatewayStates(db.sql, other, [stateOf(gatewayId, version, false)])
    await refresh()
    expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: true, up: [], isElsewhere: false })
    await removeGatewayStates(db.sql, other)
  })

  test('in the channel of verification codes a Telegram code gateway carries every name', async () => {
    await aRoute('codes', 'telegram-gateway', { token: 'abc' }, { channelType: 'TELEGRAM_GATEWAY' })
    const { names } = await routes()
    expect(names('TELEGRAM_GATEWAY', 'telegram')).toEqual(['codes'])
  })

  test('a gateway without names carries every name that no other gateway of the same operator carries', async () => {
    const smpp = { host: '127.0.0.1', systemId: 'tidings' }
    await aRoute('any', 'smpp', smpp)
    await aRoute('own', 'smpp', { ...smpp, senderNames: 'ROMASHKA,LANDYSH' }, { brands: [1] })
    const { names } = await routes()
    expect(names('SMS', 'ROMASHKA')).toEqual(['own'])
    expect(names('SMS', 'TULPAN')).toEqual(['any'])
    expect(names('SMS', 'ROMASHKA', 2)).toEqual(['any'])
    expect(names('SMS')).toEqual(['any', 'own'])
  })

  test('messages wait for the gateway of their name while it is paused: no other gateway sends them', async () => {
    await aBot('any')
    const own = await aBot('own', { botName: 'shop_bot' })
    await pause(own, true)
    const { serving, names, refresh } = await routes()
    expect(serving('TELEGRAM', 'shop_bot')).toEqual({ known: true, up: [], isElsewhere: false })
    await pause(own, false)
    await eventually(async () => {
      await refresh()
      expect(names('TELEGRAM', 'shop_bot')).toEqual(['own'])
    })
  })

  test('a name without a gateway does not affect other names', async () => {
    await aBot('own', { botName: 'shop_bot' })
    const { serving, refresh } = await routes()
    serving('TELEGRAM', 'bank_bot')
    await eventually(async () => {
      await refresh()
      expect(serving('TELEGRAM', 'bank_bot').known).toBe(false)
    })
    expect(serving('TELEGRAM', 'news_bot').known).toBe(true) // the first question: a gateway may have been added a moment ago
    expect(serving('TELEGRAM', 'shop_bot').known).toBe(true)
  })

  test.each([
    ['an object', { one: 'ROMASHKA' }],
    ['a list in a list', [['ROMASHKA']]],
    ['a name that is too long', 'x'.repeat(101)],
    ['a line break', ['ROMA\nSHKA']],
    ['a list with too many names', Array(1001).fill('ROMASHKA')],
  ])('%s is refused, and the error names the setting', async (_, senderNames) => {
    await expect(aBot('bot', { senderNames })).rejects.toThrow(/^setting "senderNames"/)
  })

  test.each([[undefined], [null], [''], [' , '], [[]]])('the setting %j counts as not set', senderNames => {
    const bot = { connector: 'telegram', channelType: 'TELEGRAM' } as const
    expect(carriedNames({ connector: 'smpp', channelType: 'SMS', settings: { senderNames } })).toBeUndefined()
    expect(carriedNames({ ...bot, settings: { senderNames, botName: 'shop_bot' } })).toEqual(new Set(['shop_bot']))
    expect(carriedNames({ ...bot, connector: 'telegram-gateway', settings: { senderNames } })).toEqual(new Set())
  })
})

describe('the state of gateways', () => {
  test('is the sum over all engines, which share the binds of the contract; engines that stop are left out', async () => {
    const smsc = await anSmsc()
    const gateway = await anSmppGateway(smsc, { settings: { binds: 2, window: 30 } })
    const engines = [await anEngine({ secret }), await anEngine({ secret })]
    await eventually(async () =>
      expect(await stateOf(gateway)).toMatchObject({ engines: 2, up: true, bound: 2, wanted: 2, window: 60 }),
    )
    await completed(db.sql, world, await send(12))
    await eventually(async () => expect(await stateOf(gateway)).toMatchObject({ partsLastMinute: 12, open: 0 }))
    await stopEngine(engines[0]!)
    expect(await stateOf(gateway)).toMatchObject({ engines: 1 })
    await stopEngine(engines[1]!)
    expect(await stateOf(gateway)).toBeUndefined()
  })

  test('does not include an engine that was killed', async () => {
    const gateway = await aGateway(db.sql)
    await db.sql`
      insert into gateway_states select ${gateway.gatewayId}, gen_random_uuid(), true, 5, 5, 1, 1, 9, 'old', now(),
        clock_timestamp() - interval '11 seconds'`
    expect(await stateOf(gateway)).toBeUndefined()
  })
})

test('no log line contains the password, also when the gateway fails', async () => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const smsc = await anSmsc()
  const gateway = await anSmppGateway(smsc, { settings: { password: 'open-barley' } })
  await anSmppGateway(
    smsc,
    { name: 'closed', settings: { password: 'open-barley' } },
    'another secret, also 32 or longer',
  )
  await anEngine({ secret, log })
  await eventually(async () => expect((await stateOf(gateway))?.lastError).toBeTruthy())
  await change(gateway, { password })
  await isUp(gateway)
  smsc.disconnect()
  await completed(db.sql, world, await send(4))
  await eventually(() => expect(lines.join('')).toContain('bind.bound'))
  expect(lines.join('')).toContain('gateway.not_connected')
  expect(lines.filter(line => line.includes('not_connected'))).toHaveLength(1)
  expect(lines.join('')).not.toMatch(/open-barley|sesame/)
})
