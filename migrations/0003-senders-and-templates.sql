-- Sender names and message templates, with their review.

create type review_status as enum (
  'DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED', 'DENIED', 'CLOSED'
);
comment on type review_status is
  'The state of a review. Sender names and templates have the same states.';

create table sender_ids (
  sender_id  bigint generated always as identity primary key,
  company_id bigint not null
);
comment on table sender_ids is
  'Finds the company of a sender name by its id, and hands out the ids.';

create table senders (
  company_id       bigint not null references companies,
  sender_id        bigint not null,
  sender_name      text not null,
  channel_type     text not null,
  common_type      text not null,
  brand            text not null,
  country_code     text not null,
  description      text,
  document_ids     uuid[] not null default '{}',
  fee              numeric(18, 4),
  parts_per_second integer check (parts_per_second > 0),
  status           review_status not null default 'DRAFT',
  manager_comment  text,
  suspended        boolean not null default false,
  suspend_reason   text,
  valid_from       timestamptz not null,
  valid_to         timestamptz,
  rejected_at      timestamptz,
  created_at       timestamptz not null default now(),
  primary key (company_id, sender_id)
);
create index senders_by_name on senders (sender_name, channel_type, company_id);
create index senders_by_plain_name on senders ((lower(regexp_replace(sender_name, '[^[:alnum:]]', '', 'g')) collate "C"));
create index senders_in_review on senders (status, valid_from)
  where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING');
create index senders_to_close on senders (valid_to) where status in ('AWAITING', 'APPROVED') and valid_to is not null;
create index senders_paid on senders (company_id, sender_id) where status = 'APPROVED' and fee > 0;
comment on table senders is
  'A sender name of a company, registered for one channel and one brand. Staff or automatic moderation review it; an '
  'engine closes it at valid_to.';
comment on column senders.brand is
  'The operator for which the name is registered.';
comment on column senders.document_ids is
  'Documents of the company (company_documents) that prove the right to the name.';
comment on column senders.fee is
  'The monthly fee of a paid name; null or 0: a free name.';
comment on column senders.suspended is
  'The partner has stopped all traffic under the name. The status of the review does not change.';
comment on index senders_by_plain_name is
  'Similar names stand side by side in the order of this index. The review shows the neighbours of a name.';
comment on index senders_paid is
  'An engine looks every few seconds for paid names whose fee of the month is not charged yet.';

create table sender_moves (
  company_id  bigint not null,
  sender_id   bigint not null,
  move_id     bigint generated always as identity,
  from_status review_status not null,
  to_status   review_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamptz not null,
  primary key (company_id, sender_id, move_id),
  foreign key (company_id, sender_id) references senders
);
create index sender_moves_to_end on sender_moves (moved_at) where to_status in ('DENIED', 'CLOSED');
comment on table sender_moves is
  'A change of the status of a sender name: the person or program that changed it, and when.';
comment on index sender_moves_to_end is
  'Finds paid names that ended in a month and still owe the fee of that month.';

create table template_ids (
  template_id bigint generated always as identity primary key,
  company_id  bigint not null
);
comment on table template_ids is
  'Finds the company of a template by its id, and hands out the ids.';

create table templates (
  company_id      bigint not null references companies,
  template_id     bigint not null,
  channel_type    text not null,
  traffic_type    text not null check (traffic_type in ('AUTHORIZE', 'TRANSACT', 'SERVICE', 'PROMO')),
  pattern         text not null,
  sender_id       bigint,
  content         jsonb,
  status          review_status not null default 'DRAFT',
  manager_comment text,
  valid_from      timestamptz not null,
  valid_to        timestamptz,
  rejected_at     timestamptz,
  created_at      timestamptz not null default now(),
  primary key (company_id, template_id),
  foreign key (company_id, sender_id) references senders
);
create index templates_in_review on templates (status, valid_from)
  where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING');
create index templates_to_close on templates (valid_to) where status in ('AWAITING', 'APPROVED') and valid_to is not null;
comment on table templates is
  'A reviewed text of a company. A message that matches an approved template gets its traffic type.';
comment on column templates.traffic_type is
  'The traffic type of a message that matches the template.';
comment on column templates.pattern is
  'The text with %w for a word and %d for a number.';
comment on column templates.sender_id is
  'The only sender name that may use the template; null: all names of the channel.';
comment on column templates.content is
  'The template of the messenger itself, which is sent instead of a free text.';

create table template_moves (
  company_id  bigint not null,
  template_id bigint not null,
  move_id     bigint generated always as identity,
  from_status review_status not null,
  to_status   review_status not null,
  moved_by    text not null,
  comment     text,
  moved_at    timestamptz not null,
  primary key (company_id, template_id, move_id),
  foreign key (company_id, template_id) references templates
);
comment on table template_moves is
  'A change of the status of a template: the person or program that changed it, and when.';

create table template_versions (
  company_id bigint primary key references companies,
  version    bigint not null
);
comment on table template_versions is
  'Counts the changes of the approved templates of a company. A process keeps the templates in memory with their '
  'version and reads the version in the transaction that accepts messages. Another number means that it must read the '
  'templates again.';
