import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { exportDatabase } from '../../src/db/transfer.ts'
import { addGateway } from '../../src/domain/gateways/gateways.ts'
import { recordStatusReports } from '../../src/domain/recording/recording.ts'
import { CodeBox } from '../../src/domain/verifications/code-box.ts'
import type { VerifierSettings } from '../../src/domain/verifiers/verifier.ts'
import { printedBy } from '../../src/testing/command-line.ts'
import { aMessagingSide, type MessagingSide } from '../../src/testing/conformance/messaging-world.ts'
import { useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { useMessagingApi } from '../../src/testing/messaging-api.ts'
import { startFakeGateway } from '../../src/testing/providers/telegram-gateway-api.ts'
import { aVerifier, codeGateways, codeIn, handedText, letPass, secret } from '../../src/testing/verification.ts'
import { billingZone } from '../../src/testing/world.ts'

const api = useMessagingApi()
const { anEngine } = useEngines(api)
let side: MessagingSide
let numbers = 0

/** The last four digits decide the result of the simulated operators. */
const aNumber = (ending: '1234' | '0003' | '0005') => `7916${String(++numbers).padStart(3, '0')}${ending}`
const DELIVERED = '1234'
const UNDELIVERED = '0003'
const WITHOUT_RECEIPT = '0005'

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

beforeEach(() => api.sql`truncate verification_limits`)

const post = (path: string, body: object) => api.call({ method: 'POST', path, key: side.keys.VERIFIER, body })

async function send(destination: string, settings: Partial<VerifierSettings>, more: object = {}): Promise<string> {
  const gatewayId = await aVerifier(api.sql, side.companyId, settings)
  const channelType = settings.channels?.[0] ?? 'SMS'
  const { status, body } = await post('/verifier/send', { channelType, destination, gatewayId, ...more })
  expect([status, typeof body.uuid]).toEqual([200, 'string'])
  return body.uuid
}

async function withOperators() {
  await codeGateways(api.sql)
  await anEngine({ secret })
}

const bySmsThenVoice = { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 60 } satisfies Partial<VerifierSettings>

const stepOf = async (uuid: string, step: number) => {
  const [row] = await api.sql`
    select message_uuid as uuid, status, error_code, extract(epoch from expires_at - now())::int as seconds_left
    from messages where company_id = ${side.companyId} and cascade_uuid = ${uuid} and cascade_step = ${step}`
  return row
}

/** Makes the timer of the step due. */
async function stepEnds(uuid: string) {
  const due = () => api.sql`select from message_timers where message_uuid = ${uuid} and kind = 'step'`
  await eventually(async () => expect(await due()).toHaveLength(1))
  await api.sql`update message_timers set due_at = now() where message_uuid = ${uuid} and kind = 'step'`
  await eventually(async () => expect(await due()).toHaveLength(0))
}

describe("Telegram's Gateway API", () => {
  const token = 'AAFakeGatewayToken'

  async function withTelegram() {
    const telegram = await startFakeGateway({ token })
    await codeGateways(api.sql, ['SMS'])
    await addGateway(api.sql, {
      name: 'telegram codes',
      channelType: 'TELEGRAM_GATEWAY',
      connector: 'telegram-gateway',
      brands: [],
      settings: { token, baseUrl: telegram.url },
      partsPerSecond: null,
    })
    await anEngine({ secret })
    return telegram
  }

  const byTelegramThenSms = { channels: ['TELEGRAM_GATEWAY', 'SMS'], fallbackSeconds: 60 } as const

  test('a number that Telegram cannot reach gets its code through the next channel at once, and Telegram takes no fee', async () => {
    const telegram = await withTelegram()
    const destination = aNumber(DELIVERED)
    telegram.lose(`+${destination}`)
    const uuid = await send(destination, { ...byTelegramThenSms, channels: [...byTelegramThenSms.channels] })
    const code = codeIn(await handedText(api.sql, destination, 'SMS'))
    expect((await post('/verifier/check', { uuid, code })).body).toEqual({ status: 'CONFIRMED' })
    expect(await stepOf(uuid, 1)).toMatchObject({ status: 'FAILED', errorCode: 149 })
    expect([telegram.taken, telegram.charged]).toEqual([[], []])
    await telegram.stop()
  })

  test('a number that Telegram can reach gets its code for one fee, with the end of the code as its ttl', async () => {
    const telegram = await withTelegram()
    const destination = aNumber(DELIVERED)
    const uuid = await send(destination, { channels: ['TELEGRAM_GATEWAY'], lifetimeSeconds: 120 })
    await eventually(async () => expect(telegram.taken).toHaveLength(1))
    const [{ code, ttl, request_id }] = telegram.taken as [(typeof telegram.taken)[number]]
    expect([request_id, telegram.charged]).toEqual(['request1', [`+${destination}`]])
    expect(ttl).toBeLessThanOrEqual(120)
    expect((await post('/verifier/check', { uuid, code })).body).toEqual({ status: 'CONFIRMED' })
    await telegram.stop()
  })
})

test('the last step of a fallback ends with its code, also when the step began late', async () => {
  await withOperators()
  const uuid = await send(aNumber(WITHOUT_RECEIPT), { ...bySmsThenVoice, lifetimeSeconds: 600 })
  await eventually(async () => expect(await stepOf(uuid, 1)).toMatchObject({ status: 'SENT' }))
  await letPass(api.sql, 400)
  await stepEnds(uuid)
  const { secondsLeft } = (await stepOf(uuid, 2))!
  expect(secondsLeft).toBeLessThanOrEqual(200)
})

describe('the encrypted codes of a cascade', () => {
  const sealedSteps = async (uuid: string) => {
    const [row] = await api.sql`
      select jsonb_path_query_array(steps, '$[*].request.sealed') as sealed, jsonb_array_length(steps)::int as steps
      from cascades where company_id = ${side.companyId} and cascade_uuid = ${uuid}`
    return [row!.steps, row!.sealed.length]
  }

  test('are stored for the steps that may still be sent, and for no others', async () => {
    const uuid = await send(aNumber(DELIVERED), bySmsThenVoice)
    expect(await sealedSteps(uuid)).toEqual([2, 1])
  })

  test('are removed when a step is delivered', async () => {
    await withOperators()
    const uuid = await send(aNumber(DELIVERED), bySmsThenVoice)
    await eventually(async () => expect(await sealedSteps(uuid)).toEqual([2, 0]))
  })

  test('are removed when the last step was sent', async () => {
    await withOperators()
    const destination = aNumber(UNDELIVERED)
    const uuid = await send(destination, bySmsThenVoice)
    const code = codeIn(await handedText(api.sql, destination, 'VOICECODE'))
    expect(await sealedSteps(uuid)).toEqual([2, 0])
    expect((await post('/verifier/check', { uuid, code })).body).toEqual({ status: 'CONFIRMED' })
  })

  test('are removed when the number was confirmed before the next step', async () => {
    await withOperators()
    const destination = aNumber(WITHOUT_RECEIPT)
    const uuid = await send(destination, bySmsThenVoice)
    const code = codeIn(await handedText(api.sql, destination))
    expect((await post('/verifier/check', { uuid, code })).body).toEqual({ status: 'CONFIRMED' })
    await stepEnds(uuid)
    expect(await stepOf(uuid, 2)).toBeUndefined()
    expect(await sealedSteps(uuid)).toEqual([2, 0])
  })

  test('are removed when the message is stopped', async () => {
    const uuid = await send(aNumber(DELIVERED), bySmsThenVoice)
    const body = { uuids: [uuid] }
    await api.call({ method: 'POST', path: '/message/stop', key: side.keys.MESSAGE, body })
    expect(await sealedSteps(uuid)).toEqual([2, 0])
  })
})

describe('an operator that quotes a code', () => {
  const callbackUrl = 'https://shop.example/told'
  const everyEvent = { callbackUrl, callbackEvents: ['sent', 'delivered', 'price'] }

  /**
   * The code as the operator gets it: not encrypted. A random code of eight digits equals no other digits of the test.
   */
  async function waitingCode() {
    const uuid = await send(aNumber(WITHOUT_RECEIPT), { codeLength: 8 }, everyEvent)
    const [row] = await api.sql<{ sealed: Buffer }[]>`select sealed from messages where message_uuid = ${uuid}`
    return { uuid, code: codeIn(new CodeBox(secret).open(row!.sealed).text) }
  }

  const record = (statusReport: Parameters<typeof recordStatusReports>[2][number]) =>
    recordStatusReports(api.sql, side.companyId, [statusReport], { billingZone, now: new Date() })

  test.each(['in its answer', 'in its receipt'])('%s does not expose it', async where => {
    const { uuid, code } = await waitingCode()
    const at = new Date()
    const end = { at, errorCode: 601, operatorError: `rejected "Your code: ${code}" (error 17)` }
    if (where === 'in its answer') await record({ uuid, refused: end })
    else {
      await record({ uuid, sentAt: at })
      await record({ uuid, final: { ...end, status: 'FAILED' } })
    }
    const [row] = await api.sql`select operator_error as error from messages where message_uuid = ${uuid}`
    expect(row).toEqual({ error: 'rejected "Your code: ****" (error 17)' })
    await expectNowhere(uuid, code)
  })

  async function expectNowhere(uuid: string, code: string) {
    const tables = await api.sql<{ name: string }[]>`
      select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
    for (const { name } of tables) {
      const found = await api.sql`select from ${api.sql(name)} t where t::text like ${`%${code}%`} limit 1`
      expect([name, found.length]).toEqual([name, 0])
    }
    const [told] = await api.sql`select count(*)::int as count from callbacks where company_id = ${side.companyId}`
    expect(told!.count).toBeGreaterThan(0)
    const shown = await Promise.all([
      api.call({ method: 'GET', path: `/message/${uuid}`, key: side.keys.MESSAGE }).then(({ text }) => text),
      printedBy(['message', 'show', uuid], { DATABASE_URL: api.url, TIDINGS_SECRET: secret }),
      exported(),
    ])
    for (const text of shown) expect([text.includes(uuid), text.includes(code)]).toEqual([true, false])
  }

  async function exported(): Promise<string> {
    const to = new PassThrough()
    const [bytes] = await Promise.all([buffer(to), exportDatabase(api.sql, secret, to)])
    return gunzipSync(bytes).toString('latin1')
  }
})
