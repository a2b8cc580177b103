import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type CaptchaSite, startCaptchaProviders, testSites, testTokens } from '../../../testing/captcha-providers.ts'
import { eventually } from '../../../testing/eventually.ts'
import { json } from '../../../testing/providers/fake-server.ts'
import { type ProviderKind, verifyWithProvider } from './providers.ts'

const fakes = await startCaptchaProviders()
afterAll(() => fakes.stop())

const kinds: ProviderKind[] = ['recaptcha', 'hcaptcha', 'turnstile']
afterEach(() => {
  for (const kind of kinds) fakes.behave(kind)
})

const verifyUrls = {
  recaptcha: `${fakes.urls.recaptcha}/recaptcha/api/siteverify`,
  hcaptcha: `${fakes.urls.hcaptcha}/siteverify`,
  turnstile: `${fakes.urls.turnstile}/turnstile/v0/siteverify`,
}

type Given = {
  secret?: string
  siteKey?: string
  origins?: string[]
  address?: string
  url?: string
  timeoutMs?: number
}

function verify({ kind, ...site }: CaptchaSite, token: string, given: Given = {}) {
  const { secret = site.secret, siteKey = site.siteKey, url = verifyUrls[kind], timeoutMs } = given
  const { origins = ['https://shop.example', 'http://localhost:3000'], address = '192.0.2.7' } = given
  return verifyWithProvider({ kind, verifyUrl: url, secret, siteKey }, token, { address, origins }, timeoutMs)
}

const passed = { kind: 'passed' }
const failed = (reason: RegExp) => ({ kind: 'failed', reason: expect.stringMatching(reason) })
const broken = (reason: RegExp) => ({ kind: 'broken', reason: expect.stringMatching(reason) })

describe.each(kinds)('%s', kind => {
  test('a token of the site passes once', async () => {
    const site = fakes.addSite(kind)
    const token = fakes.solve(site)
    expect(await verify(site, token)).toEqual(passed)
    expect(await verify(site, token)).toEqual(failed(/used before.*(timeout-or-duplicate|already-seen-response)/))
  })

  test('is asked with the secret, the token and the address of the visitor', async () => {
    const site = fakes.addSite(kind)
    const token = fakes.solve(site)
    await verify(site, token, { address: '::ffff:192.0.2.9' })
    const { secret, siteKey } = site
    const form = { secret, response: token, remoteip: '192.0.2.9' }
    expect(fakes.asked.at(-1)).toEqual({ kind, form: kind === 'hcaptcha' ? { ...form, sitekey: siteKey } : form })
  })

  test('an expired token fails', async () => {
    const site = fakes.addSite(kind)
    expect(await verify(site, fakes.solve(site, { isExpired: true }))).toEqual(failed(/expired/))
  })

  test.each(['forged', 'e', 'invalid-input-response'])('the forged token %s fails', async token => {
    expect(await verify(fakes.addSite(kind), token)).toEqual(failed(/\(invalid-input-response\)$/))
  })

  test.each([
    ['no token', ''],
    ['a token of more than 4 KiB', 'é'.repeat(2049)],
  ])('%s fails, and the provider is not asked', async (_, token) => {
    const before = fakes.asked.length
    expect(await verify(fakes.addSite(kind), token)).toEqual(failed(/token/))
    expect(fakes.asked.length).toBe(before)
  })

  test('a refusal without an error code fails', async () => {
    fakes.misbehave(kind, json(200, { success: false }))
    expect(await verify(fakes.addSite(kind), 'token')).toEqual(failed(/without an error code/))
  })

  test('a wrong secret is broken', async () => {
    const site = fakes.addSite(kind)
    expect(await verify(site, fakes.solve(site), { secret: 'wrong' })).toEqual(
      broken(/secret is wrong.*invalid-input-secret/),
    )
  })

  test('no secret is broken, and the provider is not asked', async () => {
    const before = fakes.asked.length
    const site = fakes.addSite(kind)
    expect(await verify(site, fakes.solve(site), { secret: '' })).toEqual(broken(/no secret/))
    expect(fakes.asked.length).toBe(before)
  })

  test('the secret of another kind of captcha is broken', async () => {
    const site = fakes.addSite(kind)
    const other = fakes.addSite(kinds.find(each => each !== kind)!)
    expect(await verify(site, fakes.solve(other), { secret: other.secret })).toEqual(broken(/this kind of captcha/))
  })

  test('a captcha that was solved on a site that is none of the origins is broken', async () => {
    const site = fakes.addSite(kind)
    expect(await verify(site, fakes.solve(site, { hostname: 'other.example' }))).toEqual(
      broken(/solved on other\.example.*origins/),
    )
  })

  test('the port of an origin and capitals of the host do not matter', async () => {
    const site = fakes.addSite(kind)
    expect(await verify(site, fakes.solve(site, { hostname: 'localhost' }))).toEqual(passed)
    expect(await verify(site, fakes.solve(site, { hostname: 'SHOP.example' }))).toEqual(passed)
  })

  test('an answer that names no host is broken', async () => {
    fakes.misbehave(kind, json(200, { success: true, apk_package_name: 'com.example.shop' }))
    expect(await verify(fakes.addSite(kind), 'token')).toEqual(broken(/did not name the site/))
  })

  test.each([
    ['HTTP 429', { status: 429, body: 'Too many requests' }, /quota.*Raise it/],
    ['a code about a quota', json(200, { success: false, 'error-codes': ['Over Enterprise free quota.'] }), /quota/],
    [
      'a quota, though it lets the visitor pass',
      json(200, { success: true, score: 0.9, hostname: 'shop.example', 'error-codes': ['Over free quota.'] }),
      /quota/,
    ],
    ['a page of HTML', { status: 200, body: '<html>Blocked</html>' }, /did not answer as its documentation says/],
    ['HTTP 503', { status: 503, body: '' }, /HTTP 503/],
    ['other JSON', json(200, ['no']), /did not answer as its documentation says/],
    ['success that is no boolean', json(200, { success: 'true' }), /did not answer as its documentation says/],
    ['an unknown code', json(200, { success: false, 'error-codes': ['new-trouble'] }), /unknown.*new-trouble/],
    ['the name of an inherited property', json(200, { success: false, 'error-codes': ['constructor'] }), /unknown/],
    [
      'codes of both sorts',
      json(200, { success: false, 'error-codes': ['invalid-input-response', 'invalid-input-secret'] }),
      /secret is wrong/,
    ],
    ['an error of its own', json(500, { success: false, 'error-codes': ['internal-error'] }), /Try again later/],
    ['a bad request', json(400, { success: false, 'error-codes': ['bad-request'] }), /did not understand/],
    ['more than 64 KiB', json(200, { success: true, more: 'x'.repeat(65_536) }), /more than 64 KiB/],
    ['a closed connection', 'reset' as const, /could not be asked/],
    ['half an answer', 'half an answer' as const, /could not be asked/],
  ])('an answer with %s is broken', async (_, deed, reason) => {
    fakes.misbehave(kind, deed)
    expect(await verify(fakes.addSite(kind), 'token')).toEqual(broken(reason))
  })

  test('a refusal of a token with HTTP 400 is judged by its codes', async () => {
    fakes.misbehave(kind, json(400, { success: false, 'error-codes': ['invalid-input-response'] }))
    expect(await verify(fakes.addSite(kind), 'token')).toEqual(failed(/invalid/))
  })

  test('a redirect is broken, and the secret goes nowhere else', async () => {
    const before = fakes.asked.length
    fakes.misbehave(kind, { status: 307, body: '', headers: { location: verifyUrls[kind] } })
    expect(await verify(fakes.addSite(kind), 'token')).toEqual(broken(/redirect/))
    expect(fakes.asked.length).toBe(before + 1)
  })

  test('no answer in time is broken', async () => {
    fakes.misbehave(kind, 'silence')
    expect(await verify(fakes.addSite(kind), 'token', { timeoutMs: 50 })).toEqual(broken(/no answer in time/))
  })

  test('a provider that cannot be reached is broken', async () => {
    const url = await addressOfNobody()
    expect(await verify(fakes.addSite(kind), 'token', { url })).toEqual(broken(/ECONNREFUSED/))
  })

  test('a slow answer counts', async () => {
    const site = fakes.addSite(kind)
    const [before, release] = [fakes.asked.length, fakes.holdAnswers(kind)]
    const result = verify(site, fakes.solve(site), { timeoutMs: 240_000 })
    await eventually(() => expect(fakes.asked.length).toBe(before + 1))
    release()
    expect(await result).toEqual(passed)
  })

  test('the published test keys pass on every site', async () => {
    expect(await verify(testSites[kind], testTokens[kind])).toEqual(passed)
  })

  test('neither the secret nor the token appears in a reason, even if the provider repeats them', async () => {
    const site = fakes.addSite(kind)
    const token = fakes.solve(site)
    const answers = [
      { success: false, 'error-codes': [`no such secret: ${site.secret}`, `${token}\n${site.secret}`] },
      { success: true, hostname: `${site.secret}.${token}` },
    ]
    for (const answer of answers) {
      fakes.misbehave(kind, json(200, answer))
      const { reason } = (await verify(site, token)) as { reason: string }
      expect(reason).toMatch(/…/)
      expect(reason).not.toContain(site.secret)
      expect(reason).not.toContain(token.slice(0, 50))
    }
  })
})

test('a body that never ends is given up in time', async () => {
  const server = createServer((_, response) => response.writeHead(200).write('{"success":'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    expect(await verify(fakes.addSite('turnstile'), 'token', { url, timeoutMs: 300 })).toEqual(broken(/in time/))
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

describe('reCAPTCHA', () => {
  test.each([
    [0.49, failed(/score 0.49 is under 0.5/)],
    [0.5, passed],
    [0.9, passed],
  ])('v3: the score %d', async (score, result) => {
    const site = fakes.addSite('recaptcha', { score })
    expect(await verify(site, fakes.solve(site))).toEqual(result)
  })

  test('a secret that does not match the site key is broken', async () => {
    const [site, other] = [fakes.addSite('recaptcha'), fakes.addSite('recaptcha')]
    expect(await verify(site, fakes.solve(site), { secret: other.secret })).toEqual(
      broken(/does not belong to the site key.*invalid-keys/),
    )
  })

  test('a browser that could not finish the captcha fails', async () => {
    fakes.misbehave('recaptcha', json(200, { success: false, 'error-codes': ['browser-error'] }))
    expect(await verify(fakes.addSite('recaptcha'), 'token')).toEqual(failed(/browser/))
  })
})

describe('hCaptcha', () => {
  test('a secret that does not match the site key is broken', async () => {
    const [site, other] = [fakes.addSite('hcaptcha'), fakes.addSite('hcaptcha')]
    expect(await verify(site, fakes.solve(site), { secret: other.secret })).toEqual(
      broken(/does not belong to the site key.*sitekey-secret-mismatch/),
    )
  })

  test('a host that is withheld because of much traffic passes', async () => {
    const site = fakes.addSite('hcaptcha')
    expect(await verify(site, fakes.solve(site, { hostname: 'not-provided' }))).toEqual(passed)
  })

  test('the test token with a real secret is broken', async () => {
    expect(await verify(fakes.addSite('hcaptcha'), testTokens.hcaptcha)).toEqual(broken(/test key/))
  })

  test('a high score, which there means a bot, is left to hCaptcha', async () => {
    fakes.misbehave('hcaptcha', json(200, { success: true, hostname: 'shop.example', score: 0.1 }))
    expect(await verify(fakes.addSite('hcaptcha'), 'token')).toEqual(passed)
  })
})

describe('Turnstile', () => {
  test('a secret that does not match the site key fails as a forged token does, and the reason says so', async () => {
    const [site, other] = [fakes.addSite('turnstile'), fakes.addSite('turnstile')]
    expect(await verify(site, fakes.solve(site), { secret: other.secret })).toEqual(
      failed(/If every visitor fails, the secret .* does not match the site key/),
    )
  })

  test('the published test keys that always fail do', async () => {
    expect(await verify(testSites.turnstileFails, testTokens.turnstile)).toEqual(failed(/invalid-input-response/))
    expect(await verify(testSites.turnstileSpent, testTokens.turnstile)).toEqual(failed(/timeout-or-duplicate/))
  })

  test.each(['invalid-widget-id', 'invalid-parsed-secret'])('%s is a wrong secret', async code => {
    fakes.misbehave('turnstile', json(200, { success: false, 'error-codes': [code] }))
    expect(await verify(fakes.addSite('turnstile'), 'token')).toEqual(broken(/secret is wrong/))
  })
})

/** A port where nothing listens any more. */
async function addressOfNobody(): Promise<string> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}
