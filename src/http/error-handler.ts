import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseAway, isDatabaseBusy } from '../base/database-losses.ts'
import { AppError, type AppErrorKind } from '../base/errors.ts'
import { tooLargeFor } from './bodies/body.ts'
import { placeOf } from './server/request-log.ts'
import { validationMessage } from './validation.ts'
import { wireNameOf, withWireNames } from './wire-names.ts'

type StatusAndCode = { status: number; code: number }

/** The HTTP status and the code of each kind of refusal. No other module decides on them. */
export const codeOfKind: Record<AppErrorKind, StatusAndCode> = {
  invalid: { status: 400, code: 4000 },
  not_authenticated: { status: 401, code: 4010 },
  bad_credentials: { status: 401, code: 4012 },
  address_not_allowed: { status: 401, code: 4013 },
  insufficient_funds: { status: 402, code: 4020 },
  access_denied: { status: 403, code: 4030 },
  dispatch_status: { status: 403, code: 4031 },
  not_found: { status: 404, code: 4040 },
  method_not_allowed: { status: 405, code: 4050 },
  in_flight: { status: 409, code: 4090 },
  too_large: { status: 413, code: 4130 },
  unsupported_encoding: { status: 415, code: 4150 },
  key_reused: { status: 422, code: 4220 },
  search_too_wide: { status: 400, code: 4000 },
  too_many_requests: { status: 429, code: 4290 },
  not_ready: { status: 503, code: 5030 },
}

export const errorBody = (code: number, msg: string) => ({ error: { code, msg } })

/** The page that explains the code. */
export const helpLink = (code: number) => `</docs/errors#${code}>; rel="help"`

/** A browser must never show or run the body of an error as a page. */
const ofNoPage = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

/** Sends the error object with the headers of all errors. */
export function sendError(reply: FastifyReply, status: number, code: number, msg: string) {
  reply.headers({ link: helpLink(code), ...ofNoPage })
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="Tidings"')
  return reply.code(status).send(errorBody(code, msg))
}

/** The status in the log for a client that closed the connection before the answer, as in nginx. */
const CLIENT_CLOSED_REQUEST = 499

/** Answers every failed request. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  // No hook runs for requests that the router cannot parse, so the header is set here.
  reply.header('x-request-id', request.id)
  if (isClientGone(request)) return sendError(reply, CLIENT_CLOSED_REQUEST, 4000, 'The client closed the connection')
  const known = asAppError(error, request)
  if (!known) {
    request.log.error({ err: error, ...placeOf(request) }, 'request.failed')
    return sendError(reply, 500, 5000, 'Something went wrong on our side')
  }
  if (known.kind === 'not_ready') logUnready(error, request)
  const { status, code } = codeOfKind[known.kind]
  if (known.retryAfterSeconds !== undefined) addRetryHeaders(reply, known)
  return sendError(reply, status, code, textOf(known))
}

/** Texts of refusals that name a header or parameters of the request. */
const textOfKind: Partial<Record<AppErrorKind, string>> = {
  in_flight: 'A request with this Idempotency-Key is still being processed',
  key_reused: 'This Idempotency-Key was used with another request',
  search_too_wide: 'The search takes too long: narrow it by time_from and time_to, or by destination',
}

function textOf({ kind, field, step, reason }: AppError): string {
  if (field === undefined) return textOfKind[kind] ?? reason
  const path = step === undefined ? '' : `cascade[${step}].`
  return `${path}${wireNameOf(field)}: ${withWireNames(reason)}`
}

/** The client closed the connection during the request, so no answer can arrive. */
const isClientGone = ({ raw }: FastifyRequest) => raw.destroyed && !raw.complete

/** Logs a refusal of the service by its reason, and any other error with its cause. */
function logUnready(error: FastifyError, request: FastifyRequest) {
  const why = error instanceof AppError ? { reason: error.message } : { err: error }
  request.log.warn({ ...why, route: request.routeOptions.url }, 'request.unready')
}

function addRetryHeaders(reply: FastifyReply, error: AppError) {
  reply.header('retry-after', String(error.retryAfterSeconds))
  if (error.kind !== 'too_many_requests') return
  reply.header('ratelimit-limit', String(error.limit ?? 0))
  reply.header('ratelimit-remaining', '0')
  reply.header('ratelimit-reset', String(error.retryAfterSeconds))
}

function asAppError(error: FastifyError, request: FastifyRequest): AppError | undefined {
  if (error instanceof AppError) return error
  if (error.validation) return refusedBySchema(error)
  const refused = frameworkErrors[error.code]
  if (refused) return refused(request)
  if (isDatabaseAway(error) || isDatabaseBusy(error)) {
    return new AppError('not_ready', 'The service is not ready: try again in a moment', { retryAfterSeconds: 2 })
  }
  return undefined
}

/** A parameter of the path that does not match the schema gets 404, as an unknown path does. */
const refusedBySchema = (error: FastifyError) =>
  error.validationContext === 'params'
    ? new AppError('not_found', 'Not found')
    : new AppError('invalid', validationMessage(error.validation!, error.validationContext))

const frameworkErrors: Record<string, (request: FastifyRequest) => AppError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('invalid', 'Content-Type: must be application/json'),
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }) => tooLargeFor(routeOptions.bodyLimit),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new AppError('invalid', 'Content-Length: does not match the body'),
  FST_ERR_BAD_URL: () => new AppError('not_found', 'Not found'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('not_found', 'Not found'),
}
