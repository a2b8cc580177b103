-- Dispatches of the messaging API: lanes with a clock of their own, a stop for good, and failures told apart.

-- What failed before any operator had it; the rest of the failed was sent and not delivered.
alter table dispatch_blocks
  add column unsent_messages integer not null default 0,
  add column unsent_parts    integer not null default 0;

update dispatch_blocks b set unsent_messages = u.messages, unsent_parts = u.parts
from (
  select company_id, dispatch_id, position / 5000 as block, count(*) as messages, sum(parts) as parts from messages
  where dispatch_id is not null and status = 'FAILED' and sent_at is null group by 1, 2, 3
) u
where b.company_id = u.company_id and b.dispatch_id = u.dispatch_id and b.block = u.block;

-- A lane of one zone begins and ends by that zone's clock. What is left of it at its end fails with `end_code`, a batch
-- at a time; `ending_until` is until when somebody is at it. A lane that is through has no end any more.
alter table lanes
  add column start_at     timestamptz,
  add column end_at       timestamptz,
  add column end_code     smallint,
  add column ending_until timestamptz not null default '-infinity';
create index lanes_ending on lanes (end_at) where end_at is not null;

-- When it was stopped for good.
alter table dispatches add column ended_at timestamptz;
