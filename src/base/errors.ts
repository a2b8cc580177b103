/**
 * What a caller did wrong, in the words of the domain. `http/error-handler.ts` alone knows which status each kind
 * becomes; anything that is not an AppError is our own bug.
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
  | 'in_flight' // the same Idempotency-Key is being processed
  | 'too_large'
  | 'unsupported_encoding' // a Content-Encoding that we do not unpack
  | 'key_reused' // the same Idempotency-Key with another body
  | 'too_many_requests'
  | 'not_ready'

export class AppError extends Error {
  readonly kind: AppErrorKind
  readonly retryAfterSeconds: number | undefined
  /** With too_many_requests: how many were allowed. */
  readonly limit: number | undefined

  constructor(kind: AppErrorKind, message: string, options: { retryAfterSeconds?: number; limit?: number } = {}) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = options.retryAfterSeconds
    this.limit = options.limit
  }
}

export const invalid = (message: string) => new AppError('invalid', message)
export const notFound = (what: string) => new AppError('not_found', `${what} not found`)

/** A mistake in how the program was started or asked: one clear sentence on stderr and a non-zero exit, no stack. */
export class UsageError extends Error {}
