import { AppError } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { FAILURE_WINDOW_MS, FAILURES_ALLOWED } from './partner.ts'
import * as store from './store.ts'

export { forgetFailures } from './store.ts'

/**
 * How guessing is slowed down. An attempt is counted as failed before its password is checked, and the count is taken
 * back when the password was right: guesses side by side are counted one by one, and once the limit is reached right and
 * wrong passwords get the same answer. Three things are counted, each in a window of its own:
 *
 * - failures of a login, wherever they come from;
 * - failures of a login from one network;
 * - logins that failed from one network: ten mistakes with one name do not block the other partners behind an address.
 *
 * From a network where the partner has logged in before, only its own failures from there count. So guesses from
 * elsewhere, or at other names, do not keep a partner out.
 */
export type LoginAttempt = { login: string; address: string }

/** Subjects whose counts an attempt has raised. */
export type Counted = string[]

const subjectsOf = ({ login, address }: LoginAttempt) => {
  const network = networkOf(address)
  return { ofLogin: `login:${login}`, ofNetwork: `address:${network}`, ofBoth: `both:${network} ${login}` }
}

/** Refuses an attempt that is blocked already, before it waits for its turn. */
export async function refuseBlocked(sql: Sql, attempt: LoginAttempt, now: Date, isKnown = isKnownPartner) {
  const failures = await store.selectFailures(sql, Object.values(subjectsOf(attempt)), windowStart(now))
  refuseIfUsedUp(failures, attempt, await isKnown(sql, attempt), now)
}

/** Counts an attempt as failed, or refuses it. Attempts at the same subjects do this one after the other. */
export async function countAttempt(
  pool: Pool,
  attempt: LoginAttempt,
  now: Date,
  isKnown = isKnownPartner,
): Promise<Counted> {
  return pool.begin(async sql => {
    const { ofLogin, ofNetwork, ofBoth } = subjectsOf(attempt)
    const failures = await store.lockFailures(sql, [ofLogin, ofNetwork, ofBoth], now, windowStart(now))
    refuseIfUsedUp(failures, attempt, await isKnown(sql, attempt), now)
    const isFirst = failures.find(({ subject }) => subject === ofBoth)!.failures === 0
    const counted = [ofLogin, ofBoth, ...(isFirst ? [ofNetwork] : [])]
    await store.raiseFailures(sql, counted)
    return counted
  })
}

/** The password was right: the attempt is no failure. `remember` notes its network, which is known from now on. */
export async function uncountAttempt(pool: Pool, counted: Counted, remember: (sql: Sql) => PromiseLike<unknown>) {
  await pool.begin(async sql => {
    await store.lowerFailures(sql, counted)
    await remember(sql)
  })
}

export const saveNetwork = (sql: Sql, partnerId: number, address: string, now: Date) =>
  store.upsertNetwork(sql, partnerId, networkOf(address), now)

/** The logins that are refused now from every network that they have not used before. */
export async function lockedLogins(sql: Sql, logins: string[], now: Date): Promise<Set<string>> {
  const subjects = new Map(logins.map(login => [`login:${login}`, login]))
  const failures = await store.selectFailures(sql, [...subjects.keys()], windowStart(now))
  return new Set(failures.flatMap(row => (row.failures >= FAILURES_ALLOWED ? subjects.get(row.subject)! : [])))
}

/** Housekeeping: counts whose window is over, and networks that were not used for long. */
export async function forgetOldCounts(sql: Sql, now: Date): Promise<void> {
  await store.deleteOldFailures(sql, windowStart(now))
  await store.deleteOldNetworks(sql, new Date(now.getTime() - NETWORK_KNOWN_MS), MOST_NETWORKS)
}

const NETWORK_KNOWN_MS = 90 * 24 * 3600_000
const MOST_NETWORKS = 100

/** Whether somebody with this login came from there before. */
const isKnownPartner = async (sql: Sql, { login, address }: LoginAttempt): Promise<boolean> =>
  (await store.selectNetwork(sql, login, networkOf(address))).length > 0

function refuseIfUsedUp(failures: store.Failures[], attempt: LoginAttempt, known: boolean, now: Date) {
  const { ofBoth } = subjectsOf(attempt)
  const usedUp = failures.filter(
    ({ subject, failures: count }) => count >= FAILURES_ALLOWED && (!known || subject === ofBoth),
  )
  if (usedUp.length === 0) return
  const endsInMs = Math.max(...usedUp.map(({ startedAt }) => startedAt.getTime())) + FAILURE_WINDOW_MS - now.getTime()
  throw new AppError('too_many_requests', 'Too many failed logins: try again later', {
    retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)),
    limit: FAILURES_ALLOWED,
  })
}

const windowStart = (now: Date) => new Date(now.getTime() - FAILURE_WINDOW_MS)
