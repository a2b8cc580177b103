/**
 * Login by code: a complete server without dependencies.
 *
 *   TIDINGS_API=http://localhost:8080/api/v1 TIDINGS_KEY=... GATEWAY_ID=... node login-by-code.mts
 *
 * The browser gets a session cookie and nothing else. The number and the uuid of its verification stay in the session
 * on the server, so a confirmed code always stands for the number that it was sent to.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const { TIDINGS_API, TIDINGS_KEY, GATEWAY_ID, PORT = '9000' } = process.env
if (!TIDINGS_API || !TIDINGS_KEY || !GATEWAY_ID) throw new Error('Set TIDINGS_API, TIDINGS_KEY and GATEWAY_ID.')

/** `asked` is the number that a code was sent to; `phone` the number that is logged in. */
type Session = { endsAt: number; asked?: { phone: string; uuid: string }; phone?: string }
/** What Tidings answers: `uuid` to a send, `status` to a check, `error` when it refuses. */
type Reply = { uuid: string; status: string; error: unknown }
type Answer = { status: number; message: string; headers?: Record<string, string> }

const HOUR_MS = 3_600_000
const MOST_BODY_BYTES = 10_000
/** In memory, for the sake of the example: use your database when several processes serve the site. */
const sessions = new Map<string, Session>()

async function sendCode(session: Session, phone: unknown, clientIp: string): Promise<Answer> {
  const { status, body, retryAfter } = await tidings('/verifier/send', {
    channelType: 'SMS',
    gatewayId: GATEWAY_ID,
    destination: String(phone),
    clientIp,
  })
  if (status === 200) {
    session.asked = { phone: String(phone), uuid: body.uuid }
    return { status: 200, message: 'We sent you a code.' }
  }
  if (status === 429) {
    const message = `Too many codes: try again in ${retryAfter} seconds.`
    return { status, message, headers: { 'Retry-After': retryAfter } }
  }
  console.error('No code was sent:', status, body.error)
  if (status === 400) return { status, message: 'We cannot send a code to this number.' }
  return { status: 503, message: 'No code can be sent now: try again later.' }
}

async function checkCode(session: Session, code: unknown): Promise<Answer> {
  if (!session.asked) return { status: 409, message: 'Ask for a code first.' }
  const { uuid, phone } = session.asked // before the call: another request may ask for a code meanwhile
  const { status, body } = await tidings('/verifier/check', { uuid, code: String(code).trim() })
  if (status !== 200) return { status: 503, message: 'The code cannot be checked now: try again later.' }
  switch (body.status) {
    case 'CONFIRMED':
      return { status: 200, message: 'You are logged in.', headers: { 'Set-Cookie': logIn(session, phone) } }
    case 'WRONG_CODE':
      return { status: 401, message: 'The code is wrong.' }
    default: // EXPIRED, NOT_FOUND
      return { status: 401, message: 'The code is no longer valid: ask for a new one.' }
  }
}

/** The session gets a new id, so that an id from before the login is worth nothing. */
function logIn(session: Session, phone: string): string {
  for (const [id, each] of sessions) if (each === session) sessions.delete(id)
  return startSession({ endsAt: Date.now() + HOUR_MS, phone })
}

function startSession(session: Session): string {
  for (const [id, { endsAt }] of sessions) if (endsAt < Date.now()) sessions.delete(id)
  const id = randomBytes(24).toString('base64url')
  sessions.set(id, session)
  return `session=${id}; HttpOnly; SameSite=Strict; Path=/` // on a real site also: Secure
}

async function tidings(path: string, body: object): Promise<{ status: number; body: Reply; retryAfter: string }> {
  try {
    const answer = await fetch(TIDINGS_API + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TIDINGS_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    })
    const retryAfter = answer.headers.get('retry-after') ?? '60'
    return { status: answer.status, body: (await answer.json()) as Reply, retryAfter }
  } catch (error) {
    return { status: 503, body: { uuid: '', status: '', error }, retryAfter: '60' }
  }
}

/** Behind a proxy of yours, take the address from the header that the proxy sets. */
const addressOf = (request: IncomingMessage) => request.socket.remoteAddress!.replace(/^::ffff:/, '')

function sessionOf(request: IncomingMessage): Session | undefined {
  const id = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
  const session = id === undefined ? undefined : sessions.get(id)
  return session && session.endsAt > Date.now() ? session : undefined
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) {
    text += piece
    if (text.length > MOST_BODY_BYTES) throw new Error('The body is too large.')
  }
  return JSON.parse(text)
}

function answer(response: ServerResponse, { status, message, headers = {} }: Answer) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ message }))
}

async function serve(request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(request)
  switch (`${request.method} ${request.url}`) {
    case 'GET /': {
      if (!session) response.setHeader('Set-Cookie', startSession({ endsAt: Date.now() + HOUR_MS }))
      response.setHeader('Content-Type', 'text/html; charset=utf-8')
      return response.end(await readFile(new URL('login.html', import.meta.url)))
    }
    case 'POST /login/send':
      if (!session) return answer(response, { status: 403, message: 'Load the page again.' })
      return answer(response, await sendCode(session, (await bodyOf(request)).phone, addressOf(request)))
    case 'POST /login/check':
      if (!session) return answer(response, { status: 403, message: 'Load the page again.' })
      return answer(response, await checkCode(session, (await bodyOf(request)).code))
    case 'GET /me':
      if (!session?.phone) return answer(response, { status: 401, message: 'You are not logged in.' })
      return answer(response, { status: 200, message: `You are ${session.phone}.` })
    default:
      return answer(response, { status: 404, message: 'There is no such page.' })
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch(error => {
    console.error(error)
    answer(response, { status: 400, message: 'The request was not understood.' })
  })
})
server.listen(Number(PORT), () => console.log(`Login by code: http://localhost:${PORT}`))
