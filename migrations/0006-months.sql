-- What is kept of messages whose month was detached, so that the books can still be recomputed to the last digit.

-- Sums of a month (by the time in the keys, in UTC) as `ledger verify` makes them of messages that are here: for each
-- block of a dispatch, or for a company's single messages, by status and tariff. A message does not say in which month
-- of the ledger it was settled, so these are not kept by that one; the entries are. Every sum is written once.
--
-- No reference to accounts: the check of one would wait for whoever has an account in hand, and they wait for the
-- messages, which are locked while a month is detached.
create table closed_months (
  company_id      bigint not null,
  month           date not null,
  sum_id          bigint generated always as identity,
  dispatch_id     bigint,
  block           integer,
  status          message_status not null,
  tariff_id       bigint,
  messages        bigint not null,
  parts           bigint not null,
  -- Of those that failed: what no operator ever had.
  unsent_messages bigint not null,
  unsent_parts    bigint not null,
  price           numeric(18, 4) not null,
  final_price     numeric(18, 4) not null,
  -- How many had no right final price. Closing a month does not hide a mistake in it.
  badly_priced    bigint not null,
  primary key (company_id, month, sum_id),
  unique nulls not distinct (company_id, month, dispatch_id, block, status, tariff_id)
);
create index closed_months_by_month on closed_months (month);

-- Who was delivered something by detached messages under a tariff by unique recipients.
create table closed_recipients (
  company_id  bigint not null,
  tariff_id   bigint not null,
  destination text not null,
  primary key (company_id, tariff_id, destination)
);

-- Keeps everyone away from the messages until the end of the transaction, so that a month can be taken out; false when
-- something that takes long has them in hand. Whoever waits for such a lock holds up everyone who comes after: so the
-- wait is short, and tried again after a pause in which they go on.
create function lock_messages(partition text) returns boolean language plpgsql set lock_timeout = '1s' as $$
begin
  for attempt in 1..5 loop
    begin
      execute format('lock table only messages, %I in access exclusive mode', partition);
      return true;
    exception when lock_not_available then
      perform pg_sleep(0.5);
    end;
  end loop;
  return false;
end
$$;
