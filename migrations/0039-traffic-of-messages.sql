-- When a month of messages is detached, its traffic is kept here, so that `tidings statistics verify` can still compare:
-- a message may be sent or final in an hour of a later month.
create table closed_traffic_hours (like traffic_hours including defaults);
alter table closed_traffic_hours add primary key (company_id, hour, channel_type, brand_id, traffic_type);

-- When a version 7 key was made.
create function uuid7_time(uuid uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x' || left(replace(uuid::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- The messages that are there already, counted by their hours.
delete from traffic_hours;
insert into traffic_hours (
  company_id, hour, channel_type, brand_id, traffic_type, accepted, accepted_parts, sent, sent_parts, delivered,
  delivered_parts, failed, failed_parts, spent)
select s.company_id, e.hour, s.channel_type, s.brand_id, s.traffic_type, sum(e.accepted * s.messages),
  sum(e.accepted * s.parts), sum(e.sent * s.messages), sum(e.sent * s.parts), sum(e.delivered * s.messages),
  sum(e.delivered * s.parts), sum(e.failed * s.messages), sum(e.failed * s.parts), sum(e.delivered * s.spent)
from (
  select m.company_id, coalesce(d.channel_type, m.channel_type, 'SMS') as channel_type, m.brand_id,
    coalesce(d.traffic_type, m.traffic_type, 'PROMO') as traffic_type, m.status,
    date_bin('1 hour', uuid7_time(m.uuid), 'epoch') as accepted_hour,
    date_bin('1 hour', m.sent_at, 'epoch') as sent_hour, date_bin('1 hour', m.final_at, 'epoch') as final_hour,
    count(*) as messages, sum(m.parts) as parts, coalesce(sum(m.final_price), 0) as spent
  from messages m left join dispatches d on d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
  group by 1, 2, 3, 4, 5, 6, 7, 8) s
cross join lateral (values
  (s.accepted_hour, 1, 0, 0, 0),
  (s.sent_hour, 0, 1, 0, 0),
  (s.final_hour, 0, 0, (s.status = 'DELIVERED')::int, (s.status = 'FAILED')::int)
) e (hour, accepted, sent, delivered, failed)
where e.hour is not null
group by 1, 2, 3, 4, 5;
