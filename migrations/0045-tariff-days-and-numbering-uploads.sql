-- A tariff holds from valid_from on (null: from the beginning) and until superseded_at. Both may lie in the future, so
-- that a price can be changed from a day on. One that was withdrawn before its day begins and ends at the same moment.
alter table tariffs add column valid_from timestamptz;
alter table tariffs add check (superseded_at >= valid_from);

-- Which companies have most messages under a tariff this month. Without the counts: updates of them stay HOT.
create index tariff_usage_of_tariff on tariff_usage (tariff_id, month);

-- Where the register and the ported numbers came from, the last time.
create table numbering_sources (
  kind        text primary key check (kind in ('register', 'ported')),
  name        text not null,
  entries     bigint not null,
  imported_at timestamptz not null
);

-- Files that wait, for an hour at most, until somebody has seen what they would change. `version` is that of the
-- numbering plan with which the file was compared.
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

create table numbering_upload_pieces (
  upload_id bigint not null references numbering_uploads on delete cascade,
  piece     integer not null,
  content   bytea not null,
  primary key (upload_id, piece)
);
