import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { Session, WidgetRefusal } from './widget.ts'

/** Of each number: strangers cause some of them, and must not crowd out the others. */
const MOST_IN_HOUR = 100
const MOST_REASON = 300

type Subject = Pick<Session, 'companyId' | 'widgetId'> & Partial<Pick<Session, 'origin' | 'destination'>>

/** Writes a line into the company's log of widget errors. */
export async function logError(sql: Sql, subject: Subject, { code, reason }: Pick<WidgetRefusal, 'code' | 'reason'>) {
  const { companyId, widgetId, origin, destination } = subject
  const error = {
    widgetId,
    code,
    reason: reason.slice(0, MOST_REASON),
    origin: origin?.slice(0, MOST_REASON) ?? null,
    destination: destination ?? null,
  }
  await store.insertError(sql, companyId, error, MOST_IN_HOUR)
}

export { countErrors, type ErrorCount, listErrors } from './store.ts'
