-- Receipts that never found their message are removed by their age, a batch at a time.
create index receipt_inbox_by_age on receipt_inbox (received_at);
