import { once } from 'node:events'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Smsc, type SmscSettings, startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, expectPaid, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

/** Engines in processes of their own, which know nothing of each other, and an SMSC that counts. */
const db = useDatabase()
const smscs: Smsc[] = []
afterEach(async () => {
  for (const smsc of smscs.splice(0)) await smsc.stop()
})
const { anEngineProcess } = useEngines(db)
type EngineProcess = Awaited<ReturnType<typeof anEngineProcess>>
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})
beforeEach(async () => {
  world = await aWorld(db.sql)
})

const BINDS = 4
const RATE = 300
const MESSAGES = 2400

test('three engines keep to the binds and the rate of a gateway; a drained engine leaves nothing behind, and a new engine gets its share', async () => {
  const takenAt: number[] = []
  const { smsc } = await anSmppGateway({
    binds: BINDS,
    partsPerSecond: RATE,
    onMessage: () => takenAt.push(Date.now()),
  })
  const [drained] = await Promise.all([anEngineProcess(), anEngineProcess(), anEngineProcess()])
  await untilShared(smsc, 3)

  const dispatchId = await aStartedDispatch(MESSAGES)
  await eventually(() => expect(takenAt.length).toBeGreaterThan(200))
  expect(await drain(drained)).toBe(0)
  expect(await leftBy(drained)).toEqual({ leases: 0, expiring: 0, engines: 0 })
  await untilShared(smsc, 2)
  await anEngineProcess()
  await untilShared(smsc, 3)

  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ total: MESSAGES, delivered: MESSAGES })
  expect(smsc.counts.accepted).toBe(MESSAGES) // no message was sent twice
  expect(smsc.taken.size).toBe(MESSAGES)
  expect(smsc.bound.get('tidings')!.most).toBe(BINDS)
  expect(mostWithinTime(takenAt)).toBeLessThanOrEqual(0)
  await expectPaid(db.sql, world, priceEstimate)
})

test('an engine that is drained while the operator does not answer ends all the same, and leaves its messages to others', async () => {
  const { smsc } = await anSmppGateway({ binds: 1, silentRate: 1 })
  const engine = await anEngineProcess()
  const dispatchId = await aStartedDispatch(20)
  await eventually(() => expect(smsc.counts.submitted).toBeGreaterThan(0))
  expect(await drain(engine)).toBe(0)
  expect(await leftBy(engine)).toEqual({ leases: 0, expiring: 0, engines: 0 })
  expect(smsc.bound.get('tidings')!.now).toBe(0)

  smsc.behave({ silentRate: 0 })
  await anEngineProcess()
  expect((await completed(db.sql, world, dispatchId)).messages).toMatchObject({ total: 20, delivered: 20 })
})

type Wanted = SmscSettings & { binds: number; partsPerSecond?: number }

async function anSmppGateway({ binds, partsPerSecond, ...settings }: Wanted) {
  const smsc = await startSmsc({ receiptMs: 20, ...settings })
  smscs.push(smsc)
  const quick = { requestMs: 60_000, firstBackoffMs: 20, mostBackoffMs: 200, drainMs: 500 }
  await aGateway(db.sql, {
    name: 'smpp',
    connector: 'smpp',
    partsPerSecond: partsPerSecond ?? null,
    settings: { host: '127.0.0.1', port: smsc.port, systemId: 'tidings', binds, window: 20, ...quick },
  })
  return { smsc }
}

/** All binds are open, and each engine has its share. */
const untilShared = (smsc: Smsc, engines: number) =>
  eventually(async () => {
    const shares = await db.sql<{ binds: number }[]>`select count(*)::int as binds from gateway_binds group by worker`
    expect(shares.map(({ binds }) => binds).sort()).toEqual(engines === 3 ? [1, 1, 2] : [2, 2])
    expect(smsc.bound.get('tidings')!.now).toBe(BINDS)
  })

async function aStartedDispatch(messages: number) {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages))
  await start(db.sql, world, dispatchId)
  return dispatchId
}

async function drain(engine: EngineProcess): Promise<number> {
  engine.kill('SIGTERM')
  const [code] = await once(engine, 'exit')
  return code
}

/** What other engines would have to wait for: leases of the worker, and binds whose owner is gone. */
async function leftBy({ worker }: EngineProcess) {
  const [row] = await db.sql<{ leases: number; expiring: number; engines: number }[]>`
    select (select count(*)::int from leases where worker = ${worker}) as leases,
      (select count(*)::int from gateway_binds b where not exists (
        select from gateway_bind_seekers s where s.gateway_id = b.gateway_id and s.worker = b.worker)) as expiring,
      (select count(*)::int from engines where worker = ${worker}) as engines`
  return row!
}

/** The largest number of messages above rate x time, over all intervals. A second more than the interval is allowed. */
function mostWithinTime(takenAt: number[]): number {
  let most = Number.NEGATIVE_INFINITY
  for (const [first, from] of takenAt.entries()) {
    for (let last = first; last < takenAt.length; last += 10) {
      const seconds = (takenAt[last]! - from) / 1000
      most = Math.max(most, last - first + 1 - RATE * (seconds + 1))
    }
  }
  return most
}
