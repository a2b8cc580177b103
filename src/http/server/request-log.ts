import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'

const MOST_PATH_CHARACTERS = 200

/**
 * One line for each request: errors at `info`, everything at `debug`. Without bodies, query and headers, which hold keys
 * and texts. The request id is in every line that `request.log` writes.
 */
export function logRequests(app: FastifyInstance, { log }: { log: Logger }) {
  app.addHook('onResponse', (request, reply, done) => {
    if (log.isLevelEnabled(levelOf(reply))) logAnswer(request, reply)
    done()
  })
  // A client that hangs up is no error of ours: no stack.
  app.addHook('onRequestAbort', (request, done) => {
    request.log.info(placeOf(request), 'request.aborted')
    done()
  })
}

/** For requests that reach no hook, because the router cannot read them. */
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

/** The route without its parameters; of a request that no route takes, its path. */
export function placeOf({ method, routeOptions, url }: FastifyRequest) {
  const route = routeOptions.url
  return route === undefined
    ? { method, path: url.split('?', 1)[0]!.slice(0, MOST_PATH_CHARACTERS) }
    : { method, route }
}

/** Of a key its company; of a partner's token the partner, and the company that the request names. */
function callerOf({ caller, partner, body, query }: FastifyRequest) {
  if (caller) return { companyId: caller.companyId }
  if (!partner) return {}
  const named = (body as Named)?.companyId ?? (query as Named)?.companyId
  return { partnerId: partner.partnerId, ...(Number.isSafeInteger(named) ? { companyId: named } : {}) }
}

type Named = { companyId?: unknown } | null | undefined

/** The framework's own lines, in our form: the one for each request is ours, and an answer cut off needs no stack. */
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
