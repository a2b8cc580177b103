-- Gateways at run time: their secrets, how they are doing, and the chats that bots know.

-- Settings that nobody may read, as JSON sealed with a key made of TIDINGS_SECRET (base/secret-box.ts).
alter table gateways add column secrets bytea;

-- How each engine's connection of a gateway is doing, written every two seconds. A row that has not been seen for ten
-- is of an engine that is gone.
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
  last_error_at     timestamptz,
  seen_at           timestamptz not null,
  primary key (gateway_id, worker)
);

-- Chats that a bot's webhook told of. The number is known when the subscriber has shown it; `gone`: the bot is blocked.
create table gateway_chats (
  gateway_id  bigint not null references gateways on delete cascade,
  address     text not null,
  destination text,
  gone        boolean not null default false,
  seen_at     timestamptz not null,
  primary key (gateway_id, address)
);
create index gateway_chats_by_destination on gateway_chats (gateway_id, destination) where destination is not null;
