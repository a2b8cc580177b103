-- A disabled partner cannot log in and has no tokens; its companies stay as they are.
alter table partners add column disabled_at timestamptz;
