import { isIP } from 'node:net'
import { Agent, type Dispatcher } from 'undici'
import {
  type AddressCheck,
  addressRefused,
  createAddressCheck,
  createLookup,
  resolveName,
} from '../src/engine/callbacks/address.ts'
import type { RequestSettings, Target } from '../src/engine/callbacks/request.ts'

const TIMEOUT_MS = 15_000
const MOST_ANSWER_BYTES = 64 * 1024
const KEPT_ANSWER_BYTES = 512

type Answer = { statusCode: number; answer: string }

/**
 * The requests of `src/engine/callbacks/request.ts` with undici, for the comparison: the same checked lookup and the same
 * limits. It does less: it does not send again after a kept connection was closed, and does not report abandoned requests.
 */
export class UndiciPoster {
  readonly #isAllowed: AddressCheck
  readonly #agent: Agent

  constructor({ allow, sourceIp }: RequestSettings) {
    this.#isAllowed = createAddressCheck(allow)
    this.#agent = new Agent({
      connections: 16,
      pipelining: 1,
      keepAliveTimeout: 4000,
      connect: {
        lookup: createLookup(this.#isAllowed, resolveName),
        localAddress: sourceIp,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: 2000,
        timeout: TIMEOUT_MS,
      },
    })
  }

  post(target: Target, headers: Record<string, string>, body: string): Promise<Answer> {
    if (isIP(target.hostname) && !this.#isAllowed(target.hostname)) throw addressRefused()
    return new Promise((resolve, reject) => {
      const exchange = new UndiciExchange(resolve, reject)
      this.#agent.dispatch(requestTo(target, headers, body), exchange)
    })
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

const requestTo = (target: Target, headers: Record<string, string>, body: string): Dispatcher.DispatchOptions => ({
  origin: originOf(target),
  method: 'POST',
  path: target.path,
  body,
  headers: {
    'content-type': 'application/json',
    'user-agent': 'Tidings',
    ...(target.authorization ? { authorization: target.authorization } : {}),
    ...headers,
  },
})

function originOf({ secure, hostname, port }: Target): string {
  return `${secure ? 'https' : 'http'}://${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`
}

class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #statusCode = 0
  #bytes = 0
  readonly #kept: Buffer[] = []

  constructor(resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#timer = setTimeout(() => controller.abort(new Error('ETIMEDOUT')), TIMEOUT_MS)
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number) {
    this.#statusCode = statusCode
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#bytes < KEPT_ANSWER_BYTES) this.#kept.push(chunk.subarray(0, KEPT_ANSWER_BYTES - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes > MOST_ANSWER_BYTES) controller.abort(new Error('too long'))
  }

  onResponseEnd() {
    clearTimeout(this.#timer)
    this.#resolve({ statusCode: this.#statusCode, answer: Buffer.concat(this.#kept).toString() })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    clearTimeout(this.#timer)
    if (this.#statusCode) this.onResponseEnd()
    else this.#reject(error)
  }
}
