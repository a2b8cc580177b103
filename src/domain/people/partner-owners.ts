import { randomInt } from 'node:crypto'
import { invalid } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { refusalOfLogin } from '../partners/partner.ts'
import { changePassword, createPartner } from '../partners/partners.ts'
import { personWithLogin } from './people.ts'
import * as store from './store.ts'

/** A partner whose owner can sign in: nobody else may have the login. */
export async function createPartnerWithOwner(
  sql: Sql,
  login: string,
  password: string,
): Promise<{ partnerId: number }> {
  const refusal = refusalOfLogin(login)
  if (refusal) throw invalid(`login: ${refusal}`)
  if (await personWithLogin(sql, login)) throw invalid(`login: "${login}" is taken`)
  return createPartner(sql, login, password).catch(error => {
    throw /exists already/.test(error.message) ? invalid(`login: "${login}" is taken`) : error
  })
}

/** Ends the tokens of the partner API and all sessions of its owner, who signs in with the same password. */
export async function replacePartnerPassword(pool: Pool, login: string, password: string): Promise<void> {
  await changePassword(pool, login, password)
  const owner = await personWithLogin(pool, login)
  if (owner?.kind !== 'PARTNER') return
  await store.deleteSessionsOf(pool, owner.personId, null)
  await store.deleteNetworks(pool, owner.personId) // the old password may have been used by others
}

/** Letters and digits that are not taken for one another. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 5
const GROUP_LENGTH = 4

/** `k7dm-x3pq-…`: 99 bits, easy to read out. */
export const newPassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-')
