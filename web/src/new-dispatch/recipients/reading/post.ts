import type { Place } from './tasks.ts'

/** The server refused. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const TIMEOUT_MS = 120_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/** Posts a request until the server answers. It may be repeated: it stores nothing, or has an Idempotency-Key. */
export async function postUntilAnswered<Answer>(
  { api, companyId }: Place,
  path: string,
  body: object,
  { key, onWaiting }: { key?: string; onWaiting(): void },
): Promise<Answer> {
  const address = `${api}${path}${companyId === undefined ? '' : `?companyId=${companyId}`}`
  const json = JSON.stringify(body)
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const response = await post(address, json, key).catch(() => undefined)
    if (response?.ok) return response.json()
    if (response && !mayPass(response.status)) throw new Refusal(response.status, await messageIn(response))
    onWaiting()
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
}

const post = (address: string, json: string, key: string | undefined) =>
  fetch(address, {
    method: 'POST',
    body: json,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })

/** The server is busy or restarting, or still processes the same request. */
const mayPass = (status: number) => status >= 500 || status === 429 || status === 409

async function messageIn(response: Response): Promise<string> {
  const body = await response.json().catch(() => undefined)
  return body?.error?.msg ?? response.statusText
}
