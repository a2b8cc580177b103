-- Money: accounts, the ledger, the use of tariffs, and the sums of months whose messages were detached. Months and days
-- of the ledger are calendar months and days of the billing zone.

create table accounts (
  company_id bigint primary key references companies,
  balance    numeric(18, 4) not null default 0,
  reserved   numeric(18, 4) not null default 0 check (reserved >= 0)
);
comment on table accounts is
  'The money of a company. A transaction that changes money, or the status of a message that holds money, locks this '
  'row first.';
comment on column accounts.reserved is
  'The sum of all holds of messages and packages.';

create table account_months (
  company_id bigint not null references accounts,
  month      date not null,
  spent      numeric(18, 4) not null default 0,
  topped_up  numeric(18, 4) not null default 0,
  corrected  numeric(18, 4) not null default 0,
  primary key (company_id, month)
);
comment on table account_months is
  'Sums of a company by month. The month is part of the key, so a new month starts at 0 without a job.';

create table ledger_entries (
  company_id  bigint not null references accounts,
  entry_id    bigint generated always as identity,
  kind        text not null check (kind in ('TOPUP', 'CORRECTION', 'MESSAGES', 'MAU_PACKAGE', 'SENDER_FEE')),
  debit       text not null,
  credit      text not null,
  amount      numeric(18, 4) not null,
  currency    text not null,
  month       date not null,
  dispatch_id bigint,
  sender_id   bigint,
  tariff_id   bigint,
  note        text,
  created_at  timestamptz not null default now(),
  messages    bigint,
  primary key (company_id, entry_id),
  constraint ledger_entries_amount_check check (amount > 0 or kind = 'CORRECTION' and amount < 0),
  constraint corrections_have_a_reason check (kind <> 'CORRECTION' or note is not null)
);
create index ledger_entries_by_month on ledger_entries (company_id, month);
create index ledger_entries_by_cause on ledger_entries (company_id, dispatch_id, kind, entry_id);
create unique index sender_fee_once_a_month on ledger_entries (company_id, sender_id, month) where kind = 'SENDER_FEE';
comment on table ledger_entries is
  'An amount that moves from one account of the books (debit) to another (credit). An entry is written in the '
  'transaction of its cause and never changes.';
comment on column ledger_entries.amount is
  'Positive, except for a correction, which may have either sign.';
comment on column ledger_entries.messages is
  'The number of delivered messages that the entry charges.';
comment on index ledger_entries_by_cause is
  'Finds the entries of a line by the cause of the line, between its first and its last entry.';

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
  balance        numeric(18, 4) not null,
  note           text,
  primary key (company_id, day, line_id)
) with (fillfactor = 70);
create unique index ledger_lines_of_cause on ledger_lines (company_id, day, month, kind, dispatch_id, sender_id, tariff_id)
  nulls not distinct where kind not in ('TOPUP', 'CORRECTION');
create index ledger_lines_by_kind on ledger_lines (company_id, kind, day, line_id);
comment on table ledger_lines is
  'The ledger as people read it: all entries of a day with the same cause are one line. The transaction that writes '
  'entries changes the line. A top-up and a correction are lines of their own.';
comment on column ledger_lines.balance is
  'The balance after the last entry of the line.';

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
comment on table charge_days is
  'The amount charged in a day by channel, operator and tariff. The rows of a day are few, so a statement adds them '
  'up quickly.';

create table tariff_usage (
  company_id bigint not null references accounts,
  tariff_id  bigint not null,
  month      date not null,
  delivered  bigint not null default 0,
  recipients bigint not null default 0,
  primary key (company_id, tariff_id, month)
);
create index tariff_usage_of_tariff on tariff_usage (tariff_id, month);
comment on table tariff_usage is
  'Counts the delivered messages and the unique recipients of a month under a SCALED or MAU tariff.';
comment on index tariff_usage_of_tariff is
  'The counts are not in the index, so that their updates touch no index (HOT).';

create table tariff_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  month       date not null,
  destination text not null,
  primary key (company_id, tariff_id, month, destination)
);
comment on table tariff_recipients is
  'A recipient of a delivered message under a MAU tariff. The table decides whether a recipient is new in the month.';

create table package_holds (
  company_id  bigint not null references accounts,
  dispatch_id bigint not null,
  tariff_id   bigint not null,
  from_count  bigint not null,
  amount      numeric(18, 4) not null check (amount > 0),
  primary key (company_id, dispatch_id, tariff_id, from_count)
);
comment on table package_holds is
  'Money that a started dispatch reserves for a MAU package that it could reach. The row is deleted when the company '
  'has paid the package, and when the dispatch is stopped or completed.';

create table closed_months (
  company_id      bigint not null,
  month           date not null,
  sum_id          bigint generated always as identity,
  dispatch_id     bigint,
  block           integer,
  status          message_status not null,
  tariff_id       bigint,
  messages        bigint not null,
  parts           bigint not null,
  unsent_messages bigint not null,
  unsent_parts    bigint not null,
  price           numeric(18, 4) not null,
  final_price     numeric(18, 4) not null,
  badly_priced    bigint not null,
  primary key (company_id, month, sum_id),
  unique nulls not distinct (company_id, month, dispatch_id, block, status, tariff_id)
);
create index closed_months_by_month on closed_months (month);
comment on table closed_months is
  'Sums of the messages of a detached month, from which "ledger verify" still recomputes the books: by block of a '
  'dispatch, or for the single messages of a company, by status and tariff. The transaction that detaches the month '
  'writes each sum once. There is no foreign key to accounts: its check would wait for transactions that hold the '
  'account and wait for the locked messages.';
comment on column closed_months.month is
  'The month of the keys of the messages, in UTC. It is not the month of the ledger in which a message was charged.';
comment on column closed_months.unsent_messages is
  'Failed messages that no operator ever had.';
comment on column closed_months.badly_priced is
  'Messages with a wrong final price. Closing a month does not hide a mistake.';

create table closed_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  destination text not null,
  primary key (company_id, tariff_id, destination)
);
comment on table closed_recipients is
  'A recipient of a delivered message of a detached month under a MAU tariff.';
