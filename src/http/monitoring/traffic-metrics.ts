import { Counter, type Registry } from 'prom-client'
import { allChannelTypes } from '../../base/channel-types.ts'
import type { Sql } from '../../db/sql.ts'
import { trafficOfThisHour } from '../../domain/overview/traffic-now.ts'

const results = ['accepted', 'sent', 'delivered', 'failed'] as const

/**
 * The messages of the whole service. Prometheus reads each start of an hour as the restart of a counter, so `rate` and
 * `increase` are right. A channel without messages is 0, so that this restart is visible. A receipt counts in the hour that
 * the operator names, so receipts that arrive in a later hour are missing here.
 */
export function trafficMetrics(registry: Registry) {
  const messages = new Counter({
    name: 'tidings_messages_total',
    help: 'Messages of the current hour (UTC) by channel and result. Begins at 0 every hour, and lacks receipts that arrive in a later hour',
    labelNames: ['channel', 'result'],
    registers: [registry],
  })
  return {
    async refresh(sql: Sql, now: Date): Promise<void> {
      messages.reset()
      const rows = await trafficOfThisHour(sql, now)
      for (const channel of allChannelTypes) for (const result of results) messages.inc({ channel, result }, 0)
      for (const { channelType: channel, ...counts } of rows)
        for (const result of results) messages.inc({ channel, result }, counts[result])
    },
  }
}
