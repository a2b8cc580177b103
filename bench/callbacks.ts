import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { Pool } from 'undici'
import { uuid7Batch } from '../src/base/uuid7.ts'
import { partnerBody } from '../src/domain/callbacks/callback.ts'
import { enqueueCallbacks, type StatusEvent } from '../src/domain/callbacks/callbacks.ts'
import { makeSecret, signerOf } from '../src/domain/callbacks/signature.ts'
import { CallbackSender } from '../src/engine/callbacks/sender.ts'
import { startChild } from './child.ts'
import { type Figure, inTurn, median, type Round } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'callbacks'
export const about =
  'callbacks per second to local receivers beside a bare undici loop; also with a receiver that hangs'

const ROUNDS = 11
const RECEIVERS = 4
/** As many as the sender has under way to one receiver. */
const AT_ONCE = 4
const EVENTS = 2000
const BATCH = 250

type Ports = { ports: number[]; hanging: number }

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const child = await startChild('receivers.ts', { RECEIVERS: String(RECEIVERS) })
    try {
      const ports = (await (await fetch(`http://127.0.0.1:${child.port}`)).json()) as Ports
      return [
        ...(await besideBareLoop(stage, ports)),
        ...(await besideHanging(stage, ports)),
        await memory(stage, ports),
      ]
    } finally {
      await child.stop()
    }
  })
}

/** Ours reads the events from the database, renders and signs them and writes the results; the floor only sends. */
async function besideBareLoop(stage: Stage, { ports }: Ports): Promise<Figure[]> {
  const rounds = await alternately(
    ROUNDS,
    () => deliver(stage, ports),
    () => bareLoop(ports),
  )
  return [
    { what: 'callbacks', value: median(rounds.map(({ ours }) => ours)), unit: 'callbacks/s' },
    { what: 'bare undici loop', value: median(rounds.map(({ floor }) => floor)), unit: 'callbacks/s' },
    {
      what: 'callbacks, to the bare loop',
      value: median(rounds.map(({ ours, floor }) => ours / floor)),
      unit: '',
      target: { least: 0.7 },
    },
  ]
}

/** In one round ours goes first, in the next the floor; the first round warms up and does not count. */
async function alternately(count: number, ours: () => Promise<number>, floor: () => Promise<number>) {
  const rounds: Round[] = []
  for (let i = 0; i <= count; i++) {
    rounds.push(
      i % 2 === 0 ? { ours: await ours(), floor: await floor() } : { floor: await floor(), ours: await ours() },
    )
  }
  return rounds.slice(1)
}

async function besideHanging(stage: Stage, { ports, hanging }: Ports): Promise<Figure[]> {
  const { ours, floor, ratio } = await inTurn(
    ROUNDS,
    () => deliver(stage, ports, hanging),
    () => deliver(stage, ports),
  )
  return [
    { what: 'while another receiver hangs', value: ours, unit: 'callbacks/s' },
    { what: 'while none does', value: floor, unit: 'callbacks/s' },
    { what: 'while another receiver hangs, to none', value: ratio, unit: '', target: { least: 0.9 } },
  ]
}

/** Callbacks per second, from the start of the sender until every result is written. */
async function deliver({ sql, companyId }: Stage, ports: number[], hanging?: number, events = EVENTS): Promise<number> {
  await sql`delete from callbacks`
  await sql`delete from receivers`
  if (hanging) await enqueue(sql, companyId, hanging, BATCH)
  for (const port of ports) await enqueue(sql, companyId, port, events)
  await sql`vacuum analyze callbacks`

  const begun = performance.now()
  const sender = new CallbackSender({
    sql,
    clock: () => new Date(),
    log: pino({ level: 'error' }),
    settings: { allow: ['127.0.0.0/8'] },
  })
  while (await someWait(sql, hanging)) await pause(10)
  const perSecond = (ports.length * events * 1000) / (performance.now() - begun)
  await sender.stop()
  return perSecond
}

async function enqueue(sql: Stage['sql'], companyId: number, port: number, count: number) {
  const url = `http://127.0.0.1:${port}/callbacks`
  for (let i = 0; i < count; i += BATCH) {
    await sql.begin(tx =>
      enqueueCallbacks(
        tx,
        companyId,
        inventEvents(BATCH).map(event => ({ url, event })),
        new Date(),
      ),
    )
  }
}

const inventEvents = (count: number): StatusEvent[] =>
  uuid7Batch(new Date(), count).map(messageUuid => ({
    event: 'delivered',
    messageUuid,
    destination: '79160000001',
    at: new Date(),
  }))

async function someWait(sql: Stage['sql'], hanging = 0): Promise<boolean> {
  const [row] = await sql<{ waiting: boolean }[]>`
    select exists (
      select from callbacks where status = 'WAITING' and receiver <> ${`http://127.0.0.1:${hanging}`}) as waiting`
  return row!.waiting
}

/** As many requests of the same size to the same receivers, over as many connections; all of them ready beforehand. */
async function bareLoop(ports: number[]): Promise<number> {
  const pools = ports.map(port => new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE, pipelining: 1 }))
  const requests = pools.map(() => inventEvents(EVENTS).map(requestOf))
  const begun = performance.now()
  await Promise.all(pools.flatMap((pool, i) => Array.from({ length: AT_ONCE }, () => loop(pool, requests[i]!))))
  const perSecond = (ports.length * EVENTS * 1000) / (performance.now() - begun)
  await Promise.all(pools.map(pool => pool.close()))
  return perSecond
}

type Request = { headers: Record<string, string>; body: string }

const sign = signerOf(makeSecret())

function requestOf(event: StatusEvent, index: number): Request {
  const body = partnerBody({ ...event, at: event.at.toISOString() })
  const [id, timestamp] = [`evt_1_1000_${index % BATCH}`, Math.floor(event.at.getTime() / 1000)]
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Tidings',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(id, timestamp, body),
  }
  return { headers, body }
}

/** Takes requests until there are none left. */
async function loop(pool: Pool, requests: Request[]) {
  for (let next = requests.pop(); next; next = requests.pop()) {
    const answer = await pool.request({ path: '/callbacks', method: 'POST', ...next })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`)
  }
}

/** The most live memory while ten times as many callbacks are delivered, without garbage. */
async function memory(stage: Stage, { ports }: Ports): Promise<Figure> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const aliveBytes = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = aliveBytes()
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, aliveBytes())
  }, 250)
  await deliver(stage, ports, undefined, EVENTS * 10)
  clearInterval(sampling)
  const what = `memory, ${(ports.length * EVENTS * 10).toLocaleString('en')} callbacks`
  return { what, value: (most - before) / 1e6, unit: 'MB', target: { most: 30 } }
}
