import type { Feed, Gone, Receipt } from '../channel.ts'
import { waitFor } from '../http-call.ts'

const RECEIPTS_AT_ONCE = 2000
/** With so many not told, nothing more is taken on. */
const MOST_WAITING = 20_000
/** Addresses that cannot be told now are told when the next message finds them gone. */
const MOST_GONE = 10_000
const TELL_AGAIN_MS = 500
/** So long a stopping channel goes on telling a feed that does not take it. */
const DRAIN_MS = 5000
/** Many messages find the same address gone: it is told once, and again only if it is still used much later. */
const REMEMBER_GONE_MS = 600_000

/** Tells the feed what became of messages and addresses, in batches, again until it is taken. */
export function createTeller(feed: Feed) {
  const receipts: Receipt[] = []
  const gone = new Map<string, Gone>()
  const toldGone = new Map<string, number>()
  const stopping = new AbortController()
  let telling: Promise<void> | undefined
  let drainUntil = Number.POSITIVE_INFINITY

  function tellReceipt(receipt: Receipt) {
    receipts.push(receipt)
    start()
  }

  function tellGone(address: Gone) {
    const { companyId, channelType, senderName } = address
    const key = JSON.stringify([companyId, channelType, senderName, address.address])
    if (gone.has(key) || (toldGone.get(key) ?? 0) > performance.now() || gone.size >= MOST_GONE) return
    gone.set(key, address)
    start()
  }

  function start() {
    telling ??= tell()
  }

  /** It says that it is over in the same breath as it finds nothing more: what comes next starts it again. */
  async function tell() {
    // What is answered in the same turn goes together.
    await new Promise(resolve => setImmediate(resolve))
    while (receipts.length > 0 || gone.size > 0) {
      const areTaken = [await tellReceipts(), await tellOfGone()].every(Boolean)
      if (areTaken) continue
      if (isDrainOver()) break
      await waitAWhile()
    }
    telling = undefined
  }

  const isDrainOver = () => performance.now() >= drainUntil

  async function tellReceipts(): Promise<boolean> {
    const batch = receipts.slice(0, RECEIPTS_AT_ONCE)
    const isTaken = batch.length === 0 || (await succeeds(() => feed.receipts(batch)))
    if (isTaken) receipts.splice(0, batch.length)
    return isTaken
  }

  async function tellOfGone(): Promise<boolean> {
    for (const [key, address] of gone) {
      if (isDrainOver() || !(await succeeds(() => feed.gone(address)))) return false
      gone.delete(key)
      rememberGone(key)
    }
    return true
  }

  function rememberGone(key: string) {
    toldGone.delete(key)
    if (toldGone.size >= MOST_GONE) toldGone.delete(toldGone.keys().next().value!)
    toldGone.set(key, performance.now() + REMEMBER_GONE_MS)
  }

  /** A stop cuts the first wait short; afterwards it waits again, for the signal is given once and for all. */
  const waitAWhile = () =>
    waitFor(TELL_AGAIN_MS, stopping.signal.aborted ? new AbortController().signal : stopping.signal)

  return {
    tellReceipt,
    tellGone,
    isFull: () => receipts.length >= MOST_WAITING,
    async stop() {
      drainUntil = performance.now() + DRAIN_MS
      stopping.abort()
      await telling
    },
  }
}

const succeeds = async (tell: () => Promise<void>) => {
  try {
    await tell()
    return true
  } catch {
    return false
  }
}
