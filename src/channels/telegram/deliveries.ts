import { setTimeout as pause } from 'node:timers/promises'
import type { Feed, Receipt } from '../channel.ts'

const RECEIPTS_AT_ONCE = 2000
const MOST_WAITING = 20_000
const TELL_AGAIN_MS = 500
/** After a stop, receipts that are not taken in so many tries are let go: the message then ends by its lifetime. */
const LAST_TRIES = 5

/**
 * The receipts of a messenger that has none: what it took counts as delivered. They are told in batches, one after
 * another, and told again until the feed takes them.
 */
export function createDeliveries(feed: Feed) {
  const waiting: Receipt[] = []
  let telling: Promise<void> | undefined
  let triesLeft = Number.POSITIVE_INFINITY

  function add(providerId: string, happenedAt: Date) {
    waiting.push({ of: { providerId }, status: 'DELIVERED', happenedAt })
    telling ??= tell()
  }

  async function tell() {
    await pause(0) // the message itself is reported first, and neighbours come into the same batch
    while (waiting.length > 0 && triesLeft > 0) {
      const batch = waiting.slice(0, RECEIPTS_AT_ONCE)
      if (await isTaken(batch)) waiting.splice(0, batch.length)
      else if (--triesLeft > 0) await pause(TELL_AGAIN_MS)
    }
    telling = undefined
  }

  const isTaken = (batch: Receipt[]) =>
    feed.receipts(batch).then(
      () => true,
      () => false,
    )

  return {
    add,
    /** So many wait that no message should be handed over before they are taken. */
    isFull: () => waiting.length >= MOST_WAITING,
    async stop() {
      triesLeft = LAST_TRIES
      await telling
    },
  }
}
