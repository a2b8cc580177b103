-- Message templates: texts that were reviewed, and what a message that matches one of them is about.

create table template_ids (
  template_id bigint generated always as identity primary key,
  company_id  bigint not null
);

-- Review states are those of sender names. A template without a sender name serves every name of its channel. `content`
-- is the messenger's own template that goes out in place of a free text.
create table templates (
  company_id      bigint not null references companies,
  template_id     bigint not null,
  channel_type    text not null,
  template_type   text not null check (template_type in ('AUTHORIZE', 'TRANSACT', 'SERVICE', 'PROMO')),
  pattern         text not null,
  sender_id       bigint,
  content         jsonb,
  date_from       timestamptz not null,
  date_to         timestamptz,
  status          sender_status not null default 'DRAFT',
  manager_comment text,
  rejected_at     timestamptz,
  created_at      timestamptz not null default now(),
  primary key (company_id, template_id),
  foreign key (company_id, sender_id) references senders
);
-- As for sender names: what the clock or automatic moderation may still move.
create index templates_in_review on templates (status, date_from)
  where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING');
create index templates_to_close on templates (date_to) where status in ('AWAITING', 'APPROVED') and date_to is not null;

-- A move of a template is a row: who moved it, when, from what to what.
create table template_moves (
  company_id  bigint not null,
  template_id bigint not null,
  move_id     bigint generated always as identity,
  from_status sender_status not null,
  to_status   sender_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamptz not null,
  primary key (company_id, template_id, move_id),
  foreign key (company_id, template_id) references templates
);
