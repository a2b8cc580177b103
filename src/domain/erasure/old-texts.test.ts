import { beforeAll, beforeEach, expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import { useDatabase } from '../../testing/database.ts'
import { readsOf } from '../../testing/plans.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { sendAgain } from '../dispatches/again.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { hasTextsToRemove, removeOldTexts } from './old-texts.ts'

const db = useDatabase()
const DAY_MS = 24 * 3600_000
const now = new Date()
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  for (const days of [10, 40]) await db.sql`select ensure_message_month(${daysAgo(days)}::date)`
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** Single messages of a day, all final unless another status is given. */
async function messagesOf(days: number, count: number, status = 'DELIVERED') {
  const uuids = uuid7Batch(daysAgo(days), count)
  await db.sql`
    insert into messages (company_id, message_uuid, status, final_price, parts, price, brand_id, destination, text, content)
    select ${world.companyId}, unnest(${uuids}::uuid[]), ${status}::text::message_status,
      case when ${status}::text in ('DELIVERED', 'FAILED') then 0 end, 1, 0, 1, '79160000077', 'Hello Vera', '{"a": 1}'`
  return uuids
}

const tomorrow = new Date(now.getTime() + DAY_MS)

/** Says no to the call itself, to its first round and to the given number of batches. */
function afterBatches(count: number) {
  let asked = 0
  return () => ++asked > 1 + count
}

const textsOf = async (uuids: string[]) => {
  const rows = await db.sql`
    select distinct text, content from messages where company_id = ${world.companyId} and message_uuid = any(${uuids}::uuid[])`
  return rows.map(({ text, content }) => [text, content])
}

const kept = ['Hello Vera', { a: 1 }]
const removed = ['[removed]', null]

test('the texts of old final messages are removed, in several batches, and others are kept', async () => {
  const [old, older] = [await messagesOf(10, 2500), await messagesOf(40, 3)]
  const [young, waiting] = [await messagesOf(3, 3), await messagesOf(10, 3, 'CREATED')]
  await removeOldTexts(db.sql, 7, now)
  expect(await textsOf([...old, ...older])).toEqual([removed])
  expect(await textsOf([...young, ...waiting])).toEqual([kept])

  const versions = () => db.sql`select sum(xmin::text::bigint) from messages where company_id = ${world.companyId}`
  const before = await versions()
  await removeOldTexts(db.sql, 7, now)
  expect(await versions()).toEqual(before) // nothing is written twice

  await removeOldTexts(db.sql, 2, now)
  expect(await textsOf(young)).toEqual([removed])
})

test('the work goes on where it stopped, and two engines share it', async () => {
  const uuids = await messagesOf(10, 3500)
  await removeOldTexts(db.sql, 7, now, { mostMs: 0 })
  expect(await textsOf(uuids)).toEqual([kept])
  await Promise.all([removeOldTexts(db.sql, 7, now), removeOldTexts(db.sql, 7, now)])
  await removeOldTexts(db.sql, 7, now)
  expect(await textsOf(uuids)).toEqual([removed])
})

test('a message that is final late loses its text too', async () => {
  const late = await messagesOf(10, 3, 'CREATED')
  const others = await messagesOf(10, 3)
  await removeOldTexts(db.sql, 7, now)
  await db.sql`
    update messages set status = 'FAILED', final_price = 0
    where company_id = ${world.companyId} and message_uuid = any(${late}::uuid[])`
  await removeOldTexts(db.sql, 7, now)
  expect([await textsOf(late), await textsOf(others)]).toEqual([[kept], [removed]]) // they are checked once a day
  await removeOldTexts(db.sql, 7, tomorrow)
  expect(await textsOf(late)).toEqual([removed])
  expect(await db.sql`select from text_leftovers where company_id = ${world.companyId}`).toEqual([])
})

test('a callback that waits keeps the inbound text until it is finished', async () => {
  const { companyId } = world
  const events = [{ kind: 'inbound', item: { destination: '79160000077', content: 'A text', specialContent: null } }]
  await db.sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
    values (${companyId}, 'https://a.example', 'https://a.example', 'messaging', ${JSON.stringify(events)}::text::json, 1,
      'WAITING', ${daysAgo(9)}, ${now})`
  const contents = () => db.sql`
    select events -> 0 -> 'item' ->> 'content' as content from callbacks where company_id = ${companyId}`
  await removeOldTexts(db.sql, 7, now)
  expect(await contents()).toEqual([{ content: 'A text' }])
  await db.sql`update callbacks set status = 'EXPIRED' where company_id = ${companyId}`
  await removeOldTexts(db.sql, 7, tomorrow)
  expect(await contents()).toEqual([{ content: '[removed]' }])
})

test('a cascade whose first step was delivered loses its texts, after its step timer', async () => {
  const { companyId } = world
  const uuids = await messagesOf(10, 2)
  await db.sql`
    update messages set cascade_uuid = message_uuid, cascade_step = 1
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[])`
  const step = { condition: 'not_read', ttlSeconds: 60 }
  const steps = [step, step].map(each => ({ ...each, request: { text: 'A text' } }))
  await db.sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step)
    select ${companyId}, unnest(${uuids}::uuid[]), ${JSON.stringify(steps)}::text::jsonb, 2`
  await db.sql`
    insert into message_timers (company_id, message_uuid, kind, due_at) values (${companyId}, ${uuids[1]!}, 'step', ${now})`
  const stepsOf = () => db.sql`select steps from cascades where company_id = ${companyId} order by cascade_uuid`
  const without = { steps: [step, step] }
  await removeOldTexts(db.sql, 7, now)
  expect(await stepsOf()).toEqual([without, { steps }])
  await db.sql`delete from message_timers where company_id = ${companyId}`
  await removeOldTexts(db.sql, 7, tomorrow)
  expect(await stepsOf()).toEqual([without, without])
})

test('a month has texts to remove until all its messages are final and without text', async () => {
  const month = daysAgo(40).toISOString().slice(0, 7)
  await removeOldTexts(db.sql, 2, tomorrow) // of the other tests
  await db.sql`delete from text_leftovers`
  const late = await messagesOf(40, 1, 'CREATED')
  await db.sql`delete from text_removals where company_id = ${world.companyId}`
  expect(await hasTextsToRemove(db.sql, month)).toBe(true)
  await removeOldTexts(db.sql, 2, now)
  expect(await hasTextsToRemove(db.sql, month)).toBe(true)
  await db.sql`update messages set status = 'FAILED', final_price = 0 where message_uuid = any(${late}::uuid[])`
  await removeOldTexts(db.sql, 2, tomorrow)
  expect(await hasTextsToRemove(db.sql, month)).toBe(false)
})

test('a batch is limited by inbound messages, cascades and callbacks too', async () => {
  const { companyId } = world
  await removeOldTexts(db.sql, 7, now) // of the other tests
  await db.sql`delete from text_removals where company_id = ${companyId}`
  const uuids = uuid7Batch(daysAgo(10), 1500)
  await db.sql`
    insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, center_id, received_at)
    select ${companyId}, unnest(${uuids}::uuid[]), 'SMS', 'SHOP', '79160000077', 'A text', 1, ${daysAgo(10)}`
  await db.sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step)
    select ${companyId}, unnest(${uuid7Batch(daysAgo(9), 1500)}::uuid[]), '[{"request": {"text": "A text"}}]', 2`
  await db.sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
    select ${companyId}, 'https://a.example', 'https://a.example', 'messaging', '[{"kind":"inbound","item":{}}]', 1, 'DELIVERED',
      ${daysAgo(8)}::timestamptz + n * interval '1 second', ${now} from generate_series(1, 1500) n`
  const removedRows = () => db.sql`
    select (select count(*)::int from inbound_messages where company_id = ${companyId} and text = '[removed]') as inbound,
      (select count(*)::int from cascades where company_id = ${companyId} and not steps @? '$[*].request') as cascades,
      (select count(*)::int from callbacks where company_id = ${companyId} and events::text like '%[removed]%') as callbacks`
  for (const [inbound, cascades, callbacks] of [
    [1000, 0, 0],
    [1500, 1000, 0],
    [1500, 1500, 1000],
    [1500, 1500, 1500],
  ]) {
    await removeOldTexts(db.sql, 7, now, { isStopping: afterBatches(1) })
    expect(await removedRows()).toEqual([{ inbound, cascades, callbacks }])
  }
})

test('an engine that stops ends after the batch, and the company that waits longest is next', async () => {
  await removeOldTexts(db.sql, 7, now) // of the other tests
  const large = await messagesOf(10, 2500)
  await db.sql`delete from text_removals where company_id = ${world.companyId}`
  await removeOldTexts(db.sql, 7, now, { isStopping: afterBatches(1) })
  const done = await db.sql`select from messages where message_uuid = any(${large}::uuid[]) and text = '[removed]'`
  expect(done).toHaveLength(1000)

  world = await aWorld(db.sql)
  const small = await messagesOf(10, 3)
  await removeOldTexts(db.sql, 7, now, { isStopping: afterBatches(1) })
  expect(await textsOf(small)).toEqual([removed])
})

test('inbound texts, callbacks about them and the steps of cascades are removed too', async () => {
  const { companyId } = world
  const [old, young] = [uuid7Batch(daysAgo(10), 1)[0]!, uuid7Batch(daysAgo(3), 1)[0]!]
  const event = (content: string) => ({
    kind: 'inbound',
    item: { destination: '79160000077', content, specialContent: {} },
  })
  for (const [uuid, at] of [
    [old, daysAgo(9)],
    [young, daysAgo(3)],
  ] as const) {
    await db.sql`
      insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, content, center_id, received_at)
      values (${companyId}, ${uuid}, 'SMS', 'SHOP', '79160000077', 'A text', '{"a": 1}', 1, ${at})`
    await db.sql`
      insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
      values (${companyId}, 'https://a.example', 'https://a.example', 'messaging',
        ${JSON.stringify([{ kind: 'status' }, event('A text')])}::text::json, 2, 'DELIVERED', ${at}, ${at})`
    await db.sql`
      insert into cascades (company_id, cascade_uuid, steps, next_step)
      values (${companyId}, ${uuid}, '[{"condition": "not_read", "ttlSeconds": 60, "request": {"text": "A text"}}]', 2)`
  }
  await removeOldTexts(db.sql, 7, now)
  expect(
    await db.sql`select text, content from inbound_messages where company_id = ${companyId} order by received_at`,
  ).toEqual([
    { text: '[removed]', content: null },
    { text: 'A text', content: { a: 1 } },
  ])
  const text = 'A text'
  expect(await db.sql`select events from callbacks where company_id = ${companyId} order by callback_id`).toMatchObject(
    [
      { events: [{ kind: 'status' }, { item: { content: '[removed]', specialContent: null } }] },
      { events: [{ kind: 'status' }, { item: { content: text } }] },
    ],
  )
  expect(await db.sql`select steps from cascades where company_id = ${companyId} order by cascade_uuid`).toEqual([
    { steps: [{ condition: 'not_read', ttlSeconds: 60 }] },
    { steps: [{ condition: 'not_read', ttlSeconds: 60, request: { text } }] },
  ])
})

test('a message without its text is not sent again, and the ledger stays exact', async () => {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4))
  await start(db.sql, world, dispatchId)
  await db.sql`update messages set text = '[removed]' where dispatch_id = ${dispatchId} and dispatch_position < 2`
  const uuids = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
  const final = { status: 'FAILED' as const, at: now }
  await recordStatusReports(
    db.sql,
    world.companyId,
    uuids.map(({ uuid }) => ({ uuid, sentAt: now, final })),
    { billingZone, now },
  )
  await db.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
  const again = await sendAgain(db.sql, numbering, { companyId: world.companyId, dispatchId }, 'Again', async () => {})
  expect(
    await db.sql`select distinct text, count(*)::int from messages where dispatch_id = ${again.dispatchId} group by 1`,
  ).toEqual([{ text: 'Hello', count: 2 }])
  expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
})

test('the next messages are found and changed by the primary key', async () => {
  await removeOldTexts(db.sql, 7, now) // of the other tests
  await messagesOf(10, 5000)
  await db.sql`analyze messages`
  for (const about of [/select message_uuid as uuid/, /update messages/]) {
    await db.sql`delete from text_removals where company_id = ${world.companyId}`
    const reads = await readsOf(db, 'force_custom_plan', sql => removeOldTexts(sql, 7, now), about)
    const many = reads.filter(({ rows }) => rows > 100) // a month with some rows is read whole
    expect(many.map(({ index }) => index)).toEqual([expect.stringMatching(/^messages_\d{4}_\d{2}_pkey$/)])
  }
})
