#!/usr/bin/env bash
# Checks the types of the service, of the widget and of the cabinet at the same time. Each has one checker, because several
# checkers of one project do a part of the work again: four need twice the processor time.
set -uo pipefail
cd "$(dirname "$0")/.."

checks=()
for project in . widget web; do
  node_modules/.bin/tsc --noEmit --checkers 1 -p "$project" &
  checks+=($!)
done

code=0
for check in "${checks[@]}"; do wait "$check" || code=1; done
exit "$code"
