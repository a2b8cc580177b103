-- Gateways to operators and messengers, submissions, and receipts.

create table gateways (
  gateway_id       bigint generated always as identity primary key,
  name             text not null unique,
  channel_type     text not null,
  connector        text not null,
  brands           smallint[] not null default '{}',
  companies        bigint[] not null default '{}',
  settings         jsonb not null default '{}',
  secrets          bytea,
  parts_per_second integer check (parts_per_second > 0),
  paused           boolean not null default false,
  paused_at        timestamptz,
  drain_until      timestamptz,
  version          integer not null default 1,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now()
);
comment on table gateways is
  'A connection to an operator or a messenger, with its settings. Staff create, change and delete gateways.';
comment on column gateways.brands is
  'The operators whose numbers the gateway serves; empty: all.';
comment on column gateways.companies is
  'The companies that may send under the names of the gateway without registering them.';
comment on column gateways.secrets is
  'The secret settings: JSON, encrypted with a key made of TIDINGS_SECRET (src/base/secret-box.ts).';
comment on column gateways.drain_until is
  'The end of a drain: a pause in which the operator still reports on the messages it has. The drain ends earlier '
  'when no report is outstanding.';
comment on column gateways.version is
  'Counts the changes, so that a command can tell when every engine uses the last change.';

create table gateway_states (
  gateway_id        bigint not null,
  worker            uuid not null,
  up                boolean not null,
  open_messages     integer not null,
  window_size       integer not null,
  bound             integer not null,
  wanted            integer not null,
  parts_last_minute integer not null,
  last_error        text,
  last_error_at     timestamptz,
  seen_at           timestamptz not null,
  version           integer not null default 0,
  answer_ms         integer,
  primary key (gateway_id, worker)
);
comment on table gateway_states is
  'The state of a gateway in one engine, which writes it every two seconds. Readers ignore rows older than ten '
  'seconds; an engine deletes rows older than a minute.';
comment on column gateway_states.open_messages is
  'Messages that were submitted and have no answer yet. window_size is the most that is allowed.';
comment on column gateway_states.bound is
  'Connections that are up. wanted is the number that should be up.';
comment on column gateway_states.version is
  'The version of the gateway that the engine uses.';
comment on column gateway_states.answer_ms is
  'The time within which 95 of 100 answers came.';

create table gateway_minutes (
  gateway_id bigint not null,
  minute     timestamptz not null,
  worker     uuid not null,
  parts      integer not null,
  taken      integer not null,
  ended      integer not null,
  failed     integer not null,
  errors     jsonb not null,
  primary key (gateway_id, minute, worker)
) with (fillfactor = 70);
create index gateway_minutes_by_age on gateway_minutes (minute);
comment on table gateway_minutes is
  'Counts the traffic of a gateway in one engine by minute. The engine writes changed rows every two seconds, so a '
  'crash loses two seconds at most. Housekeeping deletes rows after 26 hours, which is longer than the lifetime of a '
  'message.';
comment on column gateway_minutes.taken is
  'Messages that the operator accepted.';
comment on column gateway_minutes.ended is
  'Messages that became final. failed is the part of them that failed; errors counts the failures by code.';

create table gateway_binds (
  gateway_id    bigint not null references gateways on delete cascade,
  bind          smallint not null,
  worker        uuid not null,
  claimed_until timestamptz not null,
  primary key (gateway_id, bind)
);
comment on table gateway_binds is
  'A lease of a connection. The contract with an operator allows a number of connections, which the engines share. '
  'The engine with the row keeps the connection and closes it before the lease ends.';

create table gateway_bind_seekers (
  gateway_id bigint not null references gateways on delete cascade,
  worker     uuid not null,
  expires_at timestamptz not null,
  primary key (gateway_id, worker)
);
comment on table gateway_bind_seekers is
  'An engine that wants connections of a gateway. All such engines get an equal share.';

create table gateway_receipt_ids (
  gateway_id bigint primary key references gateways on delete cascade,
  relation   text not null,
  by_address boolean not null default false,
  learnt_at  timestamptz not null default now()
);
comment on table gateway_receipt_ids is
  'How an operator writes message ids in its receipts, where an engine found it out. An engine that starts needs it '
  'to read the receipts of messages that were sent before.';
comment on column gateway_receipt_ids.relation is
  'How the id of a receipt follows from the id of the submission: same, hex-decimal or decimal-hex '
  '(src/channels/smpp).';
comment on column gateway_receipt_ids.by_address is
  'Whether receipts name the number of their message. A receipt with another number then belongs to another message.';

create table gateway_answers (
  gateway_id     bigint not null references gateways on delete cascade,
  worker         uuid not null,
  answered_until timestamptz not null,
  unanswered     integer not null,
  open           integer not null,
  seen_at        timestamptz not null,
  primary key (gateway_id, worker)
);
comment on table gateway_answers is
  'How far an engine has the answers to its submissions. A missing id proves something only when all answers are in. '
  'The row is deleted two days after the engine was last seen.';
comment on column gateway_answers.answered_until is
  'Every earlier submission has its answer or will never get one.';
comment on column gateway_answers.unanswered is
  'Submissions that will never get an answer.';
comment on column gateway_answers.open is
  'Submissions that would stay without an answer if the engine were killed now.';

create table submissions (
  gateway_id   bigint not null,
  provider_id  text not null,
  day          date not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  part         smallint not null,
  parts        smallint not null,
  status       text not null default 'SENT',
  primary key (gateway_id, provider_id, day, message_uuid, part)
) partition by range (day);
create index submissions_of_message on submissions (company_id, message_uuid) where parts > 1;
comment on table submissions is
  'Finds the message of a part by the id that the operator gave to the part. Operators use ids again: the newest '
  'submission that is not final counts. The partitions are days; housekeeping drops them after three days, which is '
  'longer than any lifetime.';
comment on column submissions.provider_id is
  'The id of the part at the operator.';
comment on column submissions.day is
  'The day of sending (UTC).';
comment on column submissions.parts is
  'The number of parts of the message.';
comment on index submissions_of_message is
  'Only messages of several parts are found by their own key: to combine the results of their parts, and to send only '
  'the missing parts.';

create function ensure_submission_days() returns void language plpgsql set lock_timeout = '1s' as $$
declare
  first_day date := (now() at time zone 'UTC')::date;
  partition text;
begin
  for ahead in 0..3 loop
    partition := 'submissions_' || to_char(first_day + ahead, 'YYYY_MM_DD');
    continue when to_regclass(partition) is not null;
    lock table only submissions in share update exclusive mode; -- as in ensure_message_month
    if to_regclass(partition) is null then
      execute format('create table %I (like submissions including defaults including constraints including storage)',
        partition);
      execute format('alter table submissions attach partition %I for values from (%L) to (%L)', partition,
        first_day + ahead, first_day + ahead + 1);
    end if;
  end loop;
exception when lock_not_available then
  raise notice 'the day % is not made yet: the submissions are locked', partition;
end
$$;
comment on function ensure_submission_days is
  'Creates the partitions of today (UTC) and of three days ahead.';

select ensure_submission_days();

create function drop_old_submission_days() returns void language plpgsql set lock_timeout = '200ms' as $$
declare
  partition text;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'submissions'::regclass
      and c.relname < 'submissions_' || to_char((now() at time zone 'UTC')::date - 3, 'YYYY_MM_DD')
  loop
    execute format('drop table if exists %I', partition);
  end loop;
exception when lock_not_available then
  raise notice 'the day % is not dropped yet: the submissions are in use', partition;
end
$$;
comment on function drop_old_submission_days is
  'Drops the days whose messages have all reached the end of their lifetime. Other statements queue behind the lock, '
  'so it waits only for a moment; the next housekeeping tries again.';

create table receipt_inbox (
  receipt_id     bigint generated always as identity primary key,
  gateway_id     bigint not null,
  provider_id    text not null,
  own_id         text,
  subscriber     text,
  status         text not null,
  error_code     integer,
  operator_error text,
  is_unread      boolean not null default false,
  happened_at    timestamptz not null,
  received_at    timestamptz not null default now(),
  claimed_until  timestamptz not null default '-infinity'
);
create index receipt_inbox_by_id on receipt_inbox (gateway_id, provider_id);
create index receipt_inbox_by_claim on receipt_inbox (claimed_until);
create index receipt_inbox_by_age on receipt_inbox (received_at);
create index receipt_inbox_unread on receipt_inbox (gateway_id, receipt_id) where is_unread;
comment on table receipt_inbox is
  'A receipt that waits: its submission is not recorded yet, or it came by webhook to a process that does not send. '
  'An engine claims it, applies it and deletes it. Housekeeping deletes receipts after two days.';
comment on column receipt_inbox.own_id is
  'The key of the message, where the operator repeats it. A message whose submission was never answered is found by '
  'it alone.';
comment on column receipt_inbox.subscriber is
  'The number that the receipt names.';
comment on column receipt_inbox.operator_error is
  'The error code of the operator itself.';
comment on column receipt_inbox.is_unread is
  'The id can be read in two ways, and it is not known yet how the operator writes its ids.';

create table late_receipts (
  company_id     bigint not null,
  message_uuid   uuid not null,
  status         message_status not null,
  received_at    timestamptz not null,
  gateway_id     bigint,
  error_code     integer,
  operator_error text,
  primary key (company_id, message_uuid, status)
);
create index late_receipts_by_age on late_receipts (received_at);
create index late_receipts_of_gateway on late_receipts (gateway_id, received_at);
comment on table late_receipts is
  'A receipt that came after its message was final: after its lifetime, or against an earlier receipt. The message '
  'and its price do not change; the page of the message shows the receipt. Housekeeping deletes it after 30 days.';
comment on column late_receipts.gateway_id is 'Null where the receipt names no gateway.';

create table simulator_messages (
  simulator_id bigint generated always as identity primary key,
  gateway_id   bigint not null,
  worker       uuid not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  sender_name  text not null,
  destination  text not null,
  channel_type text not null,
  text         text not null,
  accepted_at  timestamptz not null default clock_timestamp()
);
comment on table simulator_messages is
  'A message that a simulated operator accepted. After a crash the simulator reports again on messages that were not '
  'final. The newest 100,000 rows are kept.';

create table simulator_inbound (
  inbound_id   bigint generated always as identity primary key,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  text         text not null,
  written_at   timestamptz not null default clock_timestamp()
);
create index simulator_inbound_by_channel on simulator_inbound (channel_type, inbound_id);
comment on table simulator_inbound is
  'A text that a simulated subscriber writes to a sender name. An engine takes it and deletes the row.';
comment on column simulator_inbound.destination is
  'The number of the subscriber.';
