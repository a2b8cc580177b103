import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { copyInto, copyRow } from './copy.ts'
import { connect, type Transaction } from './sql.ts'

const db = useDatabase()

beforeEach(async () => {
  await db.sql`drop table if exists pile`
  await db.sql`create table pile (id bigint primary key, value text check (value <> 'refused'))`
})

const columns = ['id', 'value']
const copyRows = (sql: Transaction, rows: [number, string | null][]) =>
  copyInto(sql, 'pile', columns, async write => {
    for (const row of rows) await write(copyRow(row))
  })

async function countRows() {
  const [row] = await db.sql<{ count: number }[]>`select count(*) from pile`
  return row!.count
}

/** The next COPY works on each connection of the pool. */
async function expectUsable() {
  const before = await countRows()
  await Promise.all(Array.from({ length: 10 }, (_, i) => db.sql.begin(tx => copyRows(tx, [[1_000_000 + i, 'after']]))))
  expect(await countRows()).toBe(before + 10)
}

/** A piece of rows too large for the buffers of the stream. */
const PIECE_ROWS = 500
const pieceFrom = (first: number, value = 'x'.repeat(200)) =>
  Array.from({ length: PIECE_ROWS }, (_, i) => copyRow([first + i, value])).join('')

describe('texts', () => {
  const nasty = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom('\t', '\n', '\r', '\r\n', '\\', '\\N', '\\.', '\\t', '\\\\', '"', "'", ''),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('\n\\.\n', '\b', '\v', '\f', '\\x41', '\\101', '😀', 'ё', '\uFEFF', '\u2028'),
      },
      { weight: 2, arbitrary: fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\0', '')) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map(text => text.replaceAll('\0', '').toWellFormed()) },
    ),
    { maxLength: 8 },
  )
  const value = fc.option(
    nasty.map(pieces => pieces.join('')),
    { freq: 8 },
  )

  test('any text is stored unchanged, and null differs from every text that looks like it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 30 }), async values => {
        await db.sql`truncate pile`
        await db.sql.begin(tx =>
          copyRows(
            tx,
            values.map((text, i) => [i, text]),
          ),
        )
        const rows = await db.sql<{ value: string | null }[]>`select value from pile order by id`
        expect(rows.map(row => row.value)).toEqual(values)
      }),
      { numRuns: 150 },
    )
  })

  test('a COPY without rows stores nothing', async () => {
    await db.sql.begin(tx => copyRows(tx, []))
    expect(await countRows()).toBe(0)
  })
})

test('a small COPY does not wait for the network: no Nagle, no delayed acknowledgement', async () => {
  const shortest = { copy: Infinity, insert: Infinity }
  for (let i = 0; i < 40; i++) {
    await timed('copy', tx => copyRows(tx, [[i, 'small']]))
    await timed('insert', tx => tx`insert into pile values (${1000 + i}, 'small')`)
  }
  // The delay is 40 ms on top of everything else.
  expect(shortest.copy - shortest.insert).toBeLessThan(30)

  async function timed(kind: keyof typeof shortest, work: (tx: Transaction) => Promise<unknown>) {
    const start = performance.now()
    await db.sql.begin(work)
    shortest[kind] = Math.min(shortest[kind], performance.now() - start)
  }
})

describe('a large copy', () => {
  test('waits for a slow server instead of collecting rows in memory', async () => {
    await db.sql.unsafe(`
      create or replace function wait_for_it() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(42); return new; end $$;
      create trigger wait_for_it before insert on pile for each row when (new.id = 0) execute function wait_for_it()`)
    const gate = connect(db.url, { max: 1 })
    await gate`select pg_advisory_lock(42)`

    const pieces = 300
    let made = 0
    const copied = db.sql.begin(tx =>
      copyInto(tx, 'pile', columns, async write => {
        for (; made < pieces; made++) await write(pieceFrom(made * PIECE_ROWS))
      }),
    )
    const stalledAt = await stableValue(() => made)
    await gate`select pg_advisory_unlock(42)`
    await gate.end()
    await copied

    // About 100 KB a piece: only as many pieces as fit into the buffers of two sockets.
    expect(stalledAt).toBeLessThan(pieces / 2)
    expect(await countRows()).toBe(pieces * PIECE_ROWS)
  })

  async function stableValue(read: () => number): Promise<number> {
    return eventually(async () => {
      const before = read()
      await pause(300)
      expect(read()).toBe(before)
      expect(before).toBeGreaterThan(0)
      return before
    })
  }
})

describe('a row the server refuses', () => {
  const refused = { code: '23514' }

  test.each([
    [
      'as the first',
      [
        [1, 'refused'],
        [2, 'b'],
        [3, 'c'],
      ],
    ],
    [
      'in the middle',
      [
        [1, 'a'],
        [2, 'refused'],
        [3, 'c'],
      ],
    ],
    [
      'as the last',
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'refused'],
      ],
    ],
  ] as [string, [number, string][]][])("%s rejects with the server's own error and leaves nothing", async (_, rows) => {
    const copied = db.sql.begin(async tx => {
      await tx`insert into pile values (100, 'written before')`
      await copyRows(tx, rows)
    })
    await expect(copied).rejects.toMatchObject(refused)
    expect(await countRows()).toBe(0)
    await expectUsable()
  })

  test('rejects the COPY after the last write, too, for a constraint that is checked at the end', async () => {
    await db.sql`create table flock (id bigint references pile)`
    const copied = db.sql.begin(tx => copyInto(tx, 'flock', ['id'], write => write(copyRow([7]))))
    await expect(copied).rejects.toMatchObject({ code: '23503' })
    await db.sql`drop table flock`
    await expectUsable()
  })

  test('stops the producer, also when its rows never end', async () => {
    let made = 0
    const copied = db.sql.begin(tx =>
      copyInto(tx, 'pile', columns, async write => {
        for (;;) await write(pieceFrom(++made * PIECE_ROWS, made === 20 ? 'refused' : undefined))
      }),
    )
    await expect(copied).rejects.toMatchObject(refused)
    expect(await countRows()).toBe(0)
    await expectUsable()
  })

  test('rejects the COPY when the pieces are so small that no write waits', async () => {
    const copied = db.sql.begin(tx =>
      copyInto(tx, 'pile', columns, async write => {
        await write(copyRow([1, 'refused']))
        await pause(100) // the server has refused the row by now, and the producer has not noticed it
        for (let i = 2; i < 10; i++) await write(copyRow([i, 'small']))
      }),
    )
    await expect(copied).rejects.toMatchObject(refused)
    await expectUsable()
  })

  test.each([
    ['a table that is not there', 'nowhere', '42P01'],
    ['a column that is not there', 'pile', '42703'],
  ])('so does %s', async (_, table, code) => {
    const copied = db.sql.begin(tx => copyInto(tx, table, ['nothing'], async write => write('1\n')))
    await expect(copied).rejects.toMatchObject({ code })
    await expectUsable()
  })
})

describe('the producer', () => {
  test.each([
    ['at once', 0],
    ['after small pieces', 3],
    ['half-way', 50],
  ])('may fail %s: the COPY rejects with its error and stores nothing', async (_, pieces) => {
    const broken = new Error('no more rows')
    const copied = db.sql.begin(tx =>
      copyInto(tx, 'pile', columns, async write => {
        for (let i = 0; i < pieces; i++) await write(pieces < 10 ? copyRow([i, 'a']) : pieceFrom(i * PIECE_ROWS))
        throw broken
      }),
    )
    await expect(copied).rejects.toBe(broken)
    expect(await countRows()).toBe(0)
    await expectUsable()
  })

  test('may fail inside a savepoint: earlier rows of the transaction stay', async () => {
    await db.sql.begin(async tx => {
      await tx`insert into pile values (1, 'kept')`
      const tried = tx.savepoint(inner =>
        copyInto(inner, 'pile', columns, async write => {
          await write(copyRow([2, 'lost']))
          throw new Error('no more rows')
        }),
      )
      await expect(tried).rejects.toThrow('no more rows')
      await tx`insert into pile values (3, 'kept')`
    })
    const rows = await db.sql`select id from pile order by id`
    expect(rows.map(row => row.id)).toEqual([1, 3])
  })
})

describe('a connection that is killed', () => {
  const pidOf = async (sql: Transaction) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid

  const kill = async (pid: number) => {
    await db.sql`select pg_terminate_backend(${pid})`
    await eventually(async () => expect(await db.sql`select 1 from pg_stat_activity where pid = ${pid}`).toEqual([]))
  }

  test.each([
    [
      'while rows are being written',
      async (write: Write) => {
        for (let i = 1; ; i++) await write(pieceFrom(i * PIECE_ROWS))
      },
    ],
    ['before the last rows', async (write: Write) => write(copyRow([1, 'a']))],
    ['before the end', async () => {}],
  ] as [string, (write: Write) => Promise<void>][])('%s rejects the COPY and never hangs', async (_, rest) => {
    const pool = connect(db.url, { max: 1 })
    const copied = pool.begin(async tx => {
      const pid = await pidOf(tx)
      await copyInto(tx, 'pile', columns, async write => {
        await write(pieceFrom(0))
        await kill(pid)
        await rest(write)
      })
    })
    await expect(withinSeconds(90, copied)).rejects.toThrow(
      /CONNECTION_CLOSED|ECONNRESET|EPIPE|terminating connection/, // depends on which error arrives first
    )
    expect(await countRows()).toBe(0)
    // The driver may reject one more query because of the lost connection.
    await eventually(() => pool.begin(tx => copyRows(tx, [[1, 'after']])))
    expect(await countRows()).toBe(1)
    await pool.end()
  })

  type Write = (rows: string) => Promise<void>

  function withinSeconds<T>(seconds: number, work: Promise<T>): Promise<T> {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`still waiting after ${seconds} s`)), seconds * 1000).unref()
    })
    return Promise.race([work, late])
  }
})
