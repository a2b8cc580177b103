import type { Sql } from '../../db/sql.ts'
import { countWaitingRows } from '../review/statements.ts'
import { reviewed } from './store.ts'

export { type WaitingSender, waitingSenders } from './store.ts'

export const countWaitingSenders = (sql: Sql): Promise<number> => countWaitingRows(sql, reviewed)
