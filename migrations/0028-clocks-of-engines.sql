-- How far the clock of an engine's machine is ahead of the database's, in milliseconds; 0 when it is right.
alter table engines add column clock_off_ms bigint not null default 0;
