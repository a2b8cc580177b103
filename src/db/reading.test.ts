import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { PATIENT, useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { SilentProxy } from '../testing/silent-proxy.ts'
import { ReplicaReading } from './reading.ts'
import { connect, connectBeside, hangUp, type Pool } from './sql.ts'

const started: ReplicaReading[] = []
afterEach(() => {
  for (const reading of started.splice(0)) reading.stop()
})

/** Two servers as far as a reading asks them: their positions in the log. */
function twoServers(mostLagMs = 200) {
  const servers = { primary: 1000, replica: 1000, isReplicaAway: false, isPrimaryAway: false, misses: 0 }
  const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  const primary = (async () => {
    if (servers.isPrimaryAway) throw away
    return [{ position: servers.primary }]
  }) as unknown as Pool
  const askReplica = async () => {
    if (servers.isReplicaAway) throw away
    return [{ position: servers.replica }]
  }
  const replica = askReplica as unknown as Pool
  const measure = async () => {
    if (servers.misses === 0) return askReplica()
    servers.misses -= 1
    throw away
  }
  const openProbe = () => Object.assign(() => measure(), { end: async () => {} }) as unknown as Pool
  const log = pino({ level: 'silent' })
  const reading = new ReplicaReading({ primary, replica, openProbe, hangUp: () => {}, mostLagMs, log, everyMs: 5 })
  started.push(reading)
  const nameOf = (pool: Pool) => (pool === replica ? 'replica' : 'primary')
  return { servers, reading, away, source: () => reading.read(async pool => nameOf(pool)), nameOf }
}

describe('the source of reads', () => {
  test('is the replica when it has the log of the primary', async () => {
    const { source } = twoServers()
    await eventually(async () => expect(await source()).toBe('replica'))
  })

  test('is the primary while the replica is too far behind, and the replica again afterwards', async () => {
    const { servers, source, reading } = twoServers()
    await eventually(async () => expect(await source()).toBe('replica'))
    servers.primary = 2000
    await eventually(async () => expect(await source()).toBe('primary'))
    expect(reading.state().lagMs).toBeGreaterThan(200)
    servers.replica = 1999 // not the whole way
    await eventually(() => expect(reading.state().lagMs).toBeGreaterThan(300))
    servers.replica = 2000
    await eventually(async () => expect(await source()).toBe('replica'))
    expect(reading.state()).toEqual({ isReplica: true, lagMs: 0 })
  })

  test('a primary that writes all the time and a replica that follows closely: the replica', async () => {
    const { servers, source, reading } = twoServers()
    await eventually(async () => expect(await source()).toBe('replica'))
    const writing = setInterval(() => {
      servers.replica = servers.primary
      servers.primary += 100
    }, 5)
    const begun = performance.now()
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(500))
    await eventually(() => expect(reading.state().isReplica).toBe(true)) // a busy process may write or measure late
    clearInterval(writing)
  })

  test('is the primary while the replica is away', async () => {
    const { servers, source, reading } = twoServers()
    await eventually(async () => expect(await source()).toBe('replica'))
    servers.isReplicaAway = true
    await eventually(async () => expect(await source()).toBe('primary'))
    expect(reading.state()).toEqual({ isReplica: false, lagMs: undefined })
    servers.isReplicaAway = false
    await eventually(async () => expect(await source()).toBe('replica'))
  })

  test('stays the replica while the primary cannot be asked', async () => {
    const { servers, source } = twoServers()
    await eventually(async () => expect(await source()).toBe('replica'))
    servers.isPrimaryAway = true
    servers.primary = 9000
    const begun = performance.now()
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(300))
    expect(await source()).toBe('replica')
  })
})

test.each([
  'ECONNREFUSED',
  '28P01', // the password was changed
  '3D000',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_TLS_FILE', // the file of the authorities is being replaced
])('a read that loses the replica with %s is answered by the primary', async code => {
  const { source, reading, away, nameOf } = twoServers()
  away.code = code
  await eventually(async () => expect(await source()).toBe('replica'))
  const asked: string[] = []
  const answer = await reading.read(async pool => {
    asked.push(nameOf(pool))
    if (nameOf(pool) === 'replica') throw away
    return 'answered'
  })
  expect([answer, asked]).toEqual(['answered', ['replica', 'primary']])
})

test('a read on a replica that hangs is answered by the primary', async () => {
  const { servers, source, reading, nameOf } = twoServers()
  await eventually(async () => expect(await source()).toBe('replica'))
  const answer = reading.read(pool =>
    nameOf(pool) === 'replica' ? new Promise<string>(() => {}) : Promise.resolve('answered'),
  )
  servers.isReplicaAway = true
  expect(await answer).toBe('answered')
})

test.each([
  [1, 'replica'],
  [2, 'primary'],
])('after %i missed measurements in a row a read that waits is answered by the %s', async (misses, answerer) => {
  const { servers, source, reading, nameOf } = twoServers()
  await eventually(async () => expect(await source()).toBe('replica'))
  const slow = Promise.withResolvers<string>()
  const answer = reading.read(pool => (nameOf(pool) === 'replica' ? slow.promise : Promise.resolve('primary')))
  servers.misses = misses
  await eventually(() => expect([servers.misses, reading.state().isReplica]).toEqual([0, true]))
  slow.resolve('replica')
  expect(await answer).toBe(answerer)
})

test.each(['28P01', 'CERT_HAS_EXPIRED'])('a measurement that fails with %s is a lost replica too', async code => {
  const { servers, source, reading, away, nameOf } = twoServers()
  await eventually(async () => expect(await source()).toBe('replica'))
  const answer = reading.read(pool =>
    nameOf(pool) === 'replica' ? new Promise<string>(() => {}) : Promise.resolve('answered'),
  )
  away.code = code
  servers.isReplicaAway = true
  expect(await answer).toBe('answered')
})

/** The replica is the server of the tests, at this address. */
function readingThrough(primary: Pool, replica: Pool) {
  const log = pino({ level: 'silent' })
  const reading = new ReplicaReading({
    primary,
    replica,
    openProbe: () => connectBeside(replica),
    hangUp: openedBefore => hangUp(replica, openedBefore),
    mostLagMs: 60_000,
    log,
    everyMs: 5,
  })
  started.push(reading)
  return reading
}

describe('a replica that becomes silent without closing a connection', () => {
  const db = useDatabase()

  test('gives its reads to the primary within some seconds, and is used again over new connections', async () => {
    const proxy = await SilentProxy.before(db.url)
    const replica = connect(proxy.url, { max: 2 })
    const reading = readingThrough(db.sql, replica)
    await eventually(() => expect(reading.state().isReplica).toBe(true))
    const answerer = () =>
      reading.read(async pool => {
        await pool`select`
        return pool
      })
    expect(await Promise.all([answerer(), answerer(), answerer()])).toEqual([replica, replica, replica])

    proxy.silence()
    const begun = performance.now()
    // More reads than connections: the last ones wait for a connection.
    const answers = await Promise.all(Array.from({ length: 6 }, answerer))
    expect(answers.map(pool => pool === db.sql)).toEqual(Array(6).fill(true))
    expect(performance.now() - begun).toBeLessThan(60_000)

    await eventually(() => expect(reading.state().isReplica).toBe(true))
    expect(await answerer()).toBe(replica)
    reading.stop()
    await replica.end({ timeout: 1 })
    proxy.close()
  })
})

describe('a connection to the replica that is silent for too long', () => {
  const db = useDatabase()

  test('is closed: its read is answered by the primary, and a read that waited for it by the replica', async () => {
    const replica = connect(db.url, { max: 1, silenceMs: 3000 })
    const reading = readingThrough(db.sql, replica)
    await eventually(() => expect(reading.state().isReplica).toBe(true))
    const hanging = reading.read(async pool => {
      if (pool === replica) await pool`select pg_sleep(60)`
      return pool
    })
    const waiting = reading.read(async pool => {
      await pool`select 1`
      return pool
    })
    expect(await hanging).toBe(db.sql)
    expect(await waiting).toBe(replica)
    reading.stop()
    await replica.end()
  })
})

describe('while all connections to the replica are in use', () => {
  const db = useDatabase()

  test('a read waits for a free connection and stays on the replica, however long it takes', async () => {
    const replica = connect(db.url, { max: 1, ...PATIENT })
    const reading = readingThrough(db.sql, replica)
    await eventually(() => expect(reading.state().isReplica).toBe(true))
    const free = Promise.withResolvers<void>()
    const inUse = replica.begin(() => free.promise)
    const asked: Pool[] = []
    const answer = reading.read(async pool => {
      asked.push(pool)
      return (await pool`select 1 as one`)[0]
    })
    const begun = performance.now()
    // Longer than a measurement waits for its answer.
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(3500))
    await eventually(() => expect(reading.state().isReplica).toBe(true))
    free.resolve()
    expect(await answer).toEqual({ one: 1 })
    expect(asked).toEqual([replica])
    await inUse
    reading.stop()
    await replica.end()
  })
})

test('an error of the statement itself is not asked again', async () => {
  const { source, reading } = twoServers()
  await eventually(async () => expect(await source()).toBe('replica'))
  let asked = 0
  const failed = reading.read(async () => {
    asked += 1
    throw Object.assign(new Error('too long'), { code: '57014' })
  })
  await expect(failed).rejects.toMatchObject({ code: '57014' })
  expect(asked).toBe(1)
})

test('a report waits for the replica to catch up, and is read from the primary if it does not', async () => {
  const { servers, source, reading, nameOf } = twoServers(60_000)
  await eventually(async () => expect(await source()).toBe('replica'))
  servers.primary = 3000
  setTimeout(() => {
    servers.replica = 3000
  }, 50)
  expect(nameOf(await reading.upToDate())).toBe('replica')
  servers.primary = 4000
  expect(nameOf(await reading.upToDate())).toBe('primary')
})
