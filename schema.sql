-- The tables that the migrations make in an empty database. Printed by `npm run db:dump`: change a migration, not this
-- file.

-- =====================================================================================================================
-- The version of the schema. The program creates these tables before the first migration.
-- =====================================================================================================================

-- A migration that this database has. The program adds the row in the transaction of the migration.
create table schema_migrations (
  version    integer not null,
  name       text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

-- The oldest program that may use this database. A migration that removes something raises minimum_version.
create table schema_compatibility (
  only_row        boolean default true not null,
  minimum_version integer not null,
  constraint schema_compatibility_pkey PRIMARY KEY (only_row),
  constraint schema_compatibility_only_row_check CHECK (only_row)
);

-- =====================================================================================================================
-- Partners, their companies, and the people who sign in to the cabinet.
--
-- Every table that belongs to a company has company_id first in its primary key and in every unique index. The same
-- schema can then be sharded by company. The test src/db/schema.test.ts lists the exceptions with their reasons.
-- =====================================================================================================================

-- An agency that uses the partner API and manages companies. Staff create partners; a partner is never deleted.
create table partners (
  partner_id    bigint generated always as identity not null,
  login         text not null,
  password_hash text not null,
  currency      text default 'RUB'::text not null,
  created_at    timestamp with time zone default now() not null,
  -- Null while the partner may log in. A disabled partner has no tokens; its companies stay as they are.
  disabled_at   timestamp with time zone,
  constraint partners_pkey PRIMARY KEY (partner_id),
  constraint partners_login_key UNIQUE (login)
);

-- A token of the partner API, written at login. A new password deletes all tokens of the partner; housekeeping deletes
-- expired tokens.
create table partner_tokens (
  -- SHA-256 of the token. The token itself is random and stored nowhere.
  token_hash bytea not null,
  partner_id bigint not null,
  expires_at timestamp with time zone not null,
  constraint partner_tokens_pkey PRIMARY KEY (token_hash),
  constraint partner_tokens_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id) ON DELETE CASCADE
);
CREATE INDEX partner_tokens_of_partner ON partner_tokens USING btree (partner_id);
CREATE INDEX partner_tokens_by_expiry ON partner_tokens USING btree (expires_at);

-- A network from which a partner has logged in. Wrong passwords from other networks can block a login; the partner can
-- still log in from these networks.
create table partner_networks (
  partner_id   bigint not null,
  network      text not null,
  last_used_at timestamp with time zone not null,
  constraint partner_networks_pkey PRIMARY KEY (partner_id, network),
  constraint partner_networks_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id) ON DELETE CASCADE
);

-- Counts wrong passwords in a window of ten minutes. Housekeeping deletes windows that have ended.
create table login_failures (
  -- The login or the address that is counted.
  subject           text not null,
  failures          integer not null,
  window_started_at timestamp with time zone not null,
  constraint login_failures_pkey PRIMARY KEY (subject)
);

create type company_status as enum ('ACTIVE', 'DISABLED');

create type billing_mode as enum ('POSTPAID', 'PREPAID');

-- A company that sends messages. It belongs to one partner and is never deleted, only disabled.
create table companies (
  company_id             bigint generated always as identity not null,
  partner_id             bigint not null,
  name                   text not null,
  counteragent_type      text not null,
  counteragent_name      text not null,
  -- The Russian tax number of the legal or individual contractor.
  counteragent_inn       text not null,
  counteragent_address   text,
  counteragent_kpp       text,
  actual_address         text,
  currency               text not null,
  -- The balance of a POSTPAID company may be negative; the balance of a PREPAID company may not.
  billing                billing_mode default 'POSTPAID'::billing_mode not null,
  -- The most that the company may spend in a calendar month; null: no limit.
  budget                 numeric(18,4),
  -- The rate limit of the company; null: no limit of its own.
  parts_per_second       integer,
  -- Whether subscribers may write to the company.
  inbound                boolean default false not null,
  -- The signing secret of callbacks in plain text. It stays here only until an engine encrypts it.
  callback_secret        text,
  -- The signing secret of callbacks (Standard Webhooks), encrypted with a key made of TIDINGS_SECRET. The program
  -- creates it when it is first needed.
  callback_secret_sealed bytea,
  status                 company_status default 'ACTIVE'::company_status not null,
  created_at             timestamp with time zone default now() not null,
  updated_at             timestamp with time zone default now() not null,
  constraint companies_pkey PRIMARY KEY (company_id),
  constraint companies_budget_check CHECK ((budget >= (0)::numeric)),
  constraint companies_counteragent_type_check CHECK ((counteragent_type = ANY (ARRAY['LEGAL'::text, 'INDIVIDUAL'::text]))),
  constraint companies_parts_per_second_check CHECK ((parts_per_second > 0)),
  constraint companies_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id)
);
CREATE INDEX companies_of_partner ON companies USING btree (partner_id, company_id);
CREATE INDEX companies_of_partner_by_name ON companies USING btree (partner_id, lower(name), company_id);
CREATE INDEX companies_by_name ON companies USING btree (lower(name), company_id);

-- A document that a company uploaded for the review of its sender names.
create table company_documents (
  company_id  bigint not null,
  document_id uuid not null,
  filename    text not null,
  kind        text not null,
  content     bytea not null,
  created_at  timestamp with time zone default now() not null,
  constraint company_documents_pkey PRIMARY KEY (company_id, document_id),
  constraint company_documents_kind_check CHECK ((kind = ANY (ARRAY['pdf'::text, 'jpg'::text, 'png'::text]))),
  constraint company_documents_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
alter table company_documents alter column content set storage external;

-- A person who signs in to the cabinet: a member of a company, of a partner, or of the staff. The row stays when the
-- person is disabled.
create table people (
  person_id     bigint generated always as identity not null,
  kind          text not null,
  company_id    bigint,
  partner_id    bigint,
  role          text not null,
  login         text not null,
  name          text default ''::text not null,
  -- Null before an invitation is accepted. Also null for the owner of a partner, because that person signs in with the
  -- login and password of the partner.
  password_hash text,
  -- The secret of the second factor, encrypted; null: the person uses no second factor.
  totp_secret   bytea,
  -- The time step of the last accepted code. A code is accepted once.
  totp_step     bigint,
  language      text,
  theme         text default 'auto'::text not null,
  created_at    timestamp with time zone default now() not null,
  disabled_at   timestamp with time zone,
  constraint people_pkey PRIMARY KEY (person_id),
  constraint people_login_key UNIQUE (login),
  constraint people_check CHECK (((kind = 'COMPANY'::text) = (company_id IS NOT NULL))),
  constraint people_check1 CHECK (((kind = 'PARTNER'::text) = (partner_id IS NOT NULL))),
  constraint people_kind_check CHECK ((kind = ANY (ARRAY['COMPANY'::text, 'PARTNER'::text, 'STAFF'::text]))),
  constraint people_language_check CHECK ((language = ANY (ARRAY['en'::text, 'ru'::text]))),
  constraint people_theme_check CHECK ((theme = ANY (ARRAY['auto'::text, 'light'::text, 'dark'::text]))),
  constraint people_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id),
  constraint people_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id) ON DELETE CASCADE
);
CREATE INDEX people_of_company ON people USING btree (company_id) WHERE (company_id IS NOT NULL);
CREATE INDEX people_of_partner ON people USING btree (partner_id) WHERE (partner_id IS NOT NULL);

-- A browser that is signed in to the cabinet. Housekeeping deletes sessions that were not used for 12 hours.
create table person_sessions (
  -- SHA-256 of the value in the cookie.
  session_hash bytea not null,
  person_id    bigint not null,
  -- True while the second factor is missing: the password was right, but the session gives no access yet.
  half         boolean not null,
  address      text not null,
  agent        text not null,
  created_at   timestamp with time zone not null,
  used_at      timestamp with time zone not null,
  constraint person_sessions_pkey PRIMARY KEY (session_hash),
  constraint person_sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);
CREATE INDEX person_sessions_of_person ON person_sessions USING btree (person_id);
CREATE INDEX person_sessions_by_use ON person_sessions USING btree (used_at);

-- A link with which a person chooses a password. It works once; housekeeping deletes expired invitations.
create table person_invitations (
  token_hash bytea not null,
  person_id  bigint not null,
  expires_at timestamp with time zone not null,
  constraint person_invitations_pkey PRIMARY KEY (token_hash),
  constraint person_invitations_person_id_key UNIQUE (person_id),
  constraint person_invitations_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

-- A recovery code that replaces the second factor. Using a code deletes its row.
create table person_recovery_codes (
  person_id bigint not null,
  code_hash bytea not null,
  constraint person_recovery_codes_pkey PRIMARY KEY (person_id, code_hash),
  constraint person_recovery_codes_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

-- A network from which a person has signed in. Wrong passwords from other networks do not block the person here.
-- Housekeeping deletes a network 90 days after its last use.
create table person_networks (
  person_id    bigint not null,
  network      text not null,
  last_used_at timestamp with time zone not null,
  constraint person_networks_pkey PRIMARY KEY (person_id, network),
  constraint person_networks_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

-- =====================================================================================================================
-- Keys of the messaging API, repeated requests, and the log of requests.
-- =====================================================================================================================

-- A part of a company with traffic of its own, for example a department. The program creates the default center when it
-- is first needed.
create table traffic_centers (
  company_id bigint not null,
  center_id  bigint generated always as identity not null,
  name       text not null,
  is_default boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint traffic_centers_pkey PRIMARY KEY (company_id, center_id),
  constraint traffic_centers_company_id_name_key UNIQUE (company_id, name),
  constraint traffic_centers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE UNIQUE INDEX traffic_centers_default ON traffic_centers USING btree (company_id) WHERE is_default;

-- A key of the messaging API. A key is never deleted, only switched off.
create table api_keys (
  company_id bigint not null,
  key_id     bigint not null,
  name       text default ''::text not null,
  type       text not null,
  -- The traffic center of all messages that are sent with the key. Only keys of the type MESSAGE have one.
  center_id  bigint,
  -- The addresses and networks from which the key may be used; empty: all.
  addresses  text[] default '{}'::text[] not null,
  active     boolean default true not null,
  created_at timestamp with time zone default now() not null,
  constraint api_keys_pkey PRIMARY KEY (company_id, key_id),
  constraint api_keys_type_check CHECK ((type = ANY (ARRAY['MESSAGE'::text, 'ENTITY'::text, 'VERIFIER'::text, 'BUILDER_WIDGET'::text]))),
  constraint api_keys_company_id_center_id_fkey FOREIGN KEY (company_id, center_id) REFERENCES traffic_centers(company_id, center_id),
  constraint api_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- Finds the company of a key by the hash of its value, and hands out the ids of keys. The value is stored nowhere.
create table api_key_ids (
  key_id     bigint generated always as identity not null,
  company_id bigint not null,
  key_hash   bytea not null,
  constraint api_key_ids_pkey PRIMARY KEY (key_id),
  constraint api_key_ids_key_hash_key UNIQUE (key_hash)
);

-- When a key was last used, to the minute. Without a foreign key, a write waits for no change of the company.
create table key_uses (
  company_id bigint not null,
  key_id     bigint not null,
  used_at    timestamp with time zone not null,
  constraint key_uses_pkey PRIMARY KEY (company_id, key_id)
);

-- A request with an Idempotency-Key that was carried out. The row commits with the effect of the request. Housekeeping
-- deletes it after 24 hours.
create table idempotency_keys (
  -- The caller: "partner:", "company:" or "cabinet:" with an id. All keys of a company share their idempotency keys.
  owner        text not null,
  key          text not null,
  -- The hash of the request. The same key with another request is an error.
  request_hash bytea not null,
  -- The answer that a repeated request gets. The list of the messages of a dispatch is not in it: it is read from the
  -- messages again.
  answer       text not null,
  created_at   timestamp with time zone default now() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

-- A request to a public API, for the developers of the caller. Each API process writes its requests once a second in
-- one statement. The partitions are hours without a write-ahead log: a crash of the database may empty them.
-- Housekeeping drops hours older than a day.
create table requests (
  owner_kind text not null,
  -- The company of the key, or the partner of the token.
  owner_id   bigint not null,
  at         timestamp(3) with time zone not null,
  request_no bigint generated always as identity not null,
  -- The API key; 0: the token of a partner.
  key_id     bigint not null,
  method     text not null,
  route      text not null,
  status     smallint not null,
  took_ms    integer not null,
  address    text not null,
  request_id text not null,
  constraint requests_pkey PRIMARY KEY (owner_kind, owner_id, at, request_no),
  constraint requests_owner_kind_check CHECK ((owner_kind = ANY (ARRAY['COMPANY'::text, 'PARTNER'::text])))
) partition by RANGE (at);
CREATE INDEX requests_refused ON requests USING btree (owner_kind, owner_id, at, request_no) WHERE (status >= 400);
CREATE INDEX requests_by_id ON requests USING btree (owner_kind, owner_id, request_id);

-- Counts the requests of a minute by key. Housekeeping deletes minutes older than 25 hours.
create unlogged table request_minutes (
  owner_kind text not null,
  owner_id   bigint not null,
  minute     timestamp with time zone not null,
  key_id     bigint not null,
  requests   integer not null,
  refused    integer not null,
  -- Requests that were counted only, because the table requests takes a limited number of rows a second.
  unlisted   integer not null,
  constraint request_minutes_pkey PRIMARY KEY (owner_kind, owner_id, minute, key_id)
);
CREATE INDEX request_minutes_by_age ON request_minutes USING btree (minute);

-- Creates the partition of an hour of the table requests. It runs with the rights of its owner, so that the role of the
-- service needs no right to create tables.
CREATE OR REPLACE FUNCTION ensure_request_hour(moment timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
end $function$;

-- Drops the hours of the table requests that ended before a moment, and returns their number.
CREATE OR REPLACE FUNCTION drop_request_hours(before timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
end $function$;

-- =====================================================================================================================
-- Sender names and message templates, with their review.
-- =====================================================================================================================

-- The state of a review. Sender names and templates have the same states.
create type review_status as enum ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED', 'DENIED', 'CLOSED');

-- Finds the company of a sender name by its id, and hands out the ids.
create table sender_ids (
  sender_id  bigint generated always as identity not null,
  company_id bigint not null,
  constraint sender_ids_pkey PRIMARY KEY (sender_id)
);

-- A sender name of a company, registered for one channel and one brand. Staff or automatic moderation review it; an
-- engine closes it at valid_to.
create table senders (
  company_id       bigint not null,
  sender_id        bigint not null,
  sender_name      text not null,
  channel_type     text not null,
  common_type      text not null,
  -- The operator for which the name is registered.
  brand            text not null,
  country_code     text not null,
  description      text,
  -- Documents of the company (company_documents) that prove the right to the name.
  document_ids     uuid[] default '{}'::uuid[] not null,
  -- The monthly fee of a paid name; null or 0: a free name.
  fee              numeric(18,4),
  parts_per_second integer,
  status           review_status default 'DRAFT'::review_status not null,
  manager_comment  text,
  -- The partner has stopped all traffic under the name. The status of the review does not change.
  suspended        boolean default false not null,
  suspend_reason   text,
  valid_from       timestamp with time zone not null,
  valid_to         timestamp with time zone,
  rejected_at      timestamp with time zone,
  created_at       timestamp with time zone default now() not null,
  constraint senders_pkey PRIMARY KEY (company_id, sender_id),
  constraint senders_parts_per_second_check CHECK ((parts_per_second > 0)),
  constraint senders_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX senders_by_name ON senders USING btree (sender_name, channel_type, company_id);
-- Similar names stand side by side in the order of this index. The review shows the neighbours of a name.
CREATE INDEX senders_by_plain_name ON senders USING btree (lower(regexp_replace(sender_name, '[^[:alnum:]]'::text, ''::text, 'g'::text)) COLLATE "C");
CREATE INDEX senders_in_review ON senders USING btree (status, valid_from) WHERE (status = ANY (ARRAY['DRAFT'::review_status, 'PRE_REVIEW'::review_status, 'INTERNAL_REVIEW'::review_status, 'EXTERNAL_REVIEW'::review_status, 'AWAITING'::review_status]));
CREATE INDEX senders_to_close ON senders USING btree (valid_to) WHERE ((status = ANY (ARRAY['AWAITING'::review_status, 'APPROVED'::review_status])) AND (valid_to IS NOT NULL));
-- An engine looks every few seconds for paid names whose fee of the month is not charged yet.
CREATE INDEX senders_paid ON senders USING btree (company_id, sender_id) WHERE ((status = 'APPROVED'::review_status) AND (fee > (0)::numeric));

-- A change of the status of a sender name: the person or program that changed it, and when.
create table sender_moves (
  company_id  bigint not null,
  sender_id   bigint not null,
  move_id     bigint generated always as identity not null,
  from_status review_status not null,
  to_status   review_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamp with time zone not null,
  constraint sender_moves_pkey PRIMARY KEY (company_id, sender_id, move_id),
  constraint sender_moves_company_id_sender_id_fkey FOREIGN KEY (company_id, sender_id) REFERENCES senders(company_id, sender_id)
);
-- Finds paid names that ended in a month and still owe the fee of that month.
CREATE INDEX sender_moves_to_end ON sender_moves USING btree (moved_at) WHERE (to_status = ANY (ARRAY['DENIED'::review_status, 'CLOSED'::review_status]));

-- Finds the company of a template by its id, and hands out the ids.
create table template_ids (
  template_id bigint generated always as identity not null,
  company_id  bigint not null,
  constraint template_ids_pkey PRIMARY KEY (template_id)
);

-- A reviewed text of a company. A message that matches an approved template gets its traffic type.
create table templates (
  company_id      bigint not null,
  template_id     bigint not null,
  channel_type    text not null,
  -- The traffic type of a message that matches the template.
  traffic_type    text not null,
  -- The text with %w for a word and %d for a number.
  pattern         text not null,
  -- The only sender name that may use the template; null: all names of the channel.
  sender_id       bigint,
  -- The template of the messenger itself, which is sent instead of a free text.
  content         jsonb,
  status          review_status default 'DRAFT'::review_status not null,
  manager_comment text,
  valid_from      timestamp with time zone not null,
  valid_to        timestamp with time zone,
  rejected_at     timestamp with time zone,
  created_at      timestamp with time zone default now() not null,
  constraint templates_pkey PRIMARY KEY (company_id, template_id),
  constraint templates_traffic_type_check CHECK ((traffic_type = ANY (ARRAY['AUTHORIZE'::text, 'TRANSACT'::text, 'SERVICE'::text, 'PROMO'::text]))),
  constraint templates_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id),
  constraint templates_company_id_sender_id_fkey FOREIGN KEY (company_id, sender_id) REFERENCES senders(company_id, sender_id)
);
CREATE INDEX templates_in_review ON templates USING btree (status, valid_from) WHERE (status = ANY (ARRAY['DRAFT'::review_status, 'PRE_REVIEW'::review_status, 'INTERNAL_REVIEW'::review_status, 'EXTERNAL_REVIEW'::review_status, 'AWAITING'::review_status]));
CREATE INDEX templates_to_close ON templates USING btree (valid_to) WHERE ((status = ANY (ARRAY['AWAITING'::review_status, 'APPROVED'::review_status])) AND (valid_to IS NOT NULL));

-- A change of the status of a template: the person or program that changed it, and when.
create table template_moves (
  company_id  bigint not null,
  template_id bigint not null,
  move_id     bigint generated always as identity not null,
  from_status review_status not null,
  to_status   review_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamp with time zone not null,
  constraint template_moves_pkey PRIMARY KEY (company_id, template_id, move_id),
  constraint template_moves_company_id_template_id_fkey FOREIGN KEY (company_id, template_id) REFERENCES templates(company_id, template_id)
);

-- Counts the changes of the approved templates of a company. A process keeps the templates in memory with their version
-- and reads the version in the transaction that accepts messages. Another number means that it must read the templates
-- again.
create table template_versions (
  company_id bigint not null,
  version    bigint not null,
  constraint template_versions_pkey PRIMARY KEY (company_id),
  constraint template_versions_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- =====================================================================================================================
-- The numbering plan: operator and region of Russian numbers. The program itself carries a compact plan for the codes
-- that have no ranges here.
-- =====================================================================================================================

-- Counts the changes of the plan. A process compares the version with the plan in its memory and loads the plan again
-- when it differs. An import locks the row, so that imports run one after another.
create table numbering_version (
  only_row boolean default true not null,
  version  bigint not null,
  constraint numbering_version_pkey PRIMARY KEY (only_row),
  constraint numbering_version_only_row_check CHECK (only_row)
);

-- An operator of the official register. An import adds operators.
create table operators (
  operator_id integer generated always as identity not null,
  -- The Russian tax number.
  inn         text not null,
  name        text not null,
  constraint operators_pkey PRIMARY KEY (operator_id),
  constraint operators_inn_name_key UNIQUE (inn, name)
);

-- A range of numbers with its operator and region. An import of the register replaces all ranges of the codes in it.
create table numbering_ranges (
  -- The first number of the range, with all 11 digits. A range lies within one code.
  first       bigint not null,
  last        bigint not null,
  operator_id integer not null,
  -- A code of src/domain/numbering/region.ts, two codes joined by "+", or the text of the register where the region is
  -- unknown.
  region      text not null,
  constraint numbering_ranges_pkey PRIMARY KEY (first),
  constraint numbering_ranges_check CHECK ((((first >= '70000000000'::bigint) AND (first <= '79999999999'::bigint)) AND (last >= first) AND ((last / 10000000) = (first / 10000000)))),
  constraint numbering_ranges_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(operator_id)
);

-- A number that moved to another operator. It takes precedence over the range of the number.
create table ported_numbers (
  number   bigint not null,
  -- The new operator: 1 MTS, 2 BEELINE, 3 MEGAFON, 4 TELE2.
  brand_id smallint not null,
  constraint ported_numbers_pkey PRIMARY KEY (number),
  constraint ported_numbers_brand_id_check CHECK (((brand_id >= 1) AND (brand_id <= 4))),
  constraint ported_numbers_number_check CHECK (((number >= '70000000000'::bigint) AND (number <= '79999999999'::bigint)))
);

-- An operator without a network of its own.
create table virtual_operators (
  inn      text not null,
  name     text not null,
  -- The operator whose network it uses; 0: none of the four.
  brand_id smallint not null,
  constraint virtual_operators_pkey PRIMARY KEY (inn),
  constraint virtual_operators_brand_id_check CHECK (((brand_id >= 0) AND (brand_id <= 4)))
);

-- The file of the last import, one row for the register and one for the ported numbers.
create table numbering_sources (
  kind        text not null,
  name        text not null,
  entries     bigint not null,
  imported_at timestamp with time zone not null,
  constraint numbering_sources_pkey PRIMARY KEY (kind),
  constraint numbering_sources_kind_check CHECK ((kind = ANY (ARRAY['register'::text, 'ported'::text])))
);

-- A file that staff uploaded in the cabinet. It waits until a person has seen the difference and applies it.
-- Housekeeping deletes it after an hour.
create table numbering_uploads (
  upload_id  bigint generated always as identity not null,
  kind       text not null,
  name       text not null,
  -- Whether numbers that are not in the file are removed from the plan.
  replaces   boolean not null,
  size_bytes bigint not null,
  -- The version of the plan with which the file was compared; null: not compared yet.
  version    bigint,
  difference jsonb,
  created_at timestamp with time zone not null,
  constraint numbering_uploads_pkey PRIMARY KEY (upload_id),
  constraint numbering_uploads_kind_check CHECK ((kind = ANY (ARRAY['register'::text, 'ported'::text]))),
  constraint numbering_uploads_size_bytes_check CHECK ((size_bytes > 0))
);

-- A piece of an uploaded file.
create table numbering_upload_pieces (
  upload_id bigint not null,
  piece     integer not null,
  content   bytea not null,
  constraint numbering_upload_pieces_pkey PRIMARY KEY (upload_id, piece),
  constraint numbering_upload_pieces_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES numbering_uploads(upload_id) ON DELETE CASCADE
);

-- =====================================================================================================================
-- Prices, in roubles without VAT for a new installation. The inserted prices are a start: staff change them at any time.
-- =====================================================================================================================

-- The price of SMS to Russian numbers for a sender type. The most specific tariff wins: a null in partner_id, brand or
-- traffic_type means "any". Messages keep the tariff under which they were accepted, so a tariff never changes: a new
-- tariff replaces it.
create table tariffs (
  tariff_id     bigint generated always as identity not null,
  partner_id    bigint,
  sender_type   text not null,
  brand         text,
  traffic_type  text,
  pricing_model text not null,
  currency      text not null,
  -- The start of the tariff; null: it was always valid. The moment may lie in the future.
  valid_from    timestamp with time zone,
  -- The end of the tariff; null: no end is known. A tariff that was withdrawn before its start ends at its start.
  superseded_at timestamp with time zone,
  constraint tariffs_pkey PRIMARY KEY (tariff_id),
  constraint tariffs_check CHECK ((superseded_at >= valid_from)),
  constraint tariffs_pricing_model_check CHECK ((pricing_model = ANY (ARRAY['FIXED'::text, 'SCALED'::text, 'MAU'::text]))),
  constraint tariffs_sender_type_check CHECK ((sender_type = ANY (ARRAY['COMMON'::text, 'START'::text, 'PRO'::text]))),
  constraint tariffs_traffic_type_check CHECK ((traffic_type = ANY (ARRAY['PROMO'::text, 'SERVICE'::text, 'TRANSACT'::text, 'AUTHORIZE'::text]))),
  constraint tariffs_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id)
);
CREATE UNIQUE INDEX tariffs_current ON tariffs USING btree (partner_id, sender_type, brand, traffic_type) NULLS NOT DISTINCT WHERE (superseded_at IS NULL);

-- A price of a tariff, valid from a count of the month on. The count is the number of messages (SCALED) or of unique
-- recipients (MAU).
create table tariff_steps (
  tariff_id       bigint not null,
  from_count      bigint not null,
  price           numeric(18,4) not null,
  -- The price of the package that is charged when the step is reached. Only MAU tariffs have it.
  price_mau_batch numeric(18,4),
  constraint tariff_steps_pkey PRIMARY KEY (tariff_id, from_count),
  constraint tariff_steps_from_count_check CHECK ((from_count >= 0)),
  constraint tariff_steps_price_check CHECK ((price >= (0)::numeric)),
  constraint tariff_steps_price_mau_batch_check CHECK ((price_mau_batch >= (0)::numeric)),
  constraint tariff_steps_tariff_id_fkey FOREIGN KEY (tariff_id) REFERENCES tariffs(tariff_id) ON DELETE CASCADE
);

-- The monthly fee of a paid sender name at one operator.
create table sender_fees (
  brand    text not null,
  value    numeric(18,4) not null,
  currency text not null,
  constraint sender_fees_pkey PRIMARY KEY (brand),
  constraint sender_fees_value_check CHECK ((value >= (0)::numeric))
);

-- The price of a message of a channel other than SMS. The row with the newest valid_from in the past holds.
create table channel_prices (
  channel_type text not null,
  price        numeric(18,4) not null,
  currency     text not null,
  valid_from   timestamp with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint channel_prices_pkey PRIMARY KEY (channel_type, valid_from),
  constraint channel_prices_price_check CHECK ((price >= (0)::numeric))
);

-- The price of an SMS part to another country. The row with the newest valid_from in the past holds.
create table country_prices (
  -- Two letters of ISO 3166; "*": all countries without a price of their own.
  country_code text not null,
  -- Null: from then on the country has no price of its own, and the price of "*" holds.
  price        numeric(18,4),
  currency     text not null,
  valid_from   timestamp with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint country_prices_pkey PRIMARY KEY (country_code, valid_from),
  constraint country_prices_price_check CHECK ((price >= (0)::numeric)),
  constraint elsewhere_has_a_price CHECK (((country_code <> '*'::text) OR (price IS NOT NULL)))
);

-- =====================================================================================================================
-- Dispatches and messages.
-- =====================================================================================================================

-- Finds the company of a dispatch by its id, and hands out the ids.
create table dispatch_ids (
  dispatch_id bigint generated always as identity not null,
  company_id  bigint not null,
  constraint dispatch_ids_pkey PRIMARY KEY (dispatch_id)
);

create type dispatch_status as enum ('CREATED', 'STARTED', 'STOPPED', 'COMPLETED');

-- A bulk send: one text for many recipients. The API creates it; start and stop change its status; an engine completes
-- it when all its messages are final. A dispatch is never deleted.
create table dispatches (
  company_id       bigint not null,
  dispatch_id      bigint not null,
  name             text not null,
  -- The API that created the dispatch. It decides the format of its callbacks.
  api              text default 'partner'::text not null,
  channel_type     text not null,
  traffic_type     text not null,
  text             text not null,
  -- The sender names of a dispatch of the partner API, one for each operator. There is no foreign key.
  sender_ids       bigint[] not null,
  -- The sender name of a dispatch of the messaging API; null in the partner API.
  sender_name      text,
  center_id        bigint,
  -- The approved template that the text matched when the dispatch was created. It decides the traffic type.
  template_id      bigint,
  -- All steps of a dispatch by cascade. The channel, sender name and text of the row belong to the first step.
  cascade          jsonb,
  -- The dispatch whose failed messages this dispatch sends again. A dispatch is sent again once.
  again_of         bigint,
  parts_per_second double precision,
  -- The start of the schedule of the partner API. Its hours and days are read at the fixed offset in offset_minutes.
  start_at         timestamp with time zone,
  offset_minutes   smallint,
  -- The hours in which messages may be sent, 0 to 23. days are weekdays, 1 (Monday) to 7. Null: always.
  hours            smallint[],
  days             smallint[],
  -- The options of the messaging API, in the form in which the client sent them.
  options          jsonb,
  callback_url     text,
  callback_events  text[],
  status           dispatch_status default 'CREATED'::dispatch_status not null,
  -- The number of messages, rejected recipients included.
  message_count    bigint default 0 not null,
  -- The smallest key of the messages. Statements about the messages carry first_uuid and last_uuid, so that PostgreSQL
  -- reads only the months between them.
  first_uuid       uuid,
  last_uuid        uuid,
  -- The tariffs under which the messages were accepted.
  tariff_ids       bigint[] default '{}'::bigint[] not null,
  -- The highest price of all accepted messages together.
  price_estimate   numeric(18,4) default 0 not null,
  -- The sum of the prices of the messages that are still CREATED. Start reserves it and stop releases it.
  created_price    numeric(18,4) default 0 not null,
  created_at       timestamp with time zone default now() not null,
  started_at       timestamp with time zone,
  completed_at     timestamp with time zone,
  -- When the dispatch was stopped for good; null: it can be started again.
  ended_at         timestamp with time zone,
  constraint dispatches_pkey PRIMARY KEY (company_id, dispatch_id),
  constraint dispatches_api_check CHECK ((api = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint dispatches_parts_per_second_check CHECK ((parts_per_second > (0)::double precision)),
  constraint dispatches_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX dispatches_by_status ON dispatches USING btree (company_id, status, dispatch_id);
CREATE UNIQUE INDEX dispatches_again_once ON dispatches USING btree (company_id, again_of) WHERE (again_of IS NOT NULL);

-- Counts the messages and parts of 5,000 consecutive positions of a dispatch by status. The transaction that changes a
-- message changes the counters. Their sum is the progress of the dispatch. A page of messages with one status finds its
-- block by these counters, so it takes the same time at any depth.
create table dispatch_blocks (
  company_id         bigint not null,
  dispatch_id        bigint not null,
  block              integer not null,
  created_messages   integer default 0 not null,
  sent_messages      integer default 0 not null,
  delivered_messages integer default 0 not null,
  failed_messages    integer default 0 not null,
  created_parts      integer default 0 not null,
  sent_parts         integer default 0 not null,
  delivered_parts    integer default 0 not null,
  failed_parts       integer default 0 not null,
  -- Failed messages that no operator ever had. They are part of failed_messages.
  unsent_messages    integer default 0 not null,
  unsent_parts       integer default 0 not null,
  constraint dispatch_blocks_pkey PRIMARY KEY (company_id, dispatch_id, block),
  constraint dispatch_blocks_company_id_dispatch_id_fkey FOREIGN KEY (company_id, dispatch_id) REFERENCES dispatches(company_id, dispatch_id)
);

create type message_status as enum ('CREATED', 'SENT', 'DELIVERED', 'FAILED');

-- A message to one recipient. The API writes it, the engine records its status. A recipient that was rejected has a row
-- too: FAILED, without a lane. The table is partitioned by month on the key. An old month whose messages are all final
-- can be detached; its sums stay in closed_months.
create table messages (
  company_id        bigint not null,
  -- A UUID of version 7. Its time is the time at which the message was created.
  message_uuid      uuid not null,
  -- Null: a single message.
  dispatch_id       bigint,
  -- The place in the dispatch, from 0 and without gaps, in the order of the request.
  dispatch_position bigint,
  -- Null: the recipient was rejected, or the message waits for send_at. There is no foreign key.
  lane_id           bigint,
  -- The place in the lane.
  seq               bigint,
  sender_id         bigint,
  tariff_id         bigint,
  -- The amount that is reserved until the message is final.
  price             numeric(18,4) not null,
  sent_at           timestamp with time zone,
  final_at          timestamp with time zone,
  status            message_status not null,
  -- The reason of a failure, a code of src/base/error-codes.ts.
  error_code        integer,
  parts             smallint not null,
  -- The operator of the number: 1 MTS, 2 BEELINE, 3 MEGAFON, 4 TELE2, 0 another.
  brand_id          smallint not null,
  destination       text not null,
  -- The final text. A verification code in it is masked with asterisks.
  text              text,
  -- The price of a delivered message, 0 for a failed message, null before the message is final.
  final_price       numeric(18,4),
  channel_type      text,
  sender_name       text,
  -- The id that the client gave to the message.
  external_id       text,
  center_id         bigint,
  -- The source of a single message: API, UI, VERIFIER_API or VERIFIER_WIDGET.
  sending_method    text,
  traffic_type      text,
  template_id       bigint,
  content           jsonb,
  -- The options in the form in which the client sent them: tags, ttl, hours, days, useLocalTime, localSendTime,
  -- localCompletionTime, shortUrl.
  options           jsonb,
  callback_url      text,
  callback_events   text[],
  -- The earliest moment of sending; null: at once.
  send_at           timestamp with time zone,
  -- The end of a message with a ttl. Null: the common lifetime, counted from sending.
  expires_at        timestamp with time zone,
  -- The key of the first message of the cascade.
  cascade_uuid      uuid,
  -- The step of the cascade, from 1.
  cascade_step      smallint,
  read_at           timestamp with time zone,
  -- The error code of the operator itself, beside error_code.
  operator_error    text,
  -- How long a message without a ttl may wait to be sent.
  waits_until       timestamp with time zone,
  -- The text with the verification code, encrypted. Recording that the message was sent removes it.
  sealed            bytea,
  -- The API key of a single message. Messages of dispatches, of the cabinet and of widgets have none.
  key_id            bigint,
  constraint messages_pkey PRIMARY KEY (company_id, message_uuid)
) partition by RANGE (message_uuid);
CREATE INDEX messages_by_position ON messages USING btree (company_id, dispatch_id, dispatch_position) WHERE (dispatch_id IS NOT NULL);
CREATE INDEX messages_by_lane ON messages USING btree (company_id, lane_id, seq) WHERE (lane_id IS NOT NULL);
CREATE INDEX messages_by_destination ON messages USING btree (destination, company_id, message_uuid);
CREATE INDEX messages_by_external_id ON messages USING btree (company_id, external_id, message_uuid) WHERE (external_id IS NOT NULL);
CREATE INDEX messages_of_cascade ON messages USING btree (company_id, cascade_uuid, message_uuid) WHERE (cascade_uuid IS NOT NULL);

-- The smallest UUID of version 7 of a moment.
CREATE OR REPLACE FUNCTION uuid7_floor(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$function$;

-- The moment at which a UUID of version 7 was made.
CREATE OR REPLACE FUNCTION uuid7_time(uuid uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select to_timestamp(('x' || left(replace(uuid::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$function$;

-- Creates the partition of a month (UTC) if it is missing. It creates a separate table and attaches it: "create table
-- partition of" would lock all messages, and sending would wait behind a long reader such as a backup. It waits only a
-- second for its lock; the next housekeeping tries again.
CREATE OR REPLACE FUNCTION ensure_message_month(month date)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '1s'
AS $function$
declare
  first_day timestamp := date_trunc('month', month::timestamp);
  partition text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition) is not null then
    return;
  end if;
  -- A second process waits here and then checks again. After an advisory lock it would still see the old catalogue.
  lock table only messages in share update exclusive mode;
  if to_regclass(partition) is null then
    execute format('create table %I (like messages including defaults including constraints including storage)
      with (fillfactor = 50)', partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$function$;

-- Creates the partitions of this month and of three months ahead. There is no default partition: a message without a
-- month is a bug and must fail.
CREATE OR REPLACE FUNCTION ensure_message_months()
 RETURNS void
 LANGUAGE sql
AS $function$
  select ensure_message_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date)
  from generate_series(0, 3) ahead
$function$;

-- Locks the messages until the end of the transaction, so that a month can be detached. All other statements queue
-- behind a waiting lock, so it waits a second at a time and pauses in between. It returns false when a long statement
-- uses the messages.
CREATE OR REPLACE FUNCTION lock_messages(partition text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '1s'
AS $function$
begin
  for attempt in 1..5 loop
    begin
      execute format('lock table only messages, %I in access exclusive mode', partition);
      return true;
    exception when lock_not_available then
      perform pg_sleep(0.5);
    end;
  end loop;
  return false;
end
$function$;

-- A message with several channels, one step after another. It is written with its first message; the engine takes the
-- next step. Housekeeping deletes it after 100 days at the earliest, when its messages are gone.
create table cascades (
  company_id        bigint not null,
  -- The key of the first message.
  cascade_uuid      uuid not null,
  steps             jsonb not null,
  -- The step that is not written yet, from 1. A conditional update raises it, so each step is written once.
  next_step         smallint not null,
  -- When the cascade was stopped; null: it goes on while steps are left.
  ended_at          timestamp with time zone,
  -- The dispatch of the first message. The later steps are shown as its messages and stop with it.
  dispatch_id       bigint,
  -- The verification whose code the steps carry. The cascade ends when the number is confirmed.
  verification_uuid uuid,
  constraint cascades_pkey PRIMARY KEY (company_id, cascade_uuid)
);
-- Contains only cascades that reached a second step, which are few. Creating a dispatch writes nothing to it.
CREATE INDEX cascades_gone_on ON cascades USING btree (company_id, dispatch_id) WHERE ((dispatch_id IS NOT NULL) AND (next_step > 2));

-- The result of a flash call, as the client reports it: whether the subscriber typed the right code.
create table flashcall_results (
  company_id   bigint not null,
  -- The key of the message.
  message_uuid uuid not null,
  result       text not null,
  code         text,
  reported_at  timestamp with time zone not null,
  constraint flashcall_results_pkey PRIMARY KEY (company_id, message_uuid),
  constraint flashcall_results_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- =====================================================================================================================
-- The engine: lanes, leases, deadlines, timers, rate limits, and the processes themselves.
-- =====================================================================================================================

-- A queue of messages that may be sent to the same place at the same time. The transaction that writes messages gives
-- them their places and creates missing lanes. Housekeeping deletes the lanes of unregistered names that were not used
-- for two days; other lanes stay.
create table lanes (
  company_id   bigint not null,
  lane_id      bigint generated always as identity not null,
  -- Null: a lane of single messages, which is always open.
  dispatch_id  bigint,
  channel_type text not null,
  -- The registered sender name; null: a name without registration. There is no foreign key.
  sender_id    bigint,
  brand_id     smallint not null,
  -- The rank of the traffic type, from 0: AUTHORIZE, TRANSACT, SERVICE, PROMO.
  priority     smallint not null,
  -- The time zone of the recipients of a dispatch on local time; null: any zone.
  zone         text,
  -- The next free place.
  tail         bigint default 0 not null,
  -- The next place that no chunk contains yet.
  cursor       bigint default 0 not null,
  -- Whether the engine may send. Start opens the lanes of a dispatch, stop closes them.
  open         boolean default false not null,
  -- When an engine last took a chunk. Of the lanes of a company, the lane with the oldest value is next.
  served_at    timestamp with time zone default '-infinity'::timestamp with time zone not null,
  -- The lane is skipped until this moment, because its hours are closed or its rate limit is used up.
  not_before   timestamp with time zone default '-infinity'::timestamp with time zone not null,
  -- The name of a lane without a registered sender. Null: the sender is registered, or the lane is shared by all names
  -- without registration that no gateway carries.
  sender_name  text,
  -- When the lane may start, by the clock of its zone; null: the start_at of the dispatch holds.
  start_at     timestamp with time zone,
  -- When the messages that are left fail with end_code; null: the lane has no end, or its end is done.
  end_at       timestamp with time zone,
  end_code     smallint,
  -- Until when an engine has claimed the work at the end of the lane.
  ending_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint lanes_pkey PRIMARY KEY (company_id, lane_id),
  constraint lanes_once UNIQUE NULLS NOT DISTINCT (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
);
-- The engine jumps from one company and channel to the next, so the number of lanes of a company does not matter.
CREATE INDEX lanes_ready ON lanes USING btree (priority, company_id, channel_type, not_before) WHERE (open AND (cursor < tail));
-- The lanes of one company and channel, in the order in which they are served.
CREATE INDEX lanes_in_turn ON lanes USING btree (company_id, channel_type, priority, served_at, lane_id) WHERE (open AND (cursor < tail));
CREATE INDEX lanes_ending ON lanes USING btree (end_at) WHERE (end_at IS NOT NULL);

-- The right of one worker to send a chunk of a lane. The worker renews it and deletes it when the chunk is recorded.
-- After claimed_until, another worker may take it. A message that must be sent again waits in a small lease without a
-- worker, so that it does not hold up its chunk.
create table leases (
  company_id    bigint not null,
  lease_id      bigint generated always as identity not null,
  lane_id       bigint not null,
  -- The first place of the chunk. next_seq is the first place after it.
  first_seq     bigint not null,
  next_seq      bigint not null,
  -- The engine that sends; null: the lease waits to be taken, not before due_at.
  worker        uuid,
  -- Changes whenever the lease is taken. A worker with an old token can no longer change the lease.
  token         uuid,
  -- The end of the lease. The worker stops sending two seconds earlier.
  claimed_until timestamp with time zone not null,
  -- How often the messages were tried before.
  attempts      integer default 0 not null,
  due_at        timestamp with time zone default '-infinity'::timestamp with time zone not null,
  -- The gateway that may have accepted some of the messages. It is tried first.
  gateway_id    bigint,
  constraint leases_pkey PRIMARY KEY (company_id, lease_id),
  constraint leases_company_id_lane_id_fkey FOREIGN KEY (company_id, lane_id) REFERENCES lanes(company_id, lane_id)
);
CREATE INDEX leases_of_lane ON leases USING btree (company_id, lane_id);
CREATE INDEX leases_by_end ON leases USING btree (claimed_until);
-- The leases that wait, in the order in which they are due.
CREATE INDEX leases_in_turn ON leases USING btree (company_id, due_at, lease_id);

-- The end of the lifetime of a range of a lane. The engine writes it when it records that the range was sent. At due_at
-- it fails the messages that are still SENT and deletes the row.
create table deadlines (
  company_id    bigint not null,
  deadline_id   bigint generated always as identity not null,
  lane_id       bigint not null,
  first_seq     bigint not null,
  next_seq      bigint not null,
  due_at        timestamp with time zone not null,
  -- Until when an engine has claimed the row.
  claimed_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint deadlines_pkey PRIMARY KEY (company_id, deadline_id)
);
CREATE INDEX deadlines_by_due ON deadlines USING btree (due_at);
CREATE INDEX deadlines_of_lane ON deadlines USING btree (company_id, lane_id);

-- An action on one message at its own moment. An engine claims due timers, acts and deletes them.
create table message_timers (
  company_id    bigint not null,
  message_uuid  uuid not null,
  -- send: put the message into its lane. complete: fail it if it was not sent. expire: fail it if it was not delivered.
  -- unread: report that it was not read. step: go on to the next step of its cascade.
  kind          text not null,
  due_at        timestamp with time zone not null,
  -- Until when an engine has claimed the timer. After a crash another engine claims it again.
  claimed_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint message_timers_pkey PRIMARY KEY (company_id, message_uuid, kind),
  constraint message_timers_kind_check CHECK ((kind = ANY (ARRAY['send'::text, 'complete'::text, 'expire'::text, 'unread'::text, 'step'::text])))
);
CREATE INDEX message_timers_by_due ON message_timers USING btree (due_at);

-- A client wants to stop a message that a worker may already have in a chunk. The worker checks this table before it
-- sends. An engine deletes the row when the message is no longer CREATED.
create table stop_requests (
  company_id   bigint not null,
  message_uuid uuid not null,
  requested_at timestamp with time zone default now() not null,
  constraint stop_requests_pkey PRIMARY KEY (company_id, message_uuid)
);

-- The parts that may be sent now under a rate limit. All engines draw from the same row, so a limit holds for all of
-- them together. Housekeeping deletes buckets that were not used for a day.
create table rate_buckets (
  -- The limited object, for example "gateway:1": a gateway, sender, company or dispatch.
  subject   text not null,
  -- Negative: parts were sent in advance.
  tokens    double precision not null,
  filled_at timestamp with time zone not null,
  constraint rate_buckets_pkey PRIMARY KEY (subject)
);

-- A running engine. It updates its row every few seconds and deletes it when it stops. Housekeeping deletes engines
-- that were not seen for a day.
create table engines (
  worker         uuid not null,
  host           text default ''::text not null,
  pid            integer default 0 not null,
  version        text default ''::text not null,
  -- How far the clock of the machine is ahead of the clock of the database; 0: it is right.
  clock_off_ms   bigint default 0 not null,
  memory_bytes   bigint,
  -- How late the event loop runs.
  loop_delay_ms  integer,
  -- Messages that were sent and are not recorded yet.
  unrecorded     integer,
  started_at     timestamp with time zone default now() not null,
  seen_at        timestamp with time zone default now() not null,
  -- The newest schema version that the program of the process knows. Null: a program before version 15.
  schema_version integer,
  constraint engines_pkey PRIMARY KEY (worker)
);

-- A running process that answers HTTP requests. It keeps its row as an engine does.
create table api_processes (
  process        uuid not null,
  host           text not null,
  pid            integer not null,
  version        text not null,
  clock_off_ms   bigint default 0 not null,
  memory_bytes   bigint,
  loop_delay_ms  integer,
  started_at     timestamp with time zone default clock_timestamp() not null,
  seen_at        timestamp with time zone default clock_timestamp() not null,
  -- The newest schema version that the program of the process knows. Null: a program before version 15.
  schema_version integer,
  constraint api_processes_pkey PRIMARY KEY (process)
);

-- =====================================================================================================================
-- Gateways to operators and messengers, submissions, and receipts.
-- =====================================================================================================================

-- A connection to an operator or a messenger, with its settings. Staff create, change and delete gateways.
create table gateways (
  gateway_id       bigint generated always as identity not null,
  name             text not null,
  channel_type     text not null,
  connector        text not null,
  -- The operators whose numbers the gateway serves; empty: all.
  brands           smallint[] default '{}'::smallint[] not null,
  -- The companies that may send under the names of the gateway without registering them.
  companies        bigint[] default '{}'::bigint[] not null,
  settings         jsonb default '{}'::jsonb not null,
  -- The secret settings: JSON, encrypted with a key made of TIDINGS_SECRET (src/base/secret-box.ts).
  secrets          bytea,
  parts_per_second integer,
  paused           boolean default false not null,
  paused_at        timestamp with time zone,
  -- The end of a drain: a pause in which the operator still reports on the messages it has. The drain ends earlier when
  -- no report is outstanding.
  drain_until      timestamp with time zone,
  -- Counts the changes, so that a command can tell when every engine uses the last change.
  version          integer default 1 not null,
  created_at       timestamp with time zone default now() not null,
  updated_at       timestamp with time zone default now() not null,
  constraint gateways_pkey PRIMARY KEY (gateway_id),
  constraint gateways_name_key UNIQUE (name),
  constraint gateways_parts_per_second_check CHECK ((parts_per_second > 0))
);

-- The state of a gateway in one engine, which writes it every two seconds. Readers ignore rows older than ten seconds;
-- an engine deletes rows older than a minute.
create table gateway_states (
  gateway_id        bigint not null,
  worker            uuid not null,
  up                boolean not null,
  -- Messages that were submitted and have no answer yet. window_size is the most that is allowed.
  open_messages     integer not null,
  window_size       integer not null,
  -- Connections that are up. wanted is the number that should be up.
  bound             integer not null,
  wanted            integer not null,
  parts_last_minute integer not null,
  last_error        text,
  last_error_at     timestamp with time zone,
  seen_at           timestamp with time zone not null,
  -- The version of the gateway that the engine uses.
  version           integer default 0 not null,
  -- The time within which 95 of 100 answers came.
  answer_ms         integer,
  constraint gateway_states_pkey PRIMARY KEY (gateway_id, worker)
);

-- Counts the traffic of a gateway in one engine by minute. The engine writes changed rows every two seconds, so a crash
-- loses two seconds at most. Housekeeping deletes rows after 26 hours, which is longer than the lifetime of a message.
create table gateway_minutes (
  gateway_id bigint not null,
  minute     timestamp with time zone not null,
  worker     uuid not null,
  parts      integer not null,
  -- Messages that the operator accepted.
  taken      integer not null,
  -- Messages that became final. failed is the part of them that failed; errors counts the failures by code.
  ended      integer not null,
  failed     integer not null,
  errors     jsonb not null,
  constraint gateway_minutes_pkey PRIMARY KEY (gateway_id, minute, worker)
) with (fillfactor=70);
CREATE INDEX gateway_minutes_by_age ON gateway_minutes USING btree (minute);

-- A lease of a connection. The contract with an operator allows a number of connections, which the engines share. The
-- engine with the row keeps the connection and closes it before the lease ends.
create table gateway_binds (
  gateway_id    bigint not null,
  bind          smallint not null,
  worker        uuid not null,
  claimed_until timestamp with time zone not null,
  constraint gateway_binds_pkey PRIMARY KEY (gateway_id, bind),
  constraint gateway_binds_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

-- An engine that wants connections of a gateway. All such engines get an equal share.
create table gateway_bind_seekers (
  gateway_id bigint not null,
  worker     uuid not null,
  expires_at timestamp with time zone not null,
  constraint gateway_bind_seekers_pkey PRIMARY KEY (gateway_id, worker),
  constraint gateway_bind_seekers_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

-- How an operator writes message ids in its receipts, where an engine found it out. An engine that starts needs it to
-- read the receipts of messages that were sent before.
create table gateway_receipt_ids (
  gateway_id bigint not null,
  -- How the id of a receipt follows from the id of the submission: same, hex-decimal or decimal-hex
  -- (src/channels/smpp).
  relation   text not null,
  -- Whether receipts name the number of their message. A receipt with another number then belongs to another message.
  by_address boolean default false not null,
  learnt_at  timestamp with time zone default now() not null,
  constraint gateway_receipt_ids_pkey PRIMARY KEY (gateway_id),
  constraint gateway_receipt_ids_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

-- How far an engine has the answers to its submissions. A missing id proves something only when all answers are in. The
-- row is deleted two days after the engine was last seen.
create table gateway_answers (
  gateway_id     bigint not null,
  worker         uuid not null,
  -- Every earlier submission has its answer or will never get one.
  answered_until timestamp with time zone not null,
  -- Submissions that will never get an answer.
  unanswered     integer not null,
  -- Submissions that would stay without an answer if the engine were killed now.
  open           integer not null,
  seen_at        timestamp with time zone not null,
  constraint gateway_answers_pkey PRIMARY KEY (gateway_id, worker),
  constraint gateway_answers_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

-- Finds the message of a part by the id that the operator gave to the part. Operators use ids again: the newest
-- submission that is not final counts. The partitions are days; housekeeping drops them after three days, which is
-- longer than any lifetime.
create table submissions (
  gateway_id   bigint not null,
  -- The id of the part at the operator.
  provider_id  text not null,
  -- The day of sending (UTC).
  day          date not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  part         smallint not null,
  -- The number of parts of the message.
  parts        smallint not null,
  status       text default 'SENT'::text not null,
  constraint submissions_pkey PRIMARY KEY (gateway_id, provider_id, day, message_uuid, part)
) partition by RANGE (day);
-- Only messages of several parts are found by their own key: to combine the results of their parts, and to send only
-- the missing parts.
CREATE INDEX submissions_of_message ON submissions USING btree (company_id, message_uuid) WHERE (parts > 1);

-- Creates the partitions of today (UTC) and of three days ahead.
CREATE OR REPLACE FUNCTION ensure_submission_days()
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '1s'
AS $function$
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
$function$;

-- Drops the days whose messages have all reached the end of their lifetime. Other statements queue behind the lock, so
-- it waits only for a moment; the next housekeeping tries again.
CREATE OR REPLACE FUNCTION drop_old_submission_days()
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '200ms'
AS $function$
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
$function$;

-- A receipt that waits: its submission is not recorded yet, or it came by webhook to a process that does not send. An
-- engine claims it, applies it and deletes it. Housekeeping deletes receipts after two days.
create table receipt_inbox (
  receipt_id     bigint generated always as identity not null,
  gateway_id     bigint not null,
  provider_id    text not null,
  -- The key of the message, where the operator repeats it. A message whose submission was never answered is found by it
  -- alone.
  own_id         text,
  -- The number that the receipt names.
  subscriber     text,
  status         text not null,
  error_code     integer,
  -- The error code of the operator itself.
  operator_error text,
  -- The id can be read in two ways, and it is not known yet how the operator writes its ids.
  is_unread      boolean default false not null,
  happened_at    timestamp with time zone not null,
  received_at    timestamp with time zone default now() not null,
  claimed_until  timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint receipt_inbox_pkey PRIMARY KEY (receipt_id)
);
CREATE INDEX receipt_inbox_by_id ON receipt_inbox USING btree (gateway_id, provider_id);
CREATE INDEX receipt_inbox_by_claim ON receipt_inbox USING btree (claimed_until);
CREATE INDEX receipt_inbox_by_age ON receipt_inbox USING btree (received_at);
CREATE INDEX receipt_inbox_unread ON receipt_inbox USING btree (gateway_id, receipt_id) WHERE is_unread;

-- A receipt that came after its message was final: after its lifetime, or against an earlier receipt. The message and
-- its price do not change; the page of the message shows the receipt. Housekeeping deletes it after 30 days.
create table late_receipts (
  company_id     bigint not null,
  message_uuid   uuid not null,
  status         message_status not null,
  received_at    timestamp with time zone not null,
  -- Null where the receipt names no gateway.
  gateway_id     bigint,
  error_code     integer,
  operator_error text,
  constraint late_receipts_pkey PRIMARY KEY (company_id, message_uuid, status)
);
CREATE INDEX late_receipts_by_age ON late_receipts USING btree (received_at);
CREATE INDEX late_receipts_of_gateway ON late_receipts USING btree (gateway_id, received_at);

-- Messages that a simulated operator accepted from programs before simulator_batches. They are deleted after a day.
create table simulator_messages (
  simulator_id bigint generated always as identity not null,
  gateway_id   bigint not null,
  worker       uuid not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  sender_name  text not null,
  destination  text not null,
  channel_type text not null,
  text         text not null,
  accepted_at  timestamp with time zone default clock_timestamp() not null,
  constraint simulator_messages_pkey PRIMARY KEY (simulator_id)
);

-- A text that a simulated subscriber writes to a sender name. An engine takes it and deletes the row.
create table simulator_inbound (
  inbound_id   bigint generated always as identity not null,
  channel_type text not null,
  sender_name  text not null,
  -- The number of the subscriber.
  destination  text not null,
  text         text not null,
  written_at   timestamp with time zone default clock_timestamp() not null,
  constraint simulator_inbound_pkey PRIMARY KEY (inbound_id)
);
CREATE INDEX simulator_inbound_by_channel ON simulator_inbound USING btree (channel_type, inbound_id);

-- =====================================================================================================================
-- Money: accounts, the ledger, the use of tariffs, and the sums of months whose messages were detached. Months and days
-- of the ledger are calendar months and days of the billing zone.
-- =====================================================================================================================

-- The money of a company. A transaction that changes money, or the status of a message that holds money, locks this row
-- first.
create table accounts (
  company_id bigint not null,
  balance    numeric(18,4) default 0 not null,
  -- The sum of all holds of messages and packages.
  reserved   numeric(18,4) default 0 not null,
  constraint accounts_pkey PRIMARY KEY (company_id),
  constraint accounts_reserved_check CHECK ((reserved >= (0)::numeric)),
  constraint accounts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- Sums of a company by month. The month is part of the key, so a new month starts at 0 without a job.
create table account_months (
  company_id bigint not null,
  month      date not null,
  spent      numeric(18,4) default 0 not null,
  topped_up  numeric(18,4) default 0 not null,
  corrected  numeric(18,4) default 0 not null,
  constraint account_months_pkey PRIMARY KEY (company_id, month),
  constraint account_months_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);

-- An amount that moves from one account of the books (debit) to another (credit). An entry is written in the
-- transaction of its cause and never changes.
create table ledger_entries (
  company_id  bigint not null,
  entry_id    bigint generated always as identity not null,
  kind        text not null,
  debit       text not null,
  credit      text not null,
  -- Positive, except for a correction, which may have either sign.
  amount      numeric(18,4) not null,
  currency    text not null,
  month       date not null,
  dispatch_id bigint,
  sender_id   bigint,
  tariff_id   bigint,
  note        text,
  created_at  timestamp with time zone default now() not null,
  -- The number of delivered messages that the entry charges.
  messages    bigint,
  constraint ledger_entries_pkey PRIMARY KEY (company_id, entry_id),
  constraint corrections_have_a_reason CHECK (((kind <> 'CORRECTION'::text) OR (note IS NOT NULL))),
  constraint ledger_entries_amount_check CHECK (((amount > (0)::numeric) OR ((kind = 'CORRECTION'::text) AND (amount < (0)::numeric)))),
  constraint ledger_entries_kind_check CHECK ((kind = ANY (ARRAY['TOPUP'::text, 'CORRECTION'::text, 'MESSAGES'::text, 'MAU_PACKAGE'::text, 'SENDER_FEE'::text]))),
  constraint ledger_entries_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);
CREATE INDEX ledger_entries_by_month ON ledger_entries USING btree (company_id, month);
-- Finds the entries of a line by the cause of the line, between its first and its last entry.
CREATE INDEX ledger_entries_by_cause ON ledger_entries USING btree (company_id, dispatch_id, kind, entry_id);
CREATE UNIQUE INDEX sender_fee_once_a_month ON ledger_entries USING btree (company_id, sender_id, month) WHERE (kind = 'SENDER_FEE'::text);

-- The ledger as people read it: all entries of a day with the same cause are one line. The transaction that writes
-- entries changes the line. A top-up and a correction are lines of their own.
create table ledger_lines (
  company_id     bigint not null,
  day            date not null,
  line_id        bigint generated always as identity not null,
  month          date not null,
  kind           text not null,
  dispatch_id    bigint,
  sender_id      bigint,
  tariff_id      bigint,
  amount         numeric(18,4) not null,
  messages       bigint default 0 not null,
  entries        bigint not null,
  first_entry_id bigint not null,
  last_entry_id  bigint not null,
  first_at       timestamp with time zone not null,
  last_at        timestamp with time zone not null,
  -- The balance after the last entry of the line.
  balance        numeric(18,4) not null,
  note           text,
  constraint ledger_lines_pkey PRIMARY KEY (company_id, day, line_id),
  constraint ledger_lines_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
) with (fillfactor=70);
CREATE UNIQUE INDEX ledger_lines_of_cause ON ledger_lines USING btree (company_id, day, month, kind, dispatch_id, sender_id, tariff_id) NULLS NOT DISTINCT WHERE (kind <> ALL (ARRAY['TOPUP'::text, 'CORRECTION'::text]));
CREATE INDEX ledger_lines_by_kind ON ledger_lines USING btree (company_id, kind, day, line_id);

-- The amount charged in a day by channel, operator and tariff. The rows of a day are few, so a statement adds them up
-- quickly.
create table charge_days (
  company_id   bigint not null,
  day          date not null,
  charge_id    bigint generated always as identity not null,
  month        date not null,
  kind         text not null,
  channel_type text,
  brand_id     smallint,
  tariff_id    bigint,
  messages     bigint default 0 not null,
  parts        bigint default 0 not null,
  amount       numeric(18,4) not null,
  constraint charge_days_pkey PRIMARY KEY (company_id, day, charge_id),
  constraint charge_days_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
) with (fillfactor=70);
CREATE UNIQUE INDEX charge_days_of_share ON charge_days USING btree (company_id, day, month, kind, channel_type, brand_id, tariff_id) NULLS NOT DISTINCT;

-- Counts the delivered messages and the unique recipients of a month under a SCALED or MAU tariff.
create table tariff_usage (
  company_id bigint not null,
  tariff_id  bigint not null,
  month      date not null,
  delivered  bigint default 0 not null,
  recipients bigint default 0 not null,
  constraint tariff_usage_pkey PRIMARY KEY (company_id, tariff_id, month),
  constraint tariff_usage_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);
-- The counts are not in the index, so that their updates touch no index (HOT).
CREATE INDEX tariff_usage_of_tariff ON tariff_usage USING btree (tariff_id, month);

-- A recipient of a delivered message under a MAU tariff. The table decides whether a recipient is new in the month.
create table tariff_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  month       date not null,
  destination text not null,
  constraint tariff_recipients_pkey PRIMARY KEY (company_id, tariff_id, month, destination)
);

-- Money that a started dispatch reserves for a MAU package that it could reach. The row is deleted when the company has
-- paid the package, and when the dispatch is stopped or completed.
create table package_holds (
  company_id  bigint not null,
  dispatch_id bigint not null,
  tariff_id   bigint not null,
  from_count  bigint not null,
  amount      numeric(18,4) not null,
  constraint package_holds_pkey PRIMARY KEY (company_id, dispatch_id, tariff_id, from_count),
  constraint package_holds_amount_check CHECK ((amount > (0)::numeric)),
  constraint package_holds_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);

-- Sums of the messages of a detached month, from which "ledger verify" still recomputes the books: by block of a
-- dispatch, or for the single messages of a company, by status and tariff. The transaction that detaches the month
-- writes each sum once. There is no foreign key to accounts: its check would wait for transactions that hold the
-- account and wait for the locked messages.
create table closed_months (
  company_id      bigint not null,
  -- The month of the keys of the messages, in UTC. It is not the month of the ledger in which a message was charged.
  month           date not null,
  sum_id          bigint generated always as identity not null,
  dispatch_id     bigint,
  block           integer,
  status          message_status not null,
  tariff_id       bigint,
  messages        bigint not null,
  parts           bigint not null,
  -- Failed messages that no operator ever had.
  unsent_messages bigint not null,
  unsent_parts    bigint not null,
  price           numeric(18,4) not null,
  final_price     numeric(18,4) not null,
  -- Messages with a wrong final price. Closing a month does not hide a mistake.
  badly_priced    bigint not null,
  constraint closed_months_pkey PRIMARY KEY (company_id, month, sum_id),
  constraint closed_months_company_id_month_dispatch_id_block_status_tar_key UNIQUE NULLS NOT DISTINCT (company_id, month, dispatch_id, block, status, tariff_id)
);
CREATE INDEX closed_months_by_month ON closed_months USING btree (month);

-- A recipient of a delivered message of a detached month under a MAU tariff.
create table closed_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  destination text not null,
  constraint closed_recipients_pkey PRIMARY KEY (company_id, tariff_id, destination)
);

-- =====================================================================================================================
-- Callbacks: HTTP requests that report changes of messages to the servers of clients.
-- =====================================================================================================================

-- A batch of events for one address, written in the transaction that changes the messages. All events of a message go
-- to one receiver, and ids rise in the order of the events. An engine sends the batch. Housekeeping deletes finished
-- batches after 30 days.
create table callbacks (
  company_id  bigint not null,
  callback_id bigint generated always as identity not null,
  -- Scheme, host and port of the address.
  receiver    text not null,
  url         text not null,
  api         text not null,
  -- The events as JSON text. No statement looks inside, so the type is json and not jsonb.
  events      json not null,
  event_count integer not null,
  -- One bit for each event, 1: the receiver accepted it. Empty before the first.
  progress    bit varying default ''::bit varying not null,
  done_events integer default 0 not null,
  status      text default 'WAITING'::text not null,
  attempts    integer default 0 not null,
  -- Messages with a refused event in this batch. Their later events in other batches wait for it.
  held        uuid[],
  happened_at timestamp with time zone not null,
  expires_at  timestamp with time zone not null,
  due_at      timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint callbacks_pkey PRIMARY KEY (company_id, callback_id),
  constraint callbacks_api_check CHECK ((api = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint callbacks_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'DELIVERED'::text, 'EXPIRED'::text]))),
  constraint callbacks_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX callbacks_waiting ON callbacks USING btree (company_id, receiver, callback_id) WHERE (status = 'WAITING'::text);
CREATE INDEX callbacks_by_due ON callbacks USING btree (company_id, receiver, due_at) WHERE (status = 'WAITING'::text);
CREATE INDEX callbacks_holding ON callbacks USING btree (company_id, receiver, callback_id) WHERE ((status = 'WAITING'::text) AND (held IS NOT NULL));
CREATE INDEX callbacks_by_end ON callbacks USING btree (expires_at) WHERE (status = 'WAITING'::text);
CREATE INDEX callbacks_finished ON callbacks USING btree (happened_at) WHERE (status <> 'WAITING'::text);
CREATE INDEX callbacks_by_time ON callbacks USING btree (company_id, happened_at, callback_id);
CREATE INDEX callbacks_not_received ON callbacks USING btree (company_id, happened_at, callback_id) WHERE (status <> 'DELIVERED'::text);

-- A pass over a batch that ended the batch or met a refusal, with its first refusal or its last answer. It is deleted
-- with the batch.
create table callback_attempts (
  company_id       bigint not null,
  attempt_id       bigint generated always as identity not null,
  callback_id      bigint not null,
  tried_events     integer not null,
  delivered_events integer not null,
  status_code      integer,
  error            text,
  -- The beginning of the answer of the receiver.
  answer           text,
  took_ms          integer not null,
  attempted_at     timestamp with time zone not null,
  constraint callback_attempts_pkey PRIMARY KEY (company_id, attempt_id),
  constraint callback_attempts_company_id_callback_id_fkey FOREIGN KEY (company_id, callback_id) REFERENCES callbacks(company_id, callback_id) ON DELETE CASCADE
);
CREATE INDEX callback_attempts_of_callback ON callback_attempts USING btree (company_id, callback_id);

-- A server of one company that receives callbacks. One engine at a time serves it. A receiver that keeps failing only
-- gets a probe from time to time. Each company has a row of its own, so a wrong address of one company at a shared host
-- does not stop the others. Housekeeping deletes receivers that had no callback for 30 days.
create table receivers (
  company_id    bigint not null,
  -- Scheme, host and port.
  receiver      text not null,
  -- Failures in a row.
  failures      integer default 0 not null,
  -- The next probe of a receiver that keeps failing.
  probe_at      timestamp with time zone default '-infinity'::timestamp with time zone not null,
  served_at     timestamp with time zone default '-infinity'::timestamp with time zone not null,
  worker        uuid,
  -- Until when the engine in worker has claimed the receiver.
  claimed_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint receivers_pkey PRIMARY KEY (company_id, receiver),
  constraint receivers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- A test callback. A person requests it in the cabinet, an engine sends it once and writes the result into the row.
-- Housekeeping deletes it after 30 days.
create table callback_tests (
  company_id   bigint not null,
  test_id      bigint generated always as identity not null,
  url          text not null,
  api          text not null,
  body         text,
  status_code  integer,
  error        text,
  answer       text,
  took_ms      integer,
  requested_at timestamp with time zone not null,
  -- When an engine took the test; null: it waits.
  taken_at     timestamp with time zone,
  finished_at  timestamp with time zone,
  constraint callback_tests_pkey PRIMARY KEY (company_id, test_id),
  constraint callback_tests_api_check CHECK ((api = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint callback_tests_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX callback_tests_waiting ON callback_tests USING btree (requested_at) WHERE (taken_at IS NULL);

-- =====================================================================================================================
-- Inbound messages, the blacklist, and the subscribers of bots.
-- =====================================================================================================================

-- Decides the traffic center and the callback address of inbound messages.
create table inbound_rules (
  company_id   bigint not null,
  rule_id      bigint generated always as identity not null,
  channel_type text not null,
  -- The names for which the rule holds; null: all names of the channel.
  sender_names text[],
  center_id    bigint not null,
  callback_url text,
  constraint inbound_rules_pkey PRIMARY KEY (company_id, rule_id),
  constraint inbound_rules_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- A message that a subscriber wrote to a sender name of the company. An engine or a webhook writes it.
create table inbound_messages (
  company_id   bigint not null,
  message_uuid uuid not null,
  gateway_id   bigint,
  -- The id that the operator gave to the message. A repeated delivery with the same id changes nothing.
  provider_id  text,
  channel_type text not null,
  sender_name  text not null,
  -- The number of the subscriber.
  destination  text not null,
  text         text not null,
  content      jsonb,
  center_id    bigint not null,
  -- The rule that was applied; null: no rule matched. There is no foreign key, because rules may be deleted.
  rule_id      bigint,
  -- Whether the text was a stop word when it came. The list of stop words may change later.
  is_stop      boolean default false not null,
  received_at  timestamp with time zone not null,
  constraint inbound_messages_pkey PRIMARY KEY (company_id, message_uuid),
  constraint inbound_messages_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE UNIQUE INDEX inbound_messages_once ON inbound_messages USING btree (company_id, gateway_id, provider_id) WHERE (provider_id IS NOT NULL);
CREATE INDEX inbound_messages_by_destination ON inbound_messages USING btree (company_id, destination, message_uuid);

-- A stop word that was carried out. A repeated webhook does not put a subscriber on the blacklist again after a person
-- removed the number. Housekeeping deletes the row after 30 days.
create table inbound_stops (
  gateway_id  bigint not null,
  provider_id text not null,
  heard_at    timestamp with time zone default now() not null,
  constraint inbound_stops_pkey PRIMARY KEY (gateway_id, provider_id),
  constraint inbound_stops_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);
CREATE INDEX inbound_stops_by_time ON inbound_stops USING btree (heard_at);

-- A number to which the company must not send.
create table blacklist (
  company_id  bigint not null,
  destination text not null,
  comment     text,
  -- How the number came to the list; null: not known.
  source      text,
  created_at  timestamp with time zone default now() not null,
  constraint blacklist_pkey PRIMARY KEY (company_id, destination),
  constraint blacklist_source_check CHECK ((source = ANY (ARRAY['STOP'::text, 'API'::text, 'STAFF'::text, 'CABINET'::text, 'FILE'::text]))),
  constraint blacklist_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX blacklist_by_age ON blacklist USING btree (company_id, created_at DESC, destination DESC);

-- The address of a number in a messenger, which the client uploads. A row is deleted when the messenger reports that
-- the address no longer exists.
create table subscribers (
  company_id   bigint not null,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  -- A chat of a bot, or a push subscription.
  address      text not null,
  created_at   timestamp with time zone default now() not null,
  constraint subscribers_pkey PRIMARY KEY (company_id, channel_type, sender_name, destination, address),
  constraint subscribers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX subscribers_by_address ON subscribers USING btree (address, channel_type, sender_name);
CREATE INDEX subscribers_by_name ON subscribers USING btree (sender_name, destination);

-- A chat that the webhook of a bot reported.
create table gateway_chats (
  gateway_id  bigint not null,
  address     text not null,
  -- The number of the subscriber; null: the subscriber has not shared it.
  destination text,
  -- The subscriber has blocked the bot.
  gone        boolean default false not null,
  seen_at     timestamp with time zone not null,
  constraint gateway_chats_pkey PRIMARY KEY (gateway_id, address),
  constraint gateway_chats_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);
CREATE INDEX gateway_chats_by_destination ON gateway_chats USING btree (gateway_id, destination) WHERE (destination IS NOT NULL);

-- =====================================================================================================================
-- Short links in message texts, and their clicks. No address, browser or other data of a person is stored.
-- =====================================================================================================================

-- A short link in the text of one message. The key is the code, because a browser sends nothing else. Housekeeping
-- deletes a link with its clicks after a year.
create table short_links (
  code         text not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  url          text not null,
  created_at   timestamp with time zone not null,
  constraint short_links_pkey PRIMARY KEY (code)
);
CREATE INDEX short_links_by_age ON short_links USING btree (created_at);
-- Finds the newest links of a company, and the links of a dispatch, whose messages lie between two keys.
CREATE INDEX short_links_by_message ON short_links USING btree (company_id, message_uuid, code);

-- A click on a short link.
create table link_clicks (
  company_id bigint not null,
  code       text not null,
  click_id   bigint generated always as identity not null,
  clicked_at timestamp with time zone not null,
  constraint link_clicks_pkey PRIMARY KEY (company_id, code, click_id)
);

-- Counts the clicks of a company in an hour (UTC). Housekeeping deletes hours after a year.
create table link_hours (
  company_id bigint not null,
  hour       timestamp with time zone not null,
  -- A random number. The counter has several rows, so that simultaneous clicks seldom wait for each other.
  shard      smallint not null,
  clicks     bigint not null,
  constraint link_hours_pkey PRIMARY KEY (company_id, hour, shard)
);
CREATE INDEX link_hours_by_age ON link_hours USING btree (hour);

-- Counts the clicks on the short links of a dispatch, in several rows as in link_hours.
create table dispatch_clicks (
  company_id  bigint not null,
  dispatch_id bigint not null,
  shard       smallint not null,
  clicks      bigint not null,
  -- The number of messages with at least one click.
  people      bigint not null,
  constraint dispatch_clicks_pkey PRIMARY KEY (company_id, dispatch_id, shard)
);

-- =====================================================================================================================
-- Phone verification by codes, and the widget for web pages.
-- =====================================================================================================================

-- Finds the company of a verifier or widget by its id. The row stays when the verifier is deleted, so an id is never
-- used again.
create table verifier_ids (
  verifier_id text not null,
  company_id  bigint not null,
  constraint verifier_ids_pkey PRIMARY KEY (verifier_id),
  constraint verifier_ids_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- Decides how a company sends verification codes. A widget is a verifier with the settings of a web page.
create table verifiers (
  company_id     bigint not null,
  verifier_id    text not null,
  kind           text not null,
  name           text not null,
  settings       jsonb not null,
  -- The settings of the page of a widget: origins, captcha, site builder.
  page           jsonb,
  -- The secret with which the provider of the captcha checks answers, encrypted.
  captcha_secret bytea,
  created_at     timestamp with time zone default now() not null,
  constraint verifiers_pkey PRIMARY KEY (company_id, verifier_id),
  constraint verifiers_check CHECK (((kind = 'WIDGET'::text) = (page IS NOT NULL))),
  constraint verifiers_kind_check CHECK ((kind = ANY (ARRAY['API'::text, 'WIDGET'::text]))),
  constraint verifiers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

-- One proof of a number, from sending its first code to its confirmation. Sending a code writes the row, a check
-- changes it. Housekeeping deletes it after a week.
create table verifications (
  company_id        bigint not null,
  -- The key of the first message.
  verification_uuid uuid not null,
  verifier_id       text not null,
  destination       text not null,
  country           text not null,
  -- The number without its last four digits.
  prefix            text not null,
  -- The channel of the newest message. sent_at is its time.
  channel_type      text not null,
  -- Keyed hashes of all codes that were sent for the number.
  code_hashes       bytea[] not null,
  -- When the code with the same index ends; -infinity: the message of the code is not accepted yet.
  code_ends         timestamp with time zone[] not null,
  tries_left        smallint not null,
  -- The message with the newest code; null: there was one code. Fallbacks of earlier codes end.
  newest_uuid       uuid,
  sent_at           timestamp with time zone not null,
  confirmed_at      timestamp with time zone,
  constraint verifications_pkey PRIMARY KEY (company_id, verification_uuid),
  constraint verifications_tries_left_check CHECK ((tries_left >= 0))
) with (fillfactor=50);
CREATE INDEX verifications_by_destination ON verifications USING btree (destination, company_id, verification_uuid);
CREATE INDEX verifications_by_prefix ON verifications USING btree (prefix, company_id, verification_uuid);

-- Counts the codes of a day (UTC). Sent, delivered and confirmed codes have rows of their own, so that requests that
-- send codes and requests that check codes do not wait for each other.
create table verification_counters (
  company_id   bigint not null,
  verifier_id  text not null,
  day          date not null,
  channel_type text not null,
  country      text not null,
  what         text not null,
  count        bigint not null,
  cost         numeric(18,4) default 0 not null,
  -- The time from sending to confirmation, summed over the confirmed codes.
  total_ms     bigint default 0 not null,
  constraint verification_counters_pkey PRIMARY KEY (company_id, verifier_id, day, channel_type, country, what),
  constraint verification_counters_what_check CHECK ((what = ANY (ARRAY['sent'::text, 'delivered'::text, 'confirmed'::text])))
);
CREATE INDEX verification_counters_by_day ON verification_counters USING btree (company_id, day);

-- Counts the codes that were sent for a subject and blocks it when there are too many. Housekeeping deletes subjects
-- three days after their last code.
create table verification_limits (
  company_id    bigint not null,
  -- "number:…", "address:…", "prefix:…", "verifier:…" or "company".
  subject       text not null,
  -- The start of the window in which codes are counted.
  since         timestamp with time zone not null,
  count         integer not null,
  last_at       timestamp with time zone not null,
  -- Of a number: codes in a row that were not confirmed.
  streak        integer default 0 not null,
  blocked_until timestamp with time zone,
  -- How often the subject was blocked lately. Each block lasts twice as long as the last.
  blocks        smallint default 0 not null,
  reason        text,
  constraint verification_limits_pkey PRIMARY KEY (company_id, subject)
);
CREATE INDEX verification_limits_blocked ON verification_limits USING btree (company_id, blocked_until) WHERE (blocked_until IS NOT NULL);
-- Only housekeeping reads it. A btree index would get a new entry with every code.
CREATE INDEX verification_limits_old ON verification_limits USING brin (last_at);

-- The confirmation of a number by a visitor of a web page. The browser creates the session; the server of the site has
-- the code sent. Housekeeping deletes it a day after its end.
create table widget_sessions (
  company_id        bigint not null,
  -- The hash of the key that the browser gives to the server of the site.
  key_hash          bytea not null,
  -- The hash of the secret that stays in the browser.
  secret_hash       bytea not null,
  widget_id         text not null,
  destination       text not null,
  client_address    text not null,
  -- The network of client_address. New sessions are limited by network and widget.
  network           text not null,
  origin            text not null,
  language          text,
  channel_type      text not null,
  state             text default 'WAITING'::text not null,
  -- The number of codes that the browser asked for. Each code is sent once, however often the server of the site calls.
  asks              integer default 1 not null,
  asked_at          timestamp with time zone default now() not null,
  -- The error code of a FAILED session.
  error             integer,
  retry_at          timestamp with time zone,
  verification_uuid uuid,
  message_uuid      uuid,
  created_at        timestamp with time zone default now() not null,
  ends_at           timestamp with time zone not null,
  constraint widget_sessions_pkey PRIMARY KEY (company_id, key_hash),
  constraint widget_sessions_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'SENT'::text, 'FAILED'::text])))
);
CREATE INDEX widget_sessions_by_network ON widget_sessions USING btree (company_id, network, created_at);
-- Sessions that visitors left stay WAITING; asked_at finds the few that wait now.
CREATE INDEX widget_sessions_waiting ON widget_sessions USING btree (company_id, asked_at) WHERE (state = 'WAITING'::text);
CREATE INDEX widget_sessions_old ON widget_sessions USING btree (ends_at);

-- A solution of our own captcha that was used. It is kept until it expires, so that it is accepted once.
create table captcha_uses (
  company_id bigint not null,
  use_hash   bytea not null,
  expires_at timestamp with time zone not null,
  constraint captcha_uses_pkey PRIMARY KEY (company_id, use_hash)
);
CREATE INDEX captcha_uses_old ON captcha_uses USING btree (expires_at);

-- An error that a widget showed, for the company that uses the widget. Each error code has a limit of its own, because
-- strangers can cause some codes at will. Housekeeping deletes errors after 30 days.
create table widget_errors (
  company_id  bigint not null,
  error_id    bigint generated always as identity not null,
  widget_id   text not null,
  code        integer not null,
  reason      text not null,
  origin      text,
  destination text,
  created_at  timestamp with time zone default now() not null,
  constraint widget_errors_pkey PRIMARY KEY (company_id, error_id)
);
CREATE INDEX widget_errors_by_code ON widget_errors USING btree (company_id, widget_id, code, created_at);
CREATE INDEX widget_errors_old ON widget_errors USING btree (created_at);

-- =====================================================================================================================
-- Statistics of the traffic, and the audit log.
-- =====================================================================================================================

-- Counts the messages of a company in an hour (UTC). The transactions that accept and change messages change it. A
-- message counts as accepted in the hour of its key, as sent in the hour of sent_at, and as delivered or failed in the
-- hour of final_at.
create table traffic_hours (
  company_id      bigint not null,
  hour            timestamp with time zone not null,
  channel_type    text not null,
  brand_id        smallint not null,
  traffic_type    text not null,
  accepted        bigint default 0 not null,
  accepted_parts  bigint default 0 not null,
  sent            bigint default 0 not null,
  sent_parts      bigint default 0 not null,
  delivered       bigint default 0 not null,
  delivered_parts bigint default 0 not null,
  failed          bigint default 0 not null,
  failed_parts    bigint default 0 not null,
  spent           numeric(18,4) default 0 not null,
  constraint traffic_hours_pkey PRIMARY KEY (company_id, hour, channel_type, brand_id, traffic_type),
  constraint traffic_hours_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
) with (fillfactor=70);

-- The share of detached months in traffic_hours, so that "tidings statistics verify" can still compare. A message may
-- be sent or final in an hour of a later month.
create table closed_traffic_hours (
  company_id      bigint not null,
  hour            timestamp with time zone not null,
  channel_type    text not null,
  brand_id        smallint not null,
  traffic_type    text not null,
  accepted        bigint default 0 not null,
  accepted_parts  bigint default 0 not null,
  sent            bigint default 0 not null,
  sent_parts      bigint default 0 not null,
  delivered       bigint default 0 not null,
  delivered_parts bigint default 0 not null,
  failed          bigint default 0 not null,
  failed_parts    bigint default 0 not null,
  spent           numeric(18,4) default 0 not null,
  constraint closed_traffic_hours_pkey PRIMARY KEY (company_id, hour, channel_type, brand_id, traffic_type)
);

-- A change that a person made in the cabinet or with the command line. Entries outlive the people, companies and
-- partners that they name, so there are no foreign keys. The partitions are months. Triggers refuse updates and
-- deletes.
create table audit_entries (
  entry_id     bigint generated always as identity not null,
  at           timestamp(3) with time zone default now() not null,
  -- COMPANY, PARTNER and STAFF: a person in the cabinet. OPERATOR: a system user at the command line.
  actor_kind   text not null,
  actor        text not null,
  person_id    bigint,
  address      text,
  agent        text,
  request_id   text,
  what         text not null,
  subject_kind text not null,
  subject_id   text not null,
  subject_name text not null,
  -- The company of the subject. It decides, with partner_id, which people may read the entry. Both null: only staff.
  company_id   bigint,
  partner_id   bigint,
  before       jsonb,
  after        jsonb,
  constraint audit_entries_pkey PRIMARY KEY (at, entry_id),
  constraint audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['COMPANY'::text, 'PARTNER'::text, 'STAFF'::text, 'OPERATOR'::text]))),
  constraint audit_entries_check CHECK (((actor_kind = 'OPERATOR'::text) = (person_id IS NULL)))
) partition by RANGE (at);
CREATE INDEX audit_entries_of_company ON audit_entries USING btree (company_id, at, entry_id) WHERE (company_id IS NOT NULL);
CREATE INDEX audit_entries_of_partner ON audit_entries USING btree (partner_id, at, entry_id) WHERE (partner_id IS NOT NULL);
CREATE INDEX audit_entries_of_actor ON audit_entries USING btree (actor, at, entry_id);
CREATE INDEX audit_entries_of_subject ON audit_entries USING btree (subject_kind, subject_id, at, entry_id);
CREATE INDEX audit_entries_of_kind ON audit_entries USING btree (what, at, entry_id);
CREATE TRIGGER audit_entries_are_not_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

-- Refuses to change the audit log, except for the erasure of a phone number by the owner. An empty table may be
-- truncated, because the import of a database does so.
CREATE OR REPLACE FUNCTION refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  has_rows boolean := true;
begin
  if tg_op = 'UPDATE' and current_setting('tidings.erasing', true) = 'on' and pg_has_role((
    select relowner from pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into has_rows;
  end if;
  if has_rows then
    raise exception 'the audit log can only grow: % of % is refused', lower(tg_op), tg_table_name
      using errcode = 'insufficient_privilege';
  end if;
  return null;
end $function$;

-- Adds the trigger against truncation to a month. PostgreSQL copies row triggers to partitions, but not statement
-- triggers.
CREATE OR REPLACE FUNCTION protect_audit_month(name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create trigger audit_entries_are_not_truncated before truncate on %I
    for each statement execute function refuse_audit_change()', name);
end $function$;

-- Creates the partition of a month. It runs with the rights of its owner: the role of the service needs only the rights
-- to read and to insert. Attaching the partition does not block readers and writers.
CREATE OR REPLACE FUNCTION ensure_audit_month(moment timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '5s'
AS $function$
declare
  first date := date_trunc('month', moment at time zone 'UTC')::date;
  name text := 'audit_entries_' || to_char(first, 'YYYY_MM');
begin
  if to_regclass(name) is not null then return; end if;
  lock table only audit_entries in share update exclusive mode; -- a second process waits here and then checks again
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I (like audit_entries including defaults including constraints including storage)', name);
  execute format('alter table audit_entries attach partition %I for values from (%L) to (%L)', name,
    first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
  perform protect_audit_month(name);
end $function$;

-- =====================================================================================================================
-- expand
-- =====================================================================================================================
-- Sharding by company with Citus. `tidings migrate --distribute` distributes the tables; in other databases nothing here
-- has an effect.
-- =====================================================================================================================
-- =====================================================================================================================

CREATE OR REPLACE FUNCTION distribute_by_company(new_table regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass) then
    perform create_distributed_table(new_table, 'company_id', colocate_with => 'companies');
  end if;
end $function$;

-- =====================================================================================================================
-- expand
-- =====================================================================================================================
-- Functions of one company. Each is a unit of work that both changes rows and inserts rows. In a sharded database Citus
-- cannot send such a statement to one node, but it can send the call of a function: then the work costs one round trip.
-- =====================================================================================================================
-- =====================================================================================================================

-- Moves the cursors of the lanes and writes the leases, so two concurrent workers get different chunks.
CREATE OR REPLACE FUNCTION lease_chunks(of_company bigint, lane_ids bigint[], sizes integer[], tokens uuid[], by_worker uuid, until timestamp with time zone, wait_for_disk boolean)
 RETURNS TABLE(company_id bigint, lease_id bigint, lane_id bigint, first_seq bigint, next_seq bigint, token uuid, attempts integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  chunk record;
begin
  if not wait_for_disk then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  for chunk in
    with free as (
      select l.lane_id, l.cursor as first_seq, least(l.cursor + q.size, l.tail) as next_seq, q.token
      from unnest(lane_ids, sizes, tokens) q (lane_id, size, token)
      join lanes l on l.company_id = of_company and l.lane_id = q.lane_id
      where l.open and l.cursor < l.tail
      for update of l skip locked)
    update lanes set cursor = free.next_seq, served_at = statement_timestamp() from free
    where lanes.company_id = of_company and lanes.lane_id = free.lane_id
    returning free.*
  loop
    return query
      insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
      values (of_company, chunk.lane_id, chunk.first_seq, chunk.next_seq, by_worker, chunk.token, until)
      returning company_id, lease_id, lane_id, first_seq, next_seq, token, attempts;
  end loop;
end $function$;

-- At the deadline, messages of the range without a receipt fail.
CREATE OR REPLACE FUNCTION finish_leases(of_company bigint, lease_ids bigint[], tokens uuid[], deadline timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  chunk record;
begin
  for chunk in
    with ours as (
      select lease_id from leases
      where company_id = of_company and lease_id = any(lease_ids) and token = any(tokens)
      order by lease_id for update)
    delete from leases using ours
    where leases.company_id = of_company and leases.lease_id = ours.lease_id
    returning leases.lane_id, leases.first_seq, leases.next_seq
  loop
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    values (of_company, chunk.lane_id, chunk.first_seq, chunk.next_seq, deadline);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION delegate_by_company()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass) then
    perform create_distributed_function(oid::regprocedure, 'of_company', colocate_with => 'companies')
    from pg_proc where pronamespace = 'public'::regnamespace and proargnames[1] = 'of_company';
  end if;
end $function$;

-- =====================================================================================================================
-- expand
-- =====================================================================================================================

-- The size of a table with its indexes, and the number of rows as PostgreSQL estimates it, on all nodes that have rows.
CREATE OR REPLACE FUNCTION stored_size(of_table text, OUT bytes bigint, OUT estimate bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = of_table::regclass) then
      bytes := citus_total_relation_size(of_table::regclass);
      select coalesce(sum(nullif(result::real, -1)), -1) into estimate
      from run_command_on_shards(of_table::regclass, $shard$ select reltuples from pg_class where oid = '%s'::regclass $shard$);
      return;
    end if;
  end if;
  select pg_total_relation_size(oid), reltuples into bytes, estimate from pg_class where oid = of_table::regclass;
end $function$;

-- =====================================================================================================================
-- expand
-- Judges one code for each of these verifications of a company, and counts the confirmations. A try is counted in the
-- statement that compares, under the lock of the row: parallel guesses come one after the other. Rows are locked in the
-- order of their keys, and not waited for longer than in transactions, also behind a pooler. Keyed hashes are compared,
-- so the time of the comparison tells nothing about a code.
-- =====================================================================================================================

-- Compares a guess and counts its try under one lock, so parallel guesses get no further try. Confirms and counts a
-- verification once.
CREATE OR REPLACE FUNCTION check_codes(of_company bigint, verification_uuids uuid[], hashes text[])
 RETURNS TABLE(uuid uuid, status text, tries_left integer)
 LANGUAGE plpgsql
 SET lock_timeout TO '7s'
AS $function$
#variable_conflict use_column
declare
  judged uuid[];
  statuses text[];
  tries integer[];
  confirmed_verifiers text[];
  confirmed_channels text[];
  confirmed_countries text[];
  confirmed_times bigint[];
begin
  with locked as materialized (
    select v.verification_uuid, v.verifier_id, v.channel_type, v.country, v.sent_at, v.tries_left,
      v.confirmed_at is null as is_open,
      v.tries_left = 0 or now() >= all (v.code_ends) as is_over,
      exists (
        select from unnest(v.code_hashes, v.code_ends) c (hash, ends)
        where c.hash = decode(hashes[array_position(verification_uuids, v.verification_uuid)], 'hex') and c.ends > now()
      ) as is_right
    from verifications v
    where v.company_id = of_company and v.verification_uuid = any (verification_uuids)
    order by v.verification_uuid for update),
  failed as (
    update verifications v set tries_left = v.tries_left - 1
    where v.company_id = of_company
      and v.verification_uuid = any (array(select l.verification_uuid from locked l where not is_over and not is_right))),
  confirmed as (
    update verifications v set confirmed_at = now()
    where v.company_id = of_company
      and v.verification_uuid = any (array(
        select l.verification_uuid from locked l where not is_over and is_right and is_open)))
  select array_agg(l.verification_uuid),
    array_agg(case when is_over then 'EXPIRED' when is_right then 'CONFIRMED' else 'WRONG_CODE' end),
    array_agg(case when is_over or is_right then l.tries_left else l.tries_left - 1 end),
    array_agg(l.verifier_id) filter (where not is_over and is_right and is_open),
    array_agg(l.channel_type) filter (where not is_over and is_right and is_open),
    array_agg(l.country) filter (where not is_over and is_right and is_open),
    array_agg(greatest(0, extract(epoch from now() - l.sent_at) * 1000)::bigint)
      filter (where not is_over and is_right and is_open)
  into judged, statuses, tries, confirmed_verifiers, confirmed_channels, confirmed_countries, confirmed_times
  from locked l;
  if confirmed_verifiers is not null then
    -- Counters are locked in the order of their keys.
    insert into verification_counters as k (company_id, verifier_id, day, channel_type, country, what, count, total_ms)
    select c.company_id, q.verifier_id, (now() at time zone 'UTC')::date, q.channel_type, q.country, 'confirmed', count(*),
      sum(q.took_ms)::bigint
    from companies c, unnest(
      confirmed_verifiers, confirmed_channels, confirmed_countries, confirmed_times
    ) q (verifier_id, channel_type, country, took_ms)
    where c.company_id = of_company
    group by 1, 2, 3, 4, 5 order by 2, 4, 5
    on conflict (company_id, verifier_id, day, channel_type, country, what)
    do update set count = k.count + excluded.count, total_ms = k.total_ms + excluded.total_ms;
  end if;
  return query select * from unnest(judged, statuses, tries);
end $function$;

-- =====================================================================================================================
-- expand
-- =====================================================================================================================

-- How far an engine has removed the old texts of a company (TIDINGS_KEEP_TEXTS_DAYS). An engine locks the row while it
-- works, so two engines never do the same.
create table text_removals (
  company_id bigint not null,
  -- Final messages up to this key have no text any more.
  done_uuid  uuid not null,
  constraint text_removals_pkey PRIMARY KEY (company_id)
);

-- Keys of messages, above after_uuid and up to until_uuid, among which some were not final when an engine removed the
-- old texts. They are checked again every day until all are final.
create table text_leftovers (
  company_id bigint not null,
  after_uuid uuid not null,
  until_uuid uuid not null,
  check_at   timestamp with time zone not null,
  constraint text_leftovers_pkey PRIMARY KEY (company_id, after_uuid)
);

-- =====================================================================================================================
-- expand
-- Some tables of the coordinator change in one transaction with rows of a company. Citus commits both or neither only
-- if it knows the table. Constraints that Citus cannot have are dropped: a foreign key to a table that it does not know, and a check of
-- a partitioned table, with which it cannot attach a partition. The function does nothing in a database that is not
-- sharded.
-- =====================================================================================================================

-- Citus commits the rows of this table of the coordinator together with the rows of a company.
CREATE OR REPLACE FUNCTION commit_with_companies(of_table regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  refused name;
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if not exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass)
    or exists (select from pg_dist_partition where logicalrelid = of_table) then
    return;
  end if;
  for refused in
    select conname from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.conrelid = of_table and (k.contype = 'c' and c.relkind = 'p'
      or k.contype = 'f' and not exists (select from pg_dist_partition where logicalrelid = k.confrelid))
  loop
    execute format('alter table %s drop constraint %I', of_table, refused);
  end loop;
  perform citus_add_local_table_to_metadata(of_table);
end $function$;

-- =====================================================================================================================
-- expand
-- Takes the next chunks of lanes of a company, as `lease_chunks` does, and reads their messages: a lone message then waits
-- for one round trip less. First comes a row for each lease, with no message, then a row for each message with the lane
-- of its lease. `first_uuids` and `last_uuids` name the first and the last message of the dispatch of each lane, null for
-- a lane of single messages.
--
-- Each statement of the function sees all transactions that were committed before the statement began. So the second
-- statement sees the messages of all places that the first one leases.
-- =====================================================================================================================

-- Moves the cursors of the lanes, writes the leases, and reads their messages with what forbids to send them.
CREATE OR REPLACE FUNCTION lease_with_messages(of_company bigint, lane_ids bigint[], sizes integer[], tokens uuid[], by_worker uuid, until timestamp with time zone, wait_for_disk boolean, first_uuids uuid[], last_uuids uuid[], erased text)
 RETURNS TABLE(company_id bigint, lane_id bigint, lease_id bigint, first_seq bigint, next_seq bigint, token uuid, attempts integer, uuid uuid, seq bigint, destination text, text text, parts smallint, sender_name text, expires_at timestamp with time zone, waits_until timestamp with time zone, content jsonb, "window" jsonb, ttl_seconds jsonb, sealed bytea, is_stopped boolean, is_blacklisted boolean)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  chunk record;
  lanes_taken bigint[] := '{}';
  firsts bigint[] := '{}';
  nexts bigint[] := '{}';
begin
  for chunk in
    select * from lease_chunks(of_company, lane_ids, sizes, tokens, by_worker, until, wait_for_disk)
  loop
    lanes_taken := lanes_taken || chunk.lane_id;
    firsts := firsts || chunk.first_seq;
    nexts := nexts || chunk.next_seq;
    company_id := of_company;
    lane_id := chunk.lane_id;
    lease_id := chunk.lease_id;
    first_seq := chunk.first_seq;
    next_seq := chunk.next_seq;
    token := chunk.token;
    attempts := chunk.attempts;
    return next;
  end loop;
  return query
    select of_company, leased.lane_id, null::bigint, null::bigint, null::bigint, null::uuid, null::integer, queued.*,
      (select true from stop_requests r
        where r.company_id = of_company and r.message_uuid = queued.message_uuid limit 1) is not null,
      -- On a blacklist with erased numbers a number is found only with the secret of the service.
      case when not exists (select from blacklist e where e.company_id = of_company and e.destination > erased)
      then (select true from blacklist b
        where b.company_id = of_company and b.destination = queued.destination limit 1) is not null
      end
    from unnest(lanes_taken, firsts, nexts) leased (lane_id, first_seq, next_seq)
    join unnest(lane_ids, first_uuids, last_uuids) bounds (lane_id, first_uuid, last_uuid)
      on bounds.lane_id = leased.lane_id
    cross join lateral (
      select m.message_uuid, m.seq, m.destination, m.text, m.parts, m.sender_name, m.expires_at, m.waits_until, m.content,
        m.options -> 'window', m.options -> 'ttl', m.sealed
      from messages m
      where m.company_id = of_company and m.lane_id = leased.lane_id
        and m.seq >= leased.first_seq and m.seq < leased.next_seq and m.status = 'CREATED'
        and m.message_uuid >= coalesce(bounds.first_uuid, uuid7_floor(now() - interval '100 days'))
        and m.message_uuid <= coalesce(bounds.last_uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by m.seq limit leased.next_seq - leased.first_seq
    ) queued;
end $function$;

-- =====================================================================================================================
-- expand
-- A message with a ttl, such as a verification code, had a timer of its own. Messages that are accepted together mostly
-- end together, so one row stands for all of them. Timers of the kind `expire` that older programs write still work.
-- =====================================================================================================================

-- The end of messages that were accepted together with the same ttl. An engine claims a row that is due, fails its
-- messages that are not final, and deletes it.
create table expiries (
  company_id    bigint not null,
  first_uuid    uuid not null,
  -- Between the first and the last message there may be others with another end. Each message has its own expires_at.
  last_uuid     uuid not null,
  -- An engine reads rows together up to a number of messages.
  message_count integer not null,
  due_at        timestamp with time zone not null,
  -- Until when an engine has claimed the row. After a crash another engine claims it again.
  claimed_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint expiries_pkey PRIMARY KEY (company_id, first_uuid)
);
CREATE INDEX expiries_by_due ON expiries USING btree (due_at);

-- =====================================================================================================================
-- expand
-- What the simulated operators accepted was a row for each message, which took the database a seventh of its time for a
-- dispatch. Now one row has all messages that were submitted together. Older programs still write simulator_messages.
-- =====================================================================================================================

-- Messages that a simulated operator accepted together. After a crash the simulator reports again on messages that were
-- not final. The newest rows are kept, with at least 100,000 messages. The function simulator_outbox reads them.
create table simulator_batches (
  batch_id      bigint generated always as identity not null,
  gateway_id    bigint not null,
  worker        uuid not null,
  accepted_at   timestamp with time zone default clock_timestamp() not null,
  message_count integer not null,
  -- A JSON array. It is a text, because the database need not check the JSON when it writes a row.
  messages      text not null,
  constraint simulator_batches_pkey PRIMARY KEY (batch_id) INCLUDE (message_count)
);
alter table simulator_batches alter column messages set storage external;

-- The messages that the simulated operators accepted, with a simulator_id that rises. A batch has less than a million
-- messages. Messages of older programs come first.
CREATE OR REPLACE FUNCTION simulator_outbox()
 RETURNS TABLE(simulator_id bigint, batch_id bigint, gateway_id bigint, worker uuid, accepted_at timestamp with time zone, company_id bigint, message_uuid uuid, sender_name text, destination text, channel_type text, text text)
 LANGUAGE sql
 STABLE
AS $function$
  select b.batch_id * 1000000 + m.place, b.batch_id, b.gateway_id, b.worker, b.accepted_at,
    (m.message ->> 'companyId')::bigint, (m.message ->> 'uuid')::uuid, m.message ->> 'senderName',
    m.message ->> 'destination', m.message ->> 'channelType', m.message ->> 'text'
  from simulator_batches b cross join lateral json_array_elements(b.messages::json) with ordinality m (message, place)
  union all
  select s.simulator_id - 1000000000000, 0, s.gateway_id, s.worker, s.accepted_at, s.company_id, s.message_uuid,
    s.sender_name, s.destination, s.channel_type, s.text
  from simulator_messages s
$function$;
