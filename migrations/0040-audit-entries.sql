-- Changes made in the cabinet and by the command line. Entries name people, companies and partners without a foreign key:
-- they outlive them.
create table audit_entries (
  entry_id     bigint generated always as identity,
  at           timestamptz(3) not null default now(),
  -- COMPANY, PARTNER and STAFF are people who are signed in to the cabinet, OPERATOR is a system user at the command line.
  actor_kind   text not null check (actor_kind in ('COMPANY', 'PARTNER', 'STAFF', 'OPERATOR')),
  actor        text not null,
  person_id    bigint,
  address      text,
  agent        text,
  request_id   text,
  what         text not null,
  subject_kind text not null,
  subject_id   text not null,
  subject_name text not null,
  -- Of the subject: they decide who may read the entry. Both null: staff alone.
  company_id   bigint,
  partner_id   bigint,
  before       jsonb,
  after        jsonb,
  primary key (at, entry_id),
  check ((actor_kind = 'OPERATOR') = (person_id is null))
) partition by range (at);

create index audit_entries_of_company on audit_entries (company_id, at, entry_id) where company_id is not null;
create index audit_entries_of_partner on audit_entries (partner_id, at, entry_id) where partner_id is not null;
create index audit_entries_of_actor on audit_entries (actor, at, entry_id);
create index audit_entries_of_subject on audit_entries (subject_kind, subject_id, at, entry_id);
create index audit_entries_of_kind on audit_entries (what, at, entry_id);

-- An entry stays as it was written. An empty table may be truncated: the import of a database does so.
create function refuse_audit_change() returns trigger language plpgsql as $$
declare
  has_rows boolean := true;
begin
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into has_rows;
  end if;
  if has_rows then
    raise exception 'the audit log can only grow: % of % is refused', lower(tg_op), tg_table_name
      using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;

create trigger audit_entries_stay before update or delete on audit_entries
  for each row execute function refuse_audit_change();
create trigger audit_entries_are_not_truncated before truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- The trigger that refuses updates and deletes comes with a row, and so to every month; a truncation has no row.
create function protect_audit_month(name text) returns void language plpgsql as $$
begin
  execute format('create trigger audit_entries_are_not_truncated before truncate on %I
    for each statement execute function refuse_audit_change()', name);
end $$;

-- Makes the table of a month. It runs with the rights of its owner: the role of the service needs no more than select and
-- insert. Attaching lets others read and write meanwhile.
create function ensure_audit_month(moment timestamptz) returns void language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '5s' as $$
declare
  first date := date_trunc('month', moment at time zone 'UTC')::date;
  name text := 'audit_entries_' || to_char(first, 'YYYY_MM');
begin
  if to_regclass(name) is not null then return; end if;
  lock table only audit_entries in share update exclusive mode; -- two processes at once: the second looks again
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I (like audit_entries including defaults including constraints including storage)', name);
  execute format('alter table audit_entries attach partition %I for values from (%L) to (%L)', name,
    first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
  perform protect_audit_month(name);
end $$;
