-- Inbound messages, the blacklist, and the subscribers of bots.

create table inbound_rules (
  company_id   bigint not null references companies,
  rule_id      bigint generated always as identity,
  channel_type text not null,
  sender_names text[],
  center_id    bigint not null,
  callback_url text,
  primary key (company_id, rule_id)
);
comment on table inbound_rules is
  'Decides the traffic center and the callback address of inbound messages.';
comment on column inbound_rules.sender_names is
  'The names for which the rule holds; null: all names of the channel.';

create table inbound_messages (
  company_id   bigint not null references companies,
  message_uuid uuid not null,
  gateway_id   bigint,
  provider_id  text,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  text         text not null,
  content      jsonb,
  center_id    bigint not null,
  rule_id      bigint,
  is_stop      boolean not null default false,
  received_at  timestamptz not null,
  primary key (company_id, message_uuid)
);
create unique index inbound_messages_once on inbound_messages (company_id, gateway_id, provider_id)
  where provider_id is not null;
create index inbound_messages_by_destination on inbound_messages (company_id, destination, message_uuid);
comment on table inbound_messages is
  'A message that a subscriber wrote to a sender name of the company. An engine or a webhook writes it.';
comment on column inbound_messages.provider_id is
  'The id that the operator gave to the message. A repeated delivery with the same id changes nothing.';
comment on column inbound_messages.destination is
  'The number of the subscriber.';
comment on column inbound_messages.rule_id is
  'The rule that was applied; null: no rule matched. There is no foreign key, because rules may be deleted.';
comment on column inbound_messages.is_stop is
  'Whether the text was a stop word when it came. The list of stop words may change later.';

create table inbound_stops (
  gateway_id  bigint not null references gateways on delete cascade,
  provider_id text not null,
  heard_at    timestamptz not null default now(),
  primary key (gateway_id, provider_id)
);
create index inbound_stops_by_time on inbound_stops (heard_at);
comment on table inbound_stops is
  'A stop word that was carried out. A repeated webhook does not put a subscriber on the blacklist again after a '
  'person removed the number. Housekeeping deletes the row after 30 days.';

create table blacklist (
  company_id  bigint not null references companies,
  destination text not null,
  comment     text,
  source      text check (source in ('STOP', 'API', 'STAFF', 'CABINET', 'FILE')),
  created_at  timestamptz not null default now(),
  primary key (company_id, destination)
);
create index blacklist_by_age on blacklist (company_id, created_at desc, destination desc);
comment on table blacklist is
  'A number to which the company must not send.';
comment on column blacklist.source is
  'How the number came to the list; null: not known.';

create table subscribers (
  company_id   bigint not null references companies,
  channel_type text not null,
  sender_name  text not null,
  destination  text not null,
  address      text not null,
  created_at   timestamptz not null default now(),
  primary key (company_id, channel_type, sender_name, destination, address)
);
create index subscribers_by_address on subscribers (address, channel_type, sender_name);
create index subscribers_by_name on subscribers (sender_name, destination);
comment on table subscribers is
  'The address of a number in a messenger, which the client uploads. A row is deleted when the messenger reports that '
  'the address no longer exists.';
comment on column subscribers.address is
  'A chat of a bot, or a push subscription.';

create table gateway_chats (
  gateway_id  bigint not null references gateways on delete cascade,
  address     text not null,
  destination text,
  gone        boolean not null default false,
  seen_at     timestamptz not null,
  primary key (gateway_id, address)
);
create index gateway_chats_by_destination on gateway_chats (gateway_id, destination) where destination is not null;
comment on table gateway_chats is
  'A chat that the webhook of a bot reported.';
comment on column gateway_chats.destination is
  'The number of the subscriber; null: the subscriber has not shared it.';
comment on column gateway_chats.gone is
  'The subscriber has blocked the bot.';
