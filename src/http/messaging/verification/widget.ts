import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { SearchLimiter } from '../../../base/concurrency/search-limiter.ts'
import { AppError } from '../../../base/errors.ts'
import { networkOf } from '../../../base/network/networks.ts'
import { type WidgetErrorCode, widgetErrors } from '../../../base/widget-errors.ts'
import type { Acceptance } from '../../../domain/messages/single.ts'
import { isOld, Results } from '../../../domain/verification/results.ts'
import {
  type Outcome,
  outcomeOf,
  type SessionContext,
  sendForSession,
} from '../../../domain/verification/widget-sessions.ts'
import type { Widget } from '../../../domain/verifiers/verifier.ts'
import { findWidget, hadVerifier } from '../../../domain/verifiers/verifiers.ts'
import { failSession, findSession, onlyWaitingSession, widgetIdIn } from '../../../domain/widgets/sessions.ts'
import { refusedBy, type Session, type WidgetRefusal } from '../../../domain/widgets/widget.ts'
import { KIB } from '../../bodies/body.ts'
import type { Context } from '../../context.ts'
import { sendError } from '../../error-handler.ts'
import { Answer, answers, OneOf } from '../../schemas.ts'
import type { StrangerBytes } from '../../server/stranger-bytes.ts'
import { type Caller, callerFinder, describeKeys } from '../auth.ts'
import { Maybe } from '../messages/message-request.ts'
import { answerRefusal } from './verifier.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of the search for the API key of `widget/send`, until the body is read. */
    keyError: unknown
  }
}

const KEY_TYPES = ['VERIFIER', 'BUILDER_WIDGET'] as const
const BODY_LIMIT = 16 * KIB

const SessionKey = Maybe(Type.String({ maxLength: 200 }))

const sendSchema = {
  tags: ['Verification'],
  summary: 'Send the code of a widget',
  body: Type.Object({ key: SessionKey }),
  response: answers(200, 'The code is on its way', Answer({ messageUuid: Type.String({ format: 'uuid' }) })),
}

const checkSchema = {
  tags: ['Verification'],
  summary: 'Ask whether a number was confirmed in a widget',
  body: Type.Object({ key: SessionKey, result: Maybe(Type.String({ maxLength: 1000 })) }),
  response: answers(
    200,
    'Where the visitor stands',
    Answer({
      status: OneOf(['WAITING', 'CONFIRMED', 'EXPIRED', 'NOT_FOUND']),
      destination: Type.Optional(Type.String()),
    }),
  ),
}

type WidgetContext = Context & SessionContext

/**
 * `widget/send` reads the body also of a call with a wrong API key, and marks the session in it, so that the widget shows
 * why no code comes. The call is refused for its key, even if its body cannot be read.
 */
export const widgetSendRoutes =
  (context: WidgetContext & { strangerBytes: StrangerBytes }): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql } = context
    const findCaller = callerFinder(context, KEY_TYPES)
    describeKeys(api, KEY_TYPES)
    context.strangerBytes.guard(api, ({ keyError }) => keyError !== undefined)
    api.decorateRequest('keyError', undefined)
    api.addHook('onRequest', async request => {
      try {
        request.caller = await findCaller(request)
      } catch (error) {
        request.keyError = error
      }
    })
    api.addHook('preValidation', async request => {
      const { keyError } = request
      if (keyError === undefined) return
      request.keyError = undefined // an error of the next line is no error of the body
      await markRefused(context, request, keyError)
      throw keyError
    })
    api.setErrorHandler((error, { keyError }) => {
      const isOfBody = keyError !== undefined && !(error instanceof AppError && error.kind === 'not_ready')
      throw isOfBody ? keyError : error
    })

    api.post('/verifier/widget/send', { schema: sendSchema, bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const { companyId } = request.caller
      const { key } = request.body
      if (!key) {
        await markKeyless(context, companyId)
        return sendError(reply, 400, widgetErrors.noKey, 'key: must be given; the widget passes it to sendAuthKey')
      }
      const { widget, session } = await requireOwn(context, request.caller, key)
      const outcome = await untilAnswered(() => sendForSession(context, widget, session))
      return outcome.kind === 'accepted' ? { messageUuid: outcome.uuid } : answerRefusal(reply, outcome)
    })

    /** A key of another company, or not for this widget, is refused like a key of a wrong type. */
    async function requireOwn(context: WidgetContext, caller: Caller, key: string) {
      const found = await sessionOf(context, key)
      if (!found || found.session.isOver) throw new AppError('not_found', 'Key not found: it is unknown or too old')
      const why = whyNotFor(caller, found.widget)
      if (!why) return found
      await failSession(sql, found.session, refusedBy(widgetErrors.wrongKeyType, why))
      throw new AppError('access_denied', 'Access Denied')
    }
  }

const ANSWER_TRIES = 20
const ANSWER_EVERY_MS = 250

/** If another call sends the same code at this moment, for example after a reload, this call gets the same answer. */
async function untilAnswered(send: () => Promise<Acceptance>): Promise<Acceptance> {
  for (let tries = 1; ; tries++) {
    try {
      return await send()
    } catch (error) {
      const isSent = error instanceof AppError && error.kind === 'in_flight'
      if (!isSent || tries === ANSWER_TRIES) throw error
      await pause(ANSWER_EVERY_MS)
    }
  }
}

const whyNotFor = ({ companyId, type }: Caller, widget: Widget): string | undefined => {
  if (companyId !== widget.companyId) return 'widget/send came with an API key of another company'
  if (type === 'BUILDER_WIDGET' && !widget.page.isBuilder)
    return 'widget/send came with a key of the type BUILDER_WIDGET, and the widget is not for site builders'
}

/** The session of a key, of any company. */
async function sessionOf({ sql }: Context, key: string): Promise<{ widget: Widget; session: Session } | undefined> {
  const widget = await findWidget(sql, widgetIdIn(key))
  const session = widget && (await findSession(sql, widget.companyId, key))
  return session && { widget, session }
}

const errorsOfKinds: Partial<Record<string, [WidgetErrorCode, string]>> = {
  not_authenticated: [widgetErrors.badApiKey, 'widget/send came with an API key that is wrong or deactivated'],
  bad_credentials: [widgetErrors.badApiKey, 'widget/send came with an Authorization header that cannot be read'],
  address_not_allowed: [widgetErrors.badApiKey, 'widget/send came from an address that the API key does not allow'],
  access_denied: [widgetErrors.wrongKeyType, 'widget/send came with an API key of another type than VERIFIER'],
}

/** Calls without an API key must not use up the database connections. */
const marks = new SearchLimiter({
  most: 20,
  mostOfOne: 2,
  mostWaiting: 200,
  mostWaitingOfOne: 10,
  patienceMs: 2000,
  refusal: 'Too many calls are refused at once',
})

/** If too many calls are marking sessions, this call marks none. It is refused in any case. */
async function markRefused(context: Context, { body, ip }: FastifyRequest, error: unknown) {
  const shown = error instanceof AppError ? errorsOfKinds[error.kind] : undefined
  const key = keyIn(body)
  if (!shown || key === undefined) return
  try {
    await marks.run(networkOf(ip ?? ''), () => markSession(context, key, refusedBy(...shown)))
  } catch (failure) {
    if (!(failure instanceof AppError) || failure.kind !== 'too_many_requests') throw failure
  }
}

async function markSession(context: Context, key: string, refusal: WidgetRefusal) {
  const found = await sessionOf(context, key)
  if (found && !found.session.isOver) await failSession(context.sql, found.session, refusal)
}

const keyIn = (body: unknown): string | undefined => {
  const key = typeof body === 'object' && body !== null && 'key' in body ? body.key : undefined
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** Without a key the session is unknown, unless only one session of the company waits. */
async function markKeyless({ sql }: Context, companyId: number) {
  const session = await onlyWaitingSession(sql, companyId)
  if (session) await failSession(sql, session, refusedBy(widgetErrors.noKey, 'widget/send came without key'))
}

export const widgetCheckRoutes =
  (context: WidgetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, clock } = context
    const results = new Results(context.secret)

    api.post('/verifier/widget/check', { schema: checkSchema, bodyLimit: BODY_LIMIT }, async request => {
      const { key, result } = request.body
      if (key) return outcomeOf(sql, await sessionFor(request.caller, key))
      if (result) return outcomeOfResult(request, result)
      throw new AppError('invalid', 'key: must be given, or result for a form of a site builder')
    })

    /** A session of the caller's company. A key of the type BUILDER_WIDGET finds only sessions of widgets for site builders. */
    async function sessionFor({ companyId, type }: Caller, key: string): Promise<Session | undefined> {
      const session = await findSession(sql, companyId, key)
      if (!session || type !== 'BUILDER_WIDGET') return session
      const widget = await findWidget(sql, session.widgetId)
      return widget?.page.isBuilder ? session : undefined
    }

    /** The signature proves the confirmation. Only the company of the widget gets it. */
    async function outcomeOfResult({ caller }: FastifyRequest, text: string): Promise<Outcome> {
      const result = results.read(text)
      if (!result || !(await hadVerifier(sql, caller.companyId, result.widgetId))) return { status: 'NOT_FOUND' }
      if (isOld(result, clock())) return { status: 'EXPIRED' }
      return { status: 'CONFIRMED', destination: result.destination }
    }
  }
