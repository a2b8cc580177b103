import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { money } from '../../base/money.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner, aSender, numberOf, type TestPartner } from '../../testing/factories.ts'
import { addToBlacklist } from '../blacklist/blacklist.ts'
import { BLOCK_SIZE, type MessageStatus, messageStatuses } from '../messages/message.ts'
import { blocksOfPage, pageOfMessages } from '../messages/messages.ts'
import { brands } from '../numbering/brand.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { updateSender } from '../senders/senders.ts'
import { createDispatch } from './creating.ts'
import type { NewDispatch, Recipient } from './dispatch.ts'
import { startDispatch } from './lifecycle.ts'
import { requireDispatch, requireDispatchProgress } from './reading.ts'
import { addMessages } from './writing.ts'

const db = useDatabase()

let numbering: Numbering
let partner: TestPartner
let companyId: number
let senderIds: number[]

const BLACKLISTED = '79160000666'

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  partner = await aPartner(db.sql)
})

beforeEach(async () => {
  companyId = await aCompany(db.sql, partner)
  await addToBlacklist(db.sql, companyId, BLACKLISTED, undefined)
  const ofThree = brands.slice(0, 3).map(brand => anApprovedSender(db.sql, companyId, { brand }))
  const abroad = anApprovedSender(db.sql, companyId, { brand: 'MTS', commonType: 'INTERNATIONAL_COMMON' })
  senderIds = (await Promise.all([...ofThree, abroad])).map(sender => sender.senderId)
})

const aDispatch = (given: Partial<NewDispatch> = {}): NewDispatch => ({
  name: 'Весна',
  channelType: 'SMS',
  text: 'Здравствуйте, {name}!',
  senderIds,
  schedule: undefined,
  callbackUrl: undefined,
  callbackEvents: undefined,
  ...given,
})

const create = (recipients: Recipient[], dispatch = aDispatch()) =>
  createDispatch(db.sql, numbering, { partner, companyId, dispatch, recipients, once: undefined })

const append = (dispatchId: number, recipients: Recipient[]) =>
  addMessages(db.sql, numbering, { partner, dispatchId, recipients, once: undefined })

const greeting = (destination: string): Recipient => ({ destination, substitutions: { name: 'Анна' } })

/** All results of a recipient: accepted for any sender, or rejected for any reason. */
const recipient: fc.Arbitrary<Recipient> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...brands).map(brand => greeting(numberOf[brand])) },
  { weight: 1, arbitrary: fc.constantFrom('77011234567', '4915112345678').map(greeting) },
  { weight: 1, arbitrary: fc.constantFrom('not a number', '12345', '79351234567', '\t\\N\n').map(greeting) },
  { weight: 1, arbitrary: fc.constant(greeting(BLACKLISTED)) },
  { weight: 1, arbitrary: fc.constant({ destination: numberOf.MTS }) },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 0, max: 1700 })
      .map(length => ({ destination: numberOf.BEELINE, customText: '\\'.repeat(length) })),
  },
)

/** Small requests, and requests that reach the next block of counters. */
const request = fc.oneof(
  { weight: 3, arbitrary: fc.array(recipient, { minLength: 1, maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(recipient, { minLength: 1, maxLength: 7 }), fc.integer({ min: 4980, max: 5020 }))
      .map(([few, size]) => Array.from({ length: size }, (_, i) => few[i % few.length]!)),
  },
)

const inDispatch = (dispatchId: number) => db.sql`company_id = ${companyId} and dispatch_id = ${dispatchId}`

/** Compares all counters with the messages. */
async function expectConsistent(dispatchId: number) {
  const messages = await db.sql<Row[]>`
    select dispatch_position as position, message_uuid as uuid, lane_id, seq, status, parts, price, error_code, text
    from messages where ${inDispatch(dispatchId)} order by dispatch_position`

  expect(messages.map(message => message.position)).toEqual(messages.map((_, i) => i))
  expect(new Set(messages.map(message => message.uuid)).size).toBe(messages.length)
  await expectBlocks(dispatchId)
  await expectLanes(dispatchId, messages)
  await expectTotals(dispatchId, messages)
  for (const message of messages) {
    const refused = message.laneId === null
    expect(refused).toBe(message.status === 'FAILED')
    expect(refused).toBe(message.errorCode !== null)
    if (refused) expect(message).toMatchObject({ parts: 0, price: 0n, seq: null, text: null })
    else expect(message.parts).toBeGreaterThan(0)
  }
  return messages
}

type Row = {
  position: number
  uuid: string
  laneId: number | null
  seq: number | null
  status: MessageStatus
  parts: number
  price: bigint
  errorCode: number | null
  text: string | null
}

async function expectBlocks(dispatchId: number) {
  const count = (status: MessageStatus) => {
    const name = status.toLowerCase()
    return db.sql`
      count(*) filter (where status = ${status}) as ${db.sql(`${name}_messages`)},
      coalesce(sum(parts) filter (where status = ${status}), 0)::bigint as ${db.sql(`${name}_parts`)}`
  }
  const counted = await db.sql`
    select dispatch_position / ${BLOCK_SIZE} as block, ${count('CREATED')}, ${count('SENT')}, ${count('DELIVERED')},
      ${count('FAILED')}, count(*) filter (where status = 'FAILED' and sent_at is null) as unsent_messages,
      coalesce(sum(parts) filter (where status = 'FAILED' and sent_at is null), 0)::bigint as unsent_parts
    from messages where ${inDispatch(dispatchId)} group by 1 order by 1`
  const kept = await db.sql`select * from dispatch_blocks where ${inDispatch(dispatchId)} order by block`
  expect(kept).toEqual(counted.map(row => ({ ...row, companyId: companyId, dispatchId: dispatchId })))
}

async function expectLanes(dispatchId: number, messages: readonly Row[]) {
  const lanes = await db.sql<{ laneId: number; tail: number }[]>`
    select lane_id, tail from lanes where ${inDispatch(dispatchId)}`
  for (const { laneId, tail } of lanes) {
    const places = messages.filter(message => message.laneId === laneId).map(message => message.seq)
    expect(places).toEqual(Array.from({ length: tail }, (_, i) => i))
  }
  const known = new Set(lanes.map(lane => lane.laneId))
  expect(messages.filter(message => message.laneId !== null && !known.has(message.laneId))).toEqual([])
}

async function expectTotals(dispatchId: number, messages: readonly Row[]) {
  const dispatch = await requireDispatchProgress(db.sql, partner, dispatchId)
  const uuids = messages.map(message => message.uuid).sort()
  const sum = (of: readonly Row[]) => of.reduce((total, message) => total + message.parts, 0)
  const failed = messages.filter(message => message.status === 'FAILED')
  expect(dispatch).toMatchObject({
    messageCount: messages.length,
    priceEstimate: messages.reduce((total, message) => total + message.price, 0n),
    firstUuid: uuids[0],
    lastUuid: uuids.at(-1),
    messages: { total: messages.length, failed: failed.length, delivered: 0, pending: messages.length - failed.length },
    parts: { total: sum(messages), failed: sum(failed), delivered: 0, pending: sum(messages) },
  })
}

describe('counters and positions', () => {
  test('agree with the messages after any creation and any additions', async () => {
    await fc.assert(
      fc.asyncProperty(request, fc.array(request, { maxLength: 3 }), async (first, additions) => {
        const acceptances = [await create(first)]
        const { dispatchId } = acceptances[0]!
        for (const addition of additions) acceptances.push(await append(dispatchId, addition))

        const messages = await expectConsistent(dispatchId)
        const sizes = [first, ...additions].map(recipients => recipients.length)
        expect(acceptances.map(acceptance => acceptance.total)).toEqual(sizes)
        expectAcceptancesOf(messages, acceptances)
      }),
      { numRuns: 15 },
    )
  })

  /** Each response lists the messages of its request in their order. Keys rise within a request and from request to request. */
  function expectAcceptancesOf(messages: readonly Row[], acceptances: Awaited<ReturnType<typeof create>>[]) {
    let from = 0
    let time = 0
    for (const { total, success, parts, estimate, accepted } of acceptances) {
      const own = messages.slice(from, from + total)
      const taken = own.filter(message => message.laneId !== null)
      expect(accepted.map(({ uuid }) => uuid)).toEqual(taken.map(({ uuid }) => uuid))
      expect(success).toBe(taken.length)
      expect(parts).toBe(taken.reduce((sum, message) => sum + message.parts, 0))
      expect(money(estimate)).toBe(taken.reduce((sum, message) => sum + message.price, 0n))
      expect(own.map(({ uuid }) => uuid)).toEqual(own.map(({ uuid }) => uuid).sort())
      expect(timeOfUuid7(own[0]!.uuid).getTime()).toBeGreaterThanOrEqual(time)
      time = timeOfUuid7(own[0]!.uuid).getTime()
      from += total
    }
  }

  test('concurrent additions have consecutive positions without a gap', async () => {
    const { dispatchId } = await create([greeting(numberOf.MTS)])
    const sizes = [1, 7, 40, 3, 1200, 5, 2, 30]
    const all = [...brands.map(brand => numberOf[brand]), 'no number', '77011234567']
    await Promise.all(
      sizes.map(size =>
        append(
          dispatchId,
          Array.from({ length: size }, (_, i) => greeting(all[i % all.length]!)),
        ),
      ),
    )
    const messages = await expectConsistent(dispatchId)
    expect(messages).toHaveLength(1 + sizes.reduce((sum, size) => sum + size, 0))
  })

  test('an addition that runs concurrently with the start is complete before it, or is refused and writes nothing', async () => {
    for (let round = 0; round < 6; round++) {
      const { dispatchId } = await create([greeting(numberOf.MTS)])
      const additions = Array.from({ length: 6 }, (_, i) =>
        append(dispatchId, Array(i + 1).fill(greeting(numberOf.MTS))),
      )
      const start = startDispatch(db.sql, partner, dispatchId, { billingZone: 'Europe/Moscow', now: new Date() })
      const outcomes = await Promise.allSettled(additions)
      await start

      const added = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value.total : 0))
      const messages = await expectConsistent(dispatchId)
      expect(messages).toHaveLength(1 + added.reduce((sum, count) => sum + count, 0))
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue
        expect(outcome.reason).toBeInstanceOf(AppError)
        expect(outcome.reason.message).toMatch(/^The dispatch is STARTED/)
      }
      expect((await requireDispatch(db.sql, partner, dispatchId)).status).toBe('STARTED')
      const lanes = await db.sql`select open from lanes where ${inDispatch(dispatchId)}`
      expect(lanes.every(lane => lane.open)).toBe(true)
      await expect(append(dispatchId, [greeting(numberOf.MTS)])).rejects.toMatchObject({ kind: 'invalid' })
    }
  })

  test('a request that the database refuses half-way writes nothing', async () => {
    const counts = () => db.sql`
      select (select count(*) from dispatches) as dispatches, (select count(*) from dispatch_ids) as ids,
        (select count(*) from messages) as messages, (select count(*) from lanes) as lanes,
        (select count(*) from dispatch_blocks) as blocks`
    const { dispatchId } = await create([greeting(numberOf.MTS)])
    const before = await counts()
    const many = Array.from({ length: 3000 }, () => greeting(numberOf.MTS))
    const poisoned = [...many, { destination: numberOf.MTS, customText: 'a\0b' }, ...many]

    await expect(create(poisoned)).rejects.toMatchObject({ code: '22021' })
    await expect(append(dispatchId, poisoned)).rejects.toMatchObject({ code: '22021' })
    expect(await counts()).toEqual(before)
    await append(dispatchId, many)
    await expectConsistent(dispatchId)
  })
})

describe('senders that changed after the dispatch was created', () => {
  test('a sender that became international gets a lane for foreign numbers', async () => {
    const sender = await aSender(db.sql, companyId, { brand: 'TELE2' })
    const { dispatchId } = await create([greeting(numberOf.TELE2)], aDispatch({ senderIds: [sender.senderId] }))
    await updateSender(db.sql, sender, { commonType: 'INTERNATIONAL_COMMON' }, new Date())
    const acceptance = await append(dispatchId, [greeting('77011234567'), greeting(numberOf.TELE2)])
    expect(acceptance).toMatchObject({ total: 2, success: 1 })
    await expectConsistent(dispatchId)
  })
})

describe('the blocks of a page', () => {
  test('are the blocks that contain its messages', () => {
    const counts = fc
      .array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), messages: fc.integer({ min: 1, max: 9 }) }), {
        maxLength: 8,
      })
      .map(items => {
        let block = -1
        return items.map(({ gap, messages }) => {
          block += gap
          return { block, messages }
        })
      })
    const place = fc.integer({ min: 0, max: 80 })
    const size = fc.integer({ min: 1, max: 20 })
    fc.assert(
      fc.property(counts, place, size, (counts, offset, limit) => {
        const all = counts.flatMap(({ block, messages }) => Array<number>(messages).fill(block))
        const page = all.slice(offset, offset + limit)
        const found = blocksOfPage(counts, offset, limit)
        expect(found.blocks).toEqual([...new Set(page)])
        if (page.length > 0) expect(found.skip).toBe(offset - all.indexOf(page[0]!))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a page of messages', () => {
  let home: Awaited<ReturnType<typeof requireDispatch>>

  /** Two and a half blocks of messages. Equal statuses are next to each other, as in a dispatch that is being sent. */
  beforeEach(async () => {
    const { dispatchId } = await create(Array.from({ length: 12_345 }, () => greeting(numberOf.MTS)))
    await db.sql`
      update messages set status = (case
        when dispatch_position < 5100 and dispatch_position % 7 <> 0 then 'DELIVERED' when dispatch_position * 7 % 11 = 3 then 'FAILED'
        when dispatch_position < 9000 then 'SENT' else 'CREATED' end)::message_status
      where ${inDispatch(dispatchId)}`
    await db.sql`
      update dispatch_blocks b set created_messages = c.created, sent_messages = c.sent,
        delivered_messages = c.delivered, failed_messages = c.failed
      from (
        select dispatch_position / ${BLOCK_SIZE} as block, count(*) filter (where status = 'CREATED') as created,
          count(*) filter (where status = 'SENT') as sent, count(*) filter (where status = 'DELIVERED') as delivered,
          count(*) filter (where status = 'FAILED') as failed
        from messages where ${inDispatch(dispatchId)} group by 1) c
      where ${inDispatch(dispatchId)} and b.block = c.block`
    home = await requireDispatch(db.sql, partner, dispatchId)
  })

  test('of any status, size and depth has the messages that plain counting gives', async () => {
    const uuids = await db.sql<{ uuid: string; status: MessageStatus }[]>`
      select message_uuid as uuid, status from messages where ${inDispatch(home.dispatchId)} order by dispatch_position`
    const status = fc.option(fc.constantFrom(...messageStatuses), { nil: undefined })
    const perPage = fc.constantFrom(1, 7, 100, 999, 1000)
    await fc.assert(
      fc.asyncProperty(
        status,
        perPage,
        fc.double({ min: 0, max: 1.1, noNaN: true }),
        async (status, perPage, depth) => {
          const all = uuids.filter(message => status === undefined || message.status === status)
          const page = 1 + Math.floor((depth * all.length) / perPage)
          const found = await pageOfMessages(db.sql, home, status, page, perPage)
          expect(found.total).toBe(all.length)
          const expected = all.slice((page - 1) * perPage, page * perPage)
          expect(found.items.map(({ uuid, status }) => ({ uuid, status }))).toEqual(expected)
        },
      ),
      { numRuns: 120 },
    )
  })

  test('begins where the page before it of the same status ended', async () => {
    const pages: string[] = []
    for (let page = 1; ; page++) {
      const { items } = await pageOfMessages(db.sql, home, 'SENT', page, 1000)
      if (items.length === 0) break
      pages.push(...items.map(item => item.uuid))
    }
    const plain = await db.sql`
      select message_uuid as uuid from messages where ${inDispatch(home.dispatchId)} and status = 'SENT' order by dispatch_position`
    expect(pages).toEqual(plain.map(row => row.uuid))
  })
})
