import { beforeAll, expect, test } from 'vitest'
import { countRunningEngines } from '../../src/domain/engines/engines.ts'
import { senderFeeTable } from '../../src/domain/pricing/pricing.ts'
import { approveSender } from '../../src/domain/senders/moderation.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSender, aSingle } from '../../src/testing/factories.ts'
import { aWorld, billingZone, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine, stopEngine } = useEngines(db)
const HOUR = 3600_000
const DAY = 24 * HOUR
const later = (ms: number) => new Date(Date.now() + ms)
let world: World

beforeAll(async () => {
  world = await aWorld(db.sql)
})

async function accept(destination: string, given: { sendAt?: Date; expiresAt?: Date } = {}): Promise<string> {
  const single = { ...aSingle(world.senders[0]!, { priority: 3, destination }), ...given }
  const [accepted] = await acceptSingles(db.sql, world.companyId, [single], { billingZone, now: new Date() })
  return (accepted as { uuid: string }).uuid
}

async function statusOf(uuid: string): Promise<string> {
  const [row] =
    await db.sql`select status from messages where company_id = ${world.companyId} and message_uuid = ${uuid}`
  return row!.status
}

const untilStatus = (uuid: string, status: string) => eventually(async () => expect(await statusOf(uuid)).toBe(status))

const feesCharged = async () =>
  (await db.sql`select from ledger_entries where company_id = ${world.companyId} and kind = 'SENDER_FEE'`).length

test('engines whose clocks are far ahead or behind send, charge, expire and delete nothing too early', async () => {
  await aGateway(db.sql)
  const unreported = await accept('79163000005') // the simulated operator never reports this number
  const first = await anEngine()
  await untilStatus(unreported, 'SENT')
  await stopEngine(first)

  const scheduled = await accept('79163000177', { sendAt: later(HOUR), expiresAt: later(26 * HOUR) })
  const { senderId } = await aSender(db.sql, world.companyId, { commonType: 'PROMO', brand: 'MTS' })
  await approveSender(db.sql, senderId, await senderFeeTable(db.sql), new Date())
  const ahead = await anEngine({ ownClock: () => later(40 * DAY) })
  const behind = await anEngine({ ownClock: () => later(-40 * DAY) })

  // Both engines work: they do the work that is due now.
  await eventually(async () => expect(await feesCharged()).toBe(1))
  for (const destination of ['79163000277', '79163000377']) await untilStatus(await accept(destination), 'DELIVERED')
  await eventually(async () => {
    const { engines, clockOffMs } = await countRunningEngines(db.sql)
    expect([engines, Math.round(Math.abs(clockOffMs) / DAY)]).toEqual([2, 40])
  })
  await stopEngine(ahead)
  await stopEngine(behind)

  expect(await statusOf(unreported)).toBe('SENT')
  expect(await statusOf(scheduled)).toBe('CREATED')
  expect(await db.sql`select from simulator_outbox() where message_uuid = ${scheduled}`).toHaveLength(0)
  expect(await feesCharged()).toBe(1)
  expect(await db.sql`select from partner_tokens where partner_id = ${world.partner.partnerId}`).not.toHaveLength(0)
})
