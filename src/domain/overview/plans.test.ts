import { beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../testing/world.ts'
import type { CompanyScope } from '../companies/company.ts'
import { loadNumbering } from '../numbering/numbering.ts'
import { overviewOf } from './overview.ts'
import { UsualShares } from './usual-shares.ts'

/** The overview costs the same with ten thousand and with ten million messages. */

const db = useDatabase()
let world: World
let scopes: Record<'company' | 'partner' | 'staff', CompanyScope>
const HOURS = 24 * 90

beforeAll(async () => {
  world = await aWorld(db.sql)
  const { companyId, partner } = world
  const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(5000))
  await start(db.sql, world, dispatchId)
  await db.sql`update dispatch_blocks set created_messages = 0, delivered_messages = 4000, failed_messages = 1000
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
  const others = await Promise.all(Array.from({ length: 20 }, () => aCompany(db.sql, partner)))
  await db.sql`
    insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, sent, delivered)
    select company_id, date_trunc('hour', now()) - make_interval(hours => back), 'SMS', 1, 'SERVICE', 10, 10
    from unnest(${[companyId, ...others]}::bigint[]) company_id, generate_series(0, ${HOURS}) back`
  await db.sql`analyze`
  scopes = {
    company: { kind: 'COMPANY', companyId },
    partner: { kind: 'PARTNER', partnerId: partner.partnerId },
    staff: { kind: 'STAFF' },
  }
})

const overview = (scope: CompanyScope) => (sql: Parameters<typeof overviewOf>[0]) =>
  overviewOf(sql, {
    scope,
    sees: () => true,
    now: new Date(),
    billingZone: 'Europe/Moscow',
    usualShares: new UsualShares(),
  })

describe.each(planModes)('with %s', mode => {
  test.each(['company', 'partner', 'staff'] as const)('the hours of a %s are found by their key', async scope => {
    for (const about of [/group by hour/, /group by channel_type, brand_id/]) {
      const reads = await readsOf(db, mode, overview(scopes[scope]), about)
      const hours = reads.filter(({ table }) => table === 'traffic_hours')
      expect(hours.map(({ index }) => index)).toEqual(['traffic_hours_pkey'])
      const companies = scope === 'company' ? 1 : 21
      expect(hours[0]!.rows).toBeLessThanOrEqual(companies * 24 * 8)
    }
  })

  test.each([
    ['why messages fail', /group by m\.error_code/, 300],
    ['the first message of each lane', /l\.tail - l\.cursor as waiting,\s+greatest/, 8],
  ])('%s costs a few messages, each found by its place', async (_, about, most) => {
    const reads = await readsOf(db, mode, overview(scopes.company), about)
    const ofMessages = reads.filter(({ table }) => table.startsWith('messages'))
    for (const { index } of ofMessages) expect(index).toMatch(/(_dispatch_id_dispatch_position|_lane_id_seq)_idx/)
    expect(ofMessages.reduce((rows, read) => rows + read.rows, 0)).toBeLessThanOrEqual(most)
  })

  test('what needs attention, waits or runs in a company is found without its messages', async () => {
    for (const about of [/as waiting_events/, /'COMPLETED'\s+order by/, /'STARTED'\s+order by/, /case when bool_and/]) {
      const reads = await readsOf(db, mode, overview(scopes.company), about)
      expect(reads.filter(({ table }) => table.startsWith('messages'))).toEqual([])
    }
  })
})

test('a company without traffic costs a company with it nothing', async () => {
  const companyId = await aCompany(db.sql, await aPartner(db.sql))
  const reads = await readsOf(db, 'force_generic_plan', overview({ kind: 'COMPANY', companyId }), /group by hour/)
  expect(reads.filter(({ table }) => table === 'traffic_hours').map(({ rows }) => rows)).toEqual([0])
})
