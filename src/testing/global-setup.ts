import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openEmbeddedServer } from '../db/embedded/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { connect } from '../db/sql.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated template that each test file clones (`useDatabase`).
 * Durability is off, because the tests of crashes start their own servers. TIDINGS_TEST_DATABASE_URL names an existing
 * server to use instead.
 */
export default async function setup(project: TestProject) {
  const outside = process.env.TIDINGS_TEST_DATABASE_URL
  const server = outside ? undefined : await startServer()
  const url = outside ?? server!.url
  await makeTemplate(url)
  project.provide('serverUrl', url)
  return () => server?.stop()
}

async function startServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  const server = await openEmbeddedServer({
    dataDir,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off', // each of hundreds of small databases exists for some seconds
      max_connections: '200',
    },
  })
  return {
    url: server.url,
    async stop() {
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function makeTemplate(url: string) {
  const admin = connect(url, { max: 1 })
  await admin`drop database if exists tidings_template`
  await admin`create database tidings_template`
  await admin.end()

  const template = connect(databaseUrl(url, 'tidings_template'), { max: 2 })
  await migrate(template)
  await template.end()
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
