import { beforeAll, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, expectBooksInOrder, progressOf, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, start } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

const endings = ['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009', '4321']

/** The receipt of the second number is 4.5 seconds later than the others. A busy machine is late with some. */
const SOONER_SECONDS = 2

test.each([false, true])(
  'every test number gives the result of the table; operators with their own ids: %s',
  async ownIds => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql, { settings: { ownIds, receiptMs: 500 } })
    await anEngine()
    const recipients = endings.map(ending => ({ destination: `7916555${ending}` }))
    const dispatchId = await aDispatch(db.sql, numbering, world, recipients)
    await start(db.sql, world, dispatchId)

    await eventually(async () =>
      expect((await progressOf(db.sql, world, dispatchId)).messages).toMatchObject({ delivered: 7, failed: 2 }),
    )
    const rows = await db.sql`
    select right(destination, 4) as ending, concat_ws(' ', status, error_code) as fate,
      extract(epoch from final_at - sent_at)::double precision as seconds
    from messages where dispatch_id = ${dispatchId} order by dispatch_position`
    expect(rows.map(({ ending, fate }) => `${ending} ${fate}`)).toEqual([
      '0001 DELIVERED',
      '0002 DELIVERED',
      '0003 FAILED 601',
      '0004 FAILED 456',
      '0005 SENT',
      '0006 DELIVERED',
      '0007 DELIVERED',
      '0008 DELIVERED',
      '0009 DELIVERED',
      '4321 DELIVERED',
    ])
    const took = Object.fromEntries(rows.map(({ ending, seconds }) => [ending, seconds]))
    expect(took['0002']).toBeGreaterThan(4.9)
    for (const ending of ['0001', '0003', '0006', '0007', '0008', '0009', '4321'])
      expect(took[ending]).toBeLessThan(took['0002'] - SOONER_SECONDS)
    const [busy] = await db.sql`
    select count(*) as n from simulator_outbox() where company_id = ${world.companyId} and destination like '%0009'`
    expect(busy!.n).toBe(1)
    await expectBooksInOrder(db.sql, world)
  },
)
