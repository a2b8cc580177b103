-- A message changes twice after it was written: sent, and at its end. None of what changes is in an index. Where its page
-- has room the new version stays beside the old one and no index has to be touched; on full pages all four were, at every
-- step. With a third of each page left free, half of all steps find room. With half of it free all would, and what is
-- kept for years would take twice the space.
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
    execute format('create table %I (like messages including defaults including constraints including storage)
      with (fillfactor = 70)', partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$$;

do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'messages'::regclass loop
    execute format('alter table %s set (fillfactor = 70)', partition);
  end loop;
end
$$;
