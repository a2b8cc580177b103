import { beforeAll, describe, expect, test } from 'vitest'
import type { Pool, Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, type World } from '../../testing/world.ts'
import { REMOVED } from '../messages/message.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { countAgain, sendAgain } from './again.ts'
import type { Recipient } from './dispatch.ts'

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  world = await aWorld(db.sql)
})

const home = (dispatchId: number) => ({ companyId: world.companyId, dispatchId })
const again = (dispatchId: number) => sendAgain(db.sql, numbering, home(dispatchId), 'Again', async () => {})

const counted = (dispatchId: number) => countAgain(db.sql, numbering, home(dispatchId))

/** A COMPLETED dispatch. The messages at these positions failed, the others were delivered. */
async function aFinished(recipients: Recipient[], failed: number[], text = 'Hello') {
  const dispatchId = await aDispatch(db.sql, numbering, world, recipients, { text })
  await db.sql`
    update messages set status = case when dispatch_position = any(${failed}::bigint[]) then 'FAILED' else 'DELIVERED' end::message_status
    where dispatch_id = ${dispatchId} and status = 'CREATED'`
  await db.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
  return dispatchId
}

const textsOf = async (dispatchId: number) =>
  (
    await db.sql`select destination, text from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  ).map(({ destination, text }) => `${destination} ${text}`)

/** The number of accepted messages in the statistics of the company. */
const accepted = async () =>
  (await db.sql`select sum(accepted)::bigint as sum from traffic_hours where company_id = ${world.companyId}`)[0]!.sum

describe('sending again', () => {
  test('takes exactly the failed messages, with their texts', async () => {
    const recipients = someRecipients(5).map((each, i) => ({ ...each, substitutions: { name: `Anna ${i}` } }))
    const { dispatchId, isNew } = await again(await aFinished(recipients, [1, 4], 'Hello, {name}'))
    expect(isNew).toBe(true)
    expect(await textsOf(dispatchId)).toEqual([
      `${recipients[1]!.destination} Hello, Anna 1`,
      `${recipients[4]!.destination} Hello, Anna 4`,
    ])
    const [made] =
      await db.sql`select status, message_count, price_estimate > 0 as priced from dispatches where dispatch_id = ${dispatchId}`
    expect(made).toMatchObject({ status: 'CREATED', messageCount: 2 })
  })

  test('sends no recipient the same text twice', async () => {
    const [one, two] = someRecipients(2)
    const dispatchId = await aFinished([one!, one!, two!, two!], [0, 1, 2])
    expect(await counted(dispatchId)).toMatchObject({
      messages: 1,
      repeated: 1,
      reached: 1,
      removed: 0,
      withoutText: 0,
    })
    expect(await textsOf((await again(dispatchId)).dispatchId)).toEqual([`${one!.destination} Hello`])
  })

  test('happens once, also for ten concurrent requests and for a later request', async () => {
    const original = await aFinished(someRecipients(40), [3, 5])
    const made = await Promise.all(Array.from({ length: 10 }, () => again(original)))
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(new Set(made.map(({ dispatchId }) => dispatchId)).size).toBe(1)
    expect(await again(original)).toEqual({ dispatchId: made[0]!.dispatchId, isNew: false })
    expect(await db.sql`select from dispatches where again_of = ${original}`).toHaveLength(1)
  })

  test('leaves out rejected recipients whose substitutions are not stored', async () => {
    const known = someRecipients(2).map(each => ({ ...each, substitutions: { name: 'Anna' } }))
    const original = await aFinished([...known, { destination: 'no number' }], [0], 'Hello, {name}')
    expect(await counted(original)).toMatchObject({ messages: 1, withoutText: 1 })
    expect(await textsOf((await again(original)).dispatchId)).toEqual([`${known[0]!.destination} Hello, Anna`])
  })

  test('leaves out messages whose texts are removed, and counts the prices of the others', async () => {
    const original = await aFinished(someRecipients(5), [0, 1, 2])
    await db.sql`update messages set text = ${REMOVED} where dispatch_id = ${original} and dispatch_position in (1, 4)`
    const [row] = await db.sql`
      select sum(price) as price from messages where dispatch_id = ${original} and dispatch_position in (0, 2)`
    const { price, ...counts } = (await counted(original))!
    expect(counts).toEqual({ messages: 2, repeated: 0, reached: 0, removed: 1, withoutText: 0 })
    expect(price).toBe(row!.price)
    expect(await textsOf((await again(original)).dispatchId)).toHaveLength(2)
  })

  test('is refused while the dispatch runs and when no message failed, and creates no dispatch', async () => {
    const running = await aDispatch(db.sql, numbering, world, someRecipients(1))
    for (const ask of [again, counted]) await expect(ask(running)).rejects.toThrow('only a COMPLETED one')
    await expect(again(await aFinished(someRecipients(2), []))).rejects.toThrow('No message of the dispatch')
    expect(await db.sql`select from dispatches where again_of = ${running}`).toEqual([])
  })

  test('is refused with a sender name that may not be used any more, also before it is asked for', async () => {
    const other = await aWorld(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, other, someRecipients(2))
    await db.sql`update messages set status = 'FAILED' where dispatch_id = ${dispatchId}`
    await db.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
    await db.sql`update senders set suspended = true where company_id = ${other.companyId}`
    const key = { companyId: other.companyId, dispatchId }
    await expect(countAgain(db.sql, numbering, key)).rejects.toThrow('senderIds')
    await expect(sendAgain(db.sql, numbering, key, 'Again', async () => {})).rejects.toThrow('senderIds')
  })

  test('continues after the first page of messages, and counts all pages in the statistics', async () => {
    const recipients = someRecipients(10_400)
    const repeated = recipients.map((each, i) => (i % 100 === 50 ? recipients[i - 1]! : each))
    const failed = Array.from({ length: 10_300 }, (_, i) => i)
    const original = await aFinished(repeated, failed)
    expect(await counted(original)).toMatchObject({ messages: 10_197, repeated: 103 })
    const before = await accepted()
    const { dispatchId } = await again(original)
    expect((await accepted()) - before).toBe(10_197)
    const expected = repeated
      .filter((_, i) => i < 10_300 && i % 100 !== 50)
      .map(({ destination }) => `${destination} Hello`)
    expect(await textsOf(dispatchId)).toEqual(expected)
    const [row] = await db.sql`select message_count from dispatches where dispatch_id = ${dispatchId}`
    expect(row!.messageCount).toBe(10_197)
  })

  test('skips messages whose texts are removed meanwhile, also a whole page, and creates no dispatch without messages', async () => {
    const original = await aFinished(
      someRecipients(10_003),
      Array.from({ length: 10_003 }, (_, i) => i),
    )
    const removing = (first: number, last: number) =>
      sendAgain(removingMeanwhile(original, first, last), numbering, home(original), 'Again', async () => {})
    await expect(removing(0, 10_002)).rejects.toThrow('No message of the dispatch')
    expect(await db.sql`select from dispatches where again_of = ${original}`).toEqual([])
    await db.sql`update messages set text = 'Hello' where dispatch_id = ${original}`
    const { dispatchId } = await removing(0, 10_001)
    expect(await textsOf(dispatchId)).toHaveLength(1)
  })
})

/** The pool of the tests. It removes the texts at these positions when the first page of failed messages is read. */
function removingMeanwhile(dispatchId: number, first: number, last: number): Pool {
  let isRemoved = false
  const remove = async () => {
    isRemoved = true
    await db.sql`
      update messages set text = ${REMOVED}
      where dispatch_id = ${dispatchId} and dispatch_position between ${first} and ${last}`
  }
  const watched = (sql: Transaction) =>
    new Proxy(sql, {
      apply(target, self, args) {
        const run = () => Reflect.apply(target, self, args)
        return isRemoved || !String(args[0]).includes('dispatch_position between') ? run() : remove().then(run)
      },
    })
  return new Proxy(db.sql, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name)
      return (work: (sql: Transaction) => Promise<unknown>) => target.begin(sql => work(watched(sql)))
    },
  }) as Pool
}

test('a count that the database cancels has no answer, and other database errors are passed on', async () => {
  const failing = (code: string) =>
    ({ begin: () => Promise.reject(Object.assign(new Error('failed'), { code })) }) as unknown as Pool
  expect(await countAgain(failing('57014'), numbering, home(1))).toBeNull()
  await expect(countAgain(failing('53300'), numbering, home(1))).rejects.toMatchObject({ code: '53300' })
})
