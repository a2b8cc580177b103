import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { AppError } from '../base/errors.ts'
import { acceptJsonBodies, bodyLimits } from './bodies/body.ts'
import { acceptGzipBodies } from './bodies/content-encoding.ts'
import { nameIgnoredFields } from './bodies/ignored-fields.ts'
import { registerCabinetApi } from './cabinet/cabinet-api.ts'
import { registerCabinetPages } from './cabinet/pages.ts'
import { type Context, usualLimits } from './context.ts'
import { answerError } from './error-handler.ts'
import { GuardLog } from './guard-watch.ts'
import { createMessagingContext, registerMessagingApi } from './messaging/messaging-api.ts'
import { registerHealth } from './monitoring/health.ts'
import { registerMetrics } from './monitoring/metrics.ts'
import { registerPartnerApi } from './partner/partner-api.ts'
import { registerDocsPage } from './reference/docs-page.ts'
import { listRequests } from './request-log.ts'
import { answerBrokenRequest, answerInPlaceOfNode } from './server/broken-requests.ts'
import { ConnectionLimit, TOO_MANY_CONNECTIONS } from './server/connections.ts'
import { requestIdOf, showRequestId } from './server/request-id.ts'
import { logAnswer, logRequests, OwnLines } from './server/request-log.ts'
import { traceRequests } from './server/request-spans.ts'
import { StrangerBytes } from './server/stranger-bytes.ts'
import { refuseUnknownRoutes } from './server/unknown-routes.ts'
import { registerShortLinks } from './short-links/short-links.ts'
import { compileValidator } from './validation.ts'
import { registerWebhooks } from './webhooks/webhooks.ts'
import { registerWidgetAssets } from './widget/assets.ts'
import { registerWidgetDemo } from './widget/demo/demo.ts'
import { registerWidgetApi } from './widget/widget-api.ts'

export type App = FastifyInstance

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts the connections of all servers that pass their requests to this app. */
    connectionLimit: ConnectionLimit
  }
}

const REQUEST_TIMEOUT_MS = 120_000

/** Builds the HTTP server of the service. Each API has its own prefix. All share the handling of errors and bodies. */
export async function buildApp(context: Context): Promise<App> {
  const app = fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new OwnLines(),
    bodyLimit: bodyLimits.usual,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestIdOf,
    trustProxy: context.trustedProxies.length > 0 ? context.trustedProxies : false,
    return503OnClosing: false,
    // A hook of the app answers a missing Host header, because Node's own answer has no body.
    http: { requireHostHeader: false },
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: (error, request, reply) => answerUnroutable(error as FastifyError, request, reply as never),
    clientErrorHandler: answerBrokenRequest as never,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(compileValidator)
  // The presenters build answers field by field, and the tests compare every answer with its schema.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(answerError)
  showRequestId(app)
  logRequests(app, context)
  traceRequests(app, context)
  listRequests(app, context)
  answerInPlaceOfNode(app)
  limitConnections(app, context)
  refuseUnknownRoutes(app)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'Not found')
  })
  acceptJsonBodies(app)
  acceptGzipBodies(app)
  nameIgnoredFields(app)
  const guard = new GuardLog(context.log)
  if (context.metrics) registerMetrics(app, { ...context, guard })

  registerHealth(app, context)
  const strangerBytes = new StrangerBytes(limitsOf(context).strangerBytes)
  await registerPartnerApi(app, { ...context, strangerBytes })
  const messaging = createMessagingContext({ ...context, guard, strangerBytes })
  await registerMessagingApi(app, messaging)
  registerWidgetApi(app, messaging)
  registerWidgetAssets(app)
  if (context.demo) registerWidgetDemo(app, messaging)
  registerCabinetApi(app, { ...context, strangerBytes })
  registerCabinetPages(app)
  registerShortLinks(app, context)
  registerWebhooks(app, { ...context, strangerBytes })
  await registerDocsPage(app)
  return app
}

/** Answers a request whose URL the router cannot parse. No hook runs for it, so its log line is written here. */
function answerUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  answerError(error, request, reply)
  logAnswer(request, reply)
}

const limitsOf = ({ limits }: Context) => ({ ...usualLimits, ...limits })

function limitConnections(app: FastifyInstance, context: Context) {
  const limit = new ConnectionLimit({ ...limitsOf(context), ...context })
  app.decorate('connectionLimit', limit)
  limit.guard(app.server)
  app.addHook('onRequest', (request, _, done) => {
    const isRefused = limit.isRefused(request.raw.socket)
    done(isRefused ? new AppError('not_ready', TOO_MANY_CONNECTIONS, { retryAfterSeconds: 1 }) : undefined)
  })
}
