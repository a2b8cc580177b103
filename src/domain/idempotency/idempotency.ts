import { createHash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as store from './store.ts'

export const KEY_LIFETIME_HOURS = 24

/** The owner, the Idempotency-Key and the body of a request. Undefined if the client sent no key. */
export type Once = { owner: string; key: string; request: Buffer } | undefined

/**
 * Runs a creating request in one transaction, and with an Idempotency-Key at most once. The row of the key commits together
 * with the work. An advisory lock marks a request that is still running. A crash removes both, so the next try starts
 * again. A repeated request gets the stored result. A request without effect (`hadEffect`) leaves the key unused.
 */
export function once<T>(
  pool: Pool,
  request: Once,
  work: (sql: Transaction) => Promise<T>,
  hadEffect: (result: T) => boolean = () => true,
): Promise<T> {
  return pool.begin(async sql => {
    if (!request) return work(sql)
    const earlier = await earlierResult<T>(sql, request)
    if (earlier) return earlier.result
    const result = await work(sql)
    if (hadEffect(result)) await store.insertKey(sql, request, hashOf(request), JSON.stringify(result))
    return result
  })
}

/** The stored result of the same request. Undefined if there was no such request, or if its key has expired. */
export async function answerBefore<T>(sql: Sql, request: NonNullable<Once>): Promise<T | undefined> {
  const [row] = await store.selectKey(sql, request, KEY_LIFETIME_HOURS)
  if (!row?.requestHash.equals(hashOf(request))) return undefined
  const result: T = JSON.parse(row.answer)
  return result
}

async function earlierResult<T>(sql: Sql, request: NonNullable<Once>): Promise<{ result: T } | undefined> {
  const [lock] = await store.tryLock(sql, request)
  if (!lock?.taken) throw new AppError('in_flight', 'A request with this idempotency key is still being processed')
  const [row] = await store.selectKey(sql, request, KEY_LIFETIME_HOURS)
  if (!row) return undefined
  if (!row.requestHash.equals(hashOf(request))) {
    throw new AppError('key_reused', 'This idempotency key was used with another request')
  }
  const result: T = JSON.parse(row.answer)
  return { result }
}

const hashOf = ({ request }: NonNullable<Once>) => createHash('sha256').update(request).digest()

export const forgetOldKeys = (sql: Sql) => store.deleteOldKeys(sql, KEY_LIFETIME_HOURS)
