import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import { connect, type Pool } from '../db/sql.ts'
import { databaseUrl } from './global-setup.ts'

export type TestDatabase = { sql: Pool; url: string }

/** A migrated database for this test file, cloned from the template. Use its members only inside tests and hooks. */
export function useDatabase(): TestDatabase {
  const database = {} as TestDatabase
  const name = `test_${randomBytes(6).toString('hex')}`

  beforeAll(async () => {
    await onServer(admin => admin`create database ${admin(name)} template tidings_template strategy file_copy`)
    database.url = databaseUrl(inject('serverUrl'), name)
    // Tests keep transactions open while they wait for conditions.
    database.sql = connect(database.url, { max: 10, idleInTransactionMs: 0 })
  })

  afterAll(async () => {
    await database.sql?.end({ timeout: 1 })
    await onServer(admin => admin`drop database if exists ${admin(name)} with (force)`)
  })

  return database
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
