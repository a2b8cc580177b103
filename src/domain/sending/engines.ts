import type { Sql } from '../../db/sql.ts'
import * as store from './engine-store.ts'

/** An engine is at work: said every second, so that everyone can see which there are. */
export const seeEngine = (sql: Sql, worker: string) => store.upsertEngine(sql, worker)

/** An engine has ended in good order. */
export const removeEngine = (sql: Sql, worker: string) => store.deleteEngine(sql, worker)

export const forgetGoneEngines = (sql: Sql) => store.deleteUnseen(sql)
