import { randomBytes } from 'node:crypto'
import { createFinder } from '../../base/concurrency/batcher.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import type { Viewer } from './person.ts'
import { hashSession } from './sign-in.ts'
import * as store from './store.ts'

const IDLE_SECONDS = 12 * 3600
const MOST_SECONDS = 14 * 24 * 3600
/** Use is written at most so often. */
const TOUCH_EVERY_MS = 60_000

export type FoundSession = { viewer: Viewer; isHalf: boolean }
export type SessionReader = (session: string, address: string) => Promise<FoundSession | undefined>

/**
 * Finds the person of a session. Each request asks the database, so that a deactivated person is signed out at once on
 * every node. Requests of the same turn of the event loop share one statement.
 */
export function createSessionReader(sql: Pool, clock: () => Date): SessionReader {
  const find = createFinder(async hashes => {
    const sessions = await store.selectSessions(sql, hashes, clock(), IDLE_SECONDS, MOST_SECONDS)
    return new Map(sessions.map(session => [session.sessionHash.toString('hex'), session]))
  })

  return async (session, address) => {
    const found = await find(hashSession(session).toString('hex'))
    if (!found) return undefined
    await touch(sql, found, address, clock())
    const { half, usedAt: _used, startedAt: _started, ...viewer } = found
    return { viewer, isHalf: half }
  }
}

/** The sessions among these that are still valid, without sessions that wait for the second factor. */
export async function liveSessions(sql: Sql, hashes: string[], now: Date): Promise<Set<string>> {
  const sessions = await store.selectSessions(sql, hashes, now, IDLE_SECONDS, MOST_SECONDS)
  return new Set(sessions.filter(({ half }) => !half).map(({ sessionHash }) => sessionHash.toString('hex')))
}

async function touch(sql: Sql, { sessionHash, usedAt }: store.FoundSession, address: string, now: Date) {
  if (now.getTime() - usedAt.getTime() >= TOUCH_EVERY_MS) await store.touchSession(sql, sessionHash, address, now)
}

/** Replaces the value of a session that has become a whole one: a value that others saw before is worth nothing. */
export async function completeSession(sql: Transaction, { personId, sessionHash }: Viewer, now: Date): Promise<string> {
  const session = randomBytes(32).toString('base64url')
  await store.replaceSession(sql, personId, sessionHash, hashSession(session), now)
  return session
}

/** Where a person is signed in; the newest use first. */
export const sessionsOf = (sql: Sql, personId: number, now: Date): Promise<store.ListedSession[]> =>
  store.selectSessionsOf(sql, personId, now, IDLE_SECONDS, MOST_SECONDS)

export async function endSession(sql: Sql, personId: number, sessionHash: Buffer): Promise<boolean> {
  return (await store.deleteSession(sql, personId, sessionHash)).count > 0
}

/** Ends all sessions of a person, or all except the session of the request. */
export async function endSessions(sql: Sql, personId: number, but: Buffer | null = null): Promise<number> {
  return (await store.deleteSessionsOf(sql, personId, but)).count
}

/** Housekeeping: deletes expired rows. */
export async function forgetOldSessions(sql: Sql, now: Date): Promise<void> {
  await store.deleteOldSessions(sql, new Date(now.getTime() - IDLE_SECONDS * 1000))
  await store.deleteOldInvitations(sql, now)
  await store.deleteOldNetworks(sql, new Date(now.getTime() - NETWORK_KNOWN_MS))
}

const NETWORK_KNOWN_MS = 90 * 24 * 3600_000
