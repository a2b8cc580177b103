-- A drain is a pause that lets the operator report what it has: it ends when nothing is outstanding, or at its time.
alter table gateways
  add column paused_at timestamptz,
  add column drain_until timestamptz;

-- How long the operator takes to answer: 95 of 100 answers come within this time.
alter table gateway_states add column answer_ms integer;

-- What happened at a gateway, by minute. An engine writes its own rows, again every two seconds while they change, so that
-- a killed engine loses no more than that. Rows are kept for 26 hours: longer than an operator tries to deliver a message.
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

-- How a process is doing, in the row that says that it is there.
alter table engines
  add column host text not null default '',
  add column pid integer not null default 0,
  add column version text not null default '',
  add column memory_bytes bigint,
  add column loop_delay_ms integer,
  add column unrecorded integer;

create table api_processes (
  process       uuid primary key,
  host          text not null,
  pid           integer not null,
  version       text not null,
  started_at    timestamptz not null default clock_timestamp(),
  seen_at       timestamptz not null default clock_timestamp(),
  clock_off_ms  bigint not null default 0,
  memory_bytes  bigint,
  loop_delay_ms integer
);
