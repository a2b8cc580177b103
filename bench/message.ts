import { finished } from 'node:stream/promises'
import { uuid7Batch } from '../src/base/uuid7.ts'
import type { Pool } from '../src/db/sql.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { urlOf } from './bare-database.ts'
import { startChild } from './child.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn } from './figures.ts'
import { inventRecipients } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'message'
export const about = 'requests a second of POST /message beside a bare INSERT; arrays of 1000 beside plain COPY'

const ROUNDS = 9
const ROUND_MS = 2000
const CONNECTIONS = 64
const ARRAY_SIZE = 1000
const ARRAYS_PER_ROUND = 10
const TEXT = 'Ваш заказ готов к выдаче. Ждём вас каждый день с 9 до 21!'

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    await stage.sql`update senders set status = 'APPROVED'`
    const { key } = await stage.sql.begin(tx => createKey(tx, stage.companyId, 'MESSAGE'))
    return [...(await singles(stage, key)), ...(await arrays(stage, key))]
  })
}

/** Every message is on disk before its request is answered, on both sides. */
async function singles(stage: Stage, key: string): Promise<Figure[]> {
  const service = await stage.startService()
  const bare = await startBare(stage)
  try {
    const [ours, floor] = await Promise.all([openConnections(service.port), openConnections(bare.port)])
    const forms = inventForms(CONNECTIONS)
    const asked = forms.map(form => requestBytes(key, 'POST /api/v1/message', form))
    const askedBare = forms.map(form => requestBytes(key, 'POST /message', form))
    const found = await inTurn(
      ROUNDS,
      () => askFor(ours, asked),
      () => askFor(floor, askedBare),
    )
    await expectKept(stage)
    return [
      { what: 'POST /message, one message', value: found.ours, unit: 'requests/s' },
      { what: 'one INSERT, bare', value: found.floor, unit: 'requests/s' },
      { what: 'POST /message, one message, to one INSERT', value: found.ratio, unit: '', target: { least: 1.1 } },
    ]
  } finally {
    await bare.stop()
    await service.stop()
  }
}

export const inventForms = (count: number) =>
  inventRecipients(count).map(({ destination }, i) => ({
    channelType: 'SMS',
    senderName: 'ROMASHKA',
    destination,
    content: TEXT,
    externalMessageId: `order-${i}`,
  }))

const openConnections = (port: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(port)))

/** Each connection sends its own message again and again, until the time is up. Requests a second. */
async function askFor(connections: Connection[], requests: Buffer[]): Promise<number> {
  const begun = performance.now()
  let answered = 0
  await Promise.all(
    connections.map(async (connection, i) => {
      while (performance.now() - begun < ROUND_MS) {
        await connection.ask(requests[i]!)
        answered += 1
      }
    }),
  )
  return (answered * 1000) / (performance.now() - begun)
}

/** Each accepted message has its place in a lane. The messages of the comparison have no lane. */
async function expectKept({ sql, companyId }: Stage) {
  const [row] = await sql<{ kept: number; tails: number }[]>`
    select (select count(*) from messages m join lanes l using (company_id, lane_id)
      where m.company_id = ${companyId}) as kept,
      (select sum(tail)::bigint from lanes where company_id = ${companyId}) as tails`
  if (!row || row.tails === 0 || row.kept !== row.tails) throw new Error('messages that were answered are missing')
}

/** On the same server as the stage. */
function startBare({ sql, companyId }: Stage) {
  return startChild('message-insert-bare.ts', { DATABASE_URL: urlOf(sql), COMPANY_ID: String(companyId) })
}

/** The same number of rows in a transaction on both sides, one transaction at a time. */
async function arrays(stage: Stage, key: string): Promise<Figure[]> {
  const service = await stage.startService()
  const connection = await openConnection(service.port)
  const request = requestBytes(key, 'POST /api/v1/message', inventForms(ARRAY_SIZE))
  const rows = await writtenRows(stage, connection, request)
  const copies = () => Array.from({ length: ARRAYS_PER_ROUND }, () => freshRows(rows))
  const { ours, floor, ratio } = await inTurn(
    ROUNDS,
    () => perSecond(Array(ARRAYS_PER_ROUND).fill(request), each => connection.ask(each)),
    () => perSecond(copies(), each => copyRows(stage.sql, each)),
  )
  await service.stop()
  return [
    { what: `POST /message, arrays of ${ARRAY_SIZE}`, value: ours, unit: 'messages/s' },
    { what: 'plain COPY', value: floor, unit: 'messages/s' },
    { what: `POST /message, arrays of ${ARRAY_SIZE}, to COPY`, value: ratio, unit: '', target: { least: 0.8 } },
  ]
}

async function perSecond(transactions: Buffer[], transact: (one: Buffer) => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  for (const one of transactions) await transact(one)
  return (transactions.length * ARRAY_SIZE * 1000) / (performance.now() - begun)
}

/** What the service writes for the request, in COPY's own form, split into columns. */
async function writtenRows({ sql, companyId }: Stage, connection: Connection, request: Buffer): Promise<string[][]> {
  const { errors, items } = jsonOf(await connection.ask(request))
  if (errors) throw new Error('not every message was accepted')
  const [first, last] = [items[0].messageUuid, items.at(-1).messageUuid]
  const query = sql.unsafe(
    `copy (select * from messages where company_id = ${companyId} and message_uuid between '${first}' and '${last}') to stdout`,
  )
  const text = Buffer.concat(await (await query.readable()).toArray()).toString('utf8')
  const rows = text
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
  if (rows.length !== ARRAY_SIZE) throw new Error(`${rows.length} rows were written for ${ARRAY_SIZE} messages`)
  return rows
}

/** The rows of other messages, as prepared bytes: new keys, new places in the indexes. */
function freshRows(rows: string[][]): Buffer {
  const uuids = uuid7Batch(new Date(), rows.length)
  const lines = rows.map(([companyId, , ...rest], i) => [companyId, uuids[i], ...rest].join('\t'))
  return Buffer.from(`${lines.join('\n')}\n`)
}

/** In one piece: of all sizes tried the fastest. */
function copyRows(sql: Pool, rows: Buffer) {
  return sql.begin(async tx => {
    const stream = await tx`copy messages from stdin`.writable()
    await finished(stream.end(rows))
  })
}
