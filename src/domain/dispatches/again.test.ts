import { beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, type World } from '../../testing/world.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { sendAgain } from './again.ts'
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
    expect(await textsOf((await again(original)).dispatchId)).toEqual([`${known[0]!.destination} Hello, Anna`])
  })

  test('is refused while the dispatch runs and when no message failed, and creates no dispatch', async () => {
    const running = await aDispatch(db.sql, numbering, world, someRecipients(1))
    await expect(again(running)).rejects.toThrow('only a COMPLETED one')
    await expect(again(await aFinished(someRecipients(2), []))).rejects.toThrow('No message of the dispatch')
    expect(await db.sql`select from dispatches where again_of = ${running}`).toEqual([])
  })

  test('continues after the first page of messages', async () => {
    const original = await aFinished(
      someRecipients(5200),
      Array.from({ length: 5100 }, (_, i) => i),
    )
    const { dispatchId } = await again(original)
    const [row] =
      await db.sql`select count(distinct destination) as people, count(*) as messages from messages where dispatch_id = ${dispatchId}`
    expect(row).toEqual({ people: 5100, messages: 5100 })
  })
})
