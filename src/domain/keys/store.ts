import type { Sql } from '../../db/sql.ts'

export const selectCompanyName = (sql: Sql, companyId: number) =>
  sql<{ name: string }[]>`select name from companies where company_id = ${companyId}`

export function insertKeyId(sql: Sql, companyId: number, keyHash: Buffer) {
  return sql<{ keyId: number }[]>`
    insert into api_key_ids (company_id, key_hash) values (${companyId}, ${keyHash}) returning key_id as "keyId"`
}

export const insertKey = (sql: Sql, companyId: number, keyId: number, type: string) =>
  sql`insert into api_keys (company_id, key_id, type) values (${companyId}, ${keyId}, ${type})`
