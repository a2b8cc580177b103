-- expand
-- =====================================================================================================================
-- Sharding by company with Citus. `tidings migrate --distribute` distributes the tables; in other databases nothing here
-- has an effect.
-- =====================================================================================================================

-- Distributes a new table of companies like the others. A migration that creates such a table calls it before it adds
-- rows or foreign keys. It does nothing in a database that is not sharded.
create function distribute_by_company(new_table regclass) returns void language plpgsql as $$
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass) then
    perform create_distributed_table(new_table, 'company_id', colocate_with => 'companies');
  end if;
end $$;
