import { hash, randomBytes } from 'node:crypto'
import { createFinder } from '../../base/concurrency/batcher.ts'
import { invalidField, notFound } from '../../base/errors.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { defaultCenter, ensureCenter } from '../traffic-centers/traffic-centers.ts'
import { refusalOfAddresses } from './address-list.ts'
import { type FoundKey, type Key, type KeyType, refusalOfKeyName } from './key.ts'
import * as store from './store.ts'

export { listAllKeys, listKeys } from './store.ts'

export type KeyOptions = {
  name?: string
  /** Addresses and networks that may use the key. Empty: all. */
  addresses?: string[]
  /** The name of the traffic center of a MESSAGE key. A new name makes a new center. Without a name: the default center. */
  center?: string
}

/** The value is shown once: only its hash is stored. */
export type ShownKey = { keyId: number; key: string }

/** Makes an API key. Its value is Base64 of `id:secret` and is compared as a whole. */
export async function createKey(
  sql: Transaction,
  companyId: number,
  type: KeyType,
  options: KeyOptions = {},
): Promise<ShownKey> {
  const addresses = checkedAddresses(options.addresses ?? [])
  const name = checkedName(options.name ?? '')
  await requireAnyCompany(sql, companyId)
  const centerId = await centerOf(sql, companyId, type, options.center)
  const key = makeValue()
  const [made] = await store.insertKeyId(sql, companyId, hashOf(key))
  const { keyId } = made!
  await store.insertKey(sql, companyId, { keyId, type, name, addresses, centerId })
  return { keyId, key }
}

function checkedAddresses(entries: string[]): string[] {
  const refusal = refusalOfAddresses(entries)
  if (refusal) throw invalidField('addresses', refusal)
  return [...new Set(entries)]
}

function checkedName(name: string): string {
  const refusal = refusalOfKeyName(name.trim())
  if (refusal) throw invalidField('name', refusal)
  return name.trim()
}

async function centerOf(sql: Transaction, companyId: number, type: KeyType, name: string | undefined) {
  if (type !== 'MESSAGE') {
    if (name !== undefined) throw invalidField('center', 'only a MESSAGE key belongs to a traffic center')
    return null
  }
  const center = name === undefined ? defaultCenter(sql, companyId) : ensureCenter(sql, companyId, name)
  return (await center).centerId
}

const makeValue = () =>
  Buffer.from(`${randomBytes(9).toString('base64url')}:${randomBytes(24).toString('base64url')}`).toString('base64')

const hashOf = (value: string) => hash('sha256', value, 'buffer')

/** The key with that value. It is read from the database every time, so that a change counts at once in every process. */
export const findKey = (sql: Sql, value: string): Promise<FoundKey | undefined> => keyFinder(sql)(value)

/**
 * Finds keys for many callers. Requests of the same turn of the event loop share two statements. No request joins
 * statements that were already sent, so that a change of a key acts at once.
 */
export function keyFinder(sql: Sql): (value: string) => Promise<FoundKey | undefined> {
  const find = createFinder(async hashes => {
    const owners = await store.selectOwnersByHash(sql, hashes)
    const keys = owners.length > 0 ? await store.selectFoundKeys(sql, owners) : []
    const byId = new Map(keys.map(key => [key.keyId, key]))
    return new Map(owners.flatMap(({ hash, keyId }) => (byId.has(keyId) ? [[hash, byId.get(keyId)!]] : [])))
  })
  return value => find(hash('sha256', value, 'hex'))
}

/** Sets the name of the key for people. It may be empty. */
export const nameOfKey = async (sql: Sql, companyId: number, keyId: number): Promise<string> =>
  (await store.selectNameOf(sql, companyId, keyId))[0]?.name ?? ''

/** For staff: the key with this id, of any company. */
export async function companyOfKey(sql: Sql, keyId: number): Promise<number> {
  const [found] = await store.selectCompanyOf(sql, keyId)
  if (!found) throw notFound('Key')
  return found.companyId
}

export const deactivateKey = (sql: Sql, companyId: number, keyId: number) => setActive(sql, companyId, keyId, false)
export const activateKey = (sql: Sql, companyId: number, keyId: number) => setActive(sql, companyId, keyId, true)

const setActive = async (sql: Sql, companyId: number, keyId: number, active: boolean): Promise<Key> =>
  required(await store.updateActive(sql, companyId, keyId, active))

export async function restrictKey(sql: Sql, companyId: number, keyId: number, addresses: string[]): Promise<Key> {
  return required(await store.updateAddresses(sql, companyId, keyId, checkedAddresses(addresses)))
}

export const renameKey = async (sql: Sql, companyId: number, keyId: number, name: string): Promise<Key> =>
  required(await store.updateName(sql, companyId, keyId, checkedName(name)))

/** The key, locked until the transaction ends. */
export const lockKey = async (sql: Transaction, companyId: number, keyId: number): Promise<Key> =>
  required(await store.lockKey(sql, companyId, keyId))

export const countKeys = async (sql: Sql, companyId: number): Promise<number> =>
  (await store.countKeys(sql, companyId))[0]!.count

function required([key]: Key[]): Key {
  if (!key) throw notFound('Key')
  return key
}

/** Gives the key a new value. The old value is invalid at once. A deactivated key stays deactivated. */
export async function reissueKey(sql: Sql, companyId: number, keyId: number): Promise<ShownKey> {
  const key = makeValue()
  const { count } = await store.updateHash(sql, companyId, keyId, hashOf(key))
  if (count === 0) throw notFound('Key')
  return { keyId, key }
}
