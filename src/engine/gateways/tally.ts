import type { Feed, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import type { GatewayError, OwnMinute } from '../../domain/gateways/minute.ts'

const MINUTE_MS = 60_000
/** Different errors that a minute remembers; the others are counted as one. */
const MOST_ERRORS = 20
const MOST_REASON_CHARACTERS = 200
/** So many of the last answers are looked at. */
const SAMPLES = 256
/** Operators tell a receipt again when they did not hear that it was taken: so many of the last ones are known. */
const REMEMBERED = 5000

type Minute = Omit<OwnMinute, 'errors' | 'changes'> & {
  errors: Map<string, GatewayError>
  changes: number
  written: number
}

/**
 * Counts what happens at a gateway, by minute of the database's clock, however often it is connected anew. `taken` are
 * receipts that are to come, `ended` those that came: their difference over a day is what is outstanding.
 */
export class GatewayTally {
  readonly #gatewayId: number
  readonly #now: () => Date
  readonly #minutes = new Map<number, Minute>()
  readonly #answers = new Float64Array(SAMPLES)
  #answered = 0
  #known = [new Set<string>(), new Set<string>()] as [Set<string>, Set<string>]

  constructor(gatewayId: number, now: () => Date) {
    this.#gatewayId = gatewayId
    this.#now = now
  }

  submitted({ parts }: Pick<Outgoing, 'parts'>, result: SendResult, tookMs: number) {
    this.#answers[this.#answered++ % SAMPLES] = tookMs
    const minute = this.#current()
    if (result.kind === 'accepted' || result.kind === 'unknown') minute.parts += parts
    if (result.kind === 'accepted' && !result.delivered) minute.taken += result.providerIds?.length ?? 1
    if (result.kind !== 'accepted') this.#noteError(minute, result)
  }

  /** Receipts about reading come after the one that ends a message. */
  received(receipts: Pick<Receipt, 'of' | 'status'>[]) {
    const ends = receipts.filter(({ status, of }) => status !== 'READ' && this.#isNew(of))
    if (ends.length === 0) return
    const minute = this.#current()
    minute.ended += ends.length
    minute.failed += ends.filter(({ status }) => status === 'FAILED').length
  }

  /** The same feed; what it took is counted. */
  counting(feed: Feed): Feed {
    return {
      ...feed,
      receipts: async batch => {
        await feed.receipts(batch)
        this.received(batch)
      },
    }
  }

  /** Of the last answers, 95 in 100 came within this time. */
  answerMs(): number | null {
    const known = this.#answers.slice(0, Math.min(this.#answered, SAMPLES)).sort()
    return known.length === 0 ? null : Math.round(known[Math.ceil(known.length * 0.95) - 1]!)
  }

  /** Minutes that are not written down as they are now. */
  changed(): OwnMinute[] {
    const changed = [...this.#minutes.values()].filter(({ changes, written }) => changes > written)
    return changed.map(({ written: _, errors, ...minute }) => ({ ...minute, errors: [...errors.values()] }))
  }

  /** These are written down; those that are over are forgotten here. */
  wrote(rows: OwnMinute[]) {
    const current = this.#minuteNow()
    for (const { minute, changes } of rows) {
      const known = this.#minutes.get(minute.getTime())
      if (known) known.written = changes
      if (known && known.changes === changes && minute.getTime() < current) this.#minutes.delete(minute.getTime())
    }
  }

  #minuteNow = () => Math.floor(this.#now().getTime() / MINUTE_MS) * MINUTE_MS

  #current(): Minute {
    const at = this.#minuteNow()
    let minute = this.#minutes.get(at)
    if (!minute) {
      const counts = { parts: 0, taken: 0, ended: 0, failed: 0, changes: 0, written: 0 }
      minute = { gatewayId: this.#gatewayId, minute: new Date(at), ...counts, errors: new Map() }
      this.#minutes.set(at, minute)
    }
    minute.changes += 1
    return minute
  }

  #noteError({ errors }: Minute, result: Exclude<SendResult, { kind: 'accepted' }>) {
    const { kind } = result
    const errorCode = 'errorCode' in result ? result.errorCode : null
    const operatorError = 'operatorError' in result ? (result.operatorError ?? null) : null
    const key = [kind, errorCode, operatorError, result.reason].join('\n')
    const isKept = errors.has(key) || errors.size < MOST_ERRORS
    const reason = isKept ? result.reason.slice(0, MOST_REASON_CHARACTERS) : ''
    const fresh = isKept ? { kind, errorCode, operatorError } : { kind, errorCode: null, operatorError: null }
    const known = errors.get(isKept ? key : kind) ?? { ...fresh, reason, count: 0, lastAt: '' }
    errors.set(isKept ? key : kind, { ...known, count: known.count + 1, lastAt: this.#now().toISOString() })
  }

  #isNew(of: Receipt['of']): boolean {
    const id = 'uuid' in of ? of.uuid : of.providerId
    const [young, old] = this.#known
    if (young.has(id) || old.has(id)) return false
    young.add(id)
    if (young.size >= REMEMBERED) this.#known = [new Set(), young]
    return true
  }
}
