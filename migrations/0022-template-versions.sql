-- Counts the changes of a company's approved templates. A process keeps the templates in memory together with their
-- version, and reads the version in the transaction that accepts messages: another number means that they changed since.
create table template_versions (
  company_id bigint primary key references companies,
  version    bigint not null
);
