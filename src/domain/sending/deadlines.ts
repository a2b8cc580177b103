import type { Sql } from '../../db/sql.ts'
import { lastSentIn } from '../messages/messages.ts'
import * as store from './deadline-store.ts'

/** Ranges whose lifetime is over, taken for a while: who takes them and dies leaves them to the next. */
export const takeDeadlines = (sql: Sql, now: Date): Promise<store.Deadline[]> => store.claimDeadlines(sql, now, 100)

/**
 * A range that has been looked at. What was recorded as sent after its deadline was set (its engine had been frozen)
 * is still within its lifetime: then the range is looked at again when that is over.
 */
export async function closeDeadline(sql: Sql, deadline: store.Deadline, lifetimeMs: number): Promise<void> {
  const lastSent = await lastSentIn(sql, deadline)
  if (lastSent) await store.postponeDeadline(sql, deadline, new Date(lastSent.getTime() + lifetimeMs))
  else await store.deleteDeadline(sql, deadline)
}
