import { once } from 'node:events'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { isDatabaseAway } from '../base/database-losses.ts'
import { UsageError } from '../base/errors.ts'
import { money } from '../base/money.ts'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { checkServer, connect, connectBeside, type Pool } from './sql.ts'

const db = useDatabase()

describe('values', () => {
  test('an amount is stored and read exactly', async () => {
    const amounts = fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n })
    await fc.assert(
      fc.asyncProperty(amounts, async amount => {
        const [row] = await db.sql`select ${db.sql.typed.money(amount)}::numeric(18, 4) as amount`
        expect(row!.amount).toBe(amount)
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['0', 0n],
    ['7.9', 79_000n],
    ['-0.0001', -1n],
    ['99999999999999.9999', 999_999_999_999_999_999n],
  ])('numeric %s is %s ten-thousandths', async (text, expected) => {
    const [row] = await db.sql`select ${text}::text::numeric(18, 4) as amount, null::numeric as nothing`
    expect(row).toEqual({ amount: expected, nothing: null })
  })

  test('amounts add up in the database without loss', async () => {
    const [row] = await db.sql`select sum(x) as total from unnest(array[0.1, 0.2, 0.0001]::numeric(18, 4)[]) x`
    expect(row!.total).toBe(money('0.3001'))
  })

  test('a list of amounts is read as a list', async () => {
    const [row] = await db.sql`select array[1.5, 0.0001]::numeric(18, 4)[] as amounts`
    expect(row!.amounts).toEqual([15_000n, 1n])
  })

  test('a bigint is a number, up to 2^53', async () => {
    const largest = Number.MAX_SAFE_INTEGER
    const [row] = await db.sql`
      select ${largest}::bigint as largest, ${-largest}::bigint as smallest, array[1, ${largest}]::bigint[] as list,
        count(*) as count, sum(7::bigint)::bigint as sum from generate_series(1, 3)`
    expect(row).toEqual({ largest, smallest: -largest, list: [1, largest], count: 3, sum: 21 })
  })

  test('a moment keeps its milliseconds in any time zone of the server', async () => {
    const moment = new Date('2026-03-29T01:59:59.999Z')
    const [row] = await db.sql`select ${moment}::timestamptz as moment, current_setting('TimeZone') as zone`
    expect(row).toEqual({ moment, zone: 'UTC' })
  })
})

test('a pool that ends closes every socket, also a socket that the driver has forgotten', async () => {
  const pool = connect(db.url, { max: 1 })
  await pool`select`
  const { socket: dial } = pool.options as unknown as { socket: () => Promise<Socket> }
  const forgotten = await dial()
  await once(forgotten, 'connect')
  await pool.end({ timeout: 5 })
  expect(forgotten.destroyed).toBe(true)
})

test('a connection that is lost while a statement waits to be written is replaced', async () => {
  const pool = connect(db.url, { max: 1 })
  const options = pool.options as unknown as { socket: () => Promise<Socket> }
  const dial = options.socket
  let last: Socket | undefined
  options.socket = async () => {
    last = await dial()
    return last
  }
  await pool`select`
  // In this phase of the event loop the driver writes after the socket has closed.
  const lost = await new Promise(resolve =>
    setImmediate(() => {
      last?.destroy()
      pool`select 'lost'`.then(resolve, resolve)
    }),
  )
  expect(lost).toMatchObject({ code: 'CONNECTION_CLOSED' })
  expect([...(await pool`select 1 as one`)]).toEqual([{ one: 1 }])
  await pool.end()
})

describe('a statement with a value that cannot be written', () => {
  const none = undefined as never
  const never = new Date(Number.NaN)
  const makers: [string, (sql: Pool) => PromiseLike<unknown>][] = [
    ['an undefined value', sql => sql`select ${none}::int`],
    ['an undefined element of a list', sql => sql`select ${[1, none]}::int[]`],
    ['an invalid date', sql => sql`select ${never}::timestamptz`],
    ['an invalid date in a list', sql => sql`select ${[never]}::timestamptz[]`],
    ['an undefined amount', sql => sql`select ${sql.typed.money(none)}::numeric`],
    ['an undefined value in a part', sql => sql`select 1 where true ${sql`and ${none}::int = 1`}`],
    ['an undefined value in a row', sql => sql`insert into pairs ${sql([{ a: 1, b: none }])}`],
    ['an undefined column', sql => sql`insert into pairs ${sql({ a: 1 } as Record<string, number>, 'a', 'b')}`],
  ]

  // Beside others on one connection: the driver gave the rows of a statement to another one, or never answered.
  test.each(makers)('%s is refused, and the statements beside it get their own rows', async (_, make) => {
    for (const options of [{}, { isPooled: true }]) {
      const pool = connect(db.url, { max: 1, ...options })
      await pool`create temporary table pairs (a int, b int)`
      const failing = async () => make(pool)
      // Known to the connection, as after the first use of a statement.
      const beside = (n: number) => pool`select ${n}::int as n`.then(([row]) => row!.n)
      await beside(0)
      const results = await Promise.allSettled([beside(1), failing(), beside(2), failing(), failing(), beside(3)])
      expect(results.map(result => ('value' in result ? result.value : result.reason.message))).toEqual(
        [1, 'no', 2, 'no', 'no', 3].map(each => (each === 'no' ? expect.stringMatching(/cannot be written/) : each)),
      )
      const inside = await pool.begin(async tx =>
        Promise.allSettled([tx`select 1 as n`, (async () => make(tx as never))(), tx`select 3 as n`]),
      )
      expect(inside.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      await pool.end()
    }
  })

  test('values that only look like it are written', async () => {
    const pool = connect(db.url, { max: 1 })
    const json = { type: 'x', value: undefined }
    const [row] = await pool`select ${pool.json(json)}::jsonb as json, ${null} as none, ${[null]}::int[] as list`
    expect(row).toEqual({ json: { type: 'x' }, none: null, list: [null] })
    const [plain] = await pool`select ${json as never}::jsonb as json`
    expect(plain).toEqual({ json: { type: 'x' } })
    await pool`create temporary table pairs (a int, b int)`
    await pool`insert into pairs ${pool({ a: 1, b: undefined }, 'a')}`
    expect([...(await pool`select a, b from pairs`)]).toEqual([{ a: 1, b: null }])
    await pool.end()
  })
})

describe('the socket of a server, as host=/folder', () => {
  test('is used instead of the port, also beside other settings', async () => {
    const url = new URL(db.url)
    const socketDir = url.searchParams.get('host')
    url.search = `application_name=over+a+socket&host=${socketDir}`
    const pool = connect(url.href, { max: 1 })
    const [row] = await pool`select inet_server_port() as port`
    expect(row).toEqual({ port: null })
    expect(pool.options.path).toBe(`${socketDir}/.s.PGSQL.${url.port}`)
    await pool.end()
  })

  test('of a server that does not run is an unreachable database', async () => {
    const pool = connect('postgres:///tidings?host=%2Ftmp%2Fno-server-here', { max: 1 })
    const error = await pool`select`.catch(error => error)
    expect(isDatabaseAway(error)).toBe(true)
    await pool.end({ timeout: 0 })
  })
})

describe('several hosts', () => {
  test('the next one is tried when one does not answer', async () => {
    const { username, password, host, pathname } = new URL(db.url)
    const pool = connect(
      `postgres://${username}:${password}@127.0.0.1:1,${host}${pathname}?target_session_attrs=read-write`,
    )
    const answers = await Promise.all(Array.from({ length: 12 }, () => pool`select 1 as one`))
    expect(answers.map(([row]) => row!.one)).toEqual(Array(12).fill(1))
    await pool.end()
  })
})

describe('the check of the server', () => {
  const pools: Pool[] = []
  afterEach(() => Promise.all(pools.splice(0).map(pool => pool.end({ timeout: 0 }))))

  const PASSWORD = 'sw0rdfish'

  async function sentenceOf(url: string): Promise<string> {
    const pool = connect(url, { max: 1 })
    pools.push(pool)
    const error = await checkServer(pool, url).catch(error => error)
    expect(error).toBeInstanceOf(UsageError)
    expect(error.message).not.toContain(PASSWORD)
    expect(error.message).not.toContain('\n')
    return error.message
  }

  const urlOf = (change: (url: URL) => void) => {
    const url = new URL(db.url)
    change(url)
    return url.href
  }

  test('a server that answers and is new enough passes', async () => {
    await expect(checkServer(db.sql, db.url)).resolves.toEqual({ keepsSettings: true })
  })

  test('no socket', async () => {
    expect(await sentenceOf(`postgres://tidings:${PASSWORD}@localhost/tidings?host=/tmp/no-server-here`)).toBe(
      'The database at /tmp/no-server-here/.s.PGSQL.5432 does not answer: connect ENOENT /tmp/no-server-here/.s.PGSQL.5432. Check DATABASE_URL.',
    )
  })

  test('a wrong port', async () => {
    const url = urlOf(url => {
      url.port = '1'
      url.password = PASSWORD
      url.search = ''
    })
    const { host, pathname } = new URL(url)
    expect(await sentenceOf(url)).toMatch(
      new RegExp(`^The database at ${host}${pathname} does not answer: .*ECONNREFUSED.*\\. Check DATABASE_URL\\.$`),
    )
  })

  test('a host that is not there', async () => {
    const sentence = await sentenceOf(`postgres://tidings:${PASSWORD}@nowhere.invalid:5432/tidings?sslmode=disable`)
    expect(sentence).toMatch(/^The database at nowhere\.invalid:5432\/tidings does not answer: .*nowhere\.invalid/)
  })

  test('a database that is not there', async () => {
    const sentence = await sentenceOf(
      urlOf(url => {
        url.pathname = '/nothing_here'
      }),
    )
    expect(sentence).toContain('database "nothing_here" does not exist')
  })

  test.each([
    ['an @', `postgres://tidings:a%40${PASSWORD}@127.0.0.1:1/db`],
    ['a bare @', `postgres://tidings:a@${PASSWORD}@127.0.0.1:1/db`],
    ['a slash', `postgres://tidings:a%2F${PASSWORD}@127.0.0.1:1/db`],
    ['a colon', `postgres://tidings:a:${PASSWORD}@127.0.0.1:1/db`],
    ['nothing else, in the query', `postgres://tidings@127.0.0.1:1/db?password=${PASSWORD}`],
  ])('the error does not show a password with %s', async (_, url) => {
    expect(await sentenceOf(url)).toContain('The database at 127.0.0.1:1/db does not answer')
  })

  test('a server that is too old', async () => {
    const old = (async () => [{ version: '14.11 (Debian)' }]) as unknown as Pool
    const url = `postgres://tidings:${PASSWORD}@db.example:5432/tidings`
    await expect(checkServer(old, url)).rejects.toEqual(
      new UsageError('PostgreSQL 15 or newer is needed; the database at db.example:5432/tidings is 14.11 (Debian).'),
    )
  })
})

test('further connections beside a pool work at once, are no more than asked for, and are closed', async () => {
  const pool = connect(db.url, { max: 1 })
  const beside = connectBeside(pool, 3)
  const release = Promise.withResolvers<void>()
  const held = pool.begin(() => release.promise)
  const sessions = await Promise.all(
    [1, 2, 3, 4, 5].map(() => beside<{ pid: number }[]>`select pg_backend_pid() as pid from pg_sleep(0.1)`),
  )
  const pids = [...new Set(sessions.map(([row]) => row!.pid))]
  expect(pids).toHaveLength(3)
  await beside.end({ timeout: 1 })
  await eventually(async () =>
    expect(await db.sql`select from pg_stat_activity where pid = any(${pids}::int[])`).toEqual([]),
  )
  release.resolve()
  await held
  await pool.end({ timeout: 1 })
})
