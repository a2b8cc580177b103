import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { SearchLimiter } from '../../base/concurrency/search-limiter.ts'
import { AppError } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'
import { NOT_SERVED, widgetErrors } from '../../base/widget-errors.ts'
import type { Numbering } from '../../domain/numbering/numbering.ts'
import { Results } from '../../domain/verification/results.ts'
import { requireServed } from '../../domain/verification/sends.ts'
import {
  askForAnother,
  checkTypedCode,
  type SessionContext,
  sendForSession,
  viewSession,
} from '../../domain/verification/widget-sessions.ts'
import { openCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { verifierChannels, type Widget } from '../../domain/verifiers/verifier.ts'
import { findWidget } from '../../domain/verifiers/verifiers.ts'
import { Attempts } from '../../domain/widgets/attempts.ts'
import { logError } from '../../domain/widgets/errors.ts'
import { beginSession, requireSession, takeCaptchaUse, widgetIdIn } from '../../domain/widgets/sessions.ts'
import { refusedBy, type Session, type WidgetRefusal } from '../../domain/widgets/widget.ts'
import { KIB } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import { OneOf } from '../schemas.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import { type CaptchaResult, type Captchas, createCaptchas } from './captcha/captcha.ts'
import { allowAnyOrigin } from './cors.ts'

const BODY_LIMIT = 16 * KIB
const PREFIX = '/widget/api'

type WidgetContext = Context & SessionContext & { strangerBytes: StrangerBytes }

const Key = Type.String({ minLength: 1, maxLength: 200 })
const WidgetId = Type.String({ minLength: 1, maxLength: 64 })
const Language = Type.Optional(Type.String({ minLength: 2, maxLength: 10 }))
const ofSession = { key: Key, secret: Key }

const bodies = {
  open: Type.Object({ widgetId: WidgetId, lang: Language }),
  sessions: Type.Object({
    widgetId: WidgetId,
    destination: Type.String({ minLength: 1, maxLength: 40 }),
    captcha: Type.Optional(Type.String({ maxLength: 8 * KIB })),
    lang: Language,
    channelType: Type.Optional(OneOf(verifierChannels)),
  }),
  session: Type.Object(ofSession),
  check: Type.Object({ ...ofSession, code: Type.String({ minLength: 1, maxLength: 20 }) }),
  again: Type.Object({ ...ofSession, channelType: OneOf(verifierChannels) }),
  errors: Type.Object({
    widgetId: WidgetId,
    key: Type.Optional(Key),
    code: Type.Unsafe<341 | 350>({ type: 'integer', enum: [341, 350] }),
    reason: Type.String({ maxLength: 200 }),
  }),
}

/**
 * The API of the widget in a browser: see docs/widget.md. Every request is a POST, because browsers send the origin of
 * the page with every POST.
 */
export function registerWidgetApi(app: FastifyInstance, context: WidgetContext) {
  app.register(
    async scope => {
      allowAnyOrigin(scope, '/:action')
      context.strangerBytes.guard(scope)
      shareRoom(scope)
      await scope.register(routes(context))
    },
    { prefix: PREFIX },
  )
}

/**
 * Clients need no authentication, and every request reads the database. The limit keeps one network from using all
 * connections, and is enough for the visitors behind one address.
 */
function shareRoom(scope: FastifyInstance) {
  const requests = new SearchLimiter({
    most: 500,
    mostOfOne: 20,
    mostWaiting: 2000,
    mostWaitingOfOne: 200,
    patienceMs: 5000,
    refusal: 'Too many requests at once: try again in some seconds',
  })
  scope.addHook('onRoute', route => {
    const { handler } = route
    route.handler = function (request, reply) {
      return requests.run(networkOf(addressOf(request)), async () => handler.call(this, request, reply))
    }
  })
}

type Services = WidgetContext & { captchas: Captchas; attempts: Attempts; results: Results }

const routes =
  (context: WidgetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { secret, captchaUrls } = context
    const captchas = createCaptchas({ secret, ...(captchaUrls ? { urls: captchaUrls } : {}) })
    const services = { ...context, captchas, attempts: new Attempts(), results: new Results(secret) }
    await api.register(widgetRoutes(services))
    await api.register(sessionRoutes(services))
  }

const options = <T>(body: T) => ({ bodyLimit: BODY_LIMIT, schema: { hide: true, body } })

/** Opens a widget, begins a session, and logs errors that the browser reports. */
const widgetRoutes =
  (services: Services): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, clock, captchas } = services

    api.post('/open', options(bodies.open), async (request, reply) => {
      const widget = await widgetFor(services, request, request.body.widgetId)
      if (isRefusal(widget)) return answerRefusal(reply, widget)
      const { page, verifierId, settings } = widget
      return {
        channels: settings.channels,
        codeLength: settings.codeLength,
        isBuilder: page.isBuilder,
        captcha: captchas.describe(page, verifierId, clock()),
        ...(page.look ? { look: page.look } : {}),
      }
    })

    api.post('/sessions', options(bodies.sessions), async (request, reply) => {
      const widget = await widgetFor(services, request, request.body.widgetId)
      if (isRefusal(widget)) return answerRefusal(reply, widget)
      const { origin = '' } = request.headers
      const begun = await begin(services, widget, { ...request.body, origin, address: addressOf(request) })
      if (isRefusal(begun)) return answerRefusal(reply, begun)
      const session = await requireSession(sql, widget.companyId, begun)
      return { ...begun, ...(await viewOf(services, widget, session)) }
    })

    api.post('/errors', options(bodies.errors), async (request, reply) => {
      const { widgetId, code, reason } = request.body
      const widget = await widgetFor(services, request, widgetId)
      if (isRefusal(widget)) return answerRefusal(reply, widget)
      const { origin } = request.headers
      await logError(sql, { companyId: widget.companyId, widgetId, origin: origin! }, { code, reason })
      return reply.code(204).send()
    })
  }

/** Sends and checks the code of a session. */
const sessionRoutes =
  (services: Services): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql } = services

    api.post('/state', options(bodies.session), async request => {
      const { widget, session } = await sessionFor(services, request, request.body)
      return viewOf(services, widget, session)
    })

    api.post('/deliver', options(bodies.session), async (request, reply) => {
      const { widget, session, again } = await sessionFor(services, request, request.body)
      if (!widget.page.isBuilder) {
        await logError(sql, session, notForBuilders)
        return answerRefusal(reply, notForBuilders)
      }
      await orInFlight(sendForSession(services, widget, session))
      return viewOf(services, widget, await again())
    })

    api.post('/check', options(bodies.check), async request => {
      const { widget, session } = await sessionFor(services, request, request.body)
      const status = await checkTypedCode(services, session, request.body.code)
      return { status, ...(await viewOf(services, widget, session)) }
    })

    api.post('/again', options(bodies.again), async (request, reply) => {
      const { widget, session, again } = await sessionFor(services, request, request.body)
      const refusal = await askForAnother(services, widget, session, request.body.channelType)
      if (refusal) {
        await logError(sql, session, refusal)
        return answerRefusal(reply, refusal)
      }
      return viewOf(services, widget, await again())
    })
  }

type Asked = Type.Static<typeof bodies.sessions> & { origin: string; address: string }

/** Begins a session. A refusal is in the company's log, too. */
async function begin(services: Services, widget: Widget, body: Asked) {
  const { sql, clock, numbering, attempts } = services
  const { companyId, verifierId: widgetId } = widget
  const { origin, address } = body
  const channelType = body.channelType ?? widget.settings.channels[0]!
  const destination = servedNumber(numbering(), widget, { ...body, channelType })
  if (typeof destination !== 'string') {
    await logError(sql, { companyId, widgetId, origin }, destination)
    return destination
  }
  const network = networkOf(address)
  const language = body.lang ?? null
  const asked = { widgetId, destination, clientAddress: address, network, origin, language, channelType }
  const begun =
    attempts.refuseCaptcha(widget, network, clock()) ??
    (await refuseRobot(services, widget, body.captcha, address)) ??
    attempts.refuseSession(widget, clock()) ??
    (await beginSession(sql, widget, asked))
  if (isRefusal(begun)) await logError(sql, { ...asked, companyId }, begun)
  return begun
}

/** A closed connection has no address. */
const addressOf = ({ ip }: FastifyRequest): string => ip ?? ''

const isRefusal = (value: object): value is WidgetRefusal => 'kind' in value && value.kind === 'refused'

/** The widget, if the page may show it. Other pages learn only that the widget is unknown. */
async function widgetFor({ sql }: Context, request: FastifyRequest, widgetId: string): Promise<Widget | WidgetRefusal> {
  const widget = await findWidget(sql, widgetId)
  if (!widget) return refusedBy(widgetErrors.unknownWidget, `There is no widget ${widgetId}`)
  const { origin } = request.headers
  if (origin !== undefined && widget.page.origins.includes(origin)) return widget
  const refusal = refusedBy(
    widgetErrors.unknownWidget,
    `The origin ${origin ?? '(none)'} is not in the widget's origins`,
  )
  await logError(sql, { companyId: widget.companyId, widgetId, ...(origin ? { origin } : {}) }, refusal)
  return refusal
}

/** The digits of the number, if the widget sends codes to it. */
function servedNumber(
  numbering: Numbering,
  { settings }: Widget,
  asked: Parameters<typeof requireServed>[2],
): string | WidgetRefusal {
  try {
    return requireServed(numbering, settings, asked).digits
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
    return refusedBy(NOT_SERVED, error.message)
  }
}

/** The session of a browser that knows its secret, on a page that may show the widget. */
async function sessionFor(context: WidgetContext, request: FastifyRequest, keys: { key: string; secret: string }) {
  const widget = await widgetFor(context, request, widgetIdIn(keys.key))
  if (isRefusal(widget)) throw new AppError('not_found', 'Session not found')
  const again = () => requireSession(context.sql, widget.companyId, keys)
  return { widget, session: await again(), again }
}

/** A second tab or a reload may request the same code while it is being sent. The state of the session shows the result. */
async function orInFlight(sending: Promise<unknown>) {
  try {
    await sending
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'in_flight') throw error
  }
}

async function refuseRobot(
  { sql, clock, secret, captchas }: Services,
  widget: Widget,
  token: string | undefined,
  address: string,
): Promise<WidgetRefusal | undefined> {
  const { companyId, verifierId: widgetId, page, captchaSecret: sealed } = widget
  const captchaSecret = sealed && secretIn(secret, sealed)
  if (captchaSecret === undefined) return refusedBy(widgetErrors.captchaBroken, SEALED_ELSEWHERE)
  const result = await captchas.judge({ page, widgetId, captchaSecret }, token, { address }, clock())
  if (result.kind !== 'passed') return refusalOf(result)
  if (result.use && !(await takeCaptchaUse(sql, companyId, result.use)))
    return refusedBy(widgetErrors.captchaFailed, 'The solution of the captcha was used before')
}

const SEALED_ELSEWHERE =
  'The secret of the captcha was encrypted with another TIDINGS_SECRET. Set it again: `tidings widget set --captcha-secret`.'

/** Undefined if it was encrypted with another TIDINGS_SECRET. */
function secretIn(secret: string, sealed: Buffer): string | undefined {
  try {
    return openCaptchaSecret(secret, sealed)
  } catch {
    return undefined
  }
}

const refusalOf = ({ kind, reason }: Exclude<CaptchaResult, { kind: 'passed' }>) =>
  refusedBy(kind === 'failed' ? widgetErrors.captchaFailed : widgetErrors.captchaBroken, reason)

const notForBuilders = refusedBy(
  widgetErrors.notAsked,
  'A page without sendAuthKey needs a widget for site builders: `tidings widget set --builder on`',
)

/** The session as the browser sees it. On a page of a site builder the form gets a signed result. */
async function viewOf(services: Services, widget: Widget, session: Session) {
  const { confirmedAt, error, ...shown } = await viewSession(services, widget, session)
  const isForForm = confirmedAt && widget.page.isBuilder
  const { verifierId: widgetId } = widget
  const { destination } = session
  return {
    ...shown,
    ...(error ? { error: { ...error, msg: messageOf(error.code) } } : {}),
    ...(isForForm ? { result: services.results.sign({ widgetId, destination, confirmedAt }) } : {}),
  }
}

const statuses: Record<number, number> = {
  [widgetErrors.tooMany]: 429,
  [widgetErrors.noFunds]: 402,
  [widgetErrors.unknownWidget]: 403,
}

/** The page gets only the code. The reason is in the company's log. */
function answerRefusal(reply: FastifyReply, { code, reason, retryAfterSeconds }: WidgetRefusal) {
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  const msg = code === NOT_SERVED ? reason : messageOf(code)
  const error = { code, msg, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
  return reply.code(statuses[code] ?? 400).send({ error })
}

const messageOf = (code: number) => `Widget error ${code}: the log of widget errors has the reason`
