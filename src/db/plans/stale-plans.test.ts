import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import { selectExpiringWithin } from '../../domain/expiry/store.ts'
import { lanesInTurn } from '../../domain/lanes/store.ts'
import { updateStatuses } from '../../domain/messages/store.ts'
import { selectOpen } from '../../domain/receipts/store.ts'
import { selectReported } from '../../domain/recording/reported-messages.ts'
import { checkCodes } from '../../domain/verifications/store.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes } from '../../testing/plans.ts'
import { connect, type Pool, type Sql } from '../sql.ts'

/**
 * The planner has no statistics of a large dispatch before the next ANALYZE, and cached plans are older still. The
 * frequent statements find messages by their keys all the same.
 */
const db = useDatabase()

const SIZE = 20_000
const ASKED = 100
const END = new Date()

describe.each(planModes)('%s', mode => {
  let companyId: number
  let uuids: string[]
  let pool: Pool

  beforeAll(async () => {
    companyId = await aCompany(db.sql, await aPartner(db.sql))
    pool = connect(db.url, { max: 1 })
    await pool`select set_config('plan_cache_mode', ${mode}, false)`
    const early = await messages(100)
    for (const work of Object.values(works)) await work(pool, early.slice(0, 1))
    const late = await messages(SIZE)
    // The newest message together with the oldest ones: all others are between them.
    uuids = [...late.slice(0, ASKED - 1), late.at(-1)!]
  })
  afterAll(() => pool.end())

  const works = {
    'are moved': async (sql: Sql, asked: string[]) => {
      const moved = await updateStatuses(
        sql,
        companyId,
        'CREATED',
        'SENT',
        asked.map(uuid => ({
          uuid,
          to: 'SENT',
          sentAt: new Date(),
          finalAt: null,
          errorCode: null,
          operatorError: null,
        })),
      )
      return moved.flatMap(({ places }) => places)
    },
    'are reported': (sql: Sql, asked: string[]) => selectReported(sql, companyId, asked),
    'are looked up for receipts': (sql: Sql, asked: string[]) => selectOpen(sql, companyId, asked),
    'are read for their expiries': (sql: Sql, asked: string[]) =>
      selectExpiringWithin(
        sql,
        companyId,
        asked.map(uuid => ({ companyId, firstUuid: uuid, lastUuid: uuid, messageCount: 1, dueAt: END })),
      ),
  }

  test.each(Object.entries(works))('messages %s without reading their neighbours', async (_, work) => {
    const read = await pool.begin(async tx => {
      const before = await rowsRead(tx, 'messages\\_%')
      expect(await work(tx, uuids)).toHaveLength(ASKED)
      return (await rowsRead(tx, 'messages\\_%')) - before
    })
    expect(read).toBeGreaterThanOrEqual(ASKED)
    expect(read).toBeLessThan(3 * ASKED)
  })

  async function messages(count: number): Promise<string[]> {
    const made = uuid7Batch(new Date(), count)
    await db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text, channel_type, sender_name,
        options, expires_at)
      select ${companyId}, message_uuid, 2.5, 'CREATED', 1, 1, (79160000000 + n)::text, 'Ваш заказ готов', 'SMS', 'sms_promo', '{}', ${END}
      from unnest(${made}::uuid[]) with ordinality q (message_uuid, n)`
    return made
  }
})

describe.each(planModes)('codes, %s', mode => {
  test('are checked without reading their neighbours', async () => {
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    const pool = connect(db.url, { max: 1 })
    await pool`select set_config('plan_cache_mode', ${mode}, false)`
    const check = (sql: Sql, uuids: string[]) =>
      checkCodes(
        sql,
        companyId,
        uuids.map(uuid => ({ uuid, hash: '00' })),
      )
    for (const uuid of await codes(companyId, 10)) await check(pool, [uuid])
    const uuids = await codes(companyId, SIZE)
    const read = await pool.begin(async tx => {
      const before = await rowsRead(tx, 'verifications%')
      expect(await check(tx, [...uuids.slice(0, ASKED - 1), uuids.at(-1)!])).toHaveLength(ASKED)
      return (await rowsRead(tx, 'verifications%')) - before
    })
    expect(read).toBeGreaterThanOrEqual(ASKED)
    expect(read).toBeLessThan(4 * ASKED)
    await pool.end()
  })

  async function codes(companyId: number, count: number): Promise<string[]> {
    const made = uuid7Batch(new Date(), count)
    await db.sql`
      insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
        code_hashes, code_ends, tries_left, sent_at)
      select ${companyId}, verification_uuid, 'abcdef', (79160000000 + n)::text, 'RU', '7916000', 'SMS',
        array['\\x01'::bytea], array[now() + interval '1 hour'], 3, now()
      from unnest(${made}::uuid[]) with ordinality q (verification_uuid, n)`
    return made
  }
})

describe.each(planModes)('lanes, %s', mode => {
  const [LANES, PAGE] = [2000, 20]

  test('are read without reading the dispatches of all waiting lanes', async () => {
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    const pool = connect(db.url, { max: 1 })
    await pool`select set_config('plan_cache_mode', ${mode}, false)`
    const page = (sql: Sql) => lanesInTurn(sql, companyId, 3, new Date(), [{ channelType: 'SMS' }], PAGE)
    await lanes(companyId, 1)
    expect(await page(pool)).toHaveLength(1)
    await lanes(companyId, LANES)
    const read = await pool.begin(async tx => {
      const before = await rowsRead(tx, 'dispatches')
      const found = await page(tx)
      expect(found.map(({ laneId }) => laneId)).toEqual(found.map(({ laneId }) => laneId).sort((a, b) => a - b))
      expect(found).toHaveLength(PAGE)
      return (await rowsRead(tx, 'dispatches')) - before
    })
    expect(read).toBeLessThanOrEqual(2 * PAGE)
    await pool.end()
  })

  /** Each belongs to a dispatch of its own. */
  async function lanes(companyId: number, count: number) {
    await db.sql`
      with made as (
        insert into dispatch_ids (company_id) select ${companyId}::bigint from generate_series(1, ${count}::int) returning dispatch_id),
      dispatch as (
        insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, status)
        select ${companyId}::bigint, dispatch_id, '', 'SMS', 'PROMO', '', '{}', 'STARTED' from made returning dispatch_id)
      insert into lanes (company_id, dispatch_id, channel_type, priority, sender_name, brand_id, tail, open)
      select ${companyId}::bigint, dispatch_id, 'SMS', 3, 'sms_promo', 1, 5, true from dispatch`
  }
})

/** Rows of these tables that the transaction has read so far. */
async function rowsRead(tx: Sql, tables: string): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::bigint as rows
    from pg_stat_xact_user_tables where relname like ${tables}`
  return row!.rows
}
