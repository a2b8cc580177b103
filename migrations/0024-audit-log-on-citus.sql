-- expand
-- Some tables of the coordinator change in one transaction with rows of a company. Citus commits both or neither only
-- if it knows the table. Constraints that Citus cannot have are dropped: a foreign key to a table that it does not know, and a check of
-- a partitioned table, with which it cannot attach a partition. The function does nothing in a database that is not
-- sharded.
create function commit_with_companies(of_table regclass) returns void language plpgsql as $$
declare
  refused name;
begin
  if to_regclass('pg_dist_partition') is null then
    return;
  end if;
  if not exists (select from pg_dist_partition where logicalrelid = 'companies'::regclass)
    or exists (select from pg_dist_partition where logicalrelid = of_table) then
    return;
  end if;
  for refused in
    select conname from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.conrelid = of_table and (k.contype = 'c' and c.relkind = 'p'
      or k.contype = 'f' and not exists (select from pg_dist_partition where logicalrelid = k.confrelid))
  loop
    execute format('alter table %s drop constraint %I', of_table, refused);
  end loop;
  perform citus_add_local_table_to_metadata(of_table);
end $$;
comment on function commit_with_companies is 'Citus commits the rows of this table of the coordinator together with the rows of a company.';

select commit_with_companies('audit_entries'), commit_with_companies('inbound_stops');
