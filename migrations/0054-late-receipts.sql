-- Receipts that came after their message had reached another end: after its lifetime, or against an earlier receipt. The
-- message and its price stay as they are; the page of the message shows the receipt. At most one for each status of a
-- message; kept for 30 days.
create table late_receipts (
  company_id     bigint not null,
  message_uuid   uuid not null,
  status         message_status not null,
  received_at    timestamptz not null,
  error_code     integer,
  operator_error text,
  primary key (company_id, message_uuid, status)
);
create index late_receipts_by_age on late_receipts (received_at);
