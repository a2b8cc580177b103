-- The approved template that a dispatch was matched with when it was made: it says what the dispatch is about, and the
-- texts of its recipients are held to it. Each message that fits it keeps it as single messages do.
alter table dispatches add column template_id bigint;
