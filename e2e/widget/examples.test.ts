import { readFile } from 'node:fs/promises'
import { parse } from 'node:querystring'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeVerifier, requireAnyVerifier } from '../../src/domain/verifiers/verifiers.ts'
import { aMessagingSide, type MessagingSide } from '../../src/testing/conformance/messaging-world.ts'
import { useEngines } from '../../src/testing/engines.ts'
import { examplesFolder, useExampleServers } from '../../src/testing/example-server.ts'
import { useMessagingApi } from '../../src/testing/messaging-api.ts'
import { codeGateways, codeIn, handedText, secret } from '../../src/testing/verification.ts'
import { aWidget } from '../../src/testing/widget.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { bodyOf, useServer } from '../pages.ts'

/** The pages in docs/examples, and the lines and the policy in docs/widget.md, in a real browser. */

const api = useMessagingApi()
const { anEngine } = useEngines(api)
const { newPage } = useBrowser()
const servers = useExampleServers()
let tidingsUrl: string
let side: MessagingSide

const guide = new URL('../../docs/widget.md', import.meta.url)

/** A site that serves one page at every path, and records the requests of the page. */
const site = { html: '', headers: {} as Record<string, string>, take: async (_body: string): Promise<void> => {} }
const server = useServer(async (request, response) => {
  if (request.method === 'POST') await site.take(await bodyOf(request))
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...site.headers })
  response.end(request.method === 'POST' ? '<h1>Thank you</h1>' : site.html)
})
const siteUrl = () => `http://localhost:${server.port()}`

beforeAll(async () => {
  tidingsUrl = await api.listen('127.0.0.1')
  side = await aMessagingSide(api.sql)
})

beforeEach(async () => {
  Object.assign(site, { html: '', headers: {}, take: async () => {} })
  await codeGateways(api.sql, ['SMS'])
  await anEngine({ secret })
})

/** A widget with our own captcha, which is the default. */
const widgetFor = (origin: string, isBuilder = false) =>
  aWidget(api.sql, side.companyId, {
    page: { origins: [origin], captcha: 'altcha', isBuilder },
    settings: { lifetimeSeconds: 3600 },
  })

/** A request of the site's server. */
async function fromServer(action: 'send' | 'check', body: object, key = side.keys.VERIFIER) {
  return (await api.call({ method: 'POST', path: `/verifier/widget/${action}`, key, body })).body
}

async function confirmIn(page: Page, destination: string) {
  await typeCodeIn(page, destination)
  await page.getByText('Number confirmed').waitFor()
}

async function typeCodeIn(page: Page, destination: string) {
  await page.getByRole('button', { name: 'Send the code' }).click()
  const input = page.getByRole('textbox', { name: 'Code, 6 digits' })
  await input.waitFor()
  await input.fill(codeIn(await handedText(api.sql, destination)))
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  test('widget.html logs a visitor in', async () => {
    const widgetId = await widgetFor('http://localhost')
    const settings = { TIDINGS_URL: tidingsUrl, TIDINGS_KEY: side.keys.VERIFIER, WIDGET_ID: widgetId }
    const url = `http://localhost:${await servers.start(process.execPath, 'widget-server.mts', settings)}`
    await changeVerifier(api.sql, await requireAnyVerifier(api.sql, 'WIDGET', widgetId), { page: { origins: [url] } })

    const page = await newPage()
    await page.goto(url)
    await page.getByRole('textbox', { name: 'Phone number' }).fill('+7 919 001-00-01')
    await page.getByRole('button', { name: 'Continue' }).click()
    await confirmIn(page, '79190010001')
    await page.getByText('You are logged in.').waitFor()
    await page.goto(`${url}/me`)
    expect(await page.textContent('body')).toContain('You are 79190010001.')
  })

  test('builder-page.html sends a form with a signed result', async () => {
    const widgetId = await widgetFor(siteUrl(), true)
    site.html = (await readFile(`${examplesFolder}builder-page.html`, 'utf8'))
      .replaceAll('https://tidings.example', tidingsUrl)
      .replaceAll('https://forms.example', siteUrl())
      .replaceAll('abc123def456', widgetId)
    let sent = ''
    site.take = async body => {
      sent = body
    }
    const page = await newPage()
    await page.goto(siteUrl())
    await page.getByLabel('Name').fill('Anna')
    await page.getByRole('textbox', { name: 'Phone number' }).fill('79190020001')
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(false)
    await page.getByRole('button', { name: 'Confirm the number' }).click()
    await confirmIn(page, '79190020001')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Thank you').waitFor()

    const form = parse(sent)
    expect(form).toMatchObject({ name: 'Anna', phone: '79190020001' })
    const outcome = await fromServer('check', { result: form['tidings-verification'] }, side.keys.BUILDER_WIDGET)
    expect(outcome).toEqual({ status: 'CONFIRMED', destination: '79190020001' })
  })

  test('builder-page.html forgets the confirmation when the number changes', async () => {
    const widgetId = await widgetFor(siteUrl(), true)
    site.html = (await readFile(`${examplesFolder}builder-page.html`, 'utf8'))
      .replaceAll('https://tidings.example', tidingsUrl)
      .replaceAll('abc123def456', widgetId)
    const page = await newPage()
    await page.goto(siteUrl())
    await page.getByRole('textbox', { name: 'Phone number' }).fill('79190030001')
    await page.getByRole('button', { name: 'Confirm the number' }).click()
    await confirmIn(page, '79190030001')
    expect(await page.locator('input[name=tidings-verification]').count()).toBe(1)
    await page.getByRole('textbox', { name: 'Phone number' }).fill('79190030002')
    expect(await page.locator('input[name=tidings-verification]').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(false)
  })

  test('the ten lines of docs/widget.md confirm a number', async () => {
    const [, lines] = /```html\n(.*?)```/s.exec(await readFile(guide, 'utf8'))!
    expect(lines!.trim().split('\n').length).toBeLessThanOrEqual(10)
    const widgetId = await widgetFor(siteUrl())
    const own = lines!
      .replaceAll('https://tidings.example', tidingsUrl)
      .replaceAll('abc123def456', widgetId)
      .replaceAll('79160000001', '79190050001')
    site.html = `<!doctype html><title>A shop</title>${own}`
    let key: string | undefined
    site.take = async body => {
      key = JSON.parse(body).key
      expect((await fromServer('send', { key })).messageUuid).toEqual(expect.any(String))
    }
    const page = await newPage()
    await page.goto(siteUrl())
    await typeCodeIn(page, '79190050001')
    await page.waitForURL(`${siteUrl()}/verify/finish`)
    expect(await fromServer('check', { key })).toEqual({ status: 'CONFIRMED', destination: '79190050001' })
  })

  test('the widget needs no more than the Content-Security-Policy of docs/widget.md', async () => {
    const [, sources] = /```\n(script-src .*?)```/s.exec(await readFile(guide, 'utf8'))!
    const policy = sources!.trim().replaceAll('https://tidings.example', tidingsUrl).split('\n')
    const own = policy.map(line => line.replace('script-src', "script-src 'nonce-of-the-page'"))
    site.headers = { 'content-security-policy': ["default-src 'none'", 'img-src data:', ...own].join('; ') }
    const options = { destination: '79190040001', widgetId: await widgetFor(siteUrl(), true) }
    site.html = `<!doctype html><title>A shop</title><link rel="icon" href="data:,"><div id="verify"></div>
      <script src="${tidingsUrl}/widget/VerifyWidget.umd.min.js"></script>
      <script nonce="of-the-page">
        const violations = []
        addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
          violations.push(violatedDirective + ' ' + blockedURI))
        VerifyWidget.mount('#verify', ${JSON.stringify(options)})
      </script>`
    const page = await newPage()
    await page.goto(siteUrl())
    await confirmIn(page, '79190040001')
    expect(await page.evaluate('violations')).toEqual([])
    expect(await page.locator('#verify').evaluate(host => host.getBoundingClientRect().height)).toBe(360)
  })
})
