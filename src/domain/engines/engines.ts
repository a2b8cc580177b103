import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

/** An engine is at work: said every second, so that everyone can see which there are. */
export const seeEngine = (sql: Sql, worker: string, clockOffMs = 0, vitals: Partial<store.EngineVitals> = {}) =>
  store.upsertEngine(sql, worker, clockOffMs, vitals)

/** An engine has ended in good order. */
export const removeEngine = (sql: Sql, worker: string) => store.deleteEngine(sql, worker)

/** How many engines were seen within the last ten seconds, by the database's clock, and how far their clocks are off. */
export async function enginesAtWork(sql: Sql): Promise<{ engines: number; clockOffMs: number }> {
  const [row] = await store.selectSeen(sql)
  return { engines: row!.engines, clockOffMs: row!.clockOffMs ?? 0 }
}

/** Whether any engine sends. */
export async function isEngineAtWork(sql: Sql): Promise<boolean> {
  return (await enginesAtWork(sql)).engines > 0
}

export const forgetGoneEngines = (sql: Sql) => store.deleteUnseen(sql)
