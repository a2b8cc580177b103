import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { channelTypes, trafficTypes } from '../../base/channel-types.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { countryOf } from './country.ts'
import { directions, type FoundMessage, sendingMethods, statusWords } from './found-message.ts'
import { createMessageReader } from './message-reader.ts'
import { requireMessage, searchMessages } from './message-search.ts'
import { type Filter, type Order, sortKeys } from './search.ts'

/** Compares searches with a slow model, which checks the same messages as objects, one by one. */

const db = useDatabase()
const DAY_MS = 24 * 3600_000
const MESSAGES = 240

/** A row of the database. */
type Row = Record<string, unknown> & { message_uuid: string; destination: string; text: string | null }

/** A message of the model. */
type Known = {
  row: Row
  direction: 'outbound' | 'inbound'
  dispatchId: number | null
  channelType: string
  trafficType: string | null
  method: string | null
  centerId: number | null
  senderName: string | null
  tags: string[]
  word: string
  createdAt: number
  sentAt: number | null
  statusAt: number
}

let companyId: number
let otherCompanyId: number
let known: Known[]
let dispatchIds: number[]

beforeAll(async () => {
  const { sql } = db
  const partner = await aPartner(sql)
  otherCompanyId = await aCompany(sql, partner)
  companyId = await aCompany(sql, partner)
  for (let back = 1; back <= 5; back++) {
    await sql`select ensure_message_month((now() at time zone 'UTC' - make_interval(months => ${back}))::date)`
  }
  await fill(otherCompanyId)
  const world = await fill(companyId)
  known = world.known
  dispatchIds = world.dispatchIds
})

// The test data ---------------------------------------------------------------------------------------------------

const destinations = ['79160000001', '79030000002', '77010000003', '375290000004', '12025550105', 'no number']
const texts = ['Ваш код 1234', 'ваш КОД 50%', 'Скидка_10% \\ сегодня', 'Hello World', null]
const tags = ['зима', 'sale', 'vip']

/** Writes several kinds of dispatches, single messages of every channel, cascades and inbound messages. */
async function fill(company: number) {
  const { sql } = db
  const { senderId } = await anApprovedSender(sql, company)
  const ids = await sql<{ id: number }[]>`
    insert into dispatch_ids (company_id) select ${company} from generate_series(1, 3) returning dispatch_id as id`
  const dispatches = [
    { dispatch_id: ids[0]!.id, channel_type: 'SMS', traffic_type: 'PROMO', sender_name: null },
    { dispatch_id: ids[1]!.id, channel_type: 'VK', traffic_type: 'SERVICE', sender_name: 'Клуб', center_id: 7 },
    { dispatch_id: ids[2]!.id, channel_type: 'SMS', traffic_type: 'PROMO', sender_name: 'sms_promo', center_id: 8 },
  ].map((dispatch, i) => ({
    ...dispatch,
    company_id: company,
    name: 'Осень',
    text: 'text',
    sender_ids: [],
    options: i === 1 ? { tags: ['vip'] } : null,
    cascade: i === 2 ? [{}] : null,
  }))
  const made = messagesOf(company, senderId, dispatches)
  await writeDispatches(dispatches, made)
  await write(
    'messages',
    made.filter(({ direction }) => direction === 'outbound').map(({ row }) => row),
  )
  await write(
    'inbound_messages',
    made.filter(({ direction }) => direction === 'inbound').map(({ row }) => row),
  )
  return { known: made, dispatchIds: ids.map(({ id }) => id) }
}

type DispatchRow = Record<string, unknown> & { dispatch_id: number; options: { tags: string[] } | null }

function messagesOf(company: number, senderId: number, dispatches: DispatchRow[]): Known[] {
  const now = Date.now()
  const pick = chooser(7)
  return Array.from({ length: MESSAGES }, (_, i): Known => {
    // The messages are from some months, and most of them are new.
    const created = new Date(now - 1000 - Math.floor((i / MESSAGES) ** 2 * 75 * DAY_MS))
    const [uuid] = uuid7Batch(created, 1)
    const base = { company_id: company, message_uuid: uuid!, destination: pick(destinations), text: pick(texts) }
    const kind = pick(['single', 'single', 'single', 'dispatch', 'dispatch', 'inbound', 'cascade'])
    if (kind === 'inbound') return inboundOf(base, created, pick)
    return outboundOf(base, created, pick, senderId, dispatches, kind)
  })
}

type Pick = <T>(values: readonly T[]) => T

/** Chooses values by a fixed seed, so that every run has the same messages. */
function chooser(seed: number): Pick {
  let state = seed
  return values => {
    state = (state * 1103515245 + 12345) % 2147483648
    return values[Math.floor((state / 2147483648) * values.length)]!
  }
}

function inboundOf(base: Row, created: Date, pick: Pick): Known {
  const row: Row = {
    ...base,
    text: base.text ?? 'Да',
    channel_type: 'WHATSAPP',
    sender_name: pick(['Клуб', 'ROMASHKA']),
    center_id: pick([7, 8]),
    received_at: created.toISOString(),
    is_stop: false,
  }
  const at = created.getTime()
  return {
    row,
    direction: 'inbound',
    dispatchId: null,
    channelType: 'WHATSAPP',
    trafficType: null,
    method: null,
    centerId: row.center_id as number,
    senderName: row.sender_name as string,
    tags: [],
    word: 'inbound_sent',
    createdAt: at,
    sentAt: at,
    statusAt: at,
  }
}

function outboundOf(
  base: Row,
  created: Date,
  pick: Pick,
  senderId: number,
  dispatches: DispatchRow[],
  kind: string,
): Known {
  const dispatch = kind === 'dispatch' ? pick(dispatches) : undefined
  const word = pick(['sending', 'sent', 'delivered', 'undelivered', 'unsent'] as const)
  const isSent = word !== 'sending' && word !== 'unsent'
  const isFinal = word !== 'sending' && word !== 'sent'
  // Some messages wait for days until they are sent. Another test has a dispatch that waits for months.
  const waitMs = pick([1000, 60_000, DAY_MS, 5 * DAY_MS])
  const sentAt = isSent ? Math.min(Date.now(), created.getTime() + waitMs) : null
  const finalAt = isFinal ? Math.min(Date.now(), (sentAt ?? created.getTime()) + pick([1000, 3600_000])) : null
  const row: Row = {
    ...base,
    dispatch_id: dispatch?.dispatch_id ?? null,
    sender_id: dispatch ? (dispatch.sender_name ? null : senderId) : null,
    price: 2.5,
    final_price: isFinal ? (word === 'delivered' ? 2.5 : 0) : null,
    sent_at: sentAt === null ? null : new Date(sentAt).toISOString(),
    final_at: finalAt === null ? null : new Date(finalAt).toISOString(),
    status: { sending: 'CREATED', sent: 'SENT', delivered: 'DELIVERED', undelivered: 'FAILED', unsent: 'FAILED' }[word],
    parts: 1,
    brand_id: 1,
    ...(dispatch ? {} : ownColumns(base, pick, kind)),
  }
  const own = row.options as { tags?: string[] | null } | undefined
  const home = row.cascade_uuid === laterSteps ? dispatches[2]! : dispatch
  return {
    row,
    direction: 'outbound',
    dispatchId: home?.dispatch_id ?? null,
    channelType: (row.channel_type ?? dispatch?.channel_type) as string,
    trafficType: (row.traffic_type ?? dispatch?.traffic_type) as string,
    method: home ? 'DISPATCH' : (row.sending_method as string),
    centerId: (row.center_id ?? home?.center_id ?? null) as number | null,
    senderName: (row.sender_name ?? dispatch?.sender_name ?? 'ROMASHKA') as string,
    tags: (own ?? dispatch?.options)?.tags ?? [],
    word,
    createdAt: created.getTime(),
    sentAt,
    statusAt: finalAt ?? sentAt ?? created.getTime(),
  }
}

const ownColumns = (base: Row, pick: Pick, kind: string) => ({
  channel_type: pick(channelTypes),
  sender_name: pick(['ROMASHKA', 'Клуб', 'sms_promo']),
  traffic_type: pick(trafficTypes),
  // Some clients use uuids as external ids, even the uuid of a message.
  external_id: pick([null, 'order-1', 'order-2', '0b6c1de1-8d2e-4c7b-9f6c-1f1a4a1c3a55', base.message_uuid]),
  center_id: pick([7, 8, null]),
  sending_method: pick(['API', 'UI', 'VERIFIER_API', 'VERIFIER_WIDGET']),
  template_id: pick([null, 1, 2]),
  options: pick([{}, { tags: null }, { tags: ['зима'] }, { tags: ['sale', 'vip'], ttl: 60 }]),
  ...(kind === 'cascade' ? cascadePlaceOf(pick) : {}),
})

/** The first step of this cascade is a message of the third dispatch. */
const laterSteps = '01900000-0000-7000-8000-000000000002'
const cascades = ['01900000-0000-7000-8000-000000000001', laterSteps]

function cascadePlaceOf(pick: Pick) {
  const uuid = pick(cascades)
  return { cascade_uuid: uuid, cascade_step: uuid === laterSteps ? pick([2, 3]) : pick([1, 2, 3]) }
}

const write = (table: string, rows: Record<string, unknown>[]) =>
  db.sql`
    insert into ${db.sql(table)}
    select * from jsonb_populate_recordset(null::${db.sql(table)}, ${db.sql.json(rows as never)})`

/** The third dispatch is sent by cascade. Its later steps may have much greater keys than its own messages. */
async function writeDispatches(dispatches: DispatchRow[], made: Known[]) {
  const { sql } = db
  for (const dispatch of dispatches) {
    const mine = made.filter(({ dispatchId }) => dispatchId === dispatch.dispatch_id).sort(byKey)
    await sql`
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, sender_name,
        center_id, options, cascade, first_uuid, last_uuid)
      select company_id, dispatch_id, name, channel_type, traffic_type, text, '{}', sender_name, center_id,
        options, cascade, ${mine[0]!.row.message_uuid}, ${mine.findLast(({ row }) => row.dispatch_id)!.row.message_uuid}
      from jsonb_populate_record(null::dispatches, ${sql.json(dispatch as never)})`
  }
  await sql`
    insert into cascades (company_id, cascade_uuid, dispatch_id, steps, next_step)
    select ${dispatches[2]!.company_id as number}, ${laterSteps}, ${dispatches[2]!.dispatch_id}, '[{}, {}, {}]', 4`
}

const byKey = (a: Known, b: Known) => (a.row.message_uuid < b.row.message_uuid ? -1 : 1)

// The model -------------------------------------------------------------------------------------------------------

const model: { [K in keyof Required<Filter>]: (message: Known, wanted: NonNullable<Filter[K]>) => boolean } = {
  directions: ({ direction }, wanted) => wanted.includes(direction),
  messageIds: ({ row }, ids) =>
    ids.some(id => id.toLowerCase() === row.message_uuid) || ids.includes((row.external_id ?? '') as string),
  externalIds: ({ row }, ids) => ids.includes((row.external_id ?? '') as string),
  dispatchIds: ({ dispatchId }, ids) => ids.some(id => id === dispatchId),
  destinations: ({ row }, wanted) => wanted.includes(row.destination),
  statuses: ({ word }, wanted) => wanted.some(status => status === word),
  centerIds: ({ centerId }, wanted) => wanted.some(id => id === centerId),
  tags: (message, wanted) => wanted.some(tag => message.tags.includes(tag)),
  methods: ({ method }, wanted) => wanted.some(one => one === method),
  channelTypes: ({ channelType }, wanted) => wanted.some(one => one === channelType),
  trafficTypes: ({ trafficType }, wanted) => wanted.some(one => one === trafficType),
  templateIds: ({ row }, wanted) => wanted.some(id => id === row.template_id),
  senderNames: ({ senderName }, wanted) => wanted.some(name => name === senderName),
  from: (message, from) => (momentOf(message) ?? 0) >= from.getTime(),
  to: (message, to) => (momentOf(message) ?? Number.POSITIVE_INFINITY) <= to.getTime(),
  containing: ({ row }, part) => row.text?.toLowerCase().includes(part.toLowerCase()) ?? false,
  notContaining: ({ row }, part) => !row.text?.toLowerCase().includes(part.toLowerCase()),
  cascadeUuid: ({ row }, uuid) => row.cascade_uuid === uuid,
  isRoot: ({ row }, wanted) => ((row.cascade_step ?? 1) === 1) === wanted,
  isReadyToStop: ({ word }, wanted) => (word === 'sending') === wanted,
  countryCode: ({ row }, code) => countryOf(row.destination) === code,
  isOfDispatch: ({ dispatchId }, wanted) => (dispatchId !== null) === wanted,
}

const momentOf = ({ sentAt, word, statusAt }: Known) => sentAt ?? (word === 'unsent' ? statusAt : undefined)

function expectedOf(filter: Filter, order: Order): string[] {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined) as [keyof Filter, never][]
  const time = { createdTime: 'createdAt', sentTime: 'sentAt', statusTime: 'statusAt' } as const
  const sign = order.descending ? -1 : 1
  return known
    .filter(message => wanted.every(([name, value]) => model[name](message, value)))
    .sort((a, b) => {
      const [x, y] = [a[time[order.by]], b[time[order.by]]]
      if (order.by !== 'createdTime' && x !== y) return x === null ? 1 : y === null ? -1 : (x - y) * sign
      return byKey(a, b) * sign
    })
    .map(({ row }) => row.message_uuid)
}

const uuidsOf = (items: FoundMessage[]) => items.map(({ uuid }) => uuid)

// The tests -------------------------------------------------------------------------------------------------------

const NEWEST: Order = { by: 'createdTime', descending: true }

/** Random filters. Some values match messages, others match none. */
function filtersOf() {
  const some = <T>(values: readonly T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })
  const ids = known
    .slice(0, 60)
    .flatMap(({ row }) => [row.message_uuid, (row.external_id ?? row.message_uuid) as string])
  const times = fc.integer({ min: 0, max: 80 }).map(days => new Date(Date.now() - days * DAY_MS))
  return fc.record(
    {
      directions: some(directions),
      messageIds: some([...ids, ids[0]!.toUpperCase(), 'order-1', 'nobody', '0b6c1de1-8d2e-4c7b-9f6c-1f1a4a1c3a55']),
      externalIds: some(['order-1', 'order-2', 'nobody', '0b6c1de1-8d2e-4c7b-9f6c-1f1a4a1c3a55']),
      dispatchIds: some([...dispatchIds, 999_999]),
      destinations: some([...destinations, '79990000000']),
      statuses: some(statusWords),
      centerIds: some([7, 8, 9]),
      tags: some([...tags, 'лето']),
      methods: some(sendingMethods),
      channelTypes: some(channelTypes),
      trafficTypes: some(trafficTypes),
      templateIds: some([1, 2, 3]),
      senderNames: some(['ROMASHKA', 'Клуб', 'sms_promo', 'nobody']),
      from: times,
      to: times,
      containing: fc.constantFrom('код', 'КОД', '%', '_', '\\', 'hello world', 'nothing'),
      notContaining: fc.constantFrom('код', '%', '_', '\\', 'WORLD', 'nothing'),
      cascadeUuid: fc.constantFrom(...cascades),
      isRoot: fc.boolean(),
      isReadyToStop: fc.boolean(),
      countryCode: fc.constantFrom('RU', 'KZ', 'BY', 'US', 'CA', 'DE'),
      isOfDispatch: fc.boolean(),
    },
    { requiredKeys: ['directions'] },
  )
}

const orders = sortKeys.flatMap(by => [true, false].map((descending): Order => ({ by, descending })))

describe('a search finds the same messages as the model', () => {
  const expectSame = async (filter: Filter, order: Order, page = 1, perPage = 300) => {
    const { total, items } = await searchMessages(db.sql, companyId, filter, { order, page, perPage })
    const expected = expectedOf(filter, order)
    expect(uuidsOf(items)).toEqual(expected.slice((page - 1) * perPage, page * perPage))
    expect(total).toBe(expected.length)
  }

  test.each(Object.keys(model) as (keyof Filter)[])('by %s alone, outbound and inbound', async name => {
    const values = fc.sample(filtersOf(), 200).map(filter => filter[name])
    const distinct = new Map(values.flatMap(value => (value === undefined ? [] : [[JSON.stringify(value), value]])))
    const chosen = [...distinct.values()].slice(0, 12)
    let found = 0
    for (const value of chosen) {
      const alone = { directions: [...directions], [name]: value } as Filter
      await expectSame(alone, NEWEST)
      found += expectedOf(alone, NEWEST).length
    }
    expect(found, 'the test data has no such message').toBeGreaterThan(0)
  })

  test('by any set of filters, in any order, on any page', async () => {
    const few = filtersOf().chain(filter =>
      fc.shuffledSubarray(Object.keys(filter), { maxLength: 4 }).map(names => {
        const chosen = Object.fromEntries(Object.entries(filter).filter(([name]) => names.includes(name)))
        return { ...chosen, directions: filter.directions } as Filter
      }),
    )
    const paging = fc.record({ page: fc.integer({ min: 1, max: 4 }), perPage: fc.constantFrom(1, 7, 50, 300) })
    await fc.assert(
      fc.asyncProperty(few, fc.constantFrom(...orders), paging, (filter, order, { page, perPage }) =>
        expectSame(filter, order, page, perPage),
      ),
      { numRuns: 400 },
    )
  })
})

describe('concurrent searches of a message reader', () => {
  test('find the same messages as a search alone, each for its own filter', async () => {
    const reader = createMessageReader(db.sql)
    const some = known.filter(({ direction }) => direction === 'outbound').slice(0, 40)
    const ids = some.flatMap(({ row }) => [row.message_uuid, (row.external_id ?? 'nobody') as string])
    const filters: Filter[] = [
      ...ids.flatMap(id => [{ messageIds: [id] }, { messageIds: [id.toUpperCase()] }, { externalIds: [id] }]),
      ...destinations.map(destination => ({ destinations: [destination] })),
      { messageIds: [ids[0]!], statuses: ['delivered'] } satisfies Partial<Filter>,
      { messageIds: ids.slice(0, 3) },
      { externalIds: ['order-1'], destinations: [destinations[0]!] },
      {},
    ].map(filter => ({ directions: ['outbound'], ...filter }))
    const paging = { page: 1, perPage: 20 }
    const together = await Promise.all(filters.map(filter => reader.search(companyId, filter, paging)))
    for (const [i, filter] of filters.entries()) {
      const expected = expectedOf(filter, NEWEST)
      expect(uuidsOf(together[i]!.items), JSON.stringify(filter)).toEqual(expected.slice(0, 20))
      expect(together[i]!.total).toBe(expected.length)
      expect(together[i]).toEqual(await searchMessages(db.sql, companyId, filter, paging))
    }
  })

  test('find no messages of another company that searches at the same moment', async () => {
    const reader = createMessageReader(db.sql)
    const { message_uuid: uuid } = known.find(({ direction }) => direction === 'outbound')!.row
    const filter: Filter = { directions: ['outbound'], messageIds: [uuid] }
    const ask = (company: number) => reader.search(company, filter, { page: 1, perPage: 10 })
    const [theirs, ours] = await Promise.all([ask(otherCompanyId), ask(companyId)])
    expect(theirs).toEqual({ total: 0, items: [] })
    expect(uuidsOf(ours.items)).toContain(uuid)
  })

  test('find all messages of a number, even if they are more than one lookup reads', async () => {
    const company = await aCompany(db.sql, await aPartner(db.sql))
    await db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, channel_type)
      select ${company}, uuid, 0, 'CREATED', 1, 1, '79160000001', 'SMS' from unnest(${uuid7Batch(new Date(), 130)}::uuid[]) uuid`
    const filter: Filter = { directions: ['outbound'], destinations: ['79160000001'] }
    const reader = createMessageReader(db.sql)
    expect(await reader.search(company, filter, { page: 1, perPage: 20 })).toMatchObject({ total: 130 })
    expect((await reader.search(company, filter, { page: 1, perPage: 200 })).items.length).toBe(130)
  })
})

describe('pages', () => {
  test('a page past the end is empty, and has the total', async () => {
    const filter: Filter = { directions: ['outbound'] }
    const all = expectedOf(filter, NEWEST)
    const { total, items } = await searchMessages(db.sql, companyId, filter, { page: 30, perPage: 100 })
    expect([total, items]).toEqual([all.length, []])
  })

  test('all pages together have every message once, with outbound and inbound messages in order of time', async () => {
    const filter: Filter = { directions: [...directions] }
    const seen: string[] = []
    for (let page = 1; page <= 10; page++) {
      seen.push(...uuidsOf((await searchMessages(db.sql, companyId, filter, { page, perPage: 25 })).items))
    }
    expect(seen).toEqual(expectedOf(filter, NEWEST))
    expect(seen.length).toBe(MESSAGES)
  })

  test('the total is exact up to 10,000, and 10,000 for more messages', async () => {
    const company = await aCompany(db.sql, await aPartner(db.sql))
    const more = (count: number) => db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text, channel_type)
      select ${company}, uuid, 0, 'CREATED', 1, 1, '79160000001', 'Привет', 'SMS'
      from unnest(${uuid7Batch(new Date(), count)}::uuid[]) uuid`
    const totals = async () => {
      const filters: Filter[] = [{ directions: ['outbound'] }, { directions: [...directions], statuses: ['sending'] }]
      const pages = filters.map(filter => searchMessages(db.sql, company, filter, { page: 2, perPage: 10 }))
      return (await Promise.all(pages)).map(({ total }) => total)
    }
    await more(9999)
    expect(await totals()).toEqual([9999, 9999])
    await more(1)
    expect(await totals()).toEqual([10_000, 10_000])
    await more(25)
    expect(await totals()).toEqual([10_000, 10_000])
  })
})

test('a search that the database cancels is refused as too wide, and other database errors are passed on', async () => {
  const failing = (code: string) =>
    ({
      options: { max: 10 },
      begin: () => Promise.reject(Object.assign(new Error('failed'), { code })),
    }) as unknown as Pool
  const search = (pool: Pool) =>
    searchMessages(pool, companyId, { directions: ['outbound'], containing: 'x' }, { page: 1, perPage: 10 })
  await expect(search(failing('57014'))).rejects.toMatchObject({
    kind: 'search_too_wide',
    reason: 'The search takes too long',
  })
  await expect(search(failing('53300'))).rejects.toMatchObject({ code: '53300' })
})

describe('the time bounds of a search', () => {
  const filled = async (uuid: string, sentAt: Date, completedAt: Date | null) => {
    const company = await aCompany(db.sql, await aPartner(db.sql))
    const [made] = await db.sql<{ id: number }[]>`
      insert into dispatch_ids (company_id) values (${company}) returning dispatch_id as id`
    await db.sql`
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, first_uuid,
        last_uuid, completed_at)
      values (${company}, ${made!.id}, 'Осень', 'SMS', 'PROMO', 'text', '{}', ${uuid}, ${uuid}, ${completedAt})`
    await db.sql`
      insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, price, status, sent_at, parts, brand_id, destination)
      values (${company}, ${uuid}, ${made!.id}, 0, 0, 'SENT', ${sentAt}, 1, 1, '79160000001')`
    return company
  }

  test('find a message of a dispatch that waited for months until its start', async () => {
    const now = Date.now()
    const [uuid] = uuid7Batch(new Date(now - 110 * DAY_MS), 1)
    const filter: Filter = { directions: ['outbound'], from: new Date(now - DAY_MS) }
    for (const completedAt of [null, new Date(now)]) {
      const company = await filled(uuid!, new Date(now - 3600_000), completedAt)
      const { items } = await searchMessages(db.sql, company, filter, { page: 1, perPage: 10 })
      expect(uuidsOf(items)).toEqual([uuid])
    }
  })

  test('are inclusive', async () => {
    const at = new Date(Date.now() - DAY_MS)
    const [uuid] = uuid7Batch(at, 1)
    const company = await filled(uuid!, at, null)
    const count = async (from: Date, to: Date) =>
      (await searchMessages(db.sql, company, { directions: ['outbound'], from, to }, { page: 1, perPage: 10 })).total
    const later = (ms: number) => new Date(at.getTime() + ms)
    expect(await count(at, at)).toBe(1)
    expect(await count(later(1), later(1000))).toBe(0)
    expect(await count(later(-1000), later(-1))).toBe(0)
  })
})

describe('one message', () => {
  const find = (id: string) => requireMessage(db.sql, companyId, id)

  test('is found by its key in upper or lower case, outbound or inbound', async () => {
    for (const direction of directions) {
      const { row } = known.find(message => message.direction === direction)!
      expect(await find(row.message_uuid)).toMatchObject({
        uuid: row.message_uuid,
        direction,
        destination: row.destination,
      })
      expect(await find(row.message_uuid.toUpperCase())).toMatchObject({ uuid: row.message_uuid })
    }
  })

  test('is found by its external id, and is the newest of several', async () => {
    for (const id of ['order-1', '0b6c1de1-8d2e-4c7b-9f6c-1f1a4a1c3a55']) {
      const expected = expectedOf({ directions: ['outbound'], externalIds: [id] }, NEWEST)
      expect(expected.length).toBeGreaterThan(1)
      expect((await find(id)).uuid).toBe(expected[0])
    }
  })

  test('is found by its key before a message with an equal external id', async () => {
    const [uuid, copy] = uuid7Batch(new Date(), 2)
    const row = (key: string, externalId: string | null) => db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, channel_type, external_id)
      values (${otherCompanyId}, ${key}, 0, 'CREATED', 1, 1, '79160000001', 'SMS', ${externalId})`
    await row(uuid!, null)
    await row(copy!, uuid!)
    expect((await requireMessage(db.sql, otherCompanyId, uuid!)).uuid).toBe(uuid)
    const filter: Filter = { directions: ['outbound'], messageIds: [uuid!] }
    const { items } = await searchMessages(db.sql, otherCompanyId, filter, { page: 1, perPage: 10 })
    expect(uuidsOf(items)).toEqual([copy, uuid])
  })

  test('is not found if it belongs to another company or does not exist', async () => {
    const foreign = await searchMessages(
      db.sql,
      otherCompanyId,
      { directions: [...directions] },
      { page: 1, perPage: 300 },
    )
    const ids = [...uuidsOf(foreign.items).slice(0, 5), 'nobody', '01900000-0000-7000-8000-00000000ffff']
    for (const id of ids) await expect(find(id)).rejects.toMatchObject({ kind: 'not_found' })
  })
})
