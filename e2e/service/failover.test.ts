import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Pool } from '../../src/db/sql.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { hasPostgres, PostgresCluster, type PostgresServer } from '../../src/testing/postgres-cluster.ts'
import {
  answerOf,
  type Env,
  logIn,
  type Running,
  type Service,
  start,
  startService,
  stop,
  useDataFolders,
} from '../../src/testing/processes.ts'

const SECRET = 'invented for the tests, 32 characters and more'
const aDataFolder = useDataFolders()

/** Each test continues where the one before it ended: the primary changes, and no process is started again. */
describe.skipIf(!hasPostgres)("a failover under load (needs Debian's postgresql)", () => {
  let cluster: PostgresCluster
  let env: Env
  let service: Service
  let others: Running[]
  let sql: Pool
  let load: Load

  beforeAll(async () => {
    cluster = await PostgresCluster.start()
    await cluster.a.waitForStandby(cluster.b)
    env = {
      TIDINGS_DATA: await aDataFolder(),
      TIDINGS_SECRET: SECRET,
      TIDINGS_DEMO: 'true',
      TIDINGS_LOG_LEVEL: 'fatal',
      DATABASE_URL: cluster.url('?target_session_attrs=read-write'),
    }
    service = await startService(['serve'], env)
    const api = await startService(['api'], env)
    const engine = start(['engine', '--json'], env)
    await eventually(() => expect(engine.stdout()).toContain('started'))
    others = [api, engine]
    sql = connect(cluster.url(), { max: 2 })
    load = new Load([service.url, api.url], service.demo!.key!)
  })

  afterAll(async () => {
    await sql?.end({ timeout: 1 })
    await Promise.all([service, ...(others ?? [])].filter(Boolean).map(running => stop(running)))
    await cluster?.stop()
  })

  test('kill -9 of the primary, and its synchronous standby is promoted', async () => {
    const dispatchId = await startDispatch(service, 1500)
    await fail(async () => {
      await cluster.a.kill()
      await cluster.b.promote()
    })
    await expectAllDelivered(dispatchId)
  })

  test('a planned switch to a standby: the former primary comes back as a standby', async () => {
    const { a, b } = cluster
    await a.copy(b)
    await b.waitForStandby(a)
    await fail(async () => {
      await b.stop()
      await a.promote()
      await b.follow(a)
    })
    await expectAllDelivered()
  })

  test('a primary that hangs is replaced, and is not used when it wakes up', async () => {
    const { a, b } = cluster
    await a.waitForStandby(b)
    await fail(async () => {
      a.freeze()
      await b.promote()
    })
    a.thaw()
    await expectAllDelivered()
    expect(await portsInUse()).toEqual([b.port])
    await expectNoSessions(a)
    // A process that starts now sees two primaries.
    expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
  })

  /** Puts the failure into the middle of a load, and waits until every process has worked on. */
  async function fail(failure: () => Promise<void>) {
    load.start()
    await load.untilAccepted(10)
    await failure()
    await load.untilAccepted(10)
    await load.stop()
  }

  const portsInUse = async () => (await sql<{ port: number }[]>`select inet_server_port() as port`).map(row => row.port)

  /** Except the sessions that ask for the role of the server, and lost sessions whose commit waits for the standby for ever. */
  const expectNoSessions = (server: PostgresServer) =>
    eventually(() =>
      server.ask(async admin => {
        const rows = await admin`
          select application_name from pg_stat_activity
          where datname = 'tidings' and pid <> pg_backend_pid() and application_name <> 'tidings watch'
            and wait_event is distinct from 'SyncRep'`
        expect([...rows]).toEqual([])
      }),
    )

  /** No accepted message is lost, none is billed twice, and both engines are at work. */
  async function expectAllDelivered(dispatchId = 0) {
    await eventually(async () => {
      const open = await sql`
        select status, count(*)::int as messages from messages
        where status <> 'DELIVERED' and (dispatch_id = ${dispatchId} or message_uuid = any(${load.accepted}::uuid[]))
        group by status`
      expect([...open]).toEqual([])
    })
    const [found] = await sql<{ messages: number }[]>`
      select count(*)::int as messages from messages where message_uuid = any(${load.accepted}::uuid[])`
    expect(found?.messages).toBe(load.accepted.length)
    expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
    await eventually(async () => {
      const [row] = await sql`select count(*)::int as engines from engines where seen_at > now() - interval '3 seconds'`
      expect(row).toEqual({ engines: 2 })
    })
    await eventually(async () => {
      const listening = await sql`
        select count(*)::int as sessions from pg_stat_activity where query ilike 'listen %' and datname = 'tidings'`
      expect(listening[0]).toEqual({ sessions: 2 })
    })
    expect([service, ...others].map(({ child }) => child.exitCode)).toEqual([null, null, null])
  }
})

async function startDispatch(service: Service, count: number): Promise<number> {
  const client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
  const messages = Array.from({ length: count }, (_, i) => ({ destination: String(79160001000 + i) }))
  const form = { companyId: 1, name: 'Failover', senderIds: [1], channelType: 'SMS', text: 'Failover', messages }
  const { body } = await client('POST', '/dispatches', form)
  expect(body.success).toBe(count)
  await client('POST', `/dispatches/${body.id}/start`)
  return body.id
}

/** Clients that send single messages without a pause. A message is accepted when the answer says so. */
class Load {
  readonly #accepted = new Map<string, string[]>()
  readonly #key: string
  #clients: Promise<void>[] = []
  #isStopped = false

  constructor(urls: string[], key: string) {
    for (const url of urls) this.#accepted.set(url, [])
    this.#key = key
  }

  get accepted(): string[] {
    return [...this.#accepted.values()].flat()
  }

  start() {
    this.#isStopped = false
    this.#clients = [...this.#accepted].flatMap(([url, accepted]) => [
      this.#send(url, accepted),
      this.#send(url, accepted),
    ])
  }

  /** So many more messages, through each process. */
  async untilAccepted(more: number) {
    const wanted = [...this.#accepted.values()].map(accepted => [accepted, accepted.length + more] as const)
    await eventually(() => {
      for (const [accepted, count] of wanted) expect(accepted.length).toBeGreaterThanOrEqual(count)
    })
  }

  async stop() {
    this.#isStopped = true
    await Promise.all(this.#clients)
  }

  async #send(url: string, accepted: string[]) {
    while (!this.#isStopped) {
      const response = await fetch(`${url}/api/v1/message`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ channelType: 'SMS', senderName: 'ROMASHKA', destination: '79160000001', content: 'Hi' }),
      })
      const text = await response.text()
      if (response.status === 200) accepted.push(JSON.parse(text).items[0].messageUuid)
      else expect([response.status, response.headers.get('retry-after')], text).toEqual([503, '2'])
      await pause(10)
    }
  }
}
