-- The numbering plan: operator and region of Russian numbers. The program itself carries a compact plan for the codes
-- that have no ranges here.

create table numbering_version (
  only_row boolean primary key default true check (only_row),
  version  bigint not null
);
insert into numbering_version (version) values (1);
comment on table numbering_version is
  'Counts the changes of the plan. A process compares the version with the plan in its memory and loads the plan '
  'again when it differs. An import locks the row, so that imports run one after another.';

create table operators (
  operator_id integer generated always as identity primary key,
  inn         text not null,
  name        text not null,
  unique (inn, name)
);
comment on table operators is
  'An operator of the official register. An import adds operators.';
comment on column operators.inn is
  'The Russian tax number.';

create table numbering_ranges (
  first       bigint primary key,
  last        bigint not null,
  operator_id integer not null references operators,
  region      text not null,
  check (first between 70000000000 and 79999999999 and last >= first and last / 10000000 = first / 10000000)
);
comment on table numbering_ranges is
  'A range of numbers with its operator and region. An import of the register replaces all ranges of the codes in it.';
comment on column numbering_ranges.first is
  'The first number of the range, with all 11 digits. A range lies within one code.';
comment on column numbering_ranges.region is
  'A code of src/domain/numbering/region.ts, two codes joined by "+", or the text of the register where the region is '
  'unknown.';

create table ported_numbers (
  number   bigint primary key check (number between 70000000000 and 79999999999),
  brand_id smallint not null check (brand_id between 1 and 4)
);
comment on table ported_numbers is
  'A number that moved to another operator. It takes precedence over the range of the number.';
comment on column ported_numbers.brand_id is
  'The new operator: 1 MTS, 2 BEELINE, 3 MEGAFON, 4 TELE2.';

create table virtual_operators (
  inn      text primary key,
  name     text not null,
  brand_id smallint not null check (brand_id between 0 and 4)
);
insert into virtual_operators (inn, name, brand_id) values
  ('7701725181', 'ООО "Скартел"', 3),
  ('7743200179', 'ООО "Т-Моб"', 4),
  ('7736264044', 'ООО "Сбербанк-Телеком"', 4),
  ('7707049388', 'ПАО "Ростелеком"', 4);
comment on table virtual_operators is
  'An operator without a network of its own.';
comment on column virtual_operators.brand_id is
  'The operator whose network it uses; 0: none of the four.';

create table numbering_sources (
  kind        text primary key check (kind in ('register', 'ported')),
  name        text not null,
  entries     bigint not null,
  imported_at timestamptz not null
);
comment on table numbering_sources is
  'The file of the last import, one row for the register and one for the ported numbers.';

create table numbering_uploads (
  upload_id  bigint generated always as identity primary key,
  kind       text not null check (kind in ('register', 'ported')),
  name       text not null,
  replaces   boolean not null,
  size_bytes bigint not null check (size_bytes > 0),
  version    bigint,
  difference jsonb,
  created_at timestamptz not null
);
comment on table numbering_uploads is
  'A file that staff uploaded in the cabinet. It waits until a person has seen the difference and applies it. '
  'Housekeeping deletes it after an hour.';
comment on column numbering_uploads.replaces is
  'Whether numbers that are not in the file are removed from the plan.';
comment on column numbering_uploads.version is
  'The version of the plan with which the file was compared; null: not compared yet.';

create table numbering_upload_pieces (
  upload_id bigint not null references numbering_uploads on delete cascade,
  piece     integer not null,
  content   bytea not null,
  primary key (upload_id, piece)
);
comment on table numbering_upload_pieces is
  'A piece of an uploaded file.';
