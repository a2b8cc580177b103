import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { freePort } from '../../src/testing/free-port.ts'

type PartnerEvent = { event: string; messageUuid: string }
type MessagingEvent = { callback_event: string; message_uuid: string; status: string }

/** The server of a client, which takes callbacks. It can be dead for a while. */
export class Receiver {
  readonly #ends = new Map<string, Set<string>>()
  readonly #port: number
  #server: Server | undefined
  requests = 0

  static async start(): Promise<Receiver> {
    const receiver = new Receiver(await freePort())
    await receiver.live()
    return receiver
  }

  private constructor(port: number) {
    this.#port = port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/callbacks`
  }

  /** The ends that were told of each message: one, unless a final status was changed. */
  get ends(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#ends
  }

  async live(): Promise<void> {
    this.#server = createServer((request, response) => void this.#take(request, response))
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening')
  }

  /** From now on its port refuses connections. */
  async die(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse) {
    let text = ''
    try {
      for await (const piece of request.setEncoding('utf8')) text += piece
    } catch {
      return // the connection was cut: the sender repeats the request
    }
    this.requests += 1
    for (const { uuid, end } of endsIn(JSON.parse(text)))
      this.#ends.set(uuid, (this.#ends.get(uuid) ?? new Set()).add(end))
    response.end()
  }
}

/** Both APIs have a form of their own. Only the event with the final status counts. */
function endsIn(body: PartnerEvent | MessagingEvent[]): { uuid: string; end: string }[] {
  if (!Array.isArray(body)) return body.event === 'sent' ? [] : [{ uuid: body.messageUuid, end: body.event }]
  return body
    .filter(({ callback_event }) => callback_event === 'delivered')
    .map(({ message_uuid, status }) => ({ uuid: message_uuid, end: status }))
}
