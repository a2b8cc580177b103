import { pipeline, Readable, Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../base/errors.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { may, type Right } from '../../../domain/people/rights.ts'
import { createSessionReader } from '../../../domain/people/sessions.ts'
import type { Context } from '../../context.ts'
import { actorOf } from './actor.ts'
import type { SessionCookie } from './cookie.ts'

/**
 * The right that a route of the cabinet needs. `signed in` is for the person's own account, `half` for a session
 * without its second factor, and `no session` for signing in.
 */
export type Needs = Right | 'signed in' | 'half' | 'no session'

declare module 'fastify' {
  interface FastifyContextConfig {
    needs?: Needs
  }
  interface FastifyRequest {
    /** The person of the session. Only in routes of the cabinet that need a session. */
    viewer: Viewer
    /** The viewer in the form of the audit log. Only in routes of the cabinet that need a session. */
    actor: Actor
  }
}

/**
 * Admits only people with the right that the route states, before the body is read. A route that states no right does
 * not start. Must be called before the routes of the scope are registered.
 */
export function guardCabinet(scope: FastifyInstance, context: Context, cookie: SessionCookie) {
  const { publicUrl } = context
  const findSession = createSessionReader(context.sql, context.clock)
  scope.decorateRequest('viewer')
  scope.decorateRequest('actor')

  scope.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.needs) throw new Error(`${method} ${url} does not state which right it needs`)
  })

  scope.addHook('onRequest', async (request, reply) => {
    reply.headers(ofEveryAnswer)
    refuseOtherOrigin(request, publicUrl)
    const { needs } = request.routeOptions.config
    if (needs === undefined || needs === 'no session') return
    request.viewer = await viewerOf(request, needs)
    request.actor = actorOf(request, request.viewer)
  })

  // Sending a file of a million rows takes long. The server ends it when its reader loses the right to see it.
  scope.addHook('onSend', async (request, reply, payload) => {
    const { needs } = request.routeOptions.config
    if (!(payload instanceof Readable) || isLive(reply) || needs === undefined || needs === 'no session') return payload
    return whileAllowed(payload, () => viewerOf(request, needs))
  })

  async function viewerOf(request: FastifyRequest, needs: Exclude<Needs, 'no session'>): Promise<Viewer> {
    const value = cookie.read(request)
    const found = value === undefined ? undefined : await findSession(value, request.ip)
    if (!found || (found.isHalf && needs !== 'half')) throw new AppError('not_authenticated', 'Sign in first')
    if (isRight(needs) && !may(found.viewer, needs)) throw new AppError('access_denied', 'You may not do this')
    return found.viewer
  }
}

const isRight = (needs: Needs): needs is Right => needs !== 'signed in' && needs !== 'half'

/** Browsers must not cache an answer, show it as a page, or guess its type. Documents have their own policy. */
const ofEveryAnswer = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

const ASK_AGAIN_EVERY_MS = 1000

/** Streams of events check all their sessions at once, see live.ts. */
const isLive = (reply: FastifyReply) => String(reply.getHeader('content-type')).startsWith('text/event-stream')

function whileAllowed(file: Readable, ask: () => Promise<unknown>): Readable {
  let askedAt = performance.now()
  const pass = new Transform({
    transform(piece, _, done) {
      if (performance.now() - askedAt < ASK_AGAIN_EVERY_MS) return done(null, piece)
      askedAt = performance.now()
      ask().then(() => done(null, piece), done)
    },
  })
  return pipeline(file, pass, () => {}) // the framework logs the error
}

const SAFE = ['GET', 'HEAD']

/**
 * Browsers send the origin of a change, which must be our own. Other programs send no origin, and hold no cookie that
 * another site could use.
 */
function refuseOtherOrigin({ method, headers }: FastifyRequest, publicUrl: string) {
  const { origin, host = '', 'sec-fetch-site': site = 'none' } = headers
  if (SAFE.includes(method)) return
  const isOurs =
    origin === undefined
      ? site === 'none' || site === 'same-origin'
      : URL.parse(origin)?.host === host || origin === new URL(publicUrl).origin
  if (!isOurs) throw new AppError('access_denied', 'The request comes from another site')
}
