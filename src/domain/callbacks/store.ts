import { reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import {
  type CallbackApi,
  type CallbackStatus,
  type EventsByApi,
  FAILURES_UNTIL_PROBE,
  type Receiver,
  type ReceiverKey,
} from './callback.ts'

export type NewCallback = { receiver: string; url: string; events: string; eventCount: number }

export function insertCallbacks(
  sql: Sql,
  companyId: number,
  api: CallbackApi,
  callbacks: NewCallback[],
  happenedAt: Date,
  expiresAt: Date,
) {
  return sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, happened_at, expires_at)
    select ${companyId}, receiver, url, ${api}, events::json, event_count, ${happenedAt}, ${expiresAt}
    from unnest(${callbacks.map(callback => callback.receiver)}::text[], ${callbacks.map(callback => callback.url)}::text[],
      ${callbacks.map(callback => callback.events)}::text[], ${callbacks.map(callback => callback.eventCount)}::int[])
      with ordinality as given (receiver, url, events, event_count, place)
    order by place`
}

/** A receiver with waiting batches. It is free if one of them is due and no worker has it. */
export type WaitingReceiver = Receiver & { isFree: boolean; servedAt: number }

/**
 * The state of a receiver `r` whose first batch `w` waits. Without a row it was never served. A receiver that keeps failing is free
 * when its next probe is due, even if its batches are not.
 */
const stateOf = (sql: Sql, now: Date) => sql`
  coalesce(r.failures, 0) as failures,
  extract(epoch from coalesce(r.served_at, '-infinity'))::double precision as served_at,
  (r.failures >= ${FAILURES_UNTIL_PROBE} or w.due_at <= ${now})
    and (r.receiver is null or (r.claimed_until < statement_timestamp() and r.probe_at <= ${now})) as is_free`

/** The first batches of all companies, with their receivers. All receivers that wait are among them if fewer than `limit` wait. */
export function selectWaitingBatches(sql: Sql, now: Date, limit: number) {
  return sql<WaitingReceiver[]>`
    select w.company_id, w.receiver, ${stateOf(sql, now)}
    from callbacks w left join receivers r on r.company_id = w.company_id and r.receiver = w.receiver
    where w.status = 'WAITING' ${reachable(sql, 'w.company_id')}
    order by w.company_id, w.receiver, w.due_at
    limit ${limit}`
}

/** The first receiver of each company that waits, and whether the company has more of them. */
export function selectFirstReceivers(sql: Sql, now: Date) {
  return sql<(WaitingReceiver & { hasMore: boolean })[]>`
    select c.company_id, w.receiver, ${stateOf(sql, now)}, more.receiver is not null as has_more
    from companies c
    cross join lateral (
      select receiver, due_at from callbacks
      where company_id = c.company_id and status = 'WAITING' ${reachable(sql)}
      order by receiver, due_at limit 1) w
    left join lateral (
      select receiver from callbacks
      where company_id = c.company_id and status = 'WAITING' and receiver > w.receiver ${reachable(sql)}
      order by receiver limit 1) more on true
    left join receivers r on r.company_id = c.company_id and r.receiver = w.receiver
    where true ${reachable(sql, 'c.company_id')}`
}

/** All receivers of a company that wait. The recursive query jumps from receiver to receiver in the index. */
export function selectReceiversOf(sql: Sql, companyId: number, now: Date) {
  return sql<WaitingReceiver[]>`
    with recursive w as (
      (select receiver, due_at from callbacks where company_id = ${companyId} and status = 'WAITING'
       order by receiver, due_at limit 1)
      union all
      select next.* from w, lateral (
        select receiver, due_at from callbacks
        where company_id = ${companyId} and status = 'WAITING' and receiver > w.receiver
        order by receiver, due_at limit 1) next)
    select ${companyId}::bigint as company_id, w.receiver, ${stateOf(sql, now)}
    from w left join receivers r on r.company_id = ${companyId} and r.receiver = w.receiver`
}

/** Claims receivers of a company for one worker. Returns only claimed receivers: another worker may have claimed some of them first. */
export function claimReceivers(
  sql: Sql,
  companyId: number,
  receivers: string[],
  claim: { worker: string; leaseSeconds: number; now: Date },
) {
  return sql<Receiver[]>`
    insert into receivers (company_id, receiver, worker, served_at, claimed_until)
    select c.company_id, receiver, ${claim.worker}::uuid, statement_timestamp(),
      statement_timestamp() + make_interval(secs => ${claim.leaseSeconds}::double precision)
    from companies c, unnest(${receivers.toSorted()}::text[]) receiver where c.company_id = ${companyId}
    on conflict (company_id, receiver) do update set
      worker = excluded.worker, served_at = excluded.served_at, claimed_until = excluded.claimed_until
    where receivers.claimed_until < excluded.served_at and receivers.probe_at <= ${claim.now}::timestamptz
    returning company_id, receiver, failures`
}

/**
 * Renews the claims of a company that this worker still has, and returns their receivers. It locks rows in the same order
 * as `claimReceivers`, so that the two statements cannot deadlock.
 */
export function renewReceivers(sql: Sql, companyId: number, receivers: string[], worker: string, leaseSeconds: number) {
  return sql<ReceiverKey[]>`
    with mine as (
      select receiver from receivers
      where company_id = ${companyId} and receiver = any(${receivers}::text[]) and worker = ${worker}
      order by receiver collate "C"
      for update)
    update receivers r set claimed_until = statement_timestamp() + make_interval(secs => ${leaseSeconds})
    from mine where r.company_id = ${companyId} and r.receiver = mine.receiver
    returning r.company_id, r.receiver`
}

/** Ends the claim of a receiver. A failing receiver has `probeAt`, the time of its next probe. */
export function releaseReceiver(sql: Sql, key: Receiver, worker: string, probeAt?: Date) {
  return sql`
    update receivers set worker = null, claimed_until = '-infinity', failures = ${key.failures},
      probe_at = coalesce(${probeAt ?? null}::timestamptz, '-infinity')
    where company_id = ${key.companyId} and receiver = ${key.receiver} and worker = ${worker}`
}

export type BatchRow = {
  callbackId: number
  url: string
  progress: string
  held: string[] | null
  expiresAt: Date
} & EventsByApi

/** The due batches of a receiver in their order, with at most `mostEvents` events in total. A probe is the oldest batch. */
export function selectBatches(sql: Sql, key: ReceiverKey, now: Date, mostEvents: number, probe: boolean) {
  return sql<BatchRow[]>`
    select callback_id, url, api, events, progress, held, expires_at
    from (
      select *, sum(event_count) over (order by callback_id) - event_count as events_before
      from (
        select * from callbacks
        where company_id = ${key.companyId} and receiver = ${key.receiver} and status = 'WAITING'
          and (${probe} or due_at <= ${now}) and expires_at > ${now}
        order by callback_id
        limit ${probe ? 1 : mostEvents}) next) counted
    where events_before = 0 or events_before + event_count <= ${mostEvents}
    order by callback_id`
}

/** Finds messages that an earlier batch holds, and that batch. `ownIds`: the batches of this round, which are left out. */
export function selectBlockedMessages(sql: Sql, key: ReceiverKey, ownIds: number[], messages: string[]) {
  return sql<{ messageUuid: string; callbackId: number }[]>`
    select message as message_uuid, min(callback_id) as callback_id
    from callbacks, unnest(held) as message
    where company_id = ${key.companyId} and receiver = ${key.receiver} and status = 'WAITING' and held is not null
      and callback_id < ${Math.max(...ownIds)} and callback_id <> all(${ownIds}::bigint[])
      and message = any(${messages}::uuid[])
    group by message`
}

export function existsBlockedMessage(sql: Sql, key: ReceiverKey) {
  return sql<{ found: boolean }[]>`
    select exists (
      select from callbacks
      where company_id = ${key.companyId} and receiver = ${key.receiver} and status = 'WAITING' and held is not null
    ) as found`
}

export type ProgressRow = { companyId: number; receiver: string; callbackId: number; progress: string; done: number }

/** Writes nothing for a receiver that another worker has claimed. */
export function updateProgress(sql: Sql, companyId: number, worker: string, rows: ProgressRow[]) {
  return sql`
    update callbacks c set progress = given.progress::bit varying, done_events = given.done
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as given (receiver text, "callbackId" bigint, progress text, done int)
    join receivers r on r.company_id = ${companyId} and r.receiver = given.receiver and r.worker = ${worker}
    where c.company_id = ${companyId} and c.callback_id = given."callbackId" and c.status = 'WAITING'`
}

export type ResultRow = {
  callbackId: number
  progress: string
  done: number
  status: CallbackStatus
  held: string[] | null
  retryAt: Date | undefined
  attempted: boolean
  attemptedAt?: Date
  triedEvents?: number
  deliveredEvents?: number
  statusCode?: number
  error?: string
  answer?: string
  tookMs?: number
}

/** Writes the progress and the attempts of a whole round in one statement. */
export function updateResults(sql: Sql, worker: string, key: ReceiverKey, rows: ResultRow[]) {
  return sql`
    with given as (
      select given.* from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
        "callbackId" bigint, progress text, done int, status text, held uuid[], "retryAt" timestamptz,
        attempted boolean, "attemptedAt" timestamptz, "triedEvents" int, "deliveredEvents" int, "statusCode" int,
        error text, answer text, "tookMs" int)),
    saved as (
      update callbacks c set progress = given.progress::bit varying, done_events = given.done, status = given.status,
        held = given.held, due_at = coalesce(given."retryAt", c.due_at), attempts = c.attempts + given.attempted::int
      from given, receivers r
      where c.company_id = ${key.companyId} and c.callback_id = given."callbackId" and c.status = 'WAITING'
        and r.company_id = ${key.companyId} and r.receiver = ${key.receiver} and r.worker = ${worker}
      returning c.callback_id)
    insert into callback_attempts (company_id, callback_id, attempted_at, tried_events, delivered_events, status_code,
      error, answer, took_ms)
    select ${key.companyId}, "callbackId", "attemptedAt", "triedEvents", "deliveredEvents", "statusCode", error, answer,
      "tookMs"
    from given join saved on saved.callback_id = given."callbackId"
    where attempted
    order by "callbackId"`
}

export type CallbackKey = { companyId: number; callbackId: number }

/** Waiting batches of all companies whose lifetime is over. */
export const selectEndedCallbacks = (sql: Sql, now: Date, limit: number) => sql<CallbackKey[]>`
  select company_id, callback_id from callbacks
  where status = 'WAITING' and expires_at <= ${now} ${reachable(sql)} order by expires_at limit ${limit}`

export function expireCallbacks(sql: Sql, companyId: number, callbackIds: number[], now: Date) {
  return sql<CallbackKey[]>`
    update callbacks set status = 'EXPIRED', held = null
    where company_id = ${companyId} and callback_id = any(${callbackIds}::bigint[]) and status = 'WAITING'
      and expires_at <= ${now}
    returning company_id, callback_id`
}

export type ListedCallback = {
  callbackId: number
  url: string
  status: CallbackStatus
  eventCount: number
  doneEvents: number
  attempts: number
  happenedAt: Date
  expiresAt: Date
}

export function selectCallbacks(sql: Sql, companyId: number, before: number, limit: number) {
  return sql<ListedCallback[]>`
    select callback_id, url, status, event_count, done_events, attempts,
      happened_at, expires_at
    from callbacks where company_id = ${companyId} and callback_id < ${before}
    order by callback_id desc limit ${limit}`
}

export type BatchWithEvents = ListedCallback & { progress: string } & EventsByApi

/**
 * Batches with events of a message: finished batches of some time spans, and waiting batches of the receiver. Messages of
 * batches have no index, so the statement reads up to `most` batches of each span.
 */
export function selectNaming(
  sql: Sql,
  { companyId, receiver }: ReceiverKey,
  messageUuid: string,
  spans: { from: Date; to: Date }[],
  most: number,
) {
  const columns = sql`
    callback_id, url, status, event_count, done_events, attempts, happened_at, expires_at, progress, api, events`
  return sql<BatchWithEvents[]>`
    select callback_id, url, status, event_count, done_events, attempts,
      happened_at, expires_at, progress, api, events
    from (
      select distinct on (callback_id) * from (
        select finished.* from unnest(
          ${spans.map(({ from }) => from.toISOString())}::timestamptz[],
          ${spans.map(({ to }) => to.toISOString())}::timestamptz[]) span (since, till)
        cross join lateral (
          select company_id, ${columns} from callbacks
          where company_id = ${companyId} and status <> 'WAITING' and happened_at between span.since and span.till
          order by happened_at limit ${most}) finished
        union all (
          select company_id, ${columns} from callbacks
          where company_id = ${companyId} and receiver = ${receiver} and status = 'WAITING'
          order by callback_id desc limit ${most})) seen
      where company_id = ${companyId} and position(${messageUuid}::text in events::text) > 0
      order by callback_id) naming
    order by callback_id limit 50`
}

/** Sets the time-out of the following statements of the transaction. */
export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

export type ListedAttempt = {
  attemptedAt: Date
  triedEvents: number
  deliveredEvents: number
  statusCode: number | null
  error: string | null
  answer: string | null
  tookMs: number
}

export function listCallbackAttempts(sql: Sql, companyId: number, callbackId: number, limit = 100) {
  return sql<ListedAttempt[]>`
    select attempted_at, tried_events, delivered_events,
      status_code, error, answer, took_ms
    from callback_attempts where company_id = ${companyId} and callback_id = ${callbackId}
    order by attempt_id desc limit ${limit}`
}

/** A finished batch is sent again as a whole. A waiting batch is due at once with its remaining events. */
export function updateForReplay(sql: Sql, companyId: number, callbackId: number, expiresAt: Date) {
  return sql<ReceiverKey[]>`
    update callbacks set due_at = '-infinity',
      expires_at = case when status = 'WAITING' then expires_at else ${expiresAt} end,
      progress = case when status = 'WAITING' then progress else '' end,
      done_events = case when status = 'WAITING' then done_events else 0 end,
      status = 'WAITING'
    where company_id = ${companyId} and callback_id = ${callbackId}
    returning company_id, receiver`
}

export function updateProbeDue(sql: Sql, key: ReceiverKey) {
  return sql`
    update receivers set probe_at = '-infinity' where company_id = ${key.companyId} and receiver = ${key.receiver}`
}

/** Finished batches of all companies from before a moment. */
export const selectFinished = (sql: Sql, before: Date, limit: number) => sql<CallbackKey[]>`
  select company_id, callback_id from callbacks
  where status <> 'WAITING' and happened_at < ${before} order by happened_at limit ${limit}`

/** Deletes finished batches. The database deletes their attempts too. */
export function deleteFinished(sql: Sql, companyId: number, callbackIds: number[]) {
  return sql<CallbackKey[]>`
    delete from callbacks
    where company_id = ${companyId} and callback_id = any(${callbackIds}::bigint[]) and status <> 'WAITING'
    returning company_id, callback_id`
}

export function deleteIdleReceivers(sql: Sql, before: Date) {
  return sql`
    delete from receivers r
    where served_at < ${before} and claimed_until < statement_timestamp() and not exists (
      select from callbacks c
      where c.company_id = r.company_id and c.receiver = r.receiver and c.status = 'WAITING')`
}

export type LoggedCallback = ListedCallback & { receiver: string; api: CallbackApi; dueAt: Date | null }

const logColumns = (sql: Sql) => sql`
  callback_id, receiver, url, api, status, event_count, done_events,
  attempts, happened_at, expires_at,
  case when status = 'WAITING' and due_at > '-infinity' then due_at end as due_at`

export type LogPlace = { happenedAt: Date; callbackId: number }
export type LogFilter = { status: CallbackStatus | undefined; from: Date; before: LogPlace }

/** Reads the newest `most` batches before a place. Returns the batches with the status, and the last attempt of each. */
export function selectLog(
  sql: Sql,
  companyId: number,
  filter: LogFilter,
  { most, limit }: { most: number; limit: number },
) {
  const { status } = filter
  return sql<(LoggedCallback & LastAttempt)[]>`
    select ${logColumns(sql)}, ${lastAttempt(sql, companyId)}
    from (${newestInLog(sql, companyId, filter)} limit ${most}) c
    ${status === undefined ? sql`` : sql`where status = ${status}`}
    order by happened_at desc, callback_id desc
    limit ${limit}`
}

/** The place of the last of the newest `most` batches. There is no row if there are fewer batches. */
export const selectLastInLog = (sql: Sql, companyId: number, filter: LogFilter, most: number) =>
  sql<LogPlace[]>`
    select happened_at, callback_id
    from (${newestInLog(sql, companyId, filter)} offset ${most - 1} limit 1) c`

/** Reads batches by time. Batches that are not DELIVERED have their own index. */
const newestInLog = (sql: Sql, companyId: number, { status, from, before }: LogFilter) => sql`
  select company_id, callback_id, receiver, url, api, status, event_count, done_events, attempts, happened_at,
    expires_at, due_at
  from callbacks
  where company_id = ${companyId} and happened_at >= ${from} and happened_at <= ${before.happenedAt}
    and (happened_at, callback_id) < (${before.happenedAt}, ${before.callbackId})
    ${status === undefined || status === 'DELIVERED' ? sql`` : sql`and status <> 'DELIVERED'`}
  order by happened_at desc, callback_id desc`

export type LastAttempt = { lastStatusCode: number | null; lastError: string | null; lastAt: Date | null }

const lastAttempt = (sql: Sql, companyId: number) => {
  const newest = sql`
    from callback_attempts a where a.company_id = ${companyId} and a.callback_id = c.callback_id
    order by attempt_id desc limit 1`
  return sql`
    (select status_code ${newest}) as last_status_code, (select error ${newest}) as last_error,
    (select attempted_at ${newest}) as last_at`
}

export type WholeCallback = LoggedCallback & { progress: string } & EventsByApi

export function selectCallback(sql: Sql, companyId: number, callbackId: number) {
  return sql<WholeCallback[]>`
    select ${logColumns(sql)}, progress, events
    from callbacks where company_id = ${companyId} and callback_id = ${callbackId}`
}

/** The batches with these ids, the newest first. */
export function selectLogOf(sql: Sql, companyId: number, callbackIds: number[]) {
  return sql<(LoggedCallback & LastAttempt)[]>`
    select ${logColumns(sql)}, ${lastAttempt(sql, companyId)}
    from callbacks c where company_id = ${companyId} and callback_id = any(${callbackIds}::bigint[])
    order by happened_at desc, callback_id desc`
}

export type ListedReceiver = {
  receiver: string
  failures: number
  /** The time of the next probe of a paused receiver. */
  probeAt: Date | null
  servedAt: Date | null
  waiting: number
}

/** Paused receivers, then the receivers that were served last. Waiting batches are counted up to `mostCounted`. */
export function selectReceivers(sql: Sql, companyId: number, limit: number, mostCounted: number) {
  return sql<ListedReceiver[]>`
    select receiver, failures, nullif(probe_at, '-infinity') as probe_at, nullif(served_at, '-infinity') as served_at,
      (select count(*)::int from (
        select c.company_id from callbacks c
        where c.company_id = r.company_id and c.receiver = r.receiver and c.status = 'WAITING'
        limit ${mostCounted}) w) as waiting
    from receivers r where company_id = ${companyId}
    order by failures >= ${FAILURES_UNTIL_PROBE} desc, served_at desc, receiver
    limit ${limit}`
}

/** The address and the API of the newest batch. */
export const selectNewestUrl = (sql: Sql, companyId: number) =>
  sql<{ url: string; api: CallbackApi }[]>`
    select url, api from callbacks where company_id = ${companyId} order by happened_at desc, callback_id desc limit 1`

// Test calls ------------------------------------------------------------------------------------------------------------

export type NewTest = { url: string; api: CallbackApi }
export type AskedTest = NewTest & { companyId: number; testId: number }

export function insertTest(sql: Sql, companyId: number, { url, api }: NewTest, now: Date) {
  return sql<{ testId: number }[]>`
    insert into callback_tests (company_id, url, api, requested_at)
    values (${companyId}, ${url}, ${api}, ${now}) returning test_id`
}

export const countTestsSince = (sql: Sql, companyId: number, since: Date) =>
  sql<{ count: number }[]>`
    select count(*)::int as count from callback_tests where company_id = ${companyId} and requested_at > ${since}`

/** Test calls of all companies that wait. Calls that were requested before `oldest` are left out. */
export const selectWaitingTests = (sql: Sql, oldest: Date, limit: number) =>
  sql<{ companyId: number; testId: number }[]>`
    select company_id, test_id from callback_tests where taken_at is null and requested_at > ${oldest} ${reachable(sql)}
    order by requested_at limit ${limit}`

/** Takes test calls of a company for one engine. */
export function takeTests(sql: Sql, companyId: number, testIds: number[], now: Date) {
  return sql<AskedTest[]>`
    update callback_tests set taken_at = ${now}
    where company_id = ${companyId} and test_id = any(${testIds}::bigint[]) and taken_at is null
    returning company_id, test_id, url, api`
}

export type TestResult = {
  body: string
  statusCode: number | null
  error: string | null
  answer: string | null
  tookMs: number
}

export function finishTest(sql: Sql, { companyId, testId }: AskedTest, result: TestResult, now: Date) {
  const { body, statusCode, error, answer, tookMs } = result
  return sql`
    update callback_tests set finished_at = ${now}, body = ${body}, status_code = ${statusCode}, error = ${error},
      answer = ${answer}, took_ms = ${tookMs}
    where company_id = ${companyId} and test_id = ${testId}`
}

export type TestCall = { url: string; requestedAt: Date; finishedAt: Date | null } & {
  [Name in keyof TestResult]: TestResult[Name] | null
}

export function selectTest(sql: Sql, companyId: number, testId: number) {
  return sql<TestCall[]>`
    select url, requested_at, finished_at, body, status_code, error,
      answer, took_ms
    from callback_tests where company_id = ${companyId} and test_id = ${testId}`
}

export const deleteTests = (sql: Sql, before: Date) => sql`delete from callback_tests where requested_at < ${before}`

/** The texts of inbound messages in the events of finished batches. A batch that waits is not changed. */
export const deleteInboundTexts = (
  sql: Sql,
  companyId: number,
  { after, until }: { after: string; until: string },
) => sql`
  update callbacks set events = (
    select json_agg(case when e.event ->> 'kind' = 'inbound'
      then jsonb_set(jsonb_set(e.event::jsonb, '{item,content}', '"[removed]"'), '{item,specialContent}', 'null')::json
      else e.event end order by e.place)
    from json_array_elements(events) with ordinality e (event, place))
  where company_id = ${companyId} and happened_at > uuid7_time(${after}::uuid) and happened_at <= uuid7_time(${until}::uuid)
    and api = 'messaging' and status <> 'WAITING' and events::text like '%"kind":"inbound"%'`
