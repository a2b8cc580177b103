import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { bodyLimits, MIB } from '../../src/http/bodies/body.ts'
import { aPerson, CabinetBrowser, ofCompany } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { aKey, useMessagingApi } from '../../src/testing/messaging-api.ts'
import { selfSigned } from '../../src/testing/self-signed.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'
import { endServer, has, outcomeOf, root, startServer } from './programs.ts'

/** nginx and Caddy with the files of deploy/, in front of a service that trusts them. */

const api = useMessagingApi({ trustedProxies: ['127.0.0.1'] })
const deployed = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')
const OTHER = '203.0.113.7'

let world: World
let service: string
let folder: string

beforeAll(async () => {
  world = await aWorld(api.sql)
  service = await api.listen('127.0.0.1')
  folder = await mkdtemp(join(tmpdir(), 'tidings-proxies-'))
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('past the proxy, a trusted address can state any other: this is why the port stays closed', async () => {
  const { key } = await aKey(api.sql, world.companyId, 'MESSAGE', { addresses: [OTHER] })
  expect(await statusOf(service, key, OTHER)).toBe(KNOWN)
})

describe.skipIf(!has('nginx'))('nginx (skipped without it, package nginx-light)', () => {
  behaviour(async () => {
    const [port, tls, cert] = [await freePort(), await freePort(), await aCertificate()]
    const site = deployed('nginx.conf')
      .replaceAll(/^ +listen \[::\].*\n/gm, '')
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replace('listen 443 ', `listen 127.0.0.1:${tls} `)
      .replace('server 127.0.0.1:8080', `server ${new URL(service).host}`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${cert.cert};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${cert.key};`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      name => `${name}_temp_path ${folder}/${name};`,
    )
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
       http { access_log off; ${temporary.join(' ')} ${site} }`,
    )
    const words = ['-c', join(folder, 'nginx.conf'), '-p', folder]
    expect(outcomeOf('nginx', ['-t', ...words])).toMatchObject({ status: 0 })
    return { server: startServer('nginx', words), url: `https://127.0.0.1:${tls}` }
  })
})

describe.skipIf(!has('caddy'))('Caddy (skipped without it, package caddy)', () => {
  behaviour(async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const words = ['--config', join(root, 'deploy/Caddyfile'), '--adapter', 'caddyfile']
    const env = {
      HOME: folder,
      TIDINGS_SITE: url,
      TIDINGS_UPSTREAMS: `${new URL(service).host} 127.0.0.1:${await freePort()}`, // the second one is down
      CADDY_ADMIN: `127.0.0.1:${await freePort()}`,
    }
    expect(outcomeOf('caddy', ['validate', ...words], env)).toMatchObject({ status: 0 })
    return { server: startServer('caddy', ['run', ...words], env), url, end: 'SIGKILL' as const } // it would wait for idle connections
  })
})

type Proxy = { server: ChildProcess; url: string; end?: NodeJS.Signals }

/** Every proxy has this behaviour. */
function behaviour(startProxy: () => Promise<Proxy>) {
  let proxy: Proxy

  beforeAll(async () => {
    proxy = await startProxy()
    await eventually(async () => expect((await ask(proxy.url, '/healthz')).status).toBe(200))
  })
  afterAll(() => endServer(proxy.server, proxy.end))

  test('the service sees the address of the client, and not an address that the client states', async () => {
    const own = await aKey(api.sql, world.companyId, 'MESSAGE', { addresses: ['127.0.0.1'] })
    const other = await aKey(api.sql, world.companyId, 'MESSAGE', { addresses: [OTHER] })
    expect(await statusOf(proxy.url, own.key, OTHER)).toBe(KNOWN)
    for (const stated of [OTHER, `${OTHER}, 127.0.0.1`, `127.0.0.1, ${OTHER}`]) {
      expect(await statusOf(proxy.url, other.key, stated)).toBe(REFUSED)
    }
  })

  test('metrics and readiness are not open to the world', async () => {
    for (const path of ['/metrics', '/metrics/', '/readyz', '/readyz/']) {
      expect({ path, status: (await ask(proxy.url, path)).status }).toEqual({ path, status: 404 })
    }
  })

  test('a body of the largest size gets through, and a larger one is refused', async () => {
    const { key } = await aKey(api.sql, world.companyId)
    const sized = (bytes: number) => JSON.stringify([' '.repeat(bytes - 4)])
    const path = '/api/v1/dispatch/999999/messages'
    const fits = await ask(proxy.url, path, { key, body: sized(bodyLimits.recipients) })
    expect(fits.status).toBe(404)
    const tooLarge = await ask(proxy.url, path, { key, body: sized(bodyLimits.recipients + MIB) }).catch(refusalOf)
    // The service answers and closes the connection before it has read the body. A proxy that notices the end first says 502, or
    // closes its own connection while the client still writes.
    expect([413, 502, 'ECONNRESET', 'EPIPE']).toContain(tooLarge.status)
    if (tooLarge.status === 413) expect(tooLarge.text).toContain('32 MiB')
  })

  test('events of live pages arrive while the stream stays open', async () => {
    const dispatchId = await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(2))
    const browser = new CabinetBrowser(() => api.app)
    await browser.signIn((await aPerson(api.sql, ofCompany(world.companyId), 'viewer')).login)
    const stream = await opened(proxy.url, `/cabinet/api/live?dispatches=${dispatchId}`, { cookie: browser.cookie! })
    let text = ''
    stream.setEncoding('utf8').on('data', piece => {
      text += piece
    })
    await eventually(() => expect(text).toContain('CREATED'))
    await start(api.sql, world, dispatchId)
    await eventually(() => expect(text).toContain('STARTED'))
    expect(stream.complete).toBe(false)
    stream.destroy()
  })
}

const refusalOf = (error: NodeJS.ErrnoException) => ({ status: error.code, text: '' })

/** The status of a request for a message that does not exist: the key is accepted, or refused for its address. */
const statusOf = async (url: string, key: string, forwardedFor: string) =>
  (await ask(url, '/api/v1/message/unknown', { key, forwardedFor })).status
const KNOWN = 404
const REFUSED = 401

type Asked = { key?: string; forwardedFor?: string; body?: string }

async function ask(url: string, path: string, { key, forwardedFor, body }: Asked = {}) {
  const headers = {
    ...(key ? { authorization: `Bearer ${key}` } : {}),
    ...(forwardedFor ? { 'x-forwarded-for': forwardedFor } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const answer = await opened(url, path, headers, body)
  let text = ''
  for await (const piece of answer.setEncoding('utf8')) text += piece
  return { status: answer.statusCode, text }
}

/** An answer of which the body is not read yet. The certificate is our own. */
async function opened(url: string, path: string, headers: Record<string, string>, body?: string) {
  const options = { method: body ? 'POST' : 'GET', headers, agent: false as const }
  const sent = url.startsWith('https:')
    ? secureRequest(url + path, { ...options, rejectUnauthorized: false })
    : plainRequest(url + path, options)
  // The service may answer and close the connection before it has read a body that is too large.
  sent.on('error', () => {})
  sent.end(body)
  const [answer] = await once(sent, 'response')
  return answer as IncomingMessage
}

async function aCertificate() {
  const made = selfSigned('localhost')
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await writeFile(cert, made.cert)
  await writeFile(key, made.key)
  return { cert, key }
}
