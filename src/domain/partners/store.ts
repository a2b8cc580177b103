import type { Sql } from '../../db/sql.ts'
import type { ListedPartner, Partner, StaffMember } from './partner.ts'

type Account = Partner & { passwordHash: string }

export function insertPartner(sql: Sql, login: string, passwordHash: string) {
  return sql<{ partnerId: number }[]>`
    insert into partners (login, password_hash) values (${login}, ${passwordHash})
    on conflict (login) do nothing
    returning partner_id as "partnerId"`
}

export function selectPartner(sql: Sql, login: string) {
  return sql<Account[]>`
    select partner_id as "partnerId", login, currency, password_hash as "passwordHash" from partners
    where login = ${login}`
}

export const selectPartners = (sql: Sql) =>
  sql<ListedPartner[]>`
    select partner_id as "partnerId", login, currency, disabled_at as "disabledAt" from partners order by partner_id`

export const selectPartnerById = (sql: Sql, partnerId: number) =>
  sql<Partner[]>`select partner_id as "partnerId", login, currency from partners where partner_id = ${partnerId}`

export function updatePassword(sql: Sql, login: string, passwordHash: string) {
  return sql<{ partnerId: number }[]>`
    update partners set password_hash = ${passwordHash} where login = ${login}
    returning partner_id as "partnerId"`
}

/** Disabling twice keeps the first moment. */
export function setDisabled(sql: Sql, login: string, disabled: boolean) {
  return sql<{ partnerId: number }[]>`
    update partners set disabled_at = case when ${disabled} then coalesce(disabled_at, clock_timestamp()) end
    where login = ${login}
    returning partner_id as "partnerId"`
}

/**
 * Writes a token only while the password is still the one that was checked and the partner is not disabled: a change
 * made meanwhile has already deleted the tokens it knew of, and this one must not outlive it.
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
    select encode(t.token_hash, 'hex') as "tokenHash", partner_id as "partnerId", p.login, p.currency
    from partner_tokens t join partners p using (partner_id)
    where t.token_hash = any(array(select decode(hash, 'hex') from unnest(${tokenHashes}::text[]) hash))
      and t.expires_at > ${now} and p.disabled_at is null`
}

export function insertStaff(sql: Sql, login: string, passwordHash: string) {
  return sql<{ staffId: number }[]>`
    insert into staff (login, password_hash) values (${login}, ${passwordHash})
    on conflict (login) do nothing
    returning staff_id as "staffId"`
}

export const selectStaff = (sql: Sql, login: string) =>
  sql<{ passwordHash: string }[]>`select password_hash as "passwordHash" from staff where login = ${login}`

export const selectAllStaff = (sql: Sql) =>
  sql<StaffMember[]>`select staff_id as "staffId", login, created_at as "createdAt" from staff order by staff_id`

export const updateStaffPassword = (sql: Sql, login: string, passwordHash: string) =>
  sql`update staff set password_hash = ${passwordHash} where login = ${login}`

/** The first failure after a quiet spell opens a new window; the others are counted in it. */
export function countFailure(sql: Sql, subjects: string[], now: Date, windowStart: Date) {
  return sql`
    insert into login_failures (subject, failures, window_started_at)
    select subject, 1, ${now} from unnest(${subjects}::text[]) subject order by subject
    on conflict (subject) do update set
      failures = case when login_failures.window_started_at <= ${windowStart} then 1 else login_failures.failures + 1 end,
      window_started_at =
        case when login_failures.window_started_at <= ${windowStart} then ${now} else login_failures.window_started_at end`
}

/** The newest window among the subjects that have used up their failures. */
export function selectBlockingWindow(sql: Sql, subjects: string[], limit: number, windowStart: Date) {
  return sql<{ startedAt: Date }[]>`
    select window_started_at as "startedAt" from login_failures
    where subject = any(${subjects}) and failures >= ${limit} and window_started_at > ${windowStart}
    order by window_started_at desc limit 1`
}

export const deleteFailures = (sql: Sql, subjects: string[]) =>
  sql`delete from login_failures where subject = any(${subjects})`

export const deleteOldFailures = (sql: Sql, windowStart: Date) =>
  sql`delete from login_failures where window_started_at <= ${windowStart}`
