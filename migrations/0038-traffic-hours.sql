-- Traffic by hour, changed in the transactions that accept and move messages. The hours are hours of UTC. A message counts as
-- accepted in the hour of its key, as sent in that of sent_at, and as delivered or failed in that of final_at.
create table traffic_hours (
  company_id      bigint not null references companies,
  hour            timestamptz not null,
  channel_type    text not null,
  brand_id        smallint not null,
  traffic_type    text not null,
  accepted        bigint not null default 0,
  accepted_parts  bigint not null default 0,
  sent            bigint not null default 0,
  sent_parts      bigint not null default 0,
  delivered       bigint not null default 0,
  delivered_parts bigint not null default 0,
  failed          bigint not null default 0,
  failed_parts    bigint not null default 0,
  spent           numeric(18, 4) not null default 0,
  primary key (company_id, hour, channel_type, brand_id, traffic_type)
) with (fillfactor = 70);
