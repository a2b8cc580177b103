import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { uuid7Batch } from '../base/uuid7.ts'
import { forgetOldCascades } from '../domain/cascade-steps/cascade-steps.ts'
import { forgetIdleLanes } from '../domain/lanes/lanes.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { acceptSingles } from '../domain/singles/singles.ts'
import { useDatabase } from '../testing/database.ts'
import { aGateway } from '../testing/engines.ts'
import { aSingle } from '../testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, type World } from '../testing/world.ts'
import type { EngineContext } from './context.ts'
import { runHousekeeping } from './housekeeping.ts'

/** Which rows housekeeping deletes, and which it keeps. */

const db = useDatabase()
const DAY_MS = 24 * 3600_000
let world: World

beforeEach(async () => {
  world = await aWorld(db.sql)
})

test('all cascades are deleted with the months of their messages, also when there are many', async () => {
  const { companyId } = world
  const other = await aWorld(db.sql)
  const uuids = [
    ...uuid7Batch(new Date(Date.now() - 400 * DAY_MS), 5001),
    ...uuid7Batch(new Date(Date.now() - 40 * DAY_MS), 1), // its month is detached, but a later step may still be sent
    ...uuid7Batch(new Date(), 1),
  ]
  const write = (company: number, list: string[]) => db.sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step)
    select ${company}, unnest(${list}::uuid[]), '[]', 2`
  await write(companyId, uuids)
  await write(other.companyId, uuids.slice(0, 1))
  await forgetOldCascades(db.sql)
  const left = await db.sql`select cascade_uuid as uuid from cascades order by 1`
  expect(left.map(({ uuid }) => uuid)).toEqual(uuids.slice(-2))

  await db.sql`select ensure_message_month((now() - interval '400 days')::date)`
  await write(companyId, uuids.slice(0, 1))
  await forgetOldCascades(db.sql)
  expect(await db.sql`select from cascades`).toHaveLength(3) // its month is still attached
})

test('a cascade is kept as long as one of its later steps is in an attached month', async () => {
  const { companyId } = world
  const [first, other] = uuid7Batch(new Date(Date.now() - 800 * DAY_MS), 2)
  const [later] = uuid7Batch(new Date(), 1)
  await db.sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step)
    select ${companyId}, unnest(${[first!, other!]}::uuid[]), '[]', 3`
  await db.sql`
    insert into messages (company_id, message_uuid, status, parts, price, brand_id, destination, cascade_uuid, cascade_step)
    values (${companyId}, ${later!}, 'DELIVERED', 1, 0, 1, '79160000077', ${first!}, 2)`
  await forgetOldCascades(db.sql)
  expect(await db.sql`select cascade_uuid as uuid from cascades where company_id = ${companyId}`).toEqual([
    { uuid: first },
  ])
})

test.each([
  ['is started', 'STARTED', null, 1],
  ['was completed not long ago', 'COMPLETED', 99, 1],
  ['has been completed for long', 'COMPLETED', 101, 0],
])(
  'cascades of a dispatch that %s are kept only as long as later steps are possible',
  async (_, status, completedDays, left) => {
    const { companyId } = world
    const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(1))
    const completedAt = completedDays === null ? null : new Date(Date.now() - completedDays * DAY_MS)
    await db.sql`
    update dispatches set status = ${status}, completed_at = ${completedAt} where dispatch_id = ${dispatchId}`
    const [uuid] = uuid7Batch(new Date(Date.now() - 800 * DAY_MS), 1)
    await db.sql`
    insert into cascades (company_id, cascade_uuid, dispatch_id, steps, next_step)
    values (${companyId}, ${uuid!}, ${dispatchId}, '[]', 3)`
    await forgetOldCascades(db.sql)
    expect(await db.sql`select from cascades where company_id = ${companyId}`).toHaveLength(left)
  },
)

test('idle empty lanes of unregistered sender names are deleted, and no other lanes', async () => {
  const { companyId } = world
  const free = (senderName: string) =>
    aSingle({ senderId: null as never, senderName }, { channelType: 'VK', priority: 3, trafficType: 'PROMO' })
  const context = { billingZone, now: new Date() }
  const names = ['idle', 'waiting', 'busy', 'unreported', 'recent']
  // Only names that a gateway carries have lanes of their own.
  const { gatewayId } = await aGateway(db.sql, { name: 'vk', channelType: 'VK', settings: { senderNames: names } })
  await acceptSingles(db.sql, companyId, [...names.map(free), aSingle(world.senders[0]!)], context)
  await db.sql`
    update lanes set cursor = tail, served_at = now() - interval '3 days'
    where company_id = ${companyId} and sender_name is distinct from 'waiting'`
  await db.sql`update lanes set served_at = now() where company_id = ${companyId} and sender_name = 'recent'`
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, claimed_until)
    select company_id, lane_id, 0, 1, '-infinity' from lanes where company_id = ${companyId} and sender_name = 'busy'`
  await db.sql`
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    select company_id, lane_id, 0, 1, now() from lanes where company_id = ${companyId} and sender_name = 'unreported'`
  await forgetIdleLanes(db.sql)
  const left = await db.sql`select sender_name as name from lanes where company_id = ${companyId} order by lane_id`
  expect(left.map(({ name }) => name)).toEqual(['waiting', 'busy', 'unreported', 'recent', null])

  await acceptSingles(db.sql, companyId, [free('idle')], context)
  const [lane] = await db.sql`select cursor, tail, open from lanes where sender_name = 'idle'`
  expect(lane).toEqual({ cursor: 0, tail: 1, open: true })
  await db.sql`delete from gateways where gateway_id = ${gatewayId}`
})

test('one housekeeping run deletes many idle lanes', async () => {
  await db.sql`
    insert into lanes (company_id, channel_type, brand_id, priority, sender_name, tail, cursor, open, served_at)
    select ${world.companyId}, 'VK', 1, 3, 'name ' || i, 1, 1, true, now() - interval '3 days'
    from generate_series(1, 2500) i`
  await forgetIdleLanes(db.sql)
  expect(await db.sql`select from lanes where company_id = ${world.companyId}`).toEqual([])
})

test('a month is detached after its texts are removed, and an engine that stops begins no step', async () => {
  const [uuid] = uuid7Batch(new Date(Date.now() - 100 * DAY_MS), 1)
  await db.sql`select ensure_message_month((now() - interval '100 days')::date)`
  await db.sql`
    insert into messages (company_id, message_uuid, status, final_price, parts, price, brand_id, destination, text)
    values (${world.companyId}, ${uuid!}, 'DELIVERED', 0, 1, 0, 1, '79160000077', 'Hello Vera')`
  const keep = async (keepTextsDays: number, isStopping = false) => {
    const log = pino({ level: 'silent' })
    const context = { sql: db.sql, log, clock: () => new Date(), keepMonths: 2, keepTextsDays }
    await runHousekeeping(context as unknown as EngineContext, () => isStopping)
    return db.sql`select text from messages where message_uuid = ${uuid!}`
  }
  expect(await keep(30, true)).toEqual([{ text: 'Hello Vera' }])
  expect(await keep(200)).toEqual([{ text: 'Hello Vera' }])
  expect(await keep(30)).toEqual([])
  const table = `messages_${new Date(Date.now() - 100 * DAY_MS).toISOString().slice(0, 7).replace('-', '_')}`
  expect(await db.sql`select text from ${db.sql(table)}`).toEqual([{ text: '[removed]' }])
})
