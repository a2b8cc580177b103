-- The engine: lanes, leases, deadlines, timers, rate limits, and the processes themselves.

create table lanes (
  company_id   bigint not null,
  lane_id      bigint generated always as identity,
  dispatch_id  bigint,
  channel_type text not null,
  sender_id    bigint,
  brand_id     smallint not null,
  priority     smallint not null,
  zone         text,
  tail         bigint not null default 0,
  cursor       bigint not null default 0,
  open         boolean not null default false,
  served_at    timestamptz not null default '-infinity',
  not_before   timestamptz not null default '-infinity',
  sender_name  text,
  start_at     timestamptz,
  end_at       timestamptz,
  end_code     smallint,
  ending_until timestamptz not null default '-infinity',
  primary key (company_id, lane_id),
  constraint lanes_once
    unique nulls not distinct (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
);
create index lanes_ready on lanes (priority, company_id, channel_type, not_before) where open and cursor < tail;
create index lanes_in_turn on lanes (company_id, channel_type, priority, served_at, lane_id)
  where open and cursor < tail;
create index lanes_ending on lanes (end_at) where end_at is not null;
comment on table lanes is
  'A queue of messages that may be sent to the same place at the same time. The transaction that writes messages '
  'gives them their places and creates missing lanes. Housekeeping deletes the lanes of unregistered names that were '
  'not used for two days; other lanes stay.';
comment on column lanes.dispatch_id is
  'Null: a lane of single messages, which is always open.';
comment on column lanes.sender_id is
  'The registered sender name; null: a name without registration. There is no foreign key.';
comment on column lanes.sender_name is
  'The name of a lane without a registered sender. Null: the sender is registered, or the lane is shared by all names '
  'without registration that no gateway carries.';
comment on column lanes.priority is
  'The rank of the traffic type, from 0: AUTHORIZE, TRANSACT, SERVICE, PROMO.';
comment on column lanes.zone is
  'The time zone of the recipients of a dispatch on local time; null: any zone.';
comment on column lanes.tail is
  'The next free place.';
comment on column lanes.cursor is
  'The next place that no chunk contains yet.';
comment on column lanes.open is
  'Whether the engine may send. Start opens the lanes of a dispatch, stop closes them.';
comment on column lanes.served_at is
  'When an engine last took a chunk. Of the lanes of a company, the lane with the oldest value is next.';
comment on column lanes.not_before is
  'The lane is skipped until this moment, because its hours are closed or its rate limit is used up.';
comment on column lanes.start_at is
  'When the lane may start, by the clock of its zone; null: the start_at of the dispatch holds.';
comment on column lanes.end_at is
  'When the messages that are left fail with end_code; null: the lane has no end, or its end is done.';
comment on column lanes.ending_until is
  'Until when an engine has claimed the work at the end of the lane.';
comment on index lanes_ready is
  'The engine jumps from one company and channel to the next, so the number of lanes of a company does not matter.';
comment on index lanes_in_turn is
  'The lanes of one company and channel, in the order in which they are served.';

create table leases (
  company_id    bigint not null,
  lease_id      bigint generated always as identity,
  lane_id       bigint not null,
  first_seq     bigint not null,
  next_seq      bigint not null,
  worker        uuid,
  token         uuid,
  claimed_until timestamptz not null,
  attempts      integer not null default 0,
  due_at        timestamptz not null default '-infinity',
  gateway_id    bigint,
  primary key (company_id, lease_id),
  foreign key (company_id, lane_id) references lanes
);
create index leases_of_lane on leases (company_id, lane_id);
create index leases_by_end on leases (claimed_until);
create index leases_in_turn on leases (company_id, due_at, lease_id);
comment on table leases is
  'The right of one worker to send a chunk of a lane. The worker renews it and deletes it when the chunk is recorded. '
  'After claimed_until, another worker may take it. A message that must be sent again waits in a small lease without a '
  'worker, so that it does not hold up its chunk.';
comment on column leases.first_seq is
  'The first place of the chunk. next_seq is the first place after it.';
comment on column leases.worker is
  'The engine that sends; null: the lease waits to be taken, not before due_at.';
comment on column leases.token is
  'Changes whenever the lease is taken. A worker with an old token can no longer change the lease.';
comment on column leases.claimed_until is
  'The end of the lease. The worker stops sending two seconds earlier.';
comment on column leases.attempts is
  'How often the messages were tried before.';
comment on column leases.gateway_id is
  'The gateway that may have accepted some of the messages. It is tried first.';
comment on index leases_in_turn is
  'The leases that wait, in the order in which they are due.';

create table deadlines (
  company_id    bigint not null,
  deadline_id   bigint generated always as identity,
  lane_id       bigint not null,
  first_seq     bigint not null,
  next_seq      bigint not null,
  due_at        timestamptz not null,
  claimed_until timestamptz not null default '-infinity',
  primary key (company_id, deadline_id)
);
create index deadlines_by_due on deadlines (due_at);
create index deadlines_of_lane on deadlines (company_id, lane_id);
comment on table deadlines is
  'The end of the lifetime of a range of a lane. The engine writes it when it records that the range was sent. At '
  'due_at it fails the messages that are still SENT and deletes the row.';
comment on column deadlines.claimed_until is
  'Until when an engine has claimed the row.';

create table message_timers (
  company_id    bigint not null,
  message_uuid  uuid not null,
  kind          text not null check (kind in ('send', 'complete', 'expire', 'unread', 'step')),
  due_at        timestamptz not null,
  claimed_until timestamptz not null default '-infinity',
  primary key (company_id, message_uuid, kind)
);
create index message_timers_by_due on message_timers (due_at);
comment on table message_timers is
  'An action on one message at its own moment. An engine claims due timers, acts and deletes them.';
comment on column message_timers.kind is
  'send: put the message into its lane. complete: fail it if it was not sent. expire: fail it if it was not '
  'delivered. unread: report that it was not read. step: go on to the next step of its cascade.';
comment on column message_timers.claimed_until is
  'Until when an engine has claimed the timer. After a crash another engine claims it again.';

create table stop_requests (
  company_id   bigint not null,
  message_uuid uuid not null,
  requested_at timestamptz not null default now(),
  primary key (company_id, message_uuid)
);
comment on table stop_requests is
  'A client wants to stop a message that a worker may already have in a chunk. The worker checks this table before it '
  'sends. An engine deletes the row when the message is no longer CREATED.';

create table rate_buckets (
  subject    text primary key,
  tokens     double precision not null,
  filled_at  timestamptz not null
);
comment on table rate_buckets is
  'The parts that may be sent now under a rate limit. All engines draw from the same row, so a limit holds for all of '
  'them together. Housekeeping deletes buckets that were not used for a day.';
comment on column rate_buckets.subject is
  'The limited object, for example "gateway:1": a gateway, sender, company or dispatch.';
comment on column rate_buckets.tokens is
  'Negative: parts were sent in advance.';

create table engines (
  worker        uuid primary key,
  host          text not null default '',
  pid           integer not null default 0,
  version       text not null default '',
  clock_off_ms  bigint not null default 0,
  memory_bytes  bigint,
  loop_delay_ms integer,
  unrecorded    integer,
  started_at    timestamptz not null default now(),
  seen_at       timestamptz not null default now()
);
comment on table engines is
  'A running engine. It updates its row every few seconds and deletes it when it stops. Housekeeping deletes engines '
  'that were not seen for a day.';
comment on column engines.clock_off_ms is
  'How far the clock of the machine is ahead of the clock of the database; 0: it is right.';
comment on column engines.loop_delay_ms is
  'How late the event loop runs.';
comment on column engines.unrecorded is
  'Messages that were sent and are not recorded yet.';

create table api_processes (
  process       uuid primary key,
  host          text not null,
  pid           integer not null,
  version       text not null,
  clock_off_ms  bigint not null default 0,
  memory_bytes  bigint,
  loop_delay_ms integer,
  started_at    timestamptz not null default clock_timestamp(),
  seen_at       timestamptz not null default clock_timestamp()
);
comment on table api_processes is
  'A running process that answers HTTP requests. It keeps its row as an engine does.';
