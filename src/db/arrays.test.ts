import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { readArray, writeArray } from './arrays.ts'

const texts = fc.array(
  fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('NULL', 'null', '', '{}', 'a,b', '"', '\\')),
)
const storable = texts.map(list => list.map(text => text.replaceAll('\0', '')))

describe('arrays', () => {
  const db = useDatabase()

  test('an array of any texts is parsed to the same array', () => {
    fc.assert(
      fc.property(texts, list => {
        expect(readArray(writeArray(list))).toEqual(list)
      }),
    )
  })

  test('PostgreSQL reads our arrays, and we read its arrays', async () => {
    await fc.assert(
      fc.asyncProperty(storable, async list => {
        const [row] = await db.sql`select ${list}::text[] as list, to_json(${list}::text[])::text as json`
        expect(row!.list).toEqual(list)
        expect(JSON.parse(row!.json)).toEqual(list)
      }),
      { numRuns: 100 },
    )
  })

  test('arrays of every type in use, with nulls, are written and read back unchanged', async () => {
    const uuid = '01980000-0000-7000-8000-000000000001'
    const at = new Date('2026-11-15T10:00:00.123Z')
    const [row] = await db.sql`
      select ${[1, null, -3]}::bigint[] as bigints, ${[1, 2]}::int[] as ints, ${[7]}::smallint[] as smallints,
        array[true, false] as booleans, ${[uuid]}::uuid[] as uuids, ${[0.5, 2]}::float8[] as floats,
        ${[at.toISOString()]}::timestamptz[] as times, array[123.45, 0, null] as amounts, ${[]}::text[] as empty`
    expect(row).toEqual({
      bigints: [1, null, -3],
      ints: [1, 2],
      smallints: [7],
      booleans: [true, false],
      uuids: [uuid],
      floats: [0.5, 2],
      times: [at],
      amounts: [123_4500n, 0n, null],
      empty: [],
    })
  })
})
