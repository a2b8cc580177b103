import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Feed } from '../../src/channels/channel.ts'
import { startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import type { Gateway } from '../../src/domain/gateways/gateway.ts'
import { withinAnySecond } from '../../src/domain/limits/limits.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { connectGateway } from '../../src/engine/gateways/connectors.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { drawnInAll, drawsFrom, mostInASecond, watchDraws } from '../../src/testing/draws.ts'
import { aGateway, completed, useEngines } from '../../src/testing/engines.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  await watchDraws(db.sql)
  world = await aWorld(db.sql)
})

const log = pino({ level: 'silent' })
const connect = (gateway: Gateway, feed: Feed) =>
  connectGateway({ sql: db.sql, log, worker: randomUUID() }, gateway, feed)

/** The agreed rate. The operator refuses every part above it in any second. */
test.each([
  ['one engine', 1],
  ['two engines', 2],
])(
  'the rate of a gateway is kept in every second, so that a strict operator refuses nothing: %s',
  async (_, engines) => {
    const smsc = await startSmsc({ partsPerSecond: 100 })
    atEnd.push(() => smsc.stop())
    const { gatewayId } = await aGateway(db.sql, {
      connector: 'smpp',
      partsPerSecond: 100,
      settings: { host: '127.0.0.1', port: smsc.port, systemId: 'tidings', binds: 2 },
    })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(400))
    for (let count = 0; count < engines; count++) await anEngine({ connect })
    await start(db.sql, world, dispatchId)
    const { messages } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 400, delivered: 400 })
    const draws = await drawsFrom(db.sql, withinAnySecond(`gateway:${gatewayId}`, 100))
    expect(mostInASecond(draws)).toBeLessThanOrEqual(100)
    expect(drawnInAll(draws)).toBeGreaterThanOrEqual(400 + smsc.counts.throttled) // every part that was sent was drawn
    // On a busy machine parts that were drawn in time may arrive together. With a burst of one second a third was
    // refused.
    expect(smsc.counts.throttled).toBeLessThanOrEqual(40)
  },
)
