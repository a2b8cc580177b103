import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { addRecipients, createClientDispatch } from '../dispatches/client-dispatches.ts'
import type { CascadeStep, ClientDispatch } from '../dispatches/dispatch.ts'
import { startCreatedDispatch } from '../dispatches/lifecycle.ts'
import { requireDispatchProgress } from '../dispatches/reading.ts'
import { endOverdueSteps } from '../expiry/expiry.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import { endStopped, stopMessages } from './stopping.ts'

/** Stops beside everything else that moves messages: the books stay right, and a cascade goes on once. */

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

const context = () => ({
  pool: db.sql,
  billingZone,
  now: new Date(),
  numbering: () => numbering,
  linkBase: 'http://localhost/s',
  cascades: { numbering: () => numbering, linkBase: 'http://localhost/s' },
})

const uuidsOf = async (dispatchId: number) =>
  (
    await db.sql<
      { uuid: string }[]
    >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  ).map(({ uuid }) => uuid)
const stopping = (uuids: string[]) => stopMessages(db.sql, world.companyId, uuids, { billingZone, now: new Date() })
const progressOf = (dispatchId: number) => requireDispatchProgress(db.sql, world.partner, dispatchId)
const reserved = async () =>
  (await db.sql`select reserved from accounts where company_id = ${world.companyId}`)[0]!.reserved
const booksDiffer = async () => [
  ...(await verifyLedger(db.sql, { companyId: world.companyId })),
  ...(await verifyTraffic(db.sql, { companyId: world.companyId })),
]

describe('messages of a dispatch', () => {
  const before = {
    CREATED: async () => {},
    STARTED: (dispatchId: number) => start(db.sql, world, dispatchId),
    STOPPED: async (dispatchId: number) => {
      await start(db.sql, world, dispatchId)
      await stop(db.sql, world, dispatchId)
    },
  }

  test.each(Object.entries(before))(
    'that is %s are stopped one by one, and the others go on',
    async (status, prepare) => {
      const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
      await prepare(dispatchId)
      const uuids = await uuidsOf(dispatchId)
      const outcomes = await stopping(uuids.slice(0, 3))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['stopped', 'stopped', 'stopped'])
      expect(await progressOf(dispatchId)).toMatchObject({ status, messages: { failed: 3, pending: 5 } })
      expect(await booksDiffer()).toEqual([])

      if (status !== 'STARTED') await start(db.sql, world, dispatchId)
      expect(await booksDiffer()).toEqual([])
      const left = uuids.slice(3).map(uuid => ({
        uuid,
        sentAt: new Date(),
        final: { status: 'DELIVERED' as const, at: new Date() },
      }))
      await recordStatusReports(db.sql, world.companyId, left, context())
      expect(await progressOf(dispatchId)).toMatchObject({ status: 'COMPLETED', messages: { delivered: 5, failed: 3 } })
      expect(await reserved()).toBe(0n)
      expect(await booksDiffer()).toEqual([])
    },
  )

  test.each(['STARTED', 'STOPPED'] as const)('that is %s and has no other is completed by it', async status => {
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4))
    await before[status](dispatchId)
    await stopping(await uuidsOf(dispatchId))
    expect((await progressOf(dispatchId)).status).toBe('COMPLETED')
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
  })

  test('are stopped while others are added, and neither waits for the other for ever', async () => {
    const dispatch = { ...aSale, options: { hours: [9] } }
    const { companyId } = world
    const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now: new Date() })
    const add = () =>
      addRecipients(
        db.sql,
        numbering,
        { companyId, dispatchId },
        { recipients: someRecipients(400), linkBase: 'http://localhost/s', once: undefined },
      )
    await add()
    const stops = async () => {
      for (let i = 0; i < 20; i++) await stopping((await uuidsOf(dispatchId)).slice(i * 10, i * 10 + 10))
    }
    const adds = async () => {
      for (let i = 0; i < 5; i++) await add()
    }
    await Promise.all([adds(), stops()])
    expect(await progressOf(dispatchId)).toMatchObject({ messages: { total: 2400, failed: 200 } })
    expect(await booksDiffer()).toEqual([])
  })
})

const aSale: ClientDispatch = {
  name: 'Sale',
  channelType: 'SMS',
  senderName: 'sms_promo',
  text: 'Hello',
  centerId: null,
  partsPerSecond: null,
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  cascade: null,
}

describe('a cascade', () => {
  const step = (given: Partial<CascadeStep>): CascadeStep => ({
    channelType: 'VK',
    senderName: 'shop',
    text: 'Hello',
    content: null,
    condition: 'not_read',
    ttl: 60,
    ...given,
  })

  /** Its first steps with the operator. */
  async function aSent(count: number): Promise<string[]> {
    const cascade = [step({}), step({ channelType: 'WEASY', condition: null, ttl: null })]
    const { companyId } = world
    const dispatch = { ...aSale, channelType: 'VK' as const, senderName: 'shop', cascade }
    const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now: new Date() })
    const home = { companyId, dispatchId }
    const recipients = someRecipients(count)
    await addRecipients(db.sql, numbering, home, { recipients, linkBase: 'http://localhost/s', once: undefined })
    await startCreatedDispatch(db.sql, home, { billingZone, now: new Date() })
    const uuids = await uuidsOf(dispatchId)
    await record(uuids.map(uuid => ({ uuid, sentAt: new Date() })))
    return uuids
  }

  const record = (statusReports: StatusReport[]) =>
    recordStatusReports(db.sql, world.companyId, statusReports, context())
  const finals = (uuids: string[], status: 'DELIVERED' | 'FAILED') =>
    uuids.map(uuid => ({ uuid, final: { status, at: new Date() } }))

  /** As an engine does when the time of steps has passed. */
  async function pass(uuids: string[]) {
    await record(finals(await endOverdueSteps(db.sql, world.companyId, uuids, context()), 'FAILED'))
  }

  const later = () =>
    db.sql`
      select cascade_uuid as uuid, count(*)::int as steps from messages
      where company_id = ${world.companyId} and cascade_step = 2 group by 1 order by 1`
  const once = (uuids: string[]) => uuids.toSorted().map(uuid => ({ uuid, steps: 1 }))

  test('goes on once when its time passes in three engines at the same moment', async () => {
    const uuids = await aSent(50)
    await record(finals(uuids, 'DELIVERED'))
    await Promise.all([pass(uuids), pass(uuids), pass(uuids)])
    expect(await later()).toEqual(once(uuids))
    expect(await booksDiffer()).toEqual([])
  })

  test('goes on once when a receipt and its time race for it', async () => {
    const uuids = await aSent(50)
    await Promise.all(
      uuids.flatMap(uuid => [record(finals([uuid], 'FAILED')), pass([uuid]), record(finals([uuid], 'FAILED'))]),
    )
    expect(await later()).toEqual(once(uuids))
    expect(await booksDiffer()).toEqual([])
  })

  test('ends with a stop that comes at the same moment, or has gone on before it', async () => {
    const uuids = await aSent(40)
    await record(finals(uuids, 'DELIVERED'))
    await Promise.all([...uuids.map(uuid => pass([uuid])), stopping(uuids)])
    const waiting = await db.sql`select from messages where company_id = ${world.companyId} and status = 'CREATED'`
    expect(waiting).toEqual([])
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
  })
})

test('stop requests of messages that are no longer CREATED are deleted, in any number', async () => {
  const uuids = Array.from({ length: 2500 }, (_, i) => `01900000-0000-7000-8000-${String(i).padStart(12, '0')}`)
  await db.sql`insert into stop_requests (company_id, message_uuid) select ${world.companyId}, unnest(${uuids}::uuid[])`
  await endStopped(db.sql, { billingZone, now: new Date() })
  expect(await db.sql`select from stop_requests where company_id = ${world.companyId}`).toEqual([])
})

testOnOneServer('a company whose stop requests fail does not delay the stop requests of others', async () => {
  const [first, ...others] = [world, await aWorld(db.sql), await aWorld(db.sql)]
  const requestedBy = async ({ companyId }: World) =>
    (await db.sql`select from stop_requests where company_id = ${companyId}`).length
  const uuid = '01900000-0000-7000-8000-000000000001'
  for (const { companyId } of [first, ...others])
    await db.sql`insert into stop_requests (company_id, message_uuid) values (${companyId}, ${uuid})`
  await refuseToForget(first.companyId)

  const ending = endStopped(db.sql, { billingZone, now: new Date() })
  await expect(ending).rejects.toMatchObject({
    errors: [{ message: `company ${first.companyId}: 1 stop requests failed`, cause: { message: 'not these' } }],
  })
  expect(await Promise.all([first, ...others].map(requestedBy))).toEqual([1, 0, 0])
})

async function refuseToForget(companyId: number) {
  await db.sql.unsafe(`
    create function refuse_to_forget() returns trigger language plpgsql as $$
    begin
      raise exception 'not these';
    end $$;
    create trigger refuse_to_forget before delete on stop_requests
    for each row when (old.company_id = ${companyId}) execute function refuse_to_forget()`)
}
