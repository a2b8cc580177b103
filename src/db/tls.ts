import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, connect } from 'node:tls'
import { type Host, nameOf, type Tls } from '../base/database-address.ts'

/**
 * Opens a socket to PostgreSQL with TLS, for the driver. The driver's own TLS knows no file of authorities, and compares
 * the certificate of a host that is an IP address with "localhost".
 */
export async function openSecure(open: () => Socket, host: Host, tls: Tls, mostMs: number): Promise<Socket> {
  const options = await optionsOf(host, tls)
  // Each step below reports the errors itself. The driver measures its own time-out only when it has its socket.
  const socket = open().on('error', () => {})
  const timeout = AbortSignal.timeout(mostMs)
  try {
    return await secure(socket, host, tls, options, timeout)
  } catch (error) {
    socket.destroy()
    if (!timeout.aborted) throw error
    throw Object.assign(new Error(`no TLS with ${nameOf(host)} in time`), { code: 'CONNECT_TIMEOUT' })
  }
}

async function secure(socket: Socket, host: Host, tls: Tls, options: ConnectionOptions, signal: AbortSignal) {
  if (!tls.isDirect && !(await offersTls(socket, signal))) {
    if (tls.mode === 'prefer' || tls.mode === 'allow') return socket
    throw Object.assign(new Error('the server does not offer TLS'), { code: 'ERR_TLS_NOT_OFFERED' })
  }
  const secured = connect({ ...options, socket })
  await once(secured, 'secureConnect', { signal })
  return Object.assign(secured, { host: host.host, port: host.port }) // the errors of the driver contain them
}

/** The files are read for each connection, so that renewed certificates are used without a restart. */
async function optionsOf({ host }: Host, tls: Tls): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all([tls.rootFile, tls.certificateFile, tls.keyFile].map(contentOf))
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(tls.isDirect && { ALPNProtocols: ['postgresql'] }),
    ...(isIP(host) ? {} : { servername: host }),
    rejectUnauthorized: tls.mode.startsWith('verify-'),
    checkServerIdentity: (_, certificate) =>
      tls.mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
  }
}

/** The code counts as refused (`isConnectionRefused`), so reads go to the primary. */
async function contentOf(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return
  return readFile(path).catch(cause => {
    throw Object.assign(new Error(`the TLS file ${path} cannot be read: ${cause.code}`, { cause }), {
      code: 'ERR_TLS_FILE',
    })
  })
}

const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex')

async function offersTls(socket: Socket, signal: AbortSignal): Promise<boolean> {
  socket.write(SSL_REQUEST)
  const ended = new AbortController()
  const end = () => ended.abort()
  socket.once('close', end)
  try {
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.any([signal, ended.signal]) })) as [Buffer]
    // More than one byte before the handshake would be a message that someone else has put before the encrypted ones.
    return answer.length === 1 && answer[0] === 'S'.charCodeAt(0)
  } catch (error) {
    if (!ended.signal.aborted) throw error
    throw Object.assign(new Error('the server closed the connection'), { code: 'CONNECTION_CLOSED' })
  } finally {
    socket.off('close', end)
  }
}
