import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedServer, openEmbeddedServer } from '../../src/db/embedded/embedded.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { eventually } from '../../src/testing/eventually.ts'
import {
  beginRequest,
  type Client,
  childrenOf,
  type Env,
  expectNothingRunning,
  expectSentence,
  logIn,
  run,
  type Service,
  startService,
  useDataFolders,
} from '../../src/testing/processes.ts'

const aDataFolder = useDataFolders()
const PATIENCE_MS = 20_000

/** Several HTTP processes on one port and several engines: each test continues where the one before it ended. */
describe('serve --api 2 --engines 2', () => {
  let folder: string
  let env: Env
  let service: Service & { processes?: unknown }
  let client: Client

  beforeAll(async () => {
    folder = await aDataFolder()
    env = { TIDINGS_DATA: folder }
  })

  test('more processes than the database has connections for are refused, and nothing is left running', async () => {
    const refused = await run(['serve', '--api', '30'], env)
    expectSentence(
      refused,
      /30 HTTP processes and 1 engine may open 3\d\d connections .* allows 297: run fewer, lower TID/,
    )
    await expectNothingRunning(folder)
  })

  test('it starts two processes of each kind, prints once, and the metrics of one request show both', async () => {
    service = await startService(['serve', '--api', '2'], { ...env, TIDINGS_ENGINES: '2' })
    expect(service.processes).toEqual({ api: 2, engines: 2 })
    expect(service.stdout().trim().split('\n')).toHaveLength(1)
    expect(await childrenOf(folder, 'api')).toHaveLength(2)
    expect(await childrenOf(folder, 'engine')).toHaveLength(2)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)

    for (let i = 0; i < 20; i++) expect(await outcomeOf(service.url)).toBe('answered')
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const answered = countsOf(text, 'route="/healthz"')
    expect(answered.get('1')! + answered.get('2')!).toBe(20)
    expect(Math.min(...answered.values())).toBeGreaterThan(0)
    expect(text.match(/^# TYPE tidings_http_request_seconds /gm)).toHaveLength(1)
    expect(text).toMatch(/^tidings_engines 2$/m)
    client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
  })

  test('both engines send, and each message is sent once', () =>
    withSql(folder, async sql => {
      let sent = 0
      // A single engine may be quicker than the other one with a dispatch.
      await eventually(async () => {
        sent += await sendDispatch(client, 5000)
        expect(await enginesInOutbox(sql)).toBe(2)
      })
      const [outbox] = await sql<{ messages: number; different: number }[]>`
        select count(*)::int as messages, count(distinct message_uuid)::int as different
        from simulator_outbox() where text = 'Two engines'`
      expect(outbox).toEqual({ messages: sent, different: sent })
    }))

  test('kill -9 of an HTTP process under load: each connection is answered or closed, and the process comes back', async () => {
    const [killed, other] = await childrenOf(folder, 'api')
    const load = connectAgainAndAgain(service.url)
    await eventually(() => expect(load.outcomes.answered).toBeGreaterThan(50))
    process.kill(killed!, 'SIGKILL')
    const before = load.outcomes.answered
    await eventually(() => expect(load.outcomes.answered).toBeGreaterThan(before + 50)) // the other process answers
    await load.stop()
    expect(load.outcomes.hung).toBe(0)
    await eventually(async () => {
      const now = await childrenOf(folder, 'api')
      expect(now).toHaveLength(2)
      expect(now).toContain(other)
      expect(now).not.toContain(killed)
      expect(await outcomeOf(service.url)).toBe('answered')
      const text = await (await fetch(`${service.url}/metrics`)).text()
      expect([...countsOf(text, 'route="/healthz"').keys()].sort()).toEqual(['1', '2'])
    })
    expect(service.stderr()).toContain('"signal":"SIGKILL","msg":"api.died"')
  })

  test('SIGTERM: the open requests of both processes are answered, and no process is left', async () => {
    const form = JSON.stringify(dispatchOf(1000))
    const requests = await Promise.all(
      Array.from({ length: 6 }, () => beginRequest(client, `${service.partnerApi}/dispatches`, form)),
    )
    service.child.kill('SIGTERM')
    await eventually(async () => expect(await outcomeOf(service.url)).toBe('closed'))
    const answers = await Promise.all(requests.map(each => each.finish()))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(await service.ended).toMatchObject({ code: 0, signal: null })
    await expectNothingRunning(folder)
  })
})

/** Requests that each process has answered, by its number. */
function countsOf(metrics: string, label: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of metrics.split('\n').filter(line => line.startsWith('tidings_http_request_seconds_count{'))) {
    const [, process, value] = /process="(\d+)".*\} (\d+)$/.exec(line) ?? []
    if (process && line.includes(label)) counts.set(process, (counts.get(process) ?? 0) + Number(value))
  }
  return counts
}

type Outcome = 'answered' | 'closed' | 'hung'

/** One request over a connection of its own. */
function outcomeOf(url: string): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const sent = request(`${url}/healthz`, { agent: false, timeout: PATIENCE_MS }, response => {
    response.resume().on('end', () => resolve('answered'))
    response.on('error', () => resolve('closed'))
  })
  sent.on('timeout', () => {
    resolve('hung')
    sent.destroy()
  })
  sent.on('error', () => resolve('closed')).end()
  return promise
}

/** Sixteen clients at once that open a connection for each request. */
function connectAgainAndAgain(url: string) {
  const outcomes: Record<Outcome, number> = { answered: 0, closed: 0, hung: 0 }
  let isStopped = false
  const clients = Array.from({ length: 16 }, async () => {
    while (!isStopped) outcomes[await outcomeOf(url)] += 1
  })
  return {
    outcomes,
    stop: () => {
      isStopped = true
      return Promise.all(clients)
    },
  }
}

const dispatchOf = (count: number) => ({
  companyId: 1,
  name: 'Two engines',
  senderIds: [1],
  channelType: 'SMS',
  text: 'Two engines',
  messages: Array.from({ length: count }, (_, i) => ({ destination: String(79160001000 + i) })),
})

/** Creates and starts a dispatch, and waits for its end. */
async function sendDispatch(client: Client, count: number): Promise<number> {
  const { body } = await client('POST', '/dispatches', dispatchOf(count))
  expect(body.success).toBe(count)
  await client('POST', `/dispatches/${body.id}/start`)
  await eventually(async () =>
    expect((await client('GET', `/dispatches/${body.id}`)).body).toMatchObject({ status: 'COMPLETED' }),
  )
  return count
}

/** Each engine has its own connection to a simulated operator, and its name is in the outbox. */
async function enginesInOutbox(sql: Pool): Promise<number> {
  const rows = await sql<{ engines: number }[]>`
    select count(distinct worker)::int as engines from simulator_outbox() where text = 'Two engines' group by gateway_id`
  return Math.max(...rows.map(({ engines }) => engines))
}

async function withSql(folder: string, work: (sql: Pool) => Promise<void>) {
  const server: EmbeddedServer = await openEmbeddedServer({ dataDir: folder })
  const sql = connect(server.url, { max: 1 })
  try {
    await work(sql)
  } finally {
    await sql.end()
    await server.release()
  }
}
