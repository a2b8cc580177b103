import type { Pool, Sql } from '../../db/sql.ts'
import { hashPassword, isPassword } from '../partners/password.ts'
import * as store from './store.ts'

/**
 * Makes an owner of a company who signs in with the password that its partner has now: the database keeps a hash of it,
 * and a copy of the hash serves as well. False when somebody of elsewhere has the login.
 */
export async function createOwnerWithPasswordOf(
  sql: Sql,
  partnerLogin: string,
  companyId: number,
  login: string,
): Promise<boolean> {
  const [partner] = await store.selectPartnerHash(sql, partnerLogin)
  if (!partner) return false
  const { passwordHash } = partner
  const owner = { kind: 'COMPANY', companyId, partnerId: null, role: 'owner', login, name: '', passwordHash } as const
  await store.insertPerson(sql, owner)
  const [person] = await store.selectPersonByLogin(sql, login)
  return person?.kind === 'COMPANY' && person.companyId === companyId
}

/** Makes an owner answer to this password; sessions stay where that was so before. */
export async function adoptOwnerPassword(pool: Pool, login: string, password: string): Promise<void> {
  const credentials = await store.selectCredentials(pool, login)
  if (!credentials) return
  const { personId, passwordHash: before } = credentials
  if (before !== null && (await isPassword(password, before))) return
  const passwordHash = await hashPassword(password)
  await pool.begin(async sql => {
    await store.updatePassword(sql, personId, passwordHash)
    await store.deleteSessionsOf(sql, personId, null)
  })
}
