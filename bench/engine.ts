import { setTimeout as pause } from 'node:timers/promises'
import { uuid7Batch } from '../src/base/uuid7.ts'
import { copyInto } from '../src/db/copy.ts'
import type { Pool } from '../src/db/sql.ts'
import { addGateway } from '../src/domain/gateways/gateways.ts'
import type { Child } from './child.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn, median } from './figures.ts'
import { processorTime } from './processor-time.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'engine'
export const about = 'from the creating requests to every message delivered and settled, beside COPY and two UPDATEs'

const MESSAGES = 200_000
const ROUNDS = 2
const UPDATE_SIZE = 2000
const PATIENCE_MS = 120_000

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const parts = await startParts(stage)
    const times: ProcessorTime[] = []
    const ours = async () => {
      const before = await processorTimes(stage, parts)
      const rate = await throughEngine(stage, parts.connection)
      const after = await processorTimes(stage, parts)
      if (before && after) times.push(differenceOf(before, after))
      return rate
    }
    const { ours: rate, floor, ratio } = await inTurn(ROUNDS, ours, () => floorOf(stage))
    return [
      { what: 'messages through the engine', value: rate, unit: 'messages/s' },
      ...processorFigures(times.slice(1)),
      { what: 'COPY and two batched UPDATEs', value: floor, unit: 'messages/s' },
      { what: 'through the engine, to COPY and UPDATEs', value: ratio, unit: '', target: { least: 0.85 } },
    ]
  })
}

type Parts = { service: Child; engine: Child; connection: Connection }
/** Seconds of each part of the system. */
type ProcessorTime = { api: number; engine: number; database: number }

async function processorTimes({ sql }: Stage, { service, engine }: Parts): Promise<ProcessorTime | undefined> {
  const [ofService, ofEngine] = await Promise.all([processorTime(sql, service), processorTime(sql, engine)])
  return ofService && ofEngine && { api: ofService.service, engine: ofEngine.service, database: ofService.database }
}

const differenceOf = (before: ProcessorTime, after: ProcessorTime): ProcessorTime => ({
  api: after.api - before.api,
  engine: after.engine - before.engine,
  database: after.database - before.database,
})

function processorFigures(times: ProcessorTime[]): Figure[] {
  if (times.length === 0) return []
  const figure = (what: string, part: keyof ProcessorTime): Figure => ({
    what: `  processor time of ${what}`,
    value: (median(times.map(time => time[part])) * 1e6) / MESSAGES,
    unit: 'µs/message',
  })
  return [figure('the API', 'api'), figure('the engine', 'engine'), figure('their database sessions', 'database')]
}

/** The service, an engine, and simulated operators that report at once. */
export const startSending = async (stage: Stage, env: Record<string, string> = {}): Promise<Connection> =>
  (await startParts(stage, env)).connection

async function startParts(stage: Stage, env: Record<string, string> = {}): Promise<Parts> {
  const service = await stage.startService(env)
  await addSimulator(stage)
  await stage.sql`update senders set status = 'APPROVED'`
  const engine = await stage.startEngine(env)
  return { service, engine, connection: await openConnection(service.port) }
}

/** Simulated operators that report at once. */
export const addSimulator = ({ sql }: Stage) =>
  addGateway(sql, {
    name: 'simulator',
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: { receiptMs: 0 },
    partsPerSecond: null,
  })

/** Dispatches of 10,000 are created and started one after the other, as a client would. Messages per second. */
export async function throughEngine(stage: Stage, connection: Connection, messages = MESSAGES): Promise<number> {
  const create = createRequest(stage)
  const ids: number[] = []
  const begun = performance.now()
  for (let i = 0; i < messages / REQUEST_SIZE; i++) {
    const { id } = jsonOf(await connection.ask(create))
    ids.push(id)
    await connection.ask(startRequest(stage, id))
  }
  await untilCompleted(stage, ids)
  return (messages * 1000) / (performance.now() - begun)
}

export function createRequest(stage: Stage): Buffer {
  const body = dispatchOf(stage, inventRecipients(REQUEST_SIZE))
  return requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', body)
}

export const startRequest = ({ partner }: Stage, dispatchId: number): Buffer =>
  requestBytes(partner.token, `POST /partner/v1/dispatches/${dispatchId}/start`)

/** The bench fails when the engine makes no progress or has ended. */
export async function untilCompleted({ sql, companyId }: Stage, ids: number[]): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    const open = await openAmong(sql, companyId, ids)
    if (open === 0) return
    if (performance.now() > giveUpAt) throw new Error(`${open} dispatches are not COMPLETED after two minutes`)
    await pause(50)
  }
}

export async function openAmong(sql: Pool, companyId: number, ids: number[]): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*) as open from dispatches
    where company_id = ${companyId} and dispatch_id = any(${ids}::bigint[]) and status <> 'COMPLETED'`
  return row!.open
}

let floorDispatch = 2_000_000_000

/** The same rows written by COPY, then moved twice in batches: what any engine on this schema has to do at least. */
export async function floorOf({ sql, companyId }: Stage): Promise<number> {
  const dispatchId = floorDispatch++
  const uuids = uuid7Batch(new Date(), MESSAGES)
  const text =
    'Уважаемый Константин, ваш заказ готов к выдаче. Сумма к оплате: 4321 руб. Ждём вас каждый день с 9 до 21!'
  const columns = [
    'company_id',
    'message_uuid',
    'dispatch_id',
    'dispatch_position',
    'lane_id',
    'seq',
    'sender_id',
    'tariff_id',
    'price',
    'status',
    'parts',
    'brand_id',
    'destination',
    'text',
  ]
  const numbers = inventRecipients(REQUEST_SIZE).map(({ destination }) => destination)
  const rows = uuids.map((uuid, i) =>
    [
      companyId,
      uuid,
      dispatchId,
      i,
      dispatchId,
      i,
      1,
      1,
      '15.0000',
      'CREATED',
      2,
      1,
      numbers[i % REQUEST_SIZE],
      text,
    ].join('\t'),
  )
  const begun = performance.now()
  for (let from = 0; from < MESSAGES; from += REQUEST_SIZE) {
    await sql.begin(tx =>
      copyInto(tx, 'messages', columns, write => write(`${rows.slice(from, from + REQUEST_SIZE).join('\n')}\n`)),
    )
  }
  for (const [status, column] of [
    ['SENT', 'sent_at'],
    ['DELIVERED', 'final_at'],
  ] as const) {
    for (let from = 0; from < MESSAGES; from += UPDATE_SIZE) {
      const batch = uuids.slice(from, from + UPDATE_SIZE)
      await sql`
        update messages m set status = ${status}, ${sql(column)} = now()
        from unnest(${batch}::uuid[]) q (message_uuid)
        where m.company_id = ${companyId} and m.message_uuid = q.message_uuid and m.message_uuid between ${batch[0]!} and ${batch.at(-1)!}`
    }
  }
  return (MESSAGES * 1000) / (performance.now() - begun)
}
