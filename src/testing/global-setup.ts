import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openEmbeddedServer } from '../db/embedded/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { distribute } from '../db/sharding/distribute.ts'
import { connect, type Pool } from '../db/sql.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** The addresses of the other nodes of a Citus cluster. Empty with plain PostgreSQL. */
    workerUrls: string[]
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated template that each test file clones (`useDatabase`).
 * Durability is off, because the tests of crashes start their own servers. TIDINGS_TEST_DATABASE_URL names an existing
 * server to use instead. It may name several nodes of a Citus cluster, the coordinator first: then the template is
 * sharded.
 */
export default async function setup(project: TestProject) {
  const outside = process.env.TIDINGS_TEST_DATABASE_URL
  const server = outside ? undefined : await startServer()
  const [url, ...workers] = outside?.split(',') ?? [server!.url]
  await makeTemplate(url!, workers)
  project.provide('serverUrl', url!)
  project.provide('workerUrls', workers)
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
      max_connections: '300',
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

const TEMPLATE = 'tidings_template'

async function makeTemplate(url: string, workers: string[]) {
  for (const node of [url, ...workers]) await makeEmptyTemplate(node, workers.length > 0)
  const template = connect(databaseUrl(url, TEMPLATE), { max: 2 })
  await migrate(template)
  if (workers.length > 0) await shard(template, url, workers)
  await template.end()
  for (const node of workers.length > 0 ? [url, ...workers] : []) await closeTemplate(node)
}

/** A database with connections cannot be cloned, and Citus keeps one of its own. */
async function closeTemplate(node: string) {
  const admin = connect(node, { max: 1 })
  await admin`alter database ${admin(TEMPLATE)} allow_connections false`
  await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${TEMPLATE}`
  await admin.end()
}

async function makeEmptyTemplate(node: string, isOfCluster: boolean) {
  const admin = connect(node, { max: 1 })
  await admin`drop database if exists ${admin(TEMPLATE)} with (force)`
  await admin`create database ${admin(TEMPLATE)}`
  await admin.end()
  if (!isOfCluster) return
  const template = connect(databaseUrl(node, TEMPLATE), { max: 1 })
  await template`create extension citus`
  await template.end()
}

/** A clone of the template needs no own entry of the nodes: Citus connects to the database of the same name. */
async function shard(template: Pool, url: string, workers: string[]) {
  const addressOf = (node: string) => [new URL(node).hostname, Number(new URL(node).port)] as const
  const [host, port] = addressOf(url)
  await template`select citus_set_coordinator_host(${host}, ${port})`
  for (const [host, port] of workers.map(addressOf)) await template`select citus_add_node(${host}, ${port})`
  await distribute(template, { shards: 2 * workers.length })
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
