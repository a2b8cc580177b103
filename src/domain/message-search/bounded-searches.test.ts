import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { searchMessages } from './message-search.ts'
import type { Filter } from './search.ts'

/** What searches may take of the database: a part of the connections, each for a while. */

const outbound: Filter = { directions: ['outbound'] }
const narrow = {
  'a number': { ...outbound, destinations: ['79160000001'], containing: 'x' },
  "a client's own id": { ...outbound, externalIds: ['order-1'], containing: 'x' },
  'a key': { ...outbound, messageIds: ['01900000-0000-7000-8000-000000000001'], containing: 'x' },
  'a cascade': { ...outbound, cascadeUuid: '01900000-0000-7000-8000-000000000001', containing: 'x' },
} satisfies Record<string, Filter>
const wide: Filter = { ...outbound, containing: 'x' }
const firstPage = { page: 1, perPage: 10 }
const settled = () => new Promise(resolve => setImmediate(resolve))

describe('connections', () => {
  /** A pool whose transactions last until all are ended, and how many there are. */
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
  ])('of a pool of $max all searches together take $most, however many are asked for', async ({ max, most }) => {
    const { search, state, endAll } = aPool(max)
    for (const [place, filter] of Object.values(narrow).entries()) await search(filter, companies(place * 100))
    const narrowOnes = state.open
    expect(narrowOnes).toBeGreaterThan(0)
    await search(wide, companies(1000))
    expect(state.open).toBeGreaterThan(narrowOnes) // those by a key keep no others out
    expect(state.open).toBe(most)
    await endAll()
  })

  test.each(Object.entries(narrow))(
    'searches by %s of one company leave room for those of another',
    async (_, filter) => {
      const { search, state, endAll } = aPool(10)
      await search(filter, Array(20).fill(1))
      expect(state.open).toBe(2)
      await search(filter, [2])
      expect(state.open).toBe(3)
      await endAll()
    },
  )

  test('more searches by a key than may wait are sent away to come again, and those that wait are answered', async () => {
    const { search, endAll } = aPool(10)
    await search(narrow['a number'], Array(203).fill(1)) // two run, 200 wait
    const outcomes = await endAll()
    expect(outcomes.slice(0, 202).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(outcomes[202]).toMatchObject({ reason: { kind: 'too_many_requests', retryAfterSeconds: 2 } })
  })
})

describe('time', () => {
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

  /** The same pool, in which a page takes so long; and how long the database was told to try. */
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
    { kind: 'by nothing that has an index', filter: wide },
  ])('a search $kind has 20 seconds in all: the count is given what the page has left', async ({ filter }) => {
    const { pool, timeouts } = slowed(15_000)
    const found = await searchMessages(pool, companyId, filter, firstPage)
    expect(found).toMatchObject({ total: 20, items: { length: 10 } })
    expect(timeouts).toEqual(['20000ms', '5000ms'])
  })

  test('a page that took all of the time leaves a moment for the count, not for ever', async () => {
    const { pool, timeouts } = slowed(25_000)
    // Whether a millisecond is enough for it is up to the machine.
    await searchMessages(pool, companyId, wide, firstPage).catch(error => expect(error.kind).toBe('search_too_wide'))
    expect(timeouts).toEqual(['20000ms', '1ms'])
  })
})
