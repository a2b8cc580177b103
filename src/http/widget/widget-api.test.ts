import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { advanceCascades } from '../../domain/cascade-steps/cascade-steps.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { sealCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { changeVerifier, requireAnyVerifier, type VerifierOptions } from '../../domain/verifiers/verifiers.ts'
import { listErrors } from '../../domain/widgets/errors.ts'
import { forgetOldSessions } from '../../domain/widgets/housekeeping.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aKey, useMessagingApi } from '../../testing/messaging-api.ts'
import { codeGateways, codeIn, handedText, letPass, secret, wrongCode } from '../../testing/verification.ts'
import { aWidget, browserOf, SHOP } from '../../testing/widget.ts'
import { solutionOf } from './captcha/solve.ts'

const api = useMessagingApi()
const { anEngine } = useEngines(api)
const browser = browserOf(() => api.app)
let side: MessagingSide
let widgetId: string
let numbers = 0

/** A number that no other test uses. The last four digits decide what becomes of its messages. */
const aNumber = (ending = '1234') => `7917${String(++numbers).padStart(3, '0')}${ending}`

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  widgetId = await aWidget(api.sql, side.companyId)
})

beforeEach(() => api.sql`truncate verification_limits, widget_sessions, widget_errors`)

/** As the server of the site does it. */
const server = (action: 'send' | 'check', body: object, key: string | undefined = side.keys.VERIFIER) =>
  api.call({ method: 'POST', path: `/verifier/widget/${action}`, ...(key ? { key } : {}), body })

const change = async (id: string, options: VerifierOptions) =>
  changeVerifier(api.sql, await requireAnyVerifier(api.sql, 'WIDGET', id), options)

const errorsOf = async (id = widgetId) =>
  (await listErrors(api.sql, side.companyId, { widgetId: id, limit: 100 })).map(({ code, reason }) => [code, reason])

const stateOf = async (keys: { key: string; secret: string }) => (await browser.ask('state', keys)).body

/** A session whose code was sent, and the code. */
async function sentSession({ id = widgetId, destination = aNumber(), more = {} } = {}) {
  const keys = await browser.begin(id, destination, more)
  const { status, body } = await server('send', { key: keys.key })
  expect([status, body]).toEqual([200, { messageUuid: expect.any(String) }])
  return { keys, destination, messageUuid: body.messageUuid as string }
}

const codeFor = async (destination: string, channelType?: string) =>
  codeIn(await handedText(api.sql, destination, channelType))

describe('a visitor', () => {
  beforeEach(async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
  })

  test('opens the widget, gets a code through the server of the site, types it, and the server learns of it', async () => {
    const destination = aNumber()
    expect((await browser.ask('open', { widgetId })).body).toEqual({
      channels: ['SMS'],
      codeLength: 6,
      isBuilder: false,
      captcha: { kind: 'none' },
    })
    const { keys, messageUuid } = await sentSession({ destination: `+${destination}` })
    expect(await stateOf(keys)).toEqual({
      state: 'SENT',
      channelType: 'SMS',
      codeLength: 6,
      triesLeft: 3,
      secondsToExpire: expect.any(Number),
      secondsToResend: expect.any(Number),
    })
    expect((await server('check', { key: keys.key })).body).toEqual({ status: 'WAITING' })
    const code = await codeFor(destination)
    const { body: wrong } = await browser.ask('check', { ...keys, code: wrongCode(code) })
    expect(wrong).toMatchObject({ status: 'WRONG_CODE', state: 'SENT', triesLeft: 2 })
    const { body: right } = await browser.ask('check', { ...keys, code })
    expect(right).toMatchObject({ status: 'CONFIRMED', state: 'CONFIRMED' })
    expect(right).not.toHaveProperty('result')
    expect((await server('check', { key: keys.key })).body).toEqual({ status: 'CONFIRMED', destination })
    const { body: message } = await api.call({ method: 'GET', path: `/message/${messageUuid}`, key: side.keys.MESSAGE })
    expect(message).toMatchObject({ sendingMethod: 'VERIFIER_WIDGET', trafficType: 'AUTHORIZE', destination })
    expect(await errorsOf()).toEqual([])
  })

  test('gets one code however often the server of the site calls, also at once', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    const answers = await Promise.all(Array.from({ length: 10 }, () => server('send', { key: keys.key })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const sent = answers.map(({ body }) => body.messageUuid)
    expect(new Set([...sent, (await server('send', { key: keys.key })).body.messageUuid]).size).toBe(1)
    const [row] =
      await api.sql`select count(*)::int as count from verifications where verifier_id = ${widgetId} and sent_at > now() - interval '1 hour' and verification_uuid = ${sent[0]}`
    expect(row).toEqual({ count: 1 })
    expect((await stateOf(keys)).state).toBe('SENT')
  })

  test('asks for another code over another channel after the pause, under the same key', async () => {
    const id = await aWidget(api.sql, side.companyId, { settings: { channels: ['SMS', 'FLASHCALL'] } })
    const { keys, destination, messageUuid } = await sentSession({ id })
    const first = await codeFor(destination)
    const early = await browser.ask('again', { ...keys, channelType: 'FLASHCALL' })
    expect([early.status, early.body.error.code]).toEqual([429, 130])
    expect(early.body.error.retryAfterSeconds).toBeGreaterThan(0)
    await letPass(api.sql, 60)
    const { body } = await browser.ask('again', { ...keys, channelType: 'FLASHCALL' })
    expect(body).toMatchObject({ state: 'WAITING', channelType: 'FLASHCALL', codeLength: 4 })
    const { body: second } = await server('send', { key: keys.key })
    expect(second.messageUuid).not.toBe(messageUuid)
    expect(await stateOf(keys)).toMatchObject({ state: 'SENT', channelType: 'FLASHCALL', codeLength: 4, triesLeft: 3 })
    const digits = await codeFor(destination, 'FLASHCALL')
    expect(digits).toMatch(/^\d{4}$/)
    expect((await browser.ask('check', { ...keys, code: wrongCode(digits) })).body.status).toBe('WRONG_CODE')
    expect((await browser.ask('check', { ...keys, code: first })).body.status).toBe('CONFIRMED')
  })

  test('sees the channel of an automatic fallback, which ends when another code is asked for', async () => {
    const settings = {
      channels: ['SMS' as const, 'VOICECODE' as const, 'TELEGRAM_GATEWAY' as const],
      fallbackSeconds: 10,
    }
    const id = await aWidget(api.sql, side.companyId, { settings })
    const { keys } = await sentSession({ id, destination: aNumber('0004') })
    await eventually(async () => expect((await stateOf(keys)).channelType).toBe('TELEGRAM_GATEWAY'))

    const other = await sentSession({ id, destination: aNumber('0005') })
    await letPass(api.sql, 60)
    await browser.ask('again', { ...other.keys, channelType: 'TELEGRAM_GATEWAY' })
    expect((await server('send', { key: other.keys.key })).status).toBe(200)
    const numbering = await loadNumbering(api.sql)
    await api.sql.begin(tx =>
      advanceCascades(tx, side.companyId, [{ cascadeUuid: other.messageUuid, step: 1 }], {
        pool: api.sql,
        numbering: () => numbering,
        linkBase: 'http://localhost:8080/s',
        billingZone: 'Europe/Moscow',
        now: new Date(),
      }),
    )
    const channels =
      await api.sql`select channel_type as channel from messages where destination = ${other.destination}`
    expect(channels.map(({ channel }) => channel).sort()).toEqual(['SMS', 'TELEGRAM_GATEWAY'])
  })

  test('of a builder page gets a code without a server, and the form a signed result', async () => {
    const id = await aWidget(api.sql, side.companyId, { page: { isBuilder: true } })
    const destination = aNumber()
    const keys = await browser.begin(id, destination)
    const { body } = await browser.ask('deliver', keys)
    expect(body).toMatchObject({ state: 'SENT', codeLength: 6 })
    const confirmed = await browser.ask('check', { ...keys, code: await codeFor(destination) })
    const { result } = confirmed.body
    const builderKey = (await aKey(api.sql, side.companyId, 'BUILDER_WIDGET')).key
    expect((await server('check', { result }, builderKey)).body).toEqual({ status: 'CONFIRMED', destination })
    expect((await server('check', { result: `${result}x` }, builderKey)).body).toEqual({ status: 'NOT_FOUND' })
    expect((await server('check', { key: keys.key }, builderKey)).body).toEqual({ status: 'CONFIRMED', destination })
    api.now = new Date(Date.now() + 25 * 3600_000)
    expect((await server('check', { result }, builderKey)).body).toEqual({ status: 'EXPIRED' })
    api.now = undefined
  })

  test('is told EXPIRED when the tries are used up, and may ask for a new code', async () => {
    const { keys, destination } = await sentSession()
    const code = await codeFor(destination)
    for (let i = 0; i < 3; i++) await browser.ask('check', { ...keys, code: wrongCode(code) })
    expect((await browser.ask('check', { ...keys, code })).body).toMatchObject({ status: 'EXPIRED', triesLeft: 0 })
    await letPass(api.sql, 60)
    await browser.ask('again', { ...keys, channelType: 'SMS' })
    await server('send', { key: keys.key })
    const next = await eventually(async () => {
      const found = await codeFor(destination)
      expect(found).not.toBe(code)
      return found
    })
    expect((await browser.ask('check', { ...keys, code: next })).body.status).toBe('CONFIRMED')
  })
})

describe('an error of the specification', () => {
  test('110: a captcha that is missing', async () => {
    const id = await aWidget(api.sql, side.companyId, { page: { captcha: 'altcha' } })
    const { status, body } = await browser.ask('sessions', { widgetId: id, destination: aNumber() })
    expect([status, body.error.code]).toEqual([400, 110])
    expect(await errorsOf(id)).toEqual([[110, expect.stringContaining('captcha')]])
  })

  test('110: a solution of our own captcha serves once, and only for its widget', async () => {
    const id = await aWidget(api.sql, side.companyId, { page: { captcha: 'altcha' } })
    const { body } = await browser.ask('open', { widgetId: id })
    const captcha = solutionOf(body.captcha.challenge)
    const other = await aWidget(api.sql, side.companyId, { page: { captcha: 'altcha' } })
    const begin = async (widgetId: string) =>
      (await browser.ask('sessions', { widgetId, destination: aNumber(), captcha })).body.error?.code
    expect([await begin(other), await begin(id), await begin(id)]).toEqual([110, undefined, 110])
    expect((await errorsOf(id)).map(([code]) => code)).toEqual([110])
  })

  test('130: too many codes for a number; the widget learns when it may try again', async () => {
    const { destination } = await sentSession()
    const keys = await browser.begin(widgetId, destination)
    const { status } = await server('send', { key: keys.key })
    expect(status).toBe(429)
    const state = await stateOf(keys)
    expect(state).toMatchObject({ state: 'FAILED', error: { code: 130, retryAfterSeconds: expect.any(Number) } })
    expect(await errorsOf()).toEqual([[130, expect.stringContaining('Too many codes')]])
  })

  test('130: too many sessions from one address', async () => {
    const settings = {
      limits: { perNumber: 1, perAddress: 2, perPrefix: 1000, perVerifier: 1000, perCompany: 1000, leastConfirmed: 0 },
    }
    const id = await aWidget(api.sql, side.companyId, { settings })
    const from = async (address: string) =>
      (await browser.ask('sessions', { widgetId: id, destination: aNumber() }, { address })).status
    for (let i = 0; i < 6; i++) expect(await from('198.51.100.1')).toBe(200)
    expect(await from('198.51.100.1')).toBe(429)
    expect(await from('198.51.100.2')).toBe(200)
    expect((await errorsOf(id)).map(([code]) => code)).toEqual([130])
  })

  test('210: not enough money', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    await api.sql`update companies set budget = 0 where company_id = ${side.companyId}`
    expect((await server('send', { key: keys.key })).status).toBe(402)
    await api.sql`update companies set budget = null where company_id = ${side.companyId}`
    expect(await stateOf(keys)).toMatchObject({ state: 'FAILED', error: { code: 210 } })
    expect((await errorsOf())[0]![0]).toBe(210)
  })

  test('230: the sender name of the channel is not active', async () => {
    const id = await aWidget(api.sql, side.companyId, { settings: { senders: { SMS: 'CLOSED' } } })
    const keys = await browser.begin(id, aNumber())
    expect((await server('send', { key: keys.key })).status).toBe(400)
    expect(await stateOf(keys)).toMatchObject({ state: 'FAILED', error: { code: 230 } })
    expect(await errorsOf(id)).toEqual([[230, expect.stringContaining('senderName')]])
  })

  test('310: an unknown widget, or a page that may not show it', async () => {
    const unknown = await browser.ask('open', { widgetId: 'nosuchwidget' })
    expect([unknown.status, unknown.body.error.code]).toEqual([403, 310])
    for (const origin of ['https://evil.example', 'null', '', `${SHOP}.evil.example`]) {
      const { status, body, headers } = await browser.ask('open', { widgetId }, { origin })
      expect([status, body.error.code]).toEqual([403, 310])
      expect(headers['access-control-allow-origin']).toBe(origin || undefined)
      expect((await browser.ask('sessions', { widgetId, destination: aNumber() }, { origin })).status).toBe(403)
    }
    expect((await errorsOf()).filter(([code]) => code === 310)).toHaveLength(8)
  })

  test("320: without a key the company's only waiting session is marked, and none where several wait", async () => {
    const keys = await browser.begin(widgetId, aNumber())
    const { status, body } = await server('send', {})
    expect([status, body.error.code]).toEqual([400, 320])
    expect(await stateOf(keys)).toMatchObject({ state: 'FAILED', error: { code: 320 } })
    expect((await server('send', { key: keys.key })).status).toBe(200)
    const both = [await browser.begin(widgetId, aNumber()), await browser.begin(widgetId, aNumber())]
    expect((await server('send', { key: '' })).body.error.code).toBe(320)
    for (const each of both) expect((await stateOf(each)).state).toBe('WAITING')
  })

  test('321: the server did not call in time; a late call still sends', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    await api.sql`update widget_sessions set asked_at = now() - interval '16 seconds'`
    expect(await stateOf(keys)).toMatchObject({ state: 'FAILED', error: { code: 321 } })
    expect(await stateOf(keys)).toMatchObject({ state: 'FAILED', error: { code: 321 } })
    expect((await errorsOf()).map(([code]) => code)).toEqual([321])
    expect((await server('send', { key: keys.key })).status).toBe(200)
    expect((await stateOf(keys)).state).toBe('SENT')
  })

  test('321: a page without a server needs a widget for site builders', async () => {
    const keys = await browser.begin(widgetId, aNumber())
    const { status, body } = await browser.ask('deliver', keys)
    expect([status, body.error.code]).toEqual([400, 321])
    expect((await stateOf(keys)).state).toBe('WAITING')
  })

  test('330 and 331: a wrong API key marks the session that it was to send for', async () => {
    const stranger = await aMessagingSide(api.sql)
    const refusals: [number, number, string | undefined][] = [
      [401, 330, undefined],
      [401, 330, 'bm8ga2V5'],
      [403, 331, side.keys.MESSAGE],
      [403, 331, stranger.keys.VERIFIER],
      [403, 331, (await aKey(api.sql, side.companyId, 'BUILDER_WIDGET')).key],
    ]
    for (const [status, code, key] of refusals) {
      const keys = await browser.begin(widgetId, aNumber())
      const answer = await api.call({
        method: 'POST',
        path: '/verifier/widget/send',
        ...(key ? { key } : {}),
        body: { key: keys.key },
      })
      expect([answer.status, await stateOf(keys)]).toEqual([
        status,
        expect.objectContaining({ state: 'FAILED', error: { code, msg: expect.any(String) } }),
      ])
      expect((await server('send', { key: keys.key })).status).toBe(200)
    }
    expect((await errorsOf()).map(([code]) => code).sort()).toEqual([330, 330, 331, 331, 331])
  })

  test('340: a captcha whose provider does not answer us', async () => {
    const id = await aWidget(api.sql, side.companyId)
    await change(id, {
      page: { captcha: 'turnstile', captchaSiteKey: 'site' },
      captchaSecret: sealCaptchaSecret(secret, 'a secret of the provider'),
    })
    const { status, body } = await browser.ask('sessions', { widgetId: id, destination: aNumber(), captcha: 'token' })
    expect([status, body.error.code]).toEqual([400, 340])
    expect(JSON.stringify(await errorsOf(id))).not.toContain('a secret of the provider')
  })

  test('341 and 350: what only the browser knows is written into the log, within bounds', async () => {
    for (const code of [341, 350])
      expect((await browser.ask('errors', { widgetId, code, reason: `why ${code}` })).status).toBe(204)
    expect(await errorsOf()).toEqual([
      [350, 'why 350'],
      [341, 'why 341'],
    ])
    expect((await browser.ask('errors', { widgetId, code: 210, reason: 'invented' })).status).toBe(400)
    expect((await browser.ask('errors', { widgetId, code: 350, reason: 'x'.repeat(201) })).status).toBe(400)
    await api.sql`
      insert into widget_errors (company_id, widget_id, code, reason)
      select ${side.companyId}, ${widgetId}, 350, 'flood' from generate_series(1, 1000)`
    await browser.ask('errors', { widgetId, code: 350, reason: 'one more' })
    expect(JSON.stringify(await errorsOf())).not.toContain('one more')
  })

  test('4000: a number that is not served, with a reason for the person', async () => {
    for (const destination of ['74951234567', 'nonsense', '123']) {
      const { status, body } = await browser.ask('sessions', { widgetId, destination })
      expect([status, body.error.code]).toEqual([400, 4000])
      expect(body.error.msg).toContain('destination')
    }
    expect((await errorsOf()).map(([code]) => code)).toEqual([4000, 4000, 4000])
  })
})

test('a number that is confirmed needs no other code, and a disabled company none at all', async () => {
  const { keys } = await sentSession()
  await api.sql`update verifications set confirmed_at = now()`
  await letPass(api.sql, 60)
  expect((await browser.ask('again', { ...keys, channelType: 'SMS' })).status).toBe(400)
  expect((await stateOf(keys)).state).toBe('CONFIRMED')
  await api.sql`update companies set status = 'DISABLED' where company_id = ${side.companyId}`
  expect((await browser.ask('open', { widgetId })).body.error.code).toBe(310)
  await api.sql`update companies set status = 'ACTIVE' where company_id = ${side.companyId}`
})

describe('a stranger', () => {
  test('with a stolen key, but without the secret of the browser, sees and types nothing', async () => {
    const { keys } = await sentSession()
    for (const guess of ['', 'x', keys.key]) {
      const stolen = { key: keys.key, secret: guess || 'A'.repeat(32) }
      for (const [action, more] of [
        ['state', {}],
        ['check', { code: '000000' }],
        ['again', { channelType: 'SMS' }],
        ['deliver', {}],
      ] as const)
        expect((await browser.ask(action, { ...stolen, ...more })).status).toBe(404)
    }
    expect((await stateOf(keys)).triesLeft).toBe(3)
  })

  test('cannot use a session from another page', async () => {
    const { keys } = await sentSession()
    expect((await browser.ask('state', keys, { origin: 'https://evil.example' })).status).toBe(404)
  })

  test('cannot learn of sessions of another company', async () => {
    const { keys } = await sentSession()
    const stranger = await aMessagingSide(api.sql)
    expect((await server('check', { key: keys.key }, stranger.keys.VERIFIER)).body).toEqual({ status: 'NOT_FOUND' })
    expect((await server('check', { key: 'nonsense' })).body).toEqual({ status: 'NOT_FOUND' })
    expect((await server('send', { key: 'nonsense' })).status).toBe(404)
  })

  test('gets the tries of a code and no more, however many guesses come at once', async () => {
    const { keys } = await sentSession()
    const guesses = await Promise.all(
      Array.from({ length: 300 }, (_, i) => browser.ask('check', { ...keys, code: String(i).padStart(6, '0') })),
    )
    const judged = guesses.filter(({ status, body }) => status === 200 && body.status !== 'EXPIRED')
    expect(judged.length).toBeLessThanOrEqual(3)
    expect(guesses.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
  })

  test('with a key of a session that is over gets nothing confirmed', async () => {
    const { keys } = await sentSession()
    await api.sql`update verifications set confirmed_at = now()`
    expect((await server('check', { key: keys.key })).body.status).toBe('CONFIRMED')
    await api.sql`update widget_sessions set ends_at = now()`
    expect((await server('check', { key: keys.key })).body).toEqual({ status: 'EXPIRED' })
    expect((await server('send', { key: keys.key })).status).toBe(404)
    expect((await browser.ask('state', keys)).status).toBe(404)
    await api.sql`update widget_sessions set ends_at = now() - interval '2 days'`
    await forgetOldSessions(api.sql)
    expect((await server('check', { key: keys.key })).body).toEqual({ status: 'NOT_FOUND' })
  })
})

test('a browser may ask from any page: the preflight allows POST with JSON and nothing else', async () => {
  const { statusCode, headers } = await api.app.inject({
    method: 'OPTIONS',
    url: '/widget/api/open',
    headers: {
      origin: SHOP,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  expect([statusCode, headers['access-control-allow-origin'], headers['access-control-allow-methods']]).toEqual([
    204,
    SHOP,
    'POST',
  ])
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})
