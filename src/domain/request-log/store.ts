import type { Sql } from '../../db/sql.ts'
import type { MinuteCount } from './buffer.ts'
import type { LoggedRequest, Owner } from './request.ts'

export const ensureHour = (sql: Sql, moment: Date) => sql`select ensure_request_hour(${moment})`

/** In the order of the index, so that two processes that write at once do not block each other. */
export function insertAll(sql: Sql, requests: LoggedRequest[], counts: MinuteCount[]) {
  return sql`
    with listed as (
      insert into requests (owner_kind, owner_id, at, key_id, method, route, status, took_ms, address, request_id)
      select * from unnest(
        ${requests.map(({ owner }) => owner.kind)}::text[], ${requests.map(({ owner }) => owner.id)}::bigint[],
        ${requests.map(({ at }) => at.toISOString())}::timestamptz[], ${requests.map(({ keyId }) => keyId)}::bigint[],
        ${requests.map(({ method }) => method)}::text[], ${requests.map(({ route }) => route)}::text[],
        ${requests.map(({ status }) => status)}::int[], ${requests.map(({ tookMs }) => tookMs)}::int[],
        ${requests.map(({ address }) => address)}::text[], ${requests.map(({ requestId }) => requestId)}::text[]))
    insert into request_minutes (owner_kind, owner_id, minute, key_id, requests, refused, unlisted)
    select * from unnest(
      ${counts.map(({ owner }) => owner.kind)}::text[], ${counts.map(({ owner }) => owner.id)}::bigint[],
      ${counts.map(({ minute }) => minute.toISOString())}::timestamptz[], ${counts.map(({ keyId }) => keyId)}::bigint[],
      ${counts.map(count => count.requests)}::int[], ${counts.map(({ refused }) => refused)}::int[],
      ${counts.map(({ unlisted }) => unlisted)}::int[]) given (kind, id, minute, key_id, requests, refused, unlisted)
    order by kind, id, minute, key_id
    on conflict (owner_kind, owner_id, minute, key_id) do update set
      requests = request_minutes.requests + excluded.requests,
      refused = request_minutes.refused + excluded.refused,
      unlisted = request_minutes.unlisted + excluded.unlisted`
}

/** Stores the last use of keys of a company. */
export function insertUses(sql: Sql, companyId: number, uses: Pick<MinuteCount, 'keyId' | 'lastAt'>[]) {
  return sql`
    insert into key_uses (company_id, key_id, used_at)
    select c.company_id, q.key_id, max(q.used_at)
    from companies c, unnest(
      ${uses.map(({ keyId }) => keyId)}::bigint[], ${uses.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]
    ) q (key_id, used_at)
    where c.company_id = ${companyId}
    group by 1, 2 order by 1, 2
    on conflict (company_id, key_id) do update set used_at = greatest(key_uses.used_at, excluded.used_at)`
}

export type Place = { at: Date; requestNo: number }

export type StoredRequest = Omit<LoggedRequest, 'owner'> & { requestNo: number }

const columns = (sql: Sql) =>
  sql`r.at, r.request_no, r.key_id, r.method, r.route, r.status, r.took_ms, r.address, r.request_id`

export type Filter = {
  refused: boolean
  statusFrom: number | undefined
  statusTo: number | undefined
  keyId: number | undefined
  method: string | undefined
}

/** Reads the newest `most` requests before a place and returns the requests that fit, the newest first. */
export function selectRequests(
  sql: Sql,
  owner: Owner,
  since: Date,
  before: Place,
  { refused, statusFrom, statusTo, keyId, method }: Filter,
  { most, limit }: { most: number; limit: number },
) {
  return sql<StoredRequest[]>`
    select ${columns(sql)} from (${newest(sql, owner, since, before, refused)} limit ${most}) r
    where true
      ${statusFrom === undefined ? sql`` : sql`and r.status >= ${statusFrom}`}
      ${statusTo === undefined ? sql`` : sql`and r.status < ${statusTo}`}
      ${keyId === undefined ? sql`` : sql`and r.key_id = ${keyId}`}
      ${method === undefined ? sql`` : sql`and r.method = ${method}`}
    order by r.at desc, r.request_no desc
    limit ${limit}`
}

/** The place of the last of the newest `most` requests. No row if there are fewer. */
export const selectLastRead = (sql: Sql, owner: Owner, since: Date, before: Place, refused: boolean, most: number) =>
  sql<Place[]>`
    select at, request_no from (${newest(sql, owner, since, before, refused)} offset ${most - 1} limit 1) r`

/** By the primary key, or by the index of refusals. */
const newest = (sql: Sql, owner: Owner, since: Date, before: Place, refused: boolean) => sql`
  select * from requests
  where owner_kind = ${owner.kind} and owner_id = ${owner.id} and at >= ${since} and at <= ${before.at}
    and (at, request_no) < (${before.at}, ${before.requestNo})
    ${refused ? sql`and status >= 400` : sql``}
  order by at desc, request_no desc`

/** Filters before it sorts: the index of the order would read every request of the day. */
export function selectById(sql: Sql, owner: Owner, since: Date, until: Date, requestId: string, most: number) {
  return sql<StoredRequest[]>`
    with r as materialized (
      select * from requests
      where owner_kind = ${owner.kind} and owner_id = ${owner.id} and request_id = ${requestId}
        and at between ${since} and ${until}
      limit 1000)
    select ${columns(sql)} from r
    order by r.at desc, r.request_no desc
    limit ${most}`
}

export const selectKeyNames = (sql: Sql, companyId: number, keyIds: number[]) => sql<{ keyId: number; name: string }[]>`
  select key_id, name from api_keys where company_id = ${companyId} and key_id = any(${keyIds}::bigint[])`

/** Minutes in which requests were only counted. */
export function selectUnlisted(sql: Sql, owner: Owner, from: Date, to: Date) {
  return sql<{ minute: Date; unlisted: number }[]>`
    select minute, sum(unlisted)::int as unlisted from request_minutes
    where owner_kind = ${owner.kind} and owner_id = ${owner.id} and minute between ${from} and ${to} and unlisted > 0
    group by minute order by minute desc`
}

/** The number of requests since a moment of the last day, by key. Key 0 is the token of a partner. */
export function countRequests(sql: Sql, owner: Owner, since: Date) {
  return sql<{ keyId: number; requests: number; refused: number }[]>`
    select key_id, sum(requests)::int as requests, sum(refused)::int as refused from request_minutes
    where owner_kind = ${owner.kind} and owner_id = ${owner.id} and minute >= ${since}
    group by key_id`
}

export const selectUses = (sql: Sql, companyId: number) =>
  sql<{ keyId: number; usedAt: Date }[]>`
    select key_id, used_at from key_uses where company_id = ${companyId}`

export const dropHours = (sql: Sql, before: Date) => sql`select drop_request_hours(${before})`

export const deleteMinutes = (sql: Sql, before: Date, limit: number) => sql`
  delete from request_minutes where ctid = any(array(
    select ctid from request_minutes where minute < ${before} order by minute limit ${limit}))`
