import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedServer } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { connect, type Pool } from '../src/db/sql.ts'
import { brands } from '../src/domain/numbering/brand.ts'
import { aCompany, aPartner, aSender, type TestPartner } from '../src/testing/factories.ts'
import { type Child, startChild } from './child.ts'

/** What a bench plays on: a fresh database with every commit on disk, and a partner with a name at each operator. */
export type Stage = {
  url: string
  sql: Pool
  partner: TestPartner
  companyId: number
  senderIds: number[]
  startService(env?: Record<string, string>): Promise<Child>
  startBare(): Promise<Child>
  startEngine(env?: Record<string, string>): Promise<Child>
}

/** Prepares one bench and always cleans up: it ends the children and the server and deletes the folder. */
export function onStage<T>(play: (stage: Stage) => Promise<T>): Promise<T> {
  return onStages(1, ([stage]) => play(stage!))
}

/** Several stages side by side, each with a server of its own. */
export function onStages<T>(count: number, play: (stages: Stage[]) => Promise<T>): Promise<T> {
  return withCleanups(async cleanups => {
    const stages: Stage[] = []
    while (stages.length < count) stages.push(await setStage(cleanups))
    return play(stages)
  })
}

export type Cleanups = (() => Promise<unknown>)[]

/** Does the clean-ups in reverse order at the end, also when the bench is interrupted. */
export async function withCleanups<T>(play: (cleanups: Cleanups) => Promise<T>): Promise<T> {
  const cleanups: Cleanups = []
  let cleared: Promise<void> | undefined
  const clear = () => (cleared ??= clearAll(cleanups))
  const leave = () => void clear().finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    return await play(cleanups)
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    await clear()
  }
}

async function clearAll(cleanups: Cleanups) {
  for (const cleanup of cleanups.reverse()) await cleanup().catch(error => console.error(error))
}

async function setStage(cleanups: Cleanups): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }))
  const server = await openEmbeddedServer({ dataDir })
  cleanups.push(() => server.release())
  return stageOn(server.url, cleanups)
}

/** On an empty database of a server that the bench has started. `prepare` runs when the schema is there. */
export async function stageOn(
  url: string,
  cleanups: Cleanups,
  prepare: (sql: Pool) => Promise<unknown> = async () => {},
): Promise<Stage> {
  const sql = connect(url, { name: 'tidings bench' })
  cleanups.push(() => sql.end({ timeout: 0 }))
  await migrate(sql)
  await prepare(sql)

  const partner = await aPartner(sql)
  const companyId = await aCompany(sql, partner)
  const senders = await sendersOf(sql, companyId)
  const start = async (file: string, env: Record<string, string> = {}) => {
    const child = await startChild(file, { DATABASE_URL: url, PARTNER_ID: String(partner.partnerId), ...env })
    cleanups.push(child.stop)
    return child
  }
  return {
    url,
    sql,
    partner,
    companyId,
    senderIds: senders,
    startService: env => start('service.ts', env),
    startBare: () => start('bare.ts'),
    startEngine: env => start('engine-process.ts', env),
  }
}

/** A name at each operator. */
export async function sendersOf(sql: Pool, companyId: number): Promise<number[]> {
  const senders = await Promise.all(brands.map(brand => aSender(sql, companyId, { brand })))
  return senders.map(({ senderId }) => senderId)
}
