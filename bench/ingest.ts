import { finished } from 'node:stream/promises'
import { uuid7Batch } from '../src/base/uuid7.ts'
import type { Pool } from '../src/db/sql.ts'
import type { Child } from './child.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn } from './figures.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'ingest'
export const about = 'recipients a second of POST /dispatches beside plain COPY; memory while a million are added'

const ROUNDS = 21
const REQUESTS_PER_ROUND = 2
const MEMORY_REQUESTS = 100

export function run(): Promise<Figure[]> {
  return onStage(async stage => [...(await beside(stage, 1)), ...(await beside(stage, 2)), await peakMemory(stage)])
}

/** The same number of rows in a transaction, and of transactions at a time, on both sides. */
async function beside(stage: Stage, atOnce: number): Promise<Figure[]> {
  const service = await stage.startService()
  const connections = await Promise.all(Array.from({ length: atOnce }, () => openConnection(service.port)))
  const body = dispatchOf(stage, inventRecipients(REQUEST_SIZE))
  const request = requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', body)
  const rows = await writtenRows(stage, connections[0]!, request)

  const post = () => perSecond(atOnce, worker => connections[worker]!.ask(request))
  const copy = async () => {
    const transactions = Array.from({ length: REQUESTS_PER_ROUND }, () => freshRows(rows))
    return perSecond(atOnce, () => copyRows(stage.sql, transactions.pop()!))
  }
  const { ours, floor, ratio } = await inTurn(ROUNDS, post, copy)
  await service.stop()
  return [
    { what: `POST /dispatches, ${atOnce} at a time`, value: ours, unit: 'recipients/s' },
    { what: `plain COPY, ${atOnce} at a time`, value: floor, unit: 'recipients/s' },
    { what: `POST /dispatches, ${atOnce} at a time, to COPY`, value: ratio, unit: '', target: { least: 0.5 } },
  ]
}

/** Shares the transactions of a round among so many workers. Recipients per second. */
async function perSecond(atOnce: number, transact: (worker: number) => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  let left = REQUESTS_PER_ROUND
  const work = async (worker: number) => {
    while (left-- > 0) await transact(worker)
  }
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)))
  return (REQUESTS_PER_ROUND * REQUEST_SIZE * 1000) / (performance.now() - begun)
}

/** What the service writes for the request, in COPY's own form, split into columns. */
async function writtenRows({ sql, companyId }: Stage, connection: Connection, request: Buffer): Promise<string[][]> {
  const { id, success } = jsonOf(await connection.ask(request))
  if (success !== REQUEST_SIZE) throw new Error(`only ${success} of ${REQUEST_SIZE} recipients were accepted`)
  const query = sql.unsafe(
    `copy (select * from messages where company_id = ${companyId} and dispatch_id = ${id} order by dispatch_position) to stdout`,
  )
  const text = Buffer.concat(await (await query.readable()).toArray()).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
}

let lastInvented = 1_000_000_000

/** The rows of another dispatch, as prepared bytes: new keys, new places in the indexes. */
function freshRows(rows: string[][]): Buffer {
  const uuids = uuid7Batch(new Date(), rows.length)
  lastInvented += 100
  const dispatchId = lastInvented
  const lines = rows.map(([companyId, , , position, laneId, ...rest], i) =>
    [companyId, uuids[i], dispatchId, position, dispatchId + (Number(laneId) % 100), ...rest].join('\t'),
  )
  return Buffer.from(`${lines.join('\n')}\n`)
}

/** In one piece: of all sizes tried the fastest. */
function copyRows(sql: Pool, rows: Buffer) {
  return sql.begin(async tx => {
    const stream = await tx`copy messages from stdin`.writable()
    await finished(stream.end(rows))
  })
}

/** A fresh process takes a million recipients into one dispatch, a request at a time. */
async function peakMemory(stage: Stage): Promise<Figure> {
  const service = await stage.startService()
  const connection = await openConnection(service.port)
  const messages = inventRecipients(REQUEST_SIZE)
  const first = requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', dispatchOf(stage, messages))
  const { id } = jsonOf(await connection.ask(first))
  const next = requestBytes(stage.partner.token, `POST /partner/v1/dispatches/${id}/messages`, { messages })
  for (let i = 1; i < MEMORY_REQUESTS; i++) await connection.ask(next)
  return { what: 'peak memory, 1,000,000 recipients', ...(await megabytesOf(service)), target: { most: 400 } }
}

async function megabytesOf(service: Child) {
  const peakBytes = await service.peakBytes()
  await service.stop()
  return { value: peakBytes / 1e6, unit: 'MB' }
}
