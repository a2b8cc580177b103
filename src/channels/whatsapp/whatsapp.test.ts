import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Content } from '../../base/content/content.ts'
import { eventually } from '../../testing/eventually.ts'
import { type Cloud, documentedErrors, startCloud } from '../../testing/providers/whatsapp-cloud-api.ts'
import { submitTo } from '../../testing/submitting.ts'
import { aFeed } from '../channel.contract.ts'
import type { Channel, Outgoing } from '../channel.ts'
import { secretsOf } from '../settings.ts'
import { readSettings, whatsappSchema } from './settings.ts'
import { createWhatsapp } from './whatsapp.ts'

const account = {
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '74950000000',
  accessToken: 'EAAJB-token',
  appSecret: 'app-secret',
  apiVersion: 'v25.0',
}
const own = { ...account, displayPhoneNumber: undefined, verifyToken: 'verify-token' }
const uuid = '01980000-0000-7000-8000-000000000001'

let cloud: Cloud
const opened: Channel[] = []

beforeEach(async () => {
  cloud = await startCloud({
    ...account,
    templates: {
      'order_ready:ru': 2,
      'order_ready:en_US': 2,
      'hello:ru': 0,
      'code:ru': 'authentication',
      'code:en': 'authentication',
    },
  })
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map(channel => channel.stop()))
  await cloud.stop()
})

function aChannel(settings: Record<string, unknown> = {}) {
  const channel = createWhatsapp({ ...own, baseUrl: cloud.url, ...settings }, aFeed())
  opened.push(channel)
  return channel
}

const aMessage = (given: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 1,
  uuid,
  channelType: 'WHATSAPP',
  senderName: 'ROMASHKA',
  destination: '79161234567',
  text: 'Заказ готов',
  parts: 1,
  attempts: 0,
  ...given,
})

describe('a message on the wire', () => {
  const head = '{"messaging_product":"whatsapp","recipient_type":"individual","to":"+79161234567",'
  const tail = `,"biz_opaque_callback_data":"${uuid}"}`

  async function sent(given: Partial<Outgoing>, settings: Record<string, unknown> = {}) {
    const [result] = await submitTo(aChannel(settings), aMessage(given))
    expect(cloud.complaints).toEqual([])
    expect(result).toEqual({ kind: 'accepted', providerIds: [cloud.messages[0]!.id] })
    const { body } = cloud.messages[0]!
    expect([body.slice(0, head.length), body.slice(-tail.length)]).toEqual([head, tail])
    return body.slice(head.length, -tail.length)
  }

  const showing = (content: Content, text = 'Заказ готов') => sent({ text, content })
  const url = { text: 'Открыть', url: 'https://example.com/o/1' }
  const second = { text: 'Карта', url: 'https://example.com/map' }
  const phone = { text: 'Позвонить', phone: '+74950000000' }

  test('a plain text is a text', async () => {
    expect(await sent({ text: 'Строка "раз"\nи два 🎉' })).toBe(
      '"type":"text","text":{"body":"Строка \\"раз\\"\\nи два 🎉"}',
    )
  })

  test('a text content without anything else is a text', async () => {
    const content = { contentType: 'text' as const, text: 'Заказ готов', header: null, footer: null, buttons: null }
    expect(await showing(content)).toBe('"type":"text","text":{"body":"Заказ готов"}')
  })

  test('a button that opens an address is shown with header and footer', async () => {
    const content = {
      contentType: 'text' as const,
      text: '',
      header: { text: 'Ромашка' },
      footer: { text: 'До 20:00' },
      buttons: [url],
    }
    expect(await showing(content)).toBe(
      '"type":"interactive","interactive":{"type":"cta_url","header":{"type":"text","text":"Ромашка"},' +
        '"body":{"text":"Заказ готов"},"footer":{"text":"До 20:00"},' +
        '"action":{"name":"cta_url","parameters":{"display_text":"Открыть","url":"https://example.com/o/1"}}}',
    )
  })

  test('a button alone is shown without header and footer', async () => {
    expect(await showing({ contentType: 'text', text: '', header: { text: '' }, buttons: [url] })).toBe(
      '"type":"interactive","interactive":{"type":"cta_url","body":{"text":"Заказ готов"},' +
        '"action":{"name":"cta_url","parameters":{"display_text":"Открыть","url":"https://example.com/o/1"}}}',
    )
  })

  test('buttons that cannot be shown beside the first address become lines of the text', async () => {
    expect(await showing({ contentType: 'text', text: '', buttons: [phone, url, second] })).toContain(
      '"body":{"text":"Заказ готов\\nПозвонить: +74950000000\\nКарта: https://example.com/map"},"action"',
    )
  })

  test('header, footer and phone buttons become lines when there is no address', async () => {
    const content = {
      contentType: 'text' as const,
      text: '',
      header: { text: 'Ромашка' },
      footer: { text: 'До 20:00' },
      buttons: [phone],
    }
    expect(await showing(content)).toBe(
      '"type":"text","text":{"body":"Ромашка\\nЗаказ готов\\nПозвонить: +74950000000\\nДо 20:00"}',
    )
  })

  test.each([
    ['label', { buttons: [{ ...url, text: 'a'.repeat(21) }] }, 'x'],
    ['header', { buttons: [url], header: { text: 'h'.repeat(61) } }, 'x'],
    ['footer', { buttons: [url], footer: { text: 'f'.repeat(61) } }, 'x'],
    ['text', { buttons: [url] }, 'x'.repeat(1025)],
  ])('a %s too long for a message with a button makes it lines of a text', async (_, given, text) => {
    const wire = await showing({ contentType: 'text', text, ...given }, text)
    expect(wire).toMatch(/^"type":"text"/)
    expect(wire).toContain(`: ${url.url}`)
  })

  test('content of the longest length is shown with its button', async () => {
    const content = {
      contentType: 'text' as const,
      text: '',
      header: { text: 'h'.repeat(60) },
      footer: { text: 'f'.repeat(60) },
      buttons: [{ ...url, text: 'a'.repeat(20) }],
    }
    expect(await showing(content, 'x'.repeat(1024))).toMatch(/^"type":"interactive"/)
  })

  test('a template is sent by its name in the language of the gateway, with its parameters in order', async () => {
    expect(await showing({ contentType: 'template', templateId: 'order_ready', parameters: ['Анна', '42'] })).toBe(
      '"type":"template","template":{"name":"order_ready","language":{"code":"ru"},"components":[{"type":"body",' +
        '"parameters":[{"type":"text","text":"Анна"},{"type":"text","text":"42"}]}]}',
    )
  })

  test('a template may name its language, and need no parameters', async () => {
    const template = { contentType: 'template' as const, templateId: 'order_ready:en_US', parameters: ['Anna', '42'] }
    expect(await showing(template)).toContain('"name":"order_ready","language":{"code":"en_US"},')
    for (const parameters of [null, []]) {
      cloud.messages.length = 0
      expect(await showing({ contentType: 'template', templateId: 'hello', parameters })).toBe(
        '"type":"template","template":{"name":"hello","language":{"code":"ru"}}',
      )
    }
  })

  test('a code is sent in the template for codes, in the text and in its button', async () => {
    const content = { contentType: 'authentication' as const, code: '0429' }
    expect(await sent({ content }, { authenticationTemplate: 'code', authenticationLanguage: 'en' })).toBe(
      '"type":"template","template":{"name":"code","language":{"code":"en"},"components":[' +
        '{"type":"body","parameters":[{"type":"text","text":"0429"}]},' +
        '{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"0429"}]}]}',
    )
  })

  test('a code without a template for codes is refused, and nothing is sent', async () => {
    const content = { contentType: 'authentication' as const, code: '0429' }
    expect(await submitTo(aChannel(), aMessage({ content }))).toMatchObject([{ kind: 'refused', errorCode: 456 }])
    expect(cloud.requests).toEqual([])
  })
})

/**
 * The expected results of the documented errors, written by hand. All other errors are refused. With a status of 500 and
 * more the message may have been sent.
 */
const busyAfterMs: Record<number, number> = {
  0: 60_000,
  2: 10_000,
  3: 60_000,
  4: 60_000,
  10: 60_000,
  33: 60_000,
  190: 60_000,
  200: 60_000,
  299: 60_000,
  368: 60_000,
  80007: 60_000,
  130429: 2000,
  131005: 60_000,
  131016: 10_000,
  131031: 60_000,
  131037: 60_000,
  131042: 60_000,
  131045: 60_000,
  131048: 300_000,
  131056: 6000,
  131057: 60_000,
  133010: 60_000,
}
const throttling = [2, 4, 80007, 130429, 131016, 131048, 131057]

describe('an error of the Cloud API', () => {
  test.each(documentedErrors)('$code $title', async ({ code, status }) => {
    cloud.play({ do: 'error', code })
    const [result] = await submitTo(aChannel(), aMessage())
    const reason = `WhatsApp error ${code}`
    if (status >= 500) expect(result).toMatchObject({ kind: 'unknown', reason })
    else if (code in busyAfterMs) expect(result).toEqual({ kind: 'busy', reason, retryAfterMs: busyAfterMs[code] })
    else expect(result).toEqual({ kind: 'refused', errorCode: 456, reason, operatorError: String(code) })
    expect(cloud.requests).toHaveLength(1)
  })

  test.each(Object.keys(busyAfterMs).map(Number))(
    '%i holds up the others only when it is about everybody',
    async code => {
      const channel = aChannel()
      cloud.play({ do: 'error', code, status: 400 })
      await submitTo(channel, aMessage())
      const [next] = await submitTo(channel, aMessage())
      expect(next!.kind).toBe(throttling.includes(code) ? 'busy' : 'accepted')
      expect(cloud.requests).toHaveLength(throttling.includes(code) ? 1 : 2)
    },
  )

  test.each([2, 131016, 131057, 190])('%i with 503 and a time to retry: nothing was sent', async code => {
    const channel = aChannel()
    cloud.play({ do: 'error', code, status: 503, headers: { 'retry-after': '21' } })
    const reason = `WhatsApp error ${code}`
    expect(await submitTo(channel, aMessage())).toEqual([{ kind: 'busy', reason, retryAfterMs: 21_000 }])
    expect(await submitTo(channel, aMessage())).toMatchObject([{ kind: 'busy', reason }])
    expect(cloud.requests).toHaveLength(1)
  })

  test.each([2, 131016, 130429, 190])(
    '%i with 500: the message may have been sent, with any other content of the answer',
    async code => {
      cloud.play({ do: 'error', code, status: 500, headers: { 'retry-after': '21' }, with: { is_transient: true } })
      expect(await submitTo(aChannel(), aMessage())).toMatchObject([
        { kind: 'unknown', reason: `WhatsApp error ${code}` },
      ])
    },
  )

  test('with an unknown code is a refusal', async () => {
    cloud.play({ do: 'error', code: 139999 })
    expect(await submitTo(aChannel(), aMessage())).toMatchObject([{ kind: 'refused', operatorError: '139999' }])
  })

  test('with "is_transient" makes the message wait', async () => {
    cloud.play({ do: 'error', code: 1, with: { is_transient: true } })
    expect(await submitTo(aChannel(), aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 10_000 }])
  })

  test('with an unknown template is a refusal although it is a 404', async () => {
    const content = { contentType: 'template' as const, templateId: 'nothing' }
    expect(await submitTo(aChannel(), aMessage({ content }))).toMatchObject([
      { kind: 'refused', operatorError: '132001' },
    ])
  })

  test('with a wrong id of the number makes messages wait', async () => {
    expect(await submitTo(aChannel({ phoneNumberId: '1' }), aMessage())).toMatchObject([
      { kind: 'busy', reason: 'WhatsApp error 100', retryAfterMs: 60_000 },
    ])
  })

  test('with a wrong token makes messages wait and the channel go down, and no reason contains the token', async () => {
    const channel = aChannel({ accessToken: 'EAAJB-wrong' })
    const results = await submitTo(channel, ...Array.from({ length: 10 }, () => aMessage()))
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['busy']))
    expect(channel.health()).toMatchObject({ up: false, lastError: 'WhatsApp error 190' })
    expect(JSON.stringify([results, channel.health()])).not.toContain('EAAJB')
  })
})

describe('an undocumented answer', () => {
  const page = { 'content-type': 'text/html' }

  test.each([
    [429, { 'retry-after': '7' }, { kind: 'busy', retryAfterMs: 7000 }],
    [429, {}, { kind: 'busy', retryAfterMs: 10_000 }],
    [429, { 'retry-after': '0' }, { kind: 'busy', retryAfterMs: 1000 }],
    [503, { 'retry-after': '30' }, { kind: 'busy', retryAfterMs: 30_000 }],
    [503, {}, { kind: 'unknown' }],
    [500, { 'retry-after': '30' }, { kind: 'unknown' }],
    [502, {}, { kind: 'unknown' }],
    [504, {}, { kind: 'unknown' }],
    [408, {}, { kind: 'unknown' }],
    [301, { location: 'https://example.com/' }, { kind: 'busy', retryAfterMs: 60_000 }],
    [400, {}, { kind: 'busy', retryAfterMs: 60_000 }],
    [401, {}, { kind: 'busy', retryAfterMs: 60_000 }],
    [403, {}, { kind: 'busy', retryAfterMs: 60_000 }],
    [404, {}, { kind: 'busy', retryAfterMs: 60_000 }],
  ])('a page with status %i and headers %o', async (status, headers, expected) => {
    cloud.play({ do: 'answer', status, headers: { ...page, ...headers }, body: '<h1>Sorry</h1>' })
    expect(await submitTo(aChannel(), aMessage())).toMatchObject([
      { ...expected, reason: `WhatsApp answered ${status}` },
    ])
  })

  test.each([
    '',
    '{}',
    '[]',
    'null',
    '{"messages":[]}',
    '{"messages":{}}',
    '{"messages":[null]}',
    '{"messages":[{"id":7}]}',
    '{"messages":[{"id":"wamid.\\u0000"}]}',
    '{"messages":[{"id":"wamid.\\u001b[2J"}]}',
    `{"messages":[{"id":"${'w'.repeat(201)}"}]}`,
  ])('a success with %j was accepted, but its receipts cannot be matched', async body => {
    cloud.play({ do: 'answer', status: 200, body })
    expect(await submitTo(aChannel(), aMessage())).toMatchObject([{ kind: 'unknown', reason: 'taken without an id' }])
  })

  test.each(['{"error":null}', '{"error":"no"}', '{"error":{"code":"190"}}', '{"error":[]}'])(
    'an error with %j says nothing about the message',
    async body => {
      cloud.play({ do: 'answer', status: 400, body })
      expect(await submitTo(aChannel(), aMessage())).toMatchObject([{ kind: 'busy' }])
    },
  )

  test('Retry-After replaces the wait of the code, for one subscriber and for all', async () => {
    const headers = { 'retry-after': '21' }
    cloud.play({ do: 'error', code: 131056, status: 429, headers }, { do: 'error', code: 130429, status: 429, headers })
    const channel = aChannel()
    const results = [await submitTo(channel, aMessage()), await submitTo(channel, aMessage())]
    expect(results).toMatchObject([[{ kind: 'busy', retryAfterMs: 21_000 }], [{ kind: 'busy', retryAfterMs: 21_000 }]])
    expect(cloud.requests).toHaveLength(2)
  })
})

describe('a connection that fails', () => {
  test('no answer in time: the message may have been sent, so it is not sent again, and its receipts will have our uuid', async () => {
    cloud.play({ do: 'silence' })
    const message = aMessage()
    expect(await submitTo(aChannel({ timeoutMs: 2000 }), message)).toEqual([
      { kind: 'unknown', reason: 'no answer in time', taken: { 0: message.uuid } },
    ])
    expect(cloud.requests).toHaveLength(1)
  })

  test('a reset after the request was read: the same', async () => {
    cloud.play({ do: 'reset' })
    expect(await submitTo(aChannel(), aMessage())).toMatchObject([{ kind: 'unknown' }])
    expect(cloud.requests).toHaveLength(1)
  })

  test('a reset before the request was read is no refusal: the message waits or counts as sent, depending on the moment', async () => {
    cloud.resetConnections(1)
    const [result] = await submitTo(aChannel(), aMessage())
    expect(['busy', 'unknown']).toContain(result!.kind)
    expect(cloud.requests).toHaveLength(0)
  })

  test('an unreachable server: the message was not sent, and is tried again', async () => {
    const channel = aChannel()
    await cloud.stop()
    expect(await submitTo(channel, aMessage())).toEqual([
      { kind: 'busy', reason: 'the call failed: ECONNREFUSED', retryAfterMs: 5000 },
    ])
  })

  test('the channel is up again after it', async () => {
    const channel = aChannel()
    cloud.play(...Array.from({ length: 5 }, () => ({ do: 'reset' as const })))
    await submitTo(channel, ...Array.from({ length: 5 }, () => aMessage()))
    expect(channel.health().up).toBe(false)
    await eventually(() => expect(channel.health().up).toBe(true))
    expect(await submitTo(channel, aMessage())).toMatchObject([{ kind: 'accepted' }])
  })
})

describe('settings', () => {
  const least = { phoneNumberId: 106540352242922, accessToken: 'EAAJB', appSecret: 'secret', verifyToken: 'token' }

  test('the required settings get all defaults', () => {
    expect(readSettings(least)).toEqual({
      phoneNumberId: '106540352242922',
      accessToken: 'EAAJB',
      appSecret: 'secret',
      verifyToken: 'token',
      baseUrl: 'https://graph.facebook.com',
      apiVersion: 'v25.0',
      templateLanguage: 'ru',
      authenticationTemplate: undefined,
      authenticationLanguage: 'ru',
      senderName: undefined,
      window: 40,
      timeoutMs: 30_000,
    })
  })

  test('codes use the language of templates unless the settings say otherwise', () => {
    expect(readSettings({ ...least, templateLanguage: 'en_US' }).authenticationLanguage).toBe('en_US')
  })

  test.each([
    ['phoneNumberId', '+7 495 000-00-00'],
    ['phoneNumberId', '../me'],
    ['accessToken', ''],
    ['accessToken', 'EAA\nJB'],
    ['appSecret', ''],
    ['appSecret', undefined],
    ['verifyToken', ''],
    ['baseUrl', 'ftp://example.com'],
    ['apiVersion', 'latest'],
    ['templateLanguage', 'Russian'],
    ['authenticationTemplate', 'My Code'],
    ['authenticationLanguage', 'en-US'],
    ['senderName', 'a'.repeat(65)],
    ['window', 0],
    ['timeoutMs', 'soon'],
  ])('%s may not be %j, and the value is not repeated', (name, value) => {
    const raw = { ...least, [name]: value }
    expect(() => createWhatsapp(raw, aFeed())).toThrow(`setting "${name}"`)
    const repeated = typeof value === 'string' && value !== '' ? value : 'nothing'
    expect(() => readSettings(raw)).not.toThrow(repeated)
  })

  test('tokens and the application secret are listed as secret', () => {
    expect(secretsOf(whatsappSchema)).toEqual(['accessToken', 'appSecret', 'verifyToken'])
  })
})
