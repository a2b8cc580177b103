import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

/** Records that an engine runs. Each engine calls this every second. */
export const seeEngine = (sql: Sql, worker: string, clockOffMs = 0, vitals: Partial<store.EngineVitals> = {}) =>
  store.upsertEngine(sql, worker, clockOffMs, vitals)

/** Removes an engine that stops normally. */
export const removeEngine = (sql: Sql, worker: string) => store.deleteEngine(sql, worker)

/** The number of engines that reported within ten seconds by the clock of the database, and the largest clock difference. */
export async function enginesAtWork(sql: Sql): Promise<{ engines: number; clockOffMs: number }> {
  const [row] = await store.selectSeen(sql)
  return { engines: row?.engines ?? 0, clockOffMs: row?.clockOffMs ?? 0 }
}

/** Whether any engine sends. */
export async function isEngineAtWork(sql: Sql): Promise<boolean> {
  return (await enginesAtWork(sql)).engines > 0
}

export const forgetGoneEngines = (sql: Sql) => store.deleteUnseen(sql)
