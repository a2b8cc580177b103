import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

export { forgetGoneEngines, recordEngine, removeEngine } from './store.ts'

/** The number of engines that reported within ten seconds by the clock of the database, and the largest clock difference. */
export async function countRunningEngines(sql: Sql): Promise<{ engines: number; clockOffMs: number }> {
  const [row] = await store.selectSeen(sql)
  return { engines: row?.engines ?? 0, clockOffMs: row?.clockOffMs ?? 0 }
}

/** Whether any engine sends. */
export async function isEngineRunning(sql: Sql): Promise<boolean> {
  return (await countRunningEngines(sql)).engines > 0
}

/** Whether an engine of this machine, or this one process of it, reported within ten seconds. */
export async function isEngineSeen(sql: Sql, host: string, pid?: number): Promise<boolean> {
  return (await store.selectSeenOn(sql, host, pid)).length > 0
}
