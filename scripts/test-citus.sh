#!/usr/bin/env bash
# Runs tests on Citus clusters of this machine. TIDINGS_CITUS names a program that makes them:
#   PROGRAM start FOLDER N    a coordinator and N workers, with a database `tidings` that has the extension citus
#   PROGRAM kill|revive FOLDER I, PROGRAM add FOLDER, PROGRAM stop FOLDER
# The port of node I is in FOLDER/I.port, and node 0 is the coordinator; a user postgres needs no password.
# Without TIDINGS_CITUS nothing is tested.
#   scripts/test-citus.sh            20,000 messages in each of 20 companies, a killed worker, moves, and a choice of other tests
#   scripts/test-citus.sh --smoke    the same with 500 messages, and nothing else
#   scripts/test-citus.sh FILE...    these tests, each on a sharded database
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${TIDINGS_CITUS:-}" ]; then
  echo 'Skipped: the tests on Citus. Set TIDINGS_CITUS to a program that makes a cluster (see scripts/test-citus.sh).'
  exit 0
fi

if [ "${1:-}" = --smoke ]; then exec npx vitest run e2e/service/citus.test.ts; fi
if [ $# = 0 ]; then TIDINGS_CITUS_MESSAGES=20000 npx vitest run e2e/service/citus.test.ts; fi

parent=$(mktemp -d)
chmod 755 "$parent"
cluster=$parent/cluster
stop() {
  "$TIDINGS_CITUS" stop "$cluster" || true
  rm -rf "$parent"
}
trap stop EXIT
"$TIDINGS_CITUS" start "$cluster" 2
nodes=()
for node in 0 1 2; do nodes+=("postgres://postgres@127.0.0.1:$(cat "$cluster/$node.port")/postgres"); done

choice=(src/db/sharding src/domain/singles src/domain/lanes src/domain/ledger src/domain/callbacks src/http/partner
  src/http/messaging e2e/engine/singles.test.ts e2e/engine/smpp.test.ts e2e/engine/shards.test.ts)
[ $# -gt 0 ] && choice=("$@")
TIDINGS_TEST_DATABASE_URL=$(IFS=,; echo "${nodes[*]}") npx vitest run --maxWorkers 2 "${choice[@]}"
