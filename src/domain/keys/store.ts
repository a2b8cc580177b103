import type { Sql } from '../../db/sql.ts'
import type { FoundKey, Key, KeyType } from './key.ts'

const found = (sql: Sql) => sql`
  k.key_id, k.company_id, k.type, k.active, k.addresses, k.center_id as traffic_center_id`

const columns = (sql: Sql, companyId = sql`k.company_id`) => sql`
  ${found(sql)}, k.name, k.created_at,
  (select name from traffic_centers t where t.company_id = ${companyId} and t.center_id = k.center_id)
    as traffic_center_name`

export function insertKeyId(sql: Sql, companyId: number, keyHash: Buffer) {
  return sql<{ keyId: number }[]>`
    insert into api_key_ids (company_id, key_hash) values (${companyId}, ${keyHash}) returning key_id`
}

export type NewKey = { keyId: number; type: KeyType; name: string; addresses: string[]; centerId: number | null }

export function insertKey(sql: Sql, companyId: number, { keyId, type, name, addresses, centerId }: NewKey) {
  return sql`
    insert into api_keys (company_id, key_id, type, name, addresses, center_id)
    values (${companyId}, ${keyId}, ${type}, ${name}, ${addresses}::text[], ${centerId})`
}

export type KeyOwner = { companyId: number; keyId: number; hash: string }

export const selectOwnersByHash = (sql: Sql, hexHashes: string[]) => sql<KeyOwner[]>`
  select company_id, key_id, encode(key_hash, 'hex') as hash from api_key_ids
  where key_hash = any(array(select decode(hash, 'hex') from unnest(${hexHashes}::text[]) hash))`

/** Ids of keys are unique, so the two lists need no pairs. */
export function selectFoundKeys(sql: Sql, owners: KeyOwner[]) {
  return sql<FoundKey[]>`
    select ${found(sql)}, c.status as company_status
    from api_keys k join companies c on c.company_id = k.company_id
    where k.company_id = any(${owners.map(({ companyId }) => companyId)}::bigint[])
      and k.key_id = any(${owners.map(({ keyId }) => keyId)}::bigint[])`
}

export function listKeys(sql: Sql, companyId: number) {
  return sql<Key[]>`
    select ${columns(sql)} from api_keys k
    where k.company_id = ${companyId} order by k.key_id`
}

export const selectNameOf = (sql: Sql, companyId: number, keyId: number) =>
  sql<{ name: string }[]>`select name from api_keys where company_id = ${companyId} and key_id = ${keyId}`

/** Locks the key until the transaction ends. */
export function lockKey(sql: Sql, companyId: number, keyId: number) {
  return sql<Key[]>`
    select ${columns(sql, sql`${companyId}`)} from api_keys k
    where k.company_id = ${companyId} and k.key_id = ${keyId} for update of k`
}

export const countKeys = (sql: Sql, companyId: number) =>
  sql<{ count: number }[]>`select count(*)::int as count from api_keys where company_id = ${companyId}`

/** For staff: the keys of every company. */
export const listAllKeys = (sql: Sql) => sql<Key[]>`select ${columns(sql)} from api_keys k order by k.key_id`

export const selectCompanyOf = (sql: Sql, keyId: number) =>
  sql<{ companyId: number }[]>`select company_id from api_key_ids where key_id = ${keyId}`

export function updateActive(sql: Sql, companyId: number, keyId: number, active: boolean) {
  return sql<Key[]>`
    update api_keys k set active = ${active} where k.company_id = ${companyId} and k.key_id = ${keyId}
    returning ${columns(sql)}`
}

export function updateAddresses(sql: Sql, companyId: number, keyId: number, addresses: string[]) {
  return sql<Key[]>`
    update api_keys k set addresses = ${addresses}::text[] where k.company_id = ${companyId} and k.key_id = ${keyId}
    returning ${columns(sql)}`
}

export function updateName(sql: Sql, companyId: number, keyId: number, name: string) {
  return sql<Key[]>`
    update api_keys k set name = ${name} where k.company_id = ${companyId} and k.key_id = ${keyId}
    returning ${columns(sql)}`
}

export const updateHash = (sql: Sql, companyId: number, keyId: number, keyHash: Buffer) =>
  sql`update api_key_ids set key_hash = ${keyHash} where key_id = ${keyId} and company_id = ${companyId}`
