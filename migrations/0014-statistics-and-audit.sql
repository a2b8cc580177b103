-- Statistics of the traffic, and the audit log.

create table traffic_hours (
  company_id      bigint not null references companies,
  hour            timestamptz not null,
  channel_type    text not null,
  brand_id        smallint not null,
  traffic_type    text not null,
  accepted        bigint not null default 0,
  accepted_parts  bigint not null default 0,
  sent            bigint not null default 0,
  sent_parts      bigint not null default 0,
  delivered       bigint not null default 0,
  delivered_parts bigint not null default 0,
  failed          bigint not null default 0,
  failed_parts    bigint not null default 0,
  spent           numeric(18, 4) not null default 0,
  primary key (company_id, hour, channel_type, brand_id, traffic_type)
) with (fillfactor = 70);
comment on table traffic_hours is
  'Counts the messages of a company in an hour (UTC). The transactions that accept and change messages change it. A '
  'message counts as accepted in the hour of its key, as sent in the hour of sent_at, and as delivered or failed in '
  'the hour of final_at.';

create table closed_traffic_hours (
  company_id      bigint not null,
  hour            timestamptz not null,
  channel_type    text not null,
  brand_id        smallint not null,
  traffic_type    text not null,
  accepted        bigint not null default 0,
  accepted_parts  bigint not null default 0,
  sent            bigint not null default 0,
  sent_parts      bigint not null default 0,
  delivered       bigint not null default 0,
  delivered_parts bigint not null default 0,
  failed          bigint not null default 0,
  failed_parts    bigint not null default 0,
  spent           numeric(18, 4) not null default 0,
  primary key (company_id, hour, channel_type, brand_id, traffic_type)
);
comment on table closed_traffic_hours is
  'The share of detached months in traffic_hours, so that "tidings statistics verify" can still compare. A message '
  'may be sent or final in an hour of a later month.';

create table audit_entries (
  entry_id     bigint generated always as identity,
  at           timestamptz(3) not null default now(),
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
comment on table audit_entries is
  'A change that a person made in the cabinet or with the command line. Entries outlive the people, companies and '
  'partners that they name, so there are no foreign keys. The partitions are months. Triggers refuse updates and '
  'deletes.';
comment on column audit_entries.actor_kind is
  'COMPANY, PARTNER and STAFF: a person in the cabinet. OPERATOR: a system user at the command line.';
comment on column audit_entries.company_id is
  'The company of the subject. It decides, with partner_id, which people may read the entry. Both null: only staff.';

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
comment on function refuse_audit_change is
  'Refuses to change the audit log. An empty table may be truncated, because the import of a database does so.';

create trigger audit_entries_stay before update or delete on audit_entries
  for each row execute function refuse_audit_change();
create trigger audit_entries_are_not_truncated before truncate on audit_entries
  for each statement execute function refuse_audit_change();

create function protect_audit_month(name text) returns void language plpgsql as $$
begin
  execute format('create trigger audit_entries_are_not_truncated before truncate on %I
    for each statement execute function refuse_audit_change()', name);
end $$;
comment on function protect_audit_month is
  'Adds the trigger against truncation to a month. PostgreSQL copies row triggers to partitions, but not statement '
  'triggers.';

create function ensure_audit_month(moment timestamptz) returns void language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '5s' as $$
declare
  first date := date_trunc('month', moment at time zone 'UTC')::date;
  name text := 'audit_entries_' || to_char(first, 'YYYY_MM');
begin
  if to_regclass(name) is not null then return; end if;
  lock table only audit_entries in share update exclusive mode; -- a second process waits here and then checks again
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I (like audit_entries including defaults including constraints including storage)', name);
  execute format('alter table audit_entries attach partition %I for values from (%L) to (%L)', name,
    first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
  perform protect_audit_month(name);
end $$;
comment on function ensure_audit_month is
  'Creates the partition of a month. It runs with the rights of its owner: the role of the service needs only the '
  'rights to read and to insert. Attaching the partition does not block readers and writers.';
