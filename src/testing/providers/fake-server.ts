import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type FakeAnswer = { status: number; body: string; headers?: Record<string, string> }

/**
 * The behaviour of a fake for a request: it answers, never answers, or breaks the connection before or during its
 * answer.
 */
export type Deed = FakeAnswer | 'silence' | 'reset' | 'half an answer'

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): FakeAnswer => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

/** An HTTP server on a free port, whose behaviour for each request the test chooses. */
export async function startFakeServer(deedFor: (request: IncomingMessage, body: Buffer) => Deed | Promise<Deed>) {
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined)
    if (body) perform(await deedFor(request, body), response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function perform(deed: Deed, response: ServerResponse) {
  if (deed === 'silence') return
  if (deed === 'reset') return response.socket?.resetAndDestroy()
  if (deed === 'half an answer') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    return response.write('{"ok":true,', () => response.socket?.resetAndDestroy())
  }
  response.writeHead(deed.status, deed.headers).end(deed.body)
}

/** The planned behaviours for one subscriber, in order. Later requests get the usual behaviour. */
export function createPlans() {
  const plans = new Map<string, Deed[]>()
  return {
    plan: (subscriber: string, ...deeds: Deed[]) => plans.set(subscriber, deeds),
    next: (subscriber: string) => plans.get(subscriber)?.shift(),
  }
}

/** Sends an event to a webhook until it is accepted, as Telegram does. True if it was accepted. */
export async function tellWebhook(
  url: string,
  message: () => { headers: Record<string, string>; body: string },
  { tries = 10, againMs = 20 } = {},
): Promise<boolean> {
  for (let left = tries; left > 0; left--) {
    const { headers, body } = message()
    const status = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(5000),
    }).then(
      response => response.status,
      () => 0,
    )
    if (status === 200) return true
    await pause(againMs)
  }
  return false
}
