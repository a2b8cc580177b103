-- Callbacks: HTTP requests that report changes of messages to the servers of clients.

create table callbacks (
  company_id  bigint not null references companies,
  callback_id bigint generated always as identity,
  receiver    text not null,
  url         text not null,
  api         text not null check (api in ('partner', 'messaging')),
  events      json not null,
  event_count integer not null,
  progress    bit varying not null default '',
  done_events integer not null default 0,
  status      text not null default 'WAITING' check (status in ('WAITING', 'DELIVERED', 'EXPIRED')),
  attempts    integer not null default 0,
  held        uuid[],
  happened_at timestamptz not null,
  expires_at  timestamptz not null,
  due_at      timestamptz not null default '-infinity',
  primary key (company_id, callback_id)
);
create index callbacks_waiting on callbacks (company_id, receiver, callback_id) where status = 'WAITING';
create index callbacks_by_due on callbacks (company_id, receiver, due_at) where status = 'WAITING';
create index callbacks_holding on callbacks (company_id, receiver, callback_id)
  where status = 'WAITING' and held is not null;
create index callbacks_by_end on callbacks (expires_at) where status = 'WAITING';
create index callbacks_finished on callbacks (happened_at) where status <> 'WAITING';
create index callbacks_by_time on callbacks (company_id, happened_at, callback_id);
create index callbacks_not_received on callbacks (company_id, happened_at, callback_id) where status <> 'DELIVERED';
comment on table callbacks is
  'A batch of events for one address, written in the transaction that changes the messages. All events of a message '
  'go to one receiver, and ids rise in the order of the events. An engine sends the batch. Housekeeping deletes '
  'finished batches after 30 days.';
comment on column callbacks.receiver is
  'Scheme, host and port of the address.';
comment on column callbacks.events is
  'The events as JSON text. No statement looks inside, so the type is json and not jsonb.';
comment on column callbacks.progress is
  'One bit for each event, 1: the receiver accepted it. Empty before the first.';
comment on column callbacks.held is
  'Messages with a refused event in this batch. Their later events in other batches wait for it.';

create table callback_attempts (
  company_id       bigint not null,
  attempt_id       bigint generated always as identity,
  callback_id      bigint not null,
  tried_events     integer not null,
  delivered_events integer not null,
  status_code      integer,
  error            text,
  answer           text,
  took_ms          integer not null,
  attempted_at     timestamptz not null,
  primary key (company_id, attempt_id),
  foreign key (company_id, callback_id) references callbacks on delete cascade
);
create index callback_attempts_of_callback on callback_attempts (company_id, callback_id);
comment on table callback_attempts is
  'A pass over a batch that ended the batch or met a refusal, with its first refusal or its last answer. It is '
  'deleted with the batch.';
comment on column callback_attempts.answer is
  'The beginning of the answer of the receiver.';

create table receivers (
  company_id    bigint not null references companies,
  receiver      text not null,
  failures      integer not null default 0,
  probe_at      timestamptz not null default '-infinity',
  served_at     timestamptz not null default '-infinity',
  worker        uuid,
  claimed_until timestamptz not null default '-infinity',
  primary key (company_id, receiver)
);
comment on table receivers is
  'A server of one company that receives callbacks. One engine at a time serves it. A receiver that keeps failing '
  'only gets a probe from time to time. Each company has a row of its own, so a wrong address of one company at a '
  'shared host does not stop the others. Housekeeping deletes receivers that had no callback for 30 days.';
comment on column receivers.receiver is
  'Scheme, host and port.';
comment on column receivers.failures is
  'Failures in a row.';
comment on column receivers.probe_at is
  'The next probe of a receiver that keeps failing.';
comment on column receivers.claimed_until is
  'Until when the engine in worker has claimed the receiver.';

create table callback_tests (
  company_id   bigint not null references companies,
  test_id      bigint generated always as identity,
  url          text not null,
  api          text not null check (api in ('partner', 'messaging')),
  body         text,
  status_code  integer,
  error        text,
  answer       text,
  took_ms      integer,
  requested_at timestamptz not null,
  taken_at     timestamptz,
  finished_at  timestamptz,
  primary key (company_id, test_id)
);
create index callback_tests_waiting on callback_tests (requested_at) where taken_at is null;
comment on table callback_tests is
  'A test callback. A person requests it in the cabinet, an engine sends it once and writes the result into the row. '
  'Housekeeping deletes it after 30 days.';
comment on column callback_tests.taken_at is
  'When an engine took the test; null: it waits.';
