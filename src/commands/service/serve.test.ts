import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, cp, readdir, stat } from 'node:fs/promises'
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { eventually } from '../../testing/eventually.ts'
import { numberOf } from '../../testing/factories.ts'
import { freePort } from '../../testing/free-port.ts'
import { databaseUrl } from '../../testing/global-setup.ts'
import {
  answerOf,
  beginRequest,
  type Client,
  clientOf,
  type Env,
  enginesOf,
  expectNothingRunning,
  expectSentence,
  firstOutput,
  logIn,
  newSender,
  processesOf,
  type Running,
  run,
  type Service,
  start,
  startService,
  stop,
  untilStatus,
  useDataFolders,
  withPassword,
} from '../../testing/processes.ts'
import { signal } from '../../testing/signal.ts'

const NOBODY = { uid: 65534, gid: 65534 }
const SECRET = 'invented for the tests, 32 characters and more'

const aDataFolder = useDataFolders()

/** A folder with the demo data, without a running service. The first test below creates it. */
let left: string

async function aUsedFolder(): Promise<string> {
  const folder = await aDataFolder()
  await cp(left, folder, { recursive: true, preserveTimestamps: true })
  // Copying as root gives everything to root; PostgreSQL's own user must have it.
  const { uid, gid } = await stat(join(left, 'postgres'))
  execFileSync('chown', ['-R', `${uid}:${gid}`, join(folder, 'postgres')])
  return folder
}

/** Somebody else's server. */
async function aTakenPort(onConnection: () => void = () => {}): Promise<{ port: number; server: Server }> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, server }
}

/** From the first start to the last stop, on one data folder: each test continues where the one before it ended. */
describe('a life', () => {
  let folder: string
  let env: Env
  let service: Running
  let banner: string
  let partnerApi: string
  let password: string
  let client: Client
  let readyAtBanner: number

  const found = (pattern: RegExp) => pattern.exec(banner)![1]!
  const dispatchOf = (count: number) => ({
    companyId: 1,
    name: 'Autumn news',
    senderIds: [1, 2, 3, 4],
    channelType: 'SMS',
    text: 'Hello, {name}!',
    messages: Array.from({ length: count }, (_, i) => ({
      destination: String(Number(numberOf.MTS) + i),
      substitutions: { name: 'Anna' },
    })),
  })

  beforeAll(async () => {
    folder = await aDataFolder()
    left = folder
    env = { TIDINGS_DATA: folder, PORT: '0' }
  })

  test('a port in use is told in one sentence, and nothing is left running', async () => {
    const { port, server } = await aTakenPort()
    expectSentence(
      await run(['serve'], { ...env, PORT: String(port), HOST: '127.0.0.1' }),
      new RegExp(`Port ${port} is in use: stop the program that uses it, or set PORT`),
    )
    server.close()
    await expectNothingRunning(folder)
  })

  test('the first start prints the addresses, the logins and a key', async () => {
    service = start(['serve'], env)
    banner = await firstOutput(service, /curl -s \S+\/messages\?.*\n/)
    partnerApi = found(/Partner API +(\S+)/)
    readyAtBanner = (await fetch(new URL('/readyz', partnerApi))).status
    password = found(/Password +(\S+)/)
    expect(partnerApi).toMatch(/^http:\/\/localhost:\d+\/partner\/v1$/)
    expect(found(/Messaging API +(\S+)/)).toBe(partnerApi.replace('/partner/v1', '/api/v1'))
    expect(found(/Demo partner +(\S+)/)).toBe('demo')
    expect(found(/Demo company +(\S+)/)).toBe('company')
    expect(found(/Demo staff +(\S+)/)).toBe('staff')
    await expectSignIn(found(/Cabinet +(\S+)/), ['company', 'demo', 'staff'], password)
    expect(found(/Data +(\S+)/)).toBe(folder)
    const key = found(/MESSAGE key of company 1.*\n +(\S+)/)
    expect(Buffer.from(key, 'base64').toString()).toMatch(/^[^:]+:[^:]+$/)
    client = await logIn(partnerApi, 'demo', password)
  })

  test('the addresses it prints answer', async () => {
    const docs = found(/API reference +(\S+)/)
    expect((await fetch(docs)).status).toBe(200)
    expect((await fetch(found(/Widget demo +(\S+\/widget\/demo)\n/))).status).toBe(200)
    const document = (await (await fetch(`${docs}/partner.json`)).json()) as { servers: unknown }
    expect(document.servers).toMatchObject([{ url: '/partner/v1' }])
  })

  test('it is ready when it says that it is up', () => {
    expect(readyAtBanner).toBe(200)
  })

  test('the lines to try work as printed', async context => {
    if (spawnSync('curl', ['--version']).error) context.skip('there is no curl here')
    const lines = banner.split('\n').filter(line => /^ +(TOKEN=|DISPATCH=|curl)/.test(line))
    expect(lines).toHaveLength(4)
    // Delivered a moment later, however busy the machine is.
    await eventually(() => {
      const printed = execFileSync('sh', ['-c', lines.join('\n')], { encoding: 'utf8' })
      expect(printed).toMatch(/^\{"id":\d+,"status":"STARTED"\}.*"text":"Hello, Anna!".*"status":"DELIVERED"/s)
    })
  })

  test('the demo has three companies, each with approved senders for all four operators', async () => {
    const { body } = await client('GET', '/company')
    expect(body.items.map((company: { companyId: number }) => company.companyId)).toEqual([1, 2, 3])
    for (const { companyId } of body.items) {
      const senders = (await client('GET', `/senders?companyId=${companyId}&status=APPROVED&channelType=SMS`)).body
      const brands = senders.map((sender: { brand: string }) => sender.brand).sort()
      expect(brands).toEqual(['BEELINE', 'MEGAFON', 'MTS', 'TELE2'])
    }
  })

  test('a dispatch to all four operators is priced', async () => {
    const messages = Object.values(numberOf).map(destination => ({ destination, substitutions: { name: 'Boris' } }))
    const { status, body } = await client('POST', '/dispatches', { ...dispatchOf(1), messages })
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 4, success: 4, priceEstimate: { currency: 'RUB', parts: 4 } })
    expect(body.messages.map((message: { senderId: number }) => message.senderId)).toEqual([1, 2, 3, 4])
    expect(body.priceEstimate.total).toBeGreaterThan(0)
  })

  test('a new sender name is approved by itself', async () => {
    await untilStatus(client, await newSender(client, 1), 'APPROVED')
  })

  test('a second service on the same folder is refused and does not disturb the first', async () => {
    expectSentence(await run(['serve'], env), /Another Tidings is already running on the data folder/)
    expect((await client('GET', '/company/1')).status).toBe(200)
  })

  test('an engine that was killed is started again', async () => {
    const [killed, ...more] = await enginesOf(folder)
    expect(more).toEqual([])
    process.kill(killed!, 'SIGKILL')
    await eventually(async () => {
      const engines = await enginesOf(folder)
      expect(engines).toHaveLength(1)
      expect(engines).not.toContain(killed)
    })
    await untilStatus(client, await newSender(client, 2), 'APPROVED')
    expect(service.stderr()).toContain('"signal":"SIGKILL","msg":"engine.died"')
  })

  test('SIGTERM: new connections are refused, the open request is answered, no process is left', async () => {
    const request = await beginRequest(client, `${partnerApi}/dispatches`, JSON.stringify(dispatchOf(20_000)))
    service.child.kill('SIGTERM')
    const { port } = new URL(partnerApi)
    await eventually(() => expect(whyRefused(Number(port))).resolves.toBe('ECONNREFUSED'))

    const { status, body } = await request.finish()
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 20_000, success: 20_000 })
    expect(await service.ended).toMatchObject({ code: 0, signal: null })
    await expectNothingRunning(folder)
    expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false)
  })

  test('the second start continues, and prints neither the password nor a key again', async () => {
    const again = await startService(['serve'], env)
    service = again
    const widgetDemo = `${again.url}/widget/demo`
    const logins = { login: 'demo', companyLogin: 'company', staffLogin: 'staff' }
    expect(again.demo).toEqual({ ...logins, companyId: 1, senderIds: [1, 2, 3, 4], widgetDemo })
    client = clientOf(again.partnerApi, client.token)
    const { body } = await client('GET', '/dispatches?companyId=1')
    expect(body.items[0]).toMatchObject({ name: 'Autumn news', messages: { total: 20_000 } })
    await logIn(again.partnerApi, 'demo', password)
  })

  test('after SIGKILL the next start takes over, with everything there', async () => {
    const orphan = await eventually(async () => {
      const [engine] = await enginesOf(folder)
      expect(engine).toBeDefined()
      return engine
    })
    service.child.kill('SIGKILL')
    await service.ended

    const given = { TIDINGS_MODERATION: 'manual', TIDINGS_DEMO_PASSWORD: "Anna's choice" }
    const next = await startService(['serve'], { ...env, ...given })
    service = next
    expect(next.demo).toMatchObject({ password: "Anna's choice" })
    client = await logIn(next.partnerApi, 'demo', "Anna's choice")
    const { body } = await client('GET', '/dispatches?companyId=1')
    expect(body.items[0]).toMatchObject({ name: 'Autumn news', messages: { total: 20_000 } })
    await eventually(async () => expect(await enginesOf(folder)).not.toContain(orphan))
  })

  test('with manual moderation a name waits for the command that approves it', async () => {
    const first = await newSender(client, 3)
    await untilStatus(client, first, 'PRE_REVIEW')
    // The engine has had another turn when it has seen the second one.
    await untilStatus(client, await newSender(client, 3), 'PRE_REVIEW')
    expect((await client('GET', `/senders/${first}`)).body.status).toBe('PRE_REVIEW')

    const approved = await answerOf(['sender', 'approve', '--sender', String(first)], env)
    expect(approved).toMatchObject({ id: first, status: 'APPROVED' })
    expect((await client('GET', `/senders/${first}`)).body.status).toBe('APPROVED')
  })

  test('the last stop leaves nothing running', async () => {
    expect(await stop(service)).toMatchObject({ code: 0, signal: null, stderr: '' })
    await expectNothingRunning(folder)
  })
})

async function whyRefused(port: number): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1')
  const [error] = await Promise.race([
    once(socket, 'connect').then(() => [{ code: 'open' }]),
    once(socket, 'error'),
  ]).catch(error => [error])
  socket.destroy()
  return error.code
}

describe('SIGTERM during the start', () => {
  const expectCleanEnd = async (service: Running, folder: string) => {
    const { signal } = await stop(service)
    expect(signal).toBeNull() // it ended by itself, not by the signal
    await expectNothingRunning(folder)
  }

  test('while the database is being made', async () => {
    const folder = await aDataFolder()
    const service = start(['serve'], { TIDINGS_DATA: folder, PORT: '0' })
    await eventually(async () => expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^postgres\.new-/)))
    await expectCleanEnd(service, folder)
  })

  test('while the database server is starting', async () => {
    const folder = await aUsedFolder()
    const service = start(['serve'], { TIDINGS_DATA: folder, PORT: '0' })
    await eventually(() => expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(true))
    await expectCleanEnd(service, folder)
  })
})

test('a signal that comes twice, as one Ctrl-C under npm does, still ends it cleanly', async () => {
  const folder = await aUsedFolder()
  const service = await startService(['serve'], { TIDINGS_DATA: folder })
  await eventually(async () => expect(await enginesOf(folder)).toHaveLength(1))
  service.child.kill('SIGINT')
  service.child.kill('SIGINT')
  expect(await service.ended).toMatchObject({ code: 0, signal: null })
  await expectNothingRunning(folder)
})

test('an engine starts its codes thread with the first code, and ends it cleanly', async () => {
  const folder = await aDataFolder() // a new one: the service prints a key only at its first start
  const service = await startService(['serve'], { TIDINGS_DATA: folder, TIDINGS_LOG_LEVEL: 'info' })
  const { key } = service.demo!
  const api = service.partnerApi.replace('/partner/v1', '/api/v1')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sendCode = async () => {
    const code = { channelType: 'FLASHCALL', senderName: 'shop', destination: '79160000001', content: '0042', ttl: 60 }
    const answer = await fetch(`${api}/message`, { method: 'POST', headers, body: JSON.stringify(code) })
    const { items } = (await answer.json()) as { items: { messageUuid: string }[] }
    await eventually(async () => {
      const shown = await (await fetch(`${api}/message/${items[0]!.messageUuid}`, { headers })).json()
      expect(shown).toMatchObject({ status: 'delivered' })
    })
  }
  expect(service.stderr()).not.toContain('codes_thread')
  await sendCode()
  await eventually(() => expect(service.stderr()).toContain('"msg":"codes_thread.ready"'))
  await sendCode()
  expect(service.stderr()).not.toContain('codes_thread.failed')
  service.child.kill('SIGTERM')
  expect(await service.ended).toMatchObject({ code: 0, signal: null })
  await expectNothingRunning(folder)
})

test('an ordinary user can run it', async context => {
  if (process.getuid?.() !== 0) context.skip('the tests run as an ordinary user anyway')
  const program = fileURLToPath(new URL('../../../bin/tidings', import.meta.url))
  if (spawnSync(program, ['--help'], { ...NOBODY, cwd: '/' }).status !== 0) {
    context.skip('the unprivileged user cannot reach node or this project')
  }
  const folder = await aDataFolder()
  await chown(dirname(folder), NOBODY.uid, NOBODY.gid)
  const service = await startService(['serve'], { TIDINGS_DATA: folder }, NOBODY)
  const client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
  await untilStatus(client, await newSender(client, 1), 'APPROVED')
  expect(await stop(service)).toMatchObject({ code: 0, stderr: '' })
  await expectNothingRunning(folder)
})

describe('a database of ones own', () => {
  let env: Env
  let folder: string
  let silent: { server: Server; told: Promise<Awaited<ReturnType<typeof run>>> }
  const databases: string[] = []

  const aDatabase = async (): Promise<string> => {
    const name = `commands_${randomBytes(6).toString('hex')}`
    await onServer(admin => admin`create database ${admin(name)}`)
    databases.push(name)
    return databaseUrl(inject('serverUrl'), name)
  }

  beforeAll(async () => {
    folder = await aDataFolder()
    env = { TIDINGS_DATA: folder, TIDINGS_SECRET: SECRET }
    // Takes ten seconds to be given up, so it is asked first and looked at last.
    const { server, port } = await aTakenPort()
    const apart = { ...env, TIDINGS_DATA: await aDataFolder() }
    silent = { server, told: run(['serve'], { ...apart, DATABASE_URL: `postgres://tidings:hush@127.0.0.1:${port}/x` }) }
    env.DATABASE_URL = await aDatabase()
  })

  afterAll(async () => {
    for (const { pid } of await processesOf(folder)) signal(pid, 'SIGKILL')
    for (const name of databases) await onServer(admin => admin`drop database if exists ${admin(name)} with (force)`)
  })

  test('a database that does not answer is reported in one sentence, without the password', async () => {
    const { port, server } = await aTakenPort()
    server.close()
    await once(server, 'close')
    const ended = await run(['serve'], { ...env, DATABASE_URL: `postgres://tidings:hush@127.0.0.1:${port}/tidings` })
    expectSentence(ended, new RegExp(`The database at 127.0.0.1:${port}/tidings does not answer: .*Check DATABASE_URL`))
    expect(ended.stderr).not.toContain('hush')
  })

  test('without TIDINGS_SECRET it is refused', async () => {
    const { TIDINGS_SECRET, ...without } = env
    expectSentence(await run(['serve'], without), /TIDINGS_SECRET is required with DATABASE_URL/)
  })

  describe('several processes', () => {
    let apis: Service[]
    let engine: Running
    let client: Client

    beforeAll(async () => {
      engine = start(['engine'], env)
      apis = await Promise.all([startService(['api'], env), startService(['api'], env)])
      await firstOutput(engine, /The engine is up/)
    })

    test('starting at once on an empty database, they make its schema and no demo', async () => {
      expect(apis.map(api => api.demo)).toEqual([undefined, undefined])
      expect(await answerOf(['company', 'list'], env)).toEqual([])
      expect(await answerOf(['migrate'], env)).toEqual({ applied: [] })
      expect(existsSync(folder)).toBe(false) // nothing of the embedded server
    })

    test('the engine submits what the API took, and by default waits for staff', async () => {
      await answerOf(['partner', 'create', '--login', 'vesna', ...(await withPassword(folder, 'first word'))], env)
      client = await logIn(apis[0]!.partnerApi, 'vesna', 'first word')
      const company = { name: 'Весна', counteragentType: 'LEGAL', counteragentInn: '7700000025' }
      const { body } = await client('POST', '/company', { company })
      const senders = [await newSender(client, body.companyId)]
      await untilStatus(client, senders[0]!, 'PRE_REVIEW')
      senders.push(await newSender(client, body.companyId))
      await untilStatus(client, senders[1]!, 'PRE_REVIEW')
      await untilStatus(client, senders[0]!, 'PRE_REVIEW')
    })

    test('a password changed by command ends the tokens on every process at once', async () => {
      const clients = apis.map(api => clientOf(api.partnerApi, client.token))
      for (const ask of clients) expect((await ask('GET', '/company')).status).toBe(200)
      await answerOf(['partner', 'password', '--login', 'vesna', ...(await withPassword(folder, 'second word'))], env)
      for (const ask of clients) {
        expect(await ask('GET', '/company')).toMatchObject({ status: 401, body: { error: { code: 4010 } } })
      }
      for (const api of apis) await logIn(api.partnerApi, 'vesna', 'second word')
    })

    test('each stops cleanly, and the database stays', async () => {
      const ends = await Promise.all([...apis, engine].map(stop))
      expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: '' }))
      await expectNothingRunning(folder)
      expect(await answerOf(['company', 'list'], env)).toHaveLength(1)
    })
  })

  describe('the demo', () => {
    test('is not made unless asked for', async () => {
      const service = await startService(['serve'], env)
      expect(service.demo).toBeUndefined()
      await stop(service)
    })

    test('takes the password given at its first start, and at a later one', async () => {
      const demo = { ...env, DATABASE_URL: await aDatabase(), TIDINGS_DEMO: 'true' }
      for (const password of ['it\'s "$HOME"', 'another word']) {
        const service = await startService(['serve'], { ...demo, TIDINGS_DEMO_PASSWORD: password })
        expect(service.demo).toMatchObject({ password, companyId: 1, senderIds: [1, 2, 3, 4] })
        await logIn(service.partnerApi, 'demo', password)
        await stop(service)
      }
    })

    test('is made once when several begin together, and the login of staff may be taken', async () => {
      const demo = { ...env, DATABASE_URL: await aDatabase(), TIDINGS_DEMO: 'true', TIDINGS_MODERATION: 'auto' }
      expectSentence(await run(['company', 'list'], demo), /There is no Tidings data in the database of DATABASE_URL/)
      await answerOf(['migrate'], demo)
      await answerOf(['staff', 'create', '--login', 'staff', ...(await withPassword(folder, 'older than demo'))], demo)
      const services = await Promise.all([startService(['serve'], demo), startService(['serve'], demo)])
      const made = services.filter(service => service.demo!.key)
      expect(made).toHaveLength(1)
      expect(made[0]!.demo!.staffLogin).toBeUndefined()
      await logIn(services[1]!.partnerApi, 'demo', made[0]!.demo!.password!)
      expect(await answerOf(['company', 'list'], demo)).toHaveLength(3)
      await Promise.all(services.map(stop))
    })
  })

  test('a database that stops later: the service keeps running, answers 503, and continues when the database is back', async () => {
    const own = new URL(await aDatabase())
    const way = await aWayTo(Number(own.port))
    own.port = String(way.port)
    own.search = '' // the proxy has a port and no socket
    const service = await startService(['serve'], { ...env, DATABASE_URL: own.href })
    const statusOf = async (path: string) => (await fetch(service.url + path)).status
    const ask = () => fetch(`${service.partnerApi}/company`, { headers: { authorization: 'Bearer invented' } })
    await eventually(async () => expect(await statusOf('/readyz')).toBe(200))
    expect((await ask()).status).toBe(401)

    await way.close()
    await eventually(async () => expect(await statusOf('/readyz')).toBe(503))
    const refused = await ask()
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 503,
      body: { error: { code: 5030 } },
    })
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await statusOf('/healthz')).toBe(200)

    await way.open()
    await eventually(async () => expect(await statusOf('/readyz')).toBe(200))
    await eventually(async () => expect((await ask()).status).toBe(401))
    expect(service.child.exitCode).toBeNull()
    expect(await stop(service)).toMatchObject({ code: 0, signal: null })
    await way.close()
  })

  test('a database that accepts connections and never answers is reported after a time-out', async () => {
    const ended = await silent.told
    silent.server.close()
    expectSentence(ended, /does not answer: .*CONNECT_TIMEOUT/)
    expect(ended.stderr).not.toContain('hush')
  })
})

/** A proxy of the database. After it is closed, its connections end, and new connections fail. */
async function aWayTo(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const database = connectSocket(port, '127.0.0.1')
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  const open = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const own = await open(await freePort())
  return {
    port: own,
    open: () => open(own),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      await once(server, 'close')
    },
  }
}

async function onServer(work: (admin: ReturnType<typeof connect>) => Promise<unknown>) {
  const admin = connect(inject('serverUrl'), { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

async function expectSignIn(cabinet: string, logins: string[], password: string) {
  for (const login of logins) {
    const body = JSON.stringify({ login, password })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(new URL('api/session', cabinet), { method: 'POST', headers, body })
    expect([login, answer.status]).toEqual([login, 200])
  }
}
