import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

export { forgetGoneApis, recordApi, removeApi } from './store.ts'

export type Level = 'ok' | 'look' | 'bad' | 'unknown'

/** The problem of a process: it ended without a report, its clock is wrong, or its event loop was blocked. */
export type ProcessProblem = 'gone' | 'clock' | 'delay'

export type ProcessHealth = Omit<store.ProcessRow, 'silentMs'> & {
  kind: 'engine' | 'api'
  level: Level
  problems: ProcessProblem[]
  /** The numbers of leases, binds and receivers of an engine. Other engines take over the leases of a killed engine. */
  leases: number
  binds: number
  receivers: number
}

/** An engine without a report for this time has ended. Other engines take over its leases. */
const ENGINE_SILENT_MS = 10_000
/** An API process reports every five seconds. */
const API_SILENT_MS = 20_000
const LONG_DELAY_MS = 500

/** Every process that reported within a day, without processes that stopped normally. */
export async function processesIn(sql: Sql): Promise<ProcessHealth[]> {
  const [engines, apis, leases, binds, receivers] = await Promise.all([
    store.selectEngines(sql),
    store.selectApis(sql),
    store.countLeases(sql),
    store.countBinds(sql),
    store.countReceivers(sql),
  ])
  const ofWorker = (counts: store.Held[], id: string) => counts.find(({ worker }) => worker === id)?.held ?? 0
  const heldBy = (id: string) => ({
    leases: ofWorker(leases, id),
    binds: ofWorker(binds, id),
    receivers: ofWorker(receivers, id),
  })
  const nothing = { leases: 0, binds: 0, receivers: 0 }
  return [
    ...engines.map(row => healthOf('engine', row, ENGINE_SILENT_MS, heldBy(row.id))),
    ...apis.map(row => healthOf('api', row, API_SILENT_MS, nothing)),
  ]
}

function healthOf(
  kind: ProcessHealth['kind'],
  { silentMs, ...row }: store.ProcessRow,
  mostSilentMs: number,
  held: Pick<ProcessHealth, 'leases' | 'binds' | 'receivers'>,
): ProcessHealth {
  const isGone = silentMs > mostSilentMs
  const problems: ProcessProblem[] = isGone
    ? ['gone']
    : [
        ...(row.clockOffMs === 0 ? [] : ['clock' as const]),
        ...((row.loopDelayMs ?? 0) > LONG_DELAY_MS ? ['delay' as const] : []),
      ]
  const level = isGone ? 'bad' : problems.length > 0 ? 'look' : 'ok'
  return { kind, ...row, ...held, problems, level }
}
