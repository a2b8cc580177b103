import { type Connection, openConnection } from './client.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median, type Options } from './figures.ts'
import { REQUEST_SIZE } from './recipients.ts'
import { onStages, type Stage } from './stage.ts'

export const name = 'engine-history'
export const about = 'the engine with 5,000,000 older messages in the table beside one without (--history N for others)'

/** Short rounds in turn: what else the machine does changes within one of 200,000. */
const ROUNDS = 4
const MESSAGES = 100_000
const HISTORY = 5_000_000
const MONTHS_BACK = 12
const COPIES_AT_ONCE = 20
const WRITERS = 2

type Side = { stage: Stage; connection: Connection }

/** Two servers side by side, measured in turn. */
export function run({ history = HISTORY }: Options = {}): Promise<Figure[]> {
  return onStages(2, async ([first, second]) => {
    await throughEngine(second!, await startSending(second!), REQUEST_SIZE)
    await ageBy(second!, history)
    const fresh = { stage: first!, connection: await startSending(first!) }
    const old = { stage: second!, connection: await openConnection((await second!.startService()).port) }
    await measure(fresh, old, true) // warms up

    const rounds: { with: number; without: number }[] = []
    while (rounds.length < ROUNDS) rounds.push(await measure(fresh, old, rounds.length % 2 === 0))
    const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of))
    return [
      { what: `with ${history.toLocaleString('en')} older messages`, value: middle(r => r.with), unit: 'messages/s' },
      { what: 'without', value: middle(r => r.without), unit: 'messages/s' },
      {
        what: 'with older messages, to without',
        value: middle(r => r.with / r.without),
        unit: '',
        target: { least: 0.85 },
      },
      { what: 'size of the older messages', value: await gigabytesOf(old.stage), unit: 'GB' },
    ]
  })
}

/**
 * The order alternates from round to round, because the first leaves data that must be written to disk during the
 * second.
 */
async function measure(fresh: Side, old: Side, oldFirst: boolean) {
  const perSecond = new Map<Side, number>()
  for (const side of oldFirst ? [old, fresh] : [fresh, old]) {
    perSecond.set(side, await throughEngine(side.stage, side.connection, MESSAGES))
  }
  return { with: perSecond.get(old)!, without: perSecond.get(fresh)! }
}

/**
 * Copies a dispatch that has gone through the engine, with its lanes and counters, into the twelve months before. All
 * of it belongs to the company that sends: the longest possible way through every index.
 */
export async function ageBy({ sql, companyId }: Stage, messages: number) {
  for (let back = 0; back <= MONTHS_BACK; back++) {
    await sql`select ensure_message_month((now() at time zone 'UTC' - make_interval(months => ${back}))::date)`
  }
  const copies = Math.round(messages / REQUEST_SIZE)
  const groups = Array.from({ length: Math.ceil(copies / COPIES_AT_ONCE) }, (_, group) => group * COPIES_AT_ONCE)
  const write = async () => {
    for (let from = groups.shift(); from !== undefined; from = groups.shift()) {
      await copyDispatches({ sql, companyId }, from, Math.min(COPIES_AT_ONCE, copies - from), copies)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  await sql`vacuum analyze`
}

async function copyDispatches(
  { sql, companyId }: Pick<Stage, 'sql' | 'companyId'>,
  from: number,
  count: number,
  of: number,
) {
  await sql.begin(async tx => {
    await tx`set local synchronous_commit = off`
    await tx`
      create temporary table copies on commit drop as
      with made as (
        insert into dispatch_ids (company_id) select ${companyId} from generate_series(1, ${count})
        returning dispatch_id)
      select dispatch_id, lpad(to_hex(floor(1000 * extract(epoch from
        date_trunc('month', now()) - interval '1 hour' - ${MONTHS_BACK} * interval '30 days'
          * (1 - (${from} + row_number() over ()) / ${of}::float)))::bigint), 12, '0') || '70008' as head
      from made`
    const [template] = await tx<{ id: number }[]>`
      select min(dispatch_id) as id from dispatches where company_id = ${companyId} and status = 'COMPLETED'`
    const { id } = template!
    await tx`
      insert into dispatches
      select (jsonb_populate_record(d, jsonb_build_object('dispatch_id', c.dispatch_id,
        'first_uuid', c.head || repeat('0', 15), 'last_uuid', c.head || repeat('f', 15)))).*
      from dispatches d, copies c where d.company_id = ${companyId} and d.dispatch_id = ${id}`
    await tx`
      insert into dispatch_blocks
      select (jsonb_populate_record(b, jsonb_build_object('dispatch_id', c.dispatch_id))).*
      from dispatch_blocks b, copies c where b.company_id = ${companyId} and b.dispatch_id = ${id}`
    await tx`
      insert into lanes (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, zone, tail, cursor, open)
      select l.company_id, c.dispatch_id, channel_type, sender_id, brand_id, priority, zone, tail, cursor, open
      from lanes l, copies c where l.company_id = ${companyId} and l.dispatch_id = ${id}`
    await tx`
      insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, lane_id, seq, sender_id, tariff_id, price,
        final_price, sent_at, final_at, status, parts, brand_id, destination, text)
      select m.company_id, (c.head || lpad(to_hex(m.dispatch_position), 15, '0'))::uuid, c.dispatch_id, m.dispatch_position, l.lane_id,
        m.seq, m.sender_id, m.tariff_id, m.price, m.final_price, m.sent_at, m.final_at, m.status, m.parts, m.brand_id,
        m.destination, m.text
      from dispatches d
      cross join copies c
      join messages m on m.company_id = d.company_id and m.dispatch_id = d.dispatch_id
        and m.message_uuid between d.first_uuid and d.last_uuid
      join lanes l on l.company_id = d.company_id and l.dispatch_id = c.dispatch_id and l.sender_id = m.sender_id
        and l.brand_id = m.brand_id
      where d.company_id = ${companyId} and d.dispatch_id = ${id}
      order by c.head, m.dispatch_position`
  })
}

async function gigabytesOf({ sql }: Stage): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select sum(pg_total_relation_size(inhrelid))::bigint as bytes from pg_inherits
    where inhparent = 'messages'::regclass
      and inhrelid::regclass::text < 'messages_' || to_char(now() at time zone 'UTC', 'YYYY_MM')`
  return row!.bytes / 1e9
}
