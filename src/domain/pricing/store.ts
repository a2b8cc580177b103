import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Tariff } from './tariff.ts'

type TariffRow = Omit<Tariff, 'steps'> & { from: number; price: Money; priceMauBatch: Money | null }

/** The partner's own tariffs and the general ones, a row a step. */
export function selectTariffSteps(sql: Sql, partnerId: number) {
  return sql<TariffRow[]>`
    select t.tariff_id as "tariffId", t.partner_id as "partnerId", t.sender_type as "senderType", t.brand,
      t.traffic_type as "trafficType", t.pricing_model as "pricingModel", t.currency,
      s.from_count as "from", s.price, s.price_mau_batch as "priceMauBatch"
    from tariffs t join tariff_steps s using (tariff_id)
    where t.partner_id is null or t.partner_id = ${partnerId}
    order by t.tariff_id, s.from_count`
}

export const selectSenderFees = (sql: Sql) =>
  sql<{ brand: string; value: Money; currency: string }[]>`
    select brand, value, currency from sender_fees
    order by array_position(array['MTS', 'BEELINE', 'MEGAFON', 'TELE2'], brand), brand`

export const selectChannelPrices = (sql: Sql) =>
  sql<{ channelType: string; price: Money }[]>`select channel_type as "channelType", price from channel_prices`

export const selectCountryPrices = (sql: Sql) =>
  sql<{ countryCode: string; price: Money }[]>`select country_code as "countryCode", price from country_prices`
