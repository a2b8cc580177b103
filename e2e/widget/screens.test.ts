import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { useSite } from '../pages.ts'
import { challengeOf, providerScript, refusal, type Scene, useStubApi } from './stub-api.ts'

/**
 * Every screen of the widget at once, each in its own widget on one page. Checks that a screen reader can read them,
 * that all have the same height, and that each has its text.
 */

interface Example {
  prepare?(scene: Scene): void
  /** The actions of the visitor. */
  act?(widget: Locator): Promise<void>
  says: [en: string, ru: string]
}

const press = (widget: Locator) => widget.locator('.button').click()
const type = (digits: string) => async (widget: Locator) => {
  await press(widget)
  await widget.locator('input').fill(digits)
}
const state = (given: object) => (scene: Scene) => void Object.assign(scene.state, given)
const answer = (path: keyof Scene['answers'], given: ReturnType<typeof refusal>) => (scene: Scene) => {
  scene.answers[path] = () => given
}
const failed = (code: number, retryAfterSeconds?: number) =>
  state({ state: 'FAILED', error: { code, msg: 'A reason', retryAfterSeconds } })

/** The numbers of a search that the page never begins: it would use a core until the end of the test. */
const ENDLESS = 10 ** 12

const examples: Record<string, Example> = {
  loading: { prepare: answer('open', 'silence'), says: ['Loading…', 'Загружаем…'] },
  running: {
    prepare: ({ opened }) => {
      opened.captcha.challenge = challengeOf(-1, ENDLESS)
    },
    says: ['Checking that you are not a robot…', 'Проверяем, что вы не робот…'],
  },
  passed: { says: ['Check passed', 'Проверка пройдена'] },
  provider: {
    prepare: scene => {
      scene.opened.captcha = { kind: 'hcaptcha', siteKey: 'a-site-key', scriptUrl: `${stub.url()}/widget/hcaptcha.js` }
    },
    says: ['We will send a code to', 'Пришлём код на номер'],
  },
  sending: { prepare: state({ state: 'WAITING' }), act: press, says: ['Sending…', 'Отправляем…'] },
  calling: {
    prepare: scene => {
      scene.opened.channels = ['FLASHCALL']
      scene.state.state = 'WAITING'
    },
    act: press,
    says: ['Calling…', 'Звоним…'],
  },
  code: { act: press, says: ['We sent it by SMS to', 'Отправили его в СМС на номер'] },
  typed: { act: type('418'), says: ['Enter the code', 'Введите код'] },
  eight: { prepare: state({ codeLength: 8 }), act: type('41830'), says: ['Send again in ', 'Новый код через '] },
  again: { prepare: state({ secondsToResend: 0 }), act: press, says: ['Send again', 'Отправить ещё раз'] },
  short: {
    act: async widget => {
      await type('41')(widget)
      await press(widget)
    },
    says: ['Enter all 6 digits', 'Введите все 6 цифр'],
  },
  flash: {
    prepare: scene => {
      scene.opened.channels.unshift('FLASHCALL')
      scene.state.codeLength = 4
    },
    act: press,
    says: ['For example: +7 495 123‑45‑67', 'Например: +7 495 123‑45‑67'],
  },
  voice: {
    prepare: scene => void scene.opened.channels.unshift('VOICECODE'),
    act: press,
    says: ['A voice will read out the code.', 'Робот продиктует код.'],
  },
  gateway: {
    prepare: scene => void scene.opened.channels.unshift('TELEGRAM_GATEWAY'),
    act: press,
    says: ['We sent it in Telegram to', 'Отправили его в Telegram на номер'],
  },
  ways: {
    prepare: scene => {
      scene.opened.channels.push('VIBER')
      scene.state.secondsToResend = 0
    },
    act: async widget => {
      await press(widget)
      await widget.locator('input').waitFor()
      await widget.getByText(/^(Another way|Другой способ)$/).click()
      await widget.locator('.ways').waitFor()
    },
    says: ['no need to answer', 'отвечать не нужно'],
  },
  waysPaused: {
    prepare: scene => void scene.opened.channels.push('VIBER'),
    act: async widget => {
      await press(widget)
      await widget.locator('input').waitFor()
      await widget.getByText(/^(Another way|Другой способ)$/).click()
    },
    says: ['SMSin ', 'СМСчерез '],
  },
  checking: { prepare: answer('check', 'silence'), act: type('418305'), says: ['Checking…', 'Проверяем…'] },
  wrong: { act: type('418306'), says: ['Wrong code. 2 tries left', 'Неверный код. Осталось 2 попытки'] },
  lastTry: {
    prepare: state({ triesLeft: 2 }),
    act: type('418306'),
    says: ['Wrong code. 1 try left', 'Неверный код. Осталась 1 попытка'],
  },
  cut: {
    prepare: scene => {
      scene.answers.check = () => {
        scene.answers.state = () => 'cut'
        return 'cut'
      }
    },
    act: type('418305'),
    says: ['No connection. Your code still works', 'Нет связи. Код ещё действует'],
  },
  tries: { prepare: state({ triesLeft: 0 }), act: press, says: ['Too many tries', 'Попытки закончились'] },
  expired: {
    prepare: state({ secondsToExpire: 0, secondsToResend: 0 }),
    act: press,
    says: ['The code has expired', 'Срок действия кода истёк'],
  },
  done: { prepare: state({ state: 'CONFIRMED' }), act: press, says: ['You can continue.', 'Можно продолжать.'] },
  offline: { prepare: answer('open', 'cut'), says: ['No connection', 'Нет связи'] },
  pausedAgain: {
    prepare: scene => {
      scene.state.secondsToResend = 0
      scene.answers.again = () => refusal(130, 872)
    },
    act: async widget => {
      await press(widget)
      await widget.locator('input').waitFor()
      await widget.locator('.row .link').first().click()
    },
    says: ['Try again in ', 'Повторить через '],
  },
  error110: { prepare: answer('sessions', refusal(110)), act: press, says: ['Error 110', 'Ошибка 110'] },
  error130: { prepare: failed(130, 872), act: press, says: ['Error 130', 'Ошибка 130'] },
  error210: { prepare: failed(210), act: press, says: ['Error 210', 'Ошибка 210'] },
  error230: { prepare: failed(230), act: press, says: ['Error 230', 'Ошибка 230'] },
  error310: { prepare: answer('open', refusal(310)), says: ['Error 310', 'Ошибка 310'] },
  error320: { prepare: failed(320), act: press, says: ['Error 320', 'Ошибка 320'] },
  error321: { prepare: failed(321), act: press, says: ['Error 321', 'Ошибка 321'] },
  error330: { prepare: failed(330), act: press, says: ['Error 330', 'Ошибка 330'] },
  error331: { prepare: failed(331), act: press, says: ['Error 331', 'Ошибка 331'] },
  error340: { prepare: answer('sessions', refusal(340)), act: press, says: ['Error 340', 'Ошибка 340'] },
  error341: {
    prepare: scene => {
      scene.opened.captcha = { kind: 'turnstile', siteKey: 'a-site-key', scriptUrl: 'http://127.0.0.1:9/api.js' }
    },
    says: ['Error 341', 'Ошибка 341'],
  },
  error350: {
    prepare: state({ state: 'WAITING' }),
    act: press,
    says: ['Error 350', 'Ошибка 350'],
  },
  error4000: { prepare: answer('sessions', refusal(4000)), act: press, says: ['Error 4000', 'Ошибка 4000'] },
  error5000: { prepare: answer('open', { status: 502, body: 'Bad gateway' }), says: ['Error 5000', 'Ошибка 5000'] },
}

const names = Object.keys(examples)
const browser = useBrowser()
const site = useSite()
const stub = useStubApi()

afterEach(() => stub.reset())

describe.skipIf(!hasBrowser)('every screen of the widget', () => {
  test.each(['en', 'ru'] as const)('has one height and no accessibility findings, light and dark: %s', async lang => {
    const page = await showAll(lang, { width: 320, height: 800 })
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await heightsOn(page)).toEqual(Object.fromEntries(names.map(name => [name, 360])))
      expect(await overflowOn(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    for (const theme of ['light', 'dark']) {
      await page.evaluate(`for (const host of document.querySelectorAll('.verify')) {
        host.shadowRoot.querySelector('.frame').dataset.theme = '${theme}'
      }`)
      expect(await findingsOf(page)).toEqual([])
    }
  })
})

const heightsOn = (page: Page) =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('.verify')].map(host =>
    [host.id, host.shadowRoot.querySelector('.frame').getBoundingClientRect().height]))`)

/** Parts whose content is wider than they are. */
const overflowOn = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.verify')].flatMap(host =>
    [...host.shadowRoot.querySelectorAll('.frame, .main, .row, .way, .button')]
      .filter(element => element.scrollWidth > element.clientWidth + 1)
      .map(element => host.id + ' ' + element.className))`)

/** All examples on one page, each at its end. */
async function showAll(lang: 'en' | 'ru', viewport: { width: number; height: number }): Promise<Page> {
  stub.addFile('hcaptcha.js', providerScript('hcaptcha', 'hcaptcha'))
  for (const name of names) examples[name]!.prepare?.(stub.sceneOf(name))
  site.page = () => ({
    service: stub.url(),
    // Requests have no timeout, because the stub never answers some of them, and the machine may be slow.
    head: `<style>.verify { margin-bottom: 16px }</style>
      <script>{ const set = setTimeout; window.setTimeout = (f, ms, ...args) => (ms < 15000 ? set(f, ms, ...args) : 0) }
      window.Worker = class extends Worker { postMessage(task) { if (task.maxNumber < ${ENDLESS}) super.postMessage(task) } }</script>`,
    body: names.map(name => `<div class="verify" id="${name}"></div>`).join(''),
    script: `for (const [i, { id }] of document.querySelectorAll('.verify').entries()) {
      VerifyWidget.mount('#' + id, { destination: '791600000' + (i + 10), widgetId: id, lang: '${lang}', theme: 'light' },
        async () => { if (id === 'error350') throw new Error('no such address') }, () => {})
    }`,
  })
  const page = await browser.newPage({ viewport })
  await page.goto(site.origin())
  // One after the other, because there is one mouse.
  for (const name of names) await examples[name]!.act?.(page.locator(`#${name}`))
  for (const name of names) {
    const said = examples[name]!.says[lang === 'en' ? 0 : 1]
    await eventually(async () => expect(plain(await textOf(page, name)), name).toContain(said))
  }
  return page
}

const textOf = (page: Page, id: string) =>
  page.evaluate(`document.getElementById('${id}').shadowRoot.querySelector('.frame').textContent`) as Promise<string>

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The findings of axe, as lines. */
async function findingsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe })
  // Only violations are described in full, which takes less time.
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(node => id + ': ' + JSON.stringify(node.target) + ' ' + node.failureSummary)))`)
}
