import type { Sql, Transaction } from '../../db/sql.ts'

export const ensurePlace = (sql: Sql, companyId: number) => sql`
  insert into text_removals (company_id, done_uuid) values (${companyId}, '00000000-0000-0000-0000-000000000000')
  on conflict do nothing`

/** The key up to which the texts are removed, locked. No row if another engine works on the company. */
export const lockPlace = (sql: Transaction, companyId: number) => sql<{ doneUuid: string }[]>`
  select done_uuid from text_removals where company_id = ${companyId} for update skip locked`

export const movePlace = (sql: Transaction, companyId: number, doneUuid: string) => sql`
  update text_removals set done_uuid = ${doneUuid} where company_id = ${companyId}`
