import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../base/errors.ts'
import { errorBody, helpLink } from '../error-handler.ts'

type RawError = { status: string; code: number; message: string; headers?: Record<string, string> }

/**
 * Writes the error object to a socket without a request object, and closes it.
 * Returns the request id of the answer.
 */
export function endWithError(socket: Duplex, { status, code, message, headers = {} }: RawError): string {
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(code, message))
  const all = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Link: helpLink(code),
    ...headers,
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => {}) // the client may have closed the connection
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`)
  return requestId
}

/** Answers a request that Node cannot parse as HTTP. */
export function answerBrokenRequest(this: FastifyInstance, error: Error & { code?: string }, socket: Duplex) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const message = brokenRequests[error.code ?? ''] ?? 'The request is not HTTP'
  const requestId = endWithError(socket, { status: '400 Bad Request', code: 4000, message })
  this.log.info({ requestId, status: 400, reason: message }, 'request.broken')
}

const brokenRequests: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large',
  HPE_INVALID_METHOD: 'The method of the request is unknown',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'The chunk extensions of the request are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
}

/**
 * Answers the requests that Node would answer with an empty body or not at all: a missing `Host` (the server must be
 * made with `requireHostHeader: false`), an unknown `Expect`, and CONNECT.
 */
export function answerInPlaceOfNode(app: FastifyInstance) {
  app.addHook('onRequest', (request, _, done) => {
    const isWithoutHost = request.headers.host === undefined && request.raw.httpVersion === '1.1'
    done(isWithoutHost ? invalid('Host: is required') : undefined)
  })
  const server = app.server as Server
  // An unknown expectation is ignored, as HTTP allows.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_, socket: Duplex) => {
    const message = 'CONNECT is not allowed here'
    const headers = { Allow: 'GET, HEAD' }
    const requestId = endWithError(socket, { status: '405 Method Not Allowed', code: 4050, message, headers })
    app.log.info({ requestId, status: 405, reason: message }, 'request.broken')
  })
}
