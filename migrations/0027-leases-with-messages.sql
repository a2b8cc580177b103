-- expand
-- Takes the next chunks of lanes of a company, as `lease_chunks` does, and reads their messages: a lone message then waits
-- for one round trip less. First comes a row for each lease, with no message, then a row for each message with the lane
-- of its lease. `first_uuids` and `last_uuids` name the first and the last message of the dispatch of each lane, null for
-- a lane of single messages.
--
-- Each statement of the function sees all transactions that were committed before the statement began. So the second
-- statement sees the messages of all places that the first one leases.
create function lease_with_messages(
  of_company bigint, lane_ids bigint[], sizes integer[], tokens uuid[], by_worker uuid, until timestamptz, wait_for_disk boolean,
  first_uuids uuid[], last_uuids uuid[], erased text
) returns table (
  company_id bigint, lane_id bigint, lease_id bigint, first_seq bigint, next_seq bigint, token uuid, attempts integer,
  uuid uuid, seq bigint, destination text, text text, parts smallint, sender_name text, expires_at timestamptz,
  waits_until timestamptz, content jsonb, "window" jsonb, ttl_seconds jsonb, sealed bytea,
  is_stopped boolean, is_blacklisted boolean
) language plpgsql as $$
#variable_conflict use_column
declare
  chunk record;
  lanes_taken bigint[] := '{}';
  firsts bigint[] := '{}';
  nexts bigint[] := '{}';
begin
  for chunk in
    select * from lease_chunks(of_company, lane_ids, sizes, tokens, by_worker, until, wait_for_disk)
  loop
    lanes_taken := lanes_taken || chunk.lane_id;
    firsts := firsts || chunk.first_seq;
    nexts := nexts || chunk.next_seq;
    company_id := of_company;
    lane_id := chunk.lane_id;
    lease_id := chunk.lease_id;
    first_seq := chunk.first_seq;
    next_seq := chunk.next_seq;
    token := chunk.token;
    attempts := chunk.attempts;
    return next;
  end loop;
  return query
    select of_company, leased.lane_id, null::bigint, null::bigint, null::bigint, null::uuid, null::integer, queued.*,
      (select true from stop_requests r
        where r.company_id = of_company and r.message_uuid = queued.message_uuid limit 1) is not null,
      -- On a blacklist with erased numbers a number is found only with the secret of the service.
      case when not exists (select from blacklist e where e.company_id = of_company and e.destination > erased)
      then (select true from blacklist b
        where b.company_id = of_company and b.destination = queued.destination limit 1) is not null
      end
    from unnest(lanes_taken, firsts, nexts) leased (lane_id, first_seq, next_seq)
    join unnest(lane_ids, first_uuids, last_uuids) bounds (lane_id, first_uuid, last_uuid)
      on bounds.lane_id = leased.lane_id
    cross join lateral (
      select m.message_uuid, m.seq, m.destination, m.text, m.parts, m.sender_name, m.expires_at, m.waits_until, m.content,
        m.options -> 'window', m.options -> 'ttl', m.sealed
      from messages m
      where m.company_id = of_company and m.lane_id = leased.lane_id
        and m.seq >= leased.first_seq and m.seq < leased.next_seq and m.status = 'CREATED'
        and m.message_uuid >= coalesce(bounds.first_uuid, uuid7_floor(now() - interval '100 days'))
        and m.message_uuid <= coalesce(bounds.last_uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by m.seq limit leased.next_seq - leased.first_seq
    ) queued;
end $$;
comment on function lease_with_messages is
  'Moves the cursors of the lanes, writes the leases, and reads their messages with what forbids to send them.';

select delegate_by_company();
