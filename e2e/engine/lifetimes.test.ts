import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageRequest, SingleOptions } from '../../src/domain/messages/single.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { recordStatusReports } from '../../src/domain/recording/recording.ts'
import { suspendSender, unsuspendSender } from '../../src/domain/senders/senders.ts'
import { Intake } from '../../src/domain/singles/intake.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aChannel, aGateway, expectBooksInOrder, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aWorld, billingZone, type World } from '../../src/testing/world.ts'

/**
 * The lifetime of single messages. Waiting ends at the ttl or the completion, or after 25 hours without either. A
 * message that was sent without a ttl ends 25 hours after it was sent, also if it had waited long before.
 */

const db = useDatabase()
const { anEngine } = useEngines(db)
const HOUR = 3600_000
let numbering: Numbering
let world: World
let shiftMs = 0
const clock = () => new Date(Date.now() + shiftMs)

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  shiftMs = 0
})

const inMoscow = (ms: number) => new Date(Date.now() + ms + 3 * HOUR).toISOString().slice(0, 19).replace('T', ' ')

async function accept(options: SingleOptions, destination = '79160000001'): Promise<string> {
  const intake = new Intake({
    sql: db.sql,
    clock,
    numbering: () => numbering,
    billingZone,
    linkBase: 'http://localhost/s',
  })
  const request: MessageRequest = {
    channelType: 'SMS',
    senderName: 'ROMASHKA',
    destination,
    text: 'Hello',
    content: null,
    trafficType: null,
    externalId: null,
    centerId: null,
    method: 'API',
    options: { useLocalTime: false, ...options },
    callbackUrl: null,
    callbackEvents: null,
  }
  const [outcome] = await intake.accept(world.companyId, [request])
  if (outcome!.kind === 'refused') throw new Error(outcome!.reason)
  return outcome!.uuid
}

const rowOf = async (uuid: string) => (await db.sql`select * from messages where message_uuid = ${uuid}`)[0]!
const isStatus = (uuid: string, status: string, errorCode: number | null = null) =>
  eventually(async () => {
    const row = await rowOf(uuid)
    expect({ status: row.status, errorCode: row.errorCode }).toEqual({ status, errorCode })
  })

const mts = () => world.senders.find(({ brand }) => brand === 'MTS')!

describe('a message whose name is suspended for 30 hours', () => {
  test('is sent if its completion is in three days, and is not sent without a completion', async () => {
    await aGateway(db.sql)
    const completing = await accept({ localCompletionTime: inMoscow(72 * HOUR) })
    const common = await accept({})
    await suspendSender(db.sql, mts(), undefined)
    shiftMs = 30 * HOUR
    await anEngine({ clock })
    await isStatus(common, 'FAILED', 453) // by then messages that waited too long have been processed
    expect((await rowOf(completing)).status).toBe('CREATED')
    await unsuspendSender(db.sql, mts())
    await isStatus(completing, 'DELIVERED')
    await expectBooksInOrder(db.sql, world)
  })

  test('fails when its completion comes first', async () => {
    await aGateway(db.sql)
    const completing = await accept({ localCompletionTime: inMoscow(29 * HOUR) })
    await suspendSender(db.sql, mts(), undefined)
    shiftMs = 30 * HOUR
    await anEngine({ clock })
    await isStatus(completing, 'FAILED', 453)
    await expectBooksInOrder(db.sql, world)
  })
})

test('a message that is sent half an hour before the end of its waiting time has 25 hours from then', async () => {
  await aGateway(db.sql)
  // The operator never reports these numbers. Only the lifetime or the test ends the messages.
  const scheduled = await accept({ localSendTime: inMoscow(HOUR) }, '79160000005')
  const arriving = await accept({ localSendTime: inMoscow(HOUR) }, '79160000005')
  const withTtl = await accept({ localSendTime: inMoscow(2 * HOUR), ttl: 86_400 }, '79160000005')
  shiftMs = 25.5 * HOUR
  await anEngine({ clock })
  for (const uuid of [scheduled, arriving, withTtl]) await isStatus(uuid, 'SENT')

  shiftMs = 27 * HOUR
  await isStatus(withTtl, 'FAILED', 7060) // by then the timers have run
  expect((await rowOf(scheduled)).status).toBe('SENT')

  const final = { status: 'DELIVERED' as const, at: clock() }
  await recordStatusReports(db.sql, world.companyId, [{ uuid: arriving, final }], { billingZone, now: clock() })
  await isStatus(arriving, 'DELIVERED')

  shiftMs = 50.6 * HOUR
  await isStatus(scheduled, 'FAILED', 7060)
  await expectBooksInOrder(db.sql, world)
})

test('the operator is told the end of the ttl, and no expiry for a message without a ttl', async () => {
  await aGateway(db.sql)
  const channel = aChannel(() => ({ kind: 'accepted', providerIds: ['1'] }))
  await accept({ localCompletionTime: inMoscow(72 * HOUR) })
  await accept({ ttl: 3600 })
  await anEngine({ clock, connect: channel.connect })
  await eventually(() => expect(channel.handed).toHaveLength(2))
  const ends = channel.handed.map(({ expiresAt }) => expiresAt?.getTime())
  expect(ends).toEqual([undefined, expect.any(Number)])
})
