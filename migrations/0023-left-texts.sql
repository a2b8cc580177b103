-- expand
create table text_leftovers (
  company_id bigint not null,
  after_uuid uuid not null,
  until_uuid uuid not null,
  check_at   timestamptz not null,
  constraint text_leftovers_pkey primary key (company_id, after_uuid)
);
comment on table text_leftovers is 'Keys of messages, above after_uuid and up to until_uuid, among which some were not final when an engine removed the old texts. They are checked again every day until all are final.';
select distribute_by_company('text_leftovers');
