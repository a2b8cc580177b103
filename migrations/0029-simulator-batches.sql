-- expand
-- What the simulated operators accepted was a row for each message, which took the database a seventh of its time for a
-- dispatch. Now one row has all messages that were submitted together. Older programs still write simulator_messages.
create table simulator_batches (
  batch_id      bigint generated always as identity,
  gateway_id    bigint not null,
  worker        uuid not null,
  accepted_at   timestamptz not null default clock_timestamp(),
  message_count int not null,
  messages      text not null,
  primary key (batch_id) include (message_count)
);
-- To compress the texts would take longer than to write them.
alter table simulator_batches alter messages set storage external;

comment on table simulator_batches is
  'Messages that a simulated operator accepted together. After a crash the simulator reports again on messages that '
  'were not final. The newest rows are kept, with at least 100,000 messages. The function simulator_outbox reads them.';
comment on column simulator_batches.messages is
  'A JSON array. It is a text, because the database need not check the JSON when it writes a row.';

create function simulator_outbox() returns table (
  simulator_id bigint, batch_id bigint, gateway_id bigint, worker uuid, accepted_at timestamptz, company_id bigint,
  message_uuid uuid, sender_name text, destination text, channel_type text, text text)
language sql stable as $$
  select b.batch_id * 1000000 + m.place, b.batch_id, b.gateway_id, b.worker, b.accepted_at,
    (m.message ->> 'companyId')::bigint, (m.message ->> 'uuid')::uuid, m.message ->> 'senderName',
    m.message ->> 'destination', m.message ->> 'channelType', m.message ->> 'text'
  from simulator_batches b cross join lateral json_array_elements(b.messages::json) with ordinality m (message, place)
  union all
  select s.simulator_id - 1000000000000, 0, s.gateway_id, s.worker, s.accepted_at, s.company_id, s.message_uuid,
    s.sender_name, s.destination, s.channel_type, s.text
  from simulator_messages s
$$;

comment on table simulator_messages is
  'Messages that a simulated operator accepted from programs before simulator_batches. They are deleted after a day.';
comment on function simulator_outbox is
  'The messages that the simulated operators accepted, with a simulator_id that rises. A batch has less than a million '
  'messages. Messages of older programs come first.';
