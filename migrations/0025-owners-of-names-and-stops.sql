-- The companies that may send under the names of a gateway without having them registered.
alter table gateways add column companies bigint[] not null default '{}';

-- Stop words that were heard: a webhook may be delivered again after the subscriber was taken off the blacklist.
create table inbound_stops (
  gateway_id  bigint not null references gateways on delete cascade,
  provider_id text not null,
  heard_at    timestamptz not null default now(),
  primary key (gateway_id, provider_id)
);
create index inbound_stops_by_time on inbound_stops (heard_at);
