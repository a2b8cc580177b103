import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../testing/world.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordWithin } from './recording.ts'

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** How many messages the status reports change, and how many of these without touching an index. */
const record = (statusReports: StatusReport[]) =>
  db.sql.begin(async sql => {
    const before = await counters(sql)
    await recordWithin(sql, db.sql, world.companyId, statusReports, { billingZone, now: new Date() })
    const after = await counters(sql)
    return { changed: after.changed - before.changed, within: after.within - before.within }
  })

/**
 * PostgreSQL reuses the room of changed rows when no session can still read them: no older transaction runs on the
 * server, in the database of another test either, and no worker of autovacuum reads with an older snapshot.
 */
async function roomIsFree() {
  const [now] = await db.sql<{ xid: string }[]>`select pg_current_xact_id()::xid as xid`
  const { xid } = now!
  await eventually(async () => {
    const [older] = await db.sql<{ sessions: number; transactions: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot())::text::bigint <= ${xid}::bigint as transactions,
        (select count(*)::int from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()
           and age(backend_xmin) >= age(${xid}::xid)) as sessions`
    expect(older).toEqual({ sessions: 0, transactions: false })
  })
}

async function counters(sql: Transaction) {
  const [row] = await sql<{ changed: number; within: number }[]>`
    select coalesce(sum(n_tup_upd), 0)::bigint as changed, coalesce(sum(n_tup_hot_upd), 0)::bigint as within
    from pg_stat_xact_user_tables where relname like 'messages\\_%'`
  return row!
}

test('half of the steps of messages touch no index: their pages have room for what changes', async () => {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(3000))
  await start(db.sql, world, dispatchId)
  const rows = await db.sql<
    { uuid: string }[]
  >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by 1`
  const uuids = rows.map(({ uuid }) => uuid)

  const sent = await record(uuids.map(uuid => ({ uuid, sentAt: new Date() })))
  expect(sent.changed).toBe(3000)
  expect(sent.within).toBeGreaterThan(1000)
  await roomIsFree()
  const ended = await record(uuids.map(uuid => ({ uuid, final: { status: 'DELIVERED' as const, at: new Date() } })))
  expect(ended.changed).toBe(3000)
  expect(ended.within).toBeGreaterThan(1500)
})
