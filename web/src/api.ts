/** Asks the server's part of the cabinet, `src/http/cabinet/`. Answers have the types that its routes export. */

/** What JSON makes of an answer: moments become text. */
export type Wire<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Wire<T[Key]> } : T

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const TIMEOUT_MS = 30_000
const NOT_SIGNED_IN = 4010

/** The server refused or failed. */
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

/** No answer came: no connection, or it took too long. */
export class NoAnswer extends Error {}

export const isNotFound = (error: unknown) => error instanceof ServerError && error.status === 404

export const isSignedOut = (error: unknown) => error instanceof ServerError && error.code === NOT_SIGNED_IN

/** With a key, the server does what is asked once, however often it is asked. */
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

/** A piece of a file goes as it is, anything else as JSON. */
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

/** A proxy in between may answer with a page of its own. */
async function errorIn(response: Response): Promise<{ code: number; msg: string }> {
  const body = await response.json().catch(() => undefined)
  return body?.error ?? { code: response.status * 10, msg: response.statusText }
}
