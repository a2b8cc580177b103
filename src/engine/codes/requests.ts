import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Request, RequestPort } from './protocol.ts'

/** In the codes thread: posts requests. The main thread receives them from `receiving`. */
export class RequestSender {
  readonly #port: MessagePort
  readonly receiving: RequestPort

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.receiving = { port: port2, flag: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) }
  }

  post(request: Request): void {
    this.#port.postMessage(request)
    Atomics.store(this.receiving.flag, 0, 1)
  }

  close(): void {
    this.#port.close()
  }
}

/**
 * In the main thread: takes requests when the event loop is free, and in `takeWaiting`, which long work calls again and
 * again. Reading the flag costs nearly nothing, so it may be called for every message.
 */
export class RequestReceiver {
  readonly #receiving: RequestPort
  readonly #take: (request: Request) => void

  constructor(receiving: RequestPort, take: (request: Request) => void) {
    this.#receiving = receiving
    this.#take = take
    receiving.port.on('message', take)
  }

  takeWaiting(): void {
    const { flag, port } = this.#receiving
    if (Atomics.load(flag, 0) === 0) return
    Atomics.store(flag, 0, 0) // before the requests are read: a request that is posted meanwhile sets it again
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) this.#take(next.message)
  }

  close(): void {
    this.#receiving.port.close()
  }
}
