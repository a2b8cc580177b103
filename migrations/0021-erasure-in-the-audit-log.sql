-- expand
-- `tidings erase` removes a phone number from the audit log. Only the owner of the log may do so, and only in a
-- transaction that says so. The owner could take the trigger off anyway, so the log is as safe as before.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
declare
  has_rows boolean := true;
begin
  if tg_op = 'UPDATE' and current_setting('tidings.erasing', true) = 'on' and pg_has_role((
    select relowner from pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into has_rows;
  end if;
  if has_rows then
    raise exception 'the audit log can only grow: % of % is refused', lower(tg_op), tg_table_name
      using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
comment on function refuse_audit_change is 'Refuses to change the audit log, except for the erasure of a phone number by the owner. An empty table may be truncated, because the import of a database does so.';
