import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { addToBlacklist } from '../../src/domain/blacklist/blacklist.ts'
import { updateCompany } from '../../src/domain/companies/companies.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { denySender } from '../../src/domain/senders/moderation.ts'
import { suspendSender, unsuspendSender } from '../../src/domain/senders/senders.ts'
import { useDatabase } from '../../src/testing/database.ts'
import {
  aChannel,
  aGateway,
  completed,
  expectBooksInOrder,
  expectPaid,
  fatesOf,
  handedOver,
  progressOf,
  useEngines,
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, stop } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

/** A dispatch that is being sent slowly enough to interrupt it. */
async function aDispatchUnderWay(messages = 800, partsPerSecond = 40) {
  const world = await aWorld(db.sql)
  await aGateway(db.sql, { partsPerSecond })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages))
  await start(db.sql, world, dispatchId)
  await anEngine()
  await eventually(async () => expect((await handedOver(db.sql, dispatchId)).messages).toBeGreaterThan(20))
  return { world, dispatchId, senderId: world.senders[0]!.senderId }
}

/** Waits until no more messages are sent. Returns how many were sent before. */
async function expectHeld(dispatchId: number, senderId?: number) {
  const messages = await sentInTheEnd(
    async () => (await handedOver(db.sql, dispatchId, senderId)).messages,
    dispatchId,
    senderId,
  )
  expect(messages).toBeLessThan(senderId ? 200 : 800)
  return messages
}

/**
 * Waits until the engine has no chunk of the dispatch and sends no message of it between two of its reports. A slow engine
 * reports late, too. Returns how many messages were sent.
 */
async function sentInTheEnd(read: () => number | Promise<number>, dispatchId: number, senderId?: number) {
  const chunks = () => db.sql`
    select from leases join lanes using (company_id, lane_id)
    where dispatch_id = ${dispatchId} and worker is not null ${senderId ? db.sql`and sender_id = ${senderId}` : db.sql``}`
  return eventually(async () => {
    const sent = await read()
    await nextReport()
    await nextReport()
    expect(await chunks()).toHaveLength(0)
    expect(await read()).toBe(sent)
    return sent
  })
}

/** Waits for the next report of the engine, which reports every second. */
async function nextReport() {
  const lastReport = async () => (await db.sql`select max(seen_at)::text as at from engines`)[0]!.at
  const before = await lastReport()
  await eventually(async () => expect(await lastReport()).not.toBe(before))
}

const liftLimit = () => db.sql`update gateways set parts_per_second = null`

describe('messages wait:', () => {
  test('the messages of a suspended sender wait within a second, and are sent afterwards', async () => {
    const { world, dispatchId, senderId } = await aDispatchUnderWay()
    await suspendSender(db.sql, world.senders[0]!, 'Complaints')
    const before = await expectHeld(dispatchId, senderId)
    await liftLimit()
    await eventually(async () => expect((await handedOver(db.sql, dispatchId)).messages).toBe(600 + before))
    expect((await handedOver(db.sql, dispatchId, senderId)).messages).toBe(before)
    await expectBooksInOrder(db.sql, world)

    await unsuspendSender(db.sql, world.senders[0]!)
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 800, delivered: 800 })
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 800, messages: 800 })
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('all messages of a disabled company wait within a second, and are sent afterwards', async () => {
    const { world, dispatchId } = await aDispatchUnderWay()
    await updateCompany(db.sql, world.partner, world.companyId, { status: 'DISABLED' })
    expect(await expectHeld(dispatchId)).toBeLessThan(800)
    await updateCompany(db.sql, world.partner, world.companyId, { status: 'ACTIVE' })
    await liftLimit()
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 800, messages: 800 })
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('a stopped dispatch waits within a second, and its reservation is released', async () => {
    const { world, dispatchId } = await aDispatchUnderWay()
    await stop(db.sql, world, dispatchId)
    const sent = await expectHeld(dispatchId)
    await eventually(async () => {
      const { messages } = await progressOf(db.sql, world, dispatchId)
      expect(messages).toEqual({ total: 800, delivered: sent, failed: 0, pending: 800 - sent })
    })
    await eventually(async () => {
      const [account] = await db.sql`select reserved from accounts where company_id = ${world.companyId}`
      expect(account!.reserved).toBe(0n)
    })
    await expectBooksInOrder(db.sql, world)
  })

  test('a chunk that is being sent is blocked, too: messages that are not submitted return to the lane', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const operator = aChannel(async () => {
      await pause(100)
      return { kind: 'accepted' }
    })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(800))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed.length).toBeGreaterThan(5))
    await stop(db.sql, world, dispatchId)
    const taken = await sentInTheEnd(() => operator.handed.length, dispatchId)
    expect(taken).toBeLessThan(300)
    await eventually(async () =>
      expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 800 - taken, SENT: taken }),
    )
    await expectBooksInOrder(db.sql, world)
  })

  test('a paused gateway stops within a second, and another gateway of the brand takes over', async () => {
    const { world, dispatchId } = await aDispatchUnderWay()
    await db.sql`update gateways set paused = true`
    expect(await expectHeld(dispatchId)).toBeLessThan(800)
    const other = await aGateway(db.sql, { name: 'other' })
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    const [taken] = await db.sql`select count(*) as n from simulator_outbox() where gateway_id = ${other.gatewayId}`
    expect(taken!.n).toBeGreaterThan(100)
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 800, messages: 800 })
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('messages wait while their gateway is down, and are sent when it is up', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const operator = aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))
    operator.state.up = false
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect: operator.connect })
    await pause(500)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 40 })
    operator.state.up = true
    await completed(db.sql, world, dispatchId)
    expect(operator.handed).toHaveLength(40)
    await expectPaid(db.sql, world, 0n)
  })

  test('two gateways of a brand share the load', async () => {
    const world = await aWorld(db.sql)
    const gateways = [await aGateway(db.sql, { partsPerSecond: 500 })]
    gateways.push(await aGateway(db.sql, { name: 'other', partsPerSecond: 500 }))
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(2000))
    await start(db.sql, world, dispatchId)
    await anEngine()
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    for (const { gatewayId } of gateways) {
      const [taken] = await db.sql`select count(*) as n from simulator_outbox() where gateway_id = ${gatewayId}`
      expect(taken!.n).toBeGreaterThan(600)
    }
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('a change of settings during a dispatch refuses and loses no message', async () => {
    const { world, dispatchId } = await aDispatchUnderWay(1200, 400)
    for (const receiptMs of [800, 30, 10]) {
      await db.sql`update gateways set settings = ${db.sql.json({ receiptMs, submitMs: 30, ownIds: true })}`
      await pause(700)
    }
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ delivered: 1200, failed: 0 })
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 1200, messages: 1200 })
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('a gateway with an unknown connector affects neither the engine nor other gateways', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql, { name: 'a', connector: 'pigeons', brands: [1] })
    await aGateway(db.sql, { name: 'b', brands: [2, 3, 4] })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
    await start(db.sql, world, dispatchId)
    await anEngine()
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 10, DELIVERED: 30 }))
    await expectBooksInOrder(db.sql, world)
  })
})

describe('messages fail:', () => {
  test.each(['CLOSED', 'DENIED'] as const)(
    'the unsent messages of a %s sender fail with 456 and are not charged',
    async status => {
      const { world, dispatchId, senderId } = await aDispatchUnderWay()
      if (status === 'DENIED') await denySender(db.sql, senderId, undefined, new Date())
      else await db.sql`update senders set status = 'CLOSED' where sender_id = ${senderId}`
      await eventually(async () => {
        const { messages: sent } = await handedOver(db.sql, dispatchId, senderId)
        expect((await fatesOf(db.sql, dispatchId))['FAILED 456']).toBe(200 - sent)
      })
      await liftLimit()
      const { messages } = await completed(db.sql, world, dispatchId)
      const { messages: sent } = await handedOver(db.sql, dispatchId)
      expect(messages).toEqual({ total: 800, delivered: sent, failed: 800 - sent, pending: 0 })
      expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: sent, 'FAILED 456': 800 - sent })
      await expectBooksInOrder(db.sql, world)
    },
  )

  test('a message to a recipient blacklisted after acceptance fails with 7402 and is not sent', async () => {
    const { world, dispatchId } = await aDispatchUnderWay()
    const recipients = someRecipients(800).slice(-4)
    for (const { destination } of recipients) await addToBlacklist(db.sql, world.companyId, destination, undefined)
    await liftLimit()
    await completed(db.sql, world, dispatchId)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 796, 'FAILED 7402': 4 })
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 796, messages: 796 })
    await expectBooksInOrder(db.sql, world)
  })

  test('a message without any gateway fails with 455 and is not charged', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql, { brands: [1, 2] })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
    await start(db.sql, world, dispatchId)
    await anEngine()
    await completed(db.sql, world, dispatchId)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 20, 'FAILED 455': 20 })
    const [sum] = await db.sql`select sum(final_price) as price from messages where error_code = 455`
    expect(sum!.price).toBe(0n)
    await expectBooksInOrder(db.sql, world)
  })
})
