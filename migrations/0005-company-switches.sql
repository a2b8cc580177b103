-- What staff switch for a company, and subscribers who write to the simulated operators.

-- Whether subscribers may write to it.
alter table companies add column inbound boolean not null default false;

-- What somebody lets a subscriber write to a simulated operator. It is gone when an engine has taken it.
create table simulator_inbound (
  inbound_id   bigint generated always as identity primary key,
  channel_type text not null,
  sender_name  text not null,
  msisdn       text not null,
  text         text not null,
  written_at   timestamptz not null default clock_timestamp()
);
create index simulator_inbound_by_channel on simulator_inbound (channel_type, inbound_id);
