import { generateKeyPairSync, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { bodyOf, claimsOf, type FakeAnswer } from './push-service.ts'

/** Google's token service and FCM HTTP v1, for tests, over real sockets. They refuse every unknown field. */
export type FakeFcm = {
  url: string
  /** A service account file in the form of Google. */
  serviceAccount: Record<string, string>
  /** The answer to each call for a registration token, counted from 0. The default is 200. */
  answers: Map<string, (call: number) => FakeAnswer | undefined>
  /** The answer to each call for an access token. */
  tokenAnswer: (call: number) => FakeAnswer | undefined
  /** Accepted messages, in order. */
  taken: Record<string, unknown>[]
  /** Issued access tokens. Only the last token is valid. */
  accessTokens: string[]
  assertions: string[]
  tokenCalls(): number
  sendCalls(): number
  /** Makes all access tokens invalid. The client must fetch a new token. */
  revoke(): void
  problems: string[]
  stop(): Promise<void>
}

export type FakeFcmOptions = { answerMs?: number; expiresInSeconds?: number }

const PROJECT = 'tidings-test'
const EMAIL = `push@${PROJECT}.iam.gserviceaccount.com`
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** One key for all tests, because making a key takes a tenth of a second. */
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })

export async function startFcm({ answerMs = 0, expiresInSeconds = 3600 }: FakeFcmOptions = {}) {
  let honoured: string | undefined
  let tokenCalls = 0
  let sendCalls = 0
  const calls = new Map<string, number>()
  const server = createServer((request, response) => {
    take(request, response).catch(error => {
      fcm.problems.push(String(error))
      response.writeHead(500).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const fcm: FakeFcm = {
    url,
    serviceAccount: {
      type: 'service_account',
      project_id: PROJECT,
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      client_email: EMAIL,
      token_uri: `${url}/token`,
    },
    answers: new Map(),
    tokenAnswer: () => undefined,
    taken: [],
    accessTokens: [],
    assertions: [],
    tokenCalls: () => tokenCalls,
    sendCalls: () => sendCalls,
    revoke: () => {
      honoured = undefined
    },
    problems: [],
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }

  async function take(request: IncomingMessage, response: ServerResponse) {
    const body = (await bodyOf(request)).toString()
    if (answerMs) await pause(answerMs)
    const answer = answerTo(request, body)
    if (answer === 'silence') return
    if (answer === 'hangUp') return request.socket.destroy()
    const headers = { 'content-type': 'application/json; charset=UTF-8', ...answer.headers }
    response.writeHead(answer.status, headers).end(answer.body)
  }

  function answerTo(request: IncomingMessage, body: string): FakeAnswer {
    if (request.method !== 'POST') return problem(`method ${request.method}`)
    if (request.url === '/token') return grant(request, body)
    if (request.url === `/v1/projects/${PROJECT}/messages:send`) return send(request, body)
    fcm.problems.push(`path ${request.url}`)
    return fcmError('NOT_FOUND')
  }

  function problem(what: string): FakeAnswer {
    fcm.problems.push(what)
    return fcmError('INVALID_ARGUMENT', what)
  }

  function grant({ headers }: IncomingMessage, body: string): FakeAnswer {
    const scripted = fcm.tokenAnswer(tokenCalls++)
    const form = new URLSearchParams(body)
    const assertion = form.get('assertion') ?? ''
    fcm.assertions.push(assertion)
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return problem('content-type of a form')
    if (form.get('grant_type') !== GRANT_TYPE) return problem('grant_type')
    const wrong = assertionProblem(assertion, fcm.serviceAccount.token_uri!)
    if (wrong) return problem(`assertion: ${wrong}`)
    if (scripted) return scripted

    honoured = `ya29.invented-${fcm.accessTokens.length}`
    fcm.accessTokens.push(honoured)
    const granted = { access_token: honoured, expires_in: expiresInSeconds, token_type: 'Bearer' }
    return { status: 200, body: JSON.stringify(granted) }
  }

  function send({ headers }: IncomingMessage, body: string): FakeAnswer {
    sendCalls++
    if (!honoured || headers.authorization !== `Bearer ${honoured}`) return fcmError('UNAUTHENTICATED')
    if (headers['content-type'] !== 'application/json') return problem('content-type')
    const parsed = JSON.parse(body)
    const wrong = messageProblem(parsed)
    if (wrong) return problem(wrong)

    const { token } = parsed.message
    const nth = calls.get(token) ?? 0
    calls.set(token, nth + 1)
    const scripted = fcm.answers.get(token)?.(nth)
    if (scripted) return scripted
    fcm.taken.push(parsed.message)
    const name = `projects/${PROJECT}/messages/0:${token}-${fcm.taken.length}`
    return { status: 200, body: JSON.stringify({ name }) }
  }

  return fcm
}

function assertionProblem(assertion: string, audience: string): string | undefined {
  const [header = '', claims = '', signature = ''] = assertion.split('.')
  const signed = Buffer.from(`${header}.${claims}`)
  if (!verify('RSA-SHA256', signed, keys.publicKey, Buffer.from(signature, 'base64url'))) return 'signature'
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString())
  if (alg !== 'RS256') return `alg ${alg}`

  const { iss, scope, aud, iat, exp } = claimsOf(assertion)
  if (iss !== EMAIL || scope !== SCOPE || aud !== audience) return 'iss, scope or aud'
  if (!Number.isInteger(iat) || !Number.isInteger(exp)) return 'iat or exp'
  return Number(exp) - Number(iat) > 3600 ? 'lives for more than an hour' : undefined
}

/** The known fields by path, with the pattern of each. Other fields are refused, as FCM does. */
const fields: [RegExp, RegExp][] = [
  [/^message\.token$/, /^\S+$/],
  [/^message\.notification\.(title|body|image)$/, /./s],
  [/^message\.data\.(?!from$|message_type$|google\.|gcm\.)/, /^/],
  [/^message\.android\.ttl$/, /^\d+s$/],
  [/^message\.apns\.headers\.apns-expiration$/, /^\d+$/],
  [/^message\.webpush\.headers\.TTL$/, /^\d+$/],
  [/^message\.webpush\.fcm_options\.link$/, /^https:\/\//],
]

function messageProblem(body: unknown): string | undefined {
  const leaves = [...leavesOf(body, '')]
  if (!leaves.some(([path]) => path === 'message.token')) return 'message.token is missing'
  const wrong = leaves.find(([path, value]) => !isKnown(path, value))
  return wrong && `Invalid value at '${wrong[0]}'`
}

const isKnown = (path: string, value: unknown) =>
  typeof value === 'string' && fields.some(([place, look]) => place.test(path) && look.test(value))

function* leavesOf(value: unknown, path: string): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return yield [path, value]
  for (const [name, member] of Object.entries(value)) yield* leavesOf(member, path ? `${path}.${name}` : name)
}

const statuses: Record<string, [number, string]> = {
  INVALID_ARGUMENT: [400, 'INVALID_ARGUMENT'],
  THIRD_PARTY_AUTH_ERROR: [401, 'UNAUTHENTICATED'],
  UNAUTHENTICATED: [401, 'UNAUTHENTICATED'],
  SENDER_ID_MISMATCH: [403, 'PERMISSION_DENIED'],
  PERMISSION_DENIED: [403, 'PERMISSION_DENIED'],
  UNREGISTERED: [404, 'NOT_FOUND'],
  NOT_FOUND: [404, 'NOT_FOUND'],
  QUOTA_EXCEEDED: [429, 'RESOURCE_EXHAUSTED'],
  INTERNAL: [500, 'INTERNAL'],
  UNAVAILABLE: [503, 'UNAVAILABLE'],
}

const general = new Set(['UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND'])
const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

/** An error in the format of FCM; `field` is the wrong field of the request. */
export function fcmError(
  errorCode: string,
  message = 'Invented.',
  { field, headers = {} }: { field?: string; headers?: Record<string, string> } = {},
): FakeAnswer {
  const [code, status] = statuses[errorCode]!
  const details = [
    ...(general.has(errorCode) ? [] : [{ '@type': FCM_ERROR, errorCode }]),
    ...(field ? [{ '@type': BAD_REQUEST, fieldViolations: [{ field, description: message }] }] : []),
  ]
  return { status: code, headers, body: JSON.stringify({ error: { code, message, status, details } }) }
}
