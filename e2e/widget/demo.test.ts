import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeDemoWidget } from '../../src/commands/service/demo-widget.ts'
import { useDemo } from '../../src/testing/demo.ts'
import { useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { codeGateways, codeIn, secret } from '../../src/testing/verification.ts'
import { hasBrowser, useBrowser } from '../browser.ts'

/** `/widget/demo` in a real browser, with simulated operators. */

const demo = useDemo('http://localhost:8080')
const { anEngine } = useEngines(demo)
const { newPage } = useBrowser()
const PHONE = { viewport: { width: 360, height: 740 } }
let url: string

beforeAll(async () => {
  await demo.app.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(demo.app.server.address() as AddressInfo).port}`
  await makeDemoWidget(demo.sql, demo.companyId, [url])
})

beforeEach(async () => {
  await codeGateways(demo.sql)
  await anEngine({ secret })
})

/** A visitor, with the errors of the browser and its requests to other hosts. */
async function visit(options: BrowserContextOptions = {}, query = '') {
  const page = await newPage(options)
  const complaints: string[] = []
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  page.on('request', request => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(url)) complaints.push(request.url())
  })
  await page.goto(`${url}/widget/demo${query}`)
  return { page, complaints }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** From the suggested number to the code on the page. */
async function askForCode(page: Page, words = { next: 'Continue', send: 'Send the code' }): Promise<string> {
  await press(page, words.next)
  await press(page, words.send)
  return codeIn((await page.locator('#phone li span').first().textContent())!)
}

const typeCode = (page: Page, code: string) => page.locator('#verify input').fill(code)

const callsOn = (page: Page) => page.locator('#calls li').allInnerTexts()

const SENT = /^POST \/api\/v1\/verifier\/widget\/send\s+\{"key":"[\w.-]+"\}\s+200 \{"messageUuid":"[\w-]+"\}$/
const CHECKED =
  /^POST \/api\/v1\/verifier\/widget\/check\s+\{"key":"[\w.-]+"\}\s+200 \{"status":"CONFIRMED","destination":"791\d{8}"\}$/

describe.skipIf(!hasBrowser)('the demo page', () => {
  test('confirms the suggested number, and shows the code and the calls of its server', async () => {
    const { page, complaints } = await visit()
    await typeCode(page, await askForCode(page))
    await page.getByText('Your card is ready').waitFor()
    expect(await callsOn(page)).toEqual([expect.stringMatching(SENT), expect.stringMatching(CHECKED)])
    expect(await page.locator('.flow .is-done').count()).toBe(5)
    expect(complaints).toEqual([])
  })

  test('is available in Russian', async () => {
    const { page, complaints } = await visit({}, '?lang=ru')
    await typeCode(page, await askForCode(page, { next: 'Продолжить', send: 'Получить код' }))
    await page.getByText('Билет готов').waitFor()
    expect(complaints).toEqual([])
  })

  test('continues after a reload, with the code and the calls', async () => {
    const { page } = await visit()
    const code = await askForCode(page)
    await page.reload()
    await page.getByText(`Your code: ${code}`).waitFor()
    expect(await callsOn(page)).toEqual([expect.stringMatching(SENT)])
    await typeCode(page, code)
    await page.getByText('Your card is ready').waitFor()
  })

  test('starts again with another number, and shows nothing of the first', async () => {
    const { page } = await visit()
    await askForCode(page)
    await press(page, 'Use another number')
    expect(await page.locator('#phone li, #calls li, .flow .is-done').count()).toBe(0)
    const code = await askForCode(page)
    await typeCode(page, code)
    await page.getByText('Your card is ready').waitFor()
  })

  test('explains the form of a number', async () => {
    const { page } = await visit()
    await page.getByLabel('Mobile number').fill('12')
    await press(page, 'Continue')
    await page.getByText('Enter a mobile number with its country code').waitFor()
    expect(await page.getByLabel('Mobile number').getAttribute('aria-invalid')).toBe('true')
  })

  test('changes from light to dark and back, together with the widget', async () => {
    const { page } = await visit({ colorScheme: 'light' })
    await askForCode(page)
    const back = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await back()
    await press(page, 'Theme')
    expect(await back()).not.toBe(light)
    await page.locator('#verify [data-theme="dark"]').waitFor()
    await press(page, 'Theme')
    expect(await back()).toBe(light)
  })

  test.each([
    ['light', {}],
    ['dark', PHONE],
  ] as const)('fits its window and gives axe nothing to find, %s, %j', async (colorScheme, size) => {
    const { page } = await visit({ colorScheme, bypassCSP: true, ...size })
    await page.addScriptTag({ content: await readFile(axe, 'utf8') })
    expect(await findingsOn(page)).toEqual([])
    await typeCode(page, await askForCode(page))
    await page.getByText('Your card is ready').waitFor()
    await eventually(async () => expect(await findingsOn(page)).toEqual([]))
  })
})

const axe = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

/** The findings of axe, and whether the page scrolls sideways. */
async function findingsOn(page: Page): Promise<string[]> {
  const found: string[] = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return isTooWide ? [...found, 'wider than its window'] : found
}
