import { beforeEach, describe, expect, test } from 'vitest'
import { makeDemoWidget } from '../../../commands/service/demo-widget.ts'
import { addGateway } from '../../../domain/gateways/gateways.ts'
import type { VerifierChannel } from '../../../domain/verifiers/verifier.ts'
import { deleteVerifier, listVerifiers } from '../../../domain/verifiers/verifiers.ts'
import { useDemo } from '../../../testing/demo.ts'
import { useEngines } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { codeGateways, codeIn, letPass, secret } from '../../../testing/verification.ts'
import { aWidget, browserOf } from '../../../testing/widget.ts'
import type { App } from '../../app.ts'
import { solutionOf } from '../captcha/solve.ts'
import { DEMO_WIDGET, findDemoWidget } from './demo-widget.ts'

const HERE = 'http://localhost:8080'
const demo = useDemo(HERE)
const { anEngine } = useEngines(demo)
let widgetId: string
let numbers = 0

const aNumber = () => `7916${String(++numbers).padStart(3, '0')}0001`

beforeEach(async () => {
  await makeDemoWidget(demo.sql, demo.companyId, ['https://tidings.example/sms', HERE])
  widgetId = (await findDemoWidget(demo.sql))!.verifierId
})

const browser = browserOf(() => demo.app)
const get = (url: string, from: App = demo.app) => from.inject({ url })

/** The server of the page. */
async function server(action: 'send' | 'check' | 'outbox', key: string) {
  const response = await demo.app.inject({ method: 'POST', url: `/widget/demo/${action}`, payload: { key } })
  return { status: response.statusCode, body: response.json() }
}

async function begin(destination: string, channelType?: VerifierChannel) {
  const asking = { origin: HERE }
  const { body: opened } = await browser.ask('open', { widgetId }, asking)
  const captcha = solutionOf(opened.captcha.challenge)
  const { body } = await browser.ask('sessions', { widgetId, destination, captcha, channelType }, asking)
  return { key: body.key as string, secret: body.secret as string }
}

const handed = (key: string) =>
  eventually(async () => {
    const { body } = await server('outbox', key)
    expect(body.items).toHaveLength(1)
    return body.items[0]
  })

describe('the page', () => {
  test('is served in English and Russian, with its widget, and nothing in it is inline or from elsewhere', async () => {
    for (const [query, lang, heading] of [
      ['', 'en', 'Get your library card'],
      ['?lang=ru', 'ru', 'Получите читательский билет'],
      ['?lang=xx', 'en', 'Get your library card'],
    ]) {
      const { statusCode, headers, body } = await get(`/widget/demo${query}`)
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(body).toContain(`<html lang="${lang}">`)
      expect(body).toContain(heading)
      expect(body).toContain(`data-widget-id="${widgetId}"`)
      expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|https?:/)
      expect([...body.matchAll(/<script src="([^"]+)"/g)].map(([, src]) => src)).toEqual([
        '/widget/VerifyWidget.umd.min.js',
        '/widget/demo/page.js',
      ])
    }
    for (const [file, type] of [
      ['page.js', 'text/javascript'],
      ['page.css', 'text/css'],
    ]) {
      const { statusCode, headers } = await get(`/widget/demo/${file}`)
      expect([statusCode, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`])
    }
  })

  test('may not be framed, and takes scripts, styles and answers from this service alone', async () => {
    const { headers } = await get('/widget/demo')
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self'; .*connect-src 'self'; .*frame-ancestors 'none'$/,
      ),
    })
  })

  test('and its server do not exist outside of demo mode', async () => {
    for (const path of ['', '/page.js', '/page.css'])
      expect((await get(`/widget/demo${path}`, demo.plainApp)).statusCode, path).toBe(404)
    for (const action of ['send', 'check', 'outbox']) {
      const request = { method: 'POST' as const, url: `/widget/demo/${action}`, payload: { key: 'x' } }
      expect((await demo.plainApp.inject(request)).statusCode, action).toBe(404)
    }
  })

  test('is not served while a real operator is connected, which would send real messages', async () => {
    const { key } = await begin(aNumber())
    const settings = { url: 'https://operator.example' }
    const real = { name: 'real', channelType: 'SMS' as const, connector: 'http', brands: [], partsPerSecond: null }
    await addGateway(demo.sql, { ...real, settings })
    expect((await get('/widget/demo')).json().error.msg).toMatch(/works with simulated operators alone/)
    for (const action of ['send', 'check', 'outbox'] as const)
      expect((await server(action, key)).status, action).toBe(404)
  })

  test('says what to do when its widget is missing', async () => {
    await deleteVerifier(demo.sql, (await findDemoWidget(demo.sql))!)
    const { statusCode, body } = await get('/widget/demo')
    expect([statusCode, JSON.parse(body).error.msg]).toEqual([404, expect.stringMatching(/the next start makes it/)])
  })
})

describe('a visitor of the page', () => {
  beforeEach(async () => {
    await codeGateways(demo.sql)
    await anEngine({ secret })
  })

  test.each(['SMS', 'VOICECODE', 'FLASHCALL', 'TELEGRAM_GATEWAY'] as const)(
    'gets a code by %s, sees it on the page, types it, and the server of the page learns of it',
    async channelType => {
      const destination = aNumber()
      const keys = await begin(destination, channelType)
      expect(await server('check', keys.key)).toEqual({ status: 200, body: { status: 'WAITING' } })
      expect((await server('outbox', keys.key)).body).toEqual({ items: [] })
      const sent = await server('send', keys.key)
      expect(sent).toEqual({ status: 200, body: { messageUuid: expect.any(String) } })
      expect((await server('send', keys.key)).body).toEqual(sent.body)
      const message = await handed(keys.key)
      expect(message).toMatchObject({ ...sent.body, channelType, destination })
      const code = channelType === 'VOICECODE' ? message.text.replaceAll(/\D/g, '') : codeIn(message.text)
      const { body } = await browser.ask('check', { ...keys, code }, { origin: HERE })
      expect(body.status).toBe('CONFIRMED')
      expect(await server('check', keys.key)).toEqual({ status: 200, body: { status: 'CONFIRMED', destination } })
    },
  )

  test('who asks again sees the newest code', async () => {
    const keys = await begin(aNumber())
    await server('send', keys.key)
    const first = await handed(keys.key)
    await letPass(demo.sql, 60)
    await browser.ask('again', { ...keys, channelType: 'VOICECODE' }, { origin: HERE })
    const { body } = await server('send', keys.key)
    expect(body.messageUuid).not.toBe(first.messageUuid)
    await eventually(async () =>
      expect((await server('outbox', keys.key)).body.items).toMatchObject([{ ...body, channelType: 'VOICECODE' }]),
    )
  })

  test('cannot see or send codes of other widgets, even of the same company', async () => {
    const other = await aWidget(demo.sql, demo.companyId)
    const { key } = await browser.begin(other, aNumber())
    for (const action of ['send', 'check', 'outbox'] as const) {
      expect(await server(action, key)).toMatchObject({ status: 404, body: { error: { code: 4040 } } })
      expect((await server(action, `${widgetId}.invented`)).status).toBe(404)
    }
  })
})

describe('the widget of the demo', () => {
  test('may be shown at the public address and at localhost, sends by four channels and does not fall back', async () => {
    const widget = (await findDemoWidget(demo.sql))!
    expect(widget).toMatchObject({ companyId: demo.companyId, name: DEMO_WIDGET })
    expect(widget.page).toMatchObject({ captcha: 'altcha', isBuilder: false })
    expect(widget.page.origins).toEqual(['https://tidings.example', HERE, 'http://127.0.0.1:8080'])
    expect(widget.settings.channels).toEqual(['SMS', 'VOICECODE', 'FLASHCALL', 'TELEGRAM_GATEWAY'])
    expect(widget.settings.fallbackSeconds).toBeNull()
  })

  test('is made once when several services start together, each at an address of its own', async () => {
    await deleteVerifier(demo.sql, (await findDemoWidget(demo.sql))!)
    const addresses = [1, 2, 3].map(port => `http://10.0.0.${port}`)
    await Promise.all(addresses.map(address => makeDemoWidget(demo.sql, demo.companyId, [address])))
    const widgets = await listVerifiers(demo.sql, demo.companyId, 'WIDGET')
    expect(widgets.filter(({ name }) => name === DEMO_WIDGET)).toHaveLength(1)
    expect((await findDemoWidget(demo.sql))!.page.origins.toSorted()).toEqual(addresses)
  })

  test('is kept if it exists, and a start at another address adds that address to its origins', async () => {
    for (let port = 1; port <= 30; port++) await makeDemoWidget(demo.sql, demo.companyId, [`http://localhost:${port}`])
    const widget = (await findDemoWidget(demo.sql))!
    expect(widget.verifierId).toBe(widgetId)
    expect(widget.page.origins).toHaveLength(20)
    expect(widget.page.origins.slice(0, 3)).toEqual([
      'http://localhost:30',
      'http://127.0.0.1:30',
      'http://localhost:29',
    ])
  })
})
