import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux gives to outgoing connections (32768 and more), so that none of these takes it meanwhile. Each
 * worker of the tests has ports of its own.
 */
const PORTS = 2000
const FIRST = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 1) % 6) * PORTS

const given = new Set<number>()

/** A port on 127.0.0.1 for a server that a test starts. No port is given twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, FIRST + PORTS)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
