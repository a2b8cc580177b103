-- expand
-- A message changes once or twice, and no changed column is in an index. Where its page has room, PostgreSQL writes the
-- new version of the row beside the old one and touches no index. The messages of a small dispatch, and single messages
-- that came together, lie on the same pages and change in the same transaction: all of them need room at once. With 30 %
-- of each page left free, two of three such changes touched all indexes, and took the database twice the time of a
-- change that finds room. With half of each page left free, all changes find room. A month that has passed can be
-- compacted with `vacuum full`.
create or replace function ensure_message_month(month date) returns void language plpgsql set lock_timeout = '1s' as $$
declare
  first_day timestamp := date_trunc('month', month::timestamp);
  partition text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition) is not null then
    return;
  end if;
  -- A second process waits here and then checks again. After an advisory lock it would still see the old catalogue.
  lock table only messages in share update exclusive mode;
  if to_regclass(partition) is null then
    execute format('create table %I (like messages including defaults including constraints including storage)
      with (fillfactor = 50)', partition);
    execute format('alter table messages attach partition %I for values from (%L) to (%L)', partition,
      uuid7_floor(first_day at time zone 'UTC'), uuid7_floor((first_day + interval '1 month') at time zone 'UTC'));
  end if;
exception when lock_not_available then
  raise notice 'the month % is not made yet: the messages are locked', partition;
end
$$;

-- Pages that are written from now on have the room. Months that have passed get no new messages.
do $$
declare
  partition regclass;
begin
  for partition in
    select inhrelid::regclass from pg_inherits
    where inhparent = 'messages'::regclass
      and inhrelid::regclass::text >= 'messages_' || to_char(now() at time zone 'UTC', 'YYYY_MM')
  loop
    begin
      execute format('alter table %s set (fillfactor = 50)', partition);
    exception when lock_not_available then
      raise notice 'the table % keeps its fill factor: it is locked', partition;
    end;
  end loop;
end $$;
