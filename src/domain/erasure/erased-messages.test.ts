import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { onEveryNode, useDatabase } from '../../testing/database.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import { addToBlacklist, blacklistedAmong } from '../blacklist/blacklist.ts'
import { useErasureSecret } from '../blacklist/erased.ts'
import { forgetOldRequests } from '../cascades/cascades.ts'
import { lockMonths } from '../messages/months.ts'
import { uuidFloor } from '../messages/texts.ts'
import { eraseNumber, type Plan, planErasure } from './erasure.ts'

const db = useDatabase()
const NUMBER = '74951234567'
const OTHER = '79260000002'
const now = new Date()
let world: World

beforeAll(() => useErasureSecret('a secret of the tests, long enough'))
beforeEach(async () => {
  world = await aWorld(db.sql)
})

const nothing = async () => {}
const erase = (number = NUMBER, record: (plan: Plan) => Promise<void> = nothing, pool: Pool = db.sql) =>
  eraseNumber(pool, number, { billingZone, now, record })

type Single = { to?: string; status?: string; text?: string; cascade?: string | null; step?: number | null }

async function aMessage({
  to = NUMBER,
  status = 'DELIVERED',
  text = 'Hello Vera',
  cascade = null,
  step = null,
}: Single) {
  const [uuid] = uuid7Batch(new Date(), 1)
  const first = step === 1 ? uuid! : cascade
  await db.sql`
    insert into messages (company_id, message_uuid, status, final_price, parts, price, brand_id, destination, text, channel_type,
      cascade_uuid, cascade_step)
    values (${world.companyId}, ${uuid!}, ${status}::text::message_status,
      case when ${status}::text in ('DELIVERED', 'FAILED') then 0 end, 1, 0, 1, ${to}, ${text}, 'SMS', ${first}, ${step})`
  return uuid!
}

const rowOf = async (uuid: string) =>
  (await db.sql`select destination, text, status::text as status from messages where message_uuid = ${uuid}`)[0]!

describe('cascades', () => {
  type Cascade = { to?: string; status?: string; condition?: string; hasTimer?: boolean }

  /** A cascade of two steps. The first is written, and names the number. */
  async function aCascade({ to = NUMBER, status = 'DELIVERED', condition, hasTimer }: Cascade) {
    const uuid = await aMessage({ to, status, step: 1 })
    const step = { condition: condition ?? null, ttlSeconds: 60, request: { destination: to, text: `Call ${NUMBER}` } }
    await db.sql`
      insert into cascades (company_id, cascade_uuid, steps, next_step)
      values (${world.companyId}, ${uuid}, ${JSON.stringify([step, step])}::text::jsonb, 2)`
    if (hasTimer)
      await db.sql`
        insert into message_timers (company_id, message_uuid, kind, due_at)
        values (${world.companyId}, ${uuid}, 'step', now() + interval '1 hour')`
    return uuid
  }

  const hasRequests = async (uuid: string) =>
    (await db.sql`select steps @? '$[*].request.text' as found from cascades where cascade_uuid = ${uuid}`)[0]!.found

  const forgetOld = () =>
    forgetOldRequests(db.sql, world.companyId, { after: uuidFloor(new Date(0)), until: uuidFloor(new Date(2 ** 42)) })

  test.each<Cascade>([
    { status: 'DELIVERED' },
    { status: 'DELIVERED', hasTimer: true },
    { status: 'FAILED' },
    { status: 'DELIVERED', condition: 'not_read' },
  ])('are erased and forgotten when nothing starts their next step: %j', async cascade => {
    const own = await aCascade(cascade)
    expect(await erase()).toMatchObject({ objections: [], left: [] })
    expect(await hasRequests(own)).toBe(false)
    const old = await aCascade(cascade)
    await forgetOld()
    expect(await hasRequests(old)).toBe(false)
  })

  test.each<Cascade>([
    { status: 'CREATED' },
    { status: 'SENT' },
    { status: 'DELIVERED', condition: 'not_read', hasTimer: true },
  ])('keep their texts while a step may follow: %j', async cascade => {
    const uuid = await aCascade({ ...cascade, to: OTHER })
    await forgetOld()
    expect((await erase()).objections).toEqual([expect.stringMatching(/^1 rows of cascades have the number in a text/)])
    expect(await hasRequests(uuid)).toBe(true)
    await db.sql`update cascades set ended_at = now()`
    await db.sql`update messages set status = 'FAILED', final_price = 0 where company_id = ${world.companyId}`
  })

  test.each<Cascade>([{ status: 'CREATED' }, { status: 'DELIVERED', condition: 'not_read', hasTimer: true }])(
    'to the number are stopped: %j',
    async cascade => {
      const uuid = await aCascade(cascade)
      expect((await planErasure(db.sql, NUMBER)).objections).toEqual([])
      expect(await erase()).toMatchObject({ objections: [], left: [] })
      expect(await hasRequests(uuid)).toBe(false)
    },
  )
})

describe('messages that are not final', () => {
  test('keep number and text when they are accepted during the erasure, and are reported', async () => {
    const done = await aMessage({})
    let late = ''
    /** Accepted after the stop, when the first values are removed. */
    const pool = new Proxy(db.sql, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'unsafe') return typeof value === 'function' ? value.bind(target) : value
        return (text: string, values: string[]) => {
          const found = target.unsafe(text, values)
          if (late !== '' || !text.startsWith('update messages_')) return found
          return (async () => {
            late = 'soon'
            late = await leasedMessage()
            return found
          })()
        }
      },
    }) as Pool
    const { left } = await erase(NUMBER, nothing, pool)
    expect(left).toEqual([expect.stringMatching(/^1 messages are being sent or were just accepted, such as/)])
    expect(await rowOf(late)).toEqual({ destination: NUMBER, text: 'Hello Vera', status: 'CREATED' })
    expect(await rowOf(done)).toMatchObject({ destination: expect.stringMatching(/^erased-/), text: '[removed]' })
    await db.sql`delete from leases`
    expect((await erase()).left).toEqual([])
    expect((await rowOf(late)).status).toBe('FAILED')
  })

  test('are an objection while a worker has them, and the stop is recorded', async () => {
    const leased = await leasedMessage()
    const recorded: Plan[] = []
    const { left } = await erase(NUMBER, async plan => void recorded.push(plan))
    expect(left).toEqual([expect.stringMatching(/^1 messages are being sent/)])
    expect(recorded.length).toBe(1)
    expect(await rowOf(leased)).toEqual({ destination: NUMBER, text: 'Hello Vera', status: 'CREATED' })
    await db.sql`delete from leases`
    expect((await erase()).left).toEqual([])
  })

  test('are not stopped by an erasure that is refused', async () => {
    const created = await aMessage({ status: 'CREATED' })
    await db.sql`update companies set name = ${NUMBER} where company_id = ${world.companyId}`
    expect((await erase()).objections).toEqual([expect.stringContaining('companies.name')])
    expect((await rowOf(created)).status).toBe('CREATED')
    await db.sql`update companies set name = 'Spring' where company_id = ${world.companyId}`
  })

  /** A message that a worker has a lease on. */
  async function leasedMessage() {
    const uuid = await aMessage({ status: 'CREATED' })
    const [lane] = await db.sql<{ laneId: number }[]>`
      insert into lanes (company_id, channel_type, brand_id, priority, tail, cursor, open, zone)
      values (${world.companyId}, 'SMS', 1, 3, 1, 1, true, ${uuid}) returning lane_id`
    await db.sql`
      insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
      values (${world.companyId}, ${lane!.laneId}, 0, 1, gen_random_uuid(), gen_random_uuid(), now() + interval '1 minute')`
    await db.sql`update messages set lane_id = ${lane!.laneId}, seq = 0 where message_uuid = ${uuid}`
    return uuid
  }
})

test.each([
  ['74951234567', '84951234567'],
  ['79607771234', '9607771234'],
])('the erasure of %s leaves the number %s of another person', async (number, another) => {
  const { companyId } = world
  const message = await aMessage({ to: another })
  await addToBlacklist(db.sql, companyId, another, undefined)
  await db.sql`
    insert into subscribers (company_id, channel_type, sender_name, destination, address)
    values (${companyId}, 'TELEGRAM', 'shop', ${another}, 'chat'), (${companyId}, 'TELEGRAM', 'shop', ${OTHER}, ${another})`
  await db.sql`
    insert into verification_limits (company_id, subject, since, count, last_at)
    values (${companyId}, ${`number:${another}`}, now(), 1, now())`
  await db.sql`
    insert into inbound_messages (company_id, message_uuid, provider_id, channel_type, sender_name, destination, text, center_id, received_at)
    values (${companyId}, gen_random_uuid(), ${another}, 'SMS', 'shop', ${another}, 'Yes', 1, now())`
  const before = await everythingOf(companyId)
  expect((await planErasure(db.sql, number)).naming).toEqual([])
  await erase(number)
  expect(await everythingOf(companyId)).toEqual(before)
  expect(await rowOf(message)).toMatchObject({ destination: another, text: 'Hello Vera' })
  expect(await blacklistedAmong(db.sql, companyId, [another])).toEqual(new Set([another]))
})

const everythingOf = (companyId: number) => db.sql`
  select (select json_agg(b) from blacklist b where company_id = ${companyId}) as blacklist,
    (select json_agg(s) from subscribers s where company_id = ${companyId}) as subscribers,
    (select json_agg(l) from verification_limits l where company_id = ${companyId}) as limits,
    (select json_agg(i) from inbound_messages i where company_id = ${companyId}) as inbound`

test('a number that looks like a date is refused', async () => {
  await expect(planErasure(db.sql, '20261117')).rejects.toThrow('cannot be told apart')
})

test('the callback about another person keeps the number', async () => {
  const { companyId } = world
  const events = JSON.stringify([{ item: { destination: '84951234567', content: 'Call 84951234567' } }])
  await db.sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, happened_at, expires_at)
    values (${companyId}, 'https://a.example', 'https://a.example', 'messaging', ${events}::text::json, 1, now(), now())`
  expect(await erase()).toMatchObject({ objections: [], left: [] })
  expect(await db.sql`select events from callbacks where company_id = ${companyId}`).toEqual([
    { events: [{ item: { destination: '84951234567', content: 'Call [erased]' } }] },
  ])
})

test('keys of repeated requests stay until housekeeping deletes them', async () => {
  await db.sql`
    insert into idempotency_keys (owner, key, request_hash, answer)
    values ('company:1', ${`a-${NUMBER}`}, '', '{}'), ('company:1', ${`b-${NUMBER}`}, '', '{}')`
  expect((await erase()).objections).toEqual([
    'the number is in idempotency_keys.key (rows: 2): housekeeping deletes it after 24 hours',
  ])
  await db.sql`delete from idempotency_keys`
})

test('codes and links of messages whose texts were removed before are erased too', async () => {
  const uuid = await aMessage({ text: '[removed]' })
  const { companyId } = world
  await db.sql`insert into flashcall_results values (${companyId}, ${uuid}, 'WRONG_CODE', '1234', now())`
  expect((await erase()).left).toEqual([])
  expect(await db.sql`select code from flashcall_results where company_id = ${companyId}`).toEqual([{ code: null }])
})

test('rows that are written meanwhile are erased by the next pass', async () => {
  await aMessage({})
  let isWritten = false
  const pool = new Proxy(db.sql, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'begin') return typeof value === 'function' ? value.bind(target) : value
      return async (work: (sql: Transaction) => Promise<unknown>) => {
        const done = await target.begin(work)
        if (!isWritten) await aMessage({})
        isWritten = true
        return done
      }
    },
  }) as Pool
  expect((await erase(NUMBER, nothing, pool)).left).toEqual([])
  expect(await db.sql`select from messages where destination = ${NUMBER}`).toEqual([])
})

test('no month is detached while numbers are replaced', async () => {
  await aMessage({})
  await db.sql.begin(async sql => {
    await lockMonths(sql)
    await expect(erase()).rejects.toThrow('The messages are in use')
  })
  expect((await erase()).left).toEqual([])
})

test('a number that is not ported changes nothing in the plan, and the erasure waits for uploads', async () => {
  const version = async () => (await db.sql`select version from numbering_version`)[0]!.version
  const before = await version()
  await erase()
  expect(await version()).toBe(before)
  await db.sql`insert into ported_numbers values (${NUMBER}::text::bigint, 1)`
  await erase()
  expect(await version()).toBe(before + 1)
  await db.sql`
    insert into numbering_uploads (kind, name, replaces, size_bytes, created_at) values ('ported', 'a.csv', true, 3, now())`
  expect((await erase()).objections).toEqual([expect.stringMatching(/^a file of ported numbers waits/)])
  expect(await db.sql`delete from numbering_uploads returning name`).toEqual([{ name: 'a.csv' }])
})

test('the statistics of PostgreSQL have no value of the number', async () => {
  for (let i = 0; i < 20; i += 1) await aMessage({})
  await db.sql`analyze messages`
  const sampled = () =>
    onEveryNode(db, async sql => {
      await sql`set citus.override_table_visibility = off` // shows the shards
      return sql`
        select from pg_stats where tablename like 'messages%' and most_common_vals::text like ${`%${NUMBER}%`}`
    })
  expect((await sampled()).length).toBeGreaterThan(0)
  await erase()
  expect(await sampled()).toEqual([])
})
