import { createFinder } from '../../base/concurrency/batcher.ts'
import { AppError, invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { forgetFailures, forgetOldCounts } from './login-limits.ts'
import type { Partner, PartnerFilter, PartnerPlace } from './partner.ts'
import { hashPassword, isPassword } from './password.ts'
import * as store from './store.ts'
import { hashToken } from './token.ts'

export { listPartners } from './store.ts'

export async function createPartner(sql: Sql, login: string, password: string): Promise<{ partnerId: number }> {
  const [created] = await store.insertPartner(sql, login, await hashPassword(password))
  if (!created) throw invalid(`A partner with the login "${login}" exists already`)
  return created
}

/** A new password ends every token at once, on every node: they all ask the same table. */
export async function changePassword(pool: Pool, login: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password)
  await pool.begin(sql => usePasswordHash(sql, login, passwordHash))
}

export async function usePasswordHash(sql: Transaction, login: string, passwordHash: string): Promise<void> {
  const [partner] = await store.updatePassword(sql, login, passwordHash)
  if (!partner) throw unknownPartner(login)
  await store.deleteTokens(sql, partner.partnerId)
  await store.deleteNetworks(sql, partner.partnerId) // the old password may have been used by others
}

/**
 * A disabled partner cannot log in, and its tokens end at once. Its companies and their keys stay as they are. `also`
 * runs in the same transaction.
 */
export async function disablePartner(
  pool: Pool,
  login: string,
  also: (sql: Transaction) => Promise<unknown> = async () => {},
): Promise<void> {
  await pool.begin(async sql => {
    const [partner] = await store.setDisabled(sql, login, true)
    if (!partner) throw unknownPartner(login)
    await store.deleteTokens(sql, partner.partnerId)
    await also(sql)
  })
}

export async function enablePartner(sql: Sql, login: string): Promise<void> {
  const [partner] = await store.setDisabled(sql, login, false)
  if (!partner) throw unknownPartner(login)
}

/** Forgets the failed logins of a partner, so that its next try is checked at once. */
export async function unlockPartner(sql: Sql, login: string): Promise<void> {
  if (!(await partnerWithLogin(sql, login))) throw unknownPartner(login)
  await forgetFailures(sql, login)
}

const unknownPartner = (login: string) => new AppError('not_found', `There is no partner with the login "${login}"`)

export async function partnerWithLogin(sql: Sql, login: string): Promise<Partner | undefined> {
  const [partner] = await store.selectPartner(sql, login)
  return partner
}

/** A page of partners in the order of their logins; the next page begins where this one ends. */
export async function pageOfPartners(sql: Sql, filter: PartnerFilter, place: PartnerPlace, perPage: number) {
  const isBackward = place.before !== undefined
  const found = await store.selectPage(sql, filter, place, perPage + 1)
  const hasMore = found.length > perPage
  const items: store.PagedPartner[] = isBackward ? found.slice(0, perPage).reverse() : found.slice(0, perPage)
  return {
    items,
    hasBefore: isBackward ? hasMore : place.after !== undefined,
    hasAfter: isBackward ? true : hasMore,
  }
}

/** The logins of partners, by their ids. */
export async function loginsOf(sql: Sql, partnerIds: number[]): Promise<Map<number, string>> {
  const partners = await store.selectLogins(sql, [...new Set(partnerIds)])
  return new Map(partners.map(({ partnerId, login }) => [partnerId, login]))
}

/** For staff: a partner with its state. */
export async function requireListedPartner(sql: Sql, partnerId: number): Promise<store.PagedPartner> {
  const [partner] = await store.selectListedPartner(sql, partnerId)
  if (!partner) throw notFound('Partner')
  return partner
}

export async function requirePartner(sql: Sql, partnerId: number): Promise<Partner> {
  const [partner] = await store.selectPartnerById(sql, partnerId)
  if (!partner) throw notFound('Partner')
  return partner
}

/** Sets the password of a partner. A partner that already has this password keeps its tokens. */
export async function adoptPassword(pool: Pool, login: string, password: string): Promise<void> {
  const [partner] = await store.selectPartner(pool, login)
  if (partner && !(await isPassword(password, partner.passwordHash))) await changePassword(pool, login, password)
}

export type TokenReader = (token: string) => Promise<Partner | undefined>

/**
 * Finds the partner of a token, asking the database every time, so that a revoked token stops at once on every node.
 * Requests that arrive in the same turn of the event loop share one statement.
 */
export function createTokenReader(sql: Sql, clock: () => Date): TokenReader {
  const find = createFinder(async hashes => {
    const found = await store.selectPartnersByToken(sql, hashes, clock())
    return new Map(found.map(({ tokenHash, ...partner }) => [tokenHash, partner]))
  })
  return token => find(hashToken(token).toString('hex'))
}

/** Housekeeping: deletes expired tokens and old counts. */
export async function forgetOldLogins(sql: Sql, now: Date): Promise<void> {
  await store.deleteExpiredTokens(sql, now)
  await forgetOldCounts(sql, now)
}
