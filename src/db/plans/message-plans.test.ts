import { beforeAll, describe, expect, test } from 'vitest'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import { type BoxSearch, searchBox } from '../../domain/message-search/box-search.ts'
import { createMessageReader } from '../../domain/message-search/message-reader.ts'
import { requireMessage, searchMessages } from '../../domain/message-search/message-search.ts'
import type { Filter } from '../../domain/message-search/search.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { monthBack, planModes, type Read, readsOf as readsOfPlan } from '../../testing/plans.ts'
import type { Pool } from '../sql.ts'

/**
 * The plans of searches for messages, on a database that is large enough for a choice of the planner: with the given
 * parameters, and with generic plans.
 */
const db = useDatabase()

const SIZE = 20_000
const DISPATCH_SIZE = 2000
const MONTHS_BACK = 4
/** The messages of each number. */
const PER_DESTINATION = 8

let companyId: number
let smallCompanyId: number
/** Of the month before last. */
let message: { uuid: string; externalId: string; destination: string }
let dispatchId: number

beforeAll(async () => {
  const { sql } = db
  const partner = await aPartner(sql)
  smallCompanyId = await aCompany(sql, partner)
  companyId = await aCompany(sql, partner)
  for (let back = 1; back <= MONTHS_BACK; back++) {
    await sql`select ensure_message_month((now() at time zone 'UTC' - make_interval(months => ${back}))::date)`
  }
  await singles(companyId, SIZE)
  await singles(smallCompanyId, 50)
  dispatchId = await aDispatch(2)
  await aDispatch(0)
  const [found] = await sql<(typeof message)[]>`
    select message_uuid as uuid, external_id, destination from messages
    where company_id = ${companyId} and external_id = ${`order-${companyId}-2`}`
  message = found!
  await sql`vacuum analyze`
})

/** The n-th is of `n % (months + 1)` months ago; every one has an id of the client's own. */
const singles = (company: number, count: number) => db.sql`
  insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text, channel_type, sender_name,
    external_id, options)
  select ${company}, ${keyOf(db.sql`n % ${MONTHS_BACK + 1}::int`)}, 2.5, 'DELIVERED', 1, 1,
    (79160000000 + n / ${PER_DESTINATION}::int)::text, 'Ваш заказ готов', 'SMS', 'sms_promo',
    'order-' || ${company}::text || '-' || n, '{}'
  from generate_series(1, ${count}::int) n`

/** A key that could have been made so many months ago, and never in the future. */
const keyOf = (monthsBack: ReturnType<Pool>) => db.sql`
  overlay(gen_random_uuid()::text placing
    left(uuid7_floor(now() - make_interval(months => (${monthsBack})::int))::text, 13) || '-7' from 1)::uuid`

async function aDispatch(monthsBack: number): Promise<number> {
  const { sql } = db
  const [made] = await sql<{ id: number }[]>`
    insert into dispatch_ids (company_id) values (${companyId}) returning dispatch_id as id`
  const { id } = made!
  await sql`
    insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, price, status, parts, brand_id, destination, text)
    select ${companyId}, ${keyOf(sql`${monthsBack}::int`)}, ${id}, n, 2.5, 'DELIVERED', 1, 1, (79030000000 + n)::text, 'Осень'
    from generate_series(0, ${DISPATCH_SIZE - 1}::int) n`
  await sql`
    insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, first_uuid,
      last_uuid, message_count, status)
    select ${companyId}, ${id}, 'Осень', 'SMS', 'PROMO', 'Осень', '{}', min(message_uuid::text)::uuid, max(message_uuid::text)::uuid,
      ${DISPATCH_SIZE}, 'COMPLETED'
    from messages where company_id = ${companyId} and dispatch_id = ${id}`
  return id
}

const rowsRead = (reads: Read[]) => reads.reduce((sum, { rows }) => sum + rows, 0)
const tablesRead = (reads: Read[]) => [...new Set(reads.map(({ table }) => table))]

describe.each(planModes)('%s', mode => {
  /** The months that were read; those to come are empty. */
  async function readsOf(work: (sql: Pool) => Promise<unknown>, about = /left join lateral/): Promise<Read[]> {
    const all = await readsOfPlan(db, mode, work, about)
    const reads = all.filter(({ table }) => table.startsWith('messages') && table <= monthBack(0))
    expect(reads).not.toEqual([])
    return reads
  }

  const search =
    (filter: Partial<Filter>, company = companyId) =>
    (sql: Pool) =>
      searchMessages(sql, company, { directions: ['outbound'], ...filter }, { page: 1, perPage: 100 })

  const expectIndex = (reads: Read[], ...endings: string[]) => {
    const pattern = new RegExp(`^messages_\\d{4}_\\d\\d_(${endings.join('|')})$`)
    for (const { index } of reads) expect(index ?? 'none').toMatch(pattern)
  }

  const BY_KEY = 'pkey'
  const BY_EXTERNAL_ID = 'company_id_external_id_message_uuid_idx'
  const BY_DESTINATION = 'destination_company_id_message_uuid_idx'
  const BY_POSITION = 'company_id_dispatch_id_dispatch_position_idx'

  test('by message_uuid the key is looked up in its month alone, and the ids of clients by their index', async () => {
    const reads = await readsOf(search({ messageIds: [message.uuid] }))
    expectIndex(reads, BY_KEY, BY_EXTERNAL_ID)
    expect(tablesRead(reads.filter(({ index }) => index!.endsWith(BY_KEY)))).toEqual([monthBack(2)])
    expect(rowsRead(reads)).toBe(1)
  })

  test('several message_uuids are looked up in their months alone, too', async () => {
    const ids = [message.uuid, message.uuid.replace(/.{4}$/, 'ffff'), 'order-7']
    const reads = await readsOf(search({ messageIds: ids }))
    expectIndex(reads, BY_KEY, BY_EXTERNAL_ID)
    expect(tablesRead(reads.filter(({ index }) => index!.endsWith(BY_KEY)))).toEqual([monthBack(2)])
  })

  test('one message is looked up in its month alone', async () => {
    const reads = await readsOf(sql => requireMessage(sql, companyId, message.uuid))
    expectIndex(reads, BY_KEY)
    expect(tablesRead(reads)).toEqual([monthBack(2)])
  })

  test('by external_message_id only the messages with this id are read', async () => {
    const reads = await readsOf(search({ externalIds: [message.externalId] }))
    expectIndex(reads, BY_EXTERNAL_ID)
    expect(rowsRead(reads)).toBe(1)
  })

  test('by destination only the messages of this destination are read', async () => {
    const reads = await readsOf(search({ destinations: [message.destination] }))
    expectIndex(reads, BY_DESTINATION)
    expect(rowsRead(reads)).toBeLessThanOrEqual(PER_DESTINATION)
    const several = await readsOf(search({ destinations: [message.destination, '79160000100'] }))
    expectIndex(several, BY_DESTINATION)
    expect(rowsRead(several)).toBeLessThanOrEqual(2 * PER_DESTINATION)
  })

  /** Requests of the same moment share one statement for each kind of lookup. */
  const lookUp = (...filters: Partial<Filter>[]) => {
    return async (sql: Pool) => {
      const reader = createMessageReader(sql)
      const asks = filters.map(filter => ({ directions: ['outbound' as const], ...filter }))
      await Promise.all(asks.map(ask => reader.search(companyId, ask, { page: 1, perPage: 100 })))
    }
  }

  test('keys of a shared statement are looked up each in its month alone', async () => {
    const reads = await readsOf(
      lookUp({ messageIds: [message.uuid] }, { messageIds: [message.uuid] }),
      /m"."message_uuid" = q/,
    )
    expectIndex(reads, BY_KEY)
    expect(tablesRead(reads)).toEqual([monthBack(2)])
    expect(rowsRead(reads)).toBe(2)
  })

  test('ids of clients and numbers of a shared statement are looked up by their index', async () => {
    const ids = await readsOf(lookUp({ externalIds: [message.externalId] }, { externalIds: ['nobody'] }))
    expectIndex(ids, BY_EXTERNAL_ID)
    expect(rowsRead(ids)).toBe(1)
    const numbers = await readsOf(lookUp({ destinations: [message.destination] }, { destinations: ['79160000100'] }))
    expectIndex(numbers, BY_DESTINATION)
    expect(rowsRead(numbers)).toBeLessThanOrEqual(2 * PER_DESTINATION)
  })

  test('the newest page is read from the newest month, and ends there', async () => {
    const reads = await readsOf(search({}))
    expectIndex(reads, BY_KEY)
    expect(tablesRead(reads.filter(({ rows }) => rows > 0))).toEqual([monthBack(0)])
    expect(rowsRead(reads)).toBe(100)
  })

  test('the count stops where the total does', async () => {
    const reads = await readsOf(search({}), /count\(\*\)/)
    expectIndex(reads, BY_KEY)
    expect(rowsRead(reads)).toBe(10_000)
  })

  test('a search of a small company does not read the messages of large companies', async () => {
    const reads = await readsOf(search({}, smallCompanyId))
    expectIndex(reads, BY_KEY)
    expect(rowsRead(reads)).toBe(50)
  })

  test('by dispatch_id only the months of the dispatch are read', async () => {
    const reads = await readsOf(search({ dispatchIds: [dispatchId] }))
    expectIndex(reads, BY_KEY, BY_POSITION)
    expect(tablesRead(reads)).toEqual([monthBack(2)])
    expect(rowsRead(reads)).toBeLessThanOrEqual(DISPATCH_SIZE)
  })

  test('bounds of time keep to the months that can have such messages', async () => {
    const to = new Date(Date.now() - 100 * 24 * 3600_000)
    const reads = await readsOf(search({ from: to, to }))
    expect(tablesRead(reads)).not.toContain(monthBack(0))
    expect(tablesRead(reads)).not.toContain(monthBack(1))
  })
})

describe('the box of the cabinet', () => {
  const readsOfBox = async (search: Partial<BoxSearch>) => {
    const work = (sql: Pool) =>
      searchBox(sql, [smallCompanyId, companyId], { typed: '', limit: 50, ...search }, new Date())
    const all = await readsOfPlan(db, 'force_custom_plan', work, /left join lateral/)
    return all.filter(({ table }) => table.startsWith('messages') && table <= monthBack(0))
  }
  const justAfterNewest = async () => {
    const [newest] = await db.sql<{ uuid: string }[]>`
      select message_uuid as uuid from messages where company_id = ${companyId} order by message_uuid desc limit 1`
    return new Date(timeOfUuid7(newest!.uuid).getTime() + 1)
  }

  test.each([
    ['the newest', async () => ({ to: await justAfterNewest() }), 2 * 51],
    ['a whole number', { typed: '+79160000100' }, PER_DESTINATION],
    ['the beginning of a number', { typed: '+7916000010' }, 20 * PER_DESTINATION],
    ['an id of the client', () => ({ typed: message.externalId }), 1],
    ['an id of ours', () => ({ typed: message.uuid }), 1],
  ])('finds %s by an index, and reads no more than it shows', async (_, search, most) => {
    const reads = await readsOfBox(typeof search === 'function' ? await search() : search)
    expect(reads.filter(({ index }) => index === undefined)).toEqual([])
    expect(rowsRead(reads)).toBeLessThanOrEqual(most)
    expect(rowsRead(reads)).toBeGreaterThan(0)
  })
})
