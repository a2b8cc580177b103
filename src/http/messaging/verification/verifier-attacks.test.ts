import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../../base/uuid7.ts'
import { connect, type Pool, type Transaction } from '../../../db/sql.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { CodeChecker } from '../../../domain/verifications/checker.ts'
import { CodeBox } from '../../../domain/verifications/code-box.ts'
import { forgetOldVerifications, recordFallbacks } from '../../../domain/verifications/verifications.ts'
import { defaultLimits, type VerifierChannel } from '../../../domain/verifiers/verifier.ts'
import { requireVerifier } from '../../../domain/verifiers/verifiers.ts'
import { aMessagingSide, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { countLockWaits, PATIENT } from '../../../testing/database.ts'
import { useEngines } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { anApprovedSender } from '../../../testing/factories.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'
import { testOnOneServer } from '../../../testing/one-server.ts'
import {
  ageCodesTo,
  aVerifier,
  codeGateways,
  codeIn,
  handedText,
  letPass,
  secret,
  wrongCode,
} from '../../../testing/verification.ts'
import { type App, buildApp } from '../../app.ts'

const api = useMessagingApi()
const { anEngine } = useEngines(api)
const codes = new CodeBox(secret)
let side: MessagingSide
let gatewayId: string
let numbers = 0

/** A number that no other test uses. The last four digits decide what becomes of its messages. */
const aNumber = (ending = '1234') => `7916${String(++numbers).padStart(3, '0')}${ending}`

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  gatewayId = await aVerifier(api.sql, side.companyId)
})

beforeEach(() => api.sql`truncate verification_limits`)

const post = (path: string, body: object, key = side.keys.VERIFIER) => api.call({ method: 'POST', path, key, body })
const send = (body: object) =>
  post('/verifier/send', { channelType: 'SMS', gatewayId, destination: aNumber(), ...body })

async function sent(body: { destination: string; channelType?: VerifierChannel; gatewayId?: string }) {
  const { status, body: answer } = await send(body)
  expect([status, answer]).toEqual([200, { uuid: answer.uuid }])
  const text = await handedText(api.sql, body.destination, body.channelType)
  return { uuid: answer.uuid as string, text, code: codeIn(text) }
}

const check = async (uuid: string, code: string) => (await post('/verifier/check', { uuid, code })).body.status

async function withOperators() {
  await codeGateways(api.sql)
  await anEngine({ secret })
}

/** Runs the work while another session keeps rows locked; they are released also when the work fails. */
async function whileLocked<T>(lock: (sql: Transaction) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const locker = connect(api.url, { max: 1, ...PATIENT })
  try {
    return await locker.begin(async sql => {
      await lock(sql as Transaction)
      return work()
    })
  } finally {
    await locker.end()
  }
}

const lockOf = (uuid: string) => (sql: Transaction) =>
  sql`select from verifications where company_id = ${side.companyId} and verification_uuid = ${uuid} for update`

/** A verification that waits, with a code known to the test. */
async function aVerification(code = '111111') {
  const { body } = await send({})
  const hash = codes.hash(body.uuid, code)
  await api.sql`
    update verifications set code_hashes = array[decode(${hash}, 'hex')] where verification_uuid = ${body.uuid}`
  return body.uuid as string
}

describe('guesses', () => {
  test('after the confirmation get no more tries than before it', async () => {
    const uuid = await aVerification('111111')
    expect(await check(uuid, '111111')).toBe('CONFIRMED')
    const statuses: string[] = []
    for (let i = 0; i < 5; i++) statuses.push(await check(uuid, '222222'))
    expect(statuses).toEqual(['WRONG_CODE', 'WRONG_CODE', 'WRONG_CODE', 'EXPIRED', 'EXPIRED'])
    expect(await check(uuid, '111111')).toBe('EXPIRED')
  })

  test('the short code of a flash call is wrong until the call is made', async () => {
    await withOperators()
    const destination = aNumber('0005') // accepted, no receipt ever
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['SMS', 'FLASHCALL'], fallbackSeconds: 60 })
    const { uuid, code } = await sent({ destination, gatewayId: gateway })
    expect(code).toHaveLength(6)
    expect(await check(uuid, code.slice(-4))).toBe('WRONG_CODE')
    await stepEnds(uuid)
    expect(codeIn(await handedText(api.sql, destination, 'FLASHCALL'))).toBe(code.slice(-4))
    expect(await check(uuid, code.slice(-4))).toBe('CONFIRMED')
  })

  test('the long code is good beside the short one when a flash call falls back to an SMS', async () => {
    await withOperators()
    const destination = aNumber('0003') // accepted, then undelivered
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['FLASHCALL', 'SMS'], fallbackSeconds: 60 })
    const { uuid } = await sent({ destination, gatewayId: gateway, channelType: 'FLASHCALL' })
    const code = codeIn(await handedText(api.sql, destination, 'SMS'))
    expect(code).toHaveLength(6)
    expect(await check(uuid, code)).toBe('CONFIRMED')
    expect(await check(uuid, code.slice(-4))).toBe('CONFIRMED')
  })
})

/** As if the first step had waited for its delivery long enough. */
async function stepEnds(uuid: string) {
  const due = () => api.sql`select from message_timers where message_uuid = ${uuid} and kind = 'step'`
  await eventually(async () => expect(await due()).toHaveLength(1))
  await api.sql`update message_timers set due_at = now() where message_uuid = ${uuid}`
  await eventually(async () => expect(await due()).toHaveLength(0))
}

describe('a fallback', () => {
  const secondSteps = (uuid: string) => api.sql`
    select status, sealed from messages where cascade_uuid = ${uuid} and cascade_step = 2`

  test.each([
    ['whose lifetime is over', () => letPass(api.sql, 301)],
    ['whose tries are used up', () => api.sql`update verifications set tries_left = 0`],
  ])('is not sent for a code %s: it could not be confirmed', async (_, spoil) => {
    await withOperators()
    const destination = aNumber('0005')
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 60 })
    const { uuid } = await sent({ destination, gatewayId: gateway })
    await spoil()
    await stepEnds(uuid)
    expect(await secondSteps(uuid)).toHaveLength(0)
  })

  test('is sent also when the first message still waits for its operator', async () => {
    await codeGateways(api.sql)
    await api.sql`update gateways set paused = true where channel_type = 'SMS'`
    await anEngine({ secret })
    const destination = aNumber()
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 60 })
    const { body } = await send({ destination, gatewayId: gateway })
    const [expiry] = await api.sql`
      select extract(epoch from due_at - now())::int as seconds from expiries where first_uuid = ${body.uuid}`
    expect(expiry!.seconds).toBeLessThanOrEqual(60)
    await api.sql`
      update messages set expires_at = date_trunc('second', now()) where message_uuid = ${body.uuid} and company_id = ${side.companyId}`
    await api.sql`update expiries set due_at = (select expires_at from messages m where m.message_uuid = first_uuid and m.company_id = ${side.companyId}) where first_uuid = ${body.uuid}`
    expect(await check(body.uuid, codeIn(await handedText(api.sql, destination, 'VOICECODE')))).toBe('CONFIRMED')
    expect(await api.sql`select status, sealed from messages where message_uuid = ${body.uuid}`).toEqual([
      { status: 'FAILED', sealed: null },
    ])
  })

  test('that cannot be sent is kept as failed, without its code', async () => {
    await withOperators()
    const destination = aNumber('0005')
    const { senderId } = await anApprovedSender(api.sql, side.companyId, {
      channelType: 'VIBER',
      senderName: 'Romashka',
      brand: 'MTS',
    })
    const gateway = await aVerifier(api.sql, side.companyId, {
      channels: ['SMS', 'VIBER'],
      senders: { VIBER: 'Romashka' },
      fallbackSeconds: 10,
    })
    const { uuid } = await sent({ destination, gatewayId: gateway })
    await api.sql`update senders set status = 'CLOSED' where sender_id = ${senderId}`
    await stepEnds(uuid)
    expect(await secondSteps(uuid)).toEqual([{ status: 'FAILED', sealed: null }])
  })

  testOnOneServer('and checks of the same numbers never wait for each other in a circle', async () => {
    const [first, second] = (await Promise.all([aVerification(), aVerification()])).toSorted()
    const pools = [connect(api.url, { max: 2, ...PATIENT }), connect(api.url, { max: 2, ...PATIENT })] as const
    const checker = new CodeChecker(pools[0], codes)
    const sends = [second!, first!].map(verificationUuid => ({ verificationUuid, channelType: 'VOICECODE' as const }))
    const { checks, fallback } = await whileLocked(lockOf(first!), async () => {
      const checks = [first!, second!].map(uuid => checker.check(side.companyId, uuid, '222222'))
      await waitersAre(1)
      const fallback = pools[1].begin(async sql => {
        // As the planner does it in a large table: the rows are found one by one, by their keys.
        await sql`select set_config(name, 'off', true) from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) name`
        await recordFallbacks(sql as Transaction, side.companyId, sends)
      })
      await waitersAre(2)
      return { checks, fallback }
    })
    expect((await Promise.all(checks)).map(({ status }) => status)).toEqual(['WRONG_CODE', 'WRONG_CODE'])
    await fallback
    await Promise.all(pools.map(pool => pool.end()))
  })

  const waitersAre = (count: number) => eventually(async () => expect(await countLockWaits(api.sql)).toBe(count))
})

describe('companies', () => {
  test('do not wait for each other: a locked verification holds up only the checks of its company', async () => {
    const mine = await aVerification()
    const foreign = await aMessagingSide(api.sql)
    const { waiting } = await whileLocked(lockOf(mine), async () => {
      const waiting = check(mine, '111111')
      const other = await post('/verifier/check', { uuid: mine, code: '111111' }, foreign.keys.VERIFIER)
      expect(other.body).toEqual({ status: 'NOT_FOUND' })
      return { waiting }
    })
    expect(await waiting).toBe('CONFIRMED')
  })

  test('do not block each other: the checks of one company are limited, and checks of other companies are answered', async () => {
    const mine = await aVerification()
    const foreign = await aMessagingSide(api.sql)
    const checker = new CodeChecker(api.sql, codes)
    const { answers } = await whileLocked(lockOf(mine), async () => {
      const uuids = [mine, ...uuid7Batch(new Date(), 10_500)]
      const answers = Promise.allSettled(uuids.map(uuid => checker.check(side.companyId, uuid, '222222')))
      expect(await checker.check(foreign.companyId, mine, '222222')).toMatchObject({ status: 'NOT_FOUND' })
      return { answers }
    })
    const refused = (await answers).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(499)
    expect(refused[0]).toMatchObject({ reason: { message: expect.stringContaining('try again') } })
  })

  test('sends, checks and receipts of one verifier go on together, over two processes', async () => {
    await withOperators()
    const limits = { ...defaultLimits, perPrefix: 1000, leastConfirmed: 0 }
    const gateway = await aVerifier(api.sql, side.companyId, {
      channels: ['SMS', 'VOICECODE'],
      fallbackSeconds: 10,
      limits,
    })
    const pool = connect(api.url, { max: 3, ...PATIENT })
    const checkers = [new CodeChecker(pool, codes), new CodeChecker(api.sql, codes)]
    const oneOf = async (i: number) => {
      const destination = aNumber(i % 2 ? '0001' : '0003')
      const { uuid, code } = await sent({ destination, gatewayId: gateway })
      const guesses = [wrongCode(code), code, code].map((guess, n) =>
        checkers[n % 2]!.check(side.companyId, uuid, guess),
      )
      const statuses = (await Promise.all(guesses)).map(({ status }) => status)
      expect(statuses.filter(status => status === 'CONFIRMED')).toHaveLength(2)
    }
    await Promise.all(Array.from({ length: 40 }, (_, i) => oneOf(i)))
    await pool.end()
    const [row] = await api.sql`
      select sum(count)::int as confirmed from verification_counters where verifier_id = ${gateway} and what = 'confirmed'`
    expect(row).toEqual({ confirmed: 40 })
  })
})

describe('limits', () => {
  const limited = async (given: object) => (await send(given)).status

  test.each([
    ['spellings of a number', '79169991234', '+7 (916) 999-12-34'],
    ['the Russian eight', '79169991234', '89169991234'],
  ])('are not got around by %s', async (_, one, another) => {
    expect(await limited({ destination: one })).toBe(200)
    expect(await limited({ destination: another })).toBe(429)
  })

  test('count the addresses of one IPv6 network together', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, { limits: { ...defaultLimits, perAddress: 2 } })
    const from = (clientIp: string) => limited({ gatewayId: gateway, clientIp })
    expect(await from('2001:db8:7:7::1')).toBe(200)
    expect(await from('2001:0DB8:7:7:ffff::2')).toBe(200)
    expect(await from('2001:db8:7:7:1:2:3:4')).toBe(429)
    expect(await from('2001:db8:7:8::1')).toBe(200)
  })

  test('the pause of a number that confirms its codes does not grow with them', async () => {
    const destination = aNumber()
    for (let i = 0; i < 4; i++) {
      expect(await limited({ destination })).toBe(200)
      await api.sql`update verifications set confirmed_at = now() where destination = ${destination}`
      await letPass(api.sql, 100_000)
    }
    expect(await limited({ destination })).toBe(200) // this one is not confirmed
    await letPass(api.sql, 61)
    expect(await limited({ destination })).toBe(200)
  })

  test('judge a prefix also when its codes come in groups that leap over the count', async () => {
    const numbersOf = (count: number) =>
      Array.from({ length: count }, () => `7925777${String(numbers++).padStart(4, '0')}`)
    const burst = (count: number) => Promise.all(numbersOf(count).map(destination => limited({ destination })))
    await burst(37)
    await ageCodesTo(api.sql, '7925777')
    await api.sql`update verification_limits set count = 35 where subject = 'prefix:7925777'`
    // All wait for the account: they are written as one group.
    const lockAccount = (sql: Transaction) => sql`select from accounts where company_id = ${side.companyId} for update`
    const { answers } = await whileLocked(lockAccount, async () => ({ answers: burst(18) }))
    await answers
    const [row] = await api.sql`select reason from verification_limits where subject = 'prefix:7925777'`
    expect(row!.reason).toMatch(/^0 of 37 codes confirmed$/)
  })

  test('of one company are none of another', async () => {
    const foreign = await aMessagingSide(api.sql)
    const theirs = await aVerifier(api.sql, foreign.companyId)
    const destination = aNumber()
    expect(await limited({ destination })).toBe(200)
    await api.sql`update verification_limits set blocked_until = now() + interval '1 hour'`
    const body = { channelType: 'SMS', gatewayId: theirs, destination }
    expect((await post('/verifier/send', body, foreign.keys.VERIFIER)).status).toBe(200)
  })

  test('keep nothing of codes that they refuse', async () => {
    const destination = aNumber()
    await limited({ destination, clientIp: '203.0.113.1' })
    for (let i = 2; i < 9; i++) expect(await limited({ destination, clientIp: `203.0.113.${i}` })).toBe(429)
    expect(await api.sql`select from verification_limits where subject like 'address:%'`).toHaveLength(1)
  })

  test('leave what a request is counting in place when old subjects are forgotten', async () => {
    await limited({})
    await letPass(api.sql, 4 * 24 * 3600)
    const count = (sql: Transaction) => sql`
      update verification_limits set last_at = now() where company_id = ${side.companyId} and subject = 'company'`
    await whileLocked(count, () => forgetOldVerifications(api.sql))
    expect(await api.sql`select subject from verification_limits`).toEqual([{ subject: 'company' }])
  })
})

describe('texts', () => {
  test.each(['__proto__', 'constructo', 'xx', 'ru-RU-x'])(
    'in the language %s fall back to another language',
    async lang => {
      expect((await send({ lang })).status).toBe(200)
    },
  )

  test('that a substitution makes too long are refused', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, {
      channels: ['SMS', 'VOICECODE'],
      texts: { en: '{code} {shop}' },
    })
    const long = (channelType: string, length: number) =>
      send({ channelType, gatewayId: gateway, substitutions: { shop: 'x'.repeat(length) } })
    const voice = await long('VOICECODE', 1000)
    expect([voice.status, voice.body.error.msg]).toEqual([
      400,
      'substitutions: the text of VOICECODE must have at most 1000 characters',
    ])
    const sms = await long('SMS', 2000)
    expect([sms.status, sms.body.error.code]).toEqual([400, 7405])
    expect(await api.sql`select from verification_limits`).toHaveLength(0)
  })

  test('take no code and no placeholder from substitutions', async () => {
    await withOperators()
    const gateway = await aVerifier(api.sql, side.companyId, { texts: { en: '{code} {shop}' } })
    const destination = aNumber()
    await send({ destination, gatewayId: gateway, substitutions: { code: '000000', shop: '{code}' } })
    const text = await handedText(api.sql, destination)
    expect(text).toMatch(/^\d{6} \{code\}$/)
    const [row] = await api.sql`select text from messages where destination = ${destination}`
    expect(row).toEqual({ text: '****** {code}' })
  })

  test.each(['WHATSAPP', 'VIBER'] as const)('go by %s under an approved name', async channelType => {
    await withOperators()
    await anApprovedSender(api.sql, side.companyId, { channelType, senderName: 'Lutik', brand: 'MTS' })
    const gateway = await aVerifier(api.sql, side.companyId, {
      channels: [channelType],
      senders: { [channelType]: 'Lutik' },
      codeLength: 8, // a shorter code could be in the key of the message by chance
    })
    const { uuid, code } = await sent({ destination: aNumber(), channelType, gatewayId: gateway })
    const { body } = await api.call({ method: 'GET', path: `/message/${uuid}`, key: side.keys.MESSAGE })
    expect(body).toMatchObject({ channelType, senderName: 'Lutik', sendingMethod: 'VERIFIER_API' })
    expect(JSON.stringify(body)).not.toContain(code)
    expect(await check(uuid, code)).toBe('CONFIRMED')
  })
})

describe('settings', () => {
  test('a name that was closed is refused, and says so', async () => {
    const { senderId } = await anApprovedSender(api.sql, side.companyId, {
      channelType: 'VIBER',
      senderName: 'Mak',
      brand: 'MTS',
    })
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['VIBER'], senders: { VIBER: 'Mak' } })
    await api.sql`update senders set status = 'CLOSED' where sender_id = ${senderId}`
    const { status, body } = await send({ channelType: 'VIBER', gatewayId: gateway })
    expect([status, body.error.code]).toEqual([400, 4000])
    expect(body.error.msg).toMatch(/^senderName: /)
  })

  test('a verifier that is deleted sends no more, and its codes can still be confirmed', async () => {
    await withOperators()
    const gateway = await aVerifier(api.sql, side.companyId)
    const { uuid, code } = await sent({ destination: aNumber(), gatewayId: gateway })
    await api.sql`delete from verifiers where verifier_id = ${gateway}`
    expect((await send({ gatewayId: gateway })).status).toBe(404)
    expect(await check(uuid, code)).toBe('CONFIRMED')
    await expect(requireVerifier(api.sql, side.companyId, 'API', gateway)).rejects.toThrow('Verifier')
  })

  test('a company that is disabled sends and checks nothing', async () => {
    const closed = await aMessagingSide(api.sql)
    const gateway = await aVerifier(api.sql, closed.companyId)
    await api.sql`update companies set status = 'DISABLED' where company_id = ${closed.companyId}`
    const body = { channelType: 'SMS', gatewayId: gateway, destination: aNumber() }
    expect((await post('/verifier/send', body, closed.keys.VERIFIER)).status).toBeGreaterThanOrEqual(400)
    expect(
      await api.sql`select from messages where company_id = ${closed.companyId} and sending_method = 'VERIFIER_API'`,
    ).toHaveLength(0)
  })
})

describe('the service', () => {
  const lines: string[] = []
  let app: App

  beforeAll(async () => {
    const numbering = await loadNumbering(api.sql)
    app = await buildApp({
      sql: api.sql as Pool,
      clock: () => new Date(),
      numbering: () => numbering,
      log: pino({ level: 'trace', timestamp: false }, { write: line => void lines.push(line) }),
      billingZone: 'Europe/Moscow',
      publicUrl: 'http://localhost:8080',
      trustedProxies: [],
      metrics: true,
      secret,
    })
  })

  afterAll(() => app?.close())

  const ask = (path: string, payload: object) =>
    app.inject({
      method: 'POST',
      url: `/api/v1${path}`,
      payload,
      headers: { authorization: `Bearer ${side.keys.VERIFIER}` },
    })

  test('logs what it blocks, numbers by their last four digits, and counts it in the metrics', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, {
      limits: { ...defaultLimits, perNumber: 1, perAddress: 1 },
    })
    const destination = aNumber('4567')
    const body = { channelType: 'SMS', gatewayId: gateway, destination, clientIp: '203.0.113.9' }
    expect((await ask('/verifier/send', body)).statusCode).toBe(200)
    for (let i = 0; i < 3; i++) expect((await ask('/verifier/send', body)).statusCode).toBe(429)
    expect((await ask('/verifier/send', { ...body, destination: aNumber() })).statusCode).toBe(429)
    const blocked = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'verification.blocked')
    const day = { level: 40, companyId: side.companyId, until: expect.any(String), blocks: 1 }
    expect(blocked).toEqual([
      expect.objectContaining({ ...day, subject: 'number:…4567', reason: '1 code within a day' }),
      expect.objectContaining({ ...day, subject: 'address:203.0.113.9', reason: '1 code within an hour' }),
    ])
    expect(lines.join('')).not.toContain(destination)
    const metrics = (await app.inject('/metrics')).body
    expect(metrics).toContain('tidings_verification_blocked{kind="number"} 1')
    expect(metrics).toContain('tidings_verification_blocked{kind="address"} 1')
    expect(metrics).toContain('tidings_verification_blocked{kind="prefix"} 0')
    expect(metrics).toContain('tidings_verification_refused_total{kind="number"} 3')
    expect(metrics).toContain('tidings_verification_refused_total{kind="address"} 1')
    expect(metrics).toContain('tidings_verification_refused_total{kind="company"} 0')
  })

  test('logs no code in any line', async () => {
    const engineLines: string[] = []
    await codeGateways(api.sql)
    await anEngine({
      secret,
      log: pino({ level: 'trace', timestamp: false }, { write: line => void engineLines.push(line) }),
    })
    const gateway = await aVerifier(api.sql, side.companyId, { codeLength: 8 })
    const destination = aNumber()
    const { uuid } = (await ask('/verifier/send', { channelType: 'SMS', gatewayId: gateway, destination })).json()
    const code = codeIn(await handedText(api.sql, destination))
    await ask('/verifier/check', { uuid, code: wrongCode(code) })
    await ask('/verifier/check', { uuid: { code }, code })
    expect((await ask('/verifier/check', { uuid, code })).json()).toEqual({ status: 'CONFIRMED' })
    await eventually(async () => {
      const [row] = await api.sql`select status from messages where message_uuid = ${uuid}`
      expect(row).toEqual({ status: 'DELIVERED' })
    })
    expect([...lines, ...engineLines].filter(line => line.includes(code) || line.includes(wrongCode(code)))).toEqual([])
  })

  test('finds no message by a code', async () => {
    await withOperators()
    const { uuid, code } = await sent({ destination: aNumber() })
    const found = async (content: string) =>
      (
        await api.call({
          method: 'GET',
          path: `/message?content=${encodeURIComponent(content)}`,
          key: side.keys.MESSAGE,
        })
      ).text
    expect(await found(code)).not.toContain(uuid)
    expect(await found('Your code: *')).toContain(uuid)
  })
})
