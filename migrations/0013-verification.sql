-- Phone verification by codes, and the widget for web pages.

create table verifier_ids (
  verifier_id text primary key,
  company_id  bigint not null references companies
);
comment on table verifier_ids is
  'Finds the company of a verifier or widget by its id. The row stays when the verifier is deleted, so an id is never '
  'used again.';

create table verifiers (
  company_id     bigint not null references companies,
  verifier_id    text not null,
  kind           text not null check (kind in ('API', 'WIDGET')),
  name           text not null,
  settings       jsonb not null,
  page           jsonb,
  captcha_secret bytea,
  created_at     timestamptz not null default now(),
  primary key (company_id, verifier_id),
  check ((kind = 'WIDGET') = (page is not null))
);
comment on table verifiers is
  'Decides how a company sends verification codes. A widget is a verifier with the settings of a web page.';
comment on column verifiers.page is
  'The settings of the page of a widget: origins, captcha, site builder.';
comment on column verifiers.captcha_secret is
  'The secret with which the provider of the captcha checks answers, encrypted.';

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
  newest_uuid       uuid,
  sent_at           timestamptz not null,
  confirmed_at      timestamptz,
  primary key (company_id, verification_uuid)
) with (fillfactor = 80);
-- As for messages, these indexes do not begin with company_id.
create index verifications_by_destination on verifications (destination, company_id, verification_uuid);
create index verifications_by_prefix on verifications (prefix, company_id, verification_uuid);
comment on table verifications is
  'One proof of a number, from sending its first code to its confirmation. Sending a code writes the row, a check '
  'changes it. Housekeeping deletes it after a week.';
comment on column verifications.verification_uuid is
  'The key of the first message.';
comment on column verifications.prefix is
  'The number without its last four digits.';
comment on column verifications.channel_type is
  'The channel of the newest message. sent_at is its time.';
comment on column verifications.code_hashes is
  'Keyed hashes of all codes that were sent for the number.';
comment on column verifications.code_ends is
  'When the code with the same index ends; -infinity: the message of the code is not accepted yet.';
comment on column verifications.newest_uuid is
  'The message with the newest code; null: there was one code. Fallbacks of earlier codes end.';

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
create index verification_counters_by_day on verification_counters (company_id, day);
comment on table verification_counters is
  'Counts the codes of a day (UTC). Sent, delivered and confirmed codes have rows of their own, so that requests that '
  'send codes and requests that check codes do not wait for each other.';
comment on column verification_counters.total_ms is
  'The time from sending to confirmation, summed over the confirmed codes.';

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
create index verification_limits_old on verification_limits using brin (last_at);
comment on table verification_limits is
  'Counts the codes that were sent for a subject and blocks it when there are too many. Housekeeping deletes subjects '
  'three days after their last code.';
comment on column verification_limits.subject is
  '"number:…", "address:…", "prefix:…", "verifier:…" or "company".';
comment on column verification_limits.since is
  'The start of the window in which codes are counted.';
comment on column verification_limits.streak is
  'Of a number: codes in a row that were not confirmed.';
comment on column verification_limits.blocks is
  'How often the subject was blocked lately. Each block lasts twice as long as the last.';
comment on index verification_limits_old is
  'Only housekeeping reads it. A btree index would get a new entry with every code.';

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
  state             text not null default 'WAITING' check (state in ('WAITING', 'SENT', 'FAILED')),
  asks              int not null default 1,
  asked_at          timestamptz not null default now(),
  error             int,
  retry_at          timestamptz,
  verification_uuid uuid,
  message_uuid      uuid,
  created_at        timestamptz not null default now(),
  ends_at           timestamptz not null,
  primary key (company_id, key_hash)
);
create index widget_sessions_by_network on widget_sessions (company_id, network, created_at);
create index widget_sessions_waiting on widget_sessions (company_id, asked_at) where state = 'WAITING';
create index widget_sessions_old on widget_sessions (ends_at);
comment on table widget_sessions is
  'The confirmation of a number by a visitor of a web page. The browser creates the session; the server of the site '
  'has the code sent. Housekeeping deletes it a day after its end.';
comment on column widget_sessions.key_hash is
  'The hash of the key that the browser gives to the server of the site.';
comment on column widget_sessions.secret_hash is
  'The hash of the secret that stays in the browser.';
comment on column widget_sessions.network is
  'The network of client_address. New sessions are limited by network and widget.';
comment on column widget_sessions.asks is
  'The number of codes that the browser asked for. Each code is sent once, however often the server of the site '
  'calls.';
comment on column widget_sessions.error is
  'The error code of a FAILED session.';
comment on index widget_sessions_waiting is
  'Sessions that visitors left stay WAITING; asked_at finds the few that wait now.';

create table captcha_uses (
  company_id bigint not null,
  use_hash   bytea not null,
  expires_at timestamptz not null,
  primary key (company_id, use_hash)
);
create index captcha_uses_old on captcha_uses (expires_at);
comment on table captcha_uses is
  'A solution of our own captcha that was used. It is kept until it expires, so that it is accepted once.';

create table widget_errors (
  company_id  bigint not null,
  error_id    bigint generated always as identity,
  widget_id   text not null,
  code        int not null,
  reason      text not null,
  origin      text,
  destination text,
  created_at  timestamptz not null default now(),
  primary key (company_id, error_id)
);
create index widget_errors_by_code on widget_errors (company_id, widget_id, code, created_at);
create index widget_errors_old on widget_errors (created_at);
comment on table widget_errors is
  'An error that a widget showed, for the company that uses the widget. Each error code has a limit of its own, '
  'because strangers can cause some codes at will. Housekeeping deletes errors after 30 days.';
