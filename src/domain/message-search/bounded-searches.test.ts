import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { searchMessages } from './message-search.ts'
import type { Filter } from './search.ts'

/** Searches may use only a part of the database connections, and each search only for a limited time. */

const outbound: Filter = { directions: ['outbound'] }
const narrow = {
  'a number': { ...outbound, destinations: ['79160000001'], containing: 'x' },
  'an external id': { ...outbound, externalIds: ['order-1'], containing: 'x' },
  'a key': { ...outbound, messageIds: ['01900000-0000-7000-8000-000000000001'], containing: 'x' },
  'a cascade': { ...outbound, cascadeUuid: '01900000-0000-7000-8000-000000000001', containing: 'x' },
} satisfies Record<string, Filter>
const wide: Filter = { ...outbound, containing: 'x' }
const firstPage = { page: 1, perPage: 10 }
const settled = () => new Promise(resolve => setImmediate(resolve))

describe('the connections of searches', () => {
  /** A pool whose transactions last until `endAll`. `state.open` counts them. */
  function aPool(max: number) {
    const end = Promise.withResolvers<unknown>()
    const state = { open: 0 }
    const begin = () => {
      state.open += 1
      return end.promise
    }
    const pool = { options: { max }, begin } as unknown as Pool
    const searches: Promise<unknown>[] = []
    return {
      state,
      async search(filter: Filter, companies: number[]) {
        for (const companyId of companies) {
          const search = searchMessages(pool, companyId, filter, firstPage)
          search.catch(() => {})
          searches.push(search)
        }
        await settled()
      },
      async endAll() {
        end.resolve({ total: 0, items: [] })
        return Promise.allSettled(searches)
      },
    }
  }

  const companies = (first: number) => Array.from({ length: 40 }, (_, i) => first + i)

  test.each([
    { max: 1, most: 2 },
    { max: 2, most: 2 },
    { max: 5, most: 2 },
    { max: 10, most: 5 },
    { max: 40, most: 20 },
  ])('are $most of a pool of $max, however many searches there are', async ({ max, most }) => {
    const { search, state, endAll } = aPool(max)
    for (const [place, filter] of Object.values(narrow).entries()) await search(filter, companies(place * 100))
    const narrowOnes = state.open
    expect(narrowOnes).toBeGreaterThan(0)
    await search(wide, companies(1000))
    expect(state.open).toBeGreaterThan(narrowOnes) // searches by a key do not block other searches
    expect(state.open).toBe(most)
    await endAll()
  })

  test.each(Object.entries(narrow))(
    'are not all used by the searches by %s of one company, so that another company can search',
    async (_, filter) => {
      const { search, state, endAll } = aPool(10)
      await search(filter, Array(20).fill(1))
      expect(state.open).toBe(2)
      await search(filter, [2])
      expect(state.open).toBe(3)
      await endAll()
    },
  )

  test('are shared: 200 searches of a company wait and are answered, and the next is refused with a retry time', async () => {
    const { search, endAll } = aPool(10)
    await search(narrow['a number'], Array(203).fill(1)) // two run, 200 wait
    const outcomes = await endAll()
    expect(outcomes.slice(0, 202).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(outcomes[202]).toMatchObject({ reason: { kind: 'too_many_requests', retryAfterSeconds: 2 } })
  })
})

describe('the time of a search', () => {
  const db = useDatabase()
  let companyId: number

  beforeAll(async () => {
    companyId = await aCompany(db.sql, await aPartner(db.sql))
    await db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text, channel_type,
        sender_name, options)
      select ${companyId}, message_uuid, 2.5, 'DELIVERED', 1, 1, '79160000001', 'xyz', 'SMS', 'sms_promo', '{}'
      from unnest(${uuid7Batch(new Date(), 20)}::uuid[]) message_uuid`
  })

  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** The pool of the tests, in which reading a page takes `pageMs`. `timeouts` records the time-outs of statements. */
  function slowed(pageMs: number) {
    let nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    const timeouts: string[] = []
    const watched = (sql: Transaction) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const statement = Reflect.apply(target, self, args)
          if (!String(args[0]).includes('statement_timeout')) return statement
          timeouts.push(args[1])
          nowMs += pageMs
          return statement
        },
      })
    const pool = new Proxy(db.sql, {
      get(target, name) {
        if (name !== 'begin') return Reflect.get(target, name)
        return (mode: string, work: (sql: Transaction) => Promise<unknown>) =>
          target.begin(mode, sql => work(watched(sql)))
      },
    }) as Pool
    return { pool, timeouts }
  }

  test.each([
    { kind: 'by a key', filter: narrow['a number'] },
    { kind: 'without an index', filter: wide },
  ])('$kind is 20 seconds in total: the count gets the time that the page did not use', async ({ filter }) => {
    const { pool, timeouts } = slowed(15_000)
    const found = await searchMessages(pool, companyId, filter, firstPage)
    expect(found).toMatchObject({ total: 20, items: { length: 10 } })
    expect(timeouts).toEqual(['20000ms', '5000ms'])
  })

  test('leaves one millisecond for the count if the page used all of it, and never an unlimited time', async () => {
    const { pool, timeouts } = slowed(25_000)
    // A fast machine may count within a millisecond.
    await searchMessages(pool, companyId, wide, firstPage).catch(error => expect(error.kind).toBe('search_too_wide'))
    expect(timeouts).toEqual(['20000ms', '1ms'])
  })
})
