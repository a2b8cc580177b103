import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

export { forgetGoneEngines, removeEngine, seeEngine } from './store.ts'

/** The number of engines that reported within ten seconds by the clock of the database, and the largest clock difference. */
export async function enginesAtWork(sql: Sql): Promise<{ engines: number; clockOffMs: number }> {
  const [row] = await store.selectSeen(sql)
  return { engines: row?.engines ?? 0, clockOffMs: row?.clockOffMs ?? 0 }
}

/** Whether any engine sends. */
export async function isEngineAtWork(sql: Sql): Promise<boolean> {
  return (await enginesAtWork(sql)).engines > 0
}
