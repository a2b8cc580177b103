import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timeOfUuid7 } from '../../src/base/uuid7.ts'
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
      return cluster.b.promote()
    })
    await expectAllDelivered(dispatchId)
  })

  test('a planned switch to a standby: the former primary comes back as a standby', async () => {
    const { a, b } = cluster
    await a.copy(b)
    await b.waitForStandby(a)
    await fail(async () => {
      await b.stop()
      const promotedAt = await a.promote()
      await b.follow(a)
      return promotedAt
    })
    await expectAllDelivered()
  })

  test('a primary that hangs is replaced, and is not used when it wakes up', async () => {
    const { a, b } = cluster
    await a.waitForStandby(b)
    await fail(async () => {
      a.freeze()
      return b.promote()
    })
    a.thaw()
    await expectAllDelivered()
    expect(await portsInUse()).toEqual([b.port])
    await expectNoSessions(a)
    // A process that starts now sees two primaries.
    expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
  })

  test('an asynchronous standby is promoted: the commits that it did not have are lost, and only these', async () => {
    const { a, b } = cluster
    const before = load.accepted.length
    const [kept] = await sql`select count(*) as messages from messages where status = 'DELIVERED'`
    await a.kill()
    await a.copy(b)
    await answerOf(['gateway', 'pause', '--gateway', 'simulator-sms'], env)
    const waiting = await post('waiting')
    await a.cutOff(b)

    // The standby has none of these.
    const lost = await post('lost')
    await answerOf(['gateway', 'resume', '--gateway', 'simulator-sms'], env)
    await eventually(async () => expect(await statusesOf(waiting, lost)).toEqual(['DELIVERED', 'DELIVERED']))
    const topUp = ['company', 'topup', '--company', '1', '--amount', '77.7']
    const { balance } = await answerOf(topUp, env)
    const shownBefore = await Promise.all([waiting, lost].map(shown))
    expect(shownBefore).toEqual([200, 200])

    await b.kill()
    // Read before the promotion: after it, engines send waiting messages until they have read that the gateway is paused.
    await a.ask(async standby => {
      expect(
        await standby`select message_uuid, status from messages where message_uuid = any(${[waiting, lost]}::uuid[])`,
      ).toEqual([{ messageUuid: waiting, status: 'CREATED' }])
      const [gateway] = await standby`select paused from gateways where name = 'simulator-sms'`
      expect(gateway).toEqual({ paused: true })
      const [found] = await standby`
        select count(*) as messages from messages
        where status = 'DELIVERED' or message_uuid = any(${load.accepted}::uuid[])`
      expect([load.accepted.length, found]).toEqual([before, kept])
    })
    await a.promote()
    await eventually(async () => expect(await portsInUse()).toEqual([a.port]))
    await eventually(async () => expect(await shown(waiting)).toBe(200))
    expect(await shown(lost)).toBe(404)
    expect(await answerOf(['ledger', 'verify'], env)).toEqual([])

    // Everything can be made again, and is charged once.
    const again = await post('lost')
    expect(again).not.toBe(lost)
    await answerOf(['gateway', 'resume', '--gateway', 'simulator-sms'], env)
    await eventually(async () => expect(await statusesOf(waiting, again)).toEqual(['DELIVERED', 'DELIVERED']))
    expect((await answerOf(topUp, env)).balance).toBe(balance)
    await expectAllDelivered()
  })

  /** Posts a message with its text as the Idempotency-Key, and returns its id. Waits while the service has no database. */
  const post = (content: string): Promise<string> =>
    eventually(async () => {
      const response = await fetch(`${service.url}/api/v1/message`, {
        method: 'POST',
        headers: { ...headers(), 'idempotency-key': content },
        body: JSON.stringify({ channelType: 'SMS', senderName: 'ROMASHKA', destination: '79160000001', content }),
      })
      expect(response.status).toBe(200)
      return ((await response.json()) as { items: { messageUuid: string }[] }).items[0]!.messageUuid
    })

  const headers = () => ({ authorization: `Bearer ${service.demo!.key}`, 'content-type': 'application/json' })

  const shown = async (uuid: string) =>
    (await fetch(`${service.url}/api/v1/message/${uuid}`, { headers: headers() })).status

  const statusesOf = async (...uuids: string[]) =>
    (await sql<{ status: string }[]>`select status from messages where message_uuid = any(${uuids}::uuid[])`).map(
      ({ status }) => status,
    )

  /**
   * Puts the failure into the middle of a load, and waits until every process has worked on. The failure returns the time
   * of the promotion.
   */
  async function fail(failure: () => Promise<Date>) {
    load.start()
    await load.untilAccepted(10)
    const promotedAt = await failure()
    const reports = firstReports(promotedAt)
    await load.untilAccepted(10)
    await load.stop()
    expectRecovered(promotedAt, [...load.firstSince(promotedAt), ...(await reports)])
  }

  /** When each of the two engines first reported to the new primary, by its clock. */
  const firstReports = (promotedAt: Date): Promise<Date[]> =>
    eventually(async () => {
      const rows = await sql<{ seenAt: Date }[]>`select seen_at from engines where seen_at > ${promotedAt}`
      expect(rows).toHaveLength(2)
      return rows.map(({ seenAt }) => seenAt)
    })

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

/** Ten seconds are promised. A busy machine takes longer. */
const MOST_RECOVERY_SECONDS = 60

/** The times are of rows in the database, one for each process. */
function expectRecovered(promotedAt: Date, firsts: Date[]) {
  const seconds = firsts.map(first => (first.getTime() - promotedAt.getTime()) / 1000)
  console.log(`seconds from the promotion to the first commit of each process: ${seconds.join(', ')}`)
  expect(seconds).toHaveLength(4)
  expect(Math.max(...seconds)).toBeLessThan(MOST_RECOVERY_SECONDS)
}

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

  /** The time of the first message that each process accepted after this time, by its id. */
  firstSince(time: Date): Date[] {
    return [...this.#accepted.values()].map(accepted => {
      const times = accepted.map(uuid => timeOfUuid7(uuid).getTime()).filter(at => at > time.getTime())
      return new Date(Math.min(...times))
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
