import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { type VerifierChannel, verifierChannels } from '../../src/domain/verifiers/verifier.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { wrongCode } from '../../src/testing/verification.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { useSite } from '../pages.ts'
import { useService } from './service.ts'

/** The widget in a browser, on the page of a site, with the real service and simulated operators. */

const browser = useBrowser()
const service = useService()
const site = useSite()

beforeEach(() => {
  site.send = async key => (await service.ask('send', { key })).status
})

interface Shown {
  widgetId: string
  destination: string
  lang?: 'en' | 'ru'
  origin?: string
  more?: string
  browser?: BrowserContextOptions
}

/** Shows a page with the widget. */
async function show({ widgetId, destination, lang = 'en', origin = site.origin(), more = '', ...given }: Shown) {
  site.page = () => ({
    service: service.url(),
    script: `VerifyWidget.mount('#verify', { destination: '${destination}', widgetId: '${widgetId}', lang: '${lang}' },
      sendCode, (...given) => confirmed.push(given)); ${more}`,
  })
  const page = await browser.newPage(given.browser)
  await page.goto(origin)
  return page
}

const onSite = () => ({ origins: [site.origin()] })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const see = (page: Page, text: string) => page.getByText(text).first().waitFor()
const input = (page: Page) => page.locator('input[autocomplete="one-time-code"]')
const confirmedOn = (page: Page) => page.evaluate('confirmed') as Promise<[key: string, result?: string][]>

const sendWords: Record<VerifierChannel, [send: string, sent: string]> = {
  SMS: ['Send the code', 'We sent it by SMS to'],
  VOICECODE: ['Call me', 'A voice will read out the code.'],
  FLASHCALL: ['Call me', 'Enter the last 4 digits of the number that calls you on'],
  WHATSAPP: ['Send the code', 'We sent it in WhatsApp to'],
  VIBER: ['Send the code', 'We sent it in Viber to'],
  TELEGRAM: ['Send the code', 'We sent it in Telegram to'],
  TELEGRAM_GATEWAY: ['Send the code', 'We sent it in Telegram to'],
}

describe.skipIf(!hasBrowser)('a visitor', () => {
  test.each(verifierChannels)('confirms a number by %s', async channel => {
    const widgetId = await service.aWidget(onSite(), { channels: [channel] })
    const destination = service.aNumber()
    const page = await show({ widgetId, destination })
    await press(page, sendWords[channel][0])
    await see(page, sendWords[channel][1])
    const code = await service.codeFor(destination, channel)
    await input(page).pressSequentially(wrongCode(code))
    await see(page, '2 tries left')
    await input(page).pressSequentially(code)
    await see(page, 'Number confirmed')
    const [[key, result]] = (await confirmedOn(page)) as [[string, string?]]
    expect(result).toBeUndefined()
    expect((await service.ask('check', { key })).body).toEqual({ status: 'CONFIRMED', destination })
  })

  test('sees the next channel when the first one fails, and confirms by it', async () => {
    const settings = { channels: ['SMS' as const, 'VOICECODE' as const], fallbackSeconds: 10 }
    const widgetId = await service.aWidget(onSite(), settings)
    const destination = service.aNumber('0003') // accepted, then undelivered
    const page = await show({ widgetId, destination })
    await press(page, 'Send the code')
    await see(page, 'Answer our call')
    await input(page).fill(await service.codeFor(destination, 'VOICECODE'))
    await see(page, 'Number confirmed')
  })

  test('requests another channel after the pause, and confirms by it', async () => {
    const settings = { channels: ['SMS' as const, 'TELEGRAM' as const], pauseSeconds: 25 }
    const widgetId = await service.aWidget(onSite(), settings)
    const destination = service.aNumber()
    const page = await show({ widgetId, destination })
    await press(page, 'Send the code')
    await see(page, 'Send again in')
    await press(page, 'Another way')
    await press(page, 'Telegram') // waits for the end of the pause
    await see(page, 'We sent it in Telegram to')
    await input(page).fill(await service.codeFor(destination, 'TELEGRAM'))
    await see(page, 'Number confirmed')
  })

  test('gets a new code after too many tries', async () => {
    const widgetId = await service.aWidget(onSite(), { tries: 1, pauseSeconds: 10 })
    const destination = service.aNumber()
    const page = await show({ widgetId, destination, lang: 'ru' })
    await press(page, 'Получить код')
    await see(page, 'Введите код')
    const first = await service.codeFor(destination)
    await input(page).fill(wrongCode(first))
    await see(page, 'Попытки закончились')
    await press(page, 'Получить новый код')
    await see(page, 'Введите код')
    const second = await eventually(async () => {
      const code = await service.codeFor(destination)
      expect(code).not.toBe(first)
      return code
    })
    await input(page).fill(second)
    await see(page, 'Номер подтверждён')
  })

  test('continues every step after a reload', async () => {
    const widgetId = await service.aWidget(onSite(), { channels: ['SMS', 'FLASHCALL'] })
    const destination = service.aNumber()
    const sending = Promise.withResolvers<void>()
    const called = Promise.withResolvers<void>()
    site.send = async key => {
      called.resolve()
      await sending.promise
      return (await service.ask('send', { key })).status
    }
    const page = await show({ widgetId, destination })
    await see(page, 'Check passed')
    await page.reload()
    await press(page, 'Send the code')
    await called.promise
    await service.sql()`update widget_sessions set asked_at = asked_at + interval '1 hour'` // a slow site has time
    await page.reload()
    await see(page, 'Sending…')
    sending.resolve()
    await see(page, 'We sent it by SMS to')
    await page.reload()
    await see(page, 'We sent it by SMS to')
    await see(page, 'Send again in')
    const code = await service.codeFor(destination)
    await input(page).fill(wrongCode(code))
    await see(page, '2 tries left')
    await page.reload()
    await input(page).fill(code)
    await see(page, 'Number confirmed')
    await page.reload()
    await see(page, 'Number confirmed')
    expect(await confirmedOn(page)).toHaveLength(1)
  })

  test('confirms two numbers in two widgets of one page', async () => {
    const widgetId = await service.aWidget(onSite())
    const [first, second] = [service.aNumber(), service.aNumber()]
    const page = await show({ widgetId, destination: first })
    await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', '<div id="other"></div>');
      VerifyWidget.mount('#other', { destination: '${second}', widgetId: '${widgetId}' }, sendCode, key => confirmed.push([key]))`)
    for (const id of ['#verify', '#other']) await page.locator(`${id} .button`).click()
    await page.locator('#other input').fill(await service.codeFor(second))
    await page.locator('#other').getByText('Number confirmed').waitFor()
    await page.locator('#verify input').fill(await service.codeFor(first))
    await page.locator('#verify').getByText('Number confirmed').waitFor()
    const keys = (await confirmedOn(page)).map(([key]) => key)
    const checked = await Promise.all(keys.map(key => service.ask('check', { key })))
    expect(checked.map(({ body }) => body.destination)).toEqual([second, first])
  })

  test("of a site builder's page confirms without a server, and the form gets a signed result", async () => {
    const widgetId = await service.aWidget({ ...onSite(), isBuilder: true })
    const destination = service.aNumber()
    site.page = () => ({
      service: service.url(),
      body: '<form><div id="verify"></div></form>',
      script: `VerifyWidget.mount('#verify', { destination: '${destination}', widgetId: '${widgetId}' })`,
    })
    const page = await browser.newPage()
    await page.goto(site.origin())
    await press(page, 'Send the code')
    await input(page).fill(await service.codeFor(destination))
    await see(page, 'Number confirmed')
    const result = await page.evaluate(`new FormData(document.forms[0]).get('tidings-verification')`)
    const { body } = await service.ask('check', { result: String(result) }, service.side().keys.BUILDER_WIDGET)
    expect(body).toEqual({ status: 'CONFIRMED', destination })
  })

  test.each(['recaptcha', 'hcaptcha', 'turnstile'] as const)('passes the captcha of %s', async kind => {
    const widgetId = await service.aWidget(onSite())
    await service.useProvider(widgetId, service.providers().addSite(kind))
    const destination = service.aNumber()
    const page = await show({ widgetId, destination, browser: { viewport: { width: 320, height: 700 } } })
    const send = page.getByRole('button', { name: 'Send the code' })
    await page.getByLabel('I am human').waitFor()
    expect(await send.isDisabled()).toBe(true)
    await page.getByLabel('I am human').check()
    await send.click()
    await input(page).fill(await service.codeFor(destination))
    await see(page, 'Number confirmed')
  })
})

describe.skipIf(!hasBrowser)('the widget shows the error', () => {
  const cases: Record<string, [code: number, cause: (page: Page, widgetId: string) => Promise<void>]> = {
    'captcha not passed': [
      110,
      async page => {
        await page.route('**/widget/api/sessions', route =>
          route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), captcha: 'Zm9yZ2Vk' }) }),
        )
        await press(page, 'Send the code')
      },
    ],
    'too many codes': [
      130,
      async page => {
        site.send = async key => {
          await service.sql()`update widget_sessions set destination = ${busyNumber}`
          return (await service.ask('send', { key })).status
        }
        await press(page, 'Send the code')
      },
    ],
    'no money': [
      210,
      async page => {
        const { companyId } = service.side()
        await service.sql()`update companies set budget = 0 where company_id = ${companyId}`
        await press(page, 'Send the code')
        await see(page, 'Error 210')
        await service.sql()`update companies set budget = null where company_id = ${companyId}`
      },
    ],
    'a call without key': [
      320,
      async page => {
        site.send = async () => (await service.ask('send', {})).status
        await press(page, 'Send the code')
      },
    ],
    'no call in time': [
      321,
      async page => {
        site.send = async () => {
          await service.sql()`update widget_sessions set asked_at = asked_at - interval '16 seconds'`
          return 200
        }
        await press(page, 'Send the code')
      },
    ],
    'a wrong API key': [
      330,
      async page => {
        site.send = async key => (await service.ask('send', { key }, 'wrong')).status
        await press(page, 'Send the code')
      },
    ],
    'an API key of another type': [
      331,
      async page => {
        site.send = async key => (await service.ask('send', { key }, service.side().keys.MESSAGE)).status
        await press(page, 'Send the code')
      },
    ],
    'a site that fails': [
      350,
      async page => {
        site.send = async () => 500
        await press(page, 'Send the code')
      },
    ],
  }
  const busyNumber = '79178881234'

  test.each(Object.entries(cases))('of %s', async (_, [code, cause]) => {
    const widgetId = await service.aWidget(onSite())
    await spendPause(widgetId)
    const page = await show({ widgetId, destination: service.aNumber() })
    await cause(page, widgetId)
    await see(page, `Error ${code}`)
    await eventually(() => service.expectLogged(widgetId, code))
  })

  /** A code was just sent to this number. */
  async function spendPause(widgetId: string) {
    const page = await show({ widgetId, destination: busyNumber })
    await press(page, 'Send the code')
    await see(page, 'We sent it by SMS to')
    await page.context().close()
  }

  test('230 of a closed sender name, and offers another channel', async () => {
    const settings = { channels: ['SMS' as const, 'VOICECODE' as const], senders: { SMS: 'CLOSED' } }
    const widgetId = await service.aWidget(onSite(), settings)
    const destination = service.aNumber()
    const page = await show({ widgetId, destination })
    await press(page, 'Send the code')
    await see(page, 'Error 230')
    await press(page, 'Another way')
    await page.getByRole('button', { name: 'Voice call' }).click()
    await input(page).fill(await service.codeFor(destination, 'VOICECODE'))
    await see(page, 'Number confirmed')
    await service.expectLogged(widgetId, 230)
  })

  test('310 of an unknown widget', async () => {
    await see(await show({ widgetId: 'unknown00000', destination: service.aNumber() }), 'Error 310')
  })

  test('321 of a page without sendAuthKey whose widget is not for site builders', async () => {
    const widgetId = await service.aWidget(onSite())
    const page = await show({ widgetId, destination: service.aNumber() })
    await page.evaluate(`VerifyWidget.mount('#verify', { destination: '79170001234', widgetId: '${widgetId}' })`)
    await press(page, 'Send the code')
    await see(page, 'Error 321')
    await service.expectLogged(widgetId, 321)
  })

  test('340 of a provider that does not know our secret', async () => {
    const widgetId = await service.aWidget(onSite())
    await service.useProvider(widgetId, { ...service.providers().addSite('turnstile'), secret: 'another secret' })
    const page = await show({ widgetId, destination: service.aNumber() })
    await page.getByLabel('I am human').check()
    await press(page, 'Send the code')
    await see(page, 'Error 340')
    await service.expectLogged(widgetId, 340)
  })

  test('341 of a provider that does not know the site key', async () => {
    const widgetId = await service.aWidget(onSite())
    await service.useProvider(widgetId, { ...service.providers().addSite('hcaptcha'), siteKey: 'another-site-key' })
    const page = await show({ widgetId, destination: service.aNumber() })
    await see(page, 'Error 341')
    await eventually(() => service.expectLogged(widgetId, 341))
  })

  test('4000 of a number that cannot get codes', async () => {
    const widgetId = await service.aWidget(onSite(), { countries: ['RU'] })
    const page = await show({ widgetId, destination: '4915112345678' })
    await press(page, 'Send the code')
    await see(page, 'Error 4000')
  })
})

describe.skipIf(!hasBrowser)('a hostile page', () => {
  /** A page on which the code was sent, with the stored session of its widget. */
  async function aVictim() {
    const widgetId = await service.aWidget(onSite())
    const destination = service.aNumber()
    const page = await show({ widgetId, destination })
    await press(page, 'Send the code')
    await see(page, 'We sent it by SMS to')
    const kept = await page.evaluate(`sessionStorage.getItem(sessionStorage.key(0))`)
    const { key, secret } = JSON.parse(String(kept))
    return { page, destination, key, secret, code: await service.codeFor(destination) }
  }

  type Answered = { status?: string; error?: { code: number } }

  const ask = (page: Page, action: string, bodies: object[]): Promise<Answered[]> =>
    page.evaluate(`Promise.all(${JSON.stringify(bodies)}.map(async body => {
      const answer = await fetch('${service.url()}/widget/api/${action}', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      return answer.json()
    }))`)

  test('of another origin cannot show the widget', async () => {
    const widgetId = await service.aWidget(onSite())
    const origin = site.origin().replace('localhost', '127.0.0.1')
    await see(await show({ widgetId, destination: service.aNumber(), origin }), 'Error 310')
    await service.expectLogged(widgetId, 310)
  })

  test('cannot show the widget in a sandboxed frame', async () => {
    const widgetId = await service.aWidget(onSite())
    const page = await show({ widgetId, destination: service.aNumber() })
    await page.evaluate(`{
      const frame = document.createElement('iframe')
      frame.sandbox = 'allow-scripts'
      frame.src = location.href
      document.body.replaceChildren(frame)
    }`)
    await page.frameLocator('iframe').getByText('Error 310').waitFor()
  })

  test('with a stolen key, but no secret, neither sees the session nor types codes', async () => {
    const { page, key, code } = await aVictim()
    const answers = [
      ...(await ask(page, 'state', [{ key, secret: 'guessed' }])),
      ...(await ask(page, 'check', [{ key, secret: 'guessed', code }])),
    ]
    expect(answers.map(({ error }) => error?.code)).toEqual([4040, 4040])
    await input(page).fill(code)
    await see(page, 'Number confirmed')
  })

  test('with a replayed key gets no second code', async () => {
    const { destination, key } = await aVictim()
    const first = await service.ask('send', { key })
    const second = await service.ask('send', { key })
    expect(second).toEqual(first)
    const [row] = await service.sql()`
      select count(*)::int as count from simulator_outbox() where destination = ${destination}`
    expect(row).toEqual({ count: 1 })
  })

  test('that guesses codes in parallel gets the allowed tries and no more', async () => {
    const { page, key, secret, code } = await aVictim()
    // Otherwise a poll of the widget could show the end of the tries before the visitor types the code.
    await page.route('**/widget/api/state', route => route.abort())
    const guesses = Array.from({ length: 40 }, (_, i) => String((Number(code) + i + 1) % 10 ** 6).padStart(6, '0'))
    const answers = await ask(
      page,
      'check',
      guesses.map(guess => ({ key, secret, code: guess })),
    )
    expect(answers.filter(({ status }) => status === 'WRONG_CODE')).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 'CONFIRMED')).toEqual([])
    await input(page).fill(code)
    await page.unroute('**/widget/api/state')
    await see(page, 'Too many tries')
    expect((await service.ask('check', { key })).body).toEqual({ status: 'WAITING' })
  })
})
