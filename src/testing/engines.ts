import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterEach, expect } from 'vitest'
import type { Channel, Feed, Outgoing, SendResult } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import { verifyLedger } from '../domain/audit/verify.ts'
import { requireDispatchProgress } from '../domain/dispatches/reading.ts'
import type { Gateway } from '../domain/gateways/gateway.ts'
import { addGateway } from '../domain/gateways/gateways.ts'
import { verifyTraffic } from '../domain/statistics/verify.ts'
import type { EngineOptions } from '../engine/context.ts'
import { startEngine } from '../engine/engine.ts'
import { eventually } from './eventually.ts'
import { billingZone, type World } from './world.ts'

type Engine = Awaited<ReturnType<typeof startEngine>>

/** Engines of a test, in this process or in their own. They stop at the end of the test. */
export function useEngines(db: { sql: Pool; url: string }) {
  const engines = new Set<Engine>()
  const children = new Set<ChildProcess>()

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
    await Promise.all([...engines].map(engine => engine.stop()))
    engines.clear()
    // Remaining messages of a test must not reach the next test.
    await db.sql`update lanes set open = false`
    await db.sql`delete from gateways`
  })

  return {
    async anEngine(given: Partial<EngineOptions> = {}): Promise<Engine> {
      const engine = await startEngine({
        sql: db.sql,
        log: pino({ level: 'silent' }),
        moderation: 'manual',
        billingZone,
        callbacks: { allow: [] },
        ...given,
      })
      engines.add(engine)
      return engine
    },

    async stopEngine(engine: Engine) {
      engines.delete(engine)
      await engine.stop()
    },

    async anEngineProcess(url = db.url, secret?: string): Promise<ChildProcess & { worker: string }> {
      const child = spawn(process.execPath, [script, url, ...(secret ? [secret] : [])], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.add(child)
      const [worker] = await once(child.stdout!, 'data')
      return Object.assign(child, { worker: String(worker).trim() })
    },
  }
}

const script = fileURLToPath(new URL('engine-process.ts', import.meta.url))

/** A simulated operator for SMS of every brand, which sends receipts quickly. */
export async function aGateway(sql: Pool, given: Partial<Gateway> = {}): Promise<Gateway> {
  const gateway = await addGateway(sql, {
    name: 'sim',
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    partsPerSecond: null,
    ...given,
    settings: { receiptMs: 20, ...given.settings },
  })
  return gateway!
}

/** A clock that changes only when the test moves it. */
export function aClock(at: string) {
  let now = new Date(at)
  return Object.assign(() => new Date(now), {
    set(moment: string) {
      now = new Date(moment)
    },
  })
}

type Answer = SendResult | 'unanswered'

/** A channel whose answers the test chooses, with the messages that it got. */
export function aChannel(answerTo: (message: Outgoing) => Answer | Promise<Answer>) {
  const handed: Outgoing[] = []
  const state = { up: true }
  let feed: Feed | undefined
  const channel: Channel = {
    window: 1000,
    health: () => ({ up: state.up }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        handed.push(message)
        const answer = await answerTo(message)
        if (answer !== 'unanswered') report(index, answer)
      }
    },
  }
  return {
    handed,
    state,
    feed: () => feed!,
    connect: (_: Gateway, given: Feed) => {
      feed = given
      return channel
    },
  }
}

export const progressOf = (sql: Pool, world: World, dispatchId: number) =>
  requireDispatchProgress(sql, world.partner, dispatchId)

export function completed(sql: Pool, world: World, dispatchId: number) {
  return eventually(async () => {
    const dispatch = await progressOf(sql, world, dispatchId)
    expect({ status: dispatch.status, pending: dispatch.messages.pending }).toEqual({ status: 'COMPLETED', pending: 0 })
    return dispatch
  })
}

/** As a table for a join with messages. Citus joins no function that reads tables. */
export const acceptedBySimulators = (sql: Pool) => sql`(
  select batch_id * 1000000 + place as simulator_id, (message ->> 'companyId')::bigint as company_id,
    (message ->> 'uuid')::uuid as message_uuid
  from simulator_batches cross join lateral json_array_elements(messages::json) with ordinality _ (message, place)
  offset 0)`

/** The messages of a dispatch that the simulated operators got: their number, and the number of submissions. */
export async function handedOver(sql: Pool, dispatchId: number, senderId?: number) {
  const [row] = await sql<{ times: number; messages: number }[]>`
    select count(*) as times, count(distinct s.message_uuid) as messages
    from ${acceptedBySimulators(sql)} s join messages m on m.company_id = s.company_id and m.message_uuid = s.message_uuid
    where m.dispatch_id = ${dispatchId} ${senderId ? sql`and m.sender_id = ${senderId}` : sql``}`
  return row!
}

/** The number of messages of a dispatch by status and error code: `{ DELIVERED: 3, 'FAILED 456': 1 }`. */
export async function fatesOf(sql: Pool, dispatchId: number): Promise<Record<string, number>> {
  const rows = await sql<{ fate: string; count: number }[]>`
    select concat_ws(' ', status, error_code) as fate, count(*) as count from messages
    where dispatch_id = ${dispatchId} group by 1`
  return Object.fromEntries(rows.map(({ fate, count }) => [fate, count]))
}

export async function expectBooksInOrder(sql: Pool, { companyId }: World) {
  expect(await verifyLedger(sql, { companyId })).toEqual([])
  expect(await verifyTraffic(sql, { companyId })).toEqual([])
}

/** Expects that no money is held and that the charges equal the price of the delivered messages. */
export async function expectPaid(sql: Pool, world: World, price: bigint) {
  const [account] = await sql`select balance, reserved from accounts where company_id = ${world.companyId}`
  expect(account).toEqual({ balance: -price, reserved: 0n })
  await expectBooksInOrder(sql, world)
}
