import type { Channel, Outgoing, SendResult } from '../../channels/channel.ts'
import type { GatewayTally } from './tally.ts'

/** A channel with a meter on it: what it took within the last minute, and when it last had an error. */
export type MeteredChannel = Channel & {
  partsLastMinute(): number
  /** The last error, whether it is over or not. */
  lastTrouble(): { lastError: string; lastErrorAt: Date } | undefined
}

const SECONDS = 60

/**
 * An error that is over is still worth knowing: `lastTrouble` looks at the health each time it is asked. Of a channel
 * that does not say when it had its error, a new one is seen by its words.
 */
export function metered(channel: Channel, tally?: GatewayTally): MeteredChannel {
  const perSecond = new Array<number>(SECONDS).fill(0)
  let second = currentSecond()
  let trouble: { lastError: string; lastErrorAt: Date } | undefined

  function turnTo(now: number) {
    for (let passed = Math.max(second + 1, now - SECONDS + 1); passed <= now; passed++) perSecond[passed % SECONDS] = 0
    second = Math.max(second, now)
  }

  function count(message: Outgoing, result: SendResult) {
    if (result.kind !== 'accepted' && result.kind !== 'unknown') return
    turnTo(currentSecond())
    perSecond[second % SECONDS]! += message.parts
  }

  return {
    submit(batch, report, mayGo) {
      const handedAt = performance.now()
      return channel.submit(
        batch,
        (index, result) => {
          count(batch[index]!, result)
          tally?.submitted(batch[index]!, result, performance.now() - handedAt)
          report(index, result)
        },
        mayGo,
      )
    },
    get window() {
      return channel.window
    },
    health: () => channel.health(),
    stop: () => channel.stop(),
    partsLastMinute() {
      turnTo(currentSecond())
      return perSecond.reduce((sum, parts) => sum + parts, 0)
    },
    lastTrouble() {
      const { lastError, lastErrorAt } = channel.health()
      if (lastError !== undefined && (lastErrorAt || lastError !== trouble?.lastError))
        trouble = { lastError, lastErrorAt: lastErrorAt ?? new Date() }
      return trouble
    },
  }
}

const currentSecond = () => Math.floor(performance.now() / 1000)
