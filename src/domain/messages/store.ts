import { copyInto, copyText } from '../../db/copy.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { BLOCK_SIZE, type Message, type MessageStatus, type NewMessage } from './message.ts'

const columns = (sql: Sql) => sql`
  uuid, destination, text, parts, status, price, sender_id as "senderId", brand_id as "brandId",
  error_code as "errorCode", sent_at as "sentAt", final_at as "finalAt"`

const written = [
  'company_id',
  'uuid',
  'dispatch_id',
  'position',
  'lane_id',
  'seq',
  'sender_id',
  'tariff_id',
  'price',
  'final_at',
  'status',
  'error_code',
  'parts',
  'brand_id',
  'destination',
  'text',
]

/** Writes the messages of one request by COPY, a batch at a time as they are made. */
export function copyMessages(
  sql: Transaction,
  home: { companyId: number; dispatchId: number; now: Date },
  batches: AsyncIterable<NewMessage[]>,
) {
  const row = rowWriter(home)
  return copyInto(sql, 'messages', written, async write => {
    for await (const batch of batches) {
      let rows = ''
      for (const message of batch) rows += row(message)
      await write(rows)
    }
  })
}

/** One template for the row: this runs for every message, and a list of fields joined costs twice as much. */
function rowWriter({ companyId, dispatchId, now }: { companyId: number; dispatchId: number; now: Date }) {
  const refusedAt = now.toISOString()
  const or = (value: number | null) => (value === null ? '\\N' : value)
  return (m: NewMessage) =>
    `${companyId}\t${m.uuid}\t${dispatchId}\t${m.position}\t${or(m.laneId)}\t${or(m.seq)}\t${or(m.senderId)}\t${or(m.tariffId)}\t${m.price}\t${m.status === 'FAILED' ? refusedAt : '\\N'}\t${m.status}\t${or(m.errorCode)}\t${m.parts}\t${m.brandId}\t${copyText(m.destination)}\t${m.text === null ? '\\N' : copyText(m.text)}\n`
}

/** What every question about a dispatch's messages carries: the bounds of their keys keep it to their months. */
export type MessageHome = {
  companyId: number
  dispatchId: number
  firstUuid: string | null
  lastUuid: string | null
}

export function selectByPosition(sql: Sql, home: MessageHome, from: number, count: number) {
  return sql<Message[]>`
    select ${columns(sql)} from messages
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}
      and position >= ${from} and position < ${from + count}
      and uuid between ${home.firstUuid} and ${home.lastUuid}
    order by position`
}

/** Messages of one status within the given blocks, in the order submitted. */
export function selectFromBlocks(
  sql: Sql,
  home: MessageHome,
  status: MessageStatus,
  blocks: number[],
  offset: number,
  limit: number,
) {
  return sql<Message[]>`
    select m.* from unnest(${blocks}::int[]) as block
    cross join lateral (
      select ${columns(sql)}, position from messages
      where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}
        and position >= block::bigint * ${BLOCK_SIZE} and position < (block::bigint + 1) * ${BLOCK_SIZE}
        and uuid between ${home.firstUuid} and ${home.lastUuid}
        and status = ${status}
      order by position
    ) m
    order by m.position offset ${offset} limit ${limit}`
}

/** Messages of one request that were accepted: those that got a lane. */
export function selectAccepted(sql: Sql, home: MessageHome, from: number, count: number) {
  return sql<{ uuid: string; destination: string; parts: number; senderId: number }[]>`
    select uuid, destination, parts, sender_id as "senderId" from messages
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}
      and position >= ${from} and position < ${from + count}
      and uuid between ${home.firstUuid} and ${home.lastUuid}
      and lane_id is not null
    order by position`
}

export type BlockCount = { block: number; messages: number }

export function selectBlocks(sql: Sql, home: MessageHome, status: MessageStatus) {
  return sql<BlockCount[]>`
    select block, ${sql(`${status.toLowerCase()}_messages`)} as messages from dispatch_blocks
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}
      and ${sql(`${status.toLowerCase()}_messages`)} > 0
    order by block`
}

export type NewBlock = { block: number; created: number; failed: number; createdParts: number }

/** Adds the messages of a request to the counters of their blocks. */
export function addToBlocks(sql: Sql, home: Pick<MessageHome, 'companyId' | 'dispatchId'>, blocks: NewBlock[]) {
  return sql`
    insert into dispatch_blocks (company_id, dispatch_id, block, created_messages, failed_messages, created_parts)
    select ${home.companyId}, ${home.dispatchId}, * from unnest(
      ${blocks.map(({ block }) => block)}::int[], ${blocks.map(({ created }) => created)}::int[],
      ${blocks.map(({ failed }) => failed)}::int[], ${blocks.map(({ createdParts }) => createdParts)}::int[])
    on conflict (company_id, dispatch_id, block) do update set
      created_messages = dispatch_blocks.created_messages + excluded.created_messages,
      failed_messages = dispatch_blocks.failed_messages + excluded.failed_messages,
      created_parts = dispatch_blocks.created_parts + excluded.created_parts`
}

export const ensureMonths = (sql: Sql) => sql`select ensure_message_months()`
