import { aCompany } from '../src/testing/factories.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn } from './figures.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'depth'
export const about = 'page 5,000 beside page 1 of a million messages, with and without status, and of 50,100 dispatches'

const REQUESTS = 200
const DEEP = 5000
const COPIES = 100
const DISPATCHES = 50_100

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const service = await stage.startService()
    const connection = await openConnection(service.port)
    const dispatchId = await aMillionMessages(stage, connection)
    const companyId = await manyDispatches(stage)
    await stage.sql`vacuum analyze`

    const compare = (path: string) => beside(stage, connection, path)
    return [
      ...(await compare(`/messages?dispatchId=${dispatchId}&perPage=100`)),
      ...(await compare(`/messages?dispatchId=${dispatchId}&perPage=100&status=DELIVERED`)),
      ...(await compare(`/dispatches?companyId=${companyId}&perPage=10`)),
      ...(await compare(`/dispatches?companyId=${companyId}&perPage=10&status=CREATED`)),
    ]
  })
}

/** One request at a time, the two pages in turn. */
async function beside(stage: Stage, connection: Connection, path: string): Promise<Figure[]> {
  const milliseconds = (page: number) => {
    const request = requestBytes(stage.partner.token, `GET /partner/v1${path}&page=${page}`)
    return async () => {
      const begun = performance.now()
      await connection.ask(request)
      return performance.now() - begun
    }
  }
  await expectFullPage(stage, connection, path)
  const { ours, floor, ratio } = await inTurn(REQUESTS, milliseconds(DEEP), milliseconds(1))
  return [
    { what: `${path}, page ${DEEP}`, value: ours, unit: 'ms' },
    { what: 'page 1', value: floor, unit: 'ms' },
    { what: `${path}, page ${DEEP}, to page 1`, value: ratio, unit: '', target: { most: 3 } },
  ]
}

async function expectFullPage(stage: Stage, connection: Connection, path: string) {
  const request = requestBytes(stage.partner.token, `GET /partner/v1${path}&page=${DEEP}`)
  const { items, perPage } = jsonOf(await connection.ask(request))
  if (items.length !== perPage) throw new Error(`page ${DEEP} of ${path} has ${items.length} items, not ${perPage}`)
}

/** A request's messages a hundred times over; every other one is delivered. Counters as the service would keep them. */
async function aMillionMessages({ sql, companyId, ...stage }: Stage, connection: Connection): Promise<number> {
  const body = dispatchOf({ ...stage, sql, companyId }, inventRecipients(REQUEST_SIZE))
  const create = requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', body)
  const { id } = jsonOf(await connection.ask(create))
  await sql`
    with first as (delete from messages where company_id = ${companyId} and dispatch_id = ${id} returning *)
    insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, lane_id, seq, sender_id, tariff_id, price, status,
      sent_at, final_at, parts, brand_id, destination, text)
    select company_id, uuidv7(), dispatch_id, dispatch_position + copy * ${REQUEST_SIZE}, lane_id, seq + copy * ${REQUEST_SIZE},
      sender_id, tariff_id, price,
      case when dispatch_position % 2 = 0 then 'DELIVERED' else 'CREATED' end::message_status,
      case when dispatch_position % 2 = 0 then now() end, case when dispatch_position % 2 = 0 then now() end,
      parts, brand_id, destination, text
    from generate_series(0, ${COPIES - 1}) copy cross join first
    order by copy, dispatch_position`
  await countAgain({ sql, companyId }, id)
  return id
}

async function countAgain({ sql, companyId }: Pick<Stage, 'sql' | 'companyId'>, dispatchId: number) {
  await sql`
    insert into dispatch_blocks (company_id, dispatch_id, block, created_messages, delivered_messages)
    select company_id, dispatch_id, dispatch_position / 5000,
      count(*) filter (where status = 'CREATED'), count(*) filter (where status = 'DELIVERED')
    from messages where company_id = ${companyId} and dispatch_id = ${dispatchId} group by 1, 2, 3
    on conflict (company_id, dispatch_id, block) do update set
      created_messages = excluded.created_messages, delivered_messages = excluded.delivered_messages`
  await sql`
    update dispatches set message_count = ${COPIES * REQUEST_SIZE},
      last_uuid = (select message_uuid from messages where company_id = ${companyId} order by message_uuid desc limit 1)
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
}

/** Dispatches of a company of their own, each with one block of counters. */
async function manyDispatches({ sql, partner }: Stage): Promise<number> {
  const companyId = await aCompany(sql, partner)
  await sql`
    with ids as (
      insert into dispatch_ids (company_id) select ${companyId} from generate_series(1, ${DISPATCHES})
      returning company_id, dispatch_id),
    made as (
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, message_count)
      select company_id, dispatch_id, 'Выдача ' || dispatch_id, 'SMS', 'PROMO', 'Заказ готов', '{1}', 1000 from ids
      order by dispatch_id
      returning company_id, dispatch_id)
    insert into dispatch_blocks (company_id, dispatch_id, block, created_messages, created_parts)
    select company_id, dispatch_id, 0, 1000, 1000 from made`
  return companyId
}
