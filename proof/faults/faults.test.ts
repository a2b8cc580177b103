import { expect, test } from 'vitest'
import { useDatabase } from '../../src/testing/database.ts'
import { exitCodeOf, tableOf } from '../outcomes.ts'
import { proveFaults } from './faults.ts'

const db = useDatabase()

test('the smallest proof runs: after the kill of an HTTP process nothing is lost or billed twice', async () => {
  const outcomes = await proveFaults({ only: 'kill-api', size: 100 }, { databaseUrl: db.url })
  expect(exitCodeOf(outcomes), tableOf(outcomes)).toBe(0)
})
