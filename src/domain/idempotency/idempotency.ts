import { createHash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as store from './store.ts'

export const KEY_LIFETIME_HOURS = 24

/** Who asked, with which Idempotency-Key, for what. Undefined where the caller sent no key. */
export type Once = { owner: string; key: string; request: Buffer } | undefined

/**
 * Runs a creating request in one transaction; with an Idempotency-Key at most once. The key's row commits with the
 * effect, and while the transaction runs an advisory lock stands for "in flight": after a crash both are gone, and
 * the next try starts clean. `answer` is what is said again to the same request; one without effect leaves the key free.
 */
export function once<T>(
  pool: Pool,
  request: Once,
  work: (sql: Transaction) => Promise<T>,
  hadEffect: (answer: T) => boolean = () => true,
): Promise<T> {
  return pool.begin(async sql => {
    if (!request) return work(sql)
    const earlier = await earlierAnswer<T>(sql, request)
    if (earlier) return earlier.answer
    const answer = await work(sql)
    if (hadEffect(answer)) await store.insertKey(sql, request, hashOf(request), JSON.stringify(answer))
    return answer
  })
}

/** What the same request was answered before; undefined when it was not made, or too long ago. */
export async function answerBefore<T>(sql: Sql, request: NonNullable<Once>): Promise<T | undefined> {
  const [row] = await store.selectKey(sql, request, KEY_LIFETIME_HOURS)
  return row?.requestHash.equals(hashOf(request)) ? (JSON.parse(row.answer) as T) : undefined
}

async function earlierAnswer<T>(sql: Sql, request: NonNullable<Once>): Promise<{ answer: T } | undefined> {
  const [lock] = await store.tryLock(sql, request)
  if (!lock!.taken) throw new AppError('in_flight', 'A request with this idempotency key is still being processed')
  const [row] = await store.selectKey(sql, request, KEY_LIFETIME_HOURS)
  if (!row) return undefined
  if (!row.requestHash.equals(hashOf(request))) {
    throw new AppError('key_reused', 'This idempotency key was used with another request')
  }
  return { answer: JSON.parse(row.answer) as T }
}

const hashOf = ({ request }: NonNullable<Once>) => createHash('sha256').update(request).digest()

export const forgetOldKeys = (sql: Sql) => store.deleteOldKeys(sql, KEY_LIFETIME_HOURS)
