-- expand
-- Each running process states the schema version of its program, so that a contracting migration does not break a process.

alter table engines add column schema_version integer;
comment on column engines.schema_version is
  'The newest schema version that the program of the process knows. Null: a program before version 15.';

alter table api_processes add column schema_version integer;
comment on column api_processes.schema_version is
  'The newest schema version that the program of the process knows. Null: a program before version 15.';
