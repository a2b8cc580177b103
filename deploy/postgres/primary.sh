#!/bin/sh
# Prepares a new primary for a standby: a role that may replicate, from the network of the containers. PostgreSQL's image runs this
# once, in an empty data folder. It is safe to run again.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$REPLICATION_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
select 'create role replicator with replication login' where not exists (select from pg_roles where rolname = 'replicator') \gexec
alter role replicator with password :'password';
select pg_create_physical_replication_slot('standby') where not exists (select from pg_replication_slots where slot_name = 'standby');
SQL
line='host replication replicator samenet scram-sha-256'
grep -qxF "$line" "$PGDATA/pg_hba.conf" || echo "$line" >> "$PGDATA/pg_hba.conf"
