import type { Pool } from '../../src/db/sql.ts'

const channels = [
  ['SMS', 1, 0.31],
  ['SMS', 2, 0.2],
  ['SMS', 3, 0.21],
  ['SMS', 4, 0.16],
  ['SMS', 0, 0.02],
  ['VIBER', 1, 0.08],
  ['TELEGRAM', 1, 0.02],
] as const

/**
 * Hourly sums of the last eight days, most messages by day and some failures. `size` is the sum of the busiest hour.
 */
export async function someTraffic(sql: Pool, companyId: number, size = 30_000) {
  for (const [channelType, brandId, part] of channels)
    await sql`
      insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, accepted, sent, delivered, failed)
      select ${companyId}, hour, ${channelType}, ${brandId}, 'PROMO', n, n, round(n * (0.97 - lag)), round(n * 0.03)
      from generate_series(0, 24 * 8) back,
        lateral (select date_trunc('hour', now()) - make_interval(hours => back) as hour,
          case when back = 0 then 0.06 else 0 end as lag) h,
        lateral (select round(${size}::float * ${part}::float
          * (0.04 + 0.96 * greatest(0, sin((extract(hour from hour) - 5) / 14.0 * pi())) ^ 2)) as n) s
      on conflict do nothing`
}
