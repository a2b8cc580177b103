import { createHash, randomBytes } from 'node:crypto'
import { AppError, invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import {
  FAILURE_WINDOW_MS,
  FAILURES_ALLOWED,
  type ListedPartner,
  type Partner,
  type StaffMember,
  TOKEN_LIFETIME_MS,
} from './partner.ts'
import { hashPassword, isPassword } from './password.ts'
import * as store from './store.ts'

export async function createPartner(sql: Sql, login: string, password: string): Promise<{ partnerId: number }> {
  const [created] = await store.insertPartner(sql, login, await hashPassword(password))
  if (!created) throw invalid(`A partner with the login "${login}" exists already`)
  return created
}

/** A new password ends every token at once, on every node: they all ask the same table. */
export async function changePassword(pool: Pool, login: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password)
  await pool.begin(async sql => {
    const [partner] = await store.updatePassword(sql, login, passwordHash)
    if (!partner) throw unknownPartner(login)
    await store.deleteTokens(sql, partner.partnerId)
  })
}

/** A disabled partner cannot log in, and its tokens end at once. Its companies and their keys stay as they are. */
export async function disablePartner(pool: Pool, login: string): Promise<void> {
  await pool.begin(async sql => {
    const [partner] = await store.setDisabled(sql, login, true)
    if (!partner) throw unknownPartner(login)
    await store.deleteTokens(sql, partner.partnerId)
  })
}

export async function enablePartner(sql: Sql, login: string): Promise<void> {
  const [partner] = await store.setDisabled(sql, login, false)
  if (!partner) throw unknownPartner(login)
}

/** Forgets the failed logins of a partner, so that its next try is checked at once. */
export async function unlockPartner(sql: Sql, login: string): Promise<void> {
  if (!(await partnerWithLogin(sql, login))) throw unknownPartner(login)
  await store.deleteFailures(sql, [`login:${login}`])
}

const unknownPartner = (login: string) => new AppError('not_found', `There is no partner with the login "${login}"`)

export async function createStaff(sql: Sql, login: string, password: string): Promise<{ staffId: number }> {
  const [created] = await store.insertStaff(sql, login, await hashPassword(password))
  if (!created) throw invalid(`A staff member with the login "${login}" exists already`)
  return created
}

export const listStaff = (sql: Sql): Promise<StaffMember[]> => store.selectAllStaff(sql)

export async function changeStaffPassword(sql: Sql, login: string, password: string): Promise<void> {
  const { count } = await store.updateStaffPassword(sql, login, await hashPassword(password))
  if (count === 0) throw new AppError('not_found', `There is no member of staff with the login "${login}"`)
}

export async function partnerWithLogin(sql: Sql, login: string): Promise<Partner | undefined> {
  const [partner] = await store.selectPartner(sql, login)
  return partner
}

export const listPartners = (sql: Sql): Promise<ListedPartner[]> => store.selectPartners(sql)

export async function requirePartner(sql: Sql, partnerId: number): Promise<Partner> {
  const [partner] = await store.selectPartnerById(sql, partnerId)
  if (!partner) throw notFound('Partner')
  return partner
}

/** Makes the logins of the demo answer to the given password; a login that already does keeps its tokens. */
export async function adoptDemoPassword(pool: Pool, login: string, password: string): Promise<void> {
  const [partner] = await store.selectPartner(pool, login)
  if (partner && !(await isPassword(password, partner.passwordHash))) await changePassword(pool, login, password)
  const [staff] = await store.selectStaff(pool, 'staff')
  if (staff && !(await isPassword(password, staff.passwordHash))) {
    await store.updateStaffPassword(pool, 'staff', await hashPassword(password))
  }
}

export type LogIn = { login: string; password: string; address: string }

/** A token for the right login and password. Guessing is slowed down per login and per address. */
export function logIn(sql: Sql, attempt: LogIn, now: Date): Promise<{ token: string }> {
  return inTurn(attempt.login, () => tryLogin(sql, attempt, now))
}

async function tryLogin(sql: Sql, attempt: LogIn, now: Date): Promise<{ token: string }> {
  const subjects = [`login:${attempt.login}`, `address:${attempt.address}`]

  await refuseGuessing(sql, subjects, now)
  const account = await checkPassword(sql, attempt)
  if (!account) {
    await store.countFailure(sql, subjects, now, windowStart(now))
    throw badCredentials()
  }
  // Asked again: guesses at other logins, or by way of other processes, may have failed meanwhile.
  await refuseGuessing(sql, subjects, now)
  return issueToken(sql, account, now)
}

const turns = new Map<string, Promise<unknown>>()

/** Attempts at one login take turns: guesses tried side by side would all be checked before the first has failed. */
function inTurn<T>(login: string, attempt: () => Promise<T>): Promise<T> {
  const mine = (turns.get(login) ?? Promise.resolve()).then(attempt)
  const over: Promise<unknown> = mine.catch(() => {}).then(() => turns.get(login) === over && turns.delete(login))
  turns.set(login, over)
  return mine
}

async function refuseGuessing(sql: Sql, subjects: string[], now: Date) {
  const [window] = await store.selectBlockingWindow(sql, subjects, FAILURES_ALLOWED, windowStart(now))
  if (!window) return
  const endsInMs = window.startedAt.getTime() + FAILURE_WINDOW_MS - now.getTime()
  throw new AppError('too_many_requests', 'Too many failed logins: try again later', {
    retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)),
    limit: FAILURES_ALLOWED,
  })
}

async function checkPassword(sql: Sql, { login, password }: LogIn) {
  const [account] = await store.selectPartner(sql, login)
  // An unknown login takes as long as a wrong password: the time does not tell which logins exist.
  const right = await isPassword(password, account?.passwordHash ?? (await nobodysHash))
  return right ? account : undefined
}

const nobodysHash = hashPassword(randomBytes(32).toString('base64'))

async function issueToken(sql: Sql, account: Parameters<typeof store.insertToken>[1], now: Date) {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + TOKEN_LIFETIME_MS)
  const written = await store.insertToken(sql, account, hashToken(token), expiresAt)
  if (written.count === 0) throw badCredentials()
  return { token }
}

const hashToken = (token: string) => createHash('sha256').update(token).digest()
const windowStart = (now: Date) => new Date(now.getTime() - FAILURE_WINDOW_MS)
const badCredentials = () => new AppError('bad_credentials', 'Bad credentials')

export type TokenReader = (token: string) => Promise<Partner | undefined>

/**
 * Finds the partner of a token, asking the database every time, so that a revoked token stops at once on every node.
 * Requests that arrive in the same turn of the event loop share one statement.
 */
export function createTokenReader(sql: Sql, clock: () => Date): TokenReader {
  let waiting: { hash: string; resolve: (partner?: Partner) => void; reject: (error: unknown) => void }[] = []

  return token =>
    new Promise((resolve, reject) => {
      waiting.push({ hash: hashToken(token).toString('hex'), resolve, reject })
      if (waiting.length === 1) setImmediate(answerWaiting)
    })

  async function answerWaiting() {
    const asked = waiting
    waiting = []
    try {
      const found = await store.selectPartnersByToken(
        sql,
        asked.map(({ hash }) => hash),
        clock(),
      )
      const byHash = new Map(found.map(({ tokenHash, ...partner }) => [tokenHash, partner]))
      for (const { hash, resolve } of asked) resolve(byHash.get(hash))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}

/** Housekeeping: what can no longer be used is removed. */
export async function forgetOldLogins(sql: Sql, now: Date): Promise<void> {
  await store.deleteExpiredTokens(sql, now)
  await store.deleteOldFailures(sql, windowStart(now))
}
