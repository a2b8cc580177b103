-- Retries that know their gateway, and new months and days that hold nobody up.

-- The gateway that may have taken something of the messages of a lease that was given back: it is asked first again.
alter table leases add column gateway_id bigint;

-- Whether a range of a lane has its deadline already.
create index deadlines_of_lane on deadlines (company_id, lane_id);

-- Making a table as a partition would lock the messages from everyone; behind a long reader, such as a backup, all
-- sending would queue up. Made by itself and attached, it disturbs no one who reads or writes. Whatever else has the
-- lock (a month that is being detached) is not waited for long: the next housekeeping tries again.
create or replace function ensure_message_month(month date) returns void language plpgsql set lock_timeout = '1s' as $$
declare
  first_day timestamp := date_trunc('month', month::timestamp);
  partition text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition) is not null then
    return;
  end if;
  -- Two processes at once: the second waits here, and looks again. An advisory lock would not refresh what it sees.
  lock table only messages in share update exclusive mode;
  if to_regclass(partition) is null then
    execute format('create table %I (like messages including defaults including constraints including storage)',
      partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$$;

create or replace function ensure_submission_days() returns void language plpgsql set lock_timeout = '1s' as $$
declare
  first_day date := (now() at time zone 'UTC')::date;
  partition text;
begin
  for ahead in 0..3 loop
    partition := 'submissions_' || to_char(first_day + ahead, 'YYYY_MM_DD');
    continue when to_regclass(partition) is not null;
    lock table only submissions in share update exclusive mode; -- as for the months of messages
    if to_regclass(partition) is null then
      execute format('create table %I (like submissions including defaults including constraints including storage)',
        partition);
      execute format('alter table submissions attach partition %I for values from (%L) to (%L)', partition,
        first_day + ahead, first_day + ahead + 1);
    end if;
  end loop;
exception when lock_not_available then
  raise notice 'the day % is not made yet: the submissions are locked', partition;
end
$$;

-- Dropping needs the lock that everyone queues up behind: so it is waited for only for a moment, and what is in use
-- is left to the next housekeeping.
create or replace function drop_old_submission_days() returns void language plpgsql set lock_timeout = '200ms' as $$
declare
  partition text;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'submissions'::regclass
      and c.relname < 'submissions_' || to_char((now() at time zone 'UTC')::date - 3, 'YYYY_MM_DD')
  loop
    execute format('drop table if exists %I', partition);
  end loop;
exception when lock_not_available then
  raise notice 'the day % is not dropped yet: the submissions are in use', partition;
end
$$;
