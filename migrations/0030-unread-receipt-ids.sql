-- A receipt whose id can be read in two ways is kept as it came, with the number that it is about, until it is known how
-- the operator writes its ids.
alter table receipt_inbox
  add column is_unread boolean not null default false,
  add column subscriber text;

create index receipt_inbox_unread on receipt_inbox (gateway_id, receipt_id) where is_unread;

-- Until now the first receipts decided, and they could be wrong. It is found out anew, from all of them.
delete from gateway_receipt_ids;

-- Whether receipts name the number that their message went to: then a receipt with another number is not for it.
alter table gateway_receipt_ids add column by_address boolean not null default false;

-- How far each engine has the answers to its submissions: an id that is missing says something only when they are all in.
create table gateway_answers (
  gateway_id     bigint not null references gateways on delete cascade,
  worker         uuid not null,
  -- All that was submitted before has its answer, or will never have it.
  answered_until timestamptz not null,
  -- Submissions without an answer, for ever; and those that would be without one if the engine were killed now.
  unanswered     integer not null,
  open           integer not null,
  seen_at        timestamptz not null,
  primary key (gateway_id, worker)
);
