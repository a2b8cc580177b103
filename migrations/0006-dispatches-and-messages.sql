-- Dispatches and messages.

create table dispatch_ids (
  dispatch_id bigint generated always as identity primary key,
  company_id  bigint not null
);
comment on table dispatch_ids is
  'Finds the company of a dispatch by its id, and hands out the ids.';

create type dispatch_status as enum ('CREATED', 'STARTED', 'STOPPED', 'COMPLETED');

create table dispatches (
  company_id       bigint not null references companies,
  dispatch_id      bigint not null,
  name             text not null,
  api              text not null default 'partner' check (api in ('partner', 'messaging')),
  channel_type     text not null,
  traffic_type     text not null,
  text             text not null,
  sender_ids       bigint[] not null,
  sender_name      text,
  center_id        bigint,
  template_id      bigint,
  cascade          jsonb,
  again_of         bigint,
  parts_per_second double precision check (parts_per_second > 0),
  start_at         timestamptz,
  offset_minutes   smallint,
  hours            smallint[],
  days             smallint[],
  options          jsonb,
  callback_url     text,
  callback_events  text[],
  status           dispatch_status not null default 'CREATED',
  message_count    bigint not null default 0,
  first_uuid       uuid,
  last_uuid        uuid,
  tariff_ids       bigint[] not null default '{}',
  price_estimate   numeric(18, 4) not null default 0,
  created_price    numeric(18, 4) not null default 0,
  created_at       timestamptz not null default now(),
  started_at       timestamptz,
  completed_at     timestamptz,
  ended_at         timestamptz,
  primary key (company_id, dispatch_id)
);
create index dispatches_by_status on dispatches (company_id, status, dispatch_id);
create unique index dispatches_again_once on dispatches (company_id, again_of) where again_of is not null;
comment on table dispatches is
  'A bulk send: one text for many recipients. The API creates it; start and stop change its status; an engine '
  'completes it when all its messages are final. A dispatch is never deleted.';
comment on column dispatches.api is
  'The API that created the dispatch. It decides the format of its callbacks.';
comment on column dispatches.sender_ids is
  'The sender names of a dispatch of the partner API, one for each operator. There is no foreign key.';
comment on column dispatches.sender_name is
  'The sender name of a dispatch of the messaging API; null in the partner API.';
comment on column dispatches.template_id is
  'The approved template that the text matched when the dispatch was created. It decides the traffic type.';
comment on column dispatches.cascade is
  'All steps of a dispatch by cascade. The channel, sender name and text of the row belong to the first step.';
comment on column dispatches.again_of is
  'The dispatch whose failed messages this dispatch sends again. A dispatch is sent again once.';
comment on column dispatches.start_at is
  'The start of the schedule of the partner API. Its hours and days are read at the fixed offset in offset_minutes.';
comment on column dispatches.hours is
  'The hours in which messages may be sent, 0 to 23. days are weekdays, 1 (Monday) to 7. Null: always.';
comment on column dispatches.options is
  'The options of the messaging API, in the form in which the client sent them.';
comment on column dispatches.message_count is
  'The number of messages, rejected recipients included.';
comment on column dispatches.first_uuid is
  'The smallest key of the messages. Statements about the messages carry first_uuid and last_uuid, so that PostgreSQL '
  'reads only the months between them.';
comment on column dispatches.tariff_ids is
  'The tariffs under which the messages were accepted.';
comment on column dispatches.price_estimate is
  'The highest price of all accepted messages together.';
comment on column dispatches.created_price is
  'The sum of the prices of the messages that are still CREATED. Start reserves it and stop releases it.';
comment on column dispatches.ended_at is
  'When the dispatch was stopped for good; null: it can be started again.';

create table dispatch_blocks (
  company_id         bigint not null,
  dispatch_id        bigint not null,
  block              integer not null,
  created_messages   integer not null default 0,
  sent_messages      integer not null default 0,
  delivered_messages integer not null default 0,
  failed_messages    integer not null default 0,
  created_parts      integer not null default 0,
  sent_parts         integer not null default 0,
  delivered_parts    integer not null default 0,
  failed_parts       integer not null default 0,
  unsent_messages    integer not null default 0,
  unsent_parts       integer not null default 0,
  primary key (company_id, dispatch_id, block),
  foreign key (company_id, dispatch_id) references dispatches
);
comment on table dispatch_blocks is
  'Counts the messages and parts of 5,000 consecutive positions of a dispatch by status. The transaction that changes '
  'a message changes the counters. Their sum is the progress of the dispatch. A page of messages with one status '
  'finds its block by these counters, so it takes the same time at any depth.';
comment on column dispatch_blocks.unsent_messages is
  'Failed messages that no operator ever had. They are part of failed_messages.';

create type message_status as enum ('CREATED', 'SENT', 'DELIVERED', 'FAILED');

create table messages (
  company_id        bigint not null,
  message_uuid      uuid not null,
  dispatch_id       bigint,
  dispatch_position bigint,
  lane_id           bigint,
  seq               bigint,
  sender_id         bigint,
  tariff_id         bigint,
  price             numeric(18, 4) not null,
  sent_at           timestamptz,
  final_at          timestamptz,
  status            message_status not null,
  error_code        integer,
  parts             smallint not null,
  brand_id          smallint not null,
  destination       text not null,
  text              text,
  final_price       numeric(18, 4),
  -- Only single messages fill the columns from here on. In the rows of dispatches they are null and cost nothing: the
  -- bitmap of null columns fits into the padding of the row header.
  channel_type      text,
  sender_name       text,
  external_id       text,
  center_id         bigint,
  sending_method    text,
  traffic_type      text,
  template_id       bigint,
  content           jsonb,
  options           jsonb,
  callback_url      text,
  callback_events   text[],
  send_at           timestamptz,
  expires_at        timestamptz,
  cascade_uuid      uuid,
  cascade_step      smallint,
  read_at           timestamptz,
  operator_error    text,
  waits_until       timestamptz,
  sealed            bytea,
  key_id            bigint,
  primary key (company_id, message_uuid)
) partition by range (message_uuid);
-- No index besides the primary key begins with company_id unless it is partial. PostgreSQL would otherwise use such an
-- index to find messages by their keys while its statistics are older than a large dispatch, and read all messages of
-- the company.
create index messages_by_position on messages (company_id, dispatch_id, dispatch_position) where dispatch_id is not null;
create index messages_by_lane on messages (company_id, lane_id, seq) where lane_id is not null;
create index messages_by_destination on messages (destination, company_id, message_uuid);
create index messages_by_external_id on messages (company_id, external_id, message_uuid) where external_id is not null;
create index messages_of_cascade on messages (company_id, cascade_uuid, message_uuid) where cascade_uuid is not null;
comment on table messages is
  'A message to one recipient. The API writes it, the engine records its status. A recipient that was rejected has a '
  'row too: FAILED, without a lane. The table is partitioned by month on the key. An old month whose messages are all '
  'final can be detached; its sums stay in closed_months.';
comment on column messages.message_uuid is
  'A UUID of version 7. Its time is the time at which the message was created.';
comment on column messages.dispatch_id is
  'Null: a single message.';
comment on column messages.dispatch_position is
  'The place in the dispatch, from 0 and without gaps, in the order of the request.';
comment on column messages.lane_id is
  'Null: the recipient was rejected, or the message waits for send_at. There is no foreign key.';
comment on column messages.seq is
  'The place in the lane.';
comment on column messages.price is
  'The amount that is reserved until the message is final.';
comment on column messages.error_code is
  'The reason of a failure, a code of src/base/error-codes.ts.';
comment on column messages.brand_id is
  'The operator of the number: 1 MTS, 2 BEELINE, 3 MEGAFON, 4 TELE2, 0 another.';
comment on column messages.text is
  'The final text. A verification code in it is masked with asterisks.';
comment on column messages.final_price is
  'The price of a delivered message, 0 for a failed message, null before the message is final.';
comment on column messages.external_id is
  'The id that the client gave to the message.';
comment on column messages.sending_method is
  'The source of a single message: API, UI, VERIFIER_API or VERIFIER_WIDGET.';
comment on column messages.options is
  'The options in the form in which the client sent them: tags, ttl, hours, days, useLocalTime, localSendTime, '
  'localCompletionTime, shortUrl.';
comment on column messages.send_at is
  'The earliest moment of sending; null: at once.';
comment on column messages.expires_at is
  'The end of a message with a ttl. Null: the common lifetime, counted from sending.';
comment on column messages.cascade_uuid is
  'The key of the first message of the cascade.';
comment on column messages.cascade_step is
  'The step of the cascade, from 1.';
comment on column messages.operator_error is
  'The error code of the operator itself, beside error_code.';
comment on column messages.waits_until is
  'How long a message without a ttl may wait to be sent.';
comment on column messages.sealed is
  'The text with the verification code, encrypted. Recording that the message was sent removes it.';
comment on column messages.key_id is
  'The API key of a single message. Messages of dispatches, of the cabinet and of widgets have none.';

create function uuid7_floor(moment timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
comment on function uuid7_floor is
  'The smallest UUID of version 7 of a moment.';

create function uuid7_time(uuid uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x' || left(replace(uuid::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
comment on function uuid7_time is
  'The moment at which a UUID of version 7 was made.';

-- fillfactor: a message changes twice, when it is sent and when it is final. No changed column is in an index. Where the
-- page has room, PostgreSQL writes the new version of the row beside the old one and touches no index. With 30 % of each
-- page left free, half of the changes find room. With 50 % all would, but messages that are kept for years would take
-- twice the space.
create function ensure_message_month(month date) returns void language plpgsql set lock_timeout = '1s' as $$
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
      with (fillfactor = 70)', partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$$;
comment on function ensure_message_month is
  'Creates the partition of a month (UTC) if it is missing. It creates a separate table and attaches it: "create '
  'table partition of" would lock all messages, and sending would wait behind a long reader such as a backup. It '
  'waits only a second for its lock; the next housekeeping tries again.';

create function ensure_message_months() returns void language sql as $$
  select ensure_message_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date)
  from generate_series(0, 3) ahead
$$;
comment on function ensure_message_months is
  'Creates the partitions of this month and of three months ahead. There is no default partition: a message without a '
  'month is a bug and must fail.';

select ensure_message_months();

create function lock_messages(partition text) returns boolean language plpgsql set lock_timeout = '1s' as $$
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
$$;
comment on function lock_messages is
  'Locks the messages until the end of the transaction, so that a month can be detached. All other statements queue '
  'behind a waiting lock, so it waits a second at a time and pauses in between. It returns false when a long '
  'statement uses the messages.';

create table cascades (
  company_id        bigint not null,
  cascade_uuid      uuid not null,
  steps             jsonb not null,
  next_step         smallint not null,
  ended_at          timestamptz,
  dispatch_id       bigint,
  verification_uuid uuid,
  primary key (company_id, cascade_uuid)
);
create index cascades_gone_on on cascades (company_id, dispatch_id) where dispatch_id is not null and next_step > 2;
comment on table cascades is
  'A message with several channels, one step after another. It is written with its first message; the engine takes '
  'the next step. Housekeeping deletes it after 100 days at the earliest, when its messages are gone.';
comment on column cascades.cascade_uuid is
  'The key of the first message.';
comment on column cascades.next_step is
  'The step that is not written yet, from 1. A conditional update raises it, so each step is written once.';
comment on column cascades.ended_at is
  'When the cascade was stopped; null: it goes on while steps are left.';
comment on column cascades.dispatch_id is
  'The dispatch of the first message. The later steps are shown as its messages and stop with it.';
comment on column cascades.verification_uuid is
  'The verification whose code the steps carry. The cascade ends when the number is confirmed.';
comment on index cascades_gone_on is
  'Contains only cascades that reached a second step, which are few. Creating a dispatch writes nothing to it.';

create table flashcall_results (
  company_id   bigint not null references companies,
  message_uuid uuid not null,
  result       text not null,
  code         text,
  reported_at  timestamptz not null,
  primary key (company_id, message_uuid)
);
comment on table flashcall_results is
  'The result of a flash call, as the client reports it: whether the subscriber typed the right code.';
comment on column flashcall_results.message_uuid is
  'The key of the message.';
