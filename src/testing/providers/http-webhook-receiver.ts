import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Feed } from '../../channels/channel.ts'
import { readWebhook } from '../../channels/http/webhook.ts'
import type { RawSettings } from '../../channels/settings.ts'

/** For tests: reads webhooks as the service does, and acknowledges input that the feed has accepted. */
export async function startReceiver(settings: RawSettings, feed: Feed) {
  const taking = new Set<Promise<number>>()
  const statuses: number[] = []
  let stopped = false

  const server = createServer(async (request, response) => {
    const status = stopped ? 503 : await taken(request)
    statuses.push(status)
    response.writeHead(status, { connection: 'close' }).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  async function taken(request: IncomingMessage): Promise<number> {
    const body = Buffer.concat(await request.toArray())
    if (stopped) return 503
    const took = take(request, body).finally(() => taking.delete(took))
    taking.add(took)
    return took
  }

  async function take({ method, headers }: IncomingMessage, body: Buffer): Promise<number> {
    const request = {
      method: method as 'GET' | 'POST',
      headers: headers as Record<string, string | undefined>,
      query: {},
      body,
    }
    const result = readWebhook(settings, request, new Date())
    if (result.kind === 'forged') return 401
    if (result.kind !== 'told') return 400
    try {
      if (result.receipts.length > 0) await feed.receipts(result.receipts)
      for (const message of result.inbound) await feed.inbound(message)
      return 204
    } catch {
      return 500
    }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/7`,
    statuses,
    /** Accepts no more webhooks, and waits for the running ones. */
    async stop() {
      stopped = true
      await Promise.all(taking)
    },
    async close() {
      stopped = true
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
