import { expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { inPieces } from './in-pieces.ts'

const db = useDatabase()
const numbers = Array.from({ length: 1001 }, (_, i) => i)

test('returns the rows of all pieces in the order of the items', async () => {
  const sizes: number[] = []
  const rows = await db.sql.begin(sql =>
    inPieces(numbers, some => {
      sizes.push(some.length)
      return sql<{ n: number }[]>`select n::int from unnest(${some}::int[]) n`
    }),
  )
  expect(rows.map(({ n }) => n)).toEqual(numbers)
  expect(sizes).toEqual([250, 250, 250, 250, 1])
})

test('sends a statement before the one before it is answered', async () => {
  let open = 0
  let mostOpen = 0
  await db.sql.begin(sql =>
    inPieces(numbers, some => {
      mostOpen = Math.max(mostOpen, ++open)
      const answer = sql`select pg_sleep(0.05), ${some.length}::int`
      answer.finally(() => --open)
      return answer
    }),
  )
  expect(mostOpen).toBeGreaterThan(1)
})

test('rejects with the error of the first piece that fails, and of no later one', async () => {
  const failing = db.sql.begin(sql =>
    inPieces(numbers, some => sql`select 1 / (${some[0]!}::int - 250), ${some.length}::int`),
  )
  await expect(failing).rejects.toMatchObject({ code: '22012' })
})
