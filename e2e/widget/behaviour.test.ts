import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { type PageContent, useSite } from '../pages.ts'
import { CODE, challengeOf, providerScript, type Scene, useStubApi } from './stub-api.ts'

/** The behaviour of the widget in the browser, with a stub of the service. */

const browser = useBrowser()
const site = useSite()
const stub = useStubApi()
let scene: Scene

beforeEach(() => {
  stub.reset()
  scene = stub.sceneOf('a-widget')
})

const OPTIONS = { destination: '79160000067', widgetId: 'a-widget' }

async function show(
  content: Partial<PageContent> = {},
  given: BrowserContextOptions = {},
  prepare?: (page: Page) => unknown,
) {
  site.page = () => ({ service: stub.url(), script: mounting(), ...content })
  const page = await browser.newPage(given)
  await prepare?.(page)
  await page.goto(site.origin(), { waitUntil: 'domcontentloaded' })
  return page
}

const mounting = (options: object = OPTIONS, functions = 'sendCode, key => confirmed.push(key)') =>
  `VerifyWidget.mount('#verify', ${JSON.stringify(options)}, ${functions})`

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const see = (page: Page, text: string) => page.getByText(text).first().waitFor()
const input = (page: Page) => page.locator('input[autocomplete="one-time-code"]')
const asked = (path: string) => scene.requests.filter(request => request.path === path).map(({ body }) => body)
const focused = (page: Page) =>
  page.evaluate(`(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).outerHTML`)
const toCode = async (page: Page) => {
  await press(page, 'Send the code')
  await see(page, 'We sent it by SMS to')
}

describe.skipIf(!hasBrowser)('typing the code', () => {
  test('works only by keyboard, and the focus moves to the next control', async () => {
    const page = await show({ body: '<a href="#">Before</a><div id="verify"></div>' })
    await see(page, 'Check passed')
    expect(await focused(page)).toContain('<body') // a widget that appears does not take the focus
    for (const _ of ['Before', 'Send the code']) await page.keyboard.press('Tab')
    expect(await focused(page)).toContain('Send the code')
    await page.keyboard.press('Enter')
    await see(page, 'We sent it by SMS to')
    expect(await focused(page)).toContain('one-time-code')
    await page.keyboard.type('41')
    await page.keyboard.press('Enter')
    await see(page, 'Enter all 6 digits')
    await page.keyboard.type('8306')
    await see(page, 'Wrong code. 2 tries left')
    expect(await focused(page)).toContain('aria-invalid="true"')
    await page.keyboard.type(CODE[0]!) // replaces the wrong code, which is selected
    expect(await input(page).inputValue()).toBe(CODE[0])
    expect(await page.getByRole('alert').count()).toBe(0)
    for (const _ of ['Confirm', 'Another way']) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('.ways').waitFor()
    expect(await focused(page)).toContain('Another way</h2>')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter') // back: the digit is still there
    expect(await input(page).inputValue()).toBe(CODE[0])
    await page.keyboard.type(CODE.slice(1))
    await see(page, 'Number confirmed')
    expect(await focused(page)).toContain('Number confirmed</h2>')
    expect(await page.evaluate('confirmed')).toEqual(['a-widget'])
  })

  test.each(['418305', '418 305', ' 418-305\n', 'Code: 418305'])('accepts a whole pasted code: %j', async text => {
    const page = await show()
    await toCode(page)
    await input(page).focus()
    await page.keyboard.insertText(text)
    await see(page, 'Number confirmed')
    expect(asked('check').map(({ code }) => code)).toEqual([CODE])
  })

  test('fills in the code of an SMS that the browser read', async () => {
    const head = `<script>
      window.OTPCredential = class {}
      navigator.credentials.get = async ({ otp, signal }) => {
        window.otp = { transport: otp.transport, signal }
        return new Promise(resolve => { window.receive = code => resolve({ code }) })
      }
    </script>`
    const page = await show({ head })
    await toCode(page)
    expect(await page.evaluate('otp.transport')).toEqual(['sms'])
    await page.evaluate(`receive('${CODE}')`)
    await see(page, 'Number confirmed')
    expect(await page.evaluate('otp.signal.aborted')).toBe(true)
  })

  test('shows only the country code and the last two digits of the number', async () => {
    const page = await show()
    for (const step of [() => see(page, 'Check passed'), () => toCode(page)]) {
      await step()
      const text = await page.evaluate(`document.querySelector('#verify').shadowRoot.querySelector('.frame').outerHTML`)
      expect(String(text).replaceAll('&nbsp;', ' ')).toContain('+7 ••• ••• •• 67')
      expect(text).not.toMatch(/9160000|0000067|0067/)
    }
  })
})

describe.skipIf(!hasBrowser)('on a page', () => {
  test('with a hostile style sheet the widget looks the same', async () => {
    const style = `<style>
      * { display: none !important; font-size: 40px !important; color: red !important; letter-spacing: 9px !important }
      html, body, main { display: block !important }
      button { all: unset !important } input { width: 3px !important } section { visibility: hidden !important }
    </style>`
    scene.state.secondsToResend = 0 // a countdown would look different in each picture
    const shots: string[] = []
    for (const head of ['<style>h1 { display: none }</style>', style]) {
      const page = await show({ head })
      await toCode(page)
      await page.mouse.move(0, 700)
      shots.push((await page.locator('#verify').screenshot()).toString('base64'))
      await page.evaluate('sessionStorage.clear()')
    }
    expect(shots[1]).toBe(shots[0])
  })

  test('that forbids workers the widget solves the challenge in the page', async () => {
    scene.opened.captcha.challenge = challengeOf(777, 1000)
    const policy = `default-src 'none'; script-src 'unsafe-inline' ${stub.url()}; style-src ${stub.url()}; connect-src 'self' ${stub.url()}; worker-src 'none'`
    const page = await show({ headers: { 'content-security-policy': policy } })
    await toCode(page)
    expect(solved()).toEqual([777])
  })

  test('the widget solves each challenge once, and requests a new challenge for the next session', async () => {
    scene.answers.sessions = () => 'cut'
    const page = await show()
    await press(page, 'Send the code')
    await see(page, 'No connection')
    delete scene.answers.sessions
    scene.opened.captcha.challenge = challengeOf(43, 1000)
    await press(page, 'Try again')
    await see(page, 'We sent it by SMS to')
    expect([...new Set(solved())]).toEqual([42, 43]) // the browser itself repeats a request that was cut
  })

  const solved = () => asked('sessions').map(({ captcha }) => JSON.parse(atob(captcha)).number)

  test('the widget uses the language of the page, and follows the theme of the system', async () => {
    const page = await show({ script: `document.documentElement.lang = 'ru'; ${mounting()}` }, { colorScheme: 'dark' })
    await see(page, 'Подтвердите номер')
    const theme = page.locator('[data-theme]')
    expect(await theme.getAttribute('data-theme')).toBe('dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(async () => expect(await theme.getAttribute('data-theme')).toBe('light'))
  })

  test('another mount replaces the widget, and unmount removes it and stops its work', async () => {
    const page = await show({ body: '<div id="verify">The site’s own words</div>' })
    await toCode(page)
    await page.evaluate(mounting({ ...OPTIONS, destination: '79160000099' }))
    await see(page, 'Confirm your number')
    expect(await page.locator('.frame').count()).toBe(1)
    await press(page, 'Send the code')
    await see(page, 'We sent it by SMS to')
    await page.evaluate(`VerifyWidget.unmount('#verify')`)
    expect(await page.locator('.frame').count()).toBe(0)
    await see(page, 'The site’s own words')
    const before = scene.requests.length
    await page.clock.install()
    await page.clock.fastForward(60_000)
    expect(scene.requests.length).toBe(before)
    await page.evaluate(`VerifyWidget.unmount('#verify'); VerifyWidget.unmount('#nowhere')`)
  })

  test('the script adds one global object with the two functions of its types', async () => {
    const page = await show()
    const types = await page.evaluate(`Object.entries(VerifyWidget).map(([name, value]) => name + ' ' + typeof value)`)
    expect(types).toEqual(['mount function', 'unmount function'])
  })

  test('without its element, mount throws an error with the selector', async () => {
    const page = await show({ body: '', script: '' })
    await expect(page.evaluate(mounting())).rejects.toThrow('no element of this page matches "#verify"')
  })

  test.each([
    ['{ destination: "79160000067" }', 'options.widgetId'],
    ['{ widgetId: "a-widget" }', 'options.destination'],
    ['{ destination: "79160000067", widgetId: "a-widget", lang: "fr" }', 'options.lang'],
    ['{ destination: "79160000067", widgetId: "a-widget", theme: "pink" }', 'options.theme'],
    ['{ destination: "79160000067", widgetId: "a-widget" }, "/send-code"', 'sendAuthKey'],
    ['undefined', 'options.widgetId'],
  ])('with wrong options the widget shows error 310 and logs the mistake: %s', async (given, named) => {
    const lines: string[] = []
    const page = await show({ script: `VerifyWidget.mount('#verify', ${given})` }, {}, page =>
      page.on('console', message => void lines.push(message.text())),
    )
    await see(page, 'Error 310')
    expect(lines.join('\n')).toContain(`VerifyWidget.mount: ${named.startsWith('options') ? named : ''}`)
    expect(lines.join('\n')).toContain(named)
    expect(scene.requests).toEqual([])
  })

  test('with an invalid number the widget asks the visitor to check it', async () => {
    await see(await show({ script: mounting({ ...OPTIONS, destination: '12ab' }) }), 'Error 4000')
  })
})

describe.skipIf(!hasBrowser)('a screen that does not change', () => {
  test.each([
    ['Too many tries', { triesLeft: 0 }],
    ['The code has expired', { secondsToExpire: 0, secondsToResend: 0 }],
  ])('is not drawn again, because screen readers would read it again: %s', async (title, state) => {
    Object.assign(scene.state, state)
    const page = await show()
    await press(page, 'Send the code')
    await see(page, title)
    await page.evaluate(`document.querySelector('#verify').shadowRoot.querySelector('h2').id = 'the-same'`)
    const before = asked('state').length
    await eventually(() => expect(asked('state').length).toBeGreaterThan(before + 1))
    expect(await page.locator('#the-same').count()).toBe(1)
  })
})

describe.skipIf(!hasBrowser)('without a connection', () => {
  test('the widget retries when the browser is online', async () => {
    scene.answers.open = () => 'cut'
    const page = await show()
    await see(page, 'No connection')
    delete scene.answers.open
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await see(page, 'Check passed')
  })

  test('the widget keeps the code, and checks it when the connection is back', async () => {
    const page = await show()
    await toCode(page)
    scene.answers.check = scene.answers.state = () => 'cut'
    await input(page).fill(CODE)
    await see(page, 'No connection. Your code still works')
    expect(await input(page).inputValue()).toBe(CODE)
    scene.answers = {}
    await see(page, 'Number confirmed')
  })

  test('the widget replaces an ended session by a new one', async () => {
    const page = await show()
    await toCode(page)
    scene.answers.check = () => ({ status: 404, body: { error: { code: 4040, msg: 'Session not found' } } })
    await input(page).fill(CODE)
    await see(page, 'Check passed')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('the captcha of a provider', () => {
  const useProvider = (scriptUrl: string) => {
    stub.addFile('captcha.js', providerScript('hcaptcha', 'hcaptcha'))
    scene.opened.captcha = { kind: 'hcaptcha', siteKey: 'a-site-key', scriptUrl }
  }
  const ready = (page: Page) => eventually(async () => expect(await page.evaluate('!!hcaptcha.options()')).toBe(true))

  test('is drawn outside the shadow root, with the key and the theme of the page', async () => {
    useProvider(`${stub.url()}/widget/captcha.js`)
    const page = await show({ script: mounting({ ...OPTIONS, captchaSiteKey: 'of-the-page', theme: 'dark' }) })
    await ready(page)
    expect(await page.evaluate('hcaptcha.options()')).toMatchObject({
      sitekey: 'of-the-page',
      theme: 'dark',
      size: 'normal',
    })
    const requested = await page.evaluate(`document.querySelector('script[src*="captcha.js"]').src`)
    expect(new URL(String(requested)).searchParams.get('render')).toBe('explicit')
    await page.evaluate(`VerifyWidget.unmount('#verify')`)
    expect(await page.evaluate(`document.querySelector('#verify').children.length`)).toBe(0)
  })

  test('must be passed again when its token expires', async () => {
    useProvider(`${stub.url()}/widget/captcha.js`)
    const page = await show()
    await ready(page)
    const send = page.getByRole('button', { name: 'Send the code' })
    await page.evaluate(`hcaptcha.pass('first')`)
    await eventually(async () => expect(await send.isEnabled()).toBe(true))
    await page.evaluate('hcaptcha.expire()')
    await eventually(async () => expect(await send.isDisabled()).toBe(true))
    expect(await page.evaluate('hcaptcha.resets')).toBe(1)
    await page.evaluate(`hcaptcha.pass('second')`)
    await toCode(page)
    expect(asked('sessions').map(({ captcha }) => captcha)).toEqual(['second'])
  })

  test('that fails is error 341, reported once', async () => {
    useProvider(`${stub.url()}/widget/captcha.js`)
    const page = await show()
    await ready(page)
    await page.evaluate(`for (const _ of [1, 2, 3]) hcaptcha.fail('rate-limited')`)
    await see(page, 'Error 341')
    await eventually(() => expect(asked('errors').length).toBeGreaterThan(0))
    await page.evaluate(`hcaptcha.fail('rate-limited')`)
    await press(page, 'Try again')
    await see(page, 'Confirm your number')
    expect(asked('errors').map(({ reason }) => reason)).toEqual(['hcaptcha: rate-limited'])
  })

  test('whose script does not answer within 15 s is error 341, and can be retried', async () => {
    useProvider(`${stub.url()}/widget/captcha.js`)
    const page = await show({}, {}, async page => {
      await page.clock.install()
      await page.route('**/captcha.js*', () => {}, { times: 1 })
    })
    await see(page, 'Confirm your number')
    await eventually(async () => {
      await page.clock.runFor(5_000)
      expect(asked('errors')).toHaveLength(1)
    })
    await see(page, 'Error 341')
    expect(asked('errors')[0]).toMatchObject({ code: 341, reason: expect.stringContaining('did not answer') })
    await press(page, 'Try again')
    await ready(page)
  })
})
