import { beforeAll, beforeEach, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../domain/numbering/numbering.ts'
import { useDatabase } from '../testing/database.ts'
import { aGateway, completed, expectBooksInOrder, progressOf, useEngines } from '../testing/engines.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../testing/world.ts'

/** Messages longer than what a gateway's limit lets go at once, beside short ones that could keep it from ever filling. */

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

test.each([
  ['one engine', 1],
  ['two engines', 2],
])(
  'long messages go out among short ones, at the rate and without being taken again and again: %s',
  async (_, engines) => {
    const rate = 20
    await aGateway(db.sql, { partsPerSecond: rate })
    const short = await aDispatch(db.sql, numbering, world, someRecipients(160))
    const long = await aDispatch(db.sql, numbering, world, someRecipients(16), { text: 'a'.repeat(400) })
    for (let count = 0; count < engines; count++) await anEngine()
    const before = await leasesSoFar()
    await start(db.sql, world, short)
    await start(db.sql, world, long)

    const { messages } = await completed(db.sql, world, long)
    expect(messages).toMatchObject({ total: 16, delivered: 16 })
    expect((await progressOf(db.sql, world, short)).messages.pending).toBeGreaterThan(30)
    expect((await completed(db.sql, world, short)).messages).toMatchObject({ total: 160, delivered: 160 })
    expect((await leasesSoFar()) - before).toBeLessThan(200)
    // Parts that were drawn in time may arrive together on a busy machine; with a burst of a second it was twice the rate.
    expect(await mostPartsInASecond()).toBeLessThanOrEqual(1.5 * rate)
    await expectBooksInOrder(db.sql, world)
  },
)

/** Every chunk has a lease, and what comes back of one has another. */
async function leasesSoFar(): Promise<number> {
  const [leases] = await db.sql<{ count: number }[]>`
    select coalesce(last_value, 0)::integer as count from pg_sequences
    where sequencename = (select split_part(pg_get_serial_sequence('leases', 'lease_id'), '.', 2))`
  return leases!.count
}

async function mostPartsInASecond(): Promise<number> {
  const [most] = await db.sql<{ parts: number }[]>`
    with taken as (
      select s.accepted_at as at, m.parts from simulator_messages s join messages m using (company_id, uuid)
      where s.company_id = ${world.companyId})
    select max((select sum(b.parts) from taken b where b.at >= a.at and b.at < a.at + interval '1 second'))::integer as parts
    from taken a`
  return most!.parts
}
