-- Keys of the messaging API, repeated requests, and the log of requests.

create table traffic_centers (
  company_id bigint not null references companies,
  center_id  bigint generated always as identity,
  name       text not null,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (company_id, center_id),
  unique (company_id, name)
);
create unique index traffic_centers_default on traffic_centers (company_id) where is_default;
comment on table traffic_centers is
  'A part of a company with traffic of its own, for example a department. The program creates the default center when '
  'it is first needed.';

create table api_keys (
  company_id bigint not null references companies,
  key_id     bigint not null,
  name       text not null default '',
  type       text not null check (type in ('MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET')),
  center_id  bigint,
  addresses  text[] not null default '{}',
  active     boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (company_id, key_id),
  foreign key (company_id, center_id) references traffic_centers
);
comment on table api_keys is
  'A key of the messaging API. A key is never deleted, only switched off.';
comment on column api_keys.center_id is
  'The traffic center of all messages that are sent with the key. Only keys of the type MESSAGE have one.';
comment on column api_keys.addresses is
  'The addresses and networks from which the key may be used; empty: all.';

create table api_key_ids (
  key_id     bigint generated always as identity primary key,
  company_id bigint not null,
  key_hash   bytea not null unique
);
comment on table api_key_ids is
  'Finds the company of a key by the hash of its value, and hands out the ids of keys. The value is stored nowhere.';

create table key_uses (
  company_id bigint not null,
  key_id     bigint not null,
  used_at    timestamptz not null,
  primary key (company_id, key_id)
);
comment on table key_uses is
  'When a key was last used, to the minute. Without a foreign key, a write waits for no change of the company.';

create table idempotency_keys (
  owner        text not null,
  key          text not null,
  request_hash bytea not null,
  answer       text not null,
  created_at   timestamptz not null default now(),
  primary key (owner, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
comment on table idempotency_keys is
  'A request with an Idempotency-Key that was carried out. The row commits with the effect of the request. '
  'Housekeeping deletes it after 24 hours.';
comment on column idempotency_keys.owner is
  'The caller: "partner:", "company:" or "cabinet:" with an id. All keys of a company share their idempotency keys.';
comment on column idempotency_keys.request_hash is
  'The hash of the request. The same key with another request is an error.';
comment on column idempotency_keys.answer is
  'The answer that a repeated request gets. The list of the messages of a dispatch is not in it: it is read from the '
  'messages again.';

create table requests (
  owner_kind text not null check (owner_kind in ('COMPANY', 'PARTNER')),
  owner_id   bigint not null,
  at         timestamptz(3) not null,
  request_no bigint generated always as identity,
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
comment on table requests is
  'A request to a public API, for the developers of the caller. Each API process writes its requests once a second in '
  'one statement. The partitions are hours without a write-ahead log: a crash of the database may empty them. '
  'Housekeeping drops hours older than a day.';
comment on column requests.owner_id is
  'The company of the key, or the partner of the token.';
comment on column requests.key_id is
  'The API key; 0: the token of a partner.';

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
comment on table request_minutes is
  'Counts the requests of a minute by key. Housekeeping deletes minutes older than 25 hours.';
comment on column request_minutes.unlisted is
  'Requests that were counted only, because the table requests takes a limited number of rows a second.';

create function ensure_request_hour(moment timestamptz) returns void language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  first timestamptz := date_trunc('hour', moment at time zone 'UTC') at time zone 'UTC';
  name text := 'requests_' || to_char(first at time zone 'UTC', 'YYYY_MM_DD_HH24');
begin
  if to_regclass(name) is not null then return; end if;
  lock table only requests in share update exclusive mode; -- a second process waits here and then checks again
  if to_regclass(name) is not null then return; end if;
  execute format('create unlogged table %I (like requests including defaults including constraints)', name);
  execute format('alter table requests attach partition %I for values from (%L) to (%L)', name, first,
    first + interval '1 hour');
end $$;
comment on function ensure_request_hour is
  'Creates the partition of an hour of the table requests. It runs with the rights of its owner, so that the role of '
  'the service needs no right to create tables.';

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
comment on function drop_request_hours is
  'Drops the hours of the table requests that ended before a moment, and returns their number.';
