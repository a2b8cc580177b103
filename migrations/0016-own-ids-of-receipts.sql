-- Our own id of the message, where a provider repeats it in its receipts: a message whose submission was never answered
-- is known by it alone.
alter table receipt_inbox add column own_id text;
