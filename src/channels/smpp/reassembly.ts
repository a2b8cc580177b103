import type { Inbound } from '../channel.ts'
import { status } from './protocol/status.ts'
import type { InboundText } from './protocol/text.ts'

type Respond = (status: number) => void
type Joined = NonNullable<InboundText['joined']>

/** A long message on its way in: the texts of its parts by place, and the answers that are still owed. */
type Growing = { first: Inbound; texts: (string | undefined)[]; owed: Respond[]; since: number; isPassing: boolean }

export type Reassembly = {
  add(message: Inbound, joined: Joined, answer: Respond): void
  /** Passes on what has come of messages that were acknowledged in part; nothing else would remember them. */
  stop(): Promise<void>
}

/**
 * An answer is owed until the message is whole and safe. But an SMSC may send the next part only after the answer to
 * the one before: so long we wait for it, then the part is acknowledged and kept in memory alone.
 */
const ACKNOWLEDGE_AFTER_MS = 1000
/** What is not whole by then is passed on with what there is. */
const GIVE_UP_AFTER_MS = 10 * 60_000
/** More than these are not begun: while the database is away nothing ends, and memory would. */
const MOST_GROWING = 10_000
const LOOK_EVERY_MS = 250

/** Joins the parts of long messages, in whatever order and over whichever bind they come, repeats included. */
export function createReassembly(passOn: (message: Inbound) => Promise<void>, most = MOST_GROWING): Reassembly {
  const growing = new Map<string, Growing>()
  let looking: NodeJS.Timeout | undefined

  function add(message: Inbound, { reference, part, parts }: Joined, answer: Respond) {
    const key = JSON.stringify([message.from, message.to, reference, parts])
    if (!growing.has(key) && growing.size >= most) return turnAway(answer)
    const one = growing.get(key) ?? begin(key, message, parts)
    one.texts[part - 1] = message.text
    one.owed.push(answer)
    if (one.texts.every(text => text !== undefined)) void end(key, one)
    looking ??= setInterval(look, LOOK_EVERY_MS)
  }

  function begin(key: string, first: Inbound, parts: number): Growing {
    const one: Growing = {
      first,
      texts: Array.from({ length: parts }),
      owed: [],
      since: performance.now(),
      isPassing: false,
    }
    growing.set(key, one)
    return one
  }

  /** Too many are growing: the oldest goes as it is, if the database takes it, and the newcomer comes again. */
  function turnAway(answer: Respond) {
    void end(...growing.entries().next().value!)
    answer(status.ESME_RX_T_APPN)
  }

  /** Passes a message on as it is. If that fails it stays, and those who are owed an answer are asked to come again. */
  async function end(key: string, one: Growing) {
    if (one.isPassing) return
    one.isPassing = true
    const isSafe = await passOn({ ...one.first, text: one.texts.map(text => text ?? '').join('') }).then(
      () => true,
      () => false,
    )
    one.isPassing = false
    if (isSafe) growing.delete(key)
    for (const answer of one.owed.splice(0)) answer(isSafe ? status.ESME_ROK : status.ESME_RX_T_APPN)
  }

  function look() {
    const now = performance.now()
    for (const [key, one] of growing) {
      if (one.isPassing) continue
      if (now - one.since > GIVE_UP_AFTER_MS) void end(key, one)
      else if (now - one.since > ACKNOWLEDGE_AFTER_MS) for (const answer of one.owed.splice(0)) answer(status.ESME_ROK)
    }
    if (growing.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  async function stop() {
    clearInterval(looking)
    const acknowledged = [...growing].filter(
      ([, { texts, owed }]) => texts.filter(text => text !== undefined).length > owed.length,
    )
    await Promise.all(acknowledged.map(([key, one]) => end(key, one)))
  }

  return { add, stop }
}
