import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { createRequest, openAmong, startRequest, startSending, untilCompleted } from './engine.ts'
import type { Figure } from './figures.ts'
import { REQUEST_SIZE } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'latency'
export const about = 'p99 of GET /ping and GET /dispatches/{id} while the engine is at full speed, beside a bare route'

const MESSAGES = 500_000
/** The engine is under way by then. */
const RUN_UP_MS = 500

type Side = { connection: Connection; request: Buffer; milliseconds: number[] }

/** The same two questions to both processes in turn, one at a time, from the start of the dispatches to their end. */
export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const connection = await startSending(stage)
    const ids = await createDispatches(stage, connection)
    const id = ids.at(-1)!
    const [service, bare] = await Promise.all([stage.startService(), stage.startBare()])
    const side = async (port: number, path: string): Promise<Side> => ({
      connection: await openConnection(port),
      request: requestBytes(stage.partner.token, `GET ${path}`),
      milliseconds: [],
    })
    const sides = {
      ping: await side(service.port, '/api/v1/ping'),
      barePing: await side(bare.port, '/ping'),
      dispatch: await side(service.port, `/partner/v1/dispatches/${id}`),
      bareDispatch: await side(bare.port, `/dispatches/${id}`),
    }
    for (let i = 0; i < 300; i++) await askAll(Object.values(sides), i) // warms up
    for (const { milliseconds } of Object.values(sides)) milliseconds.length = 0

    const begun = performance.now()
    for (const dispatchId of ids) await connection.ask(startRequest(stage, dispatchId))
    await pause(RUN_UP_MS)
    await askWhile(Object.values(sides), async () => (await openAmong(stage.sql, stage.companyId, ids)) > 0)
    await untilCompleted(stage, ids)
    const perSecond = (MESSAGES * 1000) / (performance.now() - begun)
    return [
      { what: 'the engine meanwhile', value: perSecond, unit: 'messages/s' },
      { what: 'requests of each kind', value: sides.ping.milliseconds.length, unit: '' },
      ...besides('GET /api/v1/ping', sides.ping, sides.barePing),
      ...besides('GET /partner/v1/dispatches/{id}', sides.dispatch, sides.bareDispatch),
    ]
  })
}

async function createDispatches(stage: Stage, connection: Connection): Promise<number[]> {
  const create = createRequest(stage)
  const ids: number[] = []
  while (ids.length < MESSAGES / REQUEST_SIZE) ids.push(jsonOf(await connection.ask(create)).id)
  await stage.sql`vacuum analyze`
  return ids
}

const LOOK_EVERY = 50

async function askWhile(sides: Side[], goesOn: () => Promise<boolean>) {
  for (let turn = 0; turn % LOOK_EVERY > 0 || (await goesOn()); turn++) await askAll(sides, turn)
}

/** The order alternates from turn to turn. */
async function askAll(sides: Side[], turn: number) {
  for (let i = 0; i < sides.length; i++) {
    const { connection, request, milliseconds } = sides[(turn + i) % sides.length]!
    const begun = performance.now()
    await connection.ask(request)
    milliseconds.push(performance.now() - begun)
  }
}

function besides(what: string, ours: Side, bare: Side): Figure[] {
  const at = (share: number) => ({ ours: quantile(ours.milliseconds, share), bare: quantile(bare.milliseconds, share) })
  const [half, p99] = [at(0.5), at(0.99)]
  return [
    { what: `${what}, p99`, value: p99.ours, unit: 'ms' },
    { what: 'bare, p99', value: p99.bare, unit: 'ms' },
    { what: `${what}, p99, to bare`, value: p99.ours / p99.bare, unit: '', target: { most: 3 } },
    { what: `${what}, median, to bare`, value: half.ours / half.bare, unit: '' },
  ]
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!
}
