import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './child.ts'

/** Receivers of callbacks that only answer, and a receiver that never answers. The first port reports the others. */
const answer: RequestListener = (request, response) => {
  request.resume()
  request.on('end', () => response.end())
}

const servers = await Promise.all(
  Array.from({ length: Number(process.env.RECEIVERS) }, () => listen(createServer(answer))),
)
const hanging = await listen(createServer(request => request.resume()))
const guide = await listen(
  createServer((_, response) => response.end(JSON.stringify({ ports: servers.map(portOf), hanging: portOf(hanging) }))),
)

serveParent(portOf(guide), async () => {
  for (const server of [guide, hanging, ...servers]) server.closeAllConnections()
})

function listen(server: Server): Promise<Server> {
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
