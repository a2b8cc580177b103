import type { ChannelType } from '../base/channel-types.ts'
import type { Pool } from '../db/sql.ts'
import type { RunnableLane } from '../domain/lanes/lane.ts'
import { companiesWithLeases, lanesInTurn, leasesInTurn, queuesWithWork } from '../domain/lanes/lanes.ts'

/**
 * Gives a company many open lanes of single messages, with one message in each lane. An older version left such lanes,
 * because it made a lane for every sender name.
 */
export async function manyLanes(sql: Pool, companyId: number, lanes: number, channelType: ChannelType) {
  await sql`
    insert into lanes (company_id, channel_type, sender_name, brand_id, priority, tail, open)
    select ${companyId}, ${channelType}, 'name ' || n, 1, 3, 1, true from generate_series(1, ${lanes}::int) n`
  await sql`
    insert into messages (
      company_id, message_uuid, lane_id, seq, price, status, parts, brand_id, destination, text, channel_type, sender_name,
      traffic_type)
    select company_id, overlay(gen_random_uuid()::text placing left(uuid7_floor(now())::text, 13) from 1)::uuid,
      lane_id, 0, 0, 'CREATED', 1, 1, '79163000077', 'Hello', channel_type, sender_name, 'PROMO'
    from lanes where company_id = ${companyId} and sender_name like 'name %'`
}

const PRIORITIES = [0, 1, 2, 3]
const MOST = 1000

/** The lanes of all priorities that an engine finds now. */
export async function runnableLanes(sql: Pool, now: Date): Promise<RunnableLane[]> {
  const found = PRIORITIES.map(async priority =>
    lanesInTurn(sql, priority, now, await queuesWithWork(sql, priority, now), MOST),
  )
  return (await Promise.all(found)).flat()
}

/** The leases of all priorities that an engine can take over now. */
export async function abandonedLeases(sql: Pool, now: Date) {
  const pages = (await companiesWithLeases(sql, now)).map(companyId => ({ companyId }))
  return (await Promise.all(PRIORITIES.map(priority => leasesInTurn(sql, priority, now, pages, MOST)))).flat()
}
