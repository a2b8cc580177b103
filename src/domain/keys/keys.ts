import { createHash, randomBytes } from 'node:crypto'
import { notFound } from '../../base/errors.ts'
import type { Transaction } from '../../db/sql.ts'
import * as store from './store.ts'

export const keyTypes = ['MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET'] as const

export type KeyType = (typeof keyTypes)[number]

/**
 * Makes an API key and shows its value this once. The value is Base64 of `id:secret` and is compared as an opaque
 * string: only its hash is kept.
 */
export async function createKey(sql: Transaction, companyId: number, type: KeyType) {
  const [company] = await store.selectCompanyName(sql, companyId)
  if (!company) throw notFound('Company')
  const value = makeValue()
  const [key] = await store.insertKeyId(sql, companyId, hashOf(value))
  await store.insertKey(sql, companyId, key!.keyId, type)
  return { keyId: key!.keyId, key: value }
}

const makeValue = () =>
  Buffer.from(`${randomBytes(9).toString('base64url')}:${randomBytes(24).toString('base64url')}`).toString('base64')

const hashOf = (value: string) => createHash('sha256').update(value).digest()
