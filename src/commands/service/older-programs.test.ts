import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { UsageError } from '../../base/errors.ts'
import { schemaVersionsOf } from '../../db/migrate.ts'
import { recordEngine, removeEngine } from '../../domain/engines/engines.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { refuseOlderPrograms, stopOlderPrograms } from './older-programs.ts'

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

test('with --stop-older they are told to stop first, and the migration waits for their end', async () => {
  const older = await anEngineOf(15)
  const waitedFor: string[] = []
  let isDone = false
  const stopped = stopOlderPrograms(db.sql, names => waitedFor.push(names))(16).then(() => {
    isDone = true
  })
  await eventually(() => expect(waitedFor.length).toBeGreaterThan(0))
  expect((await schemaVersionsOf(db.sql)).minimum).toBe(16)
  expect({ isDone, waitedFor: waitedFor[0] }).toEqual({ isDone: false, waitedFor: 'engine one:7 (0.1.0, schema 15)' })
  await removeEngine(db.sql, older)
  await stopped
})

test('when a program does not stop, the migration is given up, and older programs may start again', async () => {
  await anEngineOf(15)
  const { minimum } = await schemaVersionsOf(db.sql)
  await expect(stopOlderPrograms(db.sql, () => {}, 0)(9000)).rejects.toThrow(
    'These processes do not stop: engine one:7 (0.1.0, schema 15). Stop them.',
  )
  expect((await schemaVersionsOf(db.sql)).minimum).toBe(minimum)
})
