-- expand
-- The same as before in fewer steps: a check takes the database less than half the time.
create or replace function check_codes(of_company bigint, verification_uuids uuid[], hashes text[])
returns table (uuid uuid, status text, tries_left integer) language plpgsql set lock_timeout = '7s' as $$
#variable_conflict use_column
declare
  judged uuid[];
  statuses text[];
  tries integer[];
  confirmed_verifiers text[];
  confirmed_channels text[];
  confirmed_countries text[];
  confirmed_times bigint[];
begin
  with locked as materialized (
    select v.verification_uuid, v.verifier_id, v.channel_type, v.country, v.sent_at, v.tries_left,
      v.confirmed_at is null as is_open,
      v.tries_left = 0 or now() >= all (v.code_ends) as is_over,
      exists (
        select from unnest(v.code_hashes, v.code_ends) c (hash, ends)
        where c.hash = decode(hashes[array_position(verification_uuids, v.verification_uuid)], 'hex') and c.ends > now()
      ) as is_right
    from verifications v
    where v.company_id = of_company and v.verification_uuid = any (verification_uuids)
    order by v.verification_uuid for update),
  failed as (
    update verifications v set tries_left = v.tries_left - 1
    where v.company_id = of_company
      and v.verification_uuid = any (array(select l.verification_uuid from locked l where not is_over and not is_right))),
  confirmed as (
    update verifications v set confirmed_at = now()
    where v.company_id = of_company
      and v.verification_uuid = any (array(
        select l.verification_uuid from locked l where not is_over and is_right and is_open)))
  select array_agg(l.verification_uuid),
    array_agg(case when is_over then 'EXPIRED' when is_right then 'CONFIRMED' else 'WRONG_CODE' end),
    array_agg(case when is_over or is_right then l.tries_left else l.tries_left - 1 end),
    array_agg(l.verifier_id) filter (where not is_over and is_right and is_open),
    array_agg(l.channel_type) filter (where not is_over and is_right and is_open),
    array_agg(l.country) filter (where not is_over and is_right and is_open),
    array_agg(greatest(0, extract(epoch from now() - l.sent_at) * 1000)::bigint)
      filter (where not is_over and is_right and is_open)
  into judged, statuses, tries, confirmed_verifiers, confirmed_channels, confirmed_countries, confirmed_times
  from locked l;
  if confirmed_verifiers is not null then
    -- Counters are locked in the order of their keys.
    insert into verification_counters as k (company_id, verifier_id, day, channel_type, country, what, count, total_ms)
    select c.company_id, q.verifier_id, (now() at time zone 'UTC')::date, q.channel_type, q.country, 'confirmed', count(*),
      sum(q.took_ms)::bigint
    from companies c, unnest(
      confirmed_verifiers, confirmed_channels, confirmed_countries, confirmed_times
    ) q (verifier_id, channel_type, country, took_ms)
    where c.company_id = of_company
    group by 1, 2, 3, 4, 5 order by 2, 4, 5
    on conflict (company_id, verifier_id, day, channel_type, country, what)
    do update set count = k.count + excluded.count, total_ms = k.total_ms + excluded.total_ms;
  end if;
  return query select * from unnest(judged, statuses, tries);
end $$;

-- Codes that were sent together are often confirmed together. With half of each page left free, each confirmation finds
-- room on the page of its row, and PostgreSQL touches no index.
alter table verifications set (fillfactor = 50);
