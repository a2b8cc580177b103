import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A server on loopback, closed when the tests of the file are over. */
export function useServer(handler: Handler) {
  let server: Server
  beforeAll(async () => {
    server = createServer((request, response) => void Promise.resolve(handler(request, response)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server?.closeAllConnections()
    server?.close()
  })
  return { port: () => (server.address() as AddressInfo).port }
}

export interface PageContent {
  /** The address of the script. */
  service: string
  /** Scripts after the script of the widget. */
  script: string
  head?: string
  body?: string
  headers?: Record<string, string>
}

/**
 * A site with the widget: `page` gives the content of its pages, `send` answers `POST /send-code`, which the page's
 * `sendAuthKey` calls.
 */
export function useSite() {
  const site = {
    page: (): PageContent => ({ service: '', script: '' }),
    send: async (_key: string): Promise<number> => 204,
    origin: () => `http://localhost:${server.port()}`,
  }
  const server = useServer(async (request, response) => {
    if (request.method === 'POST') {
      const { key } = JSON.parse((await bodyOf(request)) || '{}')
      response.writeHead(await site.send(key)).end()
      return
    }
    const content = site.page()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...content.headers }).end(html(content))
  })
  return site
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const html = ({ service, script, head = '', body = '<div id="verify"></div>' }: PageContent) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A shop</title><link rel="icon" href="data:,">${head}</head>
<body style="margin:0"><main><h1>Checkout</h1>${body}</main>
<script src="${service}/widget/VerifyWidget.umd.min.js"></script>
<script>
const sendCode = async key => {
  const answer = await fetch('/send-code', { method: 'POST', body: JSON.stringify({ key }) })
  return answer
}
const confirmed = []
${script}
</script></body></html>`
