-- expand
-- =====================================================================================================================
-- Functions of one company. Each is a unit of work that both changes rows and inserts rows. In a sharded database Citus
-- cannot send such a statement to one node, but it can send the call of a function: then the work costs one round trip.
-- =====================================================================================================================

-- Takes the next chunk of each of these lanes of a company for one worker. Returns no lease for a lane that is empty or
-- closed, or that another transaction has locked: so a transaction with a slow commit delays only its own lane.
create function lease_chunks(
  of_company bigint, lane_ids bigint[], sizes integer[], tokens uuid[], by_worker uuid, until timestamptz, wait_for_disk boolean
) returns table (
  company_id bigint, lease_id bigint, lane_id bigint, first_seq bigint, next_seq bigint, token uuid, attempts integer
) language plpgsql as $$
#variable_conflict use_column
declare
  chunk record;
begin
  if not wait_for_disk then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  for chunk in
    with free as (
      select l.lane_id, l.cursor as first_seq, least(l.cursor + q.size, l.tail) as next_seq, q.token
      from unnest(lane_ids, sizes, tokens) q (lane_id, size, token)
      join lanes l on l.company_id = of_company and l.lane_id = q.lane_id
      where l.open and l.cursor < l.tail
      for update of l skip locked)
    update lanes set cursor = free.next_seq, served_at = statement_timestamp() from free
    where lanes.company_id = of_company and lanes.lane_id = free.lane_id
    returning free.*
  loop
    return query
      insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
      values (of_company, chunk.lane_id, chunk.first_seq, chunk.next_seq, by_worker, chunk.token, until)
      returning company_id, lease_id, lane_id, first_seq, next_seq, token, attempts;
  end loop;
end $$;
comment on function lease_chunks is
  'Moves the cursors of the lanes and writes the leases, so two concurrent workers get different chunks.';

-- Deletes the leases of finished chunks of a company and adds deadlines for their ranges. A lease that another worker has
-- taken over has another token and stays. Rows are locked in the order of their ids, as when leases are renewed.
create function finish_leases(of_company bigint, lease_ids bigint[], tokens uuid[], deadline timestamptz)
returns void language plpgsql as $$
declare
  chunk record;
begin
  for chunk in
    with ours as (
      select lease_id from leases
      where company_id = of_company and lease_id = any(lease_ids) and token = any(tokens)
      order by lease_id for update)
    delete from leases using ours
    where leases.company_id = of_company and leases.lease_id = ours.lease_id
    returning leases.lane_id, leases.first_seq, leases.next_seq
  loop
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    values (of_company, chunk.lane_id, chunk.first_seq, chunk.next_seq, deadline);
  end loop;
end $$;
comment on function finish_leases is
  'At the deadline, messages of the range without a receipt fail.';

-- Tells Citus which functions work for one company: the functions whose first argument is `of_company`. A migration that
-- creates such a function calls it. It does nothing in a database that is not sharded.
create function delegate_by_company() returns void language plpgsql as $$
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass) then
    perform create_distributed_function(oid::regprocedure, 'of_company', colocate_with => 'companies')
    from pg_proc where pronamespace = 'public'::regnamespace and proargnames[1] = 'of_company';
  end if;
end $$;

select delegate_by_company();
