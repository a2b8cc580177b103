-- The sending engine: gateways, leases over lanes, retries, receipts, deadlines and limits.

-- A gateway is one way out of the building. Empty `brands` serve every operator.
create table gateways (
  gateway_id       bigint generated always as identity primary key,
  name             text not null unique,
  channel_type     text not null,
  connector        text not null,
  brands           smallint[] not null default '{}',
  settings         jsonb not null default '{}',
  parts_per_second integer check (parts_per_second > 0),
  paused           boolean not null default false,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now()
);

-- Engines at work; one that has not been seen for a while is gone.
create table engines (
  worker     uuid primary key,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);

-- Fairness: of the lanes of one priority, the one served longest ago is next. One that cannot go before a certain
-- moment (its window is closed, its limit is used up) steps aside until then, so that it does not stand in the way.
alter table lanes add column served_at timestamptz not null default '-infinity';
alter table lanes add column not_before timestamptz not null default '-infinity';
create index lanes_runnable on lanes (priority, served_at) where open and cursor < tail;

-- A chunk of a lane in the hands of one worker: places first_seq up to but not including next_seq. A lease without a
-- worker was given back with messages left in it and waits to be taken again, not before due_at: a message that the
-- operator was too busy for waits in a small lease of its own instead of holding up its chunk.
create table leases (
  company_id bigint not null,
  lease_id   bigint generated always as identity,
  lane_id    bigint not null,
  first_seq  bigint not null,
  next_seq   bigint not null,
  worker     uuid,
  token      uuid,
  until      timestamptz not null,
  attempts   integer not null default 0,
  due_at     timestamptz not null default '-infinity',
  primary key (company_id, lease_id),
  foreign key (company_id, lane_id) references lanes
);
create index leases_of_lane on leases (company_id, lane_id);
create index leases_by_end on leases (until);

-- Which message an operator's id stands for; a row for every part. Operators use ids again: the newest that is not
-- final counts. Partitioned by day and dropped when the longest lifetime is over.
create table submissions (
  gateway_id  bigint not null,
  provider_id text not null,
  day         date not null,
  company_id  bigint not null,
  uuid        uuid not null,
  part        smallint not null,
  parts       smallint not null,
  status      text not null default 'SENT',
  primary key (gateway_id, provider_id, day, uuid, part)
) partition by range (day);
create index submissions_of_message on submissions (company_id, uuid);

create function ensure_submission_days() returns void language plpgsql as $$
declare
  first_day date := (now() at time zone 'UTC')::date;
  partition text;
begin
  for ahead in 0..3 loop
    partition := 'submissions_' || to_char(first_day + ahead, 'YYYY_MM_DD');
    continue when to_regclass(partition) is not null;
    lock table submissions in share update exclusive mode; -- as for the months of messages
    if to_regclass(partition) is null then
      execute format('create table %I partition of submissions for values from (%L) to (%L)', partition,
        first_day + ahead, first_day + ahead + 1);
    end if;
  end loop;
end
$$;
select ensure_submission_days();

-- Days whose messages have all come to the end of their lifetime.
create function drop_old_submission_days() returns void language plpgsql as $$
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
end
$$;

-- Receipts that no submission was found for yet, and those that arrive in a process that does not send (webhooks).
create table receipt_inbox (
  receipt_id  bigint generated always as identity primary key,
  gateway_id  bigint not null,
  provider_id text not null,
  status      text not null,
  error_code  integer,
  raw_code    text,
  happened_at timestamptz not null,
  received_at timestamptz not null default now(),
  claimed_until timestamptz not null default '-infinity'
);
create index receipt_inbox_by_id on receipt_inbox (gateway_id, provider_id);

-- The end of a batch's lifetime: one row per recorded range, whose sweep touches what is still SENT.
create table deadlines (
  company_id  bigint not null,
  deadline_id bigint generated always as identity,
  lane_id     bigint not null,
  first_seq   bigint not null,
  next_seq    bigint not null,
  due_at      timestamptz not null,
  until       timestamptz not null default '-infinity',
  primary key (company_id, deadline_id)
);
create index deadlines_by_due on deadlines (due_at);

-- Rates belong to the gateway, sender, company or dispatch and not to a process: engines draw a chunk's worth of
-- parts from the row.
create table rate_buckets (
  subject    text primary key,
  tokens     double precision not null,
  filled_at  timestamptz not null
);

alter table senders add column parts_per_second integer check (parts_per_second > 0);
alter table companies add column parts_per_second integer check (parts_per_second > 0);
alter table dispatches add column parts_per_second double precision check (parts_per_second > 0);

-- What the simulated operators were handed, the newest 100,000; they report again what was not final at a crash.
create table simulator_messages (
  simulator_id bigint generated always as identity primary key,
  gateway_id   bigint not null,
  worker       uuid not null,
  company_id   bigint not null,
  uuid         uuid not null,
  sender_name  text not null,
  destination  text not null,
  channel_type text not null,
  text         text not null,
  accepted_at  timestamptz not null default clock_timestamp()
);

-- Money -----------------------------------------------------------------------------------------------------------

-- The sum of the prices of a dispatch's messages that are still CREATED: what its start reserves and its stop releases.
alter table dispatches add column created_price numeric(18, 4) not null default 0;
update dispatches d set created_price = coalesce((
  select sum(price) from messages m
  where m.company_id = d.company_id and m.dispatch_id = d.dispatch_id and m.status = 'CREATED'
), 0);

-- A company's account. Whoever changes money, or the status of a message that holds some, locks this row first.
create table accounts (
  company_id bigint primary key references companies,
  balance    numeric(18, 4) not null default 0,
  reserved   numeric(18, 4) not null default 0 check (reserved >= 0)
);
insert into accounts (company_id) select company_id from companies;

-- Spent by calendar month of the billing zone: the month is in the key, so the 1st starts at nothing by itself.
create table account_months (
  company_id bigint not null references accounts,
  month      date not null,
  spent      numeric(18, 4) not null default 0,
  primary key (company_id, month)
);

-- Double entry: every row takes an amount from one account of the books and gives it to another.
create table ledger_entries (
  company_id  bigint not null references accounts,
  entry_id    bigint generated always as identity,
  kind        text not null check (kind in ('TOPUP', 'MESSAGES', 'MAU_PACKAGE', 'SENDER_FEE')),
  debit       text not null,
  credit      text not null,
  amount      numeric(18, 4) not null check (amount > 0),
  currency    text not null,
  month       date not null,
  dispatch_id bigint,
  sender_id   bigint,
  tariff_id   bigint,
  note        text,
  created_at  timestamptz not null default now(),
  primary key (company_id, entry_id)
);
create index ledger_entries_by_month on ledger_entries (company_id, month);

-- A sender's fee is charged once a month.
create unique index sender_fee_once_a_month on ledger_entries (company_id, sender_id, month) where kind = 'SENDER_FEE';

-- How many messages of a scaled tariff were delivered this month, and to whom for a tariff by unique recipients.
create table tariff_usage (
  company_id bigint not null references accounts,
  tariff_id  bigint not null,
  month      date not null,
  delivered  bigint not null default 0,
  recipients bigint not null default 0,
  primary key (company_id, tariff_id, month)
);

create table tariff_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  month       date not null,
  destination text not null,
  primary key (company_id, tariff_id, month, destination)
);

-- The tariffs its messages were accepted under.
alter table dispatches add column tariff_ids bigint[] not null default '{}';
update dispatches d set tariff_ids = array(
  select distinct m.tariff_id from messages m
  where m.company_id = d.company_id and m.dispatch_id = d.dispatch_id and m.tariff_id is not null);

-- What a started dispatch holds for the packages of unique recipients that it could reach, a row a package: gone when
-- the package is charged to anyone of the company, and when the dispatch is stopped or completed.
create table package_holds (
  company_id  bigint not null references accounts,
  dispatch_id bigint not null,
  tariff_id   bigint not null,
  from_count  bigint not null,
  amount      numeric(18, 4) not null check (amount > 0),
  primary key (company_id, dispatch_id, tariff_id, from_count)
);

-- Fees look every few seconds for paid names that owe this month: those that are approved, and those that ended in it.
create index senders_paid on senders (company_id, sender_id) where status = 'APPROVED' and fee > 0;
create index sender_moves_to_end on sender_moves (moved_at) where to_status in ('DENIED', 'CLOSED');

-- Messages keep the tariff they were accepted under, so a tariff never changes: a new one takes its place.
alter table tariffs add column superseded_at timestamptz;
alter table tariffs drop constraint tariffs_partner_id_sender_type_brand_traffic_type_key;
create unique index tariffs_current on tariffs (partner_id, sender_type, brand, traffic_type) nulls not distinct
  where superseded_at is null;

-- Callbacks -------------------------------------------------------------------------------------------------------

-- Signing secret of a company's callbacks (Standard Webhooks); made when it is first needed.
alter table companies add column callback_secret text;

-- One row per address and batch of events, written in the transaction of the status. The events of one message all go
-- to one receiver, and ids rise in the order in which they happened.
create table callbacks (
  company_id  bigint not null references companies,
  callback_id bigint generated always as identity,
  receiver    text not null,
  url         text not null,
  format      text not null check (format in ('partner', 'messaging')),
  -- Kept as written: nobody asks the database what is in it.
  events      json not null,
  event_count integer not null,
  -- A bit for every event, 1 for one that was taken; empty before the first.
  progress    bit varying not null default '',
  done_events integer not null default 0,
  status      text not null default 'WAITING' check (status in ('WAITING', 'DELIVERED', 'EXPIRED')),
  attempts    integer not null default 0,
  -- Messages with an event in here that was refused: their later events, in whatever batch, stay behind it.
  held        uuid[],
  happened_at timestamptz not null,
  expires_at  timestamptz not null,
  due_at      timestamptz not null default '-infinity',
  primary key (company_id, callback_id)
);
-- A receiver's batches in their order; whether one is due; whether one holds messages; what has come to its end.
create index callbacks_waiting on callbacks (company_id, receiver, callback_id) where status = 'WAITING';
create index callbacks_by_due on callbacks (company_id, receiver, due_at) where status = 'WAITING';
create index callbacks_holding on callbacks (company_id, receiver, callback_id)
  where status = 'WAITING' and held is not null;
create index callbacks_by_end on callbacks (expires_at) where status = 'WAITING';
create index callbacks_finished on callbacks (happened_at) where status <> 'WAITING';

-- One row per pass over a batch that ended it or met a refusal: its first refusal, or the last answer.
create table callback_attempts (
  company_id       bigint not null,
  attempt_id       bigint generated always as identity,
  callback_id      bigint not null,
  attempted_at     timestamptz not null,
  tried_events     integer not null,
  delivered_events integer not null,
  status_code      integer,
  error            text,
  took_ms          integer not null,
  primary key (company_id, attempt_id),
  foreign key (company_id, callback_id) references callbacks on delete cascade
);
create index callback_attempts_of_callback on callback_attempts (company_id, callback_id);

-- A company's receiver: scheme, host and port. One engine at a time serves it, until its claim runs out. One that
-- keeps failing is only probed. Of one company: a wrong address at a host that many share stops nobody else.
create table receivers (
  company_id bigint not null references companies,
  receiver   text not null,
  failures   integer not null default 0,
  probe_at   timestamptz not null default '-infinity',
  served_at  timestamptz not null default '-infinity',
  worker     uuid,
  until      timestamptz not null default '-infinity',
  primary key (company_id, receiver)
);

-- Messages --------------------------------------------------------------------------------------------------------

-- What a message cost in the end: its price when it was delivered, nothing when it failed; null until then.
alter table messages add column final_price numeric(18, 4);
update messages set final_price = 0 where status = 'FAILED';
