-- Partners, their companies, and the people who sign in to the cabinet.
--
-- Every table that belongs to a company has company_id first in its primary key and in every unique index. The same
-- schema can then be sharded by company. The test src/db/schema.test.ts lists the exceptions with their reasons.

-- The program creates these two tables before the first migration (src/db/migrate.ts).
comment on table schema_migrations is
  'A migration that this database has. The program adds the row in the transaction of the migration.';
comment on table schema_compatibility is
  'The oldest program that may use this database. A migration that removes something raises minimum_version.';

create table partners (
  partner_id    bigint generated always as identity primary key,
  login         text not null unique,
  password_hash text not null,
  currency      text not null default 'RUB',
  created_at    timestamptz not null default now(),
  disabled_at   timestamptz
);
comment on table partners is
  'An agency that uses the partner API and manages companies. Staff create partners; a partner is never deleted.';
comment on column partners.disabled_at is
  'Null while the partner may log in. A disabled partner has no tokens; its companies stay as they are.';

create table partner_tokens (
  token_hash bytea primary key,
  partner_id bigint not null references partners on delete cascade,
  expires_at timestamptz not null
);
create index partner_tokens_of_partner on partner_tokens (partner_id);
create index partner_tokens_by_expiry on partner_tokens (expires_at);
comment on table partner_tokens is
  'A token of the partner API, written at login. A new password deletes all tokens of the partner; housekeeping '
  'deletes expired tokens.';
comment on column partner_tokens.token_hash is
  'SHA-256 of the token. The token itself is random and stored nowhere.';

create table partner_networks (
  partner_id   bigint not null references partners on delete cascade,
  network      text not null,
  last_used_at timestamptz not null,
  primary key (partner_id, network)
);
comment on table partner_networks is
  'A network from which a partner has logged in. Wrong passwords from other networks can block a login; the partner '
  'can still log in from these networks.';

create table login_failures (
  subject           text primary key,
  failures          integer not null,
  window_started_at timestamptz not null
);
comment on table login_failures is
  'Counts wrong passwords in a window of ten minutes. Housekeeping deletes windows that have ended.';
comment on column login_failures.subject is
  'The login or the address that is counted.';

create type company_status as enum ('ACTIVE', 'DISABLED');
create type billing_mode as enum ('POSTPAID', 'PREPAID');

create table companies (
  company_id             bigint generated always as identity primary key,
  partner_id             bigint not null references partners,
  name                   text not null,
  counteragent_type      text not null check (counteragent_type in ('LEGAL', 'INDIVIDUAL')),
  counteragent_name      text not null,
  counteragent_inn       text not null,
  counteragent_address   text,
  counteragent_kpp       text,
  actual_address         text,
  currency               text not null,
  billing                billing_mode not null default 'POSTPAID',
  budget                 numeric(18, 4) check (budget >= 0),
  parts_per_second       integer check (parts_per_second > 0),
  inbound                boolean not null default false,
  callback_secret        text,
  callback_secret_sealed bytea,
  status                 company_status not null default 'ACTIVE',
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now()
);
create index companies_of_partner on companies (partner_id, company_id);
create index companies_of_partner_by_name on companies (partner_id, lower(name), company_id);
create index companies_by_name on companies (lower(name), company_id);
comment on table companies is
  'A company that sends messages. It belongs to one partner and is never deleted, only disabled.';
comment on column companies.counteragent_inn is
  'The Russian tax number of the legal or individual contractor.';
comment on column companies.budget is
  'The most that the company may spend in a calendar month; null: no limit.';
comment on column companies.billing is
  'The balance of a POSTPAID company may be negative; the balance of a PREPAID company may not.';
comment on column companies.parts_per_second is
  'The rate limit of the company; null: no limit of its own.';
comment on column companies.inbound is
  'Whether subscribers may write to the company.';
comment on column companies.callback_secret is
  'The signing secret of callbacks in plain text. It stays here only until an engine encrypts it.';
comment on column companies.callback_secret_sealed is
  'The signing secret of callbacks (Standard Webhooks), encrypted with a key made of TIDINGS_SECRET. The program '
  'creates it when it is first needed.';

create table company_documents (
  company_id  bigint not null references companies,
  document_id uuid not null,
  filename    text not null,
  kind        text not null check (kind in ('pdf', 'jpg', 'png')),
  content     bytea not null,
  created_at  timestamptz not null default now(),
  primary key (company_id, document_id)
);
-- The formats are compressed already. Without this setting PostgreSQL would try to compress them again.
alter table company_documents alter column content set storage external;
comment on table company_documents is
  'A document that a company uploaded for the review of its sender names.';

create table people (
  person_id     bigint generated always as identity primary key,
  kind          text not null check (kind in ('COMPANY', 'PARTNER', 'STAFF')),
  company_id    bigint references companies,
  partner_id    bigint references partners on delete cascade,
  role          text not null,
  login         text not null unique,
  name          text not null default '',
  password_hash text,
  totp_secret   bytea,
  totp_step     bigint,
  language      text check (language in ('en', 'ru')),
  theme         text not null default 'auto' check (theme in ('auto', 'light', 'dark')),
  created_at    timestamptz not null default now(),
  disabled_at   timestamptz,
  check ((kind = 'COMPANY') = (company_id is not null)),
  check ((kind = 'PARTNER') = (partner_id is not null))
);
create index people_of_company on people (company_id) where company_id is not null;
create index people_of_partner on people (partner_id) where partner_id is not null;
comment on table people is
  'A person who signs in to the cabinet: a member of a company, of a partner, or of the staff. The row stays when the '
  'person is disabled.';
comment on column people.password_hash is
  'Null before an invitation is accepted. Also null for the owner of a partner, because that person signs in with the '
  'login and password of the partner.';
comment on column people.totp_secret is
  'The secret of the second factor, encrypted; null: the person uses no second factor.';
comment on column people.totp_step is
  'The time step of the last accepted code. A code is accepted once.';

create table person_sessions (
  session_hash bytea primary key,
  person_id    bigint not null references people on delete cascade,
  half         boolean not null,
  address      text not null,
  agent        text not null,
  created_at   timestamptz not null,
  used_at      timestamptz not null
);
create index person_sessions_of_person on person_sessions (person_id);
create index person_sessions_by_use on person_sessions (used_at);
comment on table person_sessions is
  'A browser that is signed in to the cabinet. Housekeeping deletes sessions that were not used for 12 hours.';
comment on column person_sessions.session_hash is
  'SHA-256 of the value in the cookie.';
comment on column person_sessions.half is
  'True while the second factor is missing: the password was right, but the session gives no access yet.';

create table person_invitations (
  token_hash bytea primary key,
  person_id  bigint not null unique references people on delete cascade,
  expires_at timestamptz not null
);
comment on table person_invitations is
  'A link with which a person chooses a password. It works once; housekeeping deletes expired invitations.';

create table person_recovery_codes (
  person_id bigint not null references people on delete cascade,
  code_hash bytea not null,
  primary key (person_id, code_hash)
);
comment on table person_recovery_codes is
  'A recovery code that replaces the second factor. Using a code deletes its row.';

create table person_networks (
  person_id    bigint not null references people on delete cascade,
  network      text not null,
  last_used_at timestamptz not null,
  primary key (person_id, network)
);
comment on table person_networks is
  'A network from which a person has signed in. Wrong passwords from other networks do not block the person here. '
  'Housekeeping deletes a network 90 days after its last use.';
