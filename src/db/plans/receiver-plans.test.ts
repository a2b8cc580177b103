import { beforeAll, describe, expect, test } from 'vitest'
import { findDueReceivers } from '../../domain/callbacks/receivers.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import type { Pool } from '../sql.ts'

/** The search for receivers while many batches wait: its cost depends on the number of receivers and not of batches. */
const db = useDatabase()
const COMPANIES = 5
const RECEIVERS = 4
const BATCHES = 2000

beforeAll(async () => {
  const partner = await aPartner(db.sql)
  for (let i = 0; i < COMPANIES; i++) await fill(await aCompany(db.sql, partner), i === 0 ? RECEIVERS : 1)
  await db.sql`analyze`
})

const fill = (companyId: number, receivers: number) => db.sql`
  insert into callbacks (company_id, receiver, url, api, events, event_count, happened_at, due_at, expires_at)
  select c.company_id, 'https://' || n % ${receivers}::int || '.example', 'https://shop.example/', 'partner', '[]', 1,
    now(), now() - interval '1 minute', now() + interval '1 day'
  from companies c, generate_series(1, ${receivers * BATCHES}::int) n where c.company_id = ${companyId}`

const search = (sql: Pool) => findDueReceivers(sql, new Date(), 100, 100)

test('all receivers are found once', async () => {
  const found = await search(db.sql)
  expect(found).toHaveLength(RECEIVERS + COMPANIES - 1)
  const [first] = found.map(({ companyId }) => companyId).toSorted((a, b) => a - b)
  const ofFirst = found.filter(({ companyId }) => companyId === first).map(({ receiver }) => receiver)
  expect(ofFirst.toSorted()).toEqual(Array.from({ length: RECEIVERS }, (_, i) => `https://${i}.example`))
})

describe.each(planModes)('%s', mode => {
  test.each([
    ['the first batches', /from callbacks w/, 200],
    ['the first receivers of all companies', /from companies c/, 2 * COMPANIES],
    ['the receivers of a company', /with recursive/, RECEIVERS],
  ])('%s are read by an index, without the batches between', async (_, about, most) => {
    const reads = (await readsOf(db, mode, search, about)).filter(({ table }) => table === 'callbacks')
    expect(reads.length).toBeGreaterThan(0)
    expect(reads.filter(({ index }) => index === undefined)).toEqual([])
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
  })
})
