import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { readDatabaseAddress } from '../base/database-address.ts'

/** A TCP proxy before a database, whose connections can stop to carry bytes without being closed. */
export class SilentProxy {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async before(url: string): Promise<SilentProxy> {
    const [{ host, port, path }] = readDatabaseAddress(url).hosts as [{ host: string; port: number; path?: string }]
    const server = createServer(socket => proxy.#carry(socket, path ? connect(path) : connect(port, host)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { username, password, pathname } = new URL(url)
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const proxy = new SilentProxy(server, `postgres://${username}:${password}@${place}${pathname}`)
    return proxy
  }

  #carry(...pair: [Socket, Socket]) {
    const [client, target] = pair
    client.pipe(target).pipe(client)
    for (const socket of pair) {
      this.#sockets.add(socket)
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    }
  }

  /** The connections of now. New ones work. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
