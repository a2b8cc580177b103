import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type SpanContext, traceOfMessage } from '../../base/tracing/span.ts'
import { newSpanId, newTrace, type Tracer } from '../../base/tracing/tracer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for a request that is not traced. */
    span: RequestSpan | undefined
  }
}

/** Asked every few seconds by programs that watch the service. */
const UNTRACED = new Set(['/healthz', '/readyz', '/metrics'])
const MOST_LINKS = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The span of a request. It is part of the client's trace if the client sends a `traceparent`. */
export class RequestSpan {
  readonly #place: SpanContext & { parentId?: string }
  readonly #startedAt: Date
  readonly #links: SpanContext[] = []

  constructor(place: SpanContext & { parentId?: string }, startedAt: Date) {
    this.#place = place
    this.#startedAt = startedAt
  }

  /** Links to the traces of messages that the request began. */
  began(messageUuids: readonly string[]): void {
    this.#links.push(...messageUuids.slice(0, MOST_LINKS - this.#links.length).map(traceOfMessage))
  }

  end(request: FastifyRequest, reply: FastifyReply, endedAt: Date) {
    const route = request.routeOptions.url
    return {
      ...this.#place,
      name: route ? `${request.method} ${route}` : request.method,
      kind: 'server' as const,
      startedAt: this.#startedAt,
      endedAt,
      // Paths, queries and bodies may have numbers and texts, so that only the pattern of the route is sent.
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'http.response.status_code': reply.statusCode,
        'tidings.request_id': UUID.test(request.id) ? request.id : undefined, // a client may send anything
        'tidings.company_id': request.caller?.companyId,
      },
      isFailed: reply.statusCode >= 500,
      links: this.#links,
    }
  }
}

/** Without a tracer no hook is added. */
export function traceRequests(
  app: FastifyInstance,
  { tracer, clock }: { tracer?: Tracer | undefined; clock: () => Date },
) {
  app.decorateRequest('span', undefined)
  if (!tracer) return
  app.addHook('onRequest', (request, _, done) => {
    if (!UNTRACED.has(request.routeOptions.url ?? '')) request.span = beginSpan(tracer, request, clock())
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.span) tracer.record(request.span.end(request, reply, clock()))
    done()
  })
}

/** Ids of zeros and the version `ff` are invalid. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/
const SAMPLED = 1

/** A client can keep its request out of the traces. It cannot have more traced than the share: anyone can send the header. */
function beginSpan(tracer: Tracer, { headers }: FastifyRequest, now: Date): RequestSpan | undefined {
  const given = headers.traceparent
  const [, traceId, parentId, flags] = (typeof given === 'string' && TRACE_PARENT.exec(given)) || []
  if (!tracer.isChosen()) return
  if (!traceId || !parentId || !flags) return new RequestSpan(newTrace(), now)
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED
  return isSampled ? new RequestSpan({ traceId, spanId: newSpanId(), parentId }, now) : undefined
}
