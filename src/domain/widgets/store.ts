import type { Fragment, Sql } from '../../db/sql.ts'
import type { NewSession, Session, WidgetError } from './widget.ts'

// Sessions --------------------------------------------------------------------------------------------------------

type Hashes = { keyHash: Buffer; secretHash: Buffer }

export function insertSession(sql: Sql, companyId: number, session: NewSession & Hashes, lastsMinutes: number) {
  return sql`
    insert into widget_sessions (company_id, key_hash, secret_hash, widget_id, destination, client_address, network,
      origin, language, channel_type, ends_at)
    values (${companyId}, ${session.keyHash}, ${session.secretHash}, ${session.widgetId}, ${session.destination},
      ${session.clientAddress}, ${session.network}, ${session.origin}, ${session.language}, ${session.channelType},
      now() + make_interval(mins => ${lastsMinutes}))`
}

/** How many sessions were begun from a network within an hour, up to a bound. */
export function countSessions(sql: Sql, companyId: number, network: string, most: number) {
  return sql<{ count: number }[]>`
    select count(*)::int as count from (
      select company_id from widget_sessions
      where company_id = ${companyId} and network = ${network} and created_at > now() - interval '1 hour'
      limit ${most}) q`
}

const sessionColumns = (sql: Sql) => sql`
  company_id, key_hash, secret_hash, widget_id, destination,
  client_address, origin, language, channel_type, state, asks, error,
  verification_uuid, message_uuid,
  extract(epoch from now() - asked_at)::float as seconds_waiting,
  greatest(0, ceil(extract(epoch from retry_at - now())))::int as retry_after_seconds, ends_at <= now() as is_over, now() as read_at`

export function selectSession(sql: Sql, companyId: number, keyHash: Buffer) {
  return sql<Session[]>`
    select ${sessionColumns(sql)} from widget_sessions where company_id = ${companyId} and key_hash = ${keyHash}`
}

/** At most two rows, because the caller needs a session only if it is the only one. */
export function selectWaiting(sql: Sql, companyId: number, withinSeconds: number) {
  return sql<Session[]>`
    select ${sessionColumns(sql)} from widget_sessions
    where company_id = ${companyId} and state = 'WAITING' and asked_at > now() - make_interval(secs => ${withinSeconds})
    limit 2`
}

type SessionKey = { companyId: number; keyHash: Buffer }

/**
 * A session ends a day after its beginning at the latest: its verification is not kept for ever. The sum is made in a
 * subquery, because Citus refuses it in an update: the length of a day can depend on the time zone.
 */
const laterEnd = (sql: Sql, { companyId, keyHash }: SessionKey, lasts: Fragment) => sql`
  greatest(ends_at, least(now() + ${lasts}, (
    select s.created_at + interval '1 day' from widget_sessions s
    where s.company_id = ${companyId} and s.key_hash = ${keyHash})))`

/** Does nothing when another tab asked first, or a code was sent meanwhile: that code is the one asked for. */
export function updateAsked(sql: Sql, session: Session, channelType: string, lastsMinutes: number) {
  return sql`
    update widget_sessions set state = 'WAITING', error = null, retry_at = null, asks = asks + 1, asked_at = now(),
      channel_type = ${channelType}, ends_at = ${laterEnd(sql, session, sql`make_interval(mins => ${lastsMinutes})`)}
    where company_id = ${session.companyId} and key_hash = ${session.keyHash} and asks = ${session.asks}
      and message_uuid is not distinct from ${session.messageUuid}`
}

export type SentSession = { keyHash: Buffer; messageUuid: string; verificationUuid: string; lifetimeSeconds: number }

/** The session outlives its code: the site's server may ask for the outcome a little later. */
export function updateSent(sql: Sql, companyId: number, sent: SentSession, afterwardsMinutes: number) {
  const lasts = sql`make_interval(secs => ${sent.lifetimeSeconds}, mins => ${afterwardsMinutes})`
  return sql`
    update widget_sessions set state = 'SENT', error = null, retry_at = null, message_uuid = ${sent.messageUuid},
      verification_uuid = ${sent.verificationUuid},
      ends_at = ${laterEnd(sql, { companyId, keyHash: sent.keyHash }, lasts)}
    where company_id = ${companyId} and key_hash = ${sent.keyHash}`
}

/** Marks a session unless its code was sent meanwhile or asked for anew. */
export function updateFailed(sql: Sql, session: Session, code: number, retryAfterSeconds: number | null) {
  return sql`
    update widget_sessions set state = 'FAILED', error = ${code},
      retry_at = now() + make_interval(secs => ${retryAfterSeconds}::int)
    where company_id = ${session.companyId} and key_hash = ${session.keyHash} and asks = ${session.asks}
      and state <> 'SENT'`
}

export const selectOldSessions = (sql: Sql, limit: number) => sql<{ companyId: number; keyHash: Buffer }[]>`
  select company_id, key_hash from widget_sessions where ends_at < now() - interval '1 day' limit ${limit}`

export const deleteSessions = (sql: Sql, companyId: number, keyHashes: Buffer[]) => sql<{ companyId: number }[]>`
  delete from widget_sessions where company_id = ${companyId} and key_hash = any(${listOf(keyHashes)}::text::bytea[])
  returning company_id`

/** The driver cannot write lists of bytes. */
const listOf = (bytes: Buffer[]): string => `{${bytes.map(each => `"\\\\x${each.toString('hex')}"`).join(',')}}`

// Captcha ---------------------------------------------------------------------------------------------------------

export function insertUse(sql: Sql, companyId: number, use: { hash: Buffer; expiresAt: Date }) {
  return sql`
    insert into captcha_uses (company_id, use_hash, expires_at) values (${companyId}, ${use.hash}, ${use.expiresAt})
    on conflict do nothing`
}

export const selectOldUses = (sql: Sql, limit: number) => sql<{ companyId: number; useHash: Buffer }[]>`
  select company_id, use_hash from captcha_uses where expires_at < now() - interval '1 minute' limit ${limit}`

export const deleteUses = (sql: Sql, companyId: number, useHashes: Buffer[]) => sql<{ companyId: number }[]>`
  delete from captcha_uses where company_id = ${companyId} and use_hash = any(${listOf(useHashes)}::text::bytea[])
  returning company_id`

// Errors ----------------------------------------------------------------------------------------------------------

export type NewError = Omit<WidgetError, 'errorId' | 'createdAt'>

/** A widget has room for so many errors with one number within an hour. */
export function insertError(sql: Sql, companyId: number, error: NewError, mostInHour: number) {
  return sql`
    insert into widget_errors (company_id, widget_id, code, reason, origin, destination)
    select ${companyId}, ${error.widgetId}, ${error.code}, ${error.reason}, ${error.origin}, ${error.destination}
    where (
      select count(*) from (
        select company_id from widget_errors
        where company_id = ${companyId} and widget_id = ${error.widgetId} and code = ${error.code}
          and created_at > now() - interval '1 hour'
        limit ${mostInHour}) q) < ${mostInHour}`
}

export type ErrorFilter = { widgetId?: string; code?: number; limit: number }

/** The newest first. */
export function listErrors(sql: Sql, companyId: number, { widgetId, code, limit }: ErrorFilter) {
  return sql<WidgetError[]>`
    select error_id, widget_id, code, reason, origin, destination, created_at
    from widget_errors
    where company_id = ${companyId} ${widgetId === undefined ? sql`` : sql`and widget_id = ${widgetId}`}
      ${code === undefined ? sql`` : sql`and code = ${code}`}
    order by error_id desc limit ${limit}`
}

export type ErrorCount = { widgetId: string; code: number; count: number }

/** Errors of a company's widgets within a day, the most frequent of each widget first. */
export function countErrors(sql: Sql, companyId: number) {
  return sql<ErrorCount[]>`
    select widget_id, code, count(*)::int as count from widget_errors
    where company_id = ${companyId} and created_at > now() - interval '1 day'
    group by widget_id, code order by widget_id, count desc, code`
}

export const selectOldErrors = (sql: Sql, limit: number) => sql<{ companyId: number; errorId: number }[]>`
  select company_id, error_id from widget_errors where created_at < now() - interval '30 days' limit ${limit}`

export const deleteErrors = (sql: Sql, companyId: number, errorIds: number[]) => sql<{ companyId: number }[]>`
  delete from widget_errors where company_id = ${companyId} and error_id = any(${errorIds}::bigint[])
  returning company_id`
