-- expand
-- The same as before, with every row found by its key. A join with the list of keys could be planned as a search through
-- all codes of the company, as long as the database has no statistics about the table, as in the first minutes of a new
-- service.
create or replace function check_codes(of_company bigint, verification_uuids uuid[], hashes text[])
returns table (uuid uuid, status text, tries_left integer) language plpgsql set lock_timeout = '7s' as $$
#variable_conflict use_column
declare
  locked record;
  guess bytea;
  failed uuid[] := '{}';
  confirmed uuid[] := '{}';
  confirmed_verifiers text[] := '{}';
  confirmed_channels text[] := '{}';
  confirmed_countries text[] := '{}';
  confirmed_times bigint[] := '{}';
begin
  for locked in
    select v.* from verifications v
    where v.company_id = of_company and v.verification_uuid = any (verification_uuids)
    order by v.verification_uuid for update
  loop
    guess := decode(hashes[array_position(verification_uuids, locked.verification_uuid)], 'hex');
    uuid := locked.verification_uuid;
    tries_left := locked.tries_left;
    if tries_left = 0 or now() >= all (locked.code_ends) then
      status := 'EXPIRED';
    elsif guess = any (locked.code_hashes) and exists (
      select from unnest(locked.code_hashes, locked.code_ends) c (hash, ends) where c.hash = guess and c.ends > now())
    then
      status := 'CONFIRMED';
      if locked.confirmed_at is null then
        confirmed := confirmed || uuid;
        confirmed_verifiers := confirmed_verifiers || locked.verifier_id;
        confirmed_channels := confirmed_channels || locked.channel_type;
        confirmed_countries := confirmed_countries || locked.country;
        confirmed_times := confirmed_times || greatest(0, extract(epoch from now() - locked.sent_at) * 1000)::bigint;
      end if;
    else
      status := 'WRONG_CODE';
      failed := failed || uuid;
      tries_left := tries_left - 1;
    end if;
    return next;
  end loop;
  if cardinality(failed) > 0 then
    update verifications v set tries_left = v.tries_left - 1
    where v.company_id = of_company and v.verification_uuid = any (failed);
  end if;
  if cardinality(confirmed) > 0 then
    update verifications v set confirmed_at = now()
    where v.company_id = of_company and v.verification_uuid = any (confirmed);
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
end $$;
