import { randomInt } from 'node:crypto'
import { invalidField } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { refusalOfLogin } from '../partners/partner.ts'
import { createPartner, usePasswordHash } from '../partners/partners.ts'
import { hashPassword } from '../partners/password.ts'
import { personWithLogin } from './people.ts'
import { createOwner } from './sign-in.ts'
import * as store from './store.ts'

/** A partner whose owner can sign in. No other person may have the login. */
export async function createPartnerWithOwner(
  sql: Sql,
  login: string,
  password: string,
): Promise<{ partnerId: number }> {
  const refusal = refusalOfLogin(login)
  if (refusal) throw invalidField('login', refusal)
  if (await personWithLogin(sql, login)) throw invalidField('login', `"${login}" is taken`)
  await allowLongWork(sql) // the hash of a password takes seconds on a busy machine
  const made = await createPartner(sql, login, password).catch(error => {
    throw /exists already/.test(error.message) ? invalidField('login', `"${login}" is taken`) : error
  })
  await createOwner(sql, login)
  return made
}

/**
 * Ends the tokens of the partner API and all sessions of its owner, who signs in with the same password. `also` runs in
 * the same transaction.
 */
export async function replacePartnerPassword(
  pool: Pool,
  login: string,
  password: string,
  also: (sql: Transaction) => Promise<unknown> = async () => {},
): Promise<void> {
  const passwordHash = await hashPassword(password)
  await pool.begin(async sql => {
    await usePasswordHash(sql, login, passwordHash)
    await forgetOldPassword(sql, login)
    await also(sql)
  })
}

async function forgetOldPassword(sql: Transaction, login: string) {
  const owner = await personWithLogin(sql, login)
  if (owner?.kind !== 'PARTNER') return
  await store.updatePassword(sql, owner.personId, null)
  await store.deleteSessionsOf(sql, owner.personId, null)
  await store.deleteNetworks(sql, owner.personId) // the old password may have been used by others
}

/** Letters and digits that are not taken for one another. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 4

/** `k7dm-x3pq-…`: 79 bits, easy to read out. */
export const newPassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-')
