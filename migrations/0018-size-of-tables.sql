-- expand
create function stored_size(of_table text, out bytes bigint, out estimate bigint) language plpgsql stable as $$
begin
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = of_table::regclass) then
      bytes := citus_total_relation_size(of_table::regclass);
      select coalesce(sum(nullif(result::real, -1)), -1) into estimate
      from run_command_on_shards(of_table::regclass, $shard$ select reltuples from pg_class where oid = '%s'::regclass $shard$);
      return;
    end if;
  end if;
  select pg_total_relation_size(oid), reltuples into bytes, estimate from pg_class where oid = of_table::regclass;
end $$;
comment on function stored_size is
  'The size of a table with its indexes, and the number of rows as PostgreSQL estimates it, on all nodes that have rows.';
