import { createHash } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultPage, type PageSettings } from '../../../domain/verifiers/verifier.ts'
import { type CaptchaSite, startCaptchaProviders } from '../../../testing/captcha-providers.ts'
import type { Challenge } from './altcha.ts'
import { createCaptchas } from './captcha.ts'
import type { ProviderKind } from './providers.ts'

const SECRET = 'a secret of thirty-two characters or more'
const now = new Date('2026-11-16T10:00:00Z')
const from = { address: '192.0.2.7' }

const fakes = await startCaptchaProviders()
afterAll(() => fakes.stop())
const captchas = createCaptchas({ secret: SECRET, urls: fakes.urls })

const pageWith = (captcha: PageSettings['captcha'], captchaSiteKey: string | null = null): PageSettings => ({
  ...defaultPage,
  origins: ['https://shop.example'],
  captcha,
  captchaSiteKey,
})

const widgetWith = ({ kind, siteKey, secret }: CaptchaSite) => ({
  page: pageWith(kind, siteKey),
  widgetId: 'abc123def456',
  captchaSecret: secret as string | null,
})

describe('the browser is told', () => {
  test.each<[ProviderKind, string]>([
    ['recaptcha', 'https://www.google.com/recaptcha/api.js?render=explicit'],
    ['hcaptcha', 'https://js.hcaptcha.com/1/api.js?render=explicit&recaptchacompat=off'],
    ['turnstile', 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'],
  ])('the site key and the script of %s', (kind, scriptUrl) => {
    const usual = createCaptchas({ secret: SECRET })
    const told = usual.describe(pageWith(kind, 'site-1'), 'abc123def456', now)
    expect(told).toEqual({ kind, siteKey: 'site-1', scriptUrl })
  })

  test('the script below the base that the operator set', () => {
    const urls = {
      recaptcha: 'https://www.recaptcha.net',
      hcaptcha: 'https://h.example',
      turnstile: 'https://t.example',
    }
    const elsewhere = createCaptchas({ secret: SECRET, urls })
    const scriptOf = (kind: ProviderKind) => elsewhere.describe(pageWith(kind, 'site-1'), 'abc123def456', now)
    expect(scriptOf('recaptcha')).toMatchObject({
      scriptUrl: 'https://www.recaptcha.net/recaptcha/api.js?render=explicit',
    })
    expect(scriptOf('hcaptcha')).toMatchObject({
      scriptUrl: expect.stringMatching(/^https:\/\/h\.example\/1\/api\.js/),
    })
    expect(scriptOf('turnstile')).toMatchObject({
      scriptUrl: expect.stringMatching(/^https:\/\/t\.example\/turnstile/),
    })
  })

  test('a new challenge of our own captcha, and nothing where there is none', () => {
    const tell = () => captchas.describe(pageWith('altcha'), 'abc123def456', now)
    expect(tell()).toEqual({ kind: 'altcha', challenge: expect.objectContaining({ algorithm: 'SHA-256' }) })
    expect(tell()).not.toEqual(tell())
    expect(captchas.describe(pageWith('none'), 'abc123def456', now)).toEqual({ kind: 'none' })
  })
})

describe('the solution', () => {
  const altcha = { page: pageWith('altcha'), widgetId: 'abc123def456', captchaSecret: null }

  test('of our own captcha passes with the hash of its use', async () => {
    const told = captchas.describe(altcha.page, altcha.widgetId, now) as { challenge: Challenge }
    const result = await captchas.judge(altcha, solve(told.challenge), from, now)
    expect(result).toEqual({
      kind: 'passed',
      use: { hash: Buffer.from(told.challenge.challenge, 'hex'), expiresAt: new Date('2026-11-16T10:10:00Z') },
    })
  })

  test.each<ProviderKind>(['recaptcha', 'hcaptcha', 'turnstile'])('of %s passes once', async kind => {
    const site = fakes.addSite(kind)
    const token = fakes.solve(site)
    expect(await captchas.judge(widgetWith(site), token, from, now)).toEqual({ kind: 'passed' })
    expect(await captchas.judge(widgetWith(site), token, from, now)).toMatchObject({ kind: 'failed' })
  })

  test('may be missing only where there is no captcha', async () => {
    const none = { ...altcha, page: pageWith('none') }
    expect(await captchas.judge(none, undefined, from, now)).toEqual({ kind: 'passed' })
    expect(await captchas.judge(altcha, undefined, from, now)).toMatchObject({ kind: 'failed' })
    const widget = widgetWith(fakes.addSite('turnstile'))
    expect(await captchas.judge(widget, undefined, from, now)).toMatchObject({ kind: 'failed' })
  })

  test('cannot be judged without the secret of the provider', async () => {
    const site = fakes.addSite('hcaptcha')
    const widget = { ...widgetWith(site), captchaSecret: null }
    expect(await captchas.judge(widget, fakes.solve(site), from, now)).toMatchObject({ kind: 'broken' })
  })
})

test('a widget whose provider is slow is bounded, and other widgets go on', async () => {
  const [slow, quick] = [fakes.addSite('hcaptcha'), fakes.addSite('turnstile')]
  const before = fakes.asked.length
  const release = fakes.holdAnswers('hcaptcha')
  const judgeSlow = () => captchas.judge({ ...widgetWith(slow), widgetId: 'slow' }, 'forged', from, now)
  const results = Array.from({ length: 151 }, judgeSlow)
  const all = Promise.allSettled(results)
  await expect(results.at(-1)).rejects.toMatchObject({ kind: 'too_many_requests' })
  expect(await captchas.judge(widgetWith(quick), fakes.solve(quick), from, now)).toEqual({ kind: 'passed' })

  const asked = fakes.asked.slice(before).filter(({ kind }) => kind === 'hcaptcha')
  expect(asked.length).toBeLessThanOrEqual(50)
  release()
  const statuses = (await all).slice(0, 50).map(({ status }) => status)
  expect(statuses).toEqual(Array(50).fill('fulfilled'))
})

function solve({ algorithm, challenge, salt, signature, maxNumber }: Challenge): string {
  for (let number = 0; number <= maxNumber; number++) {
    if (createHash('sha256').update(`${salt}${number}`).digest('hex') !== challenge) continue
    return Buffer.from(JSON.stringify({ algorithm, challenge, number, salt, signature })).toString('base64')
  }
  throw new Error('no number solves the challenge')
}
