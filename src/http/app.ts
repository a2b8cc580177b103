import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, LogController } from 'fastify'
import { AppError } from '../base/errors.ts'
import { acceptJsonBodies, bodyLimits } from './body.ts'
import { acceptGzipBodies } from './content-encoding.ts'
import type { Context } from './context.ts'
import { registerDocsPage } from './docs-page.ts'
import { answerError, errorBody } from './error-handler.ts'
import { registerHealth } from './health.ts'
import { nameIgnoredFields } from './ignored-fields.ts'
import { registerMessagingApi } from './messaging/messaging-api.ts'
import { registerMetrics } from './metrics.ts'
import { registerPartnerApi } from './partner/partner-api.ts'
import { requestIdOf, showRequestId } from './request-id.ts'
import { registerShortLinks } from './short-links/short-links.ts'
import { refuseUnknownRoutes } from './unknown-routes.ts'
import { compileValidator } from './validation.ts'
import { registerWebhooks } from './webhooks/webhooks.ts'

export type App = FastifyInstance

const REQUEST_TIMEOUT_MS = 120_000

/** The whole HTTP side of the service: every face under its own prefix, errors and bodies handled in one way. */
export async function buildApp(context: Context): Promise<App> {
  const app = fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: bodyLimits.usual,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestIdOf,
    trustProxy: context.trustedProxies.length > 0 ? context.trustedProxies : false,
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: (error, request, reply) => answerError(error as FastifyError, request, reply as never),
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(compileValidator)
  // Answers are built field by field by the presenters, and held to their schemas by the tests.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(answerError)
  showRequestId(app)
  refuseUnknownRoutes(app)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'Not found')
  })
  acceptJsonBodies(app)
  acceptGzipBodies(app)
  nameIgnoredFields(app)
  if (context.metrics) registerMetrics(app, context)

  registerHealth(app, context)
  await registerPartnerApi(app, context)
  await registerMessagingApi(app, context)
  registerShortLinks(app, context)
  registerWebhooks(app, context)
  await registerDocsPage(app)
  return app
}

/** What cannot be read as HTTP at all still gets an answer in our form. */
function answerBrokenRequest(this: unknown, error: Error & { code?: string }, socket: import('node:net').Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const why = brokenRequests[error.code ?? ''] ?? 'The request is not HTTP'
  const body = JSON.stringify(errorBody(4000, why))
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const brokenRequests: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
}
