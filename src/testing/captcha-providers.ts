import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { CaptchaUrls } from '../http/widget/captcha/captcha.ts'
import type { ProviderKind } from '../http/widget/captcha/providers.ts'
import { scriptOf } from './captcha-script.ts'
import { type Deed, type FakeAnswer, json, startFakeServer } from './providers/fake-server.ts'

/** For the tests: reCAPTCHA, hCaptcha and Turnstile as their documentation describes them, on one port of loopback. */

export type CaptchaSite = {
  kind: ProviderKind
  siteKey: string
  secret: string
  /** The hosts whose pages may show the captcha. Their subdomains are included. */
  hosts: string[]
  /** The score of reCAPTCHA v3. The other kinds have no score. */
  score?: number
}

export type AskedCaptcha = { kind: ProviderKind; form: Record<string, string> }

type Token = { site: CaptchaSite; hostname: string; expiresAt: number; isUsed: boolean }

/** Sites for tests that the providers publish: everyone passes, or everyone fails. */
export const testSites = {
  recaptcha: testSite(
    'recaptcha',
    '6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI',
    '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
  ),
  hcaptcha: testSite('hcaptcha', '10000000-ffff-ffff-ffff-000000000001', '0x0000000000000000000000000000000000000000'),
  turnstile: testSite('turnstile', '1x00000000000000000000AA', '1x0000000000000000000000000000000AA'),
  turnstileFails: testSite('turnstile', '2x00000000000000000000AB', '2x0000000000000000000000000000000AA'),
  turnstileSpent: testSite('turnstile', '3x00000000000000000000FF', '3x0000000000000000000000000000000AA'),
}

/** The tokens that the test sites give to browsers. The test site of reCAPTCHA accepts every token. */
export const testTokens: Record<ProviderKind, string> = {
  recaptcha: 'a token of the test site',
  hcaptcha: '10000000-aaaa-bbbb-cccc-000000000001',
  turnstile: 'XXXX.DUMMY.TOKEN.XXXX',
}

const hostsOfTestSites: Record<ProviderKind, string> = {
  recaptcha: 'testkey.google.com',
  hcaptcha: 'dummy-key-pass',
  turnstile: 'example.com',
}

const lifetimesMs: Record<ProviderKind, number> = { recaptcha: 120_000, hcaptcha: 120_000, turnstile: 300_000 }

export type CaptchaProviders = Awaited<ReturnType<typeof startCaptchaProviders>>

export async function startCaptchaProviders() {
  const providers = new FakeProviders()
  const server = await startFakeServer((request, body) => providers.answer(request, body))
  const urls: CaptchaUrls = { recaptcha: server.url, hcaptcha: server.url, turnstile: server.url }
  return Object.assign(providers, { urls, stop: server.stop })
}

class FakeProviders {
  /** Requests to verify a token, in order. */
  readonly asked: AskedCaptcha[] = []

  readonly #sites = new Map(Object.values(testSites).map(site => [site.siteKey, site]))
  readonly #tokens = new Map<string, Token>()
  readonly #deeds = new Map<ProviderKind, Deed | (() => Promise<void>)>()
  #lifetimeMs: number | undefined

  /** Registers a site, as a customer does at the provider. */
  addSite(kind: ProviderKind, given: Partial<CaptchaSite> = {}): CaptchaSite {
    const hosts = ['shop.example', 'localhost', '127.0.0.1']
    const site = { kind, siteKey: newSiteKey(kind), secret: newSecret(kind), hosts, ...given }
    this.#sites.set(site.siteKey, site)
    return site
  }

  /** A visitor solves the captcha of the site. */
  solve(site: CaptchaSite, { hostname = site.hosts[0]!, isExpired = false } = {}): string {
    if (isTestSite(site)) return testTokens[site.kind]
    const token = `${site.kind}.${randomBytes(300).toString('base64url')}`
    const lifetimeMs = isExpired ? 0 : (this.#lifetimeMs ?? lifetimesMs[site.kind])
    this.#tokens.set(token, { site, hostname, expiresAt: Date.now() + lifetimeMs, isUsed: false })
    return token
  }

  /**
   * Sets the lifetime of new tokens. Without a value, the usual lifetime. The script tells the page when a token
   * expires.
   */
  expireTokensAfter(lifetimeMs: number | undefined) {
    this.#lifetimeMs = lifetimeMs
  }

  /** Every request to verify a token of this kind gets this behaviour, until `behave`. */
  misbehave(kind: ProviderKind, deed: Deed) {
    this.#deeds.set(kind, deed)
  }

  /** Requests wait for the returned function, and are then answered as usual. */
  holdAnswers(kind: ProviderKind): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#deeds.set(kind, () => promise)
    return resolve
  }

  behave(kind: ProviderKind) {
    this.#deeds.delete(kind)
  }

  async answer(request: IncomingMessage, body: Buffer): Promise<Deed> {
    const { pathname } = new URL(request.url!, 'http://localhost')
    const script = kindOf(pathname, scriptPaths)
    if (script && request.method === 'GET') return scriptOf(script)
    const verified = kindOf(pathname, verifyPaths)
    if (verified && request.method === 'POST') return this.#verifyOrMisbehave(verified, body)
    if (pathname === '/visitor/site') return this.#describeSite(JSON.parse(body.toString()))
    if (pathname === '/visitor/token') return this.#giveToken(JSON.parse(body.toString()))
    return json(404, { error: 'not found' })
  }

  async #verifyOrMisbehave(kind: ProviderKind, body: Buffer): Promise<Deed> {
    const form = Object.fromEntries(new URLSearchParams(body.toString()))
    this.asked.push({ kind, form })
    const deed = this.#deeds.get(kind)
    if (typeof deed === 'function') await deed()
    else if (deed) return deed
    return json(200, this.#verify(kind, form))
  }

  #verify(kind: ProviderKind, form: Record<string, string>) {
    const { secret, response } = form
    if (!secret) return refusal('missing-input-secret')
    if (!response) return refusal('missing-input-response')
    const sites = [...this.#sites.values()].filter(site => site.kind === kind && site.secret === secret)
    if (sites.length === 0) return refusal('invalid-input-secret')
    return verifyTest(sites[0]!, response) ?? rules[kind](sites, form, this.#tokens.get(response))
  }

  /** The request of the script when a page renders the captcha. */
  #describeSite({ kind, siteKey, hostname }: { kind: ProviderKind; siteKey: string; hostname: string }): FakeAnswer {
    const site = this.#sites.get(siteKey)
    if (site?.kind !== kind) return forBrowsers({ error: 'site key' })
    const isAllowed = isTestSite(site) || site.hosts.some(host => hostname === host || hostname.endsWith(`.${host}`))
    return forBrowsers(isAllowed ? {} : { error: 'domain' })
  }

  /** The request of the script when the visitor clicks the checkbox. */
  #giveToken({ siteKey, hostname }: { siteKey: string; hostname: string }): FakeAnswer {
    const site = this.#sites.get(siteKey)
    if (!site || site === testSites.turnstileFails) return forBrowsers({ error: 'not passed' })
    const token = this.solve(site, { hostname })
    return forBrowsers({ token, lifetimeMs: this.#lifetimeMs ?? lifetimesMs[site.kind] })
  }
}

// Answers of the providers -------------------------------------------------------------------------------------------

type Rule = (sites: CaptchaSite[], form: Record<string, string>, token: Token | undefined) => object

const rules: Record<ProviderKind, Rule> = {
  recaptcha(sites, _, token) {
    if (!token) return refusal('invalid-input-response')
    if (!sites.includes(token.site)) return refusal('invalid-keys')
    if (isOver(token)) return refusal('timeout-or-duplicate')
    const { score } = token.site
    return accepted(token, score === undefined ? {} : { score, action: 'verify' })
  },

  /** A secret of hCaptcha is valid for all sites of an account. */
  hcaptcha(sites, { sitekey, response }, token) {
    if (response === testTokens.hcaptcha) return refusal('not-using-dummy-passcode')
    if (sitekey && !sites.some(({ siteKey }) => siteKey === sitekey)) return refusal('sitekey-secret-mismatch')
    if (!token) return refusal('invalid-input-response')
    if (!sites.includes(token.site)) return refusal('sitekey-secret-mismatch')
    if (token.isUsed) return refusal('already-seen-response')
    if (isOver(token)) return refusal('expired-input-response')
    return accepted(token, { credit: false })
  },

  /** Turnstile does not say whether a token is forged or of another site. */
  turnstile(sites, { response }, token) {
    if (!token || response!.length > 2048 || !sites.includes(token.site)) return refusal('invalid-input-response')
    if (isOver(token)) return refusal('timeout-or-duplicate')
    return accepted(token, { 'error-codes': [], action: '', cdata: '', metadata: { interactive: false } })
  },
}

function verifyTest(site: CaptchaSite, response: string): object | undefined {
  if (!isTestSite(site)) return undefined
  if (site === testSites.turnstileFails) return refusal('invalid-input-response')
  if (site === testSites.turnstileSpent) return refusal('timeout-or-duplicate')
  if (site.kind === 'hcaptcha' && response !== testTokens.hcaptcha) return refusal('not-using-dummy-passcode')
  return { success: true, challenge_ts: new Date().toISOString(), hostname: hostsOfTestSites[site.kind] }
}

const refusal = (...codes: string[]) => ({ success: false, 'error-codes': codes })

function accepted(token: Token, more: object) {
  token.isUsed = true
  return { success: true, challenge_ts: new Date().toISOString(), hostname: token.hostname, ...more }
}

const isOver = ({ isUsed, expiresAt }: Token) => isUsed || expiresAt <= Date.now()

const isTestSite = (site: CaptchaSite) => Object.values(testSites).includes(site)

function testSite(kind: ProviderKind, siteKey: string, secret: string): CaptchaSite {
  return { kind, siteKey, secret, hosts: [] }
}

// Forms ------------------------------------------------------------------------------------------------------------

const scriptPaths: Record<ProviderKind, string> = {
  recaptcha: '/recaptcha/api.js',
  hcaptcha: '/1/api.js',
  turnstile: '/turnstile/v0/api.js',
}

const verifyPaths: Record<ProviderKind, string> = {
  recaptcha: '/recaptcha/api/siteverify',
  hcaptcha: '/siteverify',
  turnstile: '/turnstile/v0/siteverify',
}

const kindOf = (path: string, paths: Record<ProviderKind, string>) =>
  (Object.keys(paths) as ProviderKind[]).find(kind => paths[kind] === path)

const forBrowsers = (body: object) => json(200, body, { 'access-control-allow-origin': '*' })

const newSiteKey = (kind: ProviderKind) =>
  ({
    recaptcha: () => `6L${randomBytes(28).toString('base64url')}`,
    hcaptcha: () => randomUUID(),
    turnstile: () => `0x4AAAAAAA${randomBytes(11).toString('base64url')}`,
  })[kind]()

const newSecret = (kind: ProviderKind) =>
  ({
    recaptcha: () => `6L${randomBytes(28).toString('base64url')}`,
    hcaptcha: () => `ES_${randomBytes(16).toString('hex')}`,
    turnstile: () => `0x4AAAAAAA${randomBytes(20).toString('base64url')}`,
  })[kind]()
