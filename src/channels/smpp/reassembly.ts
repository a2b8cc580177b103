import type { Inbound } from '../channel.ts'
import { status } from './protocol/status.ts'
import type { InboundText } from './protocol/text.ts'

type Respond = (status: number) => void
type Joined = NonNullable<InboundText['joined']>

/** An incomplete long message: the texts of its parts by position, and the parts that are not answered yet. */
type Incomplete = {
  first: Inbound
  texts: (string | undefined)[]
  unanswered: Respond[]
  since: number
  isPassing: boolean
}

/**
 * A part is answered when the whole message is stored. But an SMSC may send the next part only after the answer to the
 * last. So after this time the part is acknowledged and stays in memory alone.
 */
const ACKNOWLEDGE_AFTER_MS = 1000
/** A message that is still incomplete after this time is passed on with the parts that have arrived. */
const GIVE_UP_AFTER_MS = 10 * 60_000
/** Bounds the memory: while the database is away, no message ends. */
const MOST_INCOMPLETE = 10_000
const CHECK_EVERY_MS = 250

/** Joins the parts of long messages, in any order, over any bind, and with repeated parts. */
export class Reassembly {
  readonly #passOn: (message: Inbound) => Promise<void>
  readonly #most: number
  readonly #incomplete = new Map<string, Incomplete>()
  #checking: NodeJS.Timeout | undefined

  constructor(passOn: (message: Inbound) => Promise<void>, most = MOST_INCOMPLETE) {
    this.#passOn = passOn
    this.#most = most
  }

  add(message: Inbound, { reference, part, parts }: Joined, answer: Respond) {
    const key = JSON.stringify([message.from, message.to, reference, parts])
    if (!this.#incomplete.has(key) && this.#incomplete.size >= this.#most) return this.#turnAway(answer)
    const one = this.#incomplete.get(key) ?? this.#begin(key, message, parts)
    one.texts[part - 1] = message.text
    one.unanswered.push(answer)
    if (one.texts.every(text => text !== undefined)) void this.#end(key, one)
    this.#checking ??= setInterval(() => this.#check(), CHECK_EVERY_MS)
  }

  /** Passes on the incomplete messages with acknowledged parts: the SMSC will not send these parts again. */
  async stop(): Promise<void> {
    clearInterval(this.#checking)
    const acknowledged = [...this.#incomplete].filter(
      ([, { texts, unanswered }]) => texts.filter(text => text !== undefined).length > unanswered.length,
    )
    await Promise.all(acknowledged.map(([key, one]) => this.#end(key, one)))
  }

  #begin(key: string, first: Inbound, parts: number): Incomplete {
    const texts = Array.from<string | undefined>({ length: parts })
    const one = { first, texts, unanswered: [], since: performance.now(), isPassing: false }
    this.#incomplete.set(key, one)
    return one
  }

  /** There are too many incomplete messages: the oldest is passed on as it is, and the SMSC must send this part again. */
  #turnAway(answer: Respond) {
    const [oldest] = this.#incomplete
    if (oldest) void this.#end(...oldest)
    answer(status.ESME_RX_T_APPN)
  }

  /** Passes a message on with its present parts. If that fails, the message stays and the SMSC must send its parts again. */
  async #end(key: string, one: Incomplete) {
    if (one.isPassing) return
    one.isPassing = true
    const isStored = await this.#passOn({ ...one.first, text: one.texts.map(text => text ?? '').join('') }).then(
      () => true,
      () => false,
    )
    one.isPassing = false
    if (isStored) this.#incomplete.delete(key)
    answerAll(one, isStored ? status.ESME_ROK : status.ESME_RX_T_APPN)
  }

  #check() {
    const now = performance.now()
    for (const [key, one] of this.#incomplete) {
      if (one.isPassing) continue
      if (now - one.since > GIVE_UP_AFTER_MS) void this.#end(key, one)
      else if (now - one.since > ACKNOWLEDGE_AFTER_MS) answerAll(one, status.ESME_ROK)
    }
    if (this.#incomplete.size > 0) return
    clearInterval(this.#checking)
    this.#checking = undefined
  }
}

function answerAll({ unanswered }: Incomplete, code: number) {
  for (const answer of unanswered.splice(0)) answer(code)
}
