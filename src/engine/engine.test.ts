import { pino } from 'pino'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { requireDispatchProgress } from '../domain/dispatches/reading.ts'
import { addGateway } from '../domain/gateways/gateways.ts'
import { loadNumbering, type Numbering } from '../domain/numbering/numbering.ts'
import type { Moderation } from '../domain/review/review.ts'
import { useDatabase } from '../testing/database.ts'
import { acceptedBySimulators } from '../testing/engines.ts'
import { eventually } from '../testing/eventually.ts'
import { aSender } from '../testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../testing/world.ts'
import { startEngine } from './engine.ts'

const db = useDatabase()
let numbering: Numbering
const engines: { stop(): Promise<void> }[] = []

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  await addGateway(db.sql, {
    name: 'sim',
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: { receiptMs: 20 },
    partsPerSecond: null,
  })
})

afterEach(async () => {
  await Promise.all(engines.splice(0).map(engine => engine.stop()))
})

async function anEngine(moderation: Moderation = 'manual') {
  const log = pino({ level: 'warn' })
  const engine = await startEngine({
    sql: db.sql,
    clock: () => new Date(),
    log,
    moderation,
    billingZone,
    callbacks: { allow: [] },
  })
  engines.push(engine)
  return engine
}

test('automatic moderation does not approve a sender name that belongs to a gateway: staff decide', async () => {
  const { companyId } = await aWorld(db.sql)
  const channelType = 'VK' as const
  const settings = { senderNames: 'shop' }
  await addGateway(db.sql, {
    name: 'vk',
    channelType,
    connector: 'simulator',
    brands: [],
    settings,
    partsPerSecond: null,
  })
  const [theirs, free] = [
    await aSender(db.sql, companyId, { channelType, senderName: 'shop' }),
    await aSender(db.sql, companyId, { channelType, senderName: 'free' }),
  ]
  await anEngine('auto')
  const statusOf = async ({ senderId }: { senderId: number }) =>
    (await db.sql`select status from senders where sender_id = ${senderId}`)[0]!.status
  await eventually(async () => expect(await statusOf(free)).toBe('APPROVED'))
  expect(await statusOf(theirs)).toBe('DRAFT')
})

test('a started dispatch is sent, delivered, charged and completed', async () => {
  const world = await aWorld(db.sql, { budget: '100000.00' })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(5000))
  await start(db.sql, world, dispatchId)
  await anEngine()

  const dispatch = await eventually(async () => {
    const found = await requireDispatchProgress(db.sql, world.partner, dispatchId)
    expect(found.status).toBe('COMPLETED')
    return found
  })

  expect(dispatch.messages).toEqual({ total: 5000, delivered: 5000, failed: 0, pending: 0 })
  const [account] = await db.sql`select * from accounts where company_id = ${world.companyId}`
  expect(account).toMatchObject({ balance: -dispatch.priceEstimate, reserved: 0n })
  expect(dispatch.createdPrice).toBe(0n)
})

test('a housekeeping step that fails does not stop the other steps', async () => {
  await db.sql`alter function ensure_message_months() rename to ensure_message_months_later`
  await db.sql`insert into engines (worker, seen_at) values (gen_random_uuid(), now() - interval '2 days')`
  try {
    await anEngine()
    await eventually(async () =>
      expect(await db.sql`select from engines where seen_at < now() - interval '1 day'`).toHaveLength(0),
    )
  } finally {
    await db.sql`alter function ensure_message_months_later() rename to ensure_message_months`
  }
})

test('an engine is listed while it runs, and sends dispatches that are started meanwhile', async () => {
  const engine = await anEngine()
  const seen = () => db.sql`select seen_at as at from engines where worker = ${engine.worker}`
  const [first] = await eventually(async () => {
    const rows = await seen()
    expect(rows).toHaveLength(1)
    return rows
  })
  await eventually(async () => expect((await seen())[0]!.at.getTime()).toBeGreaterThan(first!.at.getTime()))

  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4))
  await start(db.sql, world, dispatchId)
  await eventually(async () => {
    const [row] = await db.sql`
      select count(*) as n from ${acceptedBySimulators(db.sql)} s join messages m on m.company_id = s.company_id and m.message_uuid = s.message_uuid
      where m.dispatch_id = ${dispatchId}`
    expect(row!.n).toBe(4)
  })
  await Promise.all(engines.splice(0).map(one => one.stop()))
  expect(await seen()).toHaveLength(0)
})
