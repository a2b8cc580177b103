import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sealCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { changeVerifier, requireAnyVerifier } from '../../domain/verifiers/verifiers.ts'
import { printedBy } from '../../testing/command-line.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useEngines } from '../../testing/engines.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'
import { codeGateways, codeIn, handedText, letPass, secret, wrongCode } from '../../testing/verification.ts'
import { aWidget, SHOP } from '../../testing/widget.ts'

const api = useMessagingApi()
const { anEngine } = useEngines(api)
let side: MessagingSide
let folder: string
let url: string
let numbers = 0

const aNumber = () => `7917${String(++numbers).padStart(3, '0')}1234`

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  folder = await mkdtemp(join(tmpdir(), 'tidings-browser-'))
  url = await api.listen('127.0.0.1')
})

afterAll(() => rm(folder, { recursive: true }))

beforeEach(() => api.sql`truncate verification_limits, widget_sessions, widget_errors`)

/** `PORT` 0: no service is found, and the command works by itself. */
const env = (more: Record<string, string> = {}) => ({
  DATABASE_URL: api.url,
  TIDINGS_SECRET: secret,
  TIDINGS_DATA: folder,
  PORT: '0',
  ...more,
})
const play = (words: string[], more?: Record<string, string>) => printedBy(['simulator', 'widget', ...words], env(more))
const answerOf = async (...words: string[]) => JSON.parse(await play([...words, '--json']))
const begin = async (widgetId: string, destination: string, ...words: string[]): Promise<string> =>
  (await answerOf('--widget', widgetId, '--destination', destination, ...words)).key

const server = async (action: 'send' | 'check', body: object) =>
  (await api.call({ method: 'POST', path: `/verifier/widget/${action}`, key: side.keys.VERIFIER, body })).body

const codeFor = async (destination: string, channelType?: string) =>
  codeIn(await handedText(api.sql, destination, channelType))

describe('the simulated browser', () => {
  beforeEach(async () => {
    await codeGateways(api.sql)
    await anEngine({ secret })
  })

  test('passes our captcha, gets a key, and types codes for it, in this process and over the network alike', async () => {
    const widgetId = await aWidget(api.sql, side.companyId, { page: { captcha: 'altcha' } })
    for (const way of [[], ['--url', url]]) {
      const destination = aNumber()
      const begun = await answerOf('--widget', widgetId, '--destination', destination, ...way)
      expect(begun).toEqual({ key: expect.stringMatching(`^${widgetId}\\.`) })
      const { key } = begun
      expect(await server('send', { key })).toEqual({ messageUuid: expect.any(String) })
      const code = await codeFor(destination)
      expect(await answerOf('--key', key, '--code', wrongCode(code), ...way)).toEqual({ status: 'WRONG_CODE' })
      expect(await play(['--key', key, '--code', wrongCode(code), ...way])).toBe('WRONG_CODE, tries left: 1\n')
      expect(await server('check', { key })).toEqual({ status: 'WAITING' })
      expect(await answerOf('--key', key, '--code', code, ...way)).toEqual({ status: 'CONFIRMED' })
      expect(await server('check', { key })).toEqual({ status: 'CONFIRMED', destination })
      expect(await answerOf('--key', key, ...way)).toMatchObject({ state: 'CONFIRMED' })
    }
  })

  test('asks for the code itself where the widget is for site builders, and shows the signed result', async () => {
    const widgetId = await aWidget(api.sql, side.companyId, { page: { isBuilder: true } })
    const destination = aNumber()
    const key = await begin(widgetId, destination)
    const { status, result } = await answerOf('--key', key, '--code', await codeFor(destination))
    expect(status).toBe('CONFIRMED')
    expect(await server('check', { result })).toEqual({ status: 'CONFIRMED', destination })
  })

  test('asks again after the pause, by another channel, and is told how long the pause is', async () => {
    const channels = { channels: ['SMS' as const, 'VOICECODE' as const], pauseSeconds: 600 }
    const widgetId = await aWidget(api.sql, side.companyId, { settings: channels })
    const destination = aNumber()
    const key = await begin(widgetId, destination)
    await server('send', { key })
    await expect(answerOf('--key', key, '--again')).rejects.toThrow(
      /^The widget shows error 130: `tidings widget errors --company N` has the reason\. Try again in \d+ s\.$/,
    )
    await letPass(api.sql, 600)
    expect(await answerOf('--key', key, '--again', '--channel', 'voicecode')).toEqual({ key })
    expect(await answerOf('--key', key)).toMatchObject({ channelType: 'VOICECODE' })
    await server('send', { key })
    const spoken = (await handedText(api.sql, destination, 'VOICECODE')).replaceAll(/\D/g, '')
    expect(await answerOf('--key', key, '--code', spoken)).toEqual({ status: 'CONFIRMED' })
  })

  test('uses the channel and the language that it is told', async () => {
    const settings = { channels: ['SMS' as const, 'VIBER' as const], senders: { VIBER: 'ROMASHKA' } }
    const widgetId = await aWidget(api.sql, side.companyId, { settings })
    const destination = aNumber()
    const key = await begin(widgetId, destination, '--channel', 'SMS', '--lang', 'ru')
    await server('send', { key })
    expect(await handedText(api.sql, destination)).toMatch(/^Ваш код: \d{6}$/)
    const other = await begin(widgetId, aNumber(), '--channel', 'VIBER')
    expect(await answerOf('--key', other)).toMatchObject({ channelType: 'VIBER' })
  })
})

describe('the service', () => {
  const portOf = (address: string) => new URL(address).port
  const answeredBy = async (widgetId: string, more: Record<string, string>) =>
    /Answered by (.*)\.\n$/.exec(await play(['--widget', widgetId, '--destination', aNumber()], more))![1]

  test('is found at its own address or at its public one; another program there is none', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const otherPort = String((other.address() as AddressInfo).port)
    const here = { HOST: '127.0.0.1' }
    expect(await answeredBy(widgetId, { ...here, PORT: portOf(url) })).toBe(url)
    expect(await answeredBy(widgetId, { ...here, PORT: otherPort, TIDINGS_PUBLIC_URL: url })).toBe(url)
    expect(await answeredBy(widgetId, { ...here, PORT: otherPort })).toBe('this process, because no service answers')
    other.close()
  })

  test('that is named and does not answer is told with its address', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    const words = ['--widget', widgetId, '--destination', aNumber(), '--url']
    await expect(play([...words, 'http://127.0.0.1:1'])).rejects.toThrow(
      /^The service does not answer at http:\/\/127\.0\.0\.1:1: .+\.$/,
    )
    await expect(play([...words, 'localhost'])).rejects.toThrow('--url must be an http or https address')
  })
})

describe('the secret of the browser', () => {
  const kept = () => readdir(join(folder, 'simulated-browsers'))

  test('is kept in a file that its owner alone can read, until a later session finds it too old', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    const key = await begin(widgetId, aNumber())
    const [name] = await kept()
    const file = join(folder, 'simulated-browsers', name!)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'simulated-browsers'))).mode & 0o777).toBe(0o700)
    for (const each of await kept()) await utimes(join(folder, 'simulated-browsers', each), 0, 0)
    await begin(widgetId, aNumber())
    expect(await kept()).toHaveLength(1)
    await expect(play(['--key', key])).rejects.toThrow(/simulated-browsers has no session with this key: /)
  })

  test('that cannot be kept is told with the setting that helps', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    const file = join(folder, 'no-folder')
    await writeFile(file, '')
    await chmod(file, 0o600)
    const words = ['--widget', widgetId, '--destination', aNumber()]
    await expect(play(words, { TIDINGS_DATA: file })).rejects.toThrow(/cannot be kept in .*: TIDINGS_DATA names/)
  })
})

describe('what the browser is refused', () => {
  test('a page of another origin shows 310, and one of the widget does not', async () => {
    const widgetId = await aWidget(api.sql, side.companyId, { page: { origins: [SHOP, 'https://two.example'] } })
    expect(await begin(widgetId, aNumber(), '--origin', 'https://two.example')).toMatch(/\./)
    await expect(begin(widgetId, aNumber(), '--origin', 'https://bad.example')).rejects.toThrow(/shows error 310/)
  })

  test('a captcha of a provider is told to need a browser, with the command that changes it', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    await changeVerifier(api.sql, await requireAnyVerifier(api.sql, 'WIDGET', widgetId), {
      page: { captcha: 'turnstile', captchaSiteKey: 'site' },
      captchaSecret: sealCaptchaSecret(secret, 'secret'),
    })
    await expect(begin(widgetId, aNumber())).rejects.toThrow(
      `The captcha turnstile needs a real browser: \`tidings widget set --widget ${widgetId} --captcha altcha\``,
    )
  })

  test('a number that is not served is told as the service says it', async () => {
    const widgetId = await aWidget(api.sql, side.companyId)
    await expect(begin(widgetId, '123')).rejects.toThrow(/^The service refuses it \(4000\): destination.*\.$/)
  })

  test.each([
    [[], /^Give --widget ID and --destination NUMBER to begin, or --key KEY to continue\.$/],
    [['--widget', 'x'], /^Give --widget ID and --destination/],
    [['--widget', 'x', '--destination', '79160000001', '--code', '1'], /^--code and --again need --key KEY\.$/],
    [['--widget', 'x', '--destination', '79160000001'], /^There is no widget "x": `tidings widget list`/],
    [['--key', 'x.y', '--code', '1', '--again'], /^--code and --again do not go together\.$/],
    [['--key', 'x.y', '--destination', '79160000001'], /^--destination does not go with --key/],
    [['--key', 'x.y', '--widget', 'z'], /^The key is not of widget "z"\.$/],
    [['--key', 'x.y', '--code', '1'], /has no session with this key/],
  ])('%j is told in one sentence', async (words, sentence) => {
    await expect(play(words)).rejects.toThrow(sentence)
  })
})
