-- How many delivered messages an entry is for.
alter table ledger_entries add column messages bigint;
-- The entries of a line are found by its cause, between its first and its last.
create index ledger_entries_by_cause on ledger_entries (company_id, dispatch_id, kind, entry_id);

-- The ledger as people read it: entries of one day with the same cause are one line, changed in the transaction that
-- writes them. Days are those of the billing zone. A top-up is a line of its own.
create table ledger_lines (
  company_id     bigint not null references accounts,
  day            date not null,
  line_id        bigint generated always as identity,
  month          date not null,
  kind           text not null,
  dispatch_id    bigint,
  sender_id      bigint,
  tariff_id      bigint,
  amount         numeric(18, 4) not null,
  messages       bigint not null default 0,
  entries        bigint not null,
  first_entry_id bigint not null,
  last_entry_id  bigint not null,
  first_at       timestamptz not null,
  last_at        timestamptz not null,
  -- After the last of its entries.
  balance        numeric(18, 4) not null,
  note           text,
  primary key (company_id, day, line_id)
) with (fillfactor = 70);
create unique index ledger_lines_of_cause on ledger_lines (company_id, day, month, kind, dispatch_id, sender_id, tariff_id)
  nulls not distinct where kind <> 'TOPUP';
create index ledger_lines_by_kind on ledger_lines (company_id, kind, day, line_id);

-- What was charged in a day, by channel, operator and tariff: a few rows a day, whatever the number of messages.
-- Statements add them up by the month of the ledger.
create table charge_days (
  company_id   bigint not null references accounts,
  day          date not null,
  charge_id    bigint generated always as identity,
  month        date not null,
  kind         text not null,
  channel_type text,
  brand_id     smallint,
  tariff_id    bigint,
  messages     bigint not null default 0,
  parts        bigint not null default 0,
  amount       numeric(18, 4) not null,
  primary key (company_id, day, charge_id)
) with (fillfactor = 70);
create unique index charge_days_of_share on charge_days (company_id, day, month, kind, channel_type, brand_id, tariff_id)
  nulls not distinct;

alter table account_months add column topped_up numeric(18, 4) not null default 0;

-- The entries that are there already. They do not tell channel, operator and number of messages; the zone is the usual one.
insert into account_months (company_id, month, topped_up)
select company_id, month, sum(amount) from ledger_entries where kind = 'TOPUP' group by 1, 2
on conflict (company_id, month) do update set topped_up = excluded.topped_up;

insert into ledger_lines (
  company_id, day, month, kind, dispatch_id, sender_id, tariff_id, amount, entries, first_entry_id, last_entry_id,
  first_at, last_at, balance, note)
select company_id, day, month, kind, dispatch_id, sender_id, tariff_id, sum(amount), count(*), min(entry_id),
  max(entry_id), min(created_at), max(created_at), (array_agg(balance order by entry_id desc))[1], max(note)
from (
  select *, (created_at at time zone 'Europe/Moscow')::date as day,
    sum(case kind when 'TOPUP' then amount else -amount end) over (partition by company_id order by entry_id) as balance
  from ledger_entries) e
group by company_id, day, month, kind, dispatch_id, sender_id, tariff_id, case kind when 'TOPUP' then entry_id end
order by min(entry_id);

insert into charge_days (company_id, day, month, kind, tariff_id, amount)
select company_id, day, month, kind, tariff_id, sum(amount) from ledger_lines where kind <> 'TOPUP' group by 1, 2, 3, 4, 5;
