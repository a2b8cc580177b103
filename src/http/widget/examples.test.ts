import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useEngines } from '../../testing/engines.ts'
import { hasPython, useExampleServers } from '../../testing/example-server.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'
import { codeGateways, codeIn, handedText, secret } from '../../testing/verification.ts'
import { aWidget, browserOf } from '../../testing/widget.ts'

/** The servers in docs/examples sign in a visitor only after the visitor confirmed the number. */

const api = useMessagingApi()
const { anEngine } = useEngines(api)
const browser = browserOf(() => api.app)
const servers = useExampleServers()
let tidingsUrl: string
let side: MessagingSide
let widgetId: string
let numbers = 0

const aNumber = () => `7918${String(++numbers).padStart(3, '0')}1234`

beforeAll(async () => {
  tidingsUrl = await api.listen('127.0.0.1')
  side = await aMessagingSide(api.sql)
  widgetId = await aWidget(api.sql, side.companyId, { settings: { lifetimeSeconds: 3600 } })
})

beforeEach(async () => {
  await codeGateways(api.sql, ['SMS'])
  await anEngine({ secret })
})

describe.each([
  { language: 'TypeScript', program: process.execPath, file: 'widget-server.mts', isThere: true },
  { language: 'Python', program: 'python3', file: 'widget-server.py', isThere: hasPython },
])('the example server in $language', ({ program, file, isThere }) => {
  test.skipIf(!isThere)('signs in a visitor that confirmed the number in the widget', async () => {
    const site = await startSite(program, file)
    const phone = aNumber()
    const visitor = await site.visit(phone)
    const keys = await browser.begin(widgetId, phone)
    expect(await visitor.post('send', { key: keys.key })).toEqual([200, 'A code is on its way.'])
    expect(await visitor.post('finish', {})).toEqual([409, 'The number is not confirmed yet.'])
    expect(await visitor.whoAmI()).toBe('You are not logged in.')

    await confirm(keys, phone)
    const before = visitor.cookie
    expect(await visitor.post('finish', {})).toEqual([200, 'You are logged in.'])
    expect(visitor.cookie).not.toBe(before)
    expect(await visitor.whoAmI()).toBe(`You are ${phone}.`)
    visitor.cookie = before
    expect(await visitor.whoAmI()).toBe('You are not logged in.')
  })

  test.skipIf(!isThere)('refuses the key of another number', async () => {
    const site = await startSite(program, file)
    const visitor = await site.visit(aNumber())
    const own = aNumber()
    await confirm(await sentKeys(visitor, own), own)
    expect(await visitor.post('finish', {})).toEqual([403, 'Another number was confirmed.'])
    expect(await visitor.whoAmI()).toBe('You are not logged in.')
  })

  test.skipIf(!isThere)('refuses a key that another visitor brought, before and after its use', async () => {
    const site = await startSite(program, file)
    const phone = aNumber()
    const visitor = await site.visit(phone)
    const keys = await sentKeys(visitor, phone)
    await confirm(keys, phone)

    const thief = await site.visit(phone)
    expect(await thief.post('send', { key: keys.key })).toEqual([403, 'This key is of another visitor.'])
    expect(await visitor.post('finish', {})).toEqual([200, 'You are logged in.'])
    expect(await thief.post('send', { key: keys.key })).toEqual([403, 'This key is of another visitor.'])
    expect(await thief.post('finish', {})).toEqual([409, 'Confirm your number first.'])
    expect(await thief.whoAmI()).toBe('You are not logged in.')
  })

  test.skipIf(!isThere)('uses a confirmed key once, also when asked at once', async () => {
    const site = await startSite(program, file)
    const phone = aNumber()
    const visitor = await site.visit(phone)
    await confirm(await sentKeys(visitor, phone), phone)
    const { cookie } = visitor
    const answers = await Promise.all(Array.from({ length: 5 }, () => site.visitorWith(cookie).post('finish', {})))
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
  })

  test.skipIf(!isThere)('refuses strangers, and numbers and keys that are none', async () => {
    const site = await startSite(program, file)
    expect((await site.visitorWith('').post('send', { key: 'any' }))[0]).toBe(403)
    const visitor = await site.visit(aNumber())
    expect((await visitor.post('begin', { phone: 'mine' }))[0]).toBe(400)
    for (const key of [`${widgetId}.unknown`, undefined, 17]) expect((await visitor.post('send', { key }))[0]).toBe(502)
    expect((await visitor.post('finish', {}))[0]).toBe(409)
  })

  test.skipIf(!isThere)('lets the widget show why no code comes', async () => {
    const site = await startSite(program, file, 'a key that is wrong')
    const phone = aNumber()
    const visitor = await site.visit(phone)
    const keys = await browser.begin(widgetId, phone)
    expect((await visitor.post('send', { key: keys.key }))[0]).toBe(502)
    expect((await browser.ask('state', keys)).body).toMatchObject({ state: 'FAILED', error: { code: 330 } })
  })

  test.skipIf(!isThere)('serves a page with the widget of its settings', async () => {
    const site = await startSite(program, file)
    const page = await (await fetch(site.url)).text()
    expect(page).toContain(`<script src="${tidingsUrl}/widget/VerifyWidget.umd.min.js"></script>`)
    expect(page).toContain(`widgetId: '${widgetId}'`)
    expect(page).not.toMatch(/TIDINGS_URL|WIDGET_ID/)
  })
})

/** The visitor's browser begins a session for a number, and the site's server asks for its code. */
async function sentKeys(visitor: Visitor, destination: string) {
  const keys = await browser.begin(widgetId, destination)
  expect(await visitor.post('send', { key: keys.key })).toEqual([200, 'A code is on its way.'])
  return keys
}

async function confirm(keys: { key: string; secret: string }, destination: string) {
  const code = codeIn(await handedText(api.sql, destination))
  expect((await browser.ask('check', { ...keys, code })).body).toMatchObject({ status: 'CONFIRMED' })
}

async function startSite(program: string, file: string, apiKey = side.keys.VERIFIER) {
  const settings = { TIDINGS_URL: tidingsUrl, TIDINGS_KEY: apiKey, WIDGET_ID: widgetId }
  const url = `http://127.0.0.1:${await servers.start(program, file, settings)}`
  return {
    url,
    visitorWith: (cookie: string) => new Visitor(url, cookie),
    /** A visitor that entered a number. */
    async visit(phone: string) {
      const visitor = new Visitor(url, cookieIn(await fetch(url))!)
      expect(await visitor.post('begin', { phone: `+${phone}` })).toEqual([200, phone])
      return visitor
    },
  }
}

class Visitor {
  cookie: string
  readonly #url: string

  constructor(url: string, cookie: string) {
    this.#url = url
    this.cookie = cookie
  }

  async post(action: string, body: object): Promise<[status: number, message: string]> {
    const headers = { 'content-type': 'application/json', cookie: this.cookie }
    const answer = await fetch(`${this.#url}/verify/${action}`, { method: 'POST', headers, body: JSON.stringify(body) })
    this.cookie = cookieIn(answer) ?? this.cookie
    const { message } = (await answer.json()) as { message: string }
    return [answer.status, message]
  }

  async whoAmI(): Promise<string> {
    const answer = await fetch(`${this.#url}/me`, { headers: { cookie: this.cookie } })
    return ((await answer.json()) as { message: string }).message
  }
}

const cookieIn = ({ headers }: Response) => headers.get('set-cookie')?.split(';')[0]
