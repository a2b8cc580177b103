import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GRACE_MS } from '../../src/commands/service/processes/api.ts'
import { STOPPED_WITHIN_MS } from '../../src/commands/service/stopping.ts'
import { STOP_MS as TRACES_MS } from '../../src/commands/service/tracing/span-exporter.ts'
import { MOST_DRAIN_SECONDS } from '../../src/config.ts'
import { STOP_MS as ENGINE_MS } from '../../src/engine/engine.ts'
import { has, outcomeOf, root } from './programs.ts'

const units = readdirSync(join(root, 'deploy/systemd')).filter(name => name.endsWith('.service'))
const textOf = (unit: string) => readFileSync(join(root, 'deploy/systemd', unit), 'utf8')

/** The time for database connections to close (`db/database.ts`). */
const DATABASE_MS = 5000

/** The most that `systemd-analyze security` may find open, in tenths: 0 is closed, 100 is open. */
const MOST_EXPOSED = 15

test.each(units)('%s gives a process the time that it takes to stop', unit => {
  const seconds = Number(textOf(unit).match(/^TimeoutStopSec=(\d+)$/m)?.[1])
  expect(seconds * 1000).toBeGreaterThan(STOPPED_WITHIN_MS)
})

test('the steps of a stop fit into the time that a process has', () => {
  const afterwardsMs = TRACES_MS + DATABASE_MS
  expect(ENGINE_MS + afterwardsMs).toBeLessThan(STOPPED_WITHIN_MS)
  expect(MOST_DRAIN_SECONDS * 1000 + GRACE_MS + afterwardsMs).toBeLessThan(STOPPED_WITHIN_MS)
})

describe.skipIf(!has('systemd-analyze'))('the units (skipped without systemd-analyze, package systemd)', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidings-units-'))
    // The program must exist for the check, so the units of this folder name the project's own.
    for (const unit of units) {
      await writeFile(join(folder, unit), textOf(unit).replaceAll('/opt/tidings/bin', join(root, 'bin')))
    }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each(units)('%s passes `systemd-analyze verify` without a word', unit => {
    expect(outcomeOf('systemd-analyze', ['verify', '--man=no', join(folder, unit)])).toEqual({ status: 0, output: '' })
  })

  test.each(units)('%s is closed to the rest of the machine', unit => {
    const words = ['security', '--offline=yes', `--threshold=${MOST_EXPOSED}`, join(folder, unit)]
    const { status, output } = outcomeOf('systemd-analyze', words)
    expect({ status, exposed: status === 0 ? '' : output }).toEqual({ status: 0, exposed: '' })
  })
})
