-- expand
create table text_removals (
  company_id bigint not null,
  done_uuid  uuid not null,
  constraint text_removals_pkey primary key (company_id)
);
comment on table text_removals is 'How far an engine has removed the old texts of a company (TIDINGS_KEEP_TEXTS_DAYS). An engine locks the row while it works, so two engines never do the same.';
comment on column text_removals.done_uuid is 'Final messages up to this key have no text any more.';
select distribute_by_company('text_removals');
