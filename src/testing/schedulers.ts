import { pino } from 'pino'
import type { Channel, Outgoing } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import type { LiveGateway } from '../engine/gateways/gateways.ts'
import { Recorder } from '../engine/recording/recorder.ts'
import { Scheduler } from '../engine/sending/scheduler.ts'
import { aLiveGateway } from './live-gateways.ts'
import { billingZone } from './world.ts'

/** A channel that accepts every message after `answer` has resolved. */
export function anOperator(answer: (message: Outgoing) => Promise<void> = async () => {}, window = 1000) {
  const submitted: Outgoing[] = []
  const channel: Channel = {
    window,
    health: () => ({ up: true }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        submitted.push(message)
        await answer(message)
        report(index, { kind: 'accepted', providerIds: [`id ${message.uuid}`] })
      }
    },
  }
  return { submitted, gateway: aLiveGateway(1, {}, channel) }
}

/**
 * A scheduler with one gateway. Its recorder uses the connections `recording`. It does not read the lanes again by itself
 * unless the test gives a shorter pause, and a busy machine does not let it check messages twice.
 */
export function schedulerWith(sql: Pool, recording: Pool, gateway: LiveGateway, idleMs = 600_000): Scheduler {
  const clock = () => new Date()
  const log = pino({ level: 'silent' })
  return new Scheduler({
    sql,
    freshMs: 600_000,
    clock,
    log,
    billingZone,
    recorder: new Recorder({ sql: recording, clock, log, billingZone }),
    worker: crypto.randomUUID(),
    gateways: {
      serving: () => ({ known: true, up: [gateway], isElsewhere: false }),
      carriersOf: () => new Set(),
      ofChannel: () => ({ up: [gateway], all: 1 }),
    },
    idleMs,
  })
}
