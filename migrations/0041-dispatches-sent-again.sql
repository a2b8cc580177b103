-- A dispatch made of the recipients of another whose messages failed: one for each, however often it is asked for.
alter table dispatches add column again_of bigint;
create unique index dispatches_again_once on dispatches (company_id, again_of) where again_of is not null;
