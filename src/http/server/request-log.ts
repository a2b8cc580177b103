import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'

const MOST_PATH_CHARACTERS = 200

/**
 * Logs one line for each request: errors at `info`, all others at `debug`. Bodies, queries and headers contain keys and
 * texts, so they are not logged. Every line of `request.log` has the request id.
 */
export function logRequests(app: FastifyInstance, { log }: { log: Logger }) {
  app.addHook('onResponse', (request, reply, done) => {
    if (log.isLevelEnabled(levelOf(reply))) logAnswer(request, reply)
    done()
  })
  // A client that closes the connection is no error of the service: no stack.
  app.addHook('onRequestAbort', (request, done) => {
    request.log.info(placeOf(request), 'request.aborted')
    done()
  })
}

/** For requests without hooks, because the router cannot parse them. */
export function logAnswer(request: FastifyRequest, reply: FastifyReply) {
  request.log[levelOf(reply)](lineOf(request, reply), 'request.answered')
}

const levelOf = ({ statusCode }: FastifyReply) => (statusCode >= 400 ? 'info' : 'debug')

function lineOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    ...placeOf(request),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...callerOf(request),
  }
}

/** The pattern of the route, or the path of a request without a route. */
export function placeOf({ method, routeOptions, url }: FastifyRequest) {
  const route = routeOptions.url
  return route === undefined
    ? { method, path: url.split('?', 1)[0]!.slice(0, MOST_PATH_CHARACTERS) }
    : { method, route }
}

/** The company of an API key; or the partner of a token, and the company that the request names. */
function callerOf({ caller, partner, body, query }: FastifyRequest) {
  if (caller) return { companyId: caller.companyId }
  if (!partner) return {}
  const named = (body as Named)?.companyId ?? (query as Named)?.companyId
  return { partnerId: partner.partnerId, ...(Number.isSafeInteger(named) ? { companyId: named } : {}) }
}

type Named = { companyId?: unknown } | null | undefined

/** Replaces log lines of the framework: `logRequests` writes the line of a request, and an aborted answer needs no stack. */
export class OwnLines extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'requestId' })
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest) {
    const isCutOff = error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (isCutOff) request.log.info(placeOf(request), 'answer.cut_off')
    else request.log.warn({ err: error, ...placeOf(request) }, 'answer.failed')
  }
}
