import type { Sql } from '../../db/sql.ts'
import type { ListedPartner, Partner, PartnerFilter, PartnerPlace } from './partner.ts'

export type Account = Partner & { passwordHash: string }

export function insertPartner(sql: Sql, login: string, passwordHash: string) {
  return sql<{ partnerId: number }[]>`
    insert into partners (login, password_hash) values (${login}, ${passwordHash})
    on conflict (login) do nothing
    returning partner_id`
}

export function selectPartner(sql: Sql, login: string) {
  return sql<Account[]>`
    select partner_id, login, currency, password_hash from partners
    where login = ${login}`
}

export const listPartners = (sql: Sql) =>
  sql<ListedPartner[]>`
    select partner_id, login, currency, disabled_at from partners order by partner_id`

export type PagedPartner = ListedPartner & { createdAt: Date }

const listedColumns = (sql: Sql) => sql`
  partner_id, login, currency, disabled_at, created_at`

export function selectPage(sql: Sql, filter: PartnerFilter, { after, before }: PartnerPlace, limit: number) {
  const { search = '', state } = filter
  const loginOf = (partnerId: number) => sql`(select login from partners where partner_id = ${partnerId})`
  return sql<PagedPartner[]>`
    select ${listedColumns(sql)} from partners
    where position(lower(${search}::text) in lower(login)) > 0
      ${after === undefined ? sql`` : sql`and login > ${loginOf(after)}`}
      ${before === undefined ? sql`` : sql`and login < ${loginOf(before)}`}
      ${state === undefined ? sql`` : sql`and (disabled_at is null) = ${state === 'active'}`}
    order by login ${before === undefined ? sql`asc` : sql`desc`} limit ${limit}`
}

export const selectLogins = (sql: Sql, partnerIds: number[]) =>
  sql<{ partnerId: number; login: string }[]>`
    select partner_id, login from partners where partner_id = any(${partnerIds}::bigint[])`

export const selectListedPartner = (sql: Sql, partnerId: number) =>
  sql<PagedPartner[]>`select ${listedColumns(sql)} from partners where partner_id = ${partnerId}`

export const selectPartnerById = (sql: Sql, partnerId: number) =>
  sql<Partner[]>`select partner_id, login, currency from partners where partner_id = ${partnerId}`

export function updatePassword(sql: Sql, login: string, passwordHash: string) {
  return sql<{ partnerId: number }[]>`
    update partners set password_hash = ${passwordHash} where login = ${login}
    returning partner_id`
}

/** The same password at another cost; nothing when the password was changed meanwhile. */
export function replaceHash(sql: Sql, account: Account, passwordHash: string) {
  return sql`
    update partners set password_hash = ${passwordHash}
    where partner_id = ${account.partnerId} and password_hash = ${account.passwordHash}`
}

/** Disabling twice keeps the first moment. */
export function setDisabled(sql: Sql, login: string, disabled: boolean) {
  return sql<{ partnerId: number }[]>`
    update partners set disabled_at = case when ${disabled} then coalesce(disabled_at, statement_timestamp()) end
    where login = ${login}
    returning partner_id`
}

/**
 * Writes a token only if the password is still the checked password and the partner is not disabled. A change meanwhile
 * has deleted the tokens of that time, and a token written afterwards would survive it.
 */
export function insertToken(sql: Sql, account: Account, tokenHash: Buffer, expiresAt: Date) {
  return sql`
    insert into partner_tokens (token_hash, partner_id, expires_at)
    select ${tokenHash}, partner_id, ${expiresAt} from partners
    where partner_id = ${account.partnerId} and password_hash = ${account.passwordHash}
      and disabled_at is null
    for share`
}

export const deleteTokens = (sql: Sql, partnerId: number) =>
  sql`delete from partner_tokens where partner_id = ${partnerId}`

export const deleteExpiredTokens = (sql: Sql, now: Date) => sql`delete from partner_tokens where expires_at <= ${now}`

export function selectPartnersByToken(sql: Sql, tokenHashes: string[], now: Date) {
  return sql<(Partner & { tokenHash: string })[]>`
    select encode(t.token_hash, 'hex') as token_hash, partner_id, p.login, p.currency
    from partner_tokens t join partners p using (partner_id)
    where t.token_hash = any(array(select decode(hash, 'hex') from unnest(${tokenHashes}::text[]) hash))
      and t.expires_at > ${now} and p.disabled_at is null`
}

export type Failures = { subject: string; failures: number; startedAt: Date }

/** The failures of these subjects in the current windows. */
export function selectFailures(sql: Sql, subjects: string[], windowStart: Date) {
  return sql<Failures[]>`
    select subject, failures, window_started_at as started_at from login_failures
    where subject = any(${subjects}) and window_started_at > ${windowStart}`
}

/**
 * The counts of these subjects, locked until the end of the transaction, in one order everywhere. A window that is over,
 * or in which nothing failed, begins now.
 */
export function lockFailures(sql: Sql, subjects: string[], now: Date, windowStart: Date) {
  return sql<Failures[]>`
    insert into login_failures (subject, failures, window_started_at)
    select subject, 0, ${now} from unnest(${subjects}::text[]) subject order by subject
    on conflict (subject) do update set
      failures = case when login_failures.window_started_at <= ${windowStart} then 0 else login_failures.failures end,
      window_started_at = case
        when login_failures.window_started_at <= ${windowStart} or login_failures.failures = 0 then ${now}
        else login_failures.window_started_at end
    returning subject, failures, window_started_at as started_at`
}

export const raiseFailures = (sql: Sql, subjects: string[]) =>
  sql`update login_failures set failures = failures + 1 where subject = any(${subjects})`

/** Locks in the order in which `lockFailures` does. */
export function lowerFailures(sql: Sql, subjects: string[]) {
  return sql`
    with locked as (
      select subject from login_failures where subject = any(${subjects}) order by subject for update)
    update login_failures f set failures = greatest(f.failures - 1, 0) from locked where f.subject = locked.subject`
}

/** Deletes the failures of a login, from every network. */
export function forgetFailures(sql: Sql, login: string) {
  return sql`
    delete from login_failures
    where subject = ${`login:${login}`}
      or starts_with(subject, 'both:') and substr(subject, strpos(subject, ' ') + 1) = ${login}`
}

export const deleteOldFailures = (sql: Sql, windowStart: Date) =>
  sql`delete from login_failures where window_started_at <= ${windowStart}`

// Where partners logged in from -------------------------------------------------------------------------------------

export function selectNetwork(sql: Sql, login: string, network: string) {
  return sql`
    select from partner_networks join partners using (partner_id) where login = ${login} and network = ${network}`
}

/** Written once a day: a partner may log in every minute. */
export function upsertNetwork(sql: Sql, partnerId: number, network: string, now: Date) {
  return sql`
    insert into partner_networks as known (partner_id, network, last_used_at) values (${partnerId}, ${network}, ${now})
    on conflict (partner_id, network) do update set last_used_at = excluded.last_used_at
    where known.last_used_at < excluded.last_used_at - interval '1 day'`
}

export const deleteNetworks = (sql: Sql, partnerId: number) =>
  sql`delete from partner_networks where partner_id = ${partnerId}`

/** Deletes networks that were not used since `before`, and all but the newest `most` networks of each partner. */
export function deleteOldNetworks(sql: Sql, before: Date, most: number) {
  return sql`
    delete from partner_networks known using (
      select partner_id, network, last_used_at,
        row_number() over (partition by partner_id order by last_used_at desc) as place
      from partner_networks) listed
    where known.partner_id = listed.partner_id and known.network = listed.network
      and (listed.last_used_at <= ${before} or listed.place > ${most})`
}
