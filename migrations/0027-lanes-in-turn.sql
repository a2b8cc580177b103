-- Turns go by company first, then by lane. The engine leaps from one company's channel to the next on the first index,
-- however many lanes each of them has, and reads the lanes of one of them in order on the second.
drop index lanes_runnable;
create index lanes_ready on lanes (priority, company_id, channel_type, not_before) where open and cursor < tail;
create index lanes_in_turn on lanes (company_id, channel_type, priority, served_at, lane_id)
  where open and cursor < tail;

-- Leases that were given back, in the order in which they are due.
create index leases_in_turn on leases (company_id, due_at, lease_id);
