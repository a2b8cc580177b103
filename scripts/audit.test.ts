import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('audit.sh', import.meta.url))

/** Runs the script with an npm that prints this report. */
function auditWith(report: string, code: number) {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-audit-'))
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho '${report}'\nexit ${code}\n`)
  chmodSync(join(folder, 'npm'), 0o755)
  const { status, stdout } = spawnSync(script, { env: { PATH: `${folder}:${process.env.PATH}` }, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return { status, stdout }
}

test.each([
  ['passes without findings', '{"auditReportVersion": 2, "vulnerabilities": {}}', 0, 0, 'no known vulnerability'],
  ['fails with findings', '{"auditReportVersion": 2, "vulnerabilities": {"x": {}}}', 1, 1, 'known vulnerabilities'],
  ['says that it is skipped when the registry has no list', '{"message": "405 Method Not Allowed"}', 1, 0, 'SKIPPED'],
])('the audit of dependencies %s', (_, report, code, status, words) => {
  expect(auditWith(report, code)).toEqual({ status, stdout: expect.stringContaining(words) })
})
