import { isIP } from 'node:net'

export type ProviderKind = 'recaptcha' | 'hcaptcha' | 'turnstile'

export type Provider = { kind: ProviderKind; verifyUrl: string; secret: string; siteKey: string }

/** The source of the token: the visitor's address, and the origins of the pages that may show the widget. */
export type TokenSource = { address: string; origins: string[] }

export type ProviderResult =
  | { kind: 'passed' }
  | { kind: 'failed'; reason: string }
  | { kind: 'broken'; reason: string }

const names: Record<ProviderKind, string> = { recaptcha: 'reCAPTCHA', hcaptcha: 'hCaptcha', turnstile: 'Turnstile' }

const TIMEOUT_MS = 5000
const MOST_TOKEN_BYTES = 4096
const MOST_ANSWER_BYTES = 64 * 1024

/** Of reCAPTCHA v3, from 0 (a bot) to 1 (a person); 0.5 is the threshold that Google recommends. */
const LEAST_SCORE = 0.5

/**
 * Asks the provider about a token, once: the provider refuses a token that it has seen. No result contains the secret or
 * the token, because reasons are kept in the company's log of errors.
 */
export async function verifyWithProvider(
  provider: Provider,
  token: string,
  from: TokenSource,
  timeoutMs = TIMEOUT_MS,
): Promise<ProviderResult> {
  const refused = refuseToken(token) ?? refuseWithoutSecret(provider)
  if (refused) return refused
  const answer = await ask(provider, token, from, timeoutMs)
  if ('kind' in answer) return answer
  const hide: Hide = text => hidden(text, [provider.secret, token])
  return (
    judgeCodes(provider, codesIn(answer.body), hide) ??
    judgeRefusal(provider, answer.body) ??
    judgeHost(provider, answer.body, from, hide) ??
    judgeScore(provider, answer.body) ?? { kind: 'passed' }
  )
}

function refuseToken(token: string): ProviderResult | undefined {
  if (token === '') return failed('The request has no token of the captcha.')
  if (Buffer.byteLength(token) > MOST_TOKEN_BYTES) return failed(`The token is longer than ${MOST_TOKEN_BYTES} bytes.`)
}

function refuseWithoutSecret({ kind, secret }: Provider): ProviderResult | undefined {
  if (secret === '') return broken(`The widget has no secret of ${names[kind]}: set the secret of its site key.`)
}

// The call ---------------------------------------------------------------------------------------------------------

type ProviderAnswer = { body: Record<string, unknown> }

/** One timeout for connection, answer and body. A redirect is an error, so that the secret is sent to no other host. */
async function ask(
  provider: Provider,
  token: string,
  from: TokenSource,
  timeoutMs: number,
): Promise<ProviderAnswer | ProviderResult> {
  try {
    const response = await fetch(provider.verifyUrl, {
      method: 'POST',
      body: formFor(provider, token, from),
      headers: { accept: 'application/json', 'user-agent': 'Tidings' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return await readAnswer(provider, response)
  } catch (error) {
    return broken(
      `${names[provider.kind]} could not be asked: ${failureOf(error)}. Check that this service reaches it.`,
    )
  }
}

/** All three take these fields; `sitekey` is hCaptcha's, which then refuses tokens of other sites. */
function formFor({ kind, secret, siteKey }: Provider, token: string, { address }: TokenSource): URLSearchParams {
  const form = new URLSearchParams({ secret, response: token })
  const remoteIp = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIP(remoteIp)) form.set('remoteip', remoteIp)
  if (kind === 'hcaptcha') form.set('sitekey', siteKey)
  return form
}

/** Turnstile and hCaptcha may answer 400 with the usual JSON. The status decides only if the body has no result. */
async function readAnswer({ kind }: Provider, response: Response): Promise<ProviderAnswer | ProviderResult> {
  const { status } = response
  if (status === 429 || (status >= 300 && status < 400)) {
    await response.body?.cancel()
    return status === 429
      ? broken(`${names[kind]} refuses more checks (HTTP 429): the quota of the account is used up. Raise it there.`)
      : broken(`${names[kind]} answered with a redirect (HTTP ${status}), which is not followed. Correct its address.`)
  }
  const text = await textOf(response)
  if (text === undefined) return broken(`${names[kind]} answered with more than ${MOST_ANSWER_BYTES / 1024} KiB.`)
  const body = objectIn(text)
  if (typeof body?.success === 'boolean') return { body }
  return broken(`${names[kind]} did not answer as its documentation says (HTTP ${status}). Check its address.`)
}

/** Undefined if the body is too long. Leaving the loop cancels the rest. */
async function textOf(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_ANSWER_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Describes an error by its code, because its message could contain the secret or the token. */
function failureOf(error: unknown): string {
  const { name, cause } = error as Error
  if (name === 'TimeoutError') return 'no answer in time'
  const { code } = (cause ?? {}) as { code?: string }
  return code ? `the call failed (${code})` : 'the call failed'
}

// The meaning of the answer ----------------------------------------------------------------------------------------

const MOST_CODES = 5
const MOST_CODE_CHARS = 100

function codesIn(body: Record<string, unknown>): string[] {
  const codes = body['error-codes']
  return Array.isArray(codes) ? codes.slice(0, MOST_CODES).map(String) : []
}

type Hide = (text: string) => string

/** A provider could repeat the secret or the token. Control characters would break lines of the log. */
function hidden(text: string, secrets: string[]): string {
  const shown = secrets.reduce((shorter, secret) => shorter.replaceAll(secret, '…'), text)
  return shown.replaceAll(/[^\x20-\x7e…]/g, '?').slice(0, MOST_CODE_CHARS)
}

/** Codes about the visitor's token: the visitor tries again. */
const tokenCodes: Record<string, string> = {
  'missing-input-response': 'no token was sent',
  'invalid-input-response':
    'the token is invalid. If every visitor fails, the secret or the kind of captcha does not match the site key',
  'expired-input-response': 'the token has expired',
  'already-seen-response': 'the token was used before',
  'invalid-or-already-seen-response': 'the token is invalid or was used before',
  'timeout-or-duplicate': 'the token has expired or was used before',
  'browser-error': "the visitor's browser could not finish the captcha",
}

const UNKNOWN_SECRET = 'the secret is wrong. Copy it again, and check that it is of this kind of captcha'
const OTHER_SECRET = 'the secret does not belong to the site key. Set the two that stand together at the provider'
const TEST_KEYS = 'a test key is used together with a real one. Set the site key and the secret of the same site'
const OUR_REQUEST = 'it did not understand the request. Check the address of the provider'

/** Codes about the settings or the provider: the company or the operator has to act. */
const settingsCodes: Record<string, string> = {
  'missing-input-secret': 'the secret is missing. Set it',
  'invalid-input-secret': UNKNOWN_SECRET,
  'invalid-widget-id': UNKNOWN_SECRET,
  'invalid-parsed-secret': UNKNOWN_SECRET,
  'sitekey-secret-mismatch': OTHER_SECRET,
  'invalid-keys': OTHER_SECRET,
  'not-using-dummy-passcode': TEST_KEYS,
  'not-using-dummy-secret': TEST_KEYS,
  'bad-request': OUR_REQUEST,
  'missing-remoteip': OUR_REQUEST,
  'invalid-remoteip': OUR_REQUEST,
  'internal-error': 'it has an error of its own. Try again later',
}

/** Google reports this as a sentence: "Over free quota". With v3, every token passes then. */
const isAboutQuota = (code: string) => /quota|rate.?limit/i.test(code)

const isKnown = (code: string) => Object.hasOwn(tokenCodes, code) || Object.hasOwn(settingsCodes, code)

/** A code about the settings has priority over codes about the token. Codes count even with `success: true`. */
function judgeCodes({ kind }: Provider, codes: string[], hide: Hide): ProviderResult | undefined {
  if (codes.length === 0) return undefined
  const said = codes.map(code => (isKnown(code) ? code : hide(code))).join(', ')
  if (codes.some(isAboutQuota)) {
    return broken(`${names[kind]}: the quota of the account is used up. Raise it there. (${said})`)
  }
  const wrong = codes.find(code => !Object.hasOwn(tokenCodes, code))
  if (wrong === undefined) return failed(`${names[kind]}: ${tokenCodes[codes[0]!]}. (${said})`)
  const meaning = Object.hasOwn(settingsCodes, wrong) ? settingsCodes[wrong] : 'it gave an unknown error code'
  return broken(`${names[kind]}: ${meaning}. (${said})`)
}

function judgeRefusal({ kind }: Provider, { success }: Record<string, unknown>): ProviderResult | undefined {
  if (success === false) return failed(`${names[kind]} refused the token without an error code.`)
}

/** The secrets that the providers publish for tests. Every visitor passes, and the host in the answer is not real. */
const testSecrets: Record<ProviderKind, string> = {
  recaptcha: '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
  hcaptcha: '0x0000000000000000000000000000000000000000',
  turnstile: '1x0000000000000000000000000000000AA',
}

/** hCaptcha's answer if a site has very many visitors at once. */
const HOST_NOT_PROVIDED = 'not-provided'

function judgeHost(
  { kind, secret }: Provider,
  { hostname }: Record<string, unknown>,
  { origins }: TokenSource,
  hide: Hide,
): ProviderResult | undefined {
  if (secret === testSecrets[kind] || (kind === 'hcaptcha' && hostname === HOST_NOT_PROVIDED)) return undefined
  if (typeof hostname !== 'string') {
    return broken(`${names[kind]} did not name the site of the captcha. Use a site key for web pages.`)
  }
  if (origins.some(origin => new URL(origin).hostname === hostname.toLowerCase())) return undefined
  return broken(
    `${names[kind]}: the captcha was solved on ${hide(hostname)}, which is none of the widget's origins. ` +
      'Add the site to the origins, or remove it from the domains of the site key.',
  )
}

/** The score of hCaptcha Enterprise is reversed: 1 is a bot. */
function judgeScore({ kind }: Provider, { score }: Record<string, unknown>): ProviderResult | undefined {
  if (kind !== 'recaptcha' || typeof score !== 'number' || score >= LEAST_SCORE) return undefined
  return failed(`${names[kind]}: the score ${score} is under ${LEAST_SCORE}.`)
}

const failed = (reason: string): ProviderResult => ({ kind: 'failed', reason })
const broken = (reason: string): ProviderResult => ({ kind: 'broken', reason })
