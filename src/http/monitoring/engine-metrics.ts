import { Gauge, type Registry } from 'prom-client'
import type { Pool } from '../../db/sql.ts'
import type { CheckName } from '../../domain/health/checks.ts'
import { healthOf } from '../../domain/health/health.ts'
import type { ProcessHealth } from '../../domain/health/processes.ts'

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
}

const ofEngine: Record<string, { help: string; of(engine: ProcessHealth): number | null }> = {
  chunks: { help: 'Chunks that the engine is sending', of: ({ leases }) => leases },
  unrecorded: { help: 'Messages that were submitted and are not recorded yet', of: ({ unrecorded }) => unrecorded },
  loop_delay_seconds: {
    help: 'Longest delay of the event loop within the last second',
    of: ({ loopDelayMs }) => (loopDelayMs === null ? null : loopDelayMs / 1000),
  },
}

/** Metrics of the engines. Engines have no port, so the figures come from the database, as on the health page. */
export function engineMetrics(registry: Registry) {
  const service = gaugesOf(ofService, 'tidings_', [], registry)
  const engine = gaugesOf(ofEngine, 'tidings_engine_', ['host', 'pid'], registry)

  return {
    async refresh(sql: Pool, now: Date): Promise<void> {
      for (const { gauge } of [...service, ...engine]) gauge.reset()
      const only = new Set(Object.values(ofService).map(({ check }) => check))
      const { checks, processes } = await healthOf({ sql, now, dataFolder: undefined, only })
      for (const { gauge, figure } of service) {
        const value = checks.find(({ name }) => name === figure.check)?.facts[figure.fact]
        if (typeof value === 'number') gauge.set(value)
      }
      const engines = (processes ?? []).filter(({ kind, problems }) => kind === 'engine' && !problems.includes('gone'))
      for (const each of engines) {
        for (const { gauge, figure } of engine) {
          const value = figure.of(each)
          if (value !== null) gauge.set({ host: each.host, pid: each.pid }, value)
        }
      }
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
