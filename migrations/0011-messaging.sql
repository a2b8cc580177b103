-- The messaging API: single messages with everything that can be said of one, cascades, reads, inbound messages.

-- What only single messages have stays empty in the rows of dispatches and costs them nothing: the bitmap of empty
-- columns fits into the padding of the row's header.
alter table messages
  add column channel_type    text,
  add column sender_name     text,
  add column external_id     text,
  add column center_id       bigint,
  add column sending_method  text,
  add column traffic_type    text,
  add column template_id     bigint,
  add column content         jsonb,
  -- As the client gave it: tags, ttl, hours, days, useLocalTime, localSendTime, localCompletionTime, shortUrl.
  add column options         jsonb,
  add column callback_url    text,
  add column callback_events text[],
  -- When it may go first, and when it is of no use any more.
  add column send_at         timestamptz,
  add column expires_at      timestamptz,
  add column cascade_uuid    uuid,
  add column cascade_step    smallint,
  add column read_at         timestamptz,
  -- The operator's own word for a failure, beside our code.
  add column operator_error  text;

create index messages_by_destination on messages (company_id, destination, uuid);
create index messages_by_external_id on messages (company_id, external_id, uuid) where external_id is not null;
create index messages_of_cascade on messages (company_id, cascade_uuid, uuid) where cascade_uuid is not null;

-- A name without registration (the shared test name, a messenger's free names) has no row among the senders.
alter table lanes add column sender_name text;
alter table lanes drop constraint lanes_company_id_dispatch_id_channel_type_sender_id_brand_i_key;
alter table lanes add constraint lanes_once
  unique nulls not distinct (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone);
alter table dispatches
  add column sender_name text,
  add column center_id   bigint,
  add column cascade     jsonb,
  add column options     jsonb,
  add column format      text not null default 'partner' check (format in ('partner', 'messaging'));

-- What is to happen to one message at one moment: `send` puts it into its lane, `complete` ends it if it has not been
-- sent, `expire` ends it if it has not arrived, `unread` tells that nobody read it, `step` goes on to the next step of its cascade.
create table message_timers (
  company_id bigint not null,
  uuid       uuid not null,
  kind       text not null check (kind in ('send', 'complete', 'expire', 'unread', 'step')),
  due_at     timestamptz not null,
  until      timestamptz not null default '-infinity',
  primary key (company_id, uuid, kind)
);
create index message_timers_by_due on message_timers (due_at);

-- A cascade is known by its first message. `next_step` counts from 1: the step that has not been written yet.
create table cascades (
  company_id   bigint not null,
  cascade_uuid uuid not null,
  steps        jsonb not null,
  next_step    smallint not null,
  ended_at     timestamptz,
  primary key (company_id, cascade_uuid)
);

-- Messages in a worker's hands that are to be stopped: it looks once more before it hands them over.
create table stop_requests (
  company_id   bigint not null,
  uuid         uuid not null,
  requested_at timestamptz not null default now(),
  primary key (company_id, uuid)
);

create table inbound_messages (
  company_id   bigint not null references companies,
  uuid         uuid not null,
  gateway_id   bigint,
  provider_id  text,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  text         text not null,
  content      jsonb,
  center_id    bigint not null,
  received_at  timestamptz not null,
  primary key (company_id, uuid)
);
create unique index inbound_messages_once on inbound_messages (company_id, gateway_id, provider_id)
  where provider_id is not null;
create index inbound_messages_by_destination on inbound_messages (company_id, destination, uuid);

-- Whose name it is that somebody wrote to, and which registrations a name has.
create index senders_by_name on senders (sender_name, channel_type, company_id);

create index receipt_inbox_by_claim on receipt_inbox (claimed_until);

create table inbound_rules (
  company_id   bigint not null references companies,
  rule_id      bigint generated always as identity,
  channel_type text not null,
  sender_names text[],
  center_id    bigint not null,
  callback_url text,
  primary key (company_id, rule_id)
);

create table subscribers (
  company_id   bigint not null references companies,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  address      text not null,
  created_at   timestamptz not null default now(),
  primary key (company_id, channel_type, sender_name, destination, address)
);

-- Whose chat it is that somebody wrote from.
create index subscribers_by_address on subscribers (address, channel_type, sender_name);

create index subscribers_by_name on subscribers (sender_name, destination);

create table flashcall_results (
  company_id  bigint not null references companies,
  uuid        uuid not null,
  result      text not null,
  code        text,
  reported_at timestamptz not null,
  primary key (company_id, uuid)
);
