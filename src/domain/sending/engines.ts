import type { Sql } from '../../db/sql.ts'
import * as store from './engine-store.ts'

/** An engine is at work: said every second, so that everyone can see which there are. */
export const seeEngine = (sql: Sql, worker: string) => store.upsertEngine(sql, worker)

/** An engine has ended in good order. */
export const removeEngine = (sql: Sql, worker: string) => store.deleteEngine(sql, worker)

/** Whether anyone sends: an engine was seen within the last ten seconds, by the database's clock. */
export async function isEngineAtWork(sql: Sql): Promise<boolean> {
  const [row] = await store.selectSeen(sql)
  return row!.seen
}

export const forgetGoneEngines = (sql: Sql) => store.deleteUnseen(sql)
