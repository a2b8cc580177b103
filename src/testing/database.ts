import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import { connect, type Pool } from '../db/sql.ts'
import { databaseUrl } from './global-setup.ts'

/** Limits for pools of tests: a test keeps transactions open, and lets others wait for locks, until a condition holds. */
export const PATIENT = { idleInTransactionMs: 0, lockMs: 240_000 }

export type TestDatabase = { sql: Pool; url: string }

/** A migrated database for this test file, cloned from the template. Use its members only inside tests and hooks. */
export function useDatabase(): TestDatabase {
  const database = {} as TestDatabase
  const name = `test_${randomBytes(6).toString('hex')}`

  beforeAll(async () => {
    await onServer(admin => admin`create database ${admin(name)} template tidings_template strategy file_copy`)
    database.url = databaseUrl(inject('serverUrl'), name)
    database.sql = connect(database.url, { max: 10, ...PATIENT })
  })

  afterAll(async () => {
    await database.sql?.end({ timeout: 1 })
    await onServer(admin => admin`drop database if exists ${admin(name)} with (force)`)
  })

  return database
}

/** How many sessions of this database wait for a lock. The view `pg_locks` names no database for locks of rows. */
export async function countLockWaits(sql: Pool): Promise<number> {
  const waiting = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return waiting.length
}

/** The rows that every node of a Citus cluster has for itself. */
export async function onEveryNode<Row>(
  { url }: TestDatabase,
  work: (sql: Pool) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const found: Row[] = []
  for (const node of [inject('serverUrl'), ...inject('workerUrls')]) {
    const sql = connect(databaseUrl(node, new URL(url).pathname.slice(1)), { max: 1 })
    found.push(...(await work(sql).finally(() => sql.end())))
  }
  return found
}

/** On every node of a Citus cluster. */
async function onServer(work: (admin: Pool) => Promise<unknown>) {
  for (const url of [inject('serverUrl'), ...inject('workerUrls')]) {
    const admin = connect(url, { max: 1 })
    try {
      await work(admin)
    } finally {
      await admin.end()
    }
  }
}
