import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Verifier } from '../../domain/verifiers/verifier.ts'
import { changeVerifier, requireAnyVerifier } from '../../domain/verifiers/verifiers.ts'
import { printedBy } from '../../testing/command-line.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender } from '../../testing/factories.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'
import { codeGateways, codeIn, handedText, secret } from '../../testing/verification.ts'

const api = useMessagingApi()
const { anEngine } = useEngines(api)
let side: MessagingSide
let of: string[]

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  of = ['--company', String(side.companyId)]
  for (const channelType of ['SMS', 'VIBER'] as const)
    await anApprovedSender(api.sql, side.companyId, { channelType, senderName: 'ROMASHKA' })
})

beforeEach(() => api.sql`truncate verifiers, verification_limits`)

const tidings = (...words: string[]) => printedBy(words, { DATABASE_URL: api.url, TIDINGS_SECRET: secret })
const verifier = (...words: string[]) => tidings('verifier', ...words)
const answerOf = async (...words: string[]) => JSON.parse(await verifier(...words, '--json'))
const create = async (...words: string[]): Promise<string> => (await answerOf('create', ...of, ...words)).gatewayId

const everyOption = [
  ['--name', 'Login'],
  ['--channels', 'viber, SMS ,VOICECODE'],
  ['--senders', 'SMS=ROMASHKA,VIBER=ROMASHKA'],
  ['--fallback', '20'],
  ['--length', '4'],
  ['--lifetime', '120'],
  ['--tries', '5'],
  ['--pause', '30'],
  ['--text', 'en={code} is your code for {shop}'],
  ['--text', 'DE=Ihr Code: {code}'],
  ['--countries', 'ru,kz'],
  ['--web-otp', 'shop.example'],
  ['--android-hash', 'FA+9qCX9VSu'],
  ['--callback-url', 'https://shop.example/codes'],
  ['--per-number', '5'],
  ['--per-address', '6'],
  ['--per-prefix', '70'],
  ['--per-verifier', '800'],
  ['--per-company', '900'],
  ['--least-confirmed', '0.25'],
].flat()

const everySetting = {
  name: 'Login',
  channels: ['VIBER', 'SMS', 'VOICECODE'],
  senders: { SMS: 'ROMASHKA', VIBER: 'ROMASHKA' },
  fallbackSeconds: 20,
  codeLength: 4,
  lifetimeSeconds: 120,
  tries: 5,
  pauseSeconds: 30,
  texts: { en: '{code} is your code for {shop}', de: 'Ihr Code: {code}' },
  countries: ['RU', 'KZ'],
  webOtpHost: 'shop.example',
  androidHash: 'FA+9qCX9VSu',
  callbackUrl: 'https://shop.example/codes',
  limits: { perNumber: 5, perAddress: 6, perPrefix: 70, perVerifier: 800, perCompany: 900, leastConfirmed: 0.25 },
}

describe('a verifier', () => {
  test('is made with every option, shown and listed', async () => {
    const gatewayId = await create(...everyOption)
    expect(gatewayId).toMatch(/^[a-z0-9]{6}$/)
    const shown = { gatewayId, companyId: side.companyId, ...everySetting, createdAt: expect.any(String) }
    expect(await answerOf('show', '--gateway', gatewayId)).toEqual(shown)
    expect(await answerOf('list')).toEqual([shown])
    expect(await answerOf('list', ...of)).toEqual([shown])
    expect(await verifier('list')).toMatch(
      new RegExp(`^GATEWAY ID .*\\n${gatewayId} +${side.companyId} +Login +VIBER,SMS,VOICECODE +4 +120 s +5\\n$`),
    )
    const text = await verifier('show', '--gateway', gatewayId)
    for (const line of [
      /^Channels +VIBER as ROMASHKA, SMS as ROMASHKA, VOICECODE as voicecode$/m,
      /^Fallback +to the next channel after 20 s without delivery$/m,
      /^Code +4 digits, valid for 120 s, 5 tries$/m,
      /^Text de +Ihr Code: \{code\}$/m,
      /^Least confirmed +25 % of the codes for a prefix$/m,
    ])
      expect(text).toMatch(line)
  })

  test('that is made without options may use every channel that needs no name of its own, and tells what to do next', async () => {
    const text = await verifier('create', ...of)
    expect(text).toMatch(
      /^Verifier \w{6} of company \d+ sends codes by SMS, VOICECODE, FLASHCALL, TELEGRAM_GATEWAY\.\n/,
    )
    expect(text).toContain(`\`tidings key create --company ${side.companyId} --type VERIFIER\``)
    const [one] = await answerOf('list')
    expect(one).toMatchObject({
      name: 'Verifier',
      codeLength: 6,
      lifetimeSeconds: 300,
      tries: 3,
      fallbackSeconds: null,
    })
  })

  test('may use the channels that it is given names for', async () => {
    const gatewayId = await create('--senders', 'VIBER=ROMASHKA')
    expect((await answerOf('show', '--gateway', gatewayId)).channels).toContain('VIBER')
  })

  test('with a name that the company cannot use says so at once', async () => {
    const text = await verifier('create', ...of, '--channels', 'SMS,VIBER', '--senders', 'SMS=UNKNOWN,VIBER=ROMASHKA')
    expect(text).toMatch(/\nCodes by SMS are refused for now: there is no name UNKNOWN for SMS in company \d+\.\n$/)
    expect(text).not.toContain('Codes by VIBER')
  })

  test('keeps every one of several changes that are made at once', async () => {
    const gatewayId = await create('--senders', 'VIBER=ROMASHKA')
    const read = await requireAnyVerifier(api.sql, 'API', gatewayId)
    const withText = (language: string) => (before: Verifier) => ({
      settings: { texts: { ...before.settings.texts, [language]: 'Code {code}' } },
    })
    const languages = ['de', 'fr', 'it', 'pl']
    await Promise.all([
      ...languages.map(language => changeVerifier(api.sql, read, withText(language))),
      changeVerifier(api.sql, read, { settings: { codeLength: 8 } }),
      changeVerifier(api.sql, read, { name: 'Renamed' }),
    ])
    const { name, settings } = await requireAnyVerifier(api.sql, 'API', gatewayId)
    expect(Object.keys(settings.texts)).toEqual(expect.arrayContaining(['en', 'ru', ...languages]))
    expect([name, settings.codeLength]).toEqual(['Renamed', 8])
  })

  test('keeps what a change does not give', async () => {
    const gatewayId = await create(...everyOption)
    const before = await answerOf('show', '--gateway', gatewayId)
    const set = (...words: string[]) => answerOf('set', '--gateway', gatewayId, ...words)
    expect(await set('--length', '8')).toEqual({ ...before, codeLength: 8 })
    expect(await set('--per-number', '9')).toEqual({
      ...before,
      codeLength: 8,
      limits: { ...before.limits, perNumber: 9 },
    })
    const changed = await set('--senders', 'VIBER=Romashka', '--text', 'ru=Код {code}', '--text', 'de=off')
    expect(changed.senders).toEqual({ SMS: 'ROMASHKA', VIBER: 'Romashka' })
    expect(changed.texts).toEqual({ en: before.texts.en, ru: 'Код {code}' })
    const off = ['--fallback', 'off', '--web-otp', 'off', '--android-hash', 'off', '--callback-url', 'off']
    expect(await set(...off, '--countries', 'any', '--senders', 'SMS=off')).toMatchObject({
      fallbackSeconds: null,
      webOtpHost: null,
      androidHash: null,
      callbackUrl: null,
      countries: [],
      senders: { VIBER: 'Romashka' },
      codeLength: 8,
    })
  })

  test('that is deleted is gone, and cannot be deleted twice', async () => {
    const gatewayId = await create()
    expect(await verifier('delete', '--gateway', gatewayId)).toBe(
      `Verifier ${gatewayId} is deleted. Codes that were sent can still be checked.\n`,
    )
    expect(await verifier('list')).toBe('There are no verifiers: `tidings verifier create --company N` makes one.\n')
    const gone = `There is no verifier "${gatewayId}": \`tidings verifier list\` shows them.`
    for (const word of ['delete', 'show']) await expect(verifier(word, '--gateway', gatewayId)).rejects.toThrow(gone)
    await expect(verifier('set', '--gateway', gatewayId, '--length', '5')).rejects.toThrow(gone)
  })

  const wrong: [string, string, string][] = [
    ['--name', ' ', '--name must have 1 to 100 characters.'],
    ['--channels', 'SMS,PIGEON', '--channels takes SMS, VOICECODE, FLASHCALL,'],
    ['--channels', 'SMS,sms', '--channels must name each channel once.'],
    ['--channels', ',', '--channels must name at least one channel.'],
    ['--channels', 'VIBER', '--senders must give a name for VIBER, such as VIBER=NAME.'],
    ['--senders', 'ROMASHKA', '--senders takes pairs such as SMS=ROMASHKA, not "ROMASHKA".'],
    ['--senders', 'PUSH=ROMASHKA', '--senders takes SMS, VOICECODE'],
    [
      '--fallback',
      '20',
      '--fallback needs --channels with two channels or more in their order, such as SMS,VOICECODE.',
    ],
    ['--length', '3', '--length must be a whole number from 4 to 8.'],
    ['--length', '4.5', '--length must be a whole number from 4 to 8.'],
    ['--length', 'six', '--length must be a number, not "six".'],
    ['--lifetime', '29', '--lifetime must be a whole number from 30 to 3600.'],
    ['--tries', '11', '--tries must be a whole number from 1 to 10.'],
    ['--pause', '9', '--pause must be a whole number from 10 to 3600.'],
    ['--text', 'Your code', '--text takes pairs such as "en=Your code: {code}", not "Your code".'],
    ['--text', 'en=Your code', '--text for en must contain {code}.'],
    ['--text', 'en={code} {code}', '--text for en must contain {code} only once.'],
    ['--text', 'en=off', '--text must be given for 1 to 20 languages.'],
    ['--text', 'english={code}', '--text must begin with a language code such as en or ru, not "english".'],
    ['--text', `en={code}${'x'.repeat(500)}`, '--text for en must have at most 500 characters.'],
    ['--countries', 'RU,XX', '--countries must be ISO codes such as RU,KZ, not "XX".'],
    ['--web-otp', 'https://shop.example', '--web-otp must be the host of your site, such as shop.example.'],
    ['--android-hash', 'abc', '--android-hash must be the 11 characters that Google Play services made'],
    ['--callback-url', 'ftp://shop.example', '--callback-url must be an http or https address.'],
    ['--per-number', '0', '--per-number must be a whole number from 1 to 1000000.'],
    ['--per-company', '1000001', '--per-company must be a whole number from 1 to 1000000.'],
    ['--least-confirmed', '2', '--least-confirmed must be from 0 to 1, such as 0.1.'],
  ]
  test.each(wrong)('%s %s is refused in one sentence, and nothing is made', async (option, value, sentence) => {
    await expect(verifier('create', ...of, option, value)).rejects.toThrow(sentence)
    expect(await answerOf('list')).toEqual([])
  })

  test('falls back within the lifetime of a code, over two channels or more', async () => {
    const gatewayId = await create('--channels', 'SMS,VOICECODE', '--fallback', '30')
    const set = (...words: string[]) => verifier('set', '--gateway', gatewayId, ...words)
    await expect(set('--fallback', '301')).rejects.toThrow(
      '--fallback must be a whole number from 10 to 300, the lifetime of a code.',
    )
    await expect(set('--channels', 'SMS')).rejects.toThrow(
      '--fallback needs two channels or more in --channels, such as SMS,VOICECODE.',
    )
    await expect(set()).rejects.toThrow('There is nothing to change: `tidings verifier set --help` shows the options.')
  })

  test.each([['create'], ['list'], ['stats'], ['blocked'], ['unblock', '--subject', 'company']])(
    '%s needs a company that exists',
    async (...words) => {
      await expect(verifier(...words, '--company', '987654')).rejects.toThrow(
        'There is no company 987654: `tidings company list` shows them.',
      )
    },
  )
})

describe('codes', () => {
  const send = (gatewayId: string, destination: string) =>
    api.call({
      method: 'POST',
      path: '/verifier/send',
      key: side.keys.VERIFIER,
      body: { channelType: 'SMS', gatewayId, destination, clientIp: '203.0.113.7' },
    })

  const confirm = async (uuid: string, code: string) => {
    const call = { method: 'POST', path: '/verifier/check', key: side.keys.VERIFIER, body: { uuid, code } } as const
    expect((await api.call(call)).body).toEqual({ status: 'CONFIRMED' })
  }

  test('are counted by verifier, channel and country, with their cost and the share that was confirmed', async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
    const gatewayId = await create()
    const sent = await send(gatewayId, '79160000001')
    await send(gatewayId, '79160010003') // accepted, then undelivered
    await send(gatewayId, '77012340001')
    await confirm(sent.body.uuid, codeIn(await handedText(api.sql, '79160000001')))

    const stats = (...words: string[]) => answerOf('stats', ...of, '--gateway', gatewayId, ...words)
    const [abroad, russian] = await eventually(async () => {
      const rows = await stats()
      expect(rows).toMatchObject([
        { country: 'KZ', sent: 1, delivered: 1, confirmed: 0, secondsToConfirm: null, costOfConfirmed: null },
        { country: 'RU', sent: 2, delivered: 1, confirmed: 1, secondsToConfirm: expect.any(Number) },
      ])
      return rows
    })
    expect(russian).toMatchObject({ gatewayId, channelType: 'SMS', day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
    expect(Number(russian.cost)).toBeGreaterThan(0)
    expect(russian.costOfConfirmed).toBe(russian.cost)
    const total = (Number(abroad.cost) + Number(russian.cost)).toFixed(4)

    const lines = (await verifier('stats', ...of, '--gateway', gatewayId)).split('\n')
    expect(lines[0]).toMatch(/^DAY +VERIFIER +CHANNEL +COUNTRY +SENT +DELIVERED +CONFIRMED +TIME +COST +PER CONFIRMED$/)
    expect(lines[1]).toMatch(/ SMS +KZ +1 +1 \(100 %\) +0 \(0 %\) +- +[\d.]+ +-$/)
    expect(lines[2]).toMatch(/ SMS +RU +2 +1 \(50 %\) +1 \(50 %\) +[\d.]+ s +[\d.]+ +[\d.]+$/)
    expect(lines[3]).toMatch(new RegExp(`^All +3 +2 \\(67 %\\) +1 \\(33 %\\) +[\\d.]+ s +${total} +${total}$`))

    expect(await stats('--from', russian.day, '--to', russian.day)).toHaveLength(2)
    expect(await verifier('stats', ...of, '--from', '2020-01-01', '--to', '2020-01-31')).toBe(
      'No codes were sent from 2020-01-01 to 2020-01-31 (UTC).\n',
    )
    await verifier('delete', '--gateway', gatewayId)
    expect(await stats()).toHaveLength(2)
  })

  test.each([
    [['--from', 'yesterday'], '--from must be a day such as 2026-05-01, not "yesterday".'],
    [['--to', '2026-02-30'], '--to must be a day such as 2026-05-01, not "2026-02-30".'],
    [['--from', '2026-02-02', '--to', '2026-02-01'], '--from must not be after --to: 2026-02-02 is after 2026-02-01.'],
    [
      ['--gateway', 'unknown'],
      /^Company \d+ has no verifier "unknown": `tidings verifier list` and `tidings widget list` show them\.$/,
    ],
  ])('statistics with %j are refused in one sentence', async (words, sentence) => {
    await expect(verifier('stats', ...of, ...words)).rejects.toThrow(sentence)
  })

  test('that are too many block their subject, which is listed with the reason and can be unblocked', async () => {
    const gatewayId = await create('--per-verifier', '1', '--per-prefix', '2')
    expect(await verifier('blocked')).toBe('Nothing is blocked.\n')
    expect((await send(gatewayId, '79160001234')).status).toBe(200)
    expect((await send(gatewayId, '79160001235')).status).toBe(429)
    const subject = `verifier:${gatewayId}`
    const blocked = {
      companyId: side.companyId,
      subject,
      blockedUntil: expect.any(String),
      blocks: 1,
      reason: '1 code within an hour',
    }
    expect(await answerOf('blocked')).toEqual([blocked])
    expect(await answerOf('blocked', ...of)).toEqual([blocked])
    expect(await verifier('blocked')).toMatch(
      /^COMPANY +SUBJECT +BLOCKED UNTIL +LEFT +TIMES +WHY\n\d+ +verifier:\w{6} +\S+T[\d:]{8}Z +(\d+ min|1 h 0 min) +1 +1 code within an hour\n`tidings verifier unblock .*\n$/,
    )

    expect(await verifier('unblock', ...of, '--subject', subject)).toBe(
      `Codes are sent again for ${subject} of company ${side.companyId}.\n`,
    )
    expect((await send(gatewayId, '79160001235')).status).toBe(200)
    expect((await answerOf('blocked')).map((one: { subject: string }) => one.subject).sort()).toEqual([
      'prefix:7916000',
      subject,
    ])
  })

  test('for a number in its pause go out after unblocking the number', async () => {
    const gatewayId = await create()
    expect((await send(gatewayId, '79160001236')).status).toBe(200)
    expect((await send(gatewayId, '79160001236')).status).toBe(429)
    await verifier('unblock', ...of, '--subject', 'number:79160001236')
    expect((await send(gatewayId, '79160001236')).status).toBe(200)
    await expect(verifier('unblock', ...of, '--subject', 'number:79160009999')).rejects.toThrow(
      /^No codes are counted for "number:79160009999" in company \d+: `tidings verifier blocked` shows subjects/,
    )
  })
})
