-- The widget: visitors who confirm a number on the page of a site.

-- What the captcha's provider gave the company to check answers with, encrypted.
alter table verifiers add column captcha_secret bytea;

-- The message with the newest code of a verification that was sent more than one: fallbacks of earlier codes end.
alter table verifications add column newest_uuid uuid;

-- A visitor who confirms a number. The key goes to the site's server, the secret stays in the browser; both are kept as
-- hashes. `asks` counts the codes that the browser asked for: each is sent once, however often the server calls.
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
create index widget_sessions_by_number on widget_sessions (company_id, destination, created_at);
create index widget_sessions_by_network on widget_sessions (company_id, network, created_at);
create index widget_sessions_waiting on widget_sessions (company_id) where state = 'WAITING';
create index widget_sessions_old on widget_sessions (ends_at);

-- Answers to our own captcha that were used, until they expire.
create table captcha_uses (
  company_id bigint not null,
  use_hash   bytea not null,
  expires_at timestamptz not null,
  primary key (company_id, use_hash)
);
create index captcha_uses_old on captcha_uses (expires_at);

-- Why a widget showed an error, for the company that put it on its page.
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
create index widget_errors_by_widget on widget_errors (company_id, widget_id, created_at);
create index widget_errors_old on widget_errors (created_at);
