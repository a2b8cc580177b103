import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDatabaseAddress } from '../base/database-address.ts'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { copyInto } from './copy.ts'
import { connect, type Pool, type Sql } from './sql.ts'

const db = useDatabase()
const uncaught: unknown[] = []
const note = (error: unknown) => void uncaught.push(error)
let pool: Pool

beforeAll(async () => {
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  pool = connect(db.url, { max: 2 })
  await db.sql`create table lines (line text not null)`
})

afterAll(async () => {
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  await pool.end({ timeout: 1 })
})

const pidOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid
const kill = (pid: number) => db.sql`select pg_terminate_backend(${pid})`
const turn = () => new Promise(resolve => setTimeout(resolve, 20))

/** The transaction is rolled back, the pool still works, and there was no unhandled rejection. */
async function expectOrder() {
  // The driver rejects the first statement after a lost connection with its error and does not send it: try again.
  await eventually(() => Promise.all([pool`select 1`, pool`select 1`, pool`select 1`]))
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => pool<{ i: number }[]>`select ${i}::int as i`))
  expect(answers.map(([row]) => row!.i)).toEqual(Array.from({ length: 20 }, (_, i) => i))
  await pool.begin(async sql => {
    await sql`insert into lines values ('after')`
  })
  expect(await db.sql`select line from lines`).toEqual([{ line: 'after' }])
  await db.sql`truncate lines`
  await turn()
  expect(uncaught).toEqual([])
}

describe.each([1, 2, 3])('a connection that is lost inside a transaction, time %i', () => {
  test('while it waits for other work', async () => {
    const lost = pool.begin(async sql => {
      await sql`insert into lines values ('before')`
      await kill(await pidOf(sql))
      await turn()
      await sql`insert into lines values ('too late')`
    })
    await expect(lost).rejects.toThrow()
    await expectOrder()
  })

  test('while a statement runs', async () => {
    const lost = pool.begin(async sql => {
      await sql`insert into lines values ('before')`
      const pid = await pidOf(sql)
      await Promise.all([
        sql`select pg_sleep(60)`,
        sql`insert into lines values ('behind it')`,
        turn().then(() => kill(pid)),
      ])
    })
    await expect(lost).rejects.toThrow()
    await expectOrder()
  })

  test('while a COPY is running', async () => {
    const lost = pool.begin(async sql => {
      const pid = await pidOf(sql)
      await copyInto(sql, 'lines', ['line'], async write => {
        for (let i = 0; i < 200; i++) {
          await write(`${'x'.repeat(2000)}\n`.repeat(20))
          if (i === 50) await kill(pid)
          if (i > 50) await turn()
        }
      })
    })
    await expect(lost).rejects.toThrow()
    await expectOrder()
  })

  test('and a function that ends without an error and did not notice it', async () => {
    const lost = pool.begin(async sql => {
      await sql`insert into lines values ('before')`
      await kill(await pidOf(sql))
      await turn()
    })
    await expect(lost).rejects.toThrow()
    await expectOrder()
  })
})

test('an ordinary error rolls the transaction back and reaches the caller unchanged', async () => {
  const failed = pool.begin(async sql => {
    await sql`insert into lines values ('before')`
    await sql`insert into lines values (null)`
  })
  await expect(failed).rejects.toMatchObject({ code: '23502' })
  await expectOrder()
})

describe('a savepoint', () => {
  test('refuses a statement that the driver cannot write, and keeps the rest of the transaction', async () => {
    await pool.begin(async sql => {
      await sql`insert into lines values ('after')`
      const refused = sql.savepoint(async inner => {
        await inner`insert into lines values ('undone')`
        await inner`insert into lines values (${undefined as never})`
      })
      await expect(refused).rejects.toThrow('cannot be written')
      const nested = sql.savepoint('outer', outer => outer.savepoint(inner => inner`select ${undefined as never}`))
      await expect(nested).rejects.toThrow('cannot be written')
      expect(await sql.savepoint(inner => inner`select line from lines`)).toEqual([{ line: 'after' }])
    })
    await db.sql`truncate lines`
    await expectOrder()
  })

  test('in which the connection is lost ends with this error, and nothing more is sent', async () => {
    const seen: unknown[] = []
    const lost = pool.begin(async sql => {
      const pid = await pidOf(sql)
      await sql
        .savepoint(async inner => {
          await inner`insert into lines values ('before')`
          await kill(pid)
          await turn()
          await inner`insert into lines values ('too late')`
        })
        .catch(error => seen.push(error.code))
      await sql`insert into lines values ('too late as well')`
    })
    await expect(lost).rejects.toThrow()
    await eventually(() => expect(seen).toEqual(['CONNECTION_CLOSED']))
    await expectOrder()
  })
})

test('a statement that comes between the failure of its connection and the end of the socket is not lost', async () => {
  const { url, reset, close } = await startProxy(db.url)
  const proxied = connect(url, { max: 1 })
  try {
    for (let time = 0; time < 5; time++) {
      await eventually(() => proxied`select 1`)
      const running = proxied`select pg_sleep(60)`.execute()
      await eventually(async () => expect(await sleepers()).toBe(1))
      reset()
      await db.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`
      let isSettled = false
      await running.catch(() => {
        const next = proxied`select ${7}::int as seven`
        void next.then(
          ([row]) => {
            isSettled = row?.seven === 7
          },
          () => {
            isSettled = true
          },
        )
      })
      await eventually(() => expect(isSettled).toBe(true))
      const answers = await eventually(() => Promise.all([1, 2, 3].map(n => proxied`select ${n}::int as n`)))
      expect(answers.map(([row]) => row!.n)).toEqual([1, 2, 3])
    }
  } finally {
    await proxied.end({ timeout: 1 })
    await close()
  }
})

/** The sessions of this database that sleep. */
async function sleepers(): Promise<number> {
  const found = await db.sql`
    select from pg_stat_activity
    where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`
  return found.length
}

/** Passes connections on to the database, and can reset all of them, as a server does that crashes. */
async function startProxy(databaseUrl: string) {
  const [host] = readDatabaseAddress(databaseUrl).hosts
  const clients = new Set<Socket>()
  const server = createServer(client => {
    const upstream = host!.path ? dial(host!.path) : dial(host!.port, host!.host)
    clients.add(client)
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.search = ''
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const reset = () => {
    for (const client of clients) client.resetAndDestroy()
    clients.clear()
  }
  return { url: url.href, reset, close: () => new Promise(resolve => server.close(resolve)) }
}

describe('a statement after the end of its transaction', () => {
  const lines = async () => (await db.sql<{ line: string }[]>`select line from lines`).map(({ line }) => line)

  test('is refused when a function beside it has failed, and is not committed by itself', async () => {
    let late: Promise<unknown> = Promise.resolve()
    const failed = pool.begin(async sql => {
      const slow = async () => {
        await turn()
        await turn()
        await sql`insert into lines values ('late')`
      }
      late = slow()
      await Promise.all([late, sql`select 1 / ${0}::int`])
    })
    await expect(failed).rejects.toMatchObject({ code: '22012' })
    await expect(late).rejects.toThrow('a statement came after its transaction was over')
    expect(await lines()).toEqual([])
  })

  test('is refused after a savepoint, too, and the outer transaction goes on', async () => {
    let late: Promise<unknown> = Promise.resolve()
    await pool.begin(async sql => {
      const work = sql.savepoint(async own => {
        const slow = async () => {
          await turn()
          await own`insert into lines values ('late')`
        }
        late = slow()
        late.catch(() => {})
        throw new Error('given up')
      })
      await expect(work).rejects.toThrow('given up')
      await turn()
      await turn()
      await sql`insert into lines values ('kept')`
    })
    await expect(late).rejects.toThrow('a statement came after its transaction was over')
    expect(await lines()).toEqual(['kept'])
    await db.sql`truncate lines`
  })
})
