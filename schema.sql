-- What the migrations make of an empty database. Printed by `npm run db:dump`: change a migration, not this file.

create type billing_mode as enum ('POSTPAID', 'PREPAID');

create type company_status as enum ('ACTIVE', 'DISABLED');

create type dispatch_status as enum ('CREATED', 'STARTED', 'STOPPED', 'COMPLETED');

create type message_status as enum ('CREATED', 'SENT', 'DELIVERED', 'FAILED');

create type sender_status as enum ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED', 'DENIED', 'CLOSED');

create table account_months (
  company_id bigint not null,
  month      date not null,
  spent      numeric(18,4) default 0 not null,
  topped_up  numeric(18,4) default 0 not null,
  corrected  numeric(18,4) default 0 not null,
  constraint account_months_pkey PRIMARY KEY (company_id, month),
  constraint account_months_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);

create table accounts (
  company_id bigint not null,
  balance    numeric(18,4) default 0 not null,
  reserved   numeric(18,4) default 0 not null,
  constraint accounts_pkey PRIMARY KEY (company_id),
  constraint accounts_reserved_check CHECK ((reserved >= (0)::numeric)),
  constraint accounts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table api_key_ids (
  key_id     bigint generated always as identity not null,
  company_id bigint not null,
  key_hash   bytea not null,
  constraint api_key_ids_pkey PRIMARY KEY (key_id),
  constraint api_key_ids_key_hash_key UNIQUE (key_hash)
);

create table api_keys (
  company_id bigint not null,
  key_id     bigint not null,
  type       text not null,
  active     boolean default true not null,
  created_at timestamp with time zone default now() not null,
  addresses  text[] default '{}'::text[] not null,
  center_id  bigint,
  name       text default ''::text not null,
  constraint api_keys_pkey PRIMARY KEY (company_id, key_id),
  constraint api_keys_type_check CHECK ((type = ANY (ARRAY['MESSAGE'::text, 'ENTITY'::text, 'VERIFIER'::text, 'BUILDER_WIDGET'::text]))),
  constraint api_keys_company_id_center_id_fkey FOREIGN KEY (company_id, center_id) REFERENCES traffic_centers(company_id, center_id),
  constraint api_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table api_processes (
  process       uuid not null,
  host          text not null,
  pid           integer not null,
  version       text not null,
  started_at    timestamp with time zone default clock_timestamp() not null,
  seen_at       timestamp with time zone default clock_timestamp() not null,
  clock_off_ms  bigint default 0 not null,
  memory_bytes  bigint,
  loop_delay_ms integer,
  constraint api_processes_pkey PRIMARY KEY (process)
);

create table audit_entries (
  entry_id     bigint generated always as identity not null,
  at           timestamp(3) with time zone default now() not null,
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
  company_id   bigint,
  partner_id   bigint,
  before       jsonb,
  after        jsonb,
  constraint audit_entries_pkey PRIMARY KEY (at, entry_id),
  constraint audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['COMPANY'::text, 'PARTNER'::text, 'STAFF'::text, 'OPERATOR'::text]))),
  constraint audit_entries_check CHECK (((actor_kind = 'OPERATOR'::text) = (person_id IS NULL)))
) partition by RANGE (at);
CREATE INDEX audit_entries_of_actor ON audit_entries USING btree (actor, at, entry_id);
CREATE INDEX audit_entries_of_company ON audit_entries USING btree (company_id, at, entry_id) WHERE (company_id IS NOT NULL);
CREATE INDEX audit_entries_of_kind ON audit_entries USING btree (what, at, entry_id);
CREATE INDEX audit_entries_of_partner ON audit_entries USING btree (partner_id, at, entry_id) WHERE (partner_id IS NOT NULL);
CREATE INDEX audit_entries_of_subject ON audit_entries USING btree (subject_kind, subject_id, at, entry_id);
CREATE TRIGGER audit_entries_are_not_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

create table blacklist (
  company_id bigint not null,
  msisdn     text not null,
  comment    text,
  created_at timestamp with time zone default now() not null,
  source     text,
  constraint blacklist_pkey PRIMARY KEY (company_id, msisdn),
  constraint blacklist_source_check CHECK ((source = ANY (ARRAY['STOP'::text, 'API'::text, 'STAFF'::text, 'CABINET'::text, 'FILE'::text]))),
  constraint blacklist_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX blacklist_by_age ON blacklist USING btree (company_id, created_at DESC, msisdn DESC);

create table callback_attempts (
  company_id       bigint not null,
  attempt_id       bigint generated always as identity not null,
  callback_id      bigint not null,
  attempted_at     timestamp with time zone not null,
  tried_events     integer not null,
  delivered_events integer not null,
  status_code      integer,
  error            text,
  took_ms          integer not null,
  answer           text,
  constraint callback_attempts_pkey PRIMARY KEY (company_id, attempt_id),
  constraint callback_attempts_company_id_callback_id_fkey FOREIGN KEY (company_id, callback_id) REFERENCES callbacks(company_id, callback_id) ON DELETE CASCADE
);
CREATE INDEX callback_attempts_of_callback ON callback_attempts USING btree (company_id, callback_id);

create table callback_tests (
  company_id   bigint not null,
  test_id      bigint generated always as identity not null,
  url          text not null,
  format       text not null,
  requested_at timestamp with time zone not null,
  taken_at     timestamp with time zone,
  finished_at  timestamp with time zone,
  body         text,
  status_code  integer,
  error        text,
  answer       text,
  took_ms      integer,
  constraint callback_tests_pkey PRIMARY KEY (company_id, test_id),
  constraint callback_tests_format_check CHECK ((format = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint callback_tests_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX callback_tests_waiting ON callback_tests USING btree (requested_at) WHERE (taken_at IS NULL);

create table callbacks (
  company_id  bigint not null,
  callback_id bigint generated always as identity not null,
  receiver    text not null,
  url         text not null,
  format      text not null,
  events      json not null,
  event_count integer not null,
  progress    bit varying default ''::bit varying not null,
  done_events integer default 0 not null,
  status      text default 'WAITING'::text not null,
  attempts    integer default 0 not null,
  held        uuid[],
  happened_at timestamp with time zone not null,
  expires_at  timestamp with time zone not null,
  due_at      timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint callbacks_pkey PRIMARY KEY (company_id, callback_id),
  constraint callbacks_format_check CHECK ((format = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint callbacks_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'DELIVERED'::text, 'EXPIRED'::text]))),
  constraint callbacks_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX callbacks_by_due ON callbacks USING btree (company_id, receiver, due_at) WHERE (status = 'WAITING'::text);
CREATE INDEX callbacks_by_end ON callbacks USING btree (expires_at) WHERE (status = 'WAITING'::text);
CREATE INDEX callbacks_by_time ON callbacks USING btree (company_id, happened_at, callback_id);
CREATE INDEX callbacks_finished ON callbacks USING btree (happened_at) WHERE (status <> 'WAITING'::text);
CREATE INDEX callbacks_holding ON callbacks USING btree (company_id, receiver, callback_id) WHERE ((status = 'WAITING'::text) AND (held IS NOT NULL));
CREATE INDEX callbacks_not_received ON callbacks USING btree (company_id, happened_at, callback_id) WHERE (status <> 'DELIVERED'::text);
CREATE INDEX callbacks_waiting ON callbacks USING btree (company_id, receiver, callback_id) WHERE (status = 'WAITING'::text);

create table captcha_uses (
  company_id bigint not null,
  use_hash   bytea not null,
  expires_at timestamp with time zone not null,
  constraint captcha_uses_pkey PRIMARY KEY (company_id, use_hash)
);
CREATE INDEX captcha_uses_old ON captcha_uses USING btree (expires_at);

create table cascades (
  company_id        bigint not null,
  cascade_uuid      uuid not null,
  steps             jsonb not null,
  next_step         smallint not null,
  ended_at          timestamp with time zone,
  dispatch_id       bigint,
  verification_uuid uuid,
  constraint cascades_pkey PRIMARY KEY (company_id, cascade_uuid)
);
CREATE INDEX cascades_gone_on ON cascades USING btree (company_id, dispatch_id) WHERE ((dispatch_id IS NOT NULL) AND (next_step > 2));

create table channel_prices (
  channel_type text not null,
  price        numeric(18,4) not null,
  currency     text not null,
  valid_from   timestamp with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint channel_prices_pkey PRIMARY KEY (channel_type, valid_from),
  constraint channel_prices_price_check CHECK ((price >= (0)::numeric))
);

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
);
CREATE UNIQUE INDEX charge_days_of_share ON charge_days USING btree (company_id, day, month, kind, channel_type, brand_id, tariff_id) NULLS NOT DISTINCT;

create table closed_months (
  company_id      bigint not null,
  month           date not null,
  sum_id          bigint generated always as identity not null,
  dispatch_id     bigint,
  block           integer,
  status          message_status not null,
  tariff_id       bigint,
  messages        bigint not null,
  parts           bigint not null,
  unsent_messages bigint not null,
  unsent_parts    bigint not null,
  price           numeric(18,4) not null,
  final_price     numeric(18,4) not null,
  badly_priced    bigint not null,
  constraint closed_months_pkey PRIMARY KEY (company_id, month, sum_id),
  constraint closed_months_company_id_month_dispatch_id_block_status_tar_key UNIQUE NULLS NOT DISTINCT (company_id, month, dispatch_id, block, status, tariff_id)
);
CREATE INDEX closed_months_by_month ON closed_months USING btree (month);

create table closed_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  destination text not null,
  constraint closed_recipients_pkey PRIMARY KEY (company_id, tariff_id, destination)
);

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

create table companies (
  company_id             bigint generated always as identity not null,
  partner_id             bigint not null,
  name                   text not null,
  counteragent_type      text not null,
  counteragent_name      text not null,
  counteragent_inn       text not null,
  counteragent_address   text,
  counteragent_kpp       text,
  actual_address         text,
  status                 company_status default 'ACTIVE'::company_status not null,
  budget                 numeric(18,4),
  currency               text not null,
  billing                billing_mode default 'POSTPAID'::billing_mode not null,
  created_at             timestamp with time zone default now() not null,
  updated_at             timestamp with time zone default now() not null,
  parts_per_second       integer,
  callback_secret        text,
  inbound                boolean default false not null,
  callback_secret_sealed bytea,
  constraint companies_pkey PRIMARY KEY (company_id),
  constraint companies_budget_check CHECK ((budget >= (0)::numeric)),
  constraint companies_counteragent_type_check CHECK ((counteragent_type = ANY (ARRAY['LEGAL'::text, 'INDIVIDUAL'::text]))),
  constraint companies_parts_per_second_check CHECK ((parts_per_second > 0)),
  constraint companies_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id)
);
CREATE INDEX companies_by_name ON companies USING btree (lower(name), company_id);
CREATE INDEX companies_of_partner ON companies USING btree (partner_id, company_id);
CREATE INDEX companies_of_partner_by_name ON companies USING btree (partner_id, lower(name), company_id);

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

create table country_prices (
  country_code text not null,
  price        numeric(18,4),
  currency     text not null,
  valid_from   timestamp with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint country_prices_pkey PRIMARY KEY (country_code, valid_from),
  constraint country_prices_price_check CHECK ((price >= (0)::numeric)),
  constraint elsewhere_has_a_price CHECK (((country_code <> '*'::text) OR (price IS NOT NULL)))
);

create table deadlines (
  company_id  bigint not null,
  deadline_id bigint generated always as identity not null,
  lane_id     bigint not null,
  first_seq   bigint not null,
  next_seq    bigint not null,
  due_at      timestamp with time zone not null,
  until       timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint deadlines_pkey PRIMARY KEY (company_id, deadline_id)
);
CREATE INDEX deadlines_by_due ON deadlines USING btree (due_at);
CREATE INDEX deadlines_of_lane ON deadlines USING btree (company_id, lane_id);

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
  unsent_messages    integer default 0 not null,
  unsent_parts       integer default 0 not null,
  constraint dispatch_blocks_pkey PRIMARY KEY (company_id, dispatch_id, block),
  constraint dispatch_blocks_company_id_dispatch_id_fkey FOREIGN KEY (company_id, dispatch_id) REFERENCES dispatches(company_id, dispatch_id)
);

create table dispatch_clicks (
  company_id  bigint not null,
  dispatch_id bigint not null,
  shard       smallint not null,
  clicks      bigint not null,
  people      bigint not null,
  constraint dispatch_clicks_pkey PRIMARY KEY (company_id, dispatch_id, shard)
);

create table dispatch_ids (
  dispatch_id bigint generated always as identity not null,
  company_id  bigint not null,
  constraint dispatch_ids_pkey PRIMARY KEY (dispatch_id)
);

create table dispatches (
  company_id       bigint not null,
  dispatch_id      bigint not null,
  name             text not null,
  status           dispatch_status default 'CREATED'::dispatch_status not null,
  channel_type     text not null,
  traffic_type     text not null,
  text             text not null,
  sender_ids       bigint[] not null,
  start_at         timestamp with time zone,
  offset_minutes   smallint,
  hours            smallint[],
  days             smallint[],
  callback_url     text,
  callback_events  text[],
  price_estimate   numeric(18,4) default 0 not null,
  message_count    bigint default 0 not null,
  first_uuid       uuid,
  last_uuid        uuid,
  created_at       timestamp with time zone default now() not null,
  started_at       timestamp with time zone,
  completed_at     timestamp with time zone,
  parts_per_second double precision,
  created_price    numeric(18,4) default 0 not null,
  tariff_ids       bigint[] default '{}'::bigint[] not null,
  sender_name      text,
  center_id        bigint,
  cascade          jsonb,
  options          jsonb,
  format           text default 'partner'::text not null,
  ended_at         timestamp with time zone,
  template_id      bigint,
  again_of         bigint,
  constraint dispatches_pkey PRIMARY KEY (company_id, dispatch_id),
  constraint dispatches_format_check CHECK ((format = ANY (ARRAY['partner'::text, 'messaging'::text]))),
  constraint dispatches_parts_per_second_check CHECK ((parts_per_second > (0)::double precision)),
  constraint dispatches_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE UNIQUE INDEX dispatches_again_once ON dispatches USING btree (company_id, again_of) WHERE (again_of IS NOT NULL);
CREATE INDEX dispatches_by_status ON dispatches USING btree (company_id, status, dispatch_id);

create table engines (
  worker        uuid not null,
  started_at    timestamp with time zone default now() not null,
  seen_at       timestamp with time zone default now() not null,
  clock_off_ms  bigint default 0 not null,
  host          text default ''::text not null,
  pid           integer default 0 not null,
  version       text default ''::text not null,
  memory_bytes  bigint,
  loop_delay_ms integer,
  unrecorded    integer,
  constraint engines_pkey PRIMARY KEY (worker)
);

create table flashcall_results (
  company_id  bigint not null,
  uuid        uuid not null,
  result      text not null,
  code        text,
  reported_at timestamp with time zone not null,
  constraint flashcall_results_pkey PRIMARY KEY (company_id, uuid),
  constraint flashcall_results_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table gateway_answers (
  gateway_id     bigint not null,
  worker         uuid not null,
  answered_until timestamp with time zone not null,
  unanswered     integer not null,
  open           integer not null,
  seen_at        timestamp with time zone not null,
  constraint gateway_answers_pkey PRIMARY KEY (gateway_id, worker),
  constraint gateway_answers_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

create table gateway_bind_seekers (
  gateway_id bigint not null,
  worker     uuid not null,
  until      timestamp with time zone not null,
  constraint gateway_bind_seekers_pkey PRIMARY KEY (gateway_id, worker),
  constraint gateway_bind_seekers_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

create table gateway_binds (
  gateway_id bigint not null,
  bind       smallint not null,
  worker     uuid not null,
  until      timestamp with time zone not null,
  constraint gateway_binds_pkey PRIMARY KEY (gateway_id, bind),
  constraint gateway_binds_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

create table gateway_chats (
  gateway_id  bigint not null,
  address     text not null,
  destination text,
  gone        boolean default false not null,
  seen_at     timestamp with time zone not null,
  constraint gateway_chats_pkey PRIMARY KEY (gateway_id, address),
  constraint gateway_chats_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);
CREATE INDEX gateway_chats_by_destination ON gateway_chats USING btree (gateway_id, destination) WHERE (destination IS NOT NULL);

create table gateway_minutes (
  gateway_id bigint not null,
  minute     timestamp with time zone not null,
  worker     uuid not null,
  parts      integer not null,
  taken      integer not null,
  ended      integer not null,
  failed     integer not null,
  errors     jsonb not null,
  constraint gateway_minutes_pkey PRIMARY KEY (gateway_id, minute, worker)
);
CREATE INDEX gateway_minutes_by_age ON gateway_minutes USING btree (minute);

create table gateway_receipt_ids (
  gateway_id bigint not null,
  relation   text not null,
  learnt_at  timestamp with time zone default now() not null,
  by_address boolean default false not null,
  constraint gateway_receipt_ids_pkey PRIMARY KEY (gateway_id),
  constraint gateway_receipt_ids_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);

create table gateway_states (
  gateway_id        bigint not null,
  worker            uuid not null,
  up                boolean not null,
  open_messages     integer not null,
  window_size       integer not null,
  bound             integer not null,
  wanted            integer not null,
  parts_last_minute integer not null,
  last_error        text,
  last_error_at     timestamp with time zone,
  seen_at           timestamp with time zone not null,
  version           integer default 0 not null,
  answer_ms         integer,
  constraint gateway_states_pkey PRIMARY KEY (gateway_id, worker)
);

create table gateways (
  gateway_id       bigint generated always as identity not null,
  name             text not null,
  channel_type     text not null,
  connector        text not null,
  brands           smallint[] default '{}'::smallint[] not null,
  settings         jsonb default '{}'::jsonb not null,
  parts_per_second integer,
  paused           boolean default false not null,
  created_at       timestamp with time zone default now() not null,
  updated_at       timestamp with time zone default now() not null,
  secrets          bytea,
  companies        bigint[] default '{}'::bigint[] not null,
  version          integer default 1 not null,
  paused_at        timestamp with time zone,
  drain_until      timestamp with time zone,
  constraint gateways_pkey PRIMARY KEY (gateway_id),
  constraint gateways_name_key UNIQUE (name),
  constraint gateways_parts_per_second_check CHECK ((parts_per_second > 0))
);

create table idempotency_keys (
  owner        text not null,
  key          text not null,
  request_hash bytea not null,
  answer       text not null,
  created_at   timestamp with time zone default now() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

create table inbound_messages (
  company_id   bigint not null,
  uuid         uuid not null,
  gateway_id   bigint,
  provider_id  text,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  text         text not null,
  content      jsonb,
  center_id    bigint not null,
  received_at  timestamp with time zone not null,
  rule_id      bigint,
  is_stop      boolean default false not null,
  constraint inbound_messages_pkey PRIMARY KEY (company_id, uuid),
  constraint inbound_messages_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX inbound_messages_by_destination ON inbound_messages USING btree (company_id, destination, uuid);
CREATE UNIQUE INDEX inbound_messages_once ON inbound_messages USING btree (company_id, gateway_id, provider_id) WHERE (provider_id IS NOT NULL);

create table inbound_rules (
  company_id   bigint not null,
  rule_id      bigint generated always as identity not null,
  channel_type text not null,
  sender_names text[],
  center_id    bigint not null,
  callback_url text,
  constraint inbound_rules_pkey PRIMARY KEY (company_id, rule_id),
  constraint inbound_rules_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table inbound_stops (
  gateway_id  bigint not null,
  provider_id text not null,
  heard_at    timestamp with time zone default now() not null,
  constraint inbound_stops_pkey PRIMARY KEY (gateway_id, provider_id),
  constraint inbound_stops_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(gateway_id) ON DELETE CASCADE
);
CREATE INDEX inbound_stops_by_time ON inbound_stops USING btree (heard_at);

create table key_uses (
  company_id bigint not null,
  key_id     bigint not null,
  used_at    timestamp with time zone not null,
  constraint key_uses_pkey PRIMARY KEY (company_id, key_id)
);

create table lanes (
  company_id   bigint not null,
  lane_id      bigint generated always as identity not null,
  dispatch_id  bigint,
  channel_type text not null,
  sender_id    bigint,
  brand_id     smallint not null,
  priority     smallint not null,
  zone         text,
  tail         bigint default 0 not null,
  cursor       bigint default 0 not null,
  open         boolean default false not null,
  served_at    timestamp with time zone default '-infinity'::timestamp with time zone not null,
  not_before   timestamp with time zone default '-infinity'::timestamp with time zone not null,
  sender_name  text,
  start_at     timestamp with time zone,
  end_at       timestamp with time zone,
  end_code     smallint,
  ending_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint lanes_pkey PRIMARY KEY (company_id, lane_id),
  constraint lanes_once UNIQUE NULLS NOT DISTINCT (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
);
CREATE INDEX lanes_ending ON lanes USING btree (end_at) WHERE (end_at IS NOT NULL);
CREATE INDEX lanes_in_turn ON lanes USING btree (company_id, channel_type, priority, served_at, lane_id) WHERE (open AND (cursor < tail));
CREATE INDEX lanes_ready ON lanes USING btree (priority, company_id, channel_type, not_before) WHERE (open AND (cursor < tail));

create table late_receipts (
  company_id     bigint not null,
  message_uuid   uuid not null,
  status         message_status not null,
  received_at    timestamp with time zone not null,
  error_code     integer,
  operator_error text,
  constraint late_receipts_pkey PRIMARY KEY (company_id, message_uuid, status)
);
CREATE INDEX late_receipts_by_age ON late_receipts USING btree (received_at);

create table leases (
  company_id bigint not null,
  lease_id   bigint generated always as identity not null,
  lane_id    bigint not null,
  first_seq  bigint not null,
  next_seq   bigint not null,
  worker     uuid,
  token      uuid,
  until      timestamp with time zone not null,
  attempts   integer default 0 not null,
  due_at     timestamp with time zone default '-infinity'::timestamp with time zone not null,
  gateway_id bigint,
  constraint leases_pkey PRIMARY KEY (company_id, lease_id),
  constraint leases_company_id_lane_id_fkey FOREIGN KEY (company_id, lane_id) REFERENCES lanes(company_id, lane_id)
);
CREATE INDEX leases_by_end ON leases USING btree (until);
CREATE INDEX leases_in_turn ON leases USING btree (company_id, due_at, lease_id);
CREATE INDEX leases_of_lane ON leases USING btree (company_id, lane_id);

create table ledger_entries (
  company_id  bigint not null,
  entry_id    bigint generated always as identity not null,
  kind        text not null,
  debit       text not null,
  credit      text not null,
  amount      numeric(18,4) not null,
  currency    text not null,
  month       date not null,
  dispatch_id bigint,
  sender_id   bigint,
  tariff_id   bigint,
  note        text,
  created_at  timestamp with time zone default now() not null,
  messages    bigint,
  constraint ledger_entries_pkey PRIMARY KEY (company_id, entry_id),
  constraint corrections_have_a_reason CHECK (((kind <> 'CORRECTION'::text) OR (note IS NOT NULL))),
  constraint ledger_entries_amount_check CHECK (((amount > (0)::numeric) OR ((kind = 'CORRECTION'::text) AND (amount < (0)::numeric)))),
  constraint ledger_entries_kind_check CHECK ((kind = ANY (ARRAY['TOPUP'::text, 'CORRECTION'::text, 'MESSAGES'::text, 'MAU_PACKAGE'::text, 'SENDER_FEE'::text]))),
  constraint ledger_entries_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);
CREATE INDEX ledger_entries_by_cause ON ledger_entries USING btree (company_id, dispatch_id, kind, entry_id);
CREATE INDEX ledger_entries_by_month ON ledger_entries USING btree (company_id, month);
CREATE UNIQUE INDEX sender_fee_once_a_month ON ledger_entries USING btree (company_id, sender_id, month) WHERE (kind = 'SENDER_FEE'::text);

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
  balance        numeric(18,4) not null,
  note           text,
  constraint ledger_lines_pkey PRIMARY KEY (company_id, day, line_id),
  constraint ledger_lines_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);
CREATE INDEX ledger_lines_by_kind ON ledger_lines USING btree (company_id, kind, day, line_id);
CREATE UNIQUE INDEX ledger_lines_of_cause ON ledger_lines USING btree (company_id, day, month, kind, dispatch_id, sender_id, tariff_id) NULLS NOT DISTINCT WHERE (kind <> ALL (ARRAY['TOPUP'::text, 'CORRECTION'::text]));

create table link_clicks (
  company_id bigint not null,
  code       text not null,
  click_id   bigint generated always as identity not null,
  clicked_at timestamp with time zone not null,
  constraint link_clicks_pkey PRIMARY KEY (company_id, code, click_id)
);

create table link_hours (
  company_id bigint not null,
  hour       timestamp with time zone not null,
  shard      smallint not null,
  clicks     bigint not null,
  constraint link_hours_pkey PRIMARY KEY (company_id, hour, shard)
);
CREATE INDEX link_hours_by_age ON link_hours USING btree (hour);

create table login_failures (
  subject           text not null,
  failures          integer not null,
  window_started_at timestamp with time zone not null,
  constraint login_failures_pkey PRIMARY KEY (subject)
);

create table message_timers (
  company_id bigint not null,
  uuid       uuid not null,
  kind       text not null,
  due_at     timestamp with time zone not null,
  until      timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint message_timers_pkey PRIMARY KEY (company_id, uuid, kind),
  constraint message_timers_kind_check CHECK ((kind = ANY (ARRAY['send'::text, 'complete'::text, 'expire'::text, 'unread'::text, 'step'::text])))
);
CREATE INDEX message_timers_by_due ON message_timers USING btree (due_at);

create table messages (
  company_id      bigint not null,
  uuid            uuid not null,
  dispatch_id     bigint,
  "position"      bigint,
  lane_id         bigint,
  seq             bigint,
  sender_id       bigint,
  tariff_id       bigint,
  price           numeric(18,4) not null,
  sent_at         timestamp with time zone,
  final_at        timestamp with time zone,
  status          message_status not null,
  error_code      integer,
  parts           smallint not null,
  brand_id        smallint not null,
  destination     text not null,
  text            text,
  final_price     numeric(18,4),
  channel_type    text,
  sender_name     text,
  external_id     text,
  center_id       bigint,
  sending_method  text,
  traffic_type    text,
  template_id     bigint,
  content         jsonb,
  options         jsonb,
  callback_url    text,
  callback_events text[],
  send_at         timestamp with time zone,
  expires_at      timestamp with time zone,
  cascade_uuid    uuid,
  cascade_step    smallint,
  read_at         timestamp with time zone,
  operator_error  text,
  waits_until     timestamp with time zone,
  sealed          bytea,
  key_id          bigint,
  constraint messages_pkey PRIMARY KEY (company_id, uuid)
) partition by RANGE (uuid);
CREATE INDEX messages_by_destination ON messages USING btree (destination, company_id, uuid);
CREATE INDEX messages_by_external_id ON messages USING btree (company_id, external_id, uuid) WHERE (external_id IS NOT NULL);
CREATE INDEX messages_by_lane ON messages USING btree (company_id, lane_id, seq) WHERE (lane_id IS NOT NULL);
CREATE INDEX messages_by_position ON messages USING btree (company_id, dispatch_id, "position") WHERE (dispatch_id IS NOT NULL);
CREATE INDEX messages_of_cascade ON messages USING btree (company_id, cascade_uuid, uuid) WHERE (cascade_uuid IS NOT NULL);

create table numbering_ranges (
  first       bigint not null,
  last        bigint not null,
  operator_id integer not null,
  region      text not null,
  constraint numbering_ranges_pkey PRIMARY KEY (first),
  constraint numbering_ranges_check CHECK ((((first >= '70000000000'::bigint) AND (first <= '79999999999'::bigint)) AND (last >= first) AND ((last / 10000000) = (first / 10000000)))),
  constraint numbering_ranges_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(operator_id)
);

create table numbering_sources (
  kind        text not null,
  name        text not null,
  entries     bigint not null,
  imported_at timestamp with time zone not null,
  constraint numbering_sources_pkey PRIMARY KEY (kind),
  constraint numbering_sources_kind_check CHECK ((kind = ANY (ARRAY['register'::text, 'ported'::text])))
);

create table numbering_upload_pieces (
  upload_id bigint not null,
  piece     integer not null,
  content   bytea not null,
  constraint numbering_upload_pieces_pkey PRIMARY KEY (upload_id, piece),
  constraint numbering_upload_pieces_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES numbering_uploads(upload_id) ON DELETE CASCADE
);

create table numbering_uploads (
  upload_id  bigint generated always as identity not null,
  kind       text not null,
  name       text not null,
  replaces   boolean not null,
  size_bytes bigint not null,
  version    bigint,
  difference jsonb,
  created_at timestamp with time zone not null,
  constraint numbering_uploads_pkey PRIMARY KEY (upload_id),
  constraint numbering_uploads_kind_check CHECK ((kind = ANY (ARRAY['register'::text, 'ported'::text]))),
  constraint numbering_uploads_size_bytes_check CHECK ((size_bytes > 0))
);

create table numbering_version (
  only_row boolean default true not null,
  version  bigint not null,
  constraint numbering_version_pkey PRIMARY KEY (only_row),
  constraint numbering_version_only_row_check CHECK (only_row)
);

create table operators (
  operator_id integer generated always as identity not null,
  inn         text not null,
  name        text not null,
  constraint operators_pkey PRIMARY KEY (operator_id),
  constraint operators_inn_name_key UNIQUE (inn, name)
);

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

create table partner_networks (
  partner_id   bigint not null,
  network      text not null,
  last_used_at timestamp with time zone not null,
  constraint partner_networks_pkey PRIMARY KEY (partner_id, network),
  constraint partner_networks_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id) ON DELETE CASCADE
);

create table partner_tokens (
  token_hash bytea not null,
  partner_id bigint not null,
  expires_at timestamp with time zone not null,
  constraint partner_tokens_pkey PRIMARY KEY (token_hash),
  constraint partner_tokens_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id) ON DELETE CASCADE
);
CREATE INDEX partner_tokens_by_expiry ON partner_tokens USING btree (expires_at);
CREATE INDEX partner_tokens_of_partner ON partner_tokens USING btree (partner_id);

create table partners (
  partner_id    bigint generated always as identity not null,
  login         text not null,
  password_hash text not null,
  currency      text default 'RUB'::text not null,
  created_at    timestamp with time zone default now() not null,
  disabled_at   timestamp with time zone,
  constraint partners_pkey PRIMARY KEY (partner_id),
  constraint partners_login_key UNIQUE (login)
);

create table people (
  person_id     bigint generated always as identity not null,
  kind          text not null,
  company_id    bigint,
  partner_id    bigint,
  role          text not null,
  login         text not null,
  name          text default ''::text not null,
  password_hash text,
  totp_secret   bytea,
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

create table person_invitations (
  token_hash bytea not null,
  person_id  bigint not null,
  expires_at timestamp with time zone not null,
  constraint person_invitations_pkey PRIMARY KEY (token_hash),
  constraint person_invitations_person_id_key UNIQUE (person_id),
  constraint person_invitations_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

create table person_networks (
  person_id    bigint not null,
  network      text not null,
  last_used_at timestamp with time zone not null,
  constraint person_networks_pkey PRIMARY KEY (person_id, network),
  constraint person_networks_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

create table person_recovery_codes (
  person_id bigint not null,
  code_hash bytea not null,
  constraint person_recovery_codes_pkey PRIMARY KEY (person_id, code_hash),
  constraint person_recovery_codes_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);

create table person_sessions (
  session_hash bytea not null,
  person_id    bigint not null,
  half         boolean not null,
  address      text not null,
  agent        text not null,
  created_at   timestamp with time zone not null,
  used_at      timestamp with time zone not null,
  constraint person_sessions_pkey PRIMARY KEY (session_hash),
  constraint person_sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE
);
CREATE INDEX person_sessions_by_use ON person_sessions USING btree (used_at);
CREATE INDEX person_sessions_of_person ON person_sessions USING btree (person_id);

create table ported_numbers (
  number   bigint not null,
  brand_id smallint not null,
  constraint ported_numbers_pkey PRIMARY KEY (number),
  constraint ported_numbers_brand_id_check CHECK (((brand_id >= 1) AND (brand_id <= 4))),
  constraint ported_numbers_number_check CHECK (((number >= '70000000000'::bigint) AND (number <= '79999999999'::bigint)))
);

create table rate_buckets (
  subject   text not null,
  tokens    double precision not null,
  filled_at timestamp with time zone not null,
  constraint rate_buckets_pkey PRIMARY KEY (subject)
);

create table receipt_inbox (
  receipt_id    bigint generated always as identity not null,
  gateway_id    bigint not null,
  provider_id   text not null,
  status        text not null,
  error_code    integer,
  raw_code      text,
  happened_at   timestamp with time zone not null,
  received_at   timestamp with time zone default now() not null,
  claimed_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  own_id        text,
  is_unread     boolean default false not null,
  subscriber    text,
  constraint receipt_inbox_pkey PRIMARY KEY (receipt_id)
);
CREATE INDEX receipt_inbox_by_age ON receipt_inbox USING btree (received_at);
CREATE INDEX receipt_inbox_by_claim ON receipt_inbox USING btree (claimed_until);
CREATE INDEX receipt_inbox_by_id ON receipt_inbox USING btree (gateway_id, provider_id);
CREATE INDEX receipt_inbox_unread ON receipt_inbox USING btree (gateway_id, receipt_id) WHERE is_unread;

create table receivers (
  company_id bigint not null,
  receiver   text not null,
  failures   integer default 0 not null,
  probe_at   timestamp with time zone default '-infinity'::timestamp with time zone not null,
  served_at  timestamp with time zone default '-infinity'::timestamp with time zone not null,
  worker     uuid,
  until      timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint receivers_pkey PRIMARY KEY (company_id, receiver),
  constraint receivers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table request_minutes (
  owner_kind text not null,
  owner_id   bigint not null,
  minute     timestamp with time zone not null,
  key_id     bigint not null,
  requests   integer not null,
  refused    integer not null,
  unlisted   integer not null,
  constraint request_minutes_pkey PRIMARY KEY (owner_kind, owner_id, minute, key_id)
);
CREATE INDEX request_minutes_by_age ON request_minutes USING btree (minute);

create table requests (
  owner_kind text not null,
  owner_id   bigint not null,
  at         timestamp(3) with time zone not null,
  request_no bigint generated always as identity not null,
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
CREATE INDEX requests_by_id ON requests USING btree (owner_kind, owner_id, request_id);
CREATE INDEX requests_refused ON requests USING btree (owner_kind, owner_id, at, request_no) WHERE (status >= 400);

create table schema_compatibility (
  only_row        boolean default true not null,
  minimum_version integer not null,
  constraint schema_compatibility_pkey PRIMARY KEY (only_row),
  constraint schema_compatibility_only_row_check CHECK (only_row)
);

create table schema_migrations (
  version    integer not null,
  name       text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table sender_fees (
  brand    text not null,
  value    numeric(18,4) not null,
  currency text not null,
  constraint sender_fees_pkey PRIMARY KEY (brand),
  constraint sender_fees_value_check CHECK ((value >= (0)::numeric))
);

create table sender_ids (
  sender_id  bigint generated always as identity not null,
  company_id bigint not null,
  constraint sender_ids_pkey PRIMARY KEY (sender_id)
);

create table sender_moves (
  company_id  bigint not null,
  sender_id   bigint not null,
  move_id     bigint generated always as identity not null,
  from_status sender_status not null,
  to_status   sender_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamp with time zone not null,
  constraint sender_moves_pkey PRIMARY KEY (company_id, sender_id, move_id),
  constraint sender_moves_company_id_sender_id_fkey FOREIGN KEY (company_id, sender_id) REFERENCES senders(company_id, sender_id)
);
CREATE INDEX sender_moves_to_end ON sender_moves USING btree (moved_at) WHERE (to_status = ANY (ARRAY['DENIED'::sender_status, 'CLOSED'::sender_status]));

create table senders (
  company_id       bigint not null,
  sender_id        bigint not null,
  sender_name      text not null,
  channel_type     text not null,
  common_type      text not null,
  brand            text not null,
  country_code     text not null,
  description      text,
  document_ids     uuid[] default '{}'::uuid[] not null,
  date_from        timestamp with time zone not null,
  date_to          timestamp with time zone,
  status           sender_status default 'DRAFT'::sender_status not null,
  suspended        boolean default false not null,
  suspend_reason   text,
  fee              numeric(18,4),
  manager_comment  text,
  rejected_at      timestamp with time zone,
  created_at       timestamp with time zone default now() not null,
  parts_per_second integer,
  constraint senders_pkey PRIMARY KEY (company_id, sender_id),
  constraint senders_parts_per_second_check CHECK ((parts_per_second > 0)),
  constraint senders_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX senders_by_name ON senders USING btree (sender_name, channel_type, company_id);
CREATE INDEX senders_by_plain_name ON senders USING btree (lower(regexp_replace(sender_name, '[^[:alnum:]]'::text, ''::text, 'g'::text)) COLLATE "C");
CREATE INDEX senders_in_review ON senders USING btree (status, date_from) WHERE (status = ANY (ARRAY['DRAFT'::sender_status, 'PRE_REVIEW'::sender_status, 'INTERNAL_REVIEW'::sender_status, 'EXTERNAL_REVIEW'::sender_status, 'AWAITING'::sender_status]));
CREATE INDEX senders_paid ON senders USING btree (company_id, sender_id) WHERE ((status = 'APPROVED'::sender_status) AND (fee > (0)::numeric));
CREATE INDEX senders_to_close ON senders USING btree (date_to) WHERE ((status = ANY (ARRAY['AWAITING'::sender_status, 'APPROVED'::sender_status])) AND (date_to IS NOT NULL));

create table short_links (
  code         text not null,
  company_id   bigint not null,
  message_uuid uuid not null,
  url          text not null,
  created_at   timestamp with time zone not null,
  constraint short_links_pkey PRIMARY KEY (code)
);
CREATE INDEX short_links_by_age ON short_links USING btree (created_at);
CREATE INDEX short_links_by_message ON short_links USING btree (company_id, message_uuid, code);

create table simulator_inbound (
  inbound_id   bigint generated always as identity not null,
  channel_type text not null,
  sender_name  text not null,
  msisdn       text not null,
  text         text not null,
  written_at   timestamp with time zone default clock_timestamp() not null,
  constraint simulator_inbound_pkey PRIMARY KEY (inbound_id)
);
CREATE INDEX simulator_inbound_by_channel ON simulator_inbound USING btree (channel_type, inbound_id);

create table simulator_messages (
  simulator_id bigint generated always as identity not null,
  gateway_id   bigint not null,
  worker       uuid not null,
  company_id   bigint not null,
  uuid         uuid not null,
  sender_name  text not null,
  destination  text not null,
  channel_type text not null,
  text         text not null,
  accepted_at  timestamp with time zone default clock_timestamp() not null,
  constraint simulator_messages_pkey PRIMARY KEY (simulator_id)
);

create table stop_requests (
  company_id   bigint not null,
  uuid         uuid not null,
  requested_at timestamp with time zone default now() not null,
  constraint stop_requests_pkey PRIMARY KEY (company_id, uuid)
);

create table submissions (
  gateway_id  bigint not null,
  provider_id text not null,
  day         date not null,
  company_id  bigint not null,
  uuid        uuid not null,
  part        smallint not null,
  parts       smallint not null,
  status      text default 'SENT'::text not null,
  constraint submissions_pkey PRIMARY KEY (gateway_id, provider_id, day, uuid, part)
) partition by RANGE (day);
CREATE INDEX submissions_of_message ON submissions USING btree (company_id, uuid) WHERE (parts > 1);

create table subscribers (
  company_id   bigint not null,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  address      text not null,
  created_at   timestamp with time zone default now() not null,
  constraint subscribers_pkey PRIMARY KEY (company_id, channel_type, sender_name, destination, address),
  constraint subscribers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);
CREATE INDEX subscribers_by_address ON subscribers USING btree (address, channel_type, sender_name);
CREATE INDEX subscribers_by_name ON subscribers USING btree (sender_name, destination);

create table tariff_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  month       date not null,
  destination text not null,
  constraint tariff_recipients_pkey PRIMARY KEY (company_id, tariff_id, month, destination)
);

create table tariff_steps (
  tariff_id       bigint not null,
  from_count      bigint not null,
  price           numeric(18,4) not null,
  price_mau_batch numeric(18,4),
  constraint tariff_steps_pkey PRIMARY KEY (tariff_id, from_count),
  constraint tariff_steps_from_count_check CHECK ((from_count >= 0)),
  constraint tariff_steps_price_check CHECK ((price >= (0)::numeric)),
  constraint tariff_steps_price_mau_batch_check CHECK ((price_mau_batch >= (0)::numeric)),
  constraint tariff_steps_tariff_id_fkey FOREIGN KEY (tariff_id) REFERENCES tariffs(tariff_id) ON DELETE CASCADE
);

create table tariff_usage (
  company_id bigint not null,
  tariff_id  bigint not null,
  month      date not null,
  delivered  bigint default 0 not null,
  recipients bigint default 0 not null,
  constraint tariff_usage_pkey PRIMARY KEY (company_id, tariff_id, month),
  constraint tariff_usage_company_id_fkey FOREIGN KEY (company_id) REFERENCES accounts(company_id)
);
CREATE INDEX tariff_usage_of_tariff ON tariff_usage USING btree (tariff_id, month);

create table tariffs (
  tariff_id     bigint generated always as identity not null,
  partner_id    bigint,
  sender_type   text not null,
  brand         text,
  traffic_type  text,
  pricing_model text not null,
  currency      text not null,
  superseded_at timestamp with time zone,
  valid_from    timestamp with time zone,
  constraint tariffs_pkey PRIMARY KEY (tariff_id),
  constraint tariffs_check CHECK ((superseded_at >= valid_from)),
  constraint tariffs_pricing_model_check CHECK ((pricing_model = ANY (ARRAY['FIXED'::text, 'SCALED'::text, 'MAU'::text]))),
  constraint tariffs_sender_type_check CHECK ((sender_type = ANY (ARRAY['COMMON'::text, 'START'::text, 'PRO'::text]))),
  constraint tariffs_traffic_type_check CHECK ((traffic_type = ANY (ARRAY['PROMO'::text, 'SERVICE'::text, 'TRANSACT'::text, 'AUTHORIZE'::text]))),
  constraint tariffs_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(partner_id)
);
CREATE UNIQUE INDEX tariffs_current ON tariffs USING btree (partner_id, sender_type, brand, traffic_type) NULLS NOT DISTINCT WHERE (superseded_at IS NULL);

create table template_ids (
  template_id bigint generated always as identity not null,
  company_id  bigint not null,
  constraint template_ids_pkey PRIMARY KEY (template_id)
);

create table template_moves (
  company_id  bigint not null,
  template_id bigint not null,
  move_id     bigint generated always as identity not null,
  from_status sender_status not null,
  to_status   sender_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamp with time zone not null,
  constraint template_moves_pkey PRIMARY KEY (company_id, template_id, move_id),
  constraint template_moves_company_id_template_id_fkey FOREIGN KEY (company_id, template_id) REFERENCES templates(company_id, template_id)
);

create table template_versions (
  company_id bigint not null,
  version    bigint not null,
  constraint template_versions_pkey PRIMARY KEY (company_id),
  constraint template_versions_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table templates (
  company_id      bigint not null,
  template_id     bigint not null,
  channel_type    text not null,
  template_type   text not null,
  pattern         text not null,
  sender_id       bigint,
  content         jsonb,
  date_from       timestamp with time zone not null,
  date_to         timestamp with time zone,
  status          sender_status default 'DRAFT'::sender_status not null,
  manager_comment text,
  rejected_at     timestamp with time zone,
  created_at      timestamp with time zone default now() not null,
  constraint templates_pkey PRIMARY KEY (company_id, template_id),
  constraint templates_template_type_check CHECK ((template_type = ANY (ARRAY['AUTHORIZE'::text, 'TRANSACT'::text, 'SERVICE'::text, 'PROMO'::text]))),
  constraint templates_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id),
  constraint templates_company_id_sender_id_fkey FOREIGN KEY (company_id, sender_id) REFERENCES senders(company_id, sender_id)
);
CREATE INDEX templates_in_review ON templates USING btree (status, date_from) WHERE (status = ANY (ARRAY['DRAFT'::sender_status, 'PRE_REVIEW'::sender_status, 'INTERNAL_REVIEW'::sender_status, 'EXTERNAL_REVIEW'::sender_status, 'AWAITING'::sender_status]));
CREATE INDEX templates_to_close ON templates USING btree (date_to) WHERE ((status = ANY (ARRAY['AWAITING'::sender_status, 'APPROVED'::sender_status])) AND (date_to IS NOT NULL));

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
);

create table verification_counters (
  company_id   bigint not null,
  verifier_id  text not null,
  day          date not null,
  channel_type text not null,
  country      text not null,
  what         text not null,
  count        bigint not null,
  cost         numeric(18,4) default 0 not null,
  total_ms     bigint default 0 not null,
  constraint verification_counters_pkey PRIMARY KEY (company_id, verifier_id, day, channel_type, country, what),
  constraint verification_counters_what_check CHECK ((what = ANY (ARRAY['sent'::text, 'delivered'::text, 'confirmed'::text])))
);
CREATE INDEX verification_counters_by_day ON verification_counters USING btree (company_id, day);

create table verification_limits (
  company_id    bigint not null,
  subject       text not null,
  since         timestamp with time zone not null,
  count         integer not null,
  last_at       timestamp with time zone not null,
  streak        integer default 0 not null,
  blocked_until timestamp with time zone,
  blocks        smallint default 0 not null,
  reason        text,
  constraint verification_limits_pkey PRIMARY KEY (company_id, subject)
);
CREATE INDEX verification_limits_blocked ON verification_limits USING btree (company_id, blocked_until) WHERE (blocked_until IS NOT NULL);
CREATE INDEX verification_limits_old ON verification_limits USING brin (last_at);

create table verifications (
  company_id        bigint not null,
  verification_uuid uuid not null,
  verifier_id       text not null,
  destination       text not null,
  country           text not null,
  prefix            text not null,
  channel_type      text not null,
  code_hashes       bytea[] not null,
  code_ends         timestamp with time zone[] not null,
  tries_left        smallint not null,
  sent_at           timestamp with time zone not null,
  confirmed_at      timestamp with time zone,
  newest_uuid       uuid,
  constraint verifications_pkey PRIMARY KEY (company_id, verification_uuid),
  constraint verifications_tries_left_check CHECK ((tries_left >= 0))
);
CREATE INDEX verifications_by_destination ON verifications USING btree (destination, company_id, verification_uuid);
CREATE INDEX verifications_by_prefix ON verifications USING btree (prefix, company_id, verification_uuid);

create table verifier_ids (
  verifier_id text not null,
  company_id  bigint not null,
  constraint verifier_ids_pkey PRIMARY KEY (verifier_id),
  constraint verifier_ids_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table verifiers (
  company_id     bigint not null,
  verifier_id    text not null,
  kind           text not null,
  name           text not null,
  settings       jsonb not null,
  page           jsonb,
  created_at     timestamp with time zone default now() not null,
  captcha_secret bytea,
  constraint verifiers_pkey PRIMARY KEY (company_id, verifier_id),
  constraint verifiers_check CHECK (((kind = 'WIDGET'::text) = (page IS NOT NULL))),
  constraint verifiers_kind_check CHECK ((kind = ANY (ARRAY['API'::text, 'WIDGET'::text]))),
  constraint verifiers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(company_id)
);

create table virtual_operators (
  inn      text not null,
  name     text not null,
  brand_id smallint not null,
  constraint virtual_operators_pkey PRIMARY KEY (inn),
  constraint virtual_operators_brand_id_check CHECK (((brand_id >= 0) AND (brand_id <= 4)))
);

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

create table widget_sessions (
  company_id        bigint not null,
  key_hash          bytea not null,
  secret_hash       bytea not null,
  widget_id         text not null,
  destination       text not null,
  client_address    text not null,
  network           text not null,
  origin            text not null,
  language          text,
  channel_type      text not null,
  state             text default 'WAITING'::text not null,
  asks              integer default 1 not null,
  asked_at          timestamp with time zone default now() not null,
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
CREATE INDEX widget_sessions_old ON widget_sessions USING btree (ends_at);
CREATE INDEX widget_sessions_waiting ON widget_sessions USING btree (company_id, asked_at) WHERE (state = 'WAITING'::text);

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
  lock table only audit_entries in share update exclusive mode; -- two processes at once: the second looks again
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I (like audit_entries including defaults including constraints including storage)', name);
  execute format('alter table audit_entries attach partition %I for values from (%L) to (%L)', name,
    first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
  perform protect_audit_month(name);
end $function$;

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
  -- Two processes at once: the second waits here, and looks again. An advisory lock would not refresh what it sees.
  lock table only messages in share update exclusive mode;
  if to_regclass(partition) is null then
    execute format('create table %I (like messages including defaults including constraints including storage)
      with (fillfactor = 70)', partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$function$;

CREATE OR REPLACE FUNCTION ensure_message_months()
 RETURNS void
 LANGUAGE sql
AS $function$
  select ensure_message_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date)
  from generate_series(0, 3) ahead
$function$;

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
  lock table only requests in share update exclusive mode; -- two processes at once: the second looks again
  if to_regclass(name) is not null then return; end if;
  execute format('create unlogged table %I (like requests including defaults including constraints)', name);
  execute format('alter table requests attach partition %I for values from (%L) to (%L)', name, first,
    first + interval '1 hour');
end $function$;

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
    lock table only submissions in share update exclusive mode; -- as for the months of messages
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

CREATE OR REPLACE FUNCTION protect_audit_month(name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create trigger audit_entries_are_not_truncated before truncate on %I
    for each statement execute function refuse_audit_change()', name);
end $function$;

CREATE OR REPLACE FUNCTION refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  has_rows boolean := true;
begin
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into has_rows;
  end if;
  if has_rows then
    raise exception 'the audit log can only grow: % of % is refused', lower(tg_op), tg_table_name
      using errcode = 'insufficient_privilege';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION uuid7_floor(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$function$;

CREATE OR REPLACE FUNCTION uuid7_time(uuid uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select to_timestamp(('x' || left(replace(uuid::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$function$;
