-- How long a single message without a ttl may wait. Its `expires_at` is empty from now on, as that of a dispatch's
-- message is: once it has been sent it lives for the common lifetime, counted from sending.
alter table messages add column waits_until timestamptz;
