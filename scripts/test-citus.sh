#!/usr/bin/env bash
# Runs tests on a Citus cluster: a coordinator and two workers. TIDINGS_CITUS names a program that makes clusters on
# this machine: `PROGRAM start FOLDER 2`, `PROGRAM stop FOLDER`, with the port of node N in FOLDER/N.port and a user
# postgres without a password. Without TIDINGS_CITUS nothing is tested.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${TIDINGS_CITUS:-}" ]; then
  echo 'Skipped: the tests on Citus. Set TIDINGS_CITUS to a program that makes a cluster (see scripts/test-citus.sh).'
  exit 0
fi

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

smoke=(src/db/sharding src/domain/singles/singles.test.ts src/domain/lanes e2e/engine/singles.test.ts e2e/engine/smpp.test.ts)
[ $# -gt 0 ] && smoke=("$@")
TIDINGS_TEST_DATABASE_URL=$(IFS=,; echo "${nodes[*]}") npx vitest run --maxWorkers 2 "${smoke[@]}"
