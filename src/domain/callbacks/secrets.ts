import { AppError, notFound } from '../../base/errors.ts'
import { type BoxKey, boxKey, open, seal } from '../../base/secret-box.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as secrets from '../companies/callback-secrets.ts'
import { makeSecret } from './signature.ts'

/** The key that the signing secrets of callbacks are sealed with. */
export const callbackKey = (secret: string): BoxKey => boxKey(secret, 'callbacks')

/**
 * The company's signing secret. The first request creates it. It is stored sealed, and a plain secret of an older version
 * is sealed now. Without a key a plain secret stays plain, but no service starts without a key.
 */
export async function callbackSecretOf(pool: Pool, companyId: number, key: BoxKey | undefined): Promise<string> {
  const [known] = await secrets.selectSecret(pool, companyId)
  if (!known) throw notFound('Company')
  if (known.sealed) return openSecret(known.sealed, key)
  if (!key) return known.plain ?? (await insertPlain(pool, companyId))
  const sealed = seal(key, known.plain ?? makeSecret())
  const [kept] = await pool.begin(sql => secrets.sealSecret(sql, companyId, known.plain, sealed))
  return kept ? openSecret(kept.sealed, key) : callbackSecretOf(pool, companyId, key) // another process was faster
}

async function insertPlain(pool: Pool, companyId: number): Promise<string> {
  const [kept] = await pool.begin(sql => secrets.insertPlainSecret(sql, companyId, makeSecret()))
  return kept!.plain
}

/** Replaces the secret, even if the old secret can no longer be opened. `sql` is a transaction. */
export async function replaceCallbackSecret(sql: Sql, companyId: number, key: BoxKey): Promise<string> {
  const secret = makeSecret()
  const { count } = await secrets.replaceSecret(sql, companyId, seal(key, secret))
  if (count === 0) throw notFound('Company')
  return secret
}

/** Whether the company has a secret. It is created when it is first needed. */
export const hasCallbackSecret = async (sql: Sql, companyId: number): Promise<boolean> =>
  (await secrets.selectHasSecret(sql, companyId))[0]?.hasSecret ?? false

/** Seals the plain secrets of older versions. */
export async function sealPlainSecrets(pool: Pool, key: BoxKey): Promise<void> {
  for (const { companyId } of await secrets.selectPlainSecrets(pool))
    await pool.begin(sql => sealOne(sql, companyId, key))
}

async function sealOne(sql: Transaction, companyId: number, key: BoxKey) {
  const [known] = await secrets.selectSecret(sql, companyId)
  if (known?.plain) await secrets.sealSecret(sql, companyId, known.plain, seal(key, known.plain))
}

function openSecret(sealed: Buffer, key: BoxKey | undefined): string {
  try {
    if (key) return open(key, sealed)
  } catch {}
  throw new AppError('invalid', CANNOT_BE_OPENED)
}

const CANNOT_BE_OPENED =
  'The signing secret of callbacks cannot be opened: TIDINGS_SECRET has changed since it was sealed. Restore the earlier TIDINGS_SECRET, or make a new signing secret with `tidings callback secret --new`'
