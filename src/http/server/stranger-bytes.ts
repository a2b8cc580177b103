import { Transform } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'

/** One address gets at most this share of the bytes, so that other addresses always have some left. */
const SHARE_OF_ONE_ADDRESS = 1 / 4
const BODY_TIMEOUT_MS = 10_000

/**
 * Limits the memory for bodies that are read before the client is authenticated: in all, by address, and in the time that
 * they may take to arrive. It holds for the routes of one scope. Several scopes may share the limit.
 */
export class StrangerBytes {
  readonly #most: number
  readonly #bodyTimeoutMs: number
  readonly #byAddress = new Map<string, number>()
  #inFlight = 0

  constructor(most: number, bodyTimeoutMs = BODY_TIMEOUT_MS) {
    this.#most = most
    this.#bodyTimeoutMs = bodyTimeoutMs
  }

  get inFlight(): number {
    return this.#inFlight
  }

  guard(scope: FastifyInstance, isStranger: (request: FastifyRequest) => boolean = () => true) {
    scope.addHook('preParsing', async (request, reply, payload) => {
      if (!mayHaveBody(request) || !isStranger(request)) return payload
      const counted = this.#counted(networkOf(request.ip))
      reply.raw.once('close', counted.release)
      payload.once('error', error => counted.stream.destroy(error))
      // After the end or an error, the rest of the request is read and discarded.
      counted.stream.once('close', () => {
        payload.unpipe(counted.stream)
        payload.resume()
      })
      // The length of the compressed body, which the framework compares with Content-Length.
      const receivedEncodedLength = { get: () => payload.receivedEncodedLength }
      return Object.defineProperties(payload.pipe(counted.stream), { receivedEncodedLength })
    })
  }

  #counted(address: string) {
    let sizeBytes = 0
    let isReleased = false
    const take = (bytes: number) => {
      if (isReleased || !this.#hasRoom(address, bytes)) return false
      sizeBytes += bytes
      this.#add(address, bytes)
      return true
    }
    const stream = new Transform({
      transform: (chunk: Buffer, _, done) => (take(chunk.length) ? done(null, chunk) : done(tooBusy())),
    })
    const late = setTimeout(() => stream.destroy(invalid('The body took too long to arrive')), this.#bodyTimeoutMs)
    stream.once('close', () => clearTimeout(late))
    const release = () => {
      if (!isReleased) this.#add(address, -sizeBytes)
      isReleased = true
      stream.destroy()
    }
    return { stream, release }
  }

  #hasRoom(address: string, bytes: number): boolean {
    const ofAddress = this.#byAddress.get(address) ?? 0
    return this.#inFlight + bytes <= this.#most && ofAddress + bytes <= this.#most * SHARE_OF_ONE_ADDRESS
  }

  #add(address: string, bytes: number) {
    this.#inFlight += bytes
    const ofAddress = (this.#byAddress.get(address) ?? 0) + bytes
    if (ofAddress > 0) this.#byAddress.set(address, ofAddress)
    else this.#byAddress.delete(address)
  }
}

const mayHaveBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const tooBusy = () =>
  new AppError('not_ready', 'Too many bodies are arriving: try again in a moment', { retryAfterSeconds: 1 })
