import { expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { insertPieces } from './insert-pieces.ts'
import { connect } from './sql.ts'

const db = useDatabase()

test('any number of rows is inserted in order, and a connection keeps few prepared statements', async () => {
  const sql = connect(db.url, { max: 1 })
  await sql`create temporary table numbers (place int generated always as identity, n int)`
  for (const count of [...Array.from({ length: 40 }, (_, i) => i), 1500]) {
    const rows = Array.from({ length: count }, (_, n) => ({ n }))
    const inserted = await sql.begin(tx =>
      insertPieces(tx, rows, (sql, piece) => sql<{ n: number }[]>`insert into numbers ${sql(piece)} returning n`),
    )
    expect(inserted).toEqual(rows)
    expect([...(await sql`select n from numbers order by place`)]).toEqual(rows)
    await sql`truncate numbers`
  }
  const kept = await sql`select from pg_prepared_statements where statement like 'insert into numbers%'`
  expect(kept.length).toBeLessThanOrEqual(10)
  await sql.end()
})

test('the types refuse a pool, which could store some pieces and not the others', () => {
  // @ts-expect-error a pool is no transaction
  const intoPool = () => insertPieces(db.sql, [{ n: 1 }], (sql, piece) => sql`insert into numbers ${sql(piece)}`)
  expect(intoPool).toBeTypeOf('function')
})
