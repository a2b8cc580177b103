import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../../db/sql.ts'
import { CodeChecker } from '../../../domain/verifications/checker.ts'
import { CodeBox } from '../../../domain/verifications/code-box.ts'
import { storeCodes, verificationStatistics } from '../../../domain/verifications/verifications.ts'
import { defaultLimits, type VerifierChannel } from '../../../domain/verifiers/verifier.ts'
import { aMessagingSide, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { PATIENT } from '../../../testing/database.ts'
import { useEngines } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'
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

const api = useMessagingApi()
const { anEngine } = useEngines(api)
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

const post = (path: string, body: object, key = side.keys.VERIFIER, headers: Record<string, string> = {}) =>
  api.call({ method: 'POST', path, key, body, headers })

const send = (body: object, headers?: Record<string, string>) =>
  post('/verifier/send', { channelType: 'SMS', gatewayId, ...body }, side.keys.VERIFIER, headers)

async function sent(body: { destination: string; channelType?: VerifierChannel; gatewayId?: string }) {
  const { status, body: answer, text } = await send(body)
  expect([status, text]).toEqual([200, JSON.stringify({ uuid: answer.uuid })])
  const handed = await handedText(api.sql, body.destination, body.channelType)
  return { uuid: answer.uuid as string, text: handed, code: codeIn(handed) }
}

const check = async (uuid: string, code: string | number) => {
  const { status, body } = await post('/verifier/check', { uuid, code })
  expect(status).toBe(200)
  return body.status
}

const today = () => new Date().toISOString().slice(0, 10)
const statistics = () =>
  verificationStatistics(api.sql, side.companyId, { from: today(), to: today(), verifierId: gatewayId })

describe('a code', () => {
  beforeEach(async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
  })

  test('confirms the number that got it, and confirms it again until its lifetime ends', async () => {
    const { uuid, code } = await sent({ destination: aNumber() })
    expect(code).toMatch(/^\d{6}$/)
    expect(await check(uuid, code)).toBe('CONFIRMED')
    expect(await check(uuid.toUpperCase(), code)).toBe('CONFIRMED')
    expect(await check(uuid, wrongCode(code))).toBe('WRONG_CODE')
    await letPass(api.sql, 301)
    expect(await check(uuid, code)).toBe('EXPIRED')
  })

  test('has three tries; the right code comes too late after them', async () => {
    const { uuid, code } = await sent({ destination: aNumber() })
    for (let i = 0; i < 3; i++) expect(await check(uuid, wrongCode(code))).toBe('WRONG_CODE')
    expect(await check(uuid, code)).toBe('EXPIRED')
    expect(await check(uuid, wrongCode(code))).toBe('EXPIRED')
  })

  test('is not good any more when its lifetime is over', async () => {
    const { uuid, code } = await sent({ destination: aNumber() })
    await letPass(api.sql, 301)
    expect(await check(uuid, code)).toBe('EXPIRED')
  })

  test.each<[VerifierChannel, RegExp]>([
    ['SMS', /^Your code: \d{6}$/],
    ['VOICECODE', /^Your code: \d{6}$/],
    ['FLASHCALL', /^\d{4}$/],
    ['TELEGRAM_GATEWAY', /^Your code: \d{6}$/],
    ['TELEGRAM', /^Your code: \d{6}$/],
  ])('goes by %s', async (channelType, form) => {
    const all = await aVerifier(api.sql, side.companyId, {
      channels: ['SMS', 'VOICECODE', 'FLASHCALL', 'TELEGRAM_GATEWAY', 'TELEGRAM'],
      senders: { TELEGRAM: 'romashka_bot' },
    })
    const { uuid, code, text } = await sent({ destination: aNumber(), channelType, gatewayId: all })
    expect(text).toMatch(form)
    expect(await check(uuid, code)).toBe('CONFIRMED')
  })

  test('is shown masked wherever messages are shown, and is nowhere in the database but in the outbox', async () => {
    const destination = aNumber()
    // A short code could be in a time or a key by chance.
    const long = await aVerifier(api.sql, side.companyId, { codeLength: 8 })
    const { uuid, code } = await sent({ destination, gatewayId: long })
    await eventually(async () => {
      const { body } = await api.call({ method: 'GET', path: `/message/${uuid}`, key: side.keys.MESSAGE })
      expect(body).toMatchObject({
        status: 'delivered',
        sendingMethod: 'VERIFIER_API',
        trafficType: 'AUTHORIZE',
        content: 'Your code: ********',
        specialContent: null,
        destination,
      })
    })
    const [row] = await api.sql`select sealed from messages where message_uuid = ${uuid}`
    expect(row).toEqual({ sealed: null })
    const tables = await api.sql<{ name: string }[]>`
      select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'simulator_batches'`
    for (const { name } of tables) {
      const found = await api.sql`select from ${api.sql(name)} t where t::text like ${`%${code}%`} limit 1`
      expect([name, found.length]).toEqual([name, 0])
    }
    expect(api.errors.join('\n')).not.toContain(code)
  })

  test('is encrypted while it waits', async () => {
    await api.sql`update gateways set paused = true`
    const { body } = await send({ destination: aNumber() })
    const [row] = await api.sql`select text, sealed from messages where message_uuid = ${body.uuid}`
    expect(row!.text).toBe('Your code: ******')
    expect(new CodeBox(secret).open(row!.sealed).text).toMatch(/^Your code: \d{6}$/)
    expect(() => new CodeBox('another secret of 32 characters, or more').open(row!.sealed)).toThrow()
  })

  test('falls back to the next channel after a failure, with the same code, which counts there', async () => {
    const destination = aNumber('0003') // accepted, then undelivered
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 60 })
    const { uuid, code } = await sent({ destination, gatewayId: gateway })
    expect(codeIn(await handedText(api.sql, destination, 'VOICECODE'))).toBe(code)
    expect(await check(uuid, code)).toBe('CONFIRMED')
    const rows = await verificationStatistics(api.sql, side.companyId, {
      from: today(),
      to: today(),
      verifierId: gateway,
    })
    expect(rows.map(({ channelType, sent, confirmed }) => ({ channelType, sent, confirmed }))).toEqual([
      { channelType: 'SMS', sent: 1, confirmed: 0 },
      { channelType: 'VOICECODE', sent: 1, confirmed: 1 },
    ])
  })

  test('does not fall back once the number is confirmed', async () => {
    const destination = aNumber('0005') // accepted, no receipt ever
    const gateway = await aVerifier(api.sql, side.companyId, { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 60 })
    const { uuid, code } = await sent({ destination, gatewayId: gateway })
    expect(await check(uuid, code)).toBe('CONFIRMED')
    const due = () =>
      api.sql<{ kind: string }[]>`select kind from message_timers where message_uuid = ${uuid} and kind = 'step'`
    await eventually(async () => expect(await due()).toHaveLength(1))
    await api.sql`update message_timers set due_at = now() where message_uuid = ${uuid}`
    await eventually(async () => expect(await due()).toHaveLength(0))
    expect(await api.sql`select from messages where cascade_uuid = ${uuid} and cascade_step = 2`).toHaveLength(0)
  })

  test('is counted as sent, delivered and confirmed, with its price', async () => {
    const own = await aVerifier(api.sql, side.companyId)
    const first = await sent({ destination: aNumber('0001'), gatewayId: own })
    await sent({ destination: aNumber('0003'), gatewayId: own })
    expect(await check(first.uuid, first.code)).toBe('CONFIRMED')
    await eventually(async () => {
      const [row] = await verificationStatistics(api.sql, side.companyId, {
        from: today(),
        to: today(),
        verifierId: own,
      })
      expect(row).toMatchObject({ channelType: 'SMS', country: 'RU', sent: 2, delivered: 1, confirmed: 1 })
    })
    const [price] = await api.sql<
      { price: bigint }[]
    >`select final_price as price from messages where message_uuid = ${first.uuid}`
    const [row] = await verificationStatistics(api.sql, side.companyId, { from: today(), to: today(), verifierId: own })
    expect(row!.cost).toBe(price!.price)
  })

  test('can end with the lines by which phones fill it in, the one for browsers last', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, { webOtpHost: 'shop.example', androidHash: 'FA+9qCX9VSu' })
    const { text, code } = await sent({ destination: aNumber(), gatewayId: gateway })
    expect(text).toBe(`Your code: ${code}\n\nFA+9qCX9VSu\n@shop.example #${code}`)
  })

  test('says what the verifier and the request say, in the language asked for', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, {
      codeLength: 8,
      texts: { en: 'Code {code} for {shop}', ru: 'Код {code} для {shop}' },
    })
    const destination = aNumber()
    const { status } = await send({ destination, gatewayId: gateway, lang: 'ru', substitutions: { shop: 'Ромашка' } })
    expect(status).toBe(200)
    expect(await handedText(api.sql, destination)).toMatch(/^Код \d{8} для Ромашка$/)
  })
})

describe('guesses', () => {
  const aGuess = async () => {
    const { body } = await send({ destination: aNumber() })
    return body.uuid as string
  }

  test('ten thousand at once, over two processes, never get more than three tries', async () => {
    const uuid = await aGuess()
    const pools = [connect(api.url, PATIENT), connect(api.url, PATIENT)]
    const checkers = pools.map(pool => new CodeChecker(pool, new CodeBox(secret)))
    const guesses = Array.from({ length: 10_000 }, (_, i) =>
      checkers[i % 2]!.check(side.companyId, uuid, String(i).padStart(6, 'x')),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    await Promise.all(pools.map(pool => pool.end()))
    expect(statuses.filter(status => status === 'WRONG_CODE')).toHaveLength(3)
    expect(statuses.filter(status => status === 'EXPIRED')).toHaveLength(9997)
  })

  test('the right code, typed many times at once, is confirmed each time and counted once', async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
    const before = (await statistics())[0]?.confirmed ?? 0
    const { uuid, code } = await sent({ destination: aNumber() })
    const statuses = await Promise.all(Array.from({ length: 50 }, () => check(uuid, code)))
    expect(new Set(statuses)).toEqual(new Set(['CONFIRMED']))
    expect((await statistics())[0]!.confirmed).toBe(before + 1)
  })

  test('codes are compared as they are written: spaces and missing zeros make them wrong', async () => {
    const uuid = await aGuess()
    const hash = new CodeBox(secret).hash(uuid, '000042')
    await api.sql`update verifications set code_hashes = array[decode(${hash}, 'hex')], tries_left = 10 where verification_uuid = ${uuid}`
    expect(await check(uuid, 42)).toBe('WRONG_CODE')
    expect(await check(uuid, ' 000042')).toBe('WRONG_CODE')
    expect(await check(uuid, '000042')).toBe('CONFIRMED')
  })

  test('one more code for a verification confirms it as well as the first', async () => {
    const uuid = await aGuess()
    const box = new CodeBox(secret)
    const more = {
      uuid,
      verificationUuid: uuid,
      verifierId: gatewayId,
      channelType: 'SMS' as const,
      destination: aNumber(),
      country: 'RU',
      prefix: '7916000',
      clientAddress: null,
      lifetimeSeconds: 60,
      tries: 3,
      pauseSeconds: 60,
      limits: defaultLimits,
      hashesFor: (of: string) => [box.hash(of, '000042')],
    }
    await api.sql.begin(tx => storeCodes(tx, side.companyId, [more]))
    expect(await check(uuid, '000043')).toBe('WRONG_CODE')
    expect(await check(uuid, '000042')).toBe('CONFIRMED')
  })

  test.each(['nonsense', '01a1ddc9-5d43-75d6-92c4-0cba6653d834', "' or true --"])('%s is not found', async uuid => {
    expect(await check(uuid, '123456')).toBe('NOT_FOUND')
  })

  test('a verification of another company is not found', async () => {
    const uuid = await aGuess()
    const foreign = await aMessagingSide(api.sql)
    const { body } = await post('/verifier/check', { uuid, code: '123456' }, foreign.keys.VERIFIER)
    expect(body).toEqual({ status: 'NOT_FOUND' })
  })
})

describe('refused', () => {
  test.each(['MESSAGE', 'ENTITY', 'BUILDER_WIDGET'] as const)('a key of the type %s', async type => {
    const { status, body } = await post(
      '/verifier/send',
      { channelType: 'SMS', gatewayId, destination: aNumber() },
      side.keys[type],
    )
    expect([status, body.error.code]).toEqual([403, 4030])
  })

  test.each<[string, object, number, number, RegExp]>([
    ['an unknown verifier', { gatewayId: 'zzzzzz' }, 404, 4040, /Verifier/],
    [
      'a channel that the verifier has not',
      { channelType: 'VIBER' },
      400,
      4000,
      /channelType: the verifier sends by SMS/,
    ],
    ['a channel that carries no codes', { channelType: 'PUSH' }, 400, 4000, /channelType/],
    ['a landline', { destination: '74951234567' }, 400, 4000, /no valid number|no mobile number/],
    ['a foreign landline', { destination: '+442079460000' }, 400, 4000, /no mobile number/],
    ['nonsense', { destination: 'abc' }, 400, 4000, /no valid number/],
    ['an address that is none', { clientIp: '300.1.1.1' }, 400, 4000, /clientIp/],
  ])('%s', async (_, given, status, code, msg) => {
    const answer = await send({ destination: aNumber(), ...given })
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.body.error.msg).toMatch(msg)
  })

  test('a country that the verifier does not serve', async () => {
    const gateway = await aVerifier(api.sql, side.companyId, { countries: ['KZ'] })
    const { status, body } = await send({ destination: aNumber(), gatewayId: gateway })
    expect([status, body.error.msg]).toEqual([400, 'destination: numbers of RU are not served'])
  })

  test('a verifier of another company', async () => {
    const foreign = await aMessagingSide(api.sql)
    const theirs = await aVerifier(api.sql, foreign.companyId)
    expect((await send({ destination: aNumber(), gatewayId: theirs })).status).toBe(404)
  })

  test('a number on the blacklist', async () => {
    const destination = aNumber()
    await api.sql`insert into blacklist (company_id, destination) values (${side.companyId}, ${destination})`
    const { status, body } = await send({ destination })
    expect([status, body.error.code]).toEqual([400, 7402])
  })

  test('a company that cannot pay', async () => {
    const poor = await aMessagingSide(api.sql)
    await api.sql`update companies set budget = 0 where company_id = ${poor.companyId}`
    const gateway = await aVerifier(api.sql, poor.companyId)
    const { status, body } = await post(
      '/verifier/send',
      { channelType: 'SMS', gatewayId: gateway, destination: aNumber() },
      poor.keys.VERIFIER,
    )
    expect([status, body.error.code]).toEqual([402, 4020])
    expect(await api.sql`select from verification_limits where company_id = ${poor.companyId}`).toHaveLength(0)
  })
})

test('the same Idempotency-Key sends one code', async () => {
  const destination = aNumber()
  const first = await send({ destination }, { 'idempotency-key': 'once' })
  const second = await send({ destination }, { 'idempotency-key': 'once' })
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.body).toEqual(first.body)
  expect(await api.sql`select from messages where destination = ${destination}`).toHaveLength(1)
})

describe('limits', () => {
  const limited = async (given: object = {}) => {
    const answer = await send({ destination: aNumber(), ...given })
    return answer.status === 429 ? Number(answer.headers['retry-after']) : answer.status
  }

  test('a number waits a minute for its second code, two for the third, four for the fourth', async () => {
    const destination = aNumber()
    for (const pause of [60, 120, 240]) {
      expect(await limited({ destination })).toBe(200)
      const wait = await limited({ destination })
      expect(wait).toBeGreaterThan(pause - 10)
      expect(wait).toBeLessThanOrEqual(pause)
      await letPass(api.sql, pause + 1)
    }
  })

  test('a number that confirmed its code waits for the short pause only', async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
    const destination = aNumber()
    expect(await limited({ destination })).toBe(200)
    await handedText(api.sql, destination)
    await letPass(api.sql, 61)
    const { body } = await send({ destination })
    await eventually(async () =>
      expect(await api.sql`select from simulator_outbox() where destination = ${destination}`).toHaveLength(2),
    )
    expect(await check(body.uuid, codeIn(await handedText(api.sql, destination)))).toBe('CONFIRMED')
    await letPass(api.sql, 61) // two minutes are due without the confirmation
    expect(await limited({ destination })).toBe(200)
  })

  test('ten codes a day for a number, whether it confirms them or not', async () => {
    const destination = aNumber()
    for (let i = 0; i < 10; i++) {
      expect(await limited({ destination })).toBe(200)
      await letPass(api.sql, 2 * 3600)
      await api.sql`update verification_limits set streak = 0`
    }
    expect(await limited({ destination })).toBeGreaterThan(3600)
  })

  test.each([
    ['address', 'perAddress', { clientIp: '203.0.113.7' }],
    ['verifier', 'perVerifier', {}],
    ['company', 'perCompany', {}],
  ] as const)('by %s act for other numbers too', async (_, limit, given) => {
    const { defaultLimits } = await import('../../../domain/verifiers/verifier.ts')
    const gateway = await aVerifier(api.sql, side.companyId, { limits: { ...defaultLimits, [limit]: 3 } })
    const answers = await Promise.all(Array.from({ length: 12 }, () => limited({ ...given, gatewayId: gateway })))
    expect(answers.filter(answer => answer === 200)).toHaveLength(3)
    expect(answers.filter(answer => answer > 3000 && answer <= 3600)).toHaveLength(9)
  })

  test('parallel requests for one number send one code', async () => {
    const destination = aNumber()
    const answers = await Promise.all(Array.from({ length: 20 }, () => limited({ destination })))
    expect(answers.filter(answer => answer === 200)).toHaveLength(1)
  })

  test('a prefix whose codes are not confirmed is blocked for an hour, then for longer', async () => {
    const fill = async (count: number, confirmed: number) => {
      for (let i = 0; i < count; i++) {
        expect(await limited({ destination: `7925555${String(numbers++).padStart(4, '0')}` })).toBe(200)
      }
      await api.sql`
        update verifications set confirmed_at = now() where verification_uuid in (
          select verification_uuid from verifications where prefix = '7925555' order by verification_uuid desc limit ${confirmed})`
    }
    await fill(29, 0)
    // Codes that were sent a moment ago may still be typed: they are not held against the prefix.
    await fill(11, 0)
    await ageCodesTo(api.sql, '7925555')
    await fill(10, 0)
    expect(await limited({ destination: '79255559999' })).toBeGreaterThan(3500)
    expect(await limited({ destination: '79255569999' })).toBe(200)
    const [row] = await api.sql`select reason, blocks from verification_limits where subject = 'prefix:7925555'`
    expect(row).toEqual({ reason: '0 of 40 codes confirmed', blocks: 1 })
  })
})
