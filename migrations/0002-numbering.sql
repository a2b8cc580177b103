-- The numbering plan: who has which Russian numbers, and where. Reference tables: they belong to no company. The
-- project carries a compact plan of its own for the codes that have no ranges here.

-- Raised in the transaction of every change: processes compare it with what they hold in memory and load again. Its
-- row is also the lock that lets one import follow the other.
create table numbering_version (
  only_row boolean primary key default true check (only_row),
  version  bigint not null
);
insert into numbering_version (version) values (1);

create table operators (
  operator_id integer generated always as identity primary key,
  inn         text not null,
  name        text not null,
  unique (inn, name)
);

-- first and last are whole numbers of 11 digits within one code. region is a code of numbering/region.ts, two joined
-- by "+", or the register's own words where we do not know the region.
create table numbering_ranges (
  first       bigint primary key,
  last        bigint not null,
  operator_id integer not null references operators,
  region      text not null,
  check (first between 70000000000 and 79999999999 and last >= first and last / 10000000 = first / 10000000)
);

-- Numbers that moved to another network win over their range.
create table ported_numbers (
  number   bigint primary key check (number between 70000000000 and 79999999999),
  brand_id smallint not null check (brand_id between 1 and 4)
);

-- Operators without a network of their own, and the brand that carries them (0: none of the four).
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
