/** Calls the API of the cabinet, `src/http/cabinet/`. The answers have the types that its routes export. */

/** The type of an answer after JSON: dates become strings. */
export type Wire<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Wire<T[Key]> } : T

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const TIMEOUT_MS = 30_000
const NOT_SIGNED_IN = 4010

/** The server refused the request or failed. */
export class ServerError extends Error {
  readonly status: number
  readonly code: number
  readonly requestId: string
  readonly retryAfterSeconds: number | undefined
  readonly at = new Date()

  constructor(response: Response, { code, msg }: { code: number; msg: string }) {
    super(msg)
    this.status = response.status
    this.code = code
    this.requestId = response.headers.get('x-request-id') ?? ''
    const retryAfter = response.headers.get('retry-after')
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter)
  }
}

/** No answer: there is no connection, or the request timed out. */
export class NoAnswer extends Error {}

export const isNotFound = (error: unknown) => error instanceof ServerError && error.status === 404

export const isSignedOut = (error: unknown) => error instanceof ServerError && error.code === NOT_SIGNED_IN

/** A repeated request with the same idempotency key counts once. */
export async function ask<Answer>(
  method: Method,
  path: string,
  body?: object,
  key?: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Wire<Answer>> {
  const response = await send(method, path, body, key, timeoutMs)
  if (!response.ok) throw new ServerError(response, await errorIn(response))
  return response.status === 204 ? (undefined as Wire<Answer>) : await response.json()
}

/** Sends a piece of a file as it is, and other bodies as JSON. */
async function send(
  method: Method,
  path: string,
  body: object | undefined,
  key: string | undefined,
  timeoutMs: number,
): Promise<Response> {
  const isFile = body instanceof Blob
  try {
    return await fetch(new URL(`api${path}`, document.baseURI), {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
  } catch (cause) {
    throw new NoAnswer('The server did not answer', { cause })
  }
}

/** A proxy may answer with an HTML page instead of JSON. */
async function errorIn(response: Response): Promise<{ code: number; msg: string }> {
  const body = await response.json().catch(() => undefined)
  return body?.error ?? { code: response.status * 10, msg: response.statusText }
}
