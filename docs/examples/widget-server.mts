/**
 * A site that confirms phone numbers with the widget: a complete server without dependencies.
 *
 *   TIDINGS_URL=http://localhost:8080 TIDINGS_KEY=... WIDGET_ID=... node widget-server.mts
 *
 * The server lets a visitor in on three conditions: the key came from this visitor first, Tidings confirms the key, and
 * the confirmed number is the one that the visitor gave before. A key lets a visitor in once.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const { TIDINGS_URL, TIDINGS_KEY, WIDGET_ID, PORT = '9000' } = process.env
if (!TIDINGS_URL || !TIDINGS_KEY || !WIDGET_ID) throw new Error('Set TIDINGS_URL, TIDINGS_KEY and WIDGET_ID.')

/** `asked` is the number to confirm, `key` belongs to the widget that confirms it, `phone` is the number let in. */
type Session = { endsAt: number; asked?: string; key?: string; phone?: string }
/** What Tidings answers to `widget/check`; `error` when it refuses. */
type Reply = { status?: string; destination?: string; error?: unknown }
type Answer = { status: number; message: string; headers?: Record<string, string> }

const HOUR_MS = 3_600_000
/** Longer than Tidings confirms a key. */
const KEEP_KEYS_MS = 24 * HOUR_MS
const MOST_BODY_BYTES = 10_000
/** In memory, for the sake of the example: use your database when several processes serve the site. */
const sessions = new Map<string, Session>()
const owners = new Map<string, { session: Session; forgetAt: number }>()

/** Tidings writes numbers in digits with the country code; so does this site. */
function begin(session: Session, phone: unknown): Answer {
  const digits = String(phone).replace(/[\s()+-]/g, '')
  if (!/^[1-9]\d{6,14}$/.test(digits)) return { status: 400, message: 'Give the number with its country code.' }
  session.asked = digits
  delete session.key
  return { status: 200, message: digits }
}

/** An answer that is not 200 lets the widget show why no code comes. */
async function sendCode(session: Session, key: unknown): Promise<Answer> {
  if (!session.asked) return { status: 409, message: 'Give your number first.' }
  const { status, body } = await tidings('/verifier/widget/send', { key })
  if (status !== 200) {
    console.error('No code was sent:', status, body.error)
    return { status: 502, message: 'No code can be sent now.' }
  }
  if (ownerOf(String(key), session) !== session) return { status: 403, message: 'This key is of another visitor.' }
  session.key = String(key)
  return { status: 200, message: 'A code is on its way.' }
}

/** The visitor who brings a key first owns it, so that a key seen elsewhere lets no other visitor in. */
function ownerOf(key: string, session: Session): Session {
  for (const [each, { forgetAt }] of owners) if (forgetAt < Date.now()) owners.delete(each)
  const owner = owners.get(key) ?? { session, forgetAt: Date.now() + KEEP_KEYS_MS }
  owners.set(key, owner)
  return owner.session
}

/** What the browser says counts for nothing here: key and number are those that the session has. */
async function finish(session: Session): Promise<Answer> {
  const { key, asked } = session // before the call: another request may change them meanwhile
  if (!key || !asked) return { status: 409, message: 'Confirm your number first.' }
  const { status, body } = await tidings('/verifier/widget/check', { key })
  if (status !== 200) return { status: 503, message: 'The number cannot be checked now: try again later.' }
  if (body.status === 'WAITING') return { status: 409, message: 'The number is not confirmed yet.' }
  if (session.key !== key) return { status: 409, message: 'This key was used before.' }
  delete session.key
  if (body.status !== 'CONFIRMED') return { status: 403, message: 'The code is no longer valid: begin again.' }
  if (body.destination !== asked) return { status: 403, message: 'Another number was confirmed.' }
  return { status: 200, message: 'You are logged in.', headers: { 'Set-Cookie': logIn(session, asked) } }
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

async function tidings(path: string, body: object): Promise<{ status: number; body: Reply }> {
  try {
    const answer = await fetch(`${TIDINGS_URL}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TIDINGS_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000), // the widget waits for 15 s
    })
    return { status: answer.status, body: (await answer.json()) as Reply }
  } catch (error) {
    return { status: 503, body: { error } }
  }
}

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

async function page(): Promise<string> {
  const text = await readFile(new URL('widget.html', import.meta.url), 'utf8')
  return text.replaceAll('TIDINGS_URL', TIDINGS_URL!).replaceAll('WIDGET_ID', WIDGET_ID!)
}

function answer(response: ServerResponse, { status, message, headers = {} }: Answer) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ message }))
}

async function serve(request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(request)
  const route = `${request.method} ${request.url}`
  if (route === 'GET /') {
    if (!session) response.setHeader('Set-Cookie', startSession({ endsAt: Date.now() + HOUR_MS }))
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    return response.end(await page())
  }
  if (route === 'GET /me') {
    if (!session?.phone) return answer(response, { status: 401, message: 'You are not logged in.' })
    return answer(response, { status: 200, message: `You are ${session.phone}.` })
  }
  if (!session) return answer(response, { status: 403, message: 'Load the page again.' })
  switch (route) {
    case 'POST /verify/begin':
      return answer(response, begin(session, (await bodyOf(request)).phone))
    case 'POST /verify/send':
      return answer(response, await sendCode(session, (await bodyOf(request)).key))
    case 'POST /verify/finish':
      return answer(response, await finish(session))
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
server.listen(Number(PORT), () => {
  console.log(`Widget: http://localhost:${(server.address() as AddressInfo).port}`)
})
