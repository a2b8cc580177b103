-- Counts the changes of a gateway, so that a command can tell when every engine goes by the last one.
alter table gateways add column version integer not null default 1;

-- The version of the gateway that the engine goes by.
alter table gateway_states add column version integer not null default 0;
