import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Tariff } from './tariff.ts'

type TariffRow = Omit<Tariff, 'steps'> & { from: number; price: Money; priceMauBatch: Money | null }

const steps = (sql: Sql) => sql`
  select t.tariff_id as "tariffId", t.partner_id as "partnerId", t.sender_type as "senderType", t.brand,
    t.traffic_type as "trafficType", t.pricing_model as "pricingModel", t.currency,
    s.from_count as "from", s.price, s.price_mau_batch as "priceMauBatch"
  from tariffs t join tariff_steps s using (tariff_id)`

/** The partner's own tariffs and the general ones that hold now, a row a step. */
export function selectTariffSteps(sql: Sql, partnerId: number) {
  return sql<TariffRow[]>`
    ${steps(sql)} where t.superseded_at is null and (t.partner_id is null or t.partner_id = ${partnerId})
    order by t.tariff_id, s.from_count`
}

/** The tariffs that hold now of exactly this partner; without one, the general ones. */
export function selectOwnTariffSteps(sql: Sql, partnerId: number | null) {
  return sql<TariffRow[]>`
    ${steps(sql)} where t.superseded_at is null and t.partner_id is not distinct from ${partnerId}
    order by t.tariff_id, s.from_count`
}

export function selectTariffStepsByIds(sql: Sql, tariffIds: number[]) {
  return sql<TariffRow[]>`
    ${steps(sql)} where t.tariff_id = any(${tariffIds}::bigint[]) order by t.tariff_id, s.from_count`
}

/** Imports follow one another; who only reads is not held up. */
export const lockTariffs = (sql: Sql) => sql`lock table tariffs in share row exclusive mode`

export const supersede = (sql: Sql, tariffIds: number[]) =>
  sql`update tariffs set superseded_at = clock_timestamp() where tariff_id = any(${tariffIds}::bigint[])`

export function insertTariff(sql: Sql, tariff: Omit<Tariff, 'tariffId'>) {
  return sql`
    with tariff as (
      insert into tariffs (partner_id, sender_type, brand, traffic_type, pricing_model, currency)
      values (
        ${tariff.partnerId}, ${tariff.senderType}, ${tariff.brand}, ${tariff.trafficType}, ${tariff.pricingModel},
        ${tariff.currency})
      returning tariff_id)
    insert into tariff_steps (tariff_id, from_count, price, price_mau_batch)
    select tariff_id, q.* from tariff, unnest(
      ${tariff.steps.map(({ from }) => from)}::bigint[],
      ${tariff.steps.map(({ price }) => formatMoney(price))}::text[]::numeric[],
      ${tariff.steps.map(step => (step.priceMauBatch === null ? null : formatMoney(step.priceMauBatch)))}::text[]::numeric[]) q`
}

export const selectSenderFees = (sql: Sql) =>
  sql<{ brand: string; value: Money; currency: string }[]>`
    select brand, value, currency from sender_fees
    order by array_position(array['MTS', 'BEELINE', 'MEGAFON', 'TELE2'], brand), brand`

export const selectChannelPrices = (sql: Sql) =>
  sql<{ channelType: string; price: Money }[]>`select channel_type as "channelType", price from channel_prices`

export const selectCountryPrices = (sql: Sql) =>
  sql<{ countryCode: string; price: Money }[]>`select country_code as "countryCode", price from country_prices`
