import type { Sql } from '../../db/sql.ts'
import { countWaitingRows } from '../review/statements.ts'
import { reviewed } from './store.ts'

export { selectWaiting as waitingSenders, type WaitingSender } from './store.ts'

export const countWaitingSenders = (sql: Sql): Promise<number> => countWaitingRows(sql, reviewed)
