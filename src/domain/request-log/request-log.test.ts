import { once } from 'node:events'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import { RequestBuffer } from './buffer.ts'
import type { LoggedRequest, Owner } from './request.ts'
import { forgetOldRequests, lastUses, listRequests } from './request-log.ts'
import { RequestWriter } from './writer.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const HOUR_MS = 3_600_000
const shop: Owner = { kind: 'COMPANY', id: 7 }
const partner: Owner = { kind: 'PARTNER', id: 7 }

const aRequest = (given: Partial<LoggedRequest> = {}): LoggedRequest => ({
  owner: shop,
  keyId: 1,
  at: new Date('2026-11-16T09:30:30Z'),
  method: 'POST',
  route: '/api/v1/message',
  status: 200,
  tookMs: 4,
  address: '203.0.113.9',
  requestId: 'request-1',
  ...given,
})

const times = (count: number, request: LoggedRequest) => Array.from({ length: count }, () => request)

describe('the buffer', () => {
  const limits = { successesOfOwner: 3, refusalsOfOwner: 2, successes: 5, refusals: 3, counts: 3 }

  test('lists so many successes of an owner, and refusals beside them; the rest is counted', () => {
    const buffer = new RequestBuffer(limits)
    for (const request of [...times(50, aRequest()), ...times(9, aRequest({ status: 401 }))]) buffer.add(request)
    const { requests, counts } = buffer.take()
    expect(requests.map(({ status }) => status)).toEqual([401, 401, 200, 200, 200])
    expect(counts).toMatchObject([
      { minute: new Date('2026-11-16T09:30:00Z'), requests: 59, refused: 9, unlisted: 59 - 5 },
    ])
    expect(buffer.isEmpty).toBe(true)
  })

  test('has a bound for all owners together, in rows and in counts', () => {
    const buffer = new RequestBuffer(limits)
    for (let id = 1; id <= 100; id++) {
      for (const status of [200, 200, 500]) buffer.add(aRequest({ owner: { kind: 'COMPANY', id }, status }))
    }
    const { requests, counts } = buffer.take()
    expect(counts).toHaveLength(3)
    expect(requests.length).toBeLessThanOrEqual(limits.successes + limits.refusals)
  })
})

describe('writing', () => {
  test('puts the requests of two owners apart, and tells how many of a minute are only counted', async () => {
    const limits = { successesOfOwner: 1, refusalsOfOwner: 9, successes: 9, refusals: 9, counts: 9 }
    const writer = new RequestWriter({ sql: db.sql, log, limits })
    const now = new Date('2026-11-16T09:31:00Z')
    for (const request of times(4, aRequest())) writer.note(request)
    writer.note(aRequest({ owner: partner, keyId: 0, route: '/partner/v1/company' }))
    await writer.write()
    writer.note(aRequest({ status: 403, requestId: 'refused' }))
    await writer.stop()

    const ours = await listRequests(db.sql, shop, {}, 10, now)
    expect(ours.requests).toMatchObject([{ requestId: 'refused' }, { requestId: 'request-1', tookMs: 4, keyId: 1 }])
    expect(ours.unlisted).toEqual([{ minute: new Date('2026-11-16T09:30:00Z'), unlisted: 3 }])
    const theirs = await listRequests(db.sql, partner, {}, 10, now)
    expect(theirs.requests).toMatchObject([{ route: '/partner/v1/company' }])
    expect((await listRequests(db.sql, shop, { requestId: 'refused' }, 10, now)).requests).toHaveLength(1)
    expect((await listRequests(db.sql, partner, { requestId: 'refused' }, 10, now)).requests).toEqual([])
  })

  test('to a database that never answers keeps no request waiting, and no more than the bound in memory', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const sql = connect(`postgres://nobody@127.0.0.1:${port}/none`, { max: 1 })
    const writer = new RequestWriter({ sql, log, everyMs: 1 })
    const write = writer.write
    let writes = 0
    writer.write = () => {
      writes++
      return write.call(writer)
    }
    for (let second = 0; second < 20; second++) {
      for (const request of times(5000, aRequest())) writer.note(request)
      await new Promise(resolve => setImmediate(resolve))
    }
    await eventually(() => expect(writes).toBe(1)) // the first one still waits, and no other begins
    silent.close()
    await sql.end({ timeout: 0 })
    await writer.stop() // drops the remaining requests and does not throw
  })

  test('to a database that refuses is forgotten, and the next write is tried anew', async () => {
    const lines: string[] = []
    const writer = new RequestWriter({ sql: db.sql, log: pino({}, { write: line => void lines.push(line) }) })
    writer.note(aRequest({ requestId: 'a byte \0 that no text takes', owner: { kind: 'COMPANY', id: 8 } }))
    await writer.write()
    expect(lines.map(line => JSON.parse(line).msg)).toEqual(['request_log.not_written'])
    writer.note(aRequest({ requestId: 'good', owner: { kind: 'COMPANY', id: 8 } }))
    await writer.stop()
    const found = await listRequests(db.sql, { kind: 'COMPANY', id: 8 }, {}, 10, new Date('2026-11-16T09:31:00Z'))
    expect(found.requests).toMatchObject([{ requestId: 'good' }])
  })
})

describe('the last uses of keys', () => {
  const usedBy = (writer: RequestWriter, ids: number[]) => {
    for (const id of ids) writer.note(aRequest({ owner: { kind: 'COMPANY', id }, keyId: id }))
    return writer.write()
  }
  const keysUsed = async (ids: number[]) => {
    const uses = await Promise.all(ids.map(id => lastUses(db.sql, id)))
    return uses.map(({ size }) => size)
  }

  async function twoCompanies() {
    const partner = await aPartner(db.sql)
    return [await aCompany(db.sql, partner), await aCompany(db.sql, partner)] as const
  }

  test('a company whose row cannot be written delays no other company, and is tried again later', async () => {
    const ids = await twoCompanies()
    const lines: string[] = []
    const logged = () => lines.map(line => JSON.parse(line))
    const writer = new RequestWriter({
      sql: db.sql,
      log: pino({}, { write: line => void lines.push(line) }),
      usesAgainAfterMs: 300,
    })
    await db.sql.unsafe(`alter table key_uses add constraint refused check (company_id <> ${ids[0]})`)
    await usedBy(writer, [...ids])
    await eventually(async () => expect(await keysUsed([...ids])).toEqual([0, 1]))
    await eventually(() => expect(logged()).toMatchObject([{ msg: 'request_log.uses_not_written', companyId: ids[0] }]))
    await db.sql`alter table key_uses drop constraint refused`
    // In the same minute. The uses of a request of any company are enough.
    await eventually(async () => {
      await usedBy(writer, [ids[1]])
      expect(await keysUsed([...ids])).toEqual([1, 1])
    })
    await writer.stop()
    expect(logged()).toHaveLength(1)
  })

  test('are not tried again at the next write', async () => {
    const [failing] = await twoCompanies()
    const writer = new RequestWriter({ sql: db.sql, log })
    await db.sql.unsafe(`alter table key_uses add constraint refused check (company_id <> ${failing})`)
    await usedBy(writer, [failing])
    await writer.stop() // waits for the failure
    await db.sql`alter table key_uses drop constraint refused`
    await usedBy(writer, [failing])
    await writer.stop()
    expect(await keysUsed([failing])).toEqual([0])
  })

  test('that hang do not delay the log of requests, and one write of them runs at a time', async () => {
    const [hanging] = await twoCompanies()
    const writer = new RequestWriter({ sql: db.sql, log })
    const blocked = async () =>
      (
        await db.sql`
          select from pg_locks where relation = 'key_uses'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`
      ).length
    let stopped: Promise<void> | undefined
    await db.sql.begin(async lock => {
      await lock`lock table key_uses in exclusive mode`
      for (const write of [1, 2, 3]) {
        await usedBy(writer, [hanging])
        const [row] = await db.sql`select count(*)::int as listed from requests where owner_id = ${hanging}`
        expect(row!.listed).toBe(write)
        await eventually(async () => expect(await blocked()).toBe(1))
      }
      stopped = writer.stop()
    })
    await stopped
    expect(await keysUsed([hanging])).toEqual([1])
  })
})

test('an hour is dropped a day after its end, also across midnight and for every earlier hour', async () => {
  const owner: Owner = { kind: 'COMPANY', id: 9 }
  const writer = new RequestWriter({ sql: db.sql, log })
  const ats = ['2026-03-01T22:59:59.999Z', '2026-03-01T23:00:00Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00Z']
  for (const at of ats) {
    writer.note(aRequest({ owner, at: new Date(at), requestId: at }))
    await writer.write()
  }
  await forgetOldRequests(db.sql, new Date('2026-03-02T23:30:00Z'))
  const kept = await db.sql`select request_id as id from requests where owner_id = 9 order by at`
  expect(kept.map(({ id }) => id)).toEqual(ats.slice(1))
  const shown = await listRequests(db.sql, owner, {}, 10, new Date('2026-03-02T23:30:00Z'))
  expect(shown.requests.map(({ requestId }) => requestId)).toEqual([ats[3], ats[2]]) // the last 24 hours
  await forgetOldRequests(db.sql, new Date('2026-03-04T02:00:00Z'))
  expect(await db.sql`select from requests where owner_id = 9`).toEqual([])
  expect(await db.sql`select from request_minutes where owner_id = 9`).toEqual([])
})

describe('a log of any length', () => {
  const now = new Date('2026-06-01T12:00:00Z')
  const owner: Owner = { kind: 'COMPANY', id: 10 }

  beforeAll(async () => {
    for (let back = 0; back < 6; back++)
      await db.sql`select ensure_request_hour(${new Date(now.getTime() - back * HOUR_MS)})`
    await db.sql`
      insert into requests (owner_kind, owner_id, at, key_id, method, route, status, took_ms, address, request_id)
      select 'COMPANY', 10 + n % 2, ${now}::timestamptz - make_interval(secs => 1 + n / 2), 1, 'GET', '/api/v1/balance',
        case when n % 1000 = 0 then 500 else 200 end, 1, '203.0.113.9', 'many-' || n
      from generate_series(1, 30000) n`
    await db.sql`analyze requests`
  })

  const pages = [
    ['a page reads a page', {}, 200],
    ['refusals have an index', { statusClass: 'refused' as const }, 200],
    ['an id has an index', { requestId: 'many-4' }, 200],
    ['a rare method reads no more than its bound', { method: 'DELETE' }, 10_100],
  ] as const

  test.each(pages.flatMap(page => planModes.map(mode => [...page, mode] as const)))(
    '%s',
    async (_, filter, most, mode) => {
      const list = (sql: typeof db.sql) => listRequests(sql, owner, filter, 50, now)
      const reads = await readsOf(db, mode, list, /from requests/)
      expect(reads.length).toBeGreaterThan(0)
      for (const { table, index } of reads.filter(({ rows }) => rows > 0))
        expect([table, index]).not.toContain(undefined)
      expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
    },
  )
})
