import { createKey } from '../src/domain/keys/keys.ts'
import { urlOf } from './bare-database.ts'
import { startChild } from './child.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn, type Options } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'message-read'
export const about =
  'requests a second of GET /message among 5,000,000 messages beside a bare SELECT by key (--history N for others)'

const HISTORY = 5_000_000
const MONTHS_BACK = 12
/**
 * How many messages a number has got: the answer shows them all, while the floor shows one. It decides the last ratio:
 * 0.87 with 3 among all of them; 0.27 with 10, among 200,000 on a busy machine.
 */
const PER_DESTINATION = 3
const BATCH = 50_000
const WRITERS = 2
const ROUNDS = 9
const ROUND_MS = 1500
const CONNECTIONS = 32
const SAMPLE = 2000

type Sample = { uuid: string; externalId: string; destination: string }

export function run({ history = HISTORY }: Options = {}): Promise<Figure[]> {
  return onStage(async stage => {
    const { key } = await stage.sql.begin(tx => createKey(tx, stage.companyId, 'MESSAGE'))
    await writeHistory(stage, history)
    const samples = await sampleOf(stage, history)
    const service = await stage.startService()
    const bare = await startBare(stage)
    try {
      const ours = await openConnections(service.port)
      const floor = await openConnections(bare.port)
      const asks = (path: (sample: Sample) => string) => samples.map(sample => requestBytes(key, `GET ${path(sample)}`))
      const bareAsks = asks(({ uuid }) => `/message?message_uuid=${uuid}`)

      const compare = async (filter: string, valueIn: (sample: Sample) => string) => {
        const requests = asks(sample => `/api/v1/message?${filter}=${valueIn(sample)}`)
        await expectFound(ours[0]!, requests[0]!)
        const found = await inTurn(
          ROUNDS,
          () => askEach(ours, requests),
          () => askEach(floor, bareAsks),
        )
        return figuresOf(filter, found)
      }
      return [
        ...(await compare('message_uuid', ({ uuid }) => uuid)),
        ...(await compare('external_message_id', ({ externalId }) => externalId)),
        ...(await compare('destination', ({ destination }) => destination)), // with all of its messages
      ]
    } finally {
      await bare.stop()
    }
  })
}

function figuresOf(filter: string, { ours, floor, ratio }: { ours: number; floor: number; ratio: number }): Figure[] {
  return [
    { what: `GET /message?${filter}=`, value: ours, unit: 'requests/s' },
    { what: 'SELECT by key, bare', value: floor, unit: 'requests/s' },
    { what: `GET /message?${filter}=, to the SELECT`, value: ratio, unit: '', target: { least: 0.6 } },
  ]
}

/** Single messages over twelve months and this one, all of the company that reads: the longest way through an index. */
async function writeHistory({ sql, companyId }: Stage, messages: number) {
  for (let back = 0; back <= MONTHS_BACK; back++) {
    await sql`select ensure_message_month((now() at time zone 'UTC' - make_interval(months => ${back}))::date)`
  }
  const starts = Array.from({ length: Math.ceil(messages / BATCH) }, (_, batch) => batch * BATCH)
  const write = async () => {
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      await writeBatch({ sql, companyId }, from, Math.min(from + BATCH, messages), messages)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  await sql`vacuum analyze`
}

/** The n-th of all was made n / all of the way through the time; its key, id and number can be told from n. */
async function writeBatch({ sql, companyId }: Pick<Stage, 'sql' | 'companyId'>, from: number, to: number, all: number) {
  await sql.begin(async tx => {
    await tx`set local synchronous_commit = off`
    await tx`
      insert into messages (company_id, message_uuid, price, final_price, sent_at, final_at, status, parts, brand_id,
        destination, text, channel_type, sender_name, traffic_type, sending_method, external_id, options)
      select ${companyId},
        (lpad(to_hex(floor(1000 * extract(epoch from at))::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
        2.5, 2.5, at + interval '1 second', at + interval '3 seconds', 'DELIVERED', 1, 1,
        (79160000000 + (n::bigint * 7919) % ${Math.ceil(all / PER_DESTINATION)}::bigint)::text,
        'Ваш заказ готов к выдаче. Ждём вас каждый день с 9 до 21!', 'SMS', 'sms_promo', 'SERVICE', 'API',
        'order-' || n, '{"tags": ["orders"]}'
      from generate_series(${from}::int, ${to - 1}::int) n
      cross join lateral (
        select now() - interval '1 hour' - ${MONTHS_BACK} * interval '30 days' * (1 - n / ${all}::float) as at) t`
  })
}

const sampleOf = ({ sql, companyId }: Stage, history: number): Promise<Sample[]> => {
  const ids = Array.from({ length: SAMPLE }, () => `order-${Math.floor(Math.random() * history)}`)
  return sql<Sample[]>`
    select message_uuid as uuid, external_id, destination from messages
    where company_id = ${companyId} and external_id = any(${ids}::text[]) order by random()`
}

/** On the same server as the stage. */
function startBare({ sql, companyId }: Stage) {
  return startChild('message-bare.ts', { DATABASE_URL: urlOf(sql), COMPANY_ID: String(companyId) })
}

const openConnections = (port: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(port)))

async function expectFound(connection: Connection, request: Buffer) {
  const { total, items } = jsonOf(await connection.ask(request))
  if (total === 0 || items.length !== total) throw new Error(`found ${items.length} of ${total}`)
}

/** Each connection goes its own way through the requests, again and again, until the time is up. Requests a second. */
async function askEach(connections: Connection[], requests: Buffer[]): Promise<number> {
  const begun = performance.now()
  let answered = 0
  await Promise.all(
    connections.map(async (connection, i) => {
      let next = Math.floor((i * requests.length) / connections.length)
      while (performance.now() - begun < ROUND_MS) {
        await connection.ask(requests[next++ % requests.length]!)
        answered += 1
      }
    }),
  )
  return (answered * 1000) / (performance.now() - begun)
}
