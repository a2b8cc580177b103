-- An operator's contract says how many connections it allows. Each of them is a lease, so that engines share them: who
-- holds the row keeps the connection, and closes it before the row could be taken by another.
create table gateway_binds (
  gateway_id bigint not null references gateways on delete cascade,
  bind       smallint not null,
  worker     uuid not null,
  until      timestamptz not null,
  primary key (gateway_id, bind)
);

-- Who would like to have some: everyone gets an equal share.
create table gateway_bind_seekers (
  gateway_id bigint not null references gateways on delete cascade,
  worker     uuid not null,
  until      timestamptz not null,
  primary key (gateway_id, worker)
);
