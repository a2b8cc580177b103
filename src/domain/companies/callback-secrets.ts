import type { Sql, Transaction } from '../../db/sql.ts'
import { lockCompanyRow } from './lock.ts'

export type StoredSecret = { plain: string | null; sealed: Buffer | null }

export const selectSecret = (sql: Sql, companyId: number) =>
  sql<StoredSecret[]>`
    select callback_secret as plain, callback_secret_sealed as sealed from companies where company_id = ${companyId}`

/**
 * Replaces the plain secret by the encrypted one. If another process has encrypted a secret before, that one stays and is
 * returned. Returns nothing if the plain secret has changed since it was read.
 */
export async function sealSecret(sql: Transaction, companyId: number, plain: string | null, sealed: Buffer) {
  await lockCompanyRow(sql, companyId)
  return sql<{ sealed: Buffer }[]>`
    update companies set
      callback_secret_sealed = coalesce(callback_secret_sealed, ${sealed}),
      callback_secret = null
    where company_id = ${companyId} and callback_secret is not distinct from ${plain}
    returning callback_secret_sealed as sealed`
}

/** If two processes create a secret at once, the first one stays. */
export async function insertPlainSecret(sql: Transaction, companyId: number, made: string) {
  await lockCompanyRow(sql, companyId)
  return sql<{ plain: string }[]>`
    update companies set callback_secret = coalesce(callback_secret, ${made}) where company_id = ${companyId}
    returning callback_secret as plain`
}

export async function replaceSecret(sql: Sql, companyId: number, sealed: Buffer) {
  await lockCompanyRow(sql, companyId)
  return sql`
    update companies set callback_secret_sealed = ${sealed}, callback_secret = null where company_id = ${companyId}`
}

export const selectPlainSecrets = (sql: Sql) =>
  sql<{ companyId: number }[]>`select company_id from companies where callback_secret is not null`

export const selectHasSecret = (sql: Sql, companyId: number) =>
  sql<{ hasSecret: boolean }[]>`
    select callback_secret is not null or callback_secret_sealed is not null as has_secret
    from companies where company_id = ${companyId}`
