import type { Sql } from '../../db/sql.ts'

/** Adds delivered messages of a scaled tariff, and returns the count before. */
export async function addDelivered(sql: Sql, companyId: number, tariffId: number, month: string, count: number) {
  const [row] = await sql<{ before: number }[]>`
    insert into tariff_usage (company_id, tariff_id, month, delivered) values (${companyId}, ${tariffId}, ${month}, ${count})
    on conflict (company_id, tariff_id, month) do update set delivered = tariff_usage.delivered + excluded.delivered
    returning delivered - ${count}::bigint as before`
  return beforeOf(row)
}

/** Stores the recipients of this month, and returns the new recipients. */
export async function addRecipients(sql: Sql, companyId: number, tariffId: number, month: string, people: string[]) {
  const added = await sql<{ destination: string }[]>`
    insert into tariff_recipients (company_id, tariff_id, month, destination)
    select c.company_id, ${tariffId}::bigint, ${month}::date, destination
    from companies c, unnest(${people}::text[]) destination
    where c.company_id = ${companyId}
    on conflict do nothing
    returning destination`
  return new Set(added.map(({ destination }) => destination))
}

/** Adds unique recipients, and returns the count before. */
export async function addRecipientCount(sql: Sql, companyId: number, tariffId: number, month: string, count: number) {
  const [row] = await sql<{ before: number }[]>`
    insert into tariff_usage (company_id, tariff_id, month, recipients) values (${companyId}, ${tariffId}, ${month}, ${count})
    on conflict (company_id, tariff_id, month) do update set recipients = tariff_usage.recipients + excluded.recipients
    returning recipients - ${count}::bigint as before`
  return beforeOf(row)
}

function beforeOf(row: { before: number } | undefined): number {
  if (!row) throw new Error('The usage of the tariff was not counted')
  return row.before
}
