-- Requests to the public APIs of the last day, for the people who write programs against them. Written once a second by each
-- process that answers requests, in one statement; what does not fit is only counted. A crash of the database may empty it.

-- The owner is the company of a key, or the partner of a token. Hours are tables without a write-ahead log.
create table requests (
  owner_kind text not null check (owner_kind in ('COMPANY', 'PARTNER')),
  owner_id   bigint not null,
  at         timestamptz(3) not null,
  request_no bigint generated always as identity,
  -- 0: a token of a partner.
  key_id     bigint not null,
  method     text not null,
  route      text not null,
  status     smallint not null,
  took_ms    integer not null,
  address    text not null,
  request_id text not null,
  primary key (owner_kind, owner_id, at, request_no)
) partition by range (at);

create index requests_refused on requests (owner_kind, owner_id, at, request_no) where status >= 400;
create index requests_by_id on requests (owner_kind, owner_id, request_id);

-- How many there were in each minute. `unlisted` are those that are not in `requests`.
create unlogged table request_minutes (
  owner_kind text not null,
  owner_id   bigint not null,
  minute     timestamptz not null,
  key_id     bigint not null,
  requests   integer not null,
  refused    integer not null,
  unlisted   integer not null,
  primary key (owner_kind, owner_id, minute, key_id)
);
create index request_minutes_by_age on request_minutes (minute);

-- When a key was last used, known to the minute. Without a foreign key: writing it waits for no change of a company.
create table key_uses (
  company_id bigint not null,
  key_id     bigint not null,
  used_at    timestamptz not null,
  primary key (company_id, key_id)
);

-- Makes the table of an hour. It runs with the rights of its owner, as that of the audit log does.
create function ensure_request_hour(moment timestamptz) returns void language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  first timestamptz := date_trunc('hour', moment at time zone 'UTC') at time zone 'UTC';
  name text := 'requests_' || to_char(first at time zone 'UTC', 'YYYY_MM_DD_HH24');
begin
  if to_regclass(name) is not null then return; end if;
  lock table only requests in share update exclusive mode; -- two processes at once: the second looks again
  if to_regclass(name) is not null then return; end if;
  execute format('create unlogged table %I (like requests including defaults including constraints)', name);
  execute format('alter table requests attach partition %I for values from (%L) to (%L)', name, first,
    first + interval '1 hour');
end $$;

-- Drops the hours that ended before a moment; returns how many.
create function drop_request_hours(before timestamptz) returns integer language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  name text;
  dropped integer := 0;
begin
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'requests'::regclass
      and to_timestamp(substring(c.relname from 10), 'YYYY_MM_DD_HH24')::timestamp at time zone 'UTC'
        + interval '1 hour' <= before
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- What people call a key.
alter table api_keys add column name text not null default '';

-- The beginning of what the receiver answered.
alter table callback_attempts add column answer text;

-- The log of callbacks by time, and those that were not received.
create index callbacks_by_time on callbacks (company_id, happened_at, callback_id);
create index callbacks_not_received on callbacks (company_id, happened_at, callback_id) where status <> 'DELIVERED';

-- Test callbacks: the cabinet asks for one, an engine sends it once and writes down what came of it.
create table callback_tests (
  company_id   bigint not null references companies,
  test_id      bigint generated always as identity,
  url          text not null,
  format       text not null check (format in ('partner', 'messaging')),
  requested_at timestamptz not null,
  taken_at     timestamptz,
  finished_at  timestamptz,
  body         text,
  status_code  integer,
  error        text,
  answer       text,
  took_ms      integer,
  primary key (company_id, test_id)
);
create index callback_tests_waiting on callback_tests (requested_at) where taken_at is null;
