import { createHash, randomBytes } from 'node:crypto'
import { SearchLimiter } from '../../base/concurrency/search-limiter.ts'
import { AppError } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { type Counted, countAttempt, refuseBlocked, uncountAttempt } from '../partners/login-limits.ts'
import { hashOfUnknown, isPassword } from '../partners/password.ts'
import * as store from './store.ts'

export type SignIn = { login: string; password: string; address: string; agent: string }

/** What the browser's cookie holds, and whether the second factor is still missing. */
export type SignedIn = { session: string; needsSecondFactor: boolean }

const MOST_AGENT = 300
/** Of a person. */
const MOST_SESSIONS = 100

/** As for logins of partners: a check takes much memory, and guesses from one network do not delay other networks. */
const checks = new SearchLimiter({
  most: 2,
  mostOfOne: 1,
  mostWaiting: 500,
  mostWaitingOfOne: 20,
  patienceMs: 10_000,
  refusal: 'Too many people sign in at once: try again in a moment',
})

const isKnown = async (sql: Sql, { login, address }: { login: string; address: string }) =>
  (await store.selectNetwork(sql, login, networkOf(address))).length > 0

/** A new session for the right login and password. Failures are counted together with failures of the partner API. */
export async function signIn(pool: Pool, attempt: SignIn, now: Date): Promise<SignedIn> {
  return withPassword(pool, attempt, now, async (credentials, counted) => {
    if (!credentials) throw badCredentials()
    const session = await openSession(pool, attempt, credentials, now)
    if (session.needsSecondFactor) await uncountAttempt(pool, counted, async () => {})
    else await uncountFailure(pool, counted, credentials.personId, attempt.address, now)
    return session
  })
}

/** Checks the password of a signed-in person again. Failures are counted as at the sign-in. */
export const checkOwnPassword = (pool: Pool, attempt: Attempt, now: Date): Promise<store.Credentials> =>
  withPassword(pool, attempt, now, async (credentials, counted) => {
    if (!credentials) throw new AppError('bad_credentials', 'The present password is wrong')
    await uncountAttempt(pool, counted, async () => {})
    return credentials
  })

type Attempt = Pick<SignIn, 'login' | 'password' | 'address'>

async function withPassword<T>(
  pool: Pool,
  attempt: Attempt,
  now: Date,
  checked: (credentials: store.Credentials | undefined, counted: Counted) => Promise<T>,
): Promise<T> {
  await refuseBlocked(pool, attempt, now, isKnown)
  return checks.run(networkOf(attempt.address), async () => {
    const counted = await countAttempt(pool, attempt, now, isKnown)
    return checked(await checkPassword(pool, attempt), counted)
  })
}

/**
 * An unknown login takes as long as a wrong password: the time does not tell which logins exist. Every login is checked
 * with the same statements and one comparison of a password.
 */
async function checkPassword(sql: Sql, { login, password }: Attempt): Promise<store.Credentials | undefined> {
  await createOwner(sql, login)
  const found = await store.selectCredentials(sql, login)
  const isRight = await isPassword(password, found?.passwordHash ?? hashOfUnknown())
  return found?.passwordHash && isRight ? found : undefined
}

/** Makes the owner of a partner a person: with the partner, or at the first sign-in of a partner from before that. */
export async function createOwner(sql: Sql, login: string): Promise<void> {
  await store.insertOwner(sql, login)
}

async function openSession(sql: Sql, attempt: SignIn, credentials: store.Credentials, now: Date): Promise<SignedIn> {
  const session = randomBytes(32).toString('base64url')
  const needsSecondFactor = credentials.totpSecret !== null
  const row = {
    sessionHash: hashSession(session),
    personId: credentials.personId,
    half: needsSecondFactor,
    address: attempt.address,
    agent: attempt.agent.slice(0, MOST_AGENT),
  }
  const written = await store.insertSession(sql, row, credentials, now)
  if (written.count === 0) throw badCredentials()
  await store.deleteSessionsBeyond(sql, credentials.personId, MOST_SESSIONS)
  return { session, needsSecondFactor }
}

/** The attempt was no failure, and its network is known from now on. */
export const uncountFailure = (pool: Pool, counted: Counted, personId: number, address: string, now: Date) =>
  uncountAttempt(pool, counted, sql => store.upsertNetwork(sql, personId, networkOf(address), now))

/** Sessions are random, so a fast hash is enough; only it is kept. */
export const hashSession = (session: string): Buffer => createHash('sha256').update(session).digest()

export const badCredentials = () => new AppError('bad_credentials', 'Login or password is wrong')
