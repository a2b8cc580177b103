import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { DatedPrice, NewPrice, PricePlace } from './other-price.ts'
import type { DatedTariff, Tariff } from './tariff.ts'

type TariffRow = Omit<Tariff, 'steps'> & { from: number; price: Money; priceMauBatch: Money | null }

type DatedRow = TariffRow & Pick<DatedTariff, 'validFrom' | 'until'>

const steps = (sql: Sql) => sql`
  select t.tariff_id, t.partner_id, t.sender_type, t.brand,
    t.traffic_type, t.pricing_model, t.currency,
    s.from_count as "from", s.price, s.price_mau_batch
  from tariffs t join tariff_steps s using (tariff_id)`

/**
 * The moment is asked for once: a change that begins between two rows would otherwise show both tariffs, or none. By
 * the clock of the statement, because transactions may be long.
 */
const now = (sql: Sql) => sql`with moment as materialized (select clock_timestamp() as now)`

const holdsNow = (sql: Sql) => sql`
  (t.valid_from is null or t.valid_from <= (select now from moment))
  and (t.superseded_at is null or t.superseded_at > (select now from moment))`

/** The current tariffs of the partner and the current general tariffs, one row for each step. */
export function selectTariffSteps(sql: Sql, partnerId: number) {
  return sql<TariffRow[]>`
    ${now(sql)} ${steps(sql)} where ${holdsNow(sql)} and (t.partner_id is null or t.partner_id = ${partnerId})
    order by t.tariff_id, s.from_count`
}

/** The tariffs that hold now of exactly this partner; without one, the general ones. */
export function selectOwnTariffSteps(sql: Sql, partnerId: number | null) {
  return sql<TariffRow[]>`
    ${now(sql)} ${steps(sql)} where ${holdsNow(sql)} and t.partner_id is not distinct from ${partnerId}
    order by t.tariff_id, s.from_count`
}

const datedSteps = (sql: Sql) => sql`
  select t.tariff_id, t.partner_id, t.sender_type, t.brand,
    t.traffic_type, t.pricing_model, t.currency,
    t.valid_from, t.superseded_at as until,
    s.from_count as "from", s.price, s.price_mau_batch
  from tariffs t join tariff_steps s using (tariff_id)`

/** The tariffs of one book that hold now or will; without a partner, the general ones. */
export function selectBook(sql: Sql, partnerId: number | null, now: Date) {
  return sql<DatedRow[]>`
    ${datedSteps(sql)}
    where t.partner_id is not distinct from ${partnerId}
      and (t.superseded_at is null or t.superseded_at > greatest(${now}, t.valid_from))
    order by t.tariff_id, s.from_count`
}

/** The tariffs for a place of a book that are over, the last tariff first. Tariffs that were never valid are left out. */
export function selectEarlier(
  sql: Sql,
  { partnerId, senderType, brand, trafficType }: Tariff,
  now: Date,
  most: number,
) {
  return sql<DatedRow[]>`
    ${datedSteps(sql)}
    where t.tariff_id in (
      select tariff_id from tariffs
      where partner_id is not distinct from ${partnerId} and sender_type = ${senderType}
        and brand is not distinct from ${brand} and traffic_type is not distinct from ${trafficType}
        and superseded_at <= ${now} and (valid_from is null or valid_from < superseded_at)
      order by superseded_at desc limit ${most})
    order by t.superseded_at desc, t.tariff_id, s.from_count`
}

export function selectDatedSteps(sql: Sql, tariffId: number) {
  return sql<DatedRow[]>`${datedSteps(sql)} where t.tariff_id = ${tariffId} order by s.from_count`
}

export function selectTariffStepsByIds(sql: Sql, tariffIds: number[]) {
  return sql<TariffRow[]>`
    ${steps(sql)} where t.tariff_id = any(${tariffIds}::bigint[]) order by t.tariff_id, s.from_count`
}

/** Imports run one after another. Readers do not wait. */
export const lockTariffs = (sql: Sql) => sql`lock table tariffs in share row exclusive mode`

export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  return row!.now
}

export const endTariff = (sql: Sql, tariffId: number, until: Date | null) =>
  sql`update tariffs set superseded_at = ${until} where tariff_id = ${tariffId}`

export async function insertTariff(sql: Sql, tariff: Omit<DatedTariff, 'tariffId'>): Promise<number> {
  const [row] = await sql<{ tariffId: number }[]>`
    with tariff as (
      insert into tariffs (
        partner_id, sender_type, brand, traffic_type, pricing_model, currency, valid_from, superseded_at)
      values (
        ${tariff.partnerId}, ${tariff.senderType}, ${tariff.brand}, ${tariff.trafficType}, ${tariff.pricingModel},
        ${tariff.currency}, ${tariff.validFrom}, ${tariff.until})
      returning tariff_id),
    steps as (
      insert into tariff_steps (tariff_id, from_count, price, price_mau_batch)
      select tariff_id, q.* from tariff, unnest(
        ${tariff.steps.map(({ from }) => from)}::bigint[],
        ${tariff.steps.map(({ price }) => formatMoney(price))}::text[]::numeric[],
        ${tariff.steps.map(step => (step.priceMauBatch === null ? null : formatMoney(step.priceMauBatch)))}::text[]::numeric[]) q)
    select tariff_id from tariff`
  return row!.tariffId
}

/** Partners with tariffs of their own first. */
export const selectBooks = (sql: Sql, most: number) =>
  sql<{ partnerId: number; login: string; hasOwn: boolean }[]>`
    select p.partner_id, p.login, exists (
      select from tariffs t where t.partner_id = p.partner_id and t.superseded_at is null) as has_own
    from partners p order by has_own desc, p.login limit ${most}`

/** What decides the price under some tariffs: delivered messages and unique recipients of a company in a month. */
export const selectUsage = (sql: Sql, companyId: number, tariffIds: number[], month: string) =>
  sql<{ tariffId: number; delivered: number; recipients: number }[]>`
    select tariff_id, delivered, recipients from tariff_usage
    where company_id = ${companyId} and tariff_id = any(${tariffIds}::bigint[]) and month = ${month}`

/** The companies with most messages under a tariff in a month. */
export const selectGreatestUsage = (sql: Sql, tariffId: number, month: string, most: number) =>
  sql<{ companyId: number; name: string; delivered: number; recipients: number }[]>`
    select u.company_id, c.name, u.delivered, u.recipients
    from tariff_usage u join companies c using (company_id)
    where u.tariff_id = ${tariffId} and u.month = ${month}
    order by greatest(u.delivered, u.recipients) desc, u.company_id limit ${most}`

/** Changes a fee that is still what the caller saw. */
export const updateSenderFee = (sql: Sql, brand: string, before: Money, value: Money) =>
  sql`update sender_fees set value = ${formatMoney(value)}::text::numeric
    where brand = ${brand} and value = ${formatMoney(before)}::text::numeric returning brand`

export const listSenderFees = (sql: Sql) =>
  sql<{ brand: string; value: Money; currency: string }[]>`
    select brand, value, currency from sender_fees
    order by array_position(array['MTS', 'BEELINE', 'MEGAFON', 'TELE2'], brand), brand`

/** The newest row of each channel that has begun. */
export const selectChannelPrices = (sql: Sql) =>
  sql<{ channelType: string; price: Money }[]>`
    select distinct on (channel_type) channel_type as channel_type, price from channel_prices
    where valid_from <= clock_timestamp() order by channel_type, valid_from desc`

/** The newest row of each country that has begun; null where the country has no price of its own any more. */
export const selectCountryPrices = (sql: Sql) =>
  sql<{ countryCode: string; price: Money | null }[]>`
    select distinct on (country_code) country_code as country_code, price from country_prices
    where valid_from <= clock_timestamp() order by country_code, valid_from desc`

/** The current and future prices of channels and countries. The prices of one channel or country are in the order of their dates. */
export const openPrices = (sql: Sql) =>
  sql<DatedPrice[]>`
    select * from (
      select p.*, lead(valid_from) over (partition by channel_type, country order by valid_from) as until
      from (
        select channel_type, null as country, price, valid_from from channel_prices
        union all
        select 'SMS', country_code, price, valid_from from country_prices) p) p
    where until > clock_timestamp() or (until is null and (price is not null or valid_from > clock_timestamp()))
    order by country is not null, country = '*', channel_type, country, valid_from`

/** Changes run one after another. Readers do not wait. */
export const lockPrices = (sql: Sql) => sql`lock table channel_prices, country_prices in share row exclusive mode`

const priceTable = (sql: Sql, { country }: PricePlace) =>
  country === null
    ? { table: sql`channel_prices`, key: sql`channel_type` }
    : { table: sql`country_prices`, key: sql`country_code` }

export function savePrice(sql: Sql, { price, ...place }: NewPrice, from: Date) {
  const { table, key } = priceTable(sql, place)
  return sql`
    insert into ${table} (${key}, price, currency, valid_from)
    values (${place.country ?? place.channelType}, ${price === null ? null : formatMoney(price)}::text::numeric, 'RUB', ${from})
    on conflict (${key}, valid_from) do update set price = excluded.price`
}

export function deletePrice(sql: Sql, { validFrom, ...place }: DatedPrice) {
  const { table, key } = priceTable(sql, place)
  return sql`delete from ${table} where ${key} = ${place.country ?? place.channelType} and valid_from = ${validFrom}`
}
