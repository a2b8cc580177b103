-- Clicks on the short links of a dispatch, and of how many of its messages, counted with each click. In several rows, so
-- that clicks at the same moment seldom wait for each other.
create table dispatch_clicks (
  company_id  bigint not null,
  dispatch_id bigint not null,
  shard       smallint not null,
  clicks      bigint not null,
  people      bigint not null,
  primary key (company_id, dispatch_id, shard)
);

insert into dispatch_clicks (company_id, dispatch_id, shard, clicks, people)
select m.company_id, m.dispatch_id, 0, sum(k.clicks), count(*)
from (
  select l.company_id, l.message_uuid, count(*) as clicks
  from link_clicks c join short_links l on l.code = c.code and l.company_id = c.company_id
  group by l.company_id, l.message_uuid
) k
join messages m on m.company_id = k.company_id and m.uuid = k.message_uuid
where m.dispatch_id is not null
group by m.company_id, m.dispatch_id;
