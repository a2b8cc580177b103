-- Only the primary key begins with the company. While other indexes did, PostgreSQL took them for a way to messages by
-- their keys as long as its statistics were older than a large dispatch, and read all messages of the company.
drop index messages_by_destination;
create index messages_by_destination on messages (destination, company_id, uuid);

drop index messages_by_position;
create index messages_by_position on messages (dispatch_id, "position", company_id);

drop index verifications_by_destination;
create index verifications_by_destination on verifications (destination, company_id, verification_uuid);

-- The numbers of a prefix lie together in the index above.
drop index verifications_by_prefix;

-- Only housekeeping reads it. A btree index took a new entry with every code.
drop index verification_limits_old;
create index verification_limits_old on verification_limits using brin (last_at);
