import { beforeAll, describe, expect, test } from 'vitest'
import * as store from '../../domain/verifications/store.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { skipOnCluster } from '../../testing/one-server.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import type { Pool } from '../sql.ts'

/** The plans of the statements of verification on large tables: each reads its own rows, by an index. */
const db = useDatabase()

const SIZE = 100_000
const COMPANIES = 20
let companyId: number
let uuids: string[]

beforeAll(async () => {
  const { sql } = db
  const partner = await aPartner(sql)
  const ids = await Promise.all(Array.from({ length: COMPANIES }, () => aCompany(sql, partner)))
  companyId = ids[7]!
  await sql`
    insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
      code_hashes, code_ends, tries_left, sent_at)
    select (${ids}::bigint[])[1 + n % ${COMPANIES}::int], uuid7_floor(now() - n * interval '20 ms'), 'abcdef',
      (79160000000 + n)::text, 'RU', left((79160000000 + n)::text, 7), 'SMS', array[sha256(n::text::bytea)],
      array[now()], 3, now()
    from generate_series(1, ${SIZE}) n`
  await sql`
    insert into verification_limits (company_id, subject, since, count, last_at, blocked_until)
    select (${ids}::bigint[])[1 + n % ${COMPANIES}::int], 'number:' || (79160000000 + n), now(), 1, now(),
      case when n % 1000 = 0 then now() + interval '1 hour' end
    from generate_series(1, ${SIZE}) n`
  uuids = (
    await sql<{ uuid: string }[]>`
      select verification_uuid as uuid from verifications where company_id = ${companyId} order by 1 limit 20`
  ).map(({ uuid }) => uuid)
  await sql`analyze`
})

describe.each(planModes)('%s', mode => {
  /** The number of rows read. Fails if a large table was read without an index. */
  async function rowsRead(work: (sql: Pool) => PromiseLike<unknown>, about: RegExp) {
    const reads = await readsOf(db, mode, async sql => work(sql), about)
    const ofLarge = reads.filter(({ table }) => /^verification(s|_limits)$/.test(table))
    expect(ofLarge.length).toBeGreaterThan(0)
    expect(ofLarge.filter(({ index }) => index === undefined)).toEqual([])
    return ofLarge.reduce((sum, { rows }) => sum + rows, 0)
  }

  const numbers = Array.from({ length: 20 }, (_, i) => String(79160000000 + 7 + i * COMPANIES))

  test('limits are read by their subjects', async () => {
    const subjects = numbers.map(number => `number:${number}`)
    expect(await rowsRead(sql => store.selectSubjects(sql, companyId, subjects), /verification_limits/)).toBe(20)
  })

  test('whether numbers were confirmed is read by number', async () => {
    const asked = numbers.map(destination => ({ destination, since: new Date(0) }))
    expect(await rowsRead(sql => store.selectConfirmedSince(sql, companyId, asked), /verifications/)).toBeLessThan(50)
  })

  test('the share of a prefix is read from its newest codes', async () => {
    expect(await rowsRead(sql => store.selectShares(sql, companyId, ['7916001'], 200, 0), /lateral/)).toBeLessThan(600)
  })

  test('codes are checked by their keys', async () => {
    const guesses = uuids.map(uuid => ({ uuid, hash: '00'.repeat(32) }))
    skipOnCluster('the workers of a cluster make the plans')
    const [reads] = await db.sql.begin(async sql => {
      await sql`select set_config('plan_cache_mode', ${mode}, true)`
      expect(await store.checkCodes(sql, companyId, guesses)).toHaveLength(20)
      return sql<{ seqScan: number; idxTupFetch: number }[]>`
        select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relname = 'verifications'`
    })
    expect(Number(reads!.seqScan)).toBe(0)
    expect(Number(reads!.idxTupFetch)).toBeLessThan(200)
  })

  test('channels of fallbacks are changed by their keys', async () => {
    const sends = uuids.map(verificationUuid => ({ verificationUuid, channelType: 'VOICECODE' as const }))
    expect(await rowsRead(sql => store.updateChannels(sql, companyId, sends), /update verifications/)).toBeLessThan(200)
  })

  test('blocked subjects are listed and counted without reading the others', async () => {
    expect(await rowsRead(sql => store.blockedSubjects(sql, companyId), /blocked_until/)).toBeLessThan(SIZE / 100)
    expect(await rowsRead(sql => store.countBlocked(sql), /blocked_until/)).toBeLessThan(SIZE / 100)
  })

  test('the search for old rows does not read all rows', async () => {
    expect(await rowsRead(sql => store.selectOldSubjects(sql, 5000), /last_at/)).toBe(0)
    expect(await rowsRead(sql => store.deleteOldVerifications(sql, companyId, 5000), /delete/)).toBe(0)
  })
})
