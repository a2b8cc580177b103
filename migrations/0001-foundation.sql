-- The ground: partners and their companies, sender names, prices, dispatches and messages.
--
-- Every table that belongs to a company has company_id first in its primary key and in every unique index, so that
-- the same schema can be sharded by company. What is not a company's own (partners, prices, resolvers from a bare id
-- to its company, idempotency keys) is listed as an exception in db/schema.test.ts.

-- Partners ------------------------------------------------------------------------------------------------------

create table partners (
  partner_id    bigint generated always as identity primary key,
  login         text not null unique,
  password_hash text not null,
  currency      text not null default 'RUB',
  created_at    timestamptz not null default now()
);

-- Tokens are random; only their SHA-256 is kept. Changing the password deletes the rows: every node asks this table.
create table partner_tokens (
  token_hash bytea primary key,
  partner_id bigint not null references partners on delete cascade,
  expires_at timestamptz not null
);
create index partner_tokens_of_partner on partner_tokens (partner_id);
create index partner_tokens_by_expiry on partner_tokens (expires_at);

create table staff (
  staff_id      bigint generated always as identity primary key,
  login         text not null unique,
  password_hash text not null,
  created_at    timestamptz not null default now()
);

-- Wrong logins, counted per login and per address in windows of ten minutes.
create table login_failures (
  subject           text primary key,
  failures          integer not null,
  window_started_at timestamptz not null
);

-- Companies -----------------------------------------------------------------------------------------------------

create type company_status as enum ('ACTIVE', 'DISABLED');
create type billing_mode as enum ('POSTPAID', 'PREPAID');

create table companies (
  company_id           bigint generated always as identity primary key,
  partner_id           bigint not null references partners,
  name                 text not null,
  counteragent_type    text not null check (counteragent_type in ('LEGAL', 'INDIVIDUAL')),
  counteragent_name    text not null,
  counteragent_inn     text not null,
  counteragent_address text,
  counteragent_kpp     text,
  actual_address       text,
  status               company_status not null default 'ACTIVE',
  budget               numeric(18, 4) check (budget >= 0),
  currency             text not null,
  billing              billing_mode not null default 'POSTPAID',
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now()
);
create index companies_of_partner on companies (partner_id, company_id);

create table company_documents (
  company_id  bigint not null references companies,
  document_id uuid not null,
  filename    text not null,
  kind        text not null check (kind in ('pdf', 'jpg', 'png')),
  content     bytea not null,
  created_at  timestamptz not null default now(),
  primary key (company_id, document_id)
);
-- Documents are already compressed: storing them plain saves the second attempt.
alter table company_documents alter column content set storage external;

-- API keys of the messaging API. Only a hash of the value is kept; the resolver finds the company from the hash.
create table api_keys (
  company_id bigint not null references companies,
  key_id     bigint not null,
  type       text not null check (type in ('MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET')),
  active     boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (company_id, key_id)
);

create table api_key_ids (
  key_id     bigint generated always as identity primary key,
  company_id bigint not null,
  key_hash   bytea not null unique
);

-- Sender names --------------------------------------------------------------------------------------------------

create type sender_status as enum (
  'DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED', 'DENIED', 'CLOSED'
);

create table sender_ids (
  sender_id  bigint generated always as identity primary key,
  company_id bigint not null
);

create table senders (
  company_id      bigint not null references companies,
  sender_id       bigint not null,
  sender_name     text not null,
  channel_type    text not null,
  common_type     text not null,
  brand           text not null,
  country_code    text not null,
  description     text,
  document_ids    uuid[] not null default '{}',
  date_from       timestamptz not null,
  date_to         timestamptz,
  status          sender_status not null default 'DRAFT',
  suspended       boolean not null default false,
  suspend_reason  text,
  fee             numeric(18, 4),
  manager_comment text,
  rejected_at     timestamptz,
  created_at      timestamptz not null default now(),
  primary key (company_id, sender_id)
);
-- What the clock or automatic moderation may still move; small, whatever the number of names.
create index senders_in_review on senders (status, date_from)
  where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING');
create index senders_to_close on senders (date_to) where status in ('AWAITING', 'APPROVED') and date_to is not null;

-- A move of a sender name is a row: who moved it, when, from what to what.
create table sender_moves (
  company_id  bigint not null,
  sender_id   bigint not null,
  move_id     bigint generated always as identity,
  from_status sender_status not null,
  to_status   sender_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamptz not null,
  primary key (company_id, sender_id, move_id),
  foreign key (company_id, sender_id) references senders
);

-- Blacklist -----------------------------------------------------------------------------------------------------

create table blacklist (
  company_id bigint not null references companies,
  msisdn     text not null,
  comment    text,
  created_at timestamptz not null default now(),
  primary key (company_id, msisdn)
);

-- Prices --------------------------------------------------------------------------------------------------------

-- Tariffs of SMS to Russian numbers. A null means "any": the most specific row wins (pricing/tariff.ts).
create table tariffs (
  tariff_id     bigint generated always as identity primary key,
  partner_id    bigint references partners,
  sender_type   text not null check (sender_type in ('COMMON', 'START', 'PRO')),
  brand         text,
  traffic_type  text check (traffic_type in ('PROMO', 'SERVICE', 'TRANSACT', 'AUTHORIZE')),
  pricing_model text not null check (pricing_model in ('FIXED', 'SCALED', 'MAU')),
  currency      text not null,
  unique nulls not distinct (partner_id, sender_type, brand, traffic_type)
);

create table tariff_steps (
  tariff_id       bigint not null references tariffs on delete cascade,
  from_count      bigint not null check (from_count >= 0),
  price           numeric(18, 4) not null check (price >= 0),
  price_mau_batch numeric(18, 4) check (price_mau_batch >= 0),
  primary key (tariff_id, from_count)
);

create table sender_fees (
  brand    text primary key,
  value    numeric(18, 4) not null check (value >= 0),
  currency text not null
);

-- Fixed prices of the other channels, and of SMS to other countries ('*': any country without a row of its own).
create table channel_prices (
  channel_type text primary key,
  price        numeric(18, 4) not null check (price >= 0),
  currency     text not null
);

create table country_prices (
  country_code text primary key,
  price        numeric(18, 4) not null check (price >= 0),
  currency     text not null
);

-- Dispatches ----------------------------------------------------------------------------------------------------

create type dispatch_status as enum ('CREATED', 'STARTED', 'STOPPED', 'COMPLETED');

create table dispatch_ids (
  dispatch_id bigint generated always as identity primary key,
  company_id  bigint not null
);

create table dispatches (
  company_id       bigint not null references companies,
  dispatch_id      bigint not null,
  name             text not null,
  status           dispatch_status not null default 'CREATED',
  channel_type     text not null,
  traffic_type     text not null,
  text             text not null,
  sender_ids       bigint[] not null,
  -- The schedule: hours and days are read at the fixed offset that startAt carried.
  start_at         timestamptz,
  offset_minutes   smallint,
  hours            smallint[],
  days             smallint[],
  callback_url     text,
  callback_events  text[],
  -- The sum reserved when the dispatch starts, and how many messages it has, rejected ones included.
  price_estimate   numeric(18, 4) not null default 0,
  message_count    bigint not null default 0,
  -- Bounds of its messages' keys: every statement about them carries these, so that it reads only their months.
  first_uuid       uuid,
  last_uuid        uuid,
  created_at       timestamptz not null default now(),
  started_at       timestamptz,
  completed_at     timestamptz,
  primary key (company_id, dispatch_id)
);
create index dispatches_by_status on dispatches (company_id, status, dispatch_id);

-- Counters of a dispatch, in blocks of 5,000 places: what a message moves from and to is changed here in the
-- transaction that moves it. Their sum is the progress of the dispatch; walking them finds the block in which the
-- n-th message of a status lies, so that a page is found as fast at any depth.
create table dispatch_blocks (
  company_id         bigint not null,
  dispatch_id        bigint not null,
  block              integer not null,
  created_messages   integer not null default 0,
  sent_messages      integer not null default 0,
  delivered_messages integer not null default 0,
  failed_messages    integer not null default 0,
  created_parts      integer not null default 0,
  sent_parts         integer not null default 0,
  delivered_parts    integer not null default 0,
  failed_parts       integer not null default 0,
  primary key (company_id, dispatch_id, block),
  foreign key (company_id, dispatch_id) references dispatches
);

-- A lane is a queue of messages that may go at the same time to the same place. Messages get their place (seq) from
-- tail in the transaction that writes them; the engine moves cursor.
create table lanes (
  company_id   bigint not null,
  lane_id      bigint generated always as identity,
  dispatch_id  bigint,
  channel_type text not null,
  sender_id    bigint,
  brand_id     smallint not null,
  priority     smallint not null,
  zone         text,
  tail         bigint not null default 0,
  cursor       bigint not null default 0,
  open         boolean not null default false,
  primary key (company_id, lane_id),
  unique nulls not distinct (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, zone)
);

-- Messages ------------------------------------------------------------------------------------------------------

create type message_status as enum ('CREATED', 'SENT', 'DELIVERED', 'FAILED');

-- Keyed by UUIDv7 and partitioned by month on that key. The key's own time is when the message was created.
-- A message that was refused at the door has no lane and stands here as FAILED, so that every number submitted has
-- its fate. Price is the reserved amount until the message is final.
create table messages (
  company_id   bigint not null,
  uuid         uuid not null,
  dispatch_id  bigint,
  position     bigint,
  lane_id      bigint,
  seq          bigint,
  sender_id    bigint,
  tariff_id    bigint,
  price        numeric(18, 4) not null,
  sent_at      timestamptz,
  final_at     timestamptz,
  status       message_status not null,
  error_code   integer,
  parts        smallint not null,
  brand_id     smallint not null,
  destination  text not null,
  text         text,
  primary key (company_id, uuid)
) partition by range (uuid);

create index messages_by_position on messages (company_id, dispatch_id, position);
create index messages_by_lane on messages (company_id, lane_id, seq) where lane_id is not null;

-- The smallest UUIDv7 of a moment.
create function uuid7_floor(moment timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partition of one month (in UTC) if it is missing.
create function ensure_message_month(month date) returns void language plpgsql as $$
declare
  first_day timestamp := date_trunc('month', month::timestamp);
  partition text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition) is not null then
    return;
  end if;
  -- Two processes at once: the second waits here, and looks again. An advisory lock would not refresh what it sees.
  lock table messages in share update exclusive mode;
  if to_regclass(partition) is null then
    execute format('create table %I partition of messages for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
end
$$;

-- This month and three ahead. There is no default partition: a message that has no month is a bug to be seen.
create function ensure_message_months() returns void language sql as $$
  select ensure_message_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date)
  from generate_series(0, 3) ahead
$$;

select ensure_message_months();

-- Idempotency ---------------------------------------------------------------------------------------------------

-- The row commits with the effect it stands for. `answer` is what to say again; the long list of a dispatch's
-- messages is rebuilt from the messages.
create table idempotency_keys (
  owner        text not null,
  key          text not null,
  request_hash bytea not null,
  answer       text not null,
  created_at   timestamptz not null default now(),
  primary key (owner, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
