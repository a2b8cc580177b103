import type { Sql } from '../../db/sql.ts'
import type { Language, Person, PersonKind, Place, Role, Theme } from './person.ts'

const columns = (sql: Sql) => sql`
  p.person_id, p.kind, p.company_id, p.partner_id, p.role, p.login, p.name,
  p.language, p.theme, p.totp_secret is not null as has_second_factor,
  p.password_hash is null and not (p.kind = 'PARTNER' and p.login = (
    select login from partners where partner_id = p.partner_id)) as is_invited,
  p.created_at, p.disabled_at`

/** Neither the person nor the partner is disabled. */
const isEnabled = (sql: Sql) => sql`
  p.disabled_at is null
  and not exists (select from partners r where r.partner_id = p.partner_id and r.disabled_at is not null)`

/** Leaves out people of disabled companies: a statement of its own, because another node can have the company. */
async function ofEnabledCompanies<Row extends { companyId: number | null }>(sql: Sql, people: Row[]): Promise<Row[]> {
  const companyIds = [...new Set(people.flatMap(({ companyId }) => companyId ?? []))]
  if (companyIds.length === 0) return people
  const disabled = await sql<{ companyId: number }[]>`
    select company_id from companies where company_id = any(${companyIds}::bigint[]) and status = 'DISABLED'`
  return people.filter(person => disabled.every(({ companyId }) => companyId !== person.companyId))
}

export type NewPerson = Place & { role: Role; login: string; name: string; passwordHash: string | null }

export function insertPerson(sql: Sql, person: NewPerson) {
  return sql<{ personId: number }[]>`
    insert into people (kind, company_id, partner_id, role, login, name, password_hash)
    values (${person.kind}, ${person.companyId}, ${person.partnerId}, ${person.role}, ${person.login}, ${person.name},
      ${person.passwordHash})
    on conflict (login) do nothing
    returning person_id`
}

/** Adds the owner of the partner with this login, if the partner exists and has none. */
export function insertOwner(sql: Sql, login: string) {
  return sql`
    insert into people (kind, partner_id, role, login, name)
    select 'PARTNER', r.partner_id, 'owner', r.login, '' from partners r
    where r.login = ${login} and not exists (select from people p where p.login = ${login})
    on conflict (login) do nothing`
}

export const selectPerson = (sql: Sql, personId: number) =>
  sql<Person[]>`select ${columns(sql)} from people p where person_id = ${personId}`

export const selectPersonByLogin = (sql: Sql, login: string) =>
  sql<Person[]>`select ${columns(sql)} from people p where login = ${login}`

/** Of a company, of a partner, or the staff. */
export function listPeople(sql: Sql, place: Place) {
  return sql<Person[]>`
    select ${columns(sql)} from people p where ${isOf(sql, place)} order by person_id`
}

export const countPeople = (sql: Sql, place: Place) =>
  sql<{ count: number }[]>`select count(*)::int as count from people where ${isOf(sql, place)}`

const isOf = (sql: Sql, { kind, companyId, partnerId }: Place) => sql`
  kind = ${kind} and company_id is not distinct from ${companyId} and partner_id is not distinct from ${partnerId}`

/** The owner of a partner has the partner's password. */
export type Credentials = {
  personId: number
  companyId: number | null
  passwordHash: string | null
  totpSecret: Buffer | null
  totpStep: number | null
  isPartnerLogin: boolean
}

/**
 * Of a person who may sign in now. Asks for the company also where there is none: the number of statements does not tell
 * which logins exist. In a sharded database `company_id = null` asks no node, so it fails with none.
 */
export async function selectCredentials(sql: Sql, login: string): Promise<Credentials | undefined> {
  const [found] = await sql<Credentials[]>`
    select p.person_id, p.company_id, coalesce(p.password_hash, r.password_hash) as password_hash,
      p.totp_secret, p.totp_step, r.partner_id is not null as is_partner_login
    from people p
    left join partners r on p.kind = 'PARTNER' and r.partner_id = p.partner_id and r.login = p.login
    where p.login = ${login} and ${isEnabled(sql)}`
  const [disabled] = await sql`
    select company_id from companies where company_id = ${found?.companyId ?? null} and status = 'DISABLED'`
  return disabled ? undefined : found
}

/** The hash of a partner's password. */
export const selectPartnerHash = (sql: Sql, login: string) =>
  sql<{ passwordHash: string }[]>`select password_hash from partners where login = ${login}`

/** Null: none, or that of the partner. */
export const updatePassword = (sql: Sql, personId: number, passwordHash: string | null) =>
  sql`update people set password_hash = ${passwordHash} where person_id = ${personId}`

/** Nothing where somebody else gave another role meanwhile. */
export const updateRole = (sql: Sql, { personId, role: before }: Pick<Person, 'personId' | 'role'>, role: Role) =>
  sql`update people set role = ${role} where person_id = ${personId} and role = ${before}`

/** Disabling twice keeps the first moment. */
export const updateDisabled = (sql: Sql, personId: number, isDisabled: boolean) =>
  sql`
    update people set disabled_at = case when ${isDisabled} then coalesce(disabled_at, now()) end
    where person_id = ${personId}`

export type Preferences = { name?: string; language?: Language | null; theme?: Theme }

export function updatePreferences(sql: Sql, personId: number, { name, language, theme }: Preferences) {
  return sql`
    update people set name = coalesce(${name ?? null}, name),
      language = case when ${language !== undefined} then ${language ?? null} else language end,
      theme = coalesce(${theme ?? null}, theme)
    where person_id = ${personId}`
}

/** Locked in the order of their ids, so that two people who demote each other wait for each other. */
export const lockPeople = (sql: Sql, kind: PersonKind, role: Role, place: Place) =>
  sql<{ personId: number }[]>`
    select person_id from people
    where kind = ${kind} and role = ${role} and company_id is not distinct from ${place.companyId}
      and partner_id is not distinct from ${place.partnerId} and disabled_at is null
    order by person_id for update`

// Sessions --------------------------------------------------------------------------------------------------------

export type NewSession = { sessionHash: Buffer; personId: number; half: boolean; address: string; agent: string }

/**
 * Written only while the person may still sign in with that password; a session of a disabled company is not valid. Both rows that can hold it are locked: a password
 * that is being replaced ends this session too.
 */
export function insertSession(sql: Sql, session: NewSession, credentials: Credentials, now: Date) {
  return sql`
    insert into person_sessions (session_hash, person_id, half, address, agent, created_at, used_at)
    select ${session.sessionHash}, p.person_id, ${session.half}, ${session.address}, ${session.agent}, ${now}, ${now}
    from people p
    where p.person_id = ${session.personId} and ${credentials.passwordHash} = coalesce(p.password_hash, (
        select password_hash from partners r
        where p.kind = 'PARTNER' and r.partner_id = p.partner_id and r.login = p.login for share))
      and ${isEnabled(sql)}
    for share of p`
}

/** Deletes all sessions except the last used ones. */
export const deleteSessionsBeyond = (sql: Sql, personId: number, most: number) =>
  sql`
    delete from person_sessions where person_id = ${personId} and session_hash in (
      select session_hash from person_sessions where person_id = ${personId}
      order by used_at desc, session_hash offset ${most})`

export type FoundSession = Person & { sessionHash: Buffer; half: boolean; usedAt: Date; startedAt: Date }

/** The valid sessions among these. */
export async function selectSessions(
  sql: Sql,
  hashes: string[],
  now: Date,
  idleSeconds: number,
  mostSeconds: number,
): Promise<FoundSession[]> {
  const found = await sql<FoundSession[]>`
    select ${columns(sql)}, s.session_hash, s.half, s.used_at, s.created_at as started_at
    from person_sessions s join people p using (person_id)
    where ${holds(sql, hashes, now, idleSeconds, mostSeconds)}`
  return ofEnabledCompanies(sql, found)
}

const holds = (sql: Sql, hashes: string[], now: Date, idleSeconds: number, mostSeconds: number) => sql`
  s.session_hash = any(array(select decode(hash, 'hex') from unnest(${hashes}::text[]) hash))
  and s.used_at > ${now}::timestamptz - make_interval(secs => ${idleSeconds})
  and s.created_at > ${now}::timestamptz - make_interval(secs => ${mostSeconds})
  and (not s.half or s.created_at > ${now}::timestamptz - interval '10 minutes')
  and ${isEnabled(sql)}`

export const replaceSession = (sql: Sql, personId: number, before: Buffer, after: Buffer, now: Date) =>
  sql`
    update person_sessions set session_hash = ${after}, half = false, used_at = ${now}
    where person_id = ${personId} and session_hash = ${before}`

export const touchSession = (sql: Sql, sessionHash: Buffer, address: string, now: Date) =>
  sql`update person_sessions set used_at = ${now}, address = ${address} where session_hash = ${sessionHash}`

export type ListedSession = {
  sessionHash: Buffer
  address: string
  agent: string
  createdAt: Date
  usedAt: Date
}

export function selectSessionsOf(sql: Sql, personId: number, now: Date, idleSeconds: number, mostSeconds: number) {
  return sql<ListedSession[]>`
    select session_hash, address, agent, created_at, used_at
    from person_sessions
    where person_id = ${personId} and not half
      and used_at > ${now}::timestamptz - make_interval(secs => ${idleSeconds})
      and created_at > ${now}::timestamptz - make_interval(secs => ${mostSeconds})
    order by used_at desc`
}

export const deleteSession = (sql: Sql, personId: number, sessionHash: Buffer) =>
  sql`delete from person_sessions where person_id = ${personId} and session_hash = ${sessionHash}`

/** All but one, where it is named. */
export const deleteSessionsOf = (sql: Sql, personId: number, but: Buffer | null) =>
  sql`
    delete from person_sessions
    where person_id = ${personId} and session_hash is distinct from ${but}`

export const deleteOldSessions = (sql: Sql, usedBefore: Date) =>
  sql`delete from person_sessions where used_at < ${usedBefore}`

// Second factor ---------------------------------------------------------------------------------------------------

export const selectSecondFactor = (sql: Sql, personId: number) =>
  sql<Pick<Credentials, 'totpSecret' | 'totpStep'>[]>`
    select totp_secret, totp_step from people where person_id = ${personId} for update`

export const updateSecondFactor = (sql: Sql, personId: number, secret: Buffer | null, step: number | null) =>
  sql`update people set totp_secret = ${secret}, totp_step = ${step} where person_id = ${personId}`

export const insertRecoveryCodes = (sql: Sql, personId: number, hashes: Buffer[]) =>
  sql`
    insert into person_recovery_codes (person_id, code_hash)
    select ${personId}, decode(hash, 'hex') from unnest(${hashes.map(hash => hash.toString('hex'))}::text[]) hash`

export const deleteRecoveryCode = (sql: Sql, personId: number, hash: Buffer) =>
  sql`delete from person_recovery_codes where person_id = ${personId} and code_hash = ${hash}`

export const deleteRecoveryCodes = (sql: Sql, personId: number) =>
  sql`delete from person_recovery_codes where person_id = ${personId}`

export const countRecoveryCodes = (sql: Sql, personId: number) =>
  sql<{ count: number }[]>`select count(*)::int as count from person_recovery_codes where person_id = ${personId}`

// Invitations -----------------------------------------------------------------------------------------------------

/** A person has one invitation: a new one ends the one before. */
export const upsertInvitation = (sql: Sql, personId: number, tokenHash: Buffer, expiresAt: Date) =>
  sql`
    insert into person_invitations (token_hash, person_id, expires_at) values (${tokenHash}, ${personId}, ${expiresAt})
    on conflict (person_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`

export async function selectInvitation(sql: Sql, tokenHash: Buffer, now: Date): Promise<Person | undefined> {
  const found = await sql<Person[]>`
    select ${columns(sql)} from person_invitations i join people p using (person_id)
    where i.token_hash = ${tokenHash} and i.expires_at > ${now} and ${isEnabled(sql)}`
  return (await ofEnabledCompanies(sql, found))[0]
}

export const deleteInvitation = (sql: Sql, tokenHash: Buffer, now: Date) =>
  sql<{ personId: number }[]>`
    delete from person_invitations where token_hash = ${tokenHash} and expires_at > ${now}
    returning person_id`

export const deleteOldInvitations = (sql: Sql, now: Date) =>
  sql`delete from person_invitations where expires_at <= ${now}`

// Networks --------------------------------------------------------------------------------------------------------

export const selectNetwork = (sql: Sql, login: string, network: string) =>
  sql`select from person_networks join people using (person_id) where login = ${login} and network = ${network}`

/** Written once a day. */
export const upsertNetwork = (sql: Sql, personId: number, network: string, now: Date) =>
  sql`
    insert into person_networks as known (person_id, network, last_used_at) values (${personId}, ${network}, ${now})
    on conflict (person_id, network) do update set last_used_at = excluded.last_used_at
    where known.last_used_at < excluded.last_used_at - interval '1 day'`

export const deleteNetworks = (sql: Sql, personId: number) =>
  sql`delete from person_networks where person_id = ${personId}`

export const deleteOldNetworks = (sql: Sql, before: Date) =>
  sql`delete from person_networks where last_used_at <= ${before}`
