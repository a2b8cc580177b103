#!/bin/sh
# Runs a standby. In an empty data folder it first copies the primary. Further arguments go to PostgreSQL.
#   PRIMARY_HOST, PRIMARY_PORT (5432), REPLICATION_PASSWORD, PGDATA
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  # A copy that was interrupted begins anew.
  find "$PGDATA" -mindepth 1 -delete
  echo "Copying the primary at $PRIMARY_HOST ..." >&2
  PGPASSWORD=$REPLICATION_PASSWORD pg_basebackup --pgdata="$PGDATA" --checkpoint=fast --wal-method=stream --slot=standby \
    --write-recovery-conf \
    --dbname="host=$PRIMARY_HOST port=${PRIMARY_PORT:-5432} user=replicator application_name=standby"
fi
exec postgres "$@"
