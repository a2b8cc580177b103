-- The rule that a message took, null where none fitted, and whether it was a stop word when it came: rules and words change.
alter table inbound_messages add column rule_id bigint;
alter table inbound_messages add column is_stop boolean not null default false;
update inbound_messages set is_stop = true where upper(btrim(text)) in ('STOP', 'СТОП', 'UNSUBSCRIBE');

-- How a number came there; null for entries that are older than this column.
alter table blacklist add column source text check (source in ('STOP', 'API', 'STAFF', 'CABINET', 'FILE'));
update blacklist set source = 'STOP' where comment = 'Asked by the subscriber';
create index blacklist_by_age on blacklist (company_id, created_at desc, msisdn desc);

-- The links of a company, the newest first, and those of a dispatch, whose messages lie between two keys.
create index short_links_by_message on short_links (company_id, message_uuid, code);

-- Clicks of an hour of UTC, in several rows so that clicks at the same moment seldom wait for each other.
create table link_hours (
  company_id bigint not null,
  hour       timestamptz not null,
  shard      smallint not null,
  clicks     bigint not null,
  primary key (company_id, hour, shard)
);
create index link_hours_by_age on link_hours (hour);
insert into link_hours (company_id, hour, shard, clicks)
select company_id, date_trunc('hour', clicked_at, 'UTC'), 0, count(*) from link_clicks group by 1, 2;
