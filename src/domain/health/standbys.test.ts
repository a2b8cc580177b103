import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Pool } from '../../db/sql.ts'
import { hasPostgres, PostgresCluster } from '../../testing/postgres-cluster.ts'
import { countStandbys } from './health.ts'
import { selectReplication } from './store.ts'

describe.skipIf(!hasPostgres)("the standbys of a primary (needs Debian's PostgreSQL)", () => {
  let cluster: PostgresCluster
  const receivers: Pool[] = []

  beforeAll(async () => {
    cluster = await PostgresCluster.startPrimary()
  })

  afterAll(async () => {
    await Promise.all(receivers.map(receiver => receiver.end({ timeout: 0 })))
    await cluster?.stop()
  })

  /** A connection for the WAL, as programs of this name open it. */
  async function receive(name: string) {
    const receiver = connect(`${cluster.a.url()}?replication=true`, { max: 1, name })
    receivers.push(receiver)
    await receiver.unsafe('IDENTIFY_SYSTEM')
  }

  test('are counted without programs that take a backup', async () => {
    await receive('walreceiver')
    await receive('pg_basebackup')
    await receive('pg_receivewal')
    await cluster.a.ask(async sql => {
      expect(await sql`select from pg_stat_replication`).toHaveLength(3)
      expect(await countStandbys(sql)).toBe(1)
      expect(await selectReplication(sql)).toMatchObject([{ replicas: 1 }])
    })
  })
})
