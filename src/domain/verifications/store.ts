import type { ChannelType } from '../../base/channel-types.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { CountedLimits, PrefixShare, SubjectKind, SubjectState } from './guard.ts'
import type { CheckStatus, FallbackSend, SentCode } from './verification.ts'

// Limits ----------------------------------------------------------------------------------------------------------

/** Read under the lock of the company's account, which every request that sends codes takes first. */
export function selectSubjects(sql: Sql, companyId: number, subjects: string[]) {
  return sql<SubjectState[]>`
    select subject, since, count, last_at, streak, blocked_until, blocks, reason
    from verification_limits where company_id = ${companyId} and subject = any(${subjects}::text[])`
}

/**
 * Subjects that no row is known of yet, with their first codes: nothing else inserts rows without the lock of the
 * account. Takes half the time of the general statement.
 */
function insertSubjects(sql: Sql, companyId: number, states: SubjectState[], now: Date) {
  return sql`
    insert into verification_limits (company_id, subject, since, count, last_at, streak)
    select ${companyId}, subject, ${now}, count, ${now}, count
    from unnest(${states.map(({ subject }) => subject)}::text[], ${states.map(({ count }) => count)}::int[])
      q (subject, count)`
}

function upsertSubjects(sql: Sql, companyId: number, states: SubjectState[]) {
  const sorted = states.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  const iso = (time: Date | null) => time?.toISOString() ?? null
  return sql`
    insert into verification_limits as l
      (company_id, subject, since, count, last_at, streak, blocked_until, blocks, reason)
    select ${companyId}, q.*
    from unnest(
      ${sorted.map(({ subject }) => subject)}::text[], ${sorted.map(({ since }) => iso(since))}::timestamptz[],
      ${sorted.map(({ count }) => count)}::int[], ${sorted.map(({ lastAt }) => iso(lastAt))}::timestamptz[],
      ${sorted.map(({ streak }) => streak)}::int[],
      ${sorted.map(({ blockedUntil }) => iso(blockedUntil))}::timestamptz[],
      ${sorted.map(({ blocks }) => blocks)}::int[], ${sorted.map(({ reason }) => reason)}::text[]) q
    on conflict (company_id, subject) do update set since = excluded.since, count = excluded.count,
      last_at = excluded.last_at, streak = excluded.streak, blocked_until = excluded.blocked_until,
      blocks = excluded.blocks, reason = excluded.reason`
}

/** The numbers among these that confirmed a code after the given moment. */
export function selectConfirmedSince(sql: Sql, companyId: number, numbers: { destination: string; since: Date }[]) {
  return sql<{ destination: string }[]>`
    select q.destination from unnest(
      ${numbers.map(({ destination }) => destination)}::text[],
      ${numbers.map(({ since }) => since.getTime())}::bigint[]) q (destination, since)
    where exists (
      select from verifications v
      where v.company_id = ${companyId} and v.destination = q.destination
        and v.confirmed_at >= to_timestamp(q.since / 1000.0)
        and v.verification_uuid >= uuid7_floor(now() - interval '2 days'))`
}

/** How many of the newest codes of each prefix were confirmed, without codes that may still be on their way. */
export function selectShares(sql: Sql, companyId: number, prefixes: string[], of: number, matureSeconds: number) {
  return sql<PrefixShare[]>`
    select q.prefix, count(v.sent_at)::int as sent, count(v.confirmed_at)::int as confirmed
    from unnest(${prefixes}::text[]) q (prefix)
    left join lateral (
      select sent_at, confirmed_at from verifications v
      where v.company_id = ${companyId} and v.prefix = q.prefix
        and v.verification_uuid < uuid7_floor(now() - make_interval(secs => ${matureSeconds}))
        and v.verification_uuid >= uuid7_floor(now() - interval '1 hour')
      order by v.verification_uuid desc limit ${of}) v on true
    group by q.prefix`
}

export type BlockedSubject = Pick<SubjectState, 'subject' | 'blocks' | 'reason'> & {
  companyId: number
  blockedUntil: Date
}

/** Subjects for which no codes are sent now; of one company, or for staff of all. */
export function blockedSubjects(sql: Sql, companyId?: number) {
  return sql<BlockedSubject[]>`
    select company_id, subject, blocked_until, blocks, reason from verification_limits
    where blocked_until > now() ${companyId === undefined ? sql`` : sql`and company_id = ${companyId}`}
    order by company_id, blocked_until desc, subject limit 10000`
}

/** The blocks of one company whose subject contains the text; the block that ends last comes first. */
export function searchBlocked(sql: Sql, companyId: number, text: string, limit: number) {
  return sql<BlockedSubject[]>`
    select company_id, subject, blocked_until, blocks, reason from verification_limits
    where company_id = ${companyId} and blocked_until > now() and position(lower(${text}) in subject) > 0
    order by blocked_until desc, subject limit ${limit}`
}

/** How many subjects are blocked now, by what they are. */
export function countBlocked(sql: Sql) {
  return sql<{ kind: SubjectKind; count: number }[]>`
    select split_part(subject, ':', 1) as kind, count(*)::int as count from verification_limits
    where blocked_until > now() group by 1`
}

export function deleteSubject(sql: Sql, companyId: number, subject: string) {
  return sql`delete from verification_limits where company_id = ${companyId} and subject = ${subject}`
}

export type SubjectKey = { companyId: number; subject: string }

export const selectOldSubjects = (sql: Sql, limit: number) => sql<SubjectKey[]>`
  select company_id, subject from verification_limits where last_at < now() - interval '3 days' limit ${limit}`

/** Deletes subjects of a company that are still old. */
export function deleteOldSubjects(sql: Sql, companyId: number, subjects: string[]) {
  return sql<{ subject: string }[]>`
    with old as (
      select subject from verification_limits
      where company_id = ${companyId} and subject = any(${subjects}::text[]) and last_at < now() - interval '3 days'
      for update skip locked)
    delete from verification_limits l using old where l.company_id = ${companyId} and l.subject = old.subject
    returning l.subject`
}

// Codes -----------------------------------------------------------------------------------------------------------

type Row = SentCode & { hashes: string[] }

/** As PostgreSQL reads a `bytea[]`. */
const literalOf = (hashes: string[]) => `{${hashes.map(hash => `"\\\\x${hash}"`).join(',')}}`

/** Codes of fallbacks confirm nothing before their message is accepted. */
const notSentYet = (sql: Sql, count: ReturnType<Sql>) => sql`array_fill('-infinity'::timestamptz, array[${count}])`

/**
 * One row for each number to be confirmed. The first hash is that of the code which is sent now. There is a second one
 * when flash calls are among the channels, whose code is shorter.
 */
function insertVerifications(sql: Sql, companyId: number, codes: Row[]) {
  return sql`
    insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
      code_hashes, code_ends, tries_left, sent_at)
    select ${companyId}, q.message_uuid, q.verifier_id, q.destination, q.country, q.prefix, q.channel_type,
      case when q.second is null then array[decode(q.first, 'hex')]
        else array[decode(q.first, 'hex'), decode(q.second, 'hex')] end,
      case when q.second is null then array[now() + q.seconds * interval '1 second']
        else array[now() + q.seconds * interval '1 second', '-infinity'] end, q.tries, now()
    from unnest(
      ${codes.map(({ uuid }) => uuid)}::uuid[], ${codes.map(({ verifierId }) => verifierId)}::text[],
      ${codes.map(({ destination }) => destination)}::text[], ${codes.map(({ country }) => country)}::text[],
      ${codes.map(({ prefix }) => prefix)}::text[], ${codes.map(({ channelType }) => channelType)}::text[],
      ${codes.map(({ hashes }) => hashes[0]!)}::text[], ${codes.map(({ hashes }) => hashes[1] ?? null)}::text[],
      ${codes.map(({ lifetimeSeconds }) => lifetimeSeconds)}::int[], ${codes.map(({ tries }) => tries)}::int[]
    ) q (message_uuid, verifier_id, destination, country, prefix, channel_type, first, second, seconds, tries)`
}

/**
 * Everything that one group of requests writes about its codes, in one statement: four statements took a tenth more
 * processor time for each code.
 */
export function insertSent(sql: Sql, companyId: number, sent: Sent) {
  const { first, further, now } = sent.limits
  return sql`
    with first_codes as (${insertSubjects(sql, companyId, first, now)}),
    further_codes as (${upsertSubjects(sql, companyId, further)}),
    verifications_begun as (${insertVerifications(sql, companyId, sent.codes)})
    ${addToCounters(sql, companyId, sent.counters)}`
}

type Sent = { codes: Row[]; limits: CountedLimits; counters: CounterChange[] }

/** One more code for a verification: those before it stay good until their own end, the tries begin anew. */
export function addCode(sql: Sql, companyId: number, code: Row) {
  return sql`
    update verifications set channel_type = ${code.channelType}, tries_left = ${code.tries}, sent_at = now(),
      newest_uuid = ${code.uuid},
      code_hashes = code_hashes || ${literalOf(code.hashes)}::text::bytea[],
      code_ends = code_ends || (now() + make_interval(secs => ${code.lifetimeSeconds}))
        || ${notSentYet(sql, sql`${code.hashes.length - 1}::int`)}
    where company_id = ${companyId} and verification_uuid = ${code.verificationUuid!} and confirmed_at is null`
}

/**
 * A fallback went out: confirmations count for its channel from now on. Flash calls have a shorter code than the other
 * channels: with the first message of the other kind its code becomes good, as long as the first. Rows are locked in the
 * order of their keys, as checks lock them.
 */
export function updateChannels(sql: Sql, companyId: number, sends: FallbackSend[]) {
  return sql`
    with locked as (
      select v.verification_uuid, q.channel_type,
        (q.channel_type = 'FLASHCALL') <> (v.channel_type = 'FLASHCALL') as is_other_code
      from verifications v join unnest(
        ${sends.map(({ verificationUuid }) => verificationUuid)}::uuid[],
        ${sends.map(({ channelType }) => channelType)}::text[]) q (message_uuid, channel_type)
        on v.verification_uuid = q.message_uuid
      where v.company_id = ${companyId} and v.confirmed_at is null
      order by v.verification_uuid for update of v)
    update verifications v set channel_type = l.channel_type,
      code_ends = case when l.is_other_code
        then array_replace(v.code_ends, '-infinity', (select max(ends) from unnest(v.code_ends) ends))
        else v.code_ends end
    from locked l
    where v.company_id = ${companyId} and v.verification_uuid = l.verification_uuid`
}

export type Checked = { uuid: string; status: CheckStatus; triesLeft: number }

/** Judges one code for each of these verifications and counts the confirmations (the function `check_codes` of the schema). */
export function checkCodes(sql: Sql, companyId: number, guesses: { uuid: string; hash: string }[]) {
  return sql<Checked[]>`
    select * from check_codes(
      ${companyId}, ${guesses.map(({ uuid }) => uuid)}::uuid[], ${guesses.map(({ hash }) => hash)}::text[])`
}

export type VerificationState = {
  channelType: ChannelType
  triesLeft: number
  confirmedAt: Date | null
  secondsToExpire: number
}

export function selectVerification(sql: Sql, companyId: number, verificationUuid: string) {
  return sql<VerificationState[]>`
    select channel_type, tries_left, confirmed_at,
      greatest(0, ceil(extract(epoch from (select max(ends) from unnest(code_ends) ends) - now())))::int
        as seconds_to_expire
    from verifications where company_id = ${companyId} and verification_uuid = ${verificationUuid}`
}

export function deleteOldVerifications(sql: Sql, companyId: number, limit: number) {
  return sql`
    with old as (
      select verification_uuid from verifications
      where company_id = ${companyId} and verification_uuid < uuid7_floor(now() - interval '7 days')
      order by verification_uuid limit ${limit})
    delete from verifications v using old
    where v.company_id = ${companyId} and v.verification_uuid = old.verification_uuid`
}

// Statistics ------------------------------------------------------------------------------------------------------

export type CounterChange = {
  verifierId: string
  channelType: string
  country: string
  what: 'sent' | 'delivered'
  count: number
  cost: Money
}

export function addToCounters(sql: Sql, companyId: number, changes: CounterChange[]) {
  return sql`
    insert into verification_counters as k (company_id, verifier_id, day, channel_type, country, what, count, cost)
    select ${companyId}, verifier_id, (now() at time zone 'UTC')::date, channel_type, country, what, count, cost
    from unnest(
      ${changes.map(({ verifierId }) => verifierId)}::text[], ${changes.map(({ channelType }) => channelType)}::text[],
      ${changes.map(({ country }) => country)}::text[], ${changes.map(({ what }) => what)}::text[],
      ${changes.map(({ count }) => count)}::bigint[],
      ${changes.map(({ cost }) => formatMoney(cost))}::text[]::numeric[]
    ) q (verifier_id, channel_type, country, what, count, cost)
    order by verifier_id, channel_type, country, what
    on conflict (company_id, verifier_id, day, channel_type, country, what)
    do update set count = k.count + excluded.count, cost = k.cost + excluded.cost`
}

export type StatisticsRow = {
  verifierId: string
  day: string
  channelType: string
  country: string
  sent: number
  delivered: number
  confirmed: number
  cost: Money
  confirmMs: number
}

/** The counts of sent, delivered and confirmed codes by verifier, day, channel and country; the newest day first. */
export function verificationStatistics(
  sql: Sql,
  companyId: number,
  filter: { verifierId?: string; from: string; to: string },
) {
  return sql<StatisticsRow[]>`
    select verifier_id, day::text, channel_type, country,
      coalesce(sum(count) filter (where what = 'sent'), 0)::bigint as sent,
      coalesce(sum(count) filter (where what = 'delivered'), 0)::bigint as delivered,
      coalesce(sum(count) filter (where what = 'confirmed'), 0)::bigint as confirmed,
      coalesce(sum(cost), 0)::numeric(18, 4) as cost, coalesce(sum(total_ms), 0)::bigint as confirm_ms
    from verification_counters
    where company_id = ${companyId} and day between ${filter.from}::date and ${filter.to}::date
      ${filter.verifierId === undefined ? sql`` : sql`and verifier_id = ${filter.verifierId}`}
    group by verifier_id, day, channel_type, country
    order by day desc, verifier_id, channel_type, country limit 10000`
}

type Period = { verifierId?: string; from: string; to: string }

/** Sums of a period: of all, and by day, channel, country or verifier, each of which is null where it is not told apart. */
export type StatisticsSum = Omit<StatisticsRow, 'verifierId' | 'day' | 'channelType' | 'country'> & {
  day: string | null
  channelType: ChannelType | null
  country: string | null
  verifierId: string | null
}

/** A year of a verifier has no more days, channels and countries than this. */
const MOST_SUMS = 2000

/** The same counts added up: over the period, and by day, channel, country and verifier. */
export function verificationSums(sql: Sql, companyId: number, { verifierId, from, to }: Period) {
  return sql<StatisticsSum[]>`
    select day::text, channel_type, country, verifier_id,
      coalesce(sum(count) filter (where what = 'sent'), 0)::bigint as sent,
      coalesce(sum(count) filter (where what = 'delivered'), 0)::bigint as delivered,
      coalesce(sum(count) filter (where what = 'confirmed'), 0)::bigint as confirmed,
      coalesce(sum(cost), 0)::numeric(18, 4) as cost, coalesce(sum(total_ms), 0)::bigint as confirm_ms
    from verification_counters
    where company_id = ${companyId} and day between ${from}::date and ${to}::date
      ${verifierId === undefined ? sql`` : sql`and verifier_id = ${verifierId}`}
    group by grouping sets ((), (day), (channel_type), (country), (verifier_id))
    order by (verifier_id is not null), sent desc limit ${MOST_SUMS}`
}
