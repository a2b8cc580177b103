import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isConnectionRefused, isDatabaseAway } from '../../src/base/database-losses.ts'
import { checkServer, connect } from '../../src/db/sql.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { hasPostgres, PostgresCluster } from '../../src/testing/postgres-cluster.ts'

const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'pipe' })

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

function hasOpenssl(): boolean {
  try {
    openssl('version')
    return true
  } catch {
    return false
  }
}

describe.skipIf(!hasPostgres || !hasOpenssl())("TLS to the database (needs openssl and Debian's PostgreSQL)", () => {
  let cluster: PostgresCluster
  let folder: string

  const file = (name: string) => join(folder, name)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidings-tls-'))
    makeAuthority('ca')
    makeAuthority('stranger')
    makeCertificate('server', 'DNS:localhost,IP:127.0.0.1')
    makeCertificate('elsewhere', 'DNS:db.example')
    cluster = await PostgresCluster.startPrimary()
    await cluster.a.stop()
    await cluster.a.startWithTls(file('server.crt'), file('server.key'))
  })

  afterAll(async () => {
    await cluster?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  function makeAuthority(name: string) {
    const words = [...NEW_KEY, '-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)]
    openssl('req', '-x509', ...words, '-days', '2', '-subj', `/CN=${name}`)
  }

  function makeCertificate(name: string, names: string) {
    const request = [...NEW_KEY, '-keyout', file(`${name}.key`), '-out', file(`${name}.csr`)]
    openssl('req', ...request, '-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`)
    const issuer = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy']
    openssl('x509', '-req', '-in', file(`${name}.csr`), ...issuer, '-days', '2', '-out', file(`${name}.crt`))
  }

  const addressOf = (hosts: string, query: string) =>
    cluster.a
      .url()
      .replace(cluster.a.host, hosts)
      .concat(`?${query.replace('CA', file('ca.crt')).replace('STRANGER', file('stranger.crt'))}`)

  /** Whether the session is encrypted, or the error. */
  async function encryptionOf(hosts: string, query: string): Promise<unknown> {
    const sql = connect(addressOf(hosts, query), { max: 2 })
    try {
      const rows = await Promise.all(
        [1, 2].map(n => sql`select ${n}::int as n, ssl from pg_stat_ssl where pid = pg_backend_pid()`),
      )
      return rows.every(([row]) => row!.ssl)
    } catch (error) {
      return error
    } finally {
      await sql.end({ timeout: 0 })
    }
  }

  const byAddress = () => cluster.a.host
  const byName = () => `localhost:${cluster.a.port}`
  const amongOthers = () => `127.0.0.1:1,localhost:${cluster.a.port}`

  test.each([
    ['', false],
    ['sslmode=disable', false],
    ['sslmode=prefer', true],
    ['sslmode=require', true],
    ['sslmode=require&sslrootcert=CA', true],
    ['sslmode=verify-ca&sslrootcert=CA', true],
    ['sslmode=verify-full&sslrootcert=CA', true],
  ])('%s reaches a server with a certificate of our own authority: encrypted %s', async (query, isEncrypted) => {
    const hosts = [byAddress(), byName(), amongOthers()]
    expect(await Promise.all(hosts.map(each => encryptionOf(each, query)))).toEqual(Array(3).fill(isEncrypted))
  })

  test.each([
    'sslmode=verify-ca',
    'sslmode=verify-full',
    'sslmode=require&sslrootcert=STRANGER',
    'sslmode=verify-full&sslrootcert=STRANGER',
  ])('%s refuses a certificate of an authority that is not trusted, and says so', async query => {
    for (const hosts of [byName(), `localhost:${cluster.a.port},127.0.0.1:${cluster.a.port}`]) {
      const error = await encryptionOf(hosts, query)
      expect([(error as Error).message, isConnectionRefused(error)]).toEqual([
        expect.stringMatching(/certificate/),
        true,
      ])
      const sql = connect(addressOf(hosts, query), { max: 1 })
      const sentence = /^The database at localhost.* does not answer: .*certificate.*\. Check DATABASE_URL\.$/
      await expect(checkServer(sql, addressOf(hosts, query))).rejects.toThrow(sentence)
      await sql.end({ timeout: 0 })
    }
  })

  test('a certificate for another name is refused by verify-full alone', async () => {
    await cluster.a.stop()
    await cluster.a.startWithTls(file('elsewhere.crt'), file('elsewhere.key'))
    expect(await encryptionOf(byName(), 'sslmode=verify-ca&sslrootcert=CA')).toBe(true)
    for (const hosts of [byName(), byAddress()]) {
      expect(await encryptionOf(hosts, 'sslmode=verify-full&sslrootcert=CA')).toMatchObject({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      })
    }
  })

  test('a server without TLS is refused by require, and used by prefer', async () => {
    await cluster.a.stop()
    await cluster.a.start()
    expect(await encryptionOf(byName(), 'sslmode=require')).toMatchObject({ message: 'the server does not offer TLS' })
    expect(await encryptionOf(byName(), 'sslmode=prefer')).toBe(false)
  })

  test('a file that is missing, a closed port and a server that hangs up are errors with a reason', async () => {
    const missing = await encryptionOf(byName(), 'sslmode=verify-full&sslrootcert=/no/ca.crt')
    expect(missing).toMatchObject({ code: 'ERR_TLS_FILE', message: 'the TLS file /no/ca.crt cannot be read: ENOENT' })
    expect(isConnectionRefused(missing)).toBe(true)
    const closed = await encryptionOf(`127.0.0.1:${await freePort()}`, 'sslmode=require')
    expect(isDatabaseAway(closed)).toBe(true)
    const port = await freePort()
    const server = createServer(socket => void socket.destroy()).listen(port, '127.0.0.1')
    expect(isDatabaseAway(await encryptionOf(`127.0.0.1:${port}`, 'sslmode=require'))).toBe(true)
    server.close()
  })
})
