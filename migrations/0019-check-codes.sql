-- expand
-- Judges one code for each of these verifications of a company, and counts the confirmations. A try is counted in the
-- statement that compares, under the lock of the row: parallel guesses come one after the other. Rows are locked in the
-- order of their keys, and not waited for longer than in transactions, also behind a pooler. Keyed hashes are compared,
-- so the time of the comparison tells nothing about a code.
create function check_codes(of_company bigint, verification_uuids uuid[], hashes text[])
returns table (uuid uuid, status text, tries_left integer) language plpgsql set lock_timeout = '7s' as $$
#variable_conflict use_column
declare
  judged record;
  confirmed_verifiers text[] := '{}';
  confirmed_channels text[] := '{}';
  confirmed_countries text[] := '{}';
  confirmed_times bigint[] := '{}';
begin
  for judged in
    with locked as (
      select v.*, decode(q.hash, 'hex') as hash
      from verifications v join unnest(verification_uuids, hashes) q (verification_uuid, hash)
        on v.verification_uuid = q.verification_uuid
      where v.company_id = of_company order by v.verification_uuid for update of v),
    outcome as (
      select *, case
        when now() >= all (code_ends) or tries_left = 0 then 'EXPIRED'
        when hash = any (code_hashes) and exists (
          select from unnest(code_hashes, code_ends) c (hash, ends)
          where c.hash = locked.hash and c.ends > now()) then 'CONFIRMED'
        else 'WRONG_CODE' end as status
      from locked),
    failed as (
      update verifications v set tries_left = v.tries_left - 1 from outcome o
      where v.company_id = of_company and v.verification_uuid = o.verification_uuid and o.status = 'WRONG_CODE'),
    confirmed as (
      update verifications v set confirmed_at = now() from outcome o
      where v.company_id = of_company and v.verification_uuid = o.verification_uuid
        and o.status = 'CONFIRMED' and o.confirmed_at is null)
    select * from outcome
  loop
    uuid := judged.verification_uuid;
    status := judged.status;
    tries_left := greatest(0, judged.tries_left - (judged.status = 'WRONG_CODE')::int);
    return next;
    if judged.status = 'CONFIRMED' and judged.confirmed_at is null then
      confirmed_verifiers := confirmed_verifiers || judged.verifier_id;
      confirmed_channels := confirmed_channels || judged.channel_type;
      confirmed_countries := confirmed_countries || judged.country;
      confirmed_times := confirmed_times || greatest(0, extract(epoch from now() - judged.sent_at) * 1000)::bigint;
    end if;
  end loop;
  if cardinality(confirmed_verifiers) > 0 then
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
comment on function check_codes is 'Compares a guess and counts its try under one lock, so parallel guesses get no further try. Confirms and counts a verification once.';

select delegate_by_company();
