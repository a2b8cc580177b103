import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { findWidget } from '../../domain/verifiers/verifiers.ts'
import { logError } from '../../domain/widgets/errors.ts'
import { printedBy } from '../../testing/command-line.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'
import { secret } from '../../testing/verification.ts'
import { secretText } from './secret-text.ts'

const api = useMessagingApi()
let side: MessagingSide
let of: string[]
let folder: string

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  of = ['--company', String(side.companyId)]
  folder = await mkdtemp(join(tmpdir(), 'tidings-widgets-'))
})

afterAll(() => rm(folder, { recursive: true }))

beforeEach(() => api.sql`truncate verifiers, widget_errors`)

const env = () => ({ DATABASE_URL: api.url, TIDINGS_SECRET: secret, TIDINGS_PUBLIC_URL: 'https://tidings.example' })
const widget = (...words: string[]) => printedBy(['widget', ...words], env())
const answerOf = async (...words: string[]) => JSON.parse(await widget(...words, '--json'))
const SITE = ['--origins', 'https://shop.example']
const create = async (...words: string[]): Promise<string> =>
  (await answerOf('create', ...of, ...SITE, ...words)).widgetId
const show = (widgetId: string) => answerOf('show', '--widget', widgetId)
const set = (widgetId: string, ...words: string[]) => answerOf('set', '--widget', widgetId, ...words)
const keptSecret = async (widgetId: string) => {
  const { captchaSecret } = (await findWidget(api.sql, widgetId))!
  return captchaSecret && openCaptchaSecret(secret, captchaSecret)
}

const recaptcha = ['--captcha', 'recaptcha', '--captcha-site-key', 'site-1', '--captcha-secret', 'secret-1']

describe('a widget', () => {
  test('is made, shown and listed with the settings of its page and of its codes', async () => {
    const pages = 'https://shop.example/, HTTPS://WWW.Shop.example:443 ,http://localhost:3000,https://shop.example'
    const words = ['--name', 'Checkout', '--channels', 'SMS,VOICECODE', '--fallback', '30', '--builder', 'on']
    const { widgetId } = await answerOf('create', ...of, '--origins', pages, ...words, ...recaptcha)
    expect(widgetId).toMatch(/^[a-z0-9]{12}$/)
    const shown = await show(widgetId)
    expect(shown).toMatchObject({
      widgetId,
      companyId: side.companyId,
      name: 'Checkout',
      origins: ['https://shop.example', 'https://www.shop.example', 'http://localhost:3000'],
      captcha: 'recaptcha',
      captchaSiteKey: 'site-1',
      hasCaptchaSecret: true,
      isBuilder: true,
      channels: ['SMS', 'VOICECODE'],
      fallbackSeconds: 30,
      codeLength: 6,
    })
    expect(await answerOf('list')).toEqual([shown])
    expect(await answerOf('list', ...of)).toEqual([shown])
    expect(await widget('list')).toMatch(
      new RegExp(`\\n${widgetId} +${side.companyId} +Checkout +SMS,VOICECODE +recaptcha +on +https://shop.example,`),
    )
    expect(await widget('show', '--widget', widgetId)).toMatch(/^Captcha secret +set$/m)
  })

  test('comes with the HTML for the page, which names it and the address of the service', async () => {
    const text = await widget('create', ...of, ...SITE)
    const widgetId = /^Widget (\w{12}) of company \d+ sends codes by SMS on https:\/\/shop\.example\.\n/.exec(text)![1]
    expect(text).toContain(
      '<div id="verify"></div>\n<script src="https://tidings.example/widget/VerifyWidget.umd.min.js"></script>\n',
    )
    expect(text).toContain(`VerifyWidget.mount('#verify', { destination: '79160000001', widgetId: '${widgetId}' },\n`)
    expect(text).toContain("fetch('/send-code'")
    expect(text).toContain(`tidings key create --company ${side.companyId} --type VERIFIER`)
    expect(text.slice(text.indexOf('<div'), text.indexOf('\n</script>\n')).split('\n').length).toBeLessThan(10)
  })

  test('for a site builder gets HTML without a server', async () => {
    const text = await widget('create', ...of, ...SITE, '--builder', 'on')
    expect(text).toMatch(/\n {2}VerifyWidget\.mount\('#verify', \{ [^}]+ \}\)\n<\/script>\n$/)
    expect(text).not.toContain('send-code')
  })

  test('for a site builder and without a captcha is open to programs, and says so', async () => {
    const text = await widget('create', ...of, ...SITE, '--builder', 'on', '--captcha', 'none')
    expect(text).toContain('Without a captcha every program can have codes sent')
    expect(await widget('create', ...of, ...SITE, '--captcha', 'none')).not.toContain('every program')
  })

  test.each([
    [[], /^--origins must name at least one site that may show the widget, such as https:\/\/shop\.example\.$/],
    [['--origins', 'shop.example'], /^--origins must be such as https:\/\/shop\.example, not "shop\.example"\.$/],
    [
      ['--origins', 'https://shop.example/cart'],
      /^--origins must be such as .*, not "https:\/\/shop\.example\/cart"\.$/,
    ],
    [[...SITE, '--captcha', 'riddle'], /^--captcha must be one of altcha, recaptcha, hcaptcha, turnstile, none, not/],
    [[...SITE, '--captcha', 'hcaptcha'], /^--captcha-site-key is needed for hcaptcha\.$/],
    [[...SITE, '--captcha', 'hcaptcha', '--captcha-site-key', 'k'], /^--captcha-secret is needed for hcaptcha\.$/],
    [[...SITE, '--captcha-site-key', 'k'], /^--captcha-site-key does not go with altcha\.$/],
    [[...SITE, '--captcha-secret', 's'], /^--captcha-secret does not go with altcha\.$/],
    [[...SITE, '--builder', 'yes'], /^--builder must be one of on, off, not "yes"\.$/],
    [
      [...SITE, '--text', 'en=Hello {name}, your code: {code}'],
      /^--text for en must have no placeholder but \{code\} in a widget, not \{name\}\.$/,
    ],
    [[...SITE, '--length', '3'], /^--length must be a whole number from 4 to 8\.$/],
  ])('is not made with %j, and the sentence says what to give', async (words, sentence) => {
    await expect(widget('create', ...of, ...words)).rejects.toThrow(sentence)
    expect(await answerOf('list')).toEqual([])
  })

  test('is not made for a company that does not exist', async () => {
    await expect(widget('create', '--company', '99999', ...SITE)).rejects.toThrow(/^There is no company 99999/)
  })

  test('keeps what a change does not give', async () => {
    const widgetId = await create(...recaptcha, '--text', 'de=Ihr Code: {code}')
    const before = await show(widgetId)
    await set(widgetId, '--length', '5')
    await set(widgetId, '--origins', 'https://new.example')
    expect(await set(widgetId, '--builder', 'on')).toEqual({
      ...before,
      codeLength: 5,
      origins: ['https://new.example'],
      isBuilder: true,
    })
    expect(await keptSecret(widgetId)).toBe('secret-1')
  })

  test('that goes back to altcha or to none forgets the site key and the secret of its captcha', async () => {
    for (const captcha of ['altcha', 'none']) {
      const widgetId = await create(...recaptcha)
      expect(await set(widgetId, '--captcha', captcha)).toMatchObject({
        captcha,
        captchaSiteKey: null,
        hasCaptchaSecret: false,
      })
      expect(await keptSecret(widgetId)).toBeNull()
    }
  })

  test('that changes its captcha needs the keys of the new one, and may change one key of the old one', async () => {
    const widgetId = await create(...recaptcha)
    const toHcaptcha = ['--captcha', 'hcaptcha', '--captcha-site-key', 'site-2']
    await expect(set(widgetId, '--captcha', 'hcaptcha')).rejects.toThrow('--captcha-site-key is needed for hcaptcha.')
    await expect(set(widgetId, ...toHcaptcha)).rejects.toThrow('--captcha-secret is needed for hcaptcha.')
    await set(widgetId, '--captcha', 'recaptcha', '--captcha-secret', 'secret-2')
    expect(await show(widgetId)).toMatchObject({ captcha: 'recaptcha', captchaSiteKey: 'site-1' })
    expect(await keptSecret(widgetId)).toBe('secret-2')
  })

  test('never shows the secret of its captcha, which may come from a file', async () => {
    const file = join(folder, 'secret')
    await writeFile(file, 'from-a-file\n')
    const widgetId = await create(...recaptcha.slice(0, 4), '--captcha-secret', `@${file}`)
    expect(await keptSecret(widgetId)).toBe('from-a-file')
    for (const words of [['show', '--widget', widgetId], ['list'], ['set', '--widget', widgetId, '--name', 'Other']])
      for (const form of [[], ['--json']]) expect(await widget(...words, ...form)).not.toContain('from-a-file')
    const [row] = await api.sql`select v::text as row from verifiers v where verifier_id = ${widgetId}`
    expect(row!.row).not.toContain('from-a-file')
  })

  test('is not changed by a command that gives nothing, and an unknown one is told with the command that lists them', async () => {
    const widgetId = await create()
    await expect(set(widgetId)).rejects.toThrow(/^There is nothing to change/)
    for (const words of [['show'], ['set', '--name', 'X'], ['delete'], ['stats']])
      await expect(widget(...words, '--widget', 'unknown')).rejects.toThrow(
        'There is no widget "unknown": `tidings widget list` shows them.',
      )
  })

  test('is no verifier, and a verifier is no widget', async () => {
    const widgetId = await create()
    const { gatewayId } = JSON.parse(await printedBy(['verifier', 'create', ...of, '--json'], env()))
    await expect(printedBy(['verifier', 'show', '--gateway', widgetId], env())).rejects.toThrow(/^There is no verifier/)
    await expect(show(gatewayId)).rejects.toThrow(/^There is no widget/)
  })

  test('that is deleted is gone, and its statistics can still be asked for', async () => {
    const widgetId = await create()
    expect(await answerOf('stats', '--widget', widgetId)).toEqual([])
    expect(await answerOf('delete', '--widget', widgetId)).toEqual({ widgetId })
    await expect(show(widgetId)).rejects.toThrow(/^There is no widget/)
    const stats = ['verifier', 'stats', ...of, '--gateway', widgetId]
    expect(await printedBy(stats, env())).toMatch(/^No codes were sent from/)
    expect(await widget('list')).toMatch(/^There are no widgets: `tidings widget create/)
  })
})

describe('a secret', () => {
  const given = (text: string, input = '') => secretText(text, 'captcha-secret', Readable.from([Buffer.from(input)]))

  test('comes from standard input, from a file or as it stands, without the line end', async () => {
    expect(await given('-', 'typed\r\n')).toBe('typed')
    expect(await given('plain')).toBe('plain')
    expect(await given('@@home')).toBe('@home')
  })

  test.each([
    ['-', '', /^--captcha-secret must be one line/],
    ['-', 'one\ntwo\n', /^--captcha-secret must be one line/],
    ['x'.repeat(1001), '', /^--captcha-secret must be one line of 1 to 1000 characters\.$/],
    ['@/nowhere/secret', '', /^The file for --captcha-secret cannot be read \(ENOENT\)/],
  ])('%.10j with %j on standard input is refused without repeating it', async (text, input, sentence) => {
    await expect(given(text, input)).rejects.toThrow(sentence)
  })
})

describe('the errors of widgets', () => {
  const logged = (widgetId: string, code: 110 | 310 | 4000, reason: string, more = {}) =>
    logError(api.sql, { companyId: side.companyId, widgetId, ...more }, { code, reason })

  test('are listed newest first, with what they mean and the last four digits of the number', async () => {
    const widgetId = await create()
    await logged(widgetId, 310, 'The origin https://other.example is wrong', { origin: 'https://other.example' })
    await logged(widgetId, 110, 'The solution was used before', { destination: '79160001234' })
    expect(await answerOf('errors', ...of)).toEqual([
      {
        createdAt: expect.any(String),
        widgetId,
        code: 110,
        meaning: 'captcha not passed',
        reason: 'The solution was used before',
        origin: null,
        destination: '…1234',
      },
      expect.objectContaining({ code: 310, origin: 'https://other.example', destination: null }),
    ])
    const text = await widget('errors', ...of)
    expect(text).toMatch(/^TIME .*\n\S+Z +\w{12} +110 +captcha not passed +…1234 +- +The solution was used before\n/)
    expect(text).not.toContain('7916000')
  })

  test('are filtered by widget and code, up to a limit', async () => {
    const [one, other] = [await create(), await create()]
    for (const widgetId of [one, other])
      for (const code of [110, 310, 4000] as const) await logged(widgetId, code, 'reason')
    const listed = async (...words: string[]) =>
      (await answerOf('errors', ...of, ...words)).map(({ widgetId, code }: { widgetId: string; code: number }) => [
        widgetId,
        code,
      ])
    expect(await listed('--widget', one, '--limit', '2')).toEqual([
      [one, 4000],
      [one, 310],
    ])
    expect(await listed('--code', '310')).toEqual([
      [other, 310],
      [one, 310],
    ])
  })

  test.each([
    [['--code', '311'], /^--code must be one of 110, 130, .*4000, not "311"\.$/],
    [['--widget', 'unknown'], /^Company \d+ has no widget "unknown": `tidings widget list` shows them\.$/],
    [['--limit', '0'], /^--limit must be a whole number above zero/],
  ])('asked for with %j are refused in one sentence', async (words, sentence) => {
    await expect(widget('errors', ...of, ...words)).rejects.toThrow(sentence)
  })

  test('of a company without any are told so', async () => {
    expect(await widget('errors', ...of)).toBe('No widget showed such an error.\n')
  })
})
