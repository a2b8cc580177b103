import { createContext, runInContext } from 'node:vm'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import type { ProviderKind } from '../http/widget/captcha/providers.ts'
import { startCaptchaProviders, testSites, testTokens } from './captcha-providers.ts'
import { eventually } from './eventually.ts'

const fakes = await startCaptchaProviders()
afterAll(() => fakes.stop())
afterEach(() => fakes.expireTokensAfter(undefined))

const scripts: Record<ProviderKind, { path: string; name: string }> = {
  recaptcha: { path: '/recaptcha/api.js', name: 'grecaptcha' },
  hcaptcha: { path: '/1/api.js', name: 'hcaptcha' },
  turnstile: { path: '/turnstile/v0/api.js', name: 'turnstile' },
}

type Params = Record<string, unknown>
type Api = {
  render: (container: FakeElement, params: Params) => string | number
  reset: (id: string | number) => void
  getResponse: (id: string | number) => string
  execute: (id: string | number, options?: object) => Promise<string>
  remove?: (id: string | number) => void
}

/** The part of an element that the script uses. */
class FakeElement {
  childNodes: unknown[] = []
  isConnected = true
  checked = false
  disabled = false
  dataset: Record<string, string> = {}
  style = { cssText: '' }
  press = () => {}

  append(...nodes: unknown[]) {
    this.childNodes.push(...nodes)
  }

  replaceChildren(...nodes: unknown[]) {
    this.childNodes = nodes
  }

  addEventListener(_event: string, listener: () => void) {
    this.press = () => {
      this.checked = true
      listener()
    }
  }
}

/** Loads the script into a page that has the parts of a browser that the script uses. */
async function load(kind: ProviderKind, { hostname = 'shop.example', query = '', globals = {} } = {}): Promise<Api> {
  const { path, name } = scripts[kind]
  const src = `${fakes.urls.turnstile}${path}?render=explicit${query}`
  const document = { currentScript: { src }, createElement: () => new FakeElement() }
  const window: Record<string, unknown> = { ...globals }
  const page = createContext({ document, window, location: { hostname }, URL, fetch, setTimeout, clearTimeout })
  runInContext(await (await fetch(src)).text(), page)
  return window[name] as Api
}

/** Waits until the captcha is drawn, and returns its checkbox. */
async function checkboxIn(container: FakeElement): Promise<FakeElement> {
  await eventually(() => expect(container.childNodes).toHaveLength(1))
  return (container.childNodes[0] as FakeElement).childNodes[0] as FakeElement
}

const called = (callback: ReturnType<typeof vi.fn>) => eventually(() => expect(callback).toHaveBeenCalled())

describe.each<ProviderKind>(['recaptcha', 'hcaptcha', 'turnstile'])('%s', kind => {
  test('the checkbox gives a token, and after reset another token', async () => {
    const [api, container, callback] = [await load(kind), new FakeElement(), vi.fn()]
    const { siteKey } = fakes.addSite(kind)
    const id = api.render(container, { sitekey: siteKey, callback })
    const checkbox = await checkboxIn(container)

    checkbox.press()
    await called(callback)
    const [token] = callback.mock.lastCall!
    expect(api.getResponse(id)).toBe(token)
    expect(checkbox).toMatchObject({ checked: true, disabled: true })

    api.reset(id)
    expect(api.getResponse(id)).toBe('')
    expect(checkbox).toMatchObject({ checked: false, disabled: false })
    checkbox.press()
    await eventually(() => expect(callback).toHaveBeenCalledTimes(2))
    expect(callback.mock.lastCall![0]).not.toBe(token)
  })

  test.each([
    ['a wrong site key', { sitekey: 'wrong', hostname: 'shop.example' }],
    ['a host that is none of the site', { hostname: 'other.example' }],
    ['a site key of another kind', { other: true }],
  ])('%s calls error-callback and draws nothing', async (_, { sitekey, hostname, other }: Params) => {
    const kinds: ProviderKind[] = ['recaptcha', 'hcaptcha', 'turnstile']
    const site = fakes.addSite(other ? kinds.find(each => each !== kind)! : kind)
    const api = await load(kind, { hostname: (hostname as string) ?? 'shop.example' })
    const [container, failed] = [new FakeElement(), vi.fn()]
    api.render(container, { sitekey: sitekey ?? site.siteKey, 'error-callback': failed })
    await called(failed)
    expect(container.childNodes).toEqual([])
  })

  test('a token that expires calls expired-callback', async () => {
    const { siteKey } = fakes.addSite(kind)
    fakes.expireTokensAfter(1)
    const [api, container, expired] = [await load(kind), new FakeElement(), vi.fn()]
    api.render(container, { sitekey: siteKey, 'expired-callback': expired })
    const checkbox = await checkboxIn(container)
    checkbox.press()
    await called(expired)
    expect(checkbox).toMatchObject({ checked: false, disabled: false })
  })

  test('a container is used once, and several captchas have their own ids', async () => {
    const [api, container] = [await load(kind), new FakeElement()]
    const { siteKey: sitekey } = fakes.addSite(kind)
    const first = api.render(container, { sitekey })
    expect(api.render(new FakeElement(), { sitekey })).not.toBe(first)
    await checkboxIn(container)
    expect(() => api.render(container, { sitekey })).toThrow(/empty/)
  })

  test('onload names a function of the page', async () => {
    const ready = vi.fn()
    await load(kind, { query: '&onload=captchaReady', globals: { captchaReady: ready } })
    expect(ready).toHaveBeenCalledOnce()
  })

  test('the published test site gives its token on every host', async () => {
    const [api, container, callback] = [await load(kind, { hostname: 'any.example' }), new FakeElement(), vi.fn()]
    api.render(container, { sitekey: testSites[kind].siteKey, callback })
    const checkbox = await checkboxIn(container)
    checkbox.press()
    await called(callback)
    expect(callback).toHaveBeenCalledWith(testTokens[kind])
  })
})

test('reCAPTCHA v3 gives a token without a checkbox', async () => {
  const api = await load('recaptcha')
  const { siteKey } = fakes.addSite('recaptcha', { score: 0.9 })
  expect(await api.execute(siteKey, { action: 'verify' })).toMatch(/^recaptcha\./)
})

test('the site key of Turnstile that always fails calls error-callback', async () => {
  const [api, container, failed] = [await load('turnstile'), new FakeElement(), vi.fn()]
  api.render(container, { sitekey: testSites.turnstileFails.siteKey, 'error-callback': failed })
  const checkbox = await checkboxIn(container)
  checkbox.press()
  await called(failed)
})

test('remove clears the container', async () => {
  for (const kind of ['hcaptcha', 'turnstile'] as const) {
    const [api, container] = [await load(kind), new FakeElement()]
    const id = api.render(container, { sitekey: fakes.addSite(kind).siteKey })
    await checkboxIn(container)
    api.remove!(id)
    expect(container.childNodes).toEqual([])
    expect(() => api.getResponse(id)).toThrow(/no captcha/)
  }
})
