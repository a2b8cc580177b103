import { expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { newestVersion, raiseMinimumVersion } from './migrate.ts'
import { watchSchema } from './schema-watch.ts'

const db = useDatabase()

test('a program that the schema does not allow any more is told once, and a newer program is not', async () => {
  const ours = await newestVersion()
  const refusals: string[] = []
  const older = await watchSchema(db.sql, refusal => refusals.push(refusal), { everyMs: 5 })
  const newer = await watchSchema(db.sql, () => refusals.push('newer'), { version: ours + 1, everyMs: 5 })
  await raiseMinimumVersion(db.sql, ours)
  await new Promise(passed => setTimeout(passed, 50))
  expect(refusals).toEqual([])

  await raiseMinimumVersion(db.sql, ours + 1)
  await eventually(() => expect(refusals).toHaveLength(1))
  await new Promise(passed => setTimeout(passed, 50))
  expect(refusals).toEqual([
    `The database needs a program of schema version ${ours + 1} or newer; this one is ${ours}. Update tidings.`,
  ])
  older.stop()
  newer.stop()
})
