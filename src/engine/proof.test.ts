import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../domain/audit/verify.ts'
import { requireDispatchProgress } from '../domain/dispatches/dispatches.ts'
import { addGateway } from '../domain/gateways/gateways.ts'
import { loadNumbering, type Numbering } from '../domain/numbering/numbering.ts'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../testing/world.ts'

const db = useDatabase()
const script = fileURLToPath(new URL('../testing/engine-process.ts', import.meta.url))
const children: ChildProcess[] = []
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  await addGateway(db.sql, {
    name: 'sim',
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: { receiptMs: 30, submitMs: 5 },
    partsPerSecond: null,
  })
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function anEngineProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, db.url], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}

const completed = (world: World, dispatchId: number) =>
  eventually(
    async () => {
      const dispatch = await requireDispatchProgress(db.sql, world.partner, dispatchId)
      expect(dispatch.messages.pending).toBe(0)
      expect(dispatch.status).toBe('COMPLETED')
      return dispatch
    },
    { withinMs: 60_000 },
  )

async function handedOver(dispatchId: number) {
  const [row] = await db.sql<{ times: number; messages: number }[]>`
    select count(*) as times, count(distinct s.uuid) as messages
    from simulator_messages s join messages m on m.company_id = s.company_id and m.uuid = s.uuid
    where m.dispatch_id = ${dispatchId}`
  return row!
}

/** Handed over and not recorded: three chunks under way, each with a slice out, and what waits to be written. */
const WINDOW = 3 * 500 + 6000

test('an engine killed twenty times loses nothing, doubles at most its window, and the money is exact', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(20_000))
  await start(db.sql, world, dispatchId)

  for (let kills = 0; kills < 20; kills++) {
    const engine = await anEngineProcess()
    await pause(Math.random() * 250)
    engine.kill('SIGKILL')
    await once(engine, 'exit')
    // Its leases would run out in seconds; the test does not wait for that each time.
    await db.sql`update leases set until = '-infinity' where worker is not null`
  }
  await anEngineProcess()
  const dispatch = await completed(world, dispatchId)

  expect(dispatch.messages).toEqual({ total: 20_000, delivered: 20_000, failed: 0, pending: 0 })
  const { times, messages } = await handedOver(dispatchId)
  expect(messages).toBe(20_000)
  expect(times - messages).toBeLessThanOrEqual(20 * WINDOW)
  const [account] = await db.sql`select balance, reserved from accounts where company_id = ${world.companyId}`
  expect(account).toEqual({ balance: -dispatch.priceEstimate, reserved: 0n })
  expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
}, 240_000)
