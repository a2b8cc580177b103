import type { Sql } from '../../db/sql.ts'
import * as store from './deadline-store.ts'

/** Ranges whose lifetime is over, taken for a while: who takes them and dies leaves them to the next. */
export const takeDeadlines = (sql: Sql, now: Date): Promise<store.Deadline[]> => store.claimDeadlines(sql, now, 100)

export const dropDeadline = (sql: Sql, deadline: store.Deadline) => store.deleteDeadline(sql, deadline)
