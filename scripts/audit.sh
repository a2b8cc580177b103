#!/usr/bin/env bash
# Fails if a dependency of the running service has a known vulnerability of level high or above. If the registry's list of
# vulnerabilities cannot be reached, the check is skipped and says so.
set -uo pipefail

# npm says the same exit code for findings and for a registry that does not answer. Only findings have a version of the report.
report=$(npm audit --omit=dev --audit-level=high --json 2>/dev/null)
code=$?
if grep -q '"auditReportVersion"' <<<"$report"; then
  if [ "$code" != 0 ]; then
    npm audit --omit=dev --audit-level=high
    echo 'Dependencies have known vulnerabilities: update them (npm audit fix), or say in SECURITY.md why they do no harm here.'
  else
    echo 'Dependencies have no known vulnerability of level high or above.'
  fi
  exit "$code"
fi
echo 'SKIPPED: the audit of dependencies. The registry gave no list of vulnerabilities:'
grep -oE '"(summary|message)": *"[^"]*"' <<<"$report" | head -1
exit 0
