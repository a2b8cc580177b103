import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { uuid7Batch } from '../src/base/uuid7.ts'
import { enqueueCallbacks, type StatusEvent } from '../src/domain/callbacks/callbacks.ts'
import { startCallbackSender } from '../src/engine/callback-sender.ts'
import { startChild } from './child.ts'
import { type Figure, inTurn } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'callbacks'
export const about = 'callbacks a second to local receivers beside a bare http loop; what one that hangs changes'

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

/** The same bodies to the same receivers, as many at once. Ours reads them from the database and writes the results. */
async function besideBareLoop(stage: Stage, { ports }: Ports): Promise<Figure[]> {
  const { ours, floor, ratio } = await inTurn(
    ROUNDS,
    () => deliver(stage, ports),
    () => bareLoop(ports),
  )
  return [
    { what: 'callbacks', value: ours, unit: 'callbacks/s' },
    { what: 'bare keep-alive loop', value: floor, unit: 'callbacks/s' },
    { what: 'ratio', value: ratio, unit: '', target: { least: 0.4 } },
  ]
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
    { what: 'ratio, hanging', value: ratio, unit: '', target: { least: 0.9 } },
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
  const sender = startCallbackSender({
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
    await sql.begin(tx => enqueueCallbacks(tx, companyId, [{ url, events: inventEvents(BATCH) }]))
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

async function bareLoop(ports: number[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const body = JSON.stringify({ ...inventEvents(1)[0], status: 'DELIVERED' })
  const begun = performance.now()
  await Promise.all(ports.flatMap(port => Array.from({ length: AT_ONCE }, () => loop(agent, port, body))))
  const perSecond = (ports.length * EVENTS * 1000) / (performance.now() - begun)
  agent.destroy()
  return perSecond
}

async function loop(agent: Agent, port: number, body: string) {
  for (let i = 0; i < EVENTS / AT_ONCE; i++) await ask(agent, port, body)
}

function ask(agent: Agent, port: number, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const options = { agent, host: '127.0.0.1', port, path: '/callbacks', method: 'POST', headers }
    request(options, response => response.on('end', resolve).resume())
      .on('error', reject)
      .end(body)
  })
}

/** What is alive at most while ten times as much is delivered; garbage is not counted. */
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
