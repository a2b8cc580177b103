import { Gauge, type Registry } from 'prom-client'
import { versionOfProgram } from '../../base/process/vitals.ts'
import type { Pool } from '../../db/sql.ts'
import { ownSchemaVersion, runningPrograms, schemaOf } from '../../domain/health/versions.ts'

/** The versions of this program, as a series that is always 1. */
export function buildInfo(registry: Registry) {
  new Gauge({
    name: 'tidings_build_info',
    help: 'The version of the program and the newest schema version that it knows',
    labelNames: ['version', 'schema'],
    registers: [registry],
    async collect() {
      this.set({ version: versionOfProgram(), schema: await ownSchemaVersion() }, 1)
    },
  })
}

/** The versions of the schema and of all running processes: during an upgrade there are several. */
export function versionMetrics(registry: Registry) {
  const registers = [registry]
  const schema = new Gauge({ name: 'tidings_schema_version', help: 'The version of the schema', registers })
  const minimum = new Gauge({
    name: 'tidings_schema_minimum_version',
    help: 'The oldest schema version of a program that may run',
    registers,
  })
  const processes = new Gauge({
    name: 'tidings_processes',
    help: 'Running processes by kind and by the versions of their program',
    labelNames: ['kind', 'version', 'schema'],
    registers,
  })
  return {
    async refresh(sql: Pool): Promise<void> {
      for (const gauge of [schema, minimum]) gauge.remove() // `reset` would show an unknown version as 0
      processes.reset()
      const [versions, programs] = await Promise.all([schemaOf(sql), runningPrograms(sql)])
      schema.set(versions.version)
      minimum.set(versions.minimum)
      for (const { kind, version, schemaVersion } of programs)
        processes.inc({ kind, version, schema: schemaVersion ?? 'unknown' })
    },
  }
}
