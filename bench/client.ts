import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * The smallest HTTP client that can keep a service busy: ready-made bytes go out over a socket that stays open, and of
 * the answer only the status and the length are read. It takes the machine a fraction of what node:http takes, which
 * on few cores would be measured along with the service.
 */
export type Connection = {
  /** One request at a time; an answer that is no success is an error. */
  ask(request: Buffer): Promise<Buffer[]>
  close(): void
}

export function requestBytes(token: string, line: string, body?: unknown): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
  const head = [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`]
  if (body !== undefined) head.push('Content-Type: application/json', `Content-Length: ${content.length}`)
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content])
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return { ask: request => ask(socket, request), close: () => socket.destroy() }
}

function ask(socket: Socket, request: Buffer): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let missing: number | undefined
    const stop = () => socket.off('data', take).off('error', fail).off('close', fail)
    const fail = (error?: unknown) => {
      stop()
      reject(error instanceof Error ? error : new Error('the service closed the connection'))
    }
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      missing = missing === undefined ? missingAfter(chunks) : missing - chunk.length
      if (missing !== 0) return
      stop()
      if (isOk(chunks[0]!)) resolve(chunks)
      else reject(new Error(`the service answered ${Buffer.concat(chunks).toString('utf8', 0, 1000)}`))
    }
    if (socket.destroyed) return fail() // closed between two requests: there will be no further event
    socket.on('data', take).on('error', fail).on('close', fail)
    socket.write(request)
  })
}

/** How much of the answer is still to come; unknown until its head is complete. */
function missingAfter(chunks: Buffer[]): number | undefined {
  if (chunks.length > 1) chunks.splice(0, chunks.length, Buffer.concat(chunks))
  const answer = chunks[0]!
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, headEnd))?.[1]
  return headEnd + 4 + Number(length) - answer.length
}

const isOk = (answer: Buffer) => answer.toString('latin1', 9, 10) === '2'

export function jsonOf(answer: Buffer[]) {
  const whole = Buffer.concat(answer)
  return JSON.parse(whole.toString('utf8', whole.indexOf('\r\n\r\n') + 4))
}

/** Asks over every connection, again and again, until the time is up. Requests per second. */
export async function askFor(ms: number, connections: Connection[], request: Buffer): Promise<number> {
  const begun = performance.now()
  let answered = 0
  await Promise.all(
    connections.map(async connection => {
      while (performance.now() - begun < ms) {
        await connection.ask(request)
        answered += 1
      }
    }),
  )
  return (answered * 1000) / (performance.now() - begun)
}
