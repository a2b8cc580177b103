import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { UsageError } from '../../base/errors.ts'
import { type Migration, readMigrations, schemaVersionsOf } from '../../db/migrate.ts'
import { recordEngine, removeEngine } from '../../domain/engines/engines.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { migrateStoppingOlder, refuseOlderPrograms } from './older-programs.ts'

const db = useDatabase()
const vitals = { host: 'one', pid: 7, version: '0.1.0', memoryBytes: 1, loopDelayMs: 0 }
afterEach(() => db.sql`delete from engines`)

async function anEngineOf(schemaVersion?: number): Promise<string> {
  const worker = randomUUID()
  await recordEngine(db.sql, worker, 0, { ...vitals, ...(schemaVersion ? { schemaVersion } : {}) })
  return worker
}

test('a contracting migration is refused while an older program runs, and the sentence names its process', async () => {
  const refuse = refuseOlderPrograms(db.sql)
  await anEngineOf(16)
  await refuse(16)
  const killed = await anEngineOf(15)
  await expect(refuse(16)).rejects.toThrow(
    new UsageError(
      'The next migration removes what programs before schema version 16 use, and these run: engine one:7 (0.1.0, schema 15). Stop them first, or run `tidings migrate --stop-older`.',
    ),
  )
  await db.sql`update engines set seen_at = now() - interval '11 seconds' where worker = ${killed}`
  await refuse(16)
  await anEngineOf() // a program that does not state its version
  await expect(refuse(16)).rejects.toThrow('engine one:7 (0.1.0, before schema 15)')
})

describe('with --stop-older', () => {
  const waitedFor: string[] = []
  afterEach(() => waitedFor.splice(0))

  /** A contracting migration that follows the applied ones. */
  async function contracting(text: string) {
    const migrations = await readMigrations()
    const version = migrations.length + 1
    const next = { version, name: 'pretended', text: `-- contract, minimum_version ${version}\n${text}` }
    return { version, migrations: [...migrations, next] }
  }

  const migrating = (migrations: Migration[], patienceMs?: number) =>
    migrateStoppingOlder(db.sql, names => waitedFor.push(names), {
      migrations,
      ...(patienceMs === 0 && { patienceMs }),
    })

  const minimum = async () => (await schemaVersionsOf(db.sql)).minimum

  test('when a program does not stop, the migration is given up, and older programs may start again', async () => {
    await anEngineOf(15)
    const { migrations } = await contracting('select 1')
    await expect(migrating(migrations, 0)).rejects.toThrow(
      'These processes do not stop: engine one:7 (0.1.0, schema 15). Stop them.',
    )
    expect(await minimum()).toBe(0)
  })

  test('a signal during the wait gives the migration up, and older programs may start again', async () => {
    await anEngineOf(15)
    const { version, migrations } = await contracting('select 1')
    const outcome = migrating(migrations).catch(error => error)
    await eventually(() => expect(waitedFor.length).toBeGreaterThan(0))
    expect(await minimum()).toBe(version)
    process.emit('SIGHUP')
    expect(await outcome).toEqual(new UsageError('The migration was interrupted. Older programs may start again.'))
    expect(await minimum()).toBe(0)
    expect(process.listenerCount('SIGHUP')).toBe(0) // the next signal ends the process
  })

  test('after a signal, the message does not say that older programs may start again when they may not', async () => {
    await anEngineOf(15)
    const { version, migrations } = await contracting('select 1')
    const outcome = migrating(migrations).catch(error => error)
    await eventually(() => expect(waitedFor.length).toBeGreaterThan(0))
    await db.sql.unsafe(`alter table schema_compatibility add constraint kept check (minimum_version = ${version})`)
    process.emit('SIGHUP')
    expect(await outcome).toEqual(new UsageError('The migration was interrupted.'))
    expect(await minimum()).toBe(version)
    await db.sql`alter table schema_compatibility drop constraint kept`
    await db.sql`update schema_compatibility set minimum_version = 0`
  })

  test('a signal just before the migration begins gives it up too', async () => {
    const older = await anEngineOf(15)
    const { version, migrations } = await contracting('select 1')
    let removed: Promise<unknown> | undefined
    const onWaiting = () => {
      removed ??= Promise.all([removeEngine(db.sql, older)])
      process.emit('SIGHUP')
    }
    await expect(migrateStoppingOlder(db.sql, onWaiting, { migrations })).rejects.toThrow('interrupted')
    await removed
    expect(await schemaVersionsOf(db.sql)).toEqual({ version: version - 1, minimum: 0 })
  })

  test('when the migration cannot be applied, older programs may start again', async () => {
    const { migrations } = await contracting('drop table of_another_name')
    await expect(migrating(migrations)).rejects.toThrow('table "of_another_name" does not exist')
    expect(await minimum()).toBe(0)
  })

  test('a signal while the migration waits for a lock gives it up too', async () => {
    const { version, migrations } = await contracting('alter table messages drop column text')
    await db.sql.begin(async reader => {
      await reader`select from messages`
      const outcome = migrating(migrations).catch(error => error)
      await eventually(async () => expect(await minimum()).toBe(version))
      process.emit('SIGHUP')
      expect((await outcome).message).toContain('interrupted')
    })
    expect(await minimum()).toBe(0)
  })

  test('older programs are told to stop first, and the migration waits for their end', async () => {
    const older = await anEngineOf(15)
    const { version, migrations } = await contracting('select 1')
    let isDone = false
    const migrated = migrating(migrations).finally(() => {
      isDone = true
    })
    await eventually(() => expect(waitedFor.length).toBeGreaterThan(0))
    expect(await minimum()).toBe(version)
    expect({ isDone, waitedFor: waitedFor[0] }).toEqual({ isDone: false, waitedFor: 'engine one:7 (0.1.0, schema 15)' })
    await removeEngine(db.sql, older)
    expect(await migrated).toHaveLength(1)
    expect(await schemaVersionsOf(db.sql)).toEqual({ version, minimum: version })
  })
})
