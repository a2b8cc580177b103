import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { connect } from '../../src/db/sql.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { hasPgBouncer, PostgresCluster } from '../../src/testing/postgres-cluster.ts'
import {
  answerOf,
  type Client,
  type Env,
  expectSentence,
  logIn,
  run,
  type Service,
  startService,
  stop,
  useDataFolders,
} from '../../src/testing/processes.ts'

const SECRET = 'invented for the tests, 32 characters and more'
const aDataFolder = useDataFolders()

describe.skipIf(!hasPgBouncer)(
  "PgBouncer in transaction mode, and a standby for reads (needs Debian's pgbouncer)",
  () => {
    let cluster: PostgresCluster
    let pooler: string
    let env: Env
    let service: Service
    let client: Client

    beforeAll(async () => {
      cluster = await PostgresCluster.start()
      pooler = await cluster.startPgBouncer(cluster.a)
      env = {
        TIDINGS_DATA: await aDataFolder(),
        TIDINGS_SECRET: SECRET,
        TIDINGS_DEMO: 'true',
        TIDINGS_METRICS: 'true',
        TIDINGS_LOG_LEVEL: 'fatal',
        TIDINGS_PREPARE: 'off',
        TIDINGS_READ_LAG_SECONDS: '1',
        DATABASE_URL: pooler,
        TIDINGS_LISTEN_URL: cluster.a.url(),
        TIDINGS_READ_URL: cluster.b.url(),
      }
      service = await startService(['serve'], env)
      client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
    })

    afterAll(async () => {
      if (service) await stop(service)
      await cluster?.stop()
    })

    test('messages and a dispatch are delivered, and the ledger is exact', async () => {
      const posted = await Promise.all(Array.from({ length: 20 }, (_, i) => post(`Single ${i}`)))
      expect(posted.map(({ status }) => status)).toEqual(Array(20).fill(200))
      const dispatchId = await sendDispatch(200)
      await cluster.a.ask(sql =>
        eventually(async () => {
          const open = await sql`
          select status, count(*)::int as messages from messages
          where status <> 'DELIVERED' and (dispatch_id = ${dispatchId} or text like 'Single %') group by status`
          expect([...open]).toEqual([])
        }),
      )
      expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
    })

    test('engines listen past the pooler', () =>
      cluster.a.ask(async sql => {
        const rows = await sql`
        select application_name from pg_stat_activity where query ilike 'listen %' and datname = 'tidings'`
        expect([...rows]).toEqual([{ applicationName: 'tidings listen' }])
      }))

    test('each transaction has the limits of waiting, and leaves none behind in the session', async () => {
      const settings = {
        databaseUrl: pooler,
        databaseConnections: 1,
        dataDir: undefined,
        secret: SECRET,
        prepare: false,
      }
      const { sql, close } = await openDatabase(settings, {})
      const limits = () => sql`
      select current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`
      const within = await sql.begin(
        tx => tx`
        select current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`,
      )
      expect([...within]).toEqual([{ lock: '7s', idle: '5s' }])
      expect([...(await limits())]).toEqual([{ lock: '0', idle: '0' }])
      await expect(sql.listen('tidings_lanes', () => {})).rejects.toThrow('set TIDINGS_LISTEN_URL')
      await close()
    })

    test('no statement is lost when more are sent at the same time than there are connections', async () => {
      const sql = connect(pooler, { max: 1, prepare: false, isPooled: true })
      await sql`create table locked (id int)`
      const isLocked = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<void>()
      const lock = cluster.a.ask(sql =>
        sql.begin(async tx => {
          await tx`lock table locked`
          isLocked.resolve()
          await ended.promise
        }),
      )
      await isLocked.promise
      const first = sql`select 1 as one`
      // The server cannot describe this statement before the lock is gone. The pooler must not forget it until then.
      const second = sql`select from locked where id = ${1}`
      const third = sql.unsafe('select 3 as three')
      const all = Promise.all([first, second, third])
      await first
      ended.resolve()
      await lock
      expect((await all).map(rows => [...rows])).toEqual([[{ one: 1 }], [], [{ three: 3 }]])
      await sql.end()
    })

    test('prepared statements are refused in one sentence by a pooler that is too old for them', async () => {
      expectSentence(
        await run(['ledger', 'verify'], { ...env, TIDINGS_PREPARE: 'on' }),
        /The pooler of DATABASE_URL loses prepared statements: set TIDINGS_PREPARE=off, or use PgBouncer 1\.21 or newer/,
      )
    })

    test('searches go to the standby, and to the primary while the standby is too far behind', async () => {
      await untilReplicaUsed(1)
      const before = await scansOfStandby()
      await eventually(async () => {
        await search()
        expect(await scansOfStandby()).toBeGreaterThan(before)
      })

      await cluster.b.ask(sql => sql`select pg_wal_replay_pause()`)
      await post('After the pause')
      await untilReplicaUsed(0)
      expect(await search()).toContain('After the pause')
      const ready = (await (await fetch(`${service.url}/readyz`)).json()) as { warnings: string[] }
      expect(ready.warnings).toEqual([expect.stringMatching(/^The standby of TIDINGS_READ_URL is \d+ s behind/)])

      await cluster.b.ask(sql => sql`select pg_wal_replay_resume()`)
      await untilReplicaUsed(1)
      expect(await search()).toContain('After the pause')
    })

    test('a standby that is gone is replaced by the primary, and is missing in the metrics', async () => {
      await untilMetrics('tidings_standbys 1\n')
      await cluster.b.kill()
      expect(await search()).toContain('After the pause')
      await untilReplicaUsed(0)
      expect(await search()).toContain('After the pause')
      await untilMetrics('tidings_standbys 0\n')
    })

    /** How often messages were looked for. The server counts some time after the statement. */
    const scansOfStandby = () =>
      cluster.b.ask(async sql => {
        const [row] = await sql<{ scans: number }[]>`
          select sum(seq_scan + coalesce(idx_scan, 0))::bigint as scans from pg_stat_user_tables
          where relname like 'messages%'`
        return row?.scans ?? 0
      })

    const headers = () => ({ authorization: `Bearer ${service.demo!.key}`, 'content-type': 'application/json' })

    const post = (content: string) =>
      fetch(`${service.url}/api/v1/message`, {
        method: 'POST',
        headers: headers(),
        body: JSON.stringify({ channelType: 'SMS', senderName: 'ROMASHKA', destination: '79160000001', content }),
      })

    async function search(): Promise<string[]> {
      const response = await fetch(`${service.url}/api/v1/message?channel_type=SMS&per_page=10`, { headers: headers() })
      const { items } = (await response.json()) as { items: { content: string | { text: string } }[] }
      return items.map(({ content }) => (typeof content === 'string' ? content : content.text))
    }

    async function sendDispatch(count: number): Promise<number> {
      const messages = Array.from({ length: count }, (_, i) => ({ destination: String(79160001000 + i) }))
      const form = { companyId: 1, name: 'Pooler', senderIds: [1], channelType: 'SMS', text: 'Pooler', messages }
      const { body } = await client('POST', '/dispatches', form)
      expect(body.success).toBe(count)
      await client('POST', `/dispatches/${body.id}/start`)
      return body.id
    }

    const untilReplicaUsed = (used: 0 | 1) => untilMetrics(`tidings_replica_used ${used}`)

    const untilMetrics = (line: string) =>
      eventually(async () => {
        expect(await (await fetch(`${service.url}/metrics`)).text()).toContain(line)
      })
  },
)
