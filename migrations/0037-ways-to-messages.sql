-- Besides the primary key, no index that a lookup by key could use begins with the company. While such indexes existed,
-- PostgreSQL took them for a way to messages by their keys as long as its statistics were older than a large dispatch, and
-- read all messages of the company.
drop index messages_by_destination;
create index messages_by_destination on messages (destination, company_id, uuid);

-- Single messages have no dispatch, and need no entry.
drop index messages_by_position;
create index messages_by_position on messages (company_id, dispatch_id, "position") where dispatch_id is not null;

drop index verifications_by_destination;
create index verifications_by_destination on verifications (destination, company_id, verification_uuid);
drop index verifications_by_prefix;
create index verifications_by_prefix on verifications (prefix, company_id, verification_uuid);

-- Only housekeeping reads it. A btree index took a new entry with every code.
drop index verification_limits_old;
create index verification_limits_old on verification_limits using brin (last_at);
