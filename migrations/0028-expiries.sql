-- expand
-- A message with a ttl, such as a verification code, had a timer of its own. Messages that are accepted together mostly
-- end together, so one row stands for all of them. Timers of the kind `expire` that older programs write still work.
create table expiries (
  company_id    bigint not null,
  first_uuid    uuid not null,
  last_uuid     uuid not null,
  message_count int not null,
  due_at        timestamptz not null,
  claimed_until timestamptz not null default '-infinity',
  primary key (company_id, first_uuid)
);
create index expiries_by_due on expiries (due_at);
select distribute_by_company('expiries');

comment on table expiries is
  'The end of messages that were accepted together with the same ttl. An engine claims a row that is due, fails its '
  'messages that are not final, and deletes it.';
comment on column expiries.last_uuid is
  'Between the first and the last message there may be others with another end. Each message has its own expires_at.';
comment on column expiries.message_count is
  'An engine reads rows together up to a number of messages.';
comment on column expiries.claimed_until is
  'Until when an engine has claimed the row. After a crash another engine claims it again.';
