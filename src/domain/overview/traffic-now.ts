import type { Sql } from '../../db/sql.ts'
import { DAY_MS, hourOf } from './days.ts'
import * as store from './store.ts'

/** Counts the messages of all companies in the current hour (UTC). A channel has a row for each of its operators. */
export const trafficOfThisHour = (sql: Sql, now: Date) =>
  store.selectChannelSums(sql, { kind: 'STAFF' }, hourOf(now), new Date(now.getTime() + DAY_MS))
