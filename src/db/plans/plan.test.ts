import { beforeAll, describe, expect, test } from 'vitest'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import { createDispatch } from '../../domain/dispatches/creating.ts'
import { listDispatches, requireDispatch, requireDispatchProgress } from '../../domain/dispatches/reading.ts'
import { MOST_WAITING_LANES } from '../../domain/lanes/lane.ts'
import { hasTooManyLanes, lanesInTurn, queuesWithWork } from '../../domain/lanes/lanes.ts'
import { takeWithMessages } from '../../domain/leases/leases.ts'
import { acceptedMessages, pageOfMessages } from '../../domain/messages/messages.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { createTokenReader } from '../../domain/partners/partners.ts'
import { advanceDueSenders } from '../../domain/senders/moderation.ts'
import { requireSenderOf } from '../../domain/senders/senders.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner, numberOf, type TestPartner } from '../../testing/factories.ts'
import { manyLanes } from '../../testing/lanes.ts'
import { skipOnCluster } from '../../testing/one-server.ts'
import { monthBack, planModes, readsOf as readsOfPlan } from '../../testing/plans.ts'
import { connect, type Pool, type Transaction } from '../sql.ts'

/**
 * The plans of frequent statements, on a database that is large enough for a choice of the planner: once with the given
 * parameters, and once generic, as PostgreSQL plans a repeated statement.
 */
const db = useDatabase()

const SIZE = 6000
const MONTHS_BACK = 4
const LANES = 20_000

let partner: TestPartner
let companyId: number
/** A company with many lanes. Its id is smaller than the id of the company with the dispatches. */
let crowdedId: number
let senderId: number
/** Of this month. */
let dispatchId: number
/** Of the month before last and the last one. */
let oldDispatchId: number

beforeAll(async () => {
  partner = await aPartner(db.sql)
  await manyNeighbours()
  crowdedId = await aCompany(db.sql, partner)
  companyId = await aCompany(db.sql, partner)
  senderId = (await anApprovedSender(db.sql, companyId)).senderId
  const { sql } = db
  for (let back = 1; back <= MONTHS_BACK; back++) {
    await sql`select ensure_message_month((now() at time zone 'UTC' - make_interval(months => ${back}))::date)`
  }
  dispatchId = await aLargeDispatch()
  for (let back = MONTHS_BACK; back > 2; back--) await moveBack(await aLargeDispatch(), back, back)
  oldDispatchId = await aLargeDispatch()
  await moveBack(oldDispatchId, 2, 1)
  await manyLanes(sql, crowdedId, LANES, 'VK')
  await sql`analyze`
})

/** The statement is explained afterwards, and then finds the same rows. */
async function undone(sql: Pool, work: (tx: Transaction) => Promise<unknown>) {
  const undo = new Error('undo')
  await expect(sql.begin(tx => work(tx).then(() => Promise.reject(undo)))).rejects.toBe(undo)
}

/** Other companies with sender names, dispatches, tokens and blacklists: the rows that a full scan would read. */
async function manyNeighbours() {
  const { sql } = db
  await sql`
    insert into companies (partner_id, name, counteragent_type, counteragent_name, counteragent_inn, currency)
    select ${partner.partnerId}, 'Лютик', 'LEGAL', 'Лютик', '7700000002', 'RUB' from generate_series(1, 3000)`
  await sql`insert into sender_ids (company_id) select 1 + n % 3000 from generate_series(1, ${SIZE}) n`
  await sql`
    insert into senders (
      company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, valid_from, status, valid_to)
    select company_id, sender_id, 'LUTIK', 'SMS', 'COMMON', 'MTS', 'RU', '2026-01-01',
      (case when sender_id % 500 = 0 then 'PRE_REVIEW' else 'APPROVED' end)::review_status,
      case when sender_id % 300 = 0 then timestamptz '2099-01-01' end
    from sender_ids`
  await sql`insert into dispatch_ids (company_id) select 1 + n % 300 from generate_series(1, ${SIZE}) n`
  await sql`
    insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, status)
    select company_id, dispatch_id, 'Лето', 'SMS', 'PROMO', 'text', '{1}',
      (case when dispatch_id % 7 = 0 then 'STARTED' else 'COMPLETED' end)::dispatch_status
    from dispatch_ids`
  await sql`
    insert into dispatch_blocks (company_id, dispatch_id, block, delivered_messages)
    select company_id, dispatch_id, block, 5000 from dispatches, generate_series(0, 2) block`
  await sql`
    insert into partner_tokens (token_hash, partner_id, expires_at)
    select sha256(n::text::bytea), ${partner.partnerId}, '2099-01-01' from generate_series(1, ${SIZE}) n`
  await sql`
    insert into blacklist (company_id, destination)
    select 1 + n % 30, (79160000000 + n)::text from generate_series(1, ${SIZE}) n`
}

async function aLargeDispatch(): Promise<number> {
  const { dispatchId } = await createDispatch(db.sql, await loadNumbering(db.sql), {
    partner,
    companyId,
    recipients: Array.from({ length: SIZE }, (_, i) => ({ destination: i % 10 ? numberOf.MTS : 'no number' })),
    dispatch: {
      name: 'Осень',
      channelType: 'SMS',
      text: 'Скоро осень',
      senderIds: [senderId],
      schedule: undefined,
      callbackUrl: undefined,
      callbackEvents: undefined,
    },
    once: undefined,
  })
  return dispatchId
}

/** Moves the dispatch into the past: its first half to one month, its second half to another. */
async function moveBack(dispatchId: number, first: number, second: number) {
  const back = db.sql`make_interval(months => case when dispatch_position < ${SIZE / 2} then ${first}::int else ${second}::int end)`
  await db.sql`
    update messages set message_uuid = overlay(message_uuid::text placing left(uuid7_floor(now() - ${back})::text, 13) from 1)::uuid
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
  await db.sql`
    update dispatches set (first_uuid, last_uuid) = (
      select min(message_uuid::text)::uuid, max(message_uuid::text)::uuid from messages m
      where m.company_id = dispatches.company_id and m.dispatch_id = dispatches.dispatch_id)
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
}

describe.each(planModes)('%s', mode => {
  const readsOf = (work: (sql: Pool) => Promise<unknown>, about: RegExp) => readsOfPlan(db, mode, work, about)

  /** A company is found by its id, or by its partner and id. */
  const indexes = (reads: { index: string | undefined }[]) =>
    [...new Set(reads.map(({ index }) => (index === 'companies_of_partner' ? 'companies_pkey' : index)))].sort()

  describe.each([
    ['a dispatch of this month', () => dispatchId, [monthBack(0)]],
    ['a dispatch of two months', () => oldDispatchId, [monthBack(2), monthBack(1)]],
  ])('of %s', (_, id, months) => {
    const dispatch = () => requireDispatch(db.sql, partner, id())
    const expectMonths = (reads: { table: string; index: string | undefined }[]) => {
      const ofMessages = reads.filter(read => read.table.startsWith('messages'))
      expect([...new Set(ofMessages.map(read => read.table))].sort()).toEqual([...months].sort())
      for (const { index } of ofMessages)
        expect(index).toMatch(/^messages_\d{4}_\d\d_company_id_dispatch_id_dispatch_position_idx$/)
    }

    test('a page of messages reads only the messages that it shows, in the months of the dispatch', async () => {
      const reads = await readsOf(
        async sql => pageOfMessages(sql, await dispatch(), undefined, 30, 100),
        /from messages/,
      )
      expectMonths(reads)
      expect(reads.reduce((sum, read) => sum + read.rows, 0)).toBe(100)
    })

    test('a page of one status reads only its blocks, in the months of the dispatch', async () => {
      const page = async (sql: Pool) => pageOfMessages(sql, await dispatch(), 'FAILED', 6, 100)
      const reads = await readsOf(page, /from messages/)
      expectMonths(reads)
      expect(reads.reduce((sum, read) => sum + read.rows, 0)).toBeLessThanOrEqual(SIZE)
      expect(indexes(await readsOf(page, /from dispatch_blocks/))).toEqual(['dispatch_blocks_pkey'])
    })

    test('the accepted messages of a request are read in the months of the dispatch', async () => {
      const reads = await readsOf(async sql => acceptedMessages(sql, await dispatch(), 2950, 100), /from messages/)
      expectMonths(reads)
      expect(reads.reduce((sum, read) => sum + read.rows, 0)).toBe(100)
    })
  })

  test('a dispatch is found by its bare id', async () => {
    const find = (sql: Pool) => requireDispatch(sql, partner, dispatchId)
    expect(indexes(await readsOf(find, /from dispatch_ids/))).toEqual(['dispatch_ids_pkey'])
    expect(indexes(await readsOf(find, /from dispatches/))).toEqual(['companies_pkey', 'dispatches_pkey'])
  })

  test('its progress is read from its own blocks', async () => {
    const reads = await readsOf(sql => requireDispatchProgress(sql, partner, dispatchId), /dispatch_blocks/)
    expect(indexes(reads)).toEqual(['companies_pkey', 'dispatch_blocks_pkey', 'dispatches_pkey'])
  })

  test.each([
    ['', undefined, 'dispatches_pkey'],
    [' of one status', 'STARTED', 'dispatches_by_status'],
  ] as const)("a page of a company's dispatches%s is cut on an index", async (_, status, index) => {
    const list = (sql: Pool) => listDispatches(sql, 7, status, 1, 2)
    const reads = await readsOf(list, /order by d\.dispatch_id/)
    expect(indexes(reads)).toEqual(
      [...new Set(['companies_pkey', 'dispatch_blocks_pkey', 'dispatches_pkey', index])].sort(),
    )
    expect(reads.find(read => read.index === 'dispatch_blocks_pkey')!.rows).toBeLessThanOrEqual(2 * 3)
    const [counted] = await readsOf(list, /count\(\*\)/)
    expect(counted!.index).toMatch(/^dispatches_/)
  })

  test('a sender is found by its bare id', async () => {
    const find = (sql: Pool) => requireSenderOf(sql, partner, senderId)
    expect(indexes(await readsOf(find, /from sender_ids/))).toEqual(['sender_ids_pkey'])
    expect(indexes(await readsOf(find, /from senders/))).toEqual(['companies_pkey', 'senders_pkey'])
  })

  test('a token is found by its hash', async () => {
    const reads = await readsOf(sql => createTokenReader(sql, () => new Date())(partner.token), /partner_tokens/)
    const ofTokens = reads.filter(read => read.table === 'partner_tokens')
    expect(ofTokens).toEqual([{ table: 'partner_tokens', index: 'partner_tokens_pkey', rows: 1 }])
  })

  test('the blacklist is read only for the numbers of a request', async () => {
    const numbers = Array.from({ length: 20 }, (_, i) => String(79160000000 + i * 30 + 1))
    const ask = (sql: Pool) => blacklistedAmong(sql, 2, numbers)
    const any = await readsOf(ask, /limit 1/)
    expect(indexes(any)).toEqual([expect.stringMatching(/^blacklist_(pkey|by_age)$/), 'blacklist_pkey']) // any, erased
    expect(any.reduce((sum, { rows }) => sum + rows, 0)).toBe(1)
    const [reads] = await readsOf(ask, /= any/)
    expect(reads).toEqual({ table: 'blacklist', index: 'blacklist_pkey', rows: 20 })
  })

  test.each(['auto', 'manual'] as const)(
    'names that are due are found without reading the others (%s)',
    async moderation => {
      const now = new Date('2000-01-01T00:00:00Z')
      const reads = await readsOf(sql => advanceDueSenders(sql, moderation, () => null, now), /union all/)
      expect(indexes(reads)).toEqual(['senders_in_review', 'senders_to_close'])
      expect(reads.reduce((sum, read) => sum + read.rows, 0)).toBeLessThan(50)
    },
  )

  describe('lanes with work', () => {
    const now = new Date()

    test('are found by leaps over the index, for any number of lanes of a company', async () => {
      const reads = await readsOf(sql => queuesWithWork(sql, 3, now), /as is_ready/)
      expect(reads).toEqual([{ table: 'lanes', index: 'lanes_ready', rows: 500 }])
      expect(await queuesWithWork(db.sql, 3, now)).toEqual([{ companyId: crowdedId, channelType: 'VK' }])
    })

    test('of a company are read in their order, a page at a time', async () => {
      const page = (sql: Pool) => lanesInTurn(sql, 3, now, [{ companyId: crowdedId, channelType: 'VK' }], 20)
      const ofLanes = (await readsOf(page, /lateral/)).filter(({ table }) => table === 'lanes')
      expect(ofLanes).toEqual([{ table: 'lanes', index: 'lanes_in_turn', rows: 20 }])
    })

    test('that cannot send are skipped along the same index, and only the lanes of the page are joined to others', async () => {
      const [lane] = await lanesInTurn(db.sql, 3, now, [{ companyId: crowdedId, channelType: 'VK' }], 1)
      const all = { companyId: crowdedId, channelType: 'VK', without: [lane!.servingKey] } as const
      const reads = await readsOf(sql => lanesInTurn(sql, 3, now, [all], 200), /lateral/)
      expect(reads.filter(({ table }) => table === 'lanes').map(({ index }) => index)).toEqual(['lanes_in_turn'])
    })

    test('have their messages read by their places, several lanes at once', async () => {
      const lanes = await lanesInTurn(db.sql, 3, now, [{ companyId: crowdedId, channelType: 'VK' }], 20)
      const chunks = lanes.map(lane => ({ lane, size: 10 }))
      skipOnCluster('the workers of a cluster make the plans')
      const fresh = connect(db.url, { max: 1 }) // the counts of a session include its last transactions
      await undone(fresh, async tx => {
        await tx`select set_config('plan_cache_mode', ${mode}, true)`
        expect(await takeWithMessages(tx, crowdedId, chunks, crypto.randomUUID())).toHaveLength(20)
        const scans = await tx<{ table: string; index: string; rows: number }[]>`
          select relname as table, indexrelname as index, pg_stat_get_xact_tuples_fetched(indexrelid)::int as rows
          from pg_stat_user_indexes where pg_stat_get_xact_numscans(indexrelid) > 0`
        const ofMessages = scans.filter(({ table }) => /^messages_/.test(table))
        expect(ofMessages.every(({ index }) => index.includes('company_id_lane_id_seq'))).toBe(true)
        expect(ofMessages.reduce((sum, { rows }) => sum + rows, 0)).toBe(20)
        const read = await tx<{ table: string }[]>`
          select relname as table from pg_stat_xact_user_tables where relname like 'messages_%' and seq_scan > 0`
        expect(read).toEqual([])
      })
      await fresh.end()
    })

    test('are counted up to the limit', async () => {
      const [read] = await readsOf(sql => hasTooManyLanes(sql, crowdedId), /count/)
      expect(read!.rows).toBe(MOST_WAITING_LANES + 1)
      expect(await hasTooManyLanes(db.sql, crowdedId)).toBe(true)
      expect(await hasTooManyLanes(db.sql, companyId)).toBe(false)
    })
  })
})
