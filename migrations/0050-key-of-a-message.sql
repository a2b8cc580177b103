-- The API key that a single message came with, for the life of the message in the cabinet. Nothing else says it: the request
-- log keeps a part of the requests, for a day, and not their messages. Messages of dispatches, of the cabinet and of widgets
-- have none, nor have those of before this migration.
alter table messages add column key_id bigint;
