import { Gauge, type Registry } from 'prom-client'
import type { Pool } from '../../db/sql.ts'
import type { Check, CheckName } from '../../domain/health/checks.ts'
import { countStandbys, healthOf } from '../../domain/health/health.ts'
import type { Level, ProcessHealth } from '../../domain/health/processes.ts'

/** The figures of the whole service: the check of the health page that has each of them, and its name there. */
const ofService: Record<string, { help: string; check: CheckName; fact: string }> = {
  engines: { help: 'Engines at work', check: 'engines', fact: 'count' },
  lanes_waiting: { help: 'Lanes with messages that wait to be sent', check: 'waiting', fact: 'lanes' },
  messages_waiting: { help: 'Messages that wait to be sent', check: 'waiting', fact: 'messages' },
  oldest_waiting_seconds: { help: 'Age of the oldest message that waits', check: 'waiting', fact: 'seconds' },
  leases_expired: { help: 'Leases of dead engines that no engine has taken over', check: 'leases', fact: 'count' },
  receipts_unmatched: { help: 'Receipts that match no message yet', check: 'receipts', fact: 'count' },
  callbacks_waiting: { help: 'Callbacks that wait, 10000 at most', check: 'callbacks', fact: 'count' },
  callbacks_oldest_seconds: { help: 'Age of the oldest callback that waits', check: 'callbacks', fact: 'seconds' },
  receivers_paused: { help: 'Receivers of callbacks that are paused', check: 'callbacks', fact: 'paused' },
  database_connections: { help: 'Connections of all programs to the database', check: 'connections', fact: 'used' },
  database_connections_most: { help: 'Connections that the database allows', check: 'connections', fact: 'most' },
  database_longest_transaction_seconds: {
    help: 'Age of the oldest open transaction',
    check: 'transaction',
    fact: 'seconds',
  },
  database_transaction_id_age: {
    help: 'Age of the oldest transaction id. PostgreSQL stops at 2 billion',
    check: 'vacuum',
    fact: 'age',
  },
  database_bytes: { help: 'Size of the database', check: 'database', fact: 'sizeBytes' },
  standby_behind_bytes: {
    help: 'WAL that the slowest standby has not replayed yet. Left out without a standby',
    check: 'replication',
    fact: 'behindBytes',
  },
  nodes: { help: 'Workers of the Citus cluster. Left out without a cluster', check: 'nodes', fact: 'count' },
  nodes_away: { help: 'Workers of the Citus cluster that do not answer', check: 'nodes', fact: 'away' },
  nodes_bytes: { help: 'Size of the database on all workers that answer', check: 'nodes', fact: 'sizeBytes' },
  disk_free_bytes: { help: 'Free space of the disk with the embedded database', check: 'disk', fact: 'free' },
}

const ofEngine: Record<string, { help: string; of(engine: ProcessHealth): number | null }> = {
  chunks: { help: 'Chunks that the engine is sending', of: ({ leases }) => leases },
  unrecorded: {
    help: 'Messages that were submitted and are not recorded yet, without messages that wait for their receipts',
    of: ({ unrecorded }) => unrecorded,
  },
  loop_delay_seconds: {
    help: 'Longest delay of the event loop within the last second',
    of: ({ loopDelayMs }) => (loopDelayMs === null ? null : loopDelayMs / 1000),
  },
  memory_bytes: { help: 'Memory of the engine', of: ({ memoryBytes }) => memoryBytes },
  clock_off_seconds: {
    help: 'How far the clock of the engine is wrong. 0 for a correct clock',
    of: ({ clockOffMs }) => Math.abs(clockOffMs) / 1000,
  },
  start_time_seconds: {
    help: 'When the engine started, in seconds since 1970',
    of: ({ startedAt }) => startedAt.getTime() / 1000,
  },
}

/** An unknown level is left out. */
const levels: Record<Level, number | undefined> = { ok: 0, look: 1, bad: 2, unknown: undefined }

/** Metrics of the engines. Engines have no port, so the figures come from the database, as on the health page. */
export function engineMetrics(registry: Registry) {
  const service = gaugesOf(ofService, 'tidings_', [], registry)
  const engine = gaugesOf(ofEngine, 'tidings_engine_', ['host', 'pid'], registry)
  const registers = [registry]
  const databaseUp = new Gauge({ name: 'tidings_database_up', help: 'Whether the database answers', registers })
  const level = new Gauge({
    name: 'tidings_health_level',
    help: 'Result of each check of the health page: 0 good, 1 worth a look, 2 bad',
    labelNames: ['check'],
    registers,
  })

  const standbys = new Gauge({
    name: 'tidings_standbys',
    help: 'Standbys that receive the WAL of the primary',
    registers,
  })

  const showChecks = (checks: Check[]) => {
    for (const check of checks) {
      const value = levels[check.level]
      if (value !== undefined) level.set({ check: check.name }, value)
    }
    for (const { gauge, figure } of service) {
      const value = checks.find(({ name }) => name === figure.check)?.facts[figure.fact]
      if (typeof value === 'number') gauge.set(value)
    }
  }
  const showEngines = (processes: ProcessHealth[]) => {
    const engines = processes.filter(({ kind, problems }) => kind === 'engine' && !problems.includes('gone'))
    for (const each of engines) {
      for (const { gauge, figure } of engine) {
        const value = figure.of(each)
        if (value !== null) gauge.set({ host: each.host, pid: each.pid }, value)
      }
    }
  }

  return {
    async refresh(sql: Pool, now: Date, dataFolder: string | undefined): Promise<void> {
      databaseUp.set(0)
      level.reset()
      standbys.remove()
      for (const { gauge } of service) gauge.remove() // `reset` would show a figure that is not known as 0
      for (const { gauge } of engine) gauge.reset()
      await sql`select`
      databaseUp.set(1) // before the checks: they can take long in a busy database
      const connected = await countStandbys(sql)
      if (connected !== undefined) standbys.set(connected)
      const { checks, processes } = await healthOf({ sql, now, dataFolder })
      showChecks(checks)
      showEngines(processes ?? [])
    },
  }
}

const gaugesOf = <Figure extends { help: string }>(
  figures: Record<string, Figure>,
  prefix: string,
  labelNames: string[],
  registry: Registry,
) =>
  Object.entries(figures).map(([name, figure]) => ({
    figure,
    gauge: new Gauge({ name: prefix + name, help: figure.help, labelNames, registers: [registry] }),
  }))
