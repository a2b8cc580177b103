import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { verifyLedger } from '../../domain/audit/verify.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { CodeChecker } from '../../domain/verifications/checker.ts'
import { CodeBox } from '../../domain/verifications/code-box.ts'
import { sealCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { defaultLimits } from '../../domain/verifiers/verifier.ts'
import { changeVerifier, requireAnyVerifier } from '../../domain/verifiers/verifiers.ts'
import { listErrors } from '../../domain/widgets/errors.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { countLockWaits, PATIENT } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aKey, useMessagingApi } from '../../testing/messaging-api.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { letPass, secret } from '../../testing/verification.ts'
import { aWidget, browserOf } from '../../testing/widget.ts'
import { buildApp } from '../app.ts'

const api = useMessagingApi()
const browser = browserOf(() => api.app)
const codes = new CodeBox(secret)
let side: MessagingSide
let widgetId: string
let builderId: string
let numbers = 0

/** A number that no other test uses. */
const aNumber = () => `7918${String(++numbers).padStart(3, '0')}1234`

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  widgetId = await aWidget(api.sql, side.companyId)
  builderId = await aWidget(api.sql, side.companyId, { page: { isBuilder: true } })
})

beforeEach(() => api.sql`truncate verification_limits, widget_sessions, widget_errors`)

const server = (action: 'send' | 'check', body: object, key: string = side.keys.VERIFIER) =>
  api.call({ method: 'POST', path: `/verifier/widget/${action}`, key, body })

const stateOf = async (keys: object) => (await browser.ask('state', keys)).body

/** Gives the session's verification a code that the test knows. */
async function knownCode(verificationUuid: string, code = '111111') {
  await api.sql`
    update verifications set code_hashes = array[decode(${codes.hash(verificationUuid, code)}, 'hex')]
    where verification_uuid = ${verificationUuid}`
  return code
}

const messagesTo = async (destination: string) =>
  (await api.sql`select count(*)::int as count from messages where destination = ${destination}`)[0]!.count

describe('results', () => {
  test('of a builder page have one spelling', async () => {
    const destination = aNumber()
    const keys = await browser.begin(builderId, destination)
    await browser.ask('deliver', keys)
    const [row] = await api.sql`select verification_uuid as uuid from widget_sessions`
    const { body } = await browser.ask('check', { ...keys, code: await knownCode(row!.uuid) })
    const result = body.result as string
    const { key } = await aKey(api.sql, side.companyId, 'BUILDER_WIDGET')
    expect((await server('check', { result }, key)).body.status).toBe('CONFIRMED')
    for (const other of [`${result}.`, `${result}.x`, `${result}=`, `${result} `, result.replace('.', '=.')])
      expect([other, (await server('check', { result: other }, key)).body.status]).toEqual([other, 'NOT_FOUND'])
  })
})

test('a key for pages of site builders learns nothing of other widgets', async () => {
  const keys = await browser.begin(widgetId, aNumber())
  const { key } = await aKey(api.sql, side.companyId, 'BUILDER_WIDGET')
  expect((await server('check', { key: keys.key }, key)).body).toEqual({ status: 'NOT_FOUND' })
  expect((await server('check', { key: keys.key })).body).toEqual({ status: 'WAITING' })
})

test('a number that was confirmed by an earlier code gets no other, also when one was asked for before', async () => {
  const destination = aNumber()
  const keys = await browser.begin(widgetId, destination)
  const { body: first } = await server('send', { key: keys.key })
  const code = await knownCode(first.messageUuid)
  await letPass(api.sql, 60)
  expect((await browser.ask('again', { ...keys, channelType: 'SMS' })).body.state).toBe('WAITING')
  expect((await browser.ask('check', { ...keys, code })).body.status).toBe('CONFIRMED')
  expect((await server('send', { key: keys.key })).body).toEqual({ messageUuid: first.messageUuid })
  expect(await messagesTo(destination)).toBe(1)
})

/** Runs the work while another session keeps the company's account locked. */
async function whileAccountLocked<T>(work: () => Promise<T>): Promise<T> {
  const locker = connect(api.url, { max: 1, ...PATIENT })
  try {
    return await locker.begin(async sql => {
      await sql`select from accounts where company_id = ${side.companyId} for update`
      return work()
    })
  } finally {
    await locker.end()
  }
}

describe('a flood', () => {
  testOnOneServer('of codes for one company leaves database connections for others', async () => {
    const sessions = await Promise.all(Array.from({ length: 30 }, () => browser.begin(builderId, aNumber())))
    const { deliveries, waiting } = await whileAccountLocked(async () => {
      const deliveries = sessions.map((keys, i) => browser.ask('deliver', keys, { address: `198.51.100.${i}` }))
      await eventually(async () => expect(await countLockWaits(api.sql)).toBeGreaterThan(1))
      const { status } = await browser.ask('open', { widgetId })
      expect(status).toBe(200)
      return { deliveries, waiting: await countLockWaits(api.sql) }
    })
    expect(waiting).toBe(2)
    const statuses = (await Promise.all(deliveries)).map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses.filter(status => status !== 200 && status !== 429)).toEqual([])
  })

  test('of requests from one network leaves database connections for others', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    const locker = connect(api.url, { max: 1, ...PATIENT })
    const { answers } = await locker.begin(async sql => {
      await sql`lock table widget_sessions`
      const flood = Array.from({ length: 300 }, () => browser.ask('state', keys, { address: '198.51.100.7' }))
      const refused = await Promise.race(flood)
      expect([refused.status, refused.body.error.code]).toEqual([429, 4290])
      return { answers: Promise.all(flood) }
    })
    await locker.end()
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses.filter(status => status === 200).length).toBeLessThan(300)
  })

  testOnOneServer('of calls without an API key leaves database connections for others', async () => {
    const { key } = await browser.begin(widgetId, aNumber())
    const locker = connect(api.url, { max: 1, ...PATIENT })
    const { answers, waiting } = await locker.begin(async sql => {
      await sql`lock table widget_sessions`
      const calls = Array.from({ length: 60 }, () => server('send', { key }, 'bm8ga2V5'))
      expect((await Promise.race(calls)).status).toBe(401)
      expect((await browser.ask('open', { widgetId })).status).toBe(200)
      return { answers: Promise.all(calls), waiting: await countLockWaits(api.sql) }
    })
    await locker.end()
    expect(waiting).toBeLessThanOrEqual(2)
    expect((await answers).filter(({ status }) => status === 200)).toEqual([])
  })

  test('of guesses at one code takes a statement for each try, and no room of others', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    const { body } = await server('send', { key: keys.key })
    const uuid = body.messageUuid as string
    const pool = connect(api.url, { max: 1 })
    let statements = 0
    const debug = (_: number, text: string) => {
      if (text.includes('judged')) statements += 1
    }
    Object.assign(pool.options, { debug })
    const checker = new CodeChecker(pool, codes)
    const guess = (code: string) => checker.check(side.companyId, uuid, code)
    const wrong = await Promise.all(Array.from({ length: 500 }, () => guess('000')))
    expect(wrong.filter(({ status }) => status === 'WRONG_CODE')).toHaveLength(3)
    expect(wrong.filter(({ status }) => status === 'EXPIRED')).toHaveLength(497)
    expect(statements).toBeLessThan(10)

    await api.sql`update verifications set tries_left = 3 where verification_uuid = ${uuid}`
    const code = await knownCode(uuid)
    const right = await Promise.all(Array.from({ length: 500 }, (_, i) => guess(i === 1 ? '000' : code)))
    expect(right.map(({ status }) => status)).toEqual(right.map((_, i) => (i === 1 ? 'WRONG_CODE' : 'CONFIRMED')))
    expect(statements).toBeLessThan(20)
    await pool.end()
  })
})

describe('strangers', () => {
  const limits = { ...defaultLimits, perAddress: 2, perVerifier: 3 }

  test('cannot use up the quota of a captcha with solutions that fail', async () => {
    const id = await aWidget(api.sql, side.companyId, { page: { captcha: 'altcha' }, settings: { limits } })
    const start = async (address: string) => {
      const { body } = await browser.ask(
        'sessions',
        { widgetId: id, destination: aNumber(), captcha: 'x' },
        { address },
      )
      return [body.error.code, body.error.retryAfterSeconds]
    }
    for (let i = 0; i < 12; i++) expect(await start('198.51.100.1')).toEqual([110, undefined])
    expect(await start('198.51.100.1')).toEqual([130, expect.any(Number)])
    expect(await start('198.51.100.2')).toEqual([110, undefined])
  })

  test('from many networks begin no more sessions than a widget can need', async () => {
    const id = await aWidget(api.sql, side.companyId, { settings: { limits } })
    const start = async (address: string) =>
      (await browser.ask('sessions', { widgetId: id, destination: aNumber() }, { address })).status
    for (let i = 0; i < 9; i++) expect(await start(`2001:db8:0:${i}::1`)).toBe(200)
    expect(await start('2001:db8:0:99::1')).toBe(429)
    expect((await browser.ask('sessions', { widgetId, destination: aNumber() })).status).toBe(200)
    api.now = new Date(Date.now() + 3600_001)
    expect(await start('2001:db8:0:99::1')).toBe(200)
    api.now = undefined
  })

  test('cannot lock a number out with sessions that send no code', async () => {
    const destination = aNumber()
    for (let i = 0; i < 40; i++)
      await browser.ask('sessions', { widgetId, destination }, { address: `198.51.100.${i}` })
    const keys = await browser.begin(widgetId, destination)
    expect((await server('send', { key: keys.key })).status).toBe(200)
  })

  test('who fill the log with one error leave room for the others', async () => {
    await api.sql`
      insert into widget_errors (company_id, widget_id, code, reason)
      select ${side.companyId}, ${widgetId}, 310, 'flood' from generate_series(1, 2000)`
    await browser.ask('open', { widgetId }, { origin: 'https://evil.example' })
    const keys = await browser.begin(widgetId, aNumber())
    await server('send', {})
    const errors = await listErrors(api.sql, side.companyId, { widgetId, limit: 3000 })
    expect(errors.filter(({ code }) => code === 310)).toHaveLength(2000)
    expect(errors[0]).toMatchObject({ code: 320 })
    expect((await stateOf(keys)).error.code).toBe(320)
  })
})

test('a session ends a day after its beginning, however often a code is asked for', async () => {
  const keys = await browser.begin(widgetId, aNumber())
  await api.sql`
    update widget_sessions set created_at = now() - interval '23 hours 50 minutes', ends_at = now() + interval '1 minute'`
  const minutesLeft = async () =>
    (await api.sql`select round(extract(epoch from ends_at - created_at) / 60)::int as minutes from widget_sessions`)[0]
  await browser.ask('again', { ...keys, channelType: 'SMS' })
  expect(await minutesLeft()).toEqual({ minutes: 24 * 60 })
  await server('send', { key: keys.key })
  expect(await minutesLeft()).toEqual({ minutes: 24 * 60 })
})

test('a code that is asked for twice at once is sent once, and both tabs learn of it', async () => {
  const destination = aNumber()
  const keys = await browser.begin(builderId, destination)
  const { answers } = await whileAccountLocked(async () => {
    const both = [browser.ask('deliver', keys), browser.ask('deliver', keys)]
    await Promise.race(both)
    return { answers: Promise.all(both) }
  })
  expect((await answers).map(({ status }) => status)).toEqual([200, 200])
  expect((await stateOf(keys)).state).toBe('SENT')
  expect(await messagesTo(destination)).toBe(1)
})

test('codes that are asked for and sent at once, by two processes, are each paid for and good', async () => {
  const settings = { limits: { ...defaultLimits, perNumber: 1000 } }
  const id = await aWidget(api.sql, side.companyId, { settings, page: { isBuilder: true } })
  const pool = connect(api.url, { max: 5, ...PATIENT })
  const numbering = await loadNumbering(api.sql)
  const other = await buildApp({
    sql: pool,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret,
  })
  const otherBrowser = browserOf(() => other)
  const destination = aNumber()
  const keys = await browser.begin(id, destination)
  for (let round = 0; round < 5; round++) {
    await letPass(api.sql, 4000)
    const answers = await Promise.all([
      browser.ask('deliver', keys),
      otherBrowser.ask('again', { ...keys, channelType: 'SMS' }),
      otherBrowser.ask('deliver', keys),
      browser.ask('again', { ...keys, channelType: 'SMS' }),
      server('send', { key: keys.key }),
      otherBrowser.ask('deliver', keys),
      browser.ask('check', { ...keys, code: 'wrong' }),
    ])
    expect(answers.filter(({ status }) => ![200, 409, 429].includes(status))).toEqual([])
  }
  expect((await browser.ask('deliver', keys)).status).toBe(200)
  const [row] = await api.sql`
    select count(*)::int as verifications, sum(cardinality(code_hashes))::int as codes
    from verifications where destination = ${destination}`
  expect(row).toEqual({ verifications: 1, codes: await messagesTo(destination) })
  expect([...(await api.sql`select state from widget_sessions`)]).toEqual([{ state: 'SENT' }])
  expect(await messagesTo(destination)).toBeGreaterThan(1)
  expect(await verifyLedger(api.sql, { companyId: side.companyId })).toEqual([])
  await other.close()
  await pool.end()
})

test('340: a secret of the captcha that was encrypted with another secret of the service', async () => {
  const id = await aWidget(api.sql, side.companyId)
  const widget = await requireAnyVerifier(api.sql, 'WIDGET', id)
  await changeVerifier(api.sql, widget, {
    page: { captcha: 'turnstile', captchaSiteKey: 'site' },
    captchaSecret: sealCaptchaSecret('another secret of the service, long', 'a secret of the provider'),
  })
  const { status, body } = await browser.ask('sessions', { widgetId: id, destination: aNumber(), captcha: 'token' })
  expect([status, body.error.code]).toEqual([400, 340])
  const [error] = await listErrors(api.sql, side.companyId, { widgetId: id, limit: 1 })
  expect(error!.reason).toContain('TIDINGS_SECRET')
})
