-- How the ids of an operator's receipts relate to those of its answers, where that was found out and not set: a program
-- that starts anew has receipts to read of what was sent before.
create table gateway_receipt_ids (
  gateway_id bigint primary key references gateways on delete cascade,
  relation   text not null,
  learnt_at  timestamptz not null default now()
);
