import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import { recordStatusReports } from '../../domain/recording/recording.ts'
import { acceptSingles } from '../../domain/singles/singles.ts'
import { setTimers, type TimerKind, takeExpiries } from '../../domain/timers/timers.ts'
import { useDatabase } from '../../testing/database.ts'
import { aSingle } from '../../testing/factories.ts'
import { nodeAway } from '../../testing/missing-node.ts'
import { isCluster } from '../../testing/one-server.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import type { Recorder } from '../recording/recorder.ts'
import { SetAside } from '../recording/set-aside.ts'
import { failOverdueWaiting, runDueExpiries, runDueTimers } from './timers.ts'

/** Timers that are due at the same time. A timer that fails does not stop the others. */

const db = useDatabase()
const now = new Date()
const hourAgo = new Date(now.getTime() - 3600_000)
const callbackUrl = 'https://client.example/hook'
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  await db.sql`delete from message_timers`
  await db.sql`delete from expiries`
})

/** Writes every report at once, but rejects the reports of some messages with the given error. */
function aRecorder(refused: Map<string, Error> = new Map()): Pick<Recorder, 'noteSoon'> & { noted: StatusReport[] } {
  const noted: StatusReport[] = []
  return {
    noted,
    async noteSoon(companyId, statusReport) {
      const error = refused.get(statusReport.uuid)
      if (error) throw error
      noted.push(statusReport)
      await recordStatusReports(db.sql, companyId, [statusReport], { billingZone, now })
    },
  }
}

const context = (recorder: Pick<Recorder, 'noteSoon'>) => ({
  sql: db.sql,
  clock: () => now,
  log: pino({ level: 'silent' }),
  recorder,
  billingZone,
  cascades: { numbering: () => numbering, linkBase: 'http://localhost/s' },
})

async function accept(count: number, given: Parameters<typeof aSingle>[1] = {}): Promise<string[]> {
  const singles = Array.from({ length: count }, () => aSingle(world.senders[0]!, given))
  const outcomes = await acceptSingles(db.sql, world.companyId, singles, { billingZone, now })
  return outcomes.map(outcome => (outcome.kind === 'accepted' ? outcome.uuid : ''))
}

const setDue = (kind: TimerKind, uuids: string[]) =>
  setTimers(
    db.sql,
    world.companyId,
    uuids.map(uuid => ({ uuid, kind, dueAt: hourAgo })),
  )

const fatesOf = async (uuids: string[]) =>
  (await db.sql`select status from messages where message_uuid = any(${uuids}::uuid[]) order by message_uuid`).map(
    ({ status }) => status,
  )
const timersLeft = async () =>
  (await db.sql`select message_uuid as uuid, kind from message_timers order by kind, message_uuid`).map(
    ({ uuid, kind }) => [kind, uuid],
  )

/** A delivered VIBER message whose time to be read ends now. */
async function anUnread() {
  const [uuid] = await accept(1, { channelType: 'VIBER', callbackUrl, callbackEvents: ['read'] })
  await recordStatusReports(
    db.sql,
    world.companyId,
    [{ uuid: uuid!, sentAt: hourAgo, final: { status: 'DELIVERED', at: hourAgo } }],
    { billingZone, now },
  )
  await setDue('unread', [uuid!])
  return uuid!
}
const unreadTold = async () =>
  (await db.sql`select events from callbacks where company_id = ${world.companyId}`)
    .flatMap(({ events }) => events as { status?: string }[])
    .filter(({ status }) => status === 'unread').length

test.each(['complete', 'expire'] as const)(
  'a %s timer whose message can never be written is deleted, and all other timers are processed',
  async kind => {
    const uuids = await accept(3)
    await setDue(kind, uuids)
    await anUnread()
    const recorder = aRecorder(new Map([[uuids[1]!, new SetAside('no')]]))
    await runDueTimers(context(recorder))
    expect(await fatesOf(uuids)).toEqual(['FAILED', 'CREATED', 'FAILED'])
    expect(await unreadTold()).toBe(1)
    expect(await timersLeft()).toEqual([])
  },
)

test('a message that waits for its sending hours fails when its ttl ends, and is not sent when the hours begin', async () => {
  const tomorrow = new Date(now.getTime() + 24 * 3_600_000)
  const uuids = await accept(1, { sendAt: tomorrow, expiresAt: hourAgo, endsEarly: true })
  await runDueExpiries(context(aRecorder()))
  const [message] = await db.sql`select status, error_code from messages where message_uuid = ${uuids[0]!}`
  expect(message).toEqual({ status: 'FAILED', errorCode: 453 })
  await runDueTimers({ ...context(aRecorder()), clock: () => tomorrow })
  expect((await db.sql`select lane_id from messages where message_uuid = ${uuids[0]!}`)[0]).toEqual({ laneId: null })
})

test('a timer that cannot be processed now stays, and does not delay the others', async () => {
  const uuids = await accept(3)
  await setDue('expire', uuids)
  await anUnread()
  const recorder = aRecorder(new Map([[uuids[1]!, new Error('not now')]]))
  await runDueTimers(context(recorder))
  expect(await fatesOf(uuids)).toEqual(['FAILED', 'CREATED', 'FAILED'])
  expect(await unreadTold()).toBe(1)
  expect(await timersLeft()).toEqual([['expire', uuids[1]]])
})

const expiriesLeft = async () => (await db.sql`select from expiries`).count

describe('messages with a ttl', () => {
  const inAnHour = new Date(now.getTime() + 3600_000)
  const ending = (expiresAt: Date) => aSingle(world.senders[0]!, { expiresAt, endsEarly: true })

  /** Accepted together, with these ends. */
  async function acceptEnding(ends: Date[]): Promise<string[]> {
    const outcomes = await acceptSingles(db.sql, world.companyId, ends.map(ending), { billingZone, now })
    return outcomes.map(outcome => (outcome.kind === 'accepted' ? outcome.uuid : ''))
  }

  /** A worker has the first message that was accepted. */
  const lease = (until: string) => db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
    select company_id, lane_id, 0, 1, gen_random_uuid(), gen_random_uuid(), now() + ${until}::interval
    from messages where company_id = ${world.companyId} and seq = 0`

  test('fail when it ends: one row stands for all that were accepted together and end together', async () => {
    const uuids = await acceptEnding([hourAgo, inAnHour, hourAgo, inAnHour, hourAgo])
    expect(await expiriesLeft()).toBe(2)
    await runDueExpiries(context(aRecorder()))
    expect(await fatesOf(uuids)).toEqual(['FAILED', 'CREATED', 'FAILED', 'CREATED', 'FAILED'])
    expect(await expiriesLeft()).toBe(1)
  })

  test('fail once each, although the ends of several requests lie between each other', async () => {
    const twoHoursAgo = new Date(hourAgo.getTime() - 3600_000)
    const uuids = await acceptEnding([hourAgo, twoHoursAgo, hourAgo, twoHoursAgo, inAnHour])
    const recorder = aRecorder()
    await runDueExpiries(context(recorder))
    expect(recorder.noted.map(({ uuid }) => uuid).sort()).toEqual(uuids.slice(0, 4))
    expect(await fatesOf(uuids)).toEqual(['FAILED', 'FAILED', 'FAILED', 'FAILED', 'CREATED'])
  })

  test('fail although the clock goes back after their end', async () => {
    const uuids = await acceptEnding([hourAgo])
    const times = [now, new Date(hourAgo.getTime() - 1)]
    await runDueExpiries({ ...context(aRecorder()), clock: () => times.shift() ?? times.at(-1) ?? hourAgo })
    expect(await fatesOf(uuids)).toEqual(['FAILED'])
    expect(await expiriesLeft()).toBe(0)
  })

  test('are taken by one engine until its claim ends, and more than a thousand of one request are taken together', async () => {
    await acceptEnding(Array(1100).fill(hourAgo))
    await acceptEnding([hourAgo])
    const take = async () => (await takeExpiries(db.sql, now, 1000)).map(({ messageCount }) => messageCount)
    expect(await take()).toEqual([1100])
    expect(await take()).toEqual([1])
    expect(await take()).toEqual([])
    await db.sql`update expiries set claimed_until = now() - interval '1 second'`
    expect(await take()).toHaveLength(1)
    await db.sql`delete from messages where company_id = ${world.companyId}`
  })

  test('fail without a receipt when they were sent, and keep a final status', async () => {
    const uuids = await acceptEnding([hourAgo, hourAgo, hourAgo])
    const reports: StatusReport[] = [
      { uuid: uuids[0]!, sentAt: hourAgo },
      { uuid: uuids[1]!, sentAt: hourAgo, final: { status: 'DELIVERED', at: hourAgo } },
    ]
    await recordStatusReports(db.sql, world.companyId, reports, { billingZone, now })
    const recorder = aRecorder()
    await runDueExpiries(context(recorder))
    const codes = await db.sql`
      select status, error_code from messages where company_id = ${world.companyId} order by message_uuid`
    expect(codes).toEqual([
      { status: 'FAILED', errorCode: 7060 },
      { status: 'DELIVERED', errorCode: null },
      { status: 'FAILED', errorCode: 453 },
    ])
    expect(recorder.noted.map(({ uuid }) => uuid).sort()).toEqual([uuids[0], uuids[2]])
  })

  test('are left to their worker, and looked at again when its lease is over', async () => {
    const uuids = await acceptEnding([hourAgo, hourAgo])
    await lease('1 minute')
    await runDueExpiries(context(aRecorder()))
    expect(await fatesOf(uuids)).toEqual(['CREATED', 'FAILED'])
    expect(await expiriesLeft()).toBe(1)
    await db.sql`update leases set claimed_until = now() - interval '1 second' where company_id = ${world.companyId}`
    await db.sql`update expiries set claimed_until = '-infinity'` // half a minute later
    await runDueExpiries(context(aRecorder()))
    expect(await fatesOf(uuids)).toEqual(['FAILED', 'FAILED'])
    expect(await expiriesLeft()).toBe(0)
  })

  test('fail although one of them can never be written, or not now', async () => {
    const [never] = await acceptEnding([hourAgo, hourAgo])
    const [, notNow] = await acceptEnding([hourAgo, hourAgo])
    await acceptEnding([hourAgo])
    const refused = new Map<string, Error>([
      [never!, new SetAside('no')],
      [notNow!, new Error('not now')],
    ])
    await runDueExpiries(context(aRecorder(refused)))
    const kept =
      await db.sql`select message_uuid as uuid from messages where company_id = ${world.companyId} and final_at is null`
    expect(kept.map(({ uuid }) => uuid).sort()).toEqual([never, notNow].sort())
    expect(await db.sql`select last_uuid from expiries`).toEqual([{ lastUuid: notNow }])
  })

  test('fail once, although two engines look at the same time', async () => {
    const uuids = await acceptEnding(Array(20).fill(hourAgo))
    const recorders = [aRecorder(), aRecorder()]
    await Promise.all(recorders.map(recorder => runDueExpiries(context(recorder))))
    expect(recorders.flatMap(({ noted }) => noted)).toHaveLength(20)
    expect(new Set(await fatesOf(uuids))).toEqual(new Set(['FAILED']))
  })

  test('of thousands of requests are read a thousand at a time', async () => {
    const ends = Array<Date>(300).fill(hourAgo)
    for (let i = 0; i < 7; i++) await acceptEnding(ends)
    let reads = 0
    const counted = new Proxy(db.sql, {
      apply(sql, self, parts) {
        if (Array.isArray(parts[0]) && parts[0].join('').includes('expires_at = q.due_at')) reads += 1
        return Reflect.apply(sql, self, parts)
      },
    })
    const recorder = { noteSoon: async () => {} }
    await runDueExpiries({ ...context(recorder), sql: counted })
    expect(reads).toBe(isCluster ? 6 : 3) // Citus refuses the first form of each
    expect(await expiriesLeft()).toBe(0)
    await db.sql`delete from messages where company_id = ${world.companyId}`
  })
})

test('an unread message causes one callback, although two engines took its timer', async () => {
  const uuid = await anUnread()
  const take = () => db.sql`update message_timers set claimed_until = '-infinity'` // the engine that claimed it was frozen until the claim ran out
  await Promise.all([runDueTimers(context(aRecorder())), take().then(() => runDueTimers(context(aRecorder())))])
  await take()
  await runDueTimers(context(aRecorder()))
  expect(await unreadTold()).toBe(1)
  expect(await timersLeft()).toEqual([])
  expect(await fatesOf([uuid])).toEqual(['DELIVERED'])
})

test('messages that waited too long fail, although one of them can never be written', async () => {
  const uuids = await accept(3, { expiresAt: hourAgo })
  const recorder = aRecorder(new Map([[uuids[0]!, new SetAside('no')]]))
  await failOverdueWaiting(context(recorder))
  expect(await fatesOf(uuids)).toEqual(['CREATED', 'FAILED', 'FAILED'])
})

test('messages that waited too long fail, although the node of another company is away', async () => {
  const lost = await accept(1, { expiresAt: hourAgo })
  world = await aWorld(db.sql)
  const present = await accept(2, { expiresAt: hourAgo })
  await failOverdueWaiting(context(aRecorder(new Map([[lost[0]!, nodeAway()]]))))
  expect(await fatesOf(lost)).toEqual(['CREATED'])
  expect(await fatesOf(present)).toEqual(['FAILED', 'FAILED'])
})
