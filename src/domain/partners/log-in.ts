import { randomBytes } from 'node:crypto'
import { SearchLimiter } from '../../base/concurrency/search-limiter.ts'
import { AppError } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { countAttempt, refuseBlocked, saveNetwork, uncountAttempt } from './login-limits.ts'
import { TOKEN_LIFETIME_MS } from './partner.ts'
import { hashOfUnknown, hashPassword, isOutdatedHash, isPassword } from './password.ts'
import * as store from './store.ts'
import { hashToken } from './token.ts'

export type LogIn = { login: string; password: string; address: string }

/**
 * Two passwords are checked at a time, for each check takes 128 MB and about half a second; of one network one at a time, so that
 * guesses from one place do not delay other networks.
 */
const checks = new SearchLimiter({
  most: 2,
  mostOfOne: 1,
  mostWaiting: 2000,
  mostWaitingOfOne: 20,
  patienceMs: 10_000,
  refusal: 'Too many logins at once: try again in a moment',
})

/** A token for the right login and password. `login-limits.ts` says how guessing is slowed down. */
export async function logIn(pool: Pool, attempt: LogIn, now: Date): Promise<{ token: string }> {
  await refuseBlocked(pool, attempt, now)
  return checks.run(networkOf(attempt.address), () => tryLogin(pool, attempt, now))
}

async function tryLogin(pool: Pool, attempt: LogIn, now: Date): Promise<{ token: string }> {
  const counted = await countAttempt(pool, attempt, now)
  const account = await checkPassword(pool, attempt)
  if (!account) throw badCredentials()
  const token = await issueToken(pool, account, now)
  await uncountAttempt(pool, counted, sql => saveNetwork(sql, account.partnerId, attempt.address, now))
  return token
}

/**
 * An unknown login takes as long as a wrong password: the time does not tell which logins exist. A hash of less than
 * today's cost is compared and made anew, whether the password was right or not, which takes as long, too.
 */
async function checkPassword(sql: Sql, attempt: LogIn): Promise<store.Account | undefined> {
  const [account] = await store.selectPartner(sql, attempt.login)
  const known = account?.passwordHash ?? hashOfUnknown()
  const right = await isPassword(attempt.password, known)
  const renewed = isOutdatedHash(known) ? await hashPassword(attempt.password) : undefined
  if (!account || !right) return undefined
  return renewed === undefined ? account : replaceHash(sql, account, renewed, attempt)
}

/** Keeps the costlier hash. A login beside this one may have done so first: then that hash decides. */
async function replaceHash(sql: Sql, account: store.Account, passwordHash: string, { login, password }: LogIn) {
  const { count } = await store.replaceHash(sql, account, passwordHash)
  if (count > 0) return { ...account, passwordHash }
  const [current] = await store.selectPartner(sql, login)
  return current && (await isPassword(password, current.passwordHash)) ? current : undefined
}

async function issueToken(sql: Sql, account: store.Account, now: Date) {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + TOKEN_LIFETIME_MS)
  const written = await store.insertToken(sql, account, hashToken(token), expiresAt)
  if (written.count === 0) throw badCredentials()
  return { token }
}

const badCredentials = () => new AppError('bad_credentials', 'Bad credentials')
