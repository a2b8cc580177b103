import { mistakeText } from './field-mistake.ts'

/**
 * The kinds of refusals. `http/error-handler.ts` gives each kind its HTTP status and code. An error that is no AppError is a
 * bug of the service.
 */
export type AppErrorKind =
  | 'invalid' // the request, or the state it meets, forbids the action
  | 'not_authenticated'
  | 'bad_credentials'
  | 'address_not_allowed'
  | 'insufficient_funds'
  | 'access_denied'
  | 'dispatch_status' // the messaging API's "Inappropriate dispatch status"
  | 'not_found'
  | 'method_not_allowed'
  | 'in_flight' // a request with the same idempotency key is being processed
  | 'too_large'
  | 'unsupported_encoding' // the service does not decompress bodies with this Content-Encoding
  | 'key_reused' // the same idempotency key with another body
  | 'search_too_wide' // the search takes too long
  | 'too_many_requests'
  | 'not_ready'

type Details = { field?: string; step?: number | undefined; retryAfterSeconds?: number; limit?: number }

/** A refusal of a request: its kind, the field that is wrong, and the reason. The message has the field before the reason. */
export class AppError extends Error {
  readonly kind: AppErrorKind
  readonly reason: string
  /** The field as the domain calls it. */
  readonly field: string | undefined
  /** The step of a cascade that has the field, from 0 on. */
  readonly step: number | undefined
  readonly retryAfterSeconds: number | undefined
  /** Of too_many_requests: the number of requests that are allowed. */
  readonly limit: number | undefined

  constructor(kind: AppErrorKind, reason: string, { field, step, retryAfterSeconds, limit }: Details = {}) {
    super(field === undefined ? reason : mistakeText({ field, reason }))
    this.kind = kind
    this.reason = reason
    this.field = field
    this.step = step
    this.retryAfterSeconds = retryAfterSeconds
    this.limit = limit
  }

  /** The same refusal with another name of its field. */
  withField(field: string): AppError {
    return new AppError(this.kind, this.reason, { ...this, field })
  }
}

export const invalid = (reason: string) => new AppError('invalid', reason)
export const invalidField = (field: string, reason: string, step?: number) =>
  new AppError('invalid', reason, { field, step })
export const notFound = (what: string) => new AppError('not_found', `${what} not found`)
export const changedMeanwhile = () => invalid('Somebody else changed this meanwhile: load it again')

/** A mistake in a command or a setting. The program prints the sentence without a stack and exits with a non-zero status. */
export class UsageError extends Error {}
