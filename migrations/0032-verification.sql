-- Phone verification: how companies send codes, and the codes themselves.

-- Which company has a verifier or widget: public clients name it without its company.
create table verifier_ids (
  verifier_id text primary key,
  company_id  bigint not null references companies
);

-- A verifier says how codes are sent. A widget is a verifier with the settings of a page.
create table verifiers (
  company_id  bigint not null references companies,
  verifier_id text not null,
  kind        text not null check (kind in ('API', 'WIDGET')),
  name        text not null,
  settings    jsonb not null,
  page        jsonb,
  created_at  timestamptz not null default now(),
  primary key (company_id, verifier_id),
  check ((kind = 'WIDGET') = (page is not null))
);

-- One row for each number that is to be confirmed, known by the uuid of its first message. Each code that was sent for
-- it is kept as a keyed hash with its own end. channel_type and sent_at are those of the newest message.
create table verifications (
  company_id        bigint not null,
  verification_uuid uuid not null,
  verifier_id       text not null,
  destination       text not null,
  country           text not null,
  prefix            text not null,
  channel_type      text not null,
  code_hashes       bytea[] not null,
  code_ends         timestamptz[] not null,
  tries_left        smallint not null check (tries_left >= 0),
  sent_at           timestamptz not null,
  confirmed_at      timestamptz,
  primary key (company_id, verification_uuid)
) with (fillfactor = 80);

create index verifications_by_destination on verifications (company_id, destination, verification_uuid);
create index verifications_by_prefix on verifications (company_id, prefix, verification_uuid);

-- What was sent, delivered and confirmed, by day (UTC). A row for each of the three, so that requests that send codes
-- and requests that check codes do not wait for each other.
create table verification_counters (
  company_id   bigint not null,
  verifier_id  text not null,
  day          date not null,
  channel_type text not null,
  country      text not null,
  what         text not null check (what in ('sent', 'delivered', 'confirmed')),
  count        bigint not null,
  cost         numeric(18, 4) not null default 0,
  total_ms     bigint not null default 0,
  primary key (company_id, verifier_id, day, channel_type, country, what)
);

-- How often codes were sent for a subject: `number:…`, `address:…`, `prefix:…`, `verifier:…`, `company`.
create table verification_limits (
  company_id    bigint not null,
  subject       text not null,
  since         timestamptz not null,
  count         int not null,
  last_at       timestamptz not null,
  streak        int not null default 0,
  blocked_until timestamptz,
  blocks        smallint not null default 0,
  reason        text,
  primary key (company_id, subject)
);
create index verification_limits_blocked on verification_limits (company_id, blocked_until) where blocked_until is not null;
create index verification_limits_old on verification_limits (last_at);

-- The text that carries a code, encrypted until it is handed over; `text` and `content` have it masked.
alter table messages add column sealed bytea;

-- The verification that a cascade sends codes for: it ends when the number is confirmed.
alter table cascades add column verification_uuid uuid;

insert into channel_prices (channel_type, price, currency) values ('TELEGRAM_GATEWAY', 1.20, 'RUB');
