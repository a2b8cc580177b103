import type { Feed, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import type { GatewayError, OwnMinute } from '../../domain/gateways/monitoring/minute.ts'

const MINUTE_MS = 60_000
/** Most different errors of a minute. Further errors are counted together. */
const MOST_ERRORS = 20
const MOST_REASON_CHARACTERS = 200
/** The number of last answers whose times are measured. */
const SAMPLES = 256
/** Operators repeat a receipt that was not acknowledged. So many of the last receipts are remembered, to count each once. */
const REMEMBERED = 5000

type Minute = Omit<OwnMinute, 'errors' | 'changes'> & {
  errors: Map<string, GatewayError>
  changes: number
  written: number
}

/**
 * Counts submissions, receipts and errors of a gateway by minute of the database's clock, also when the gateway is connected
 * again. `taken` counts expected receipts and `ended` received receipts. Their difference over a day is the number of
 * outstanding receipts.
 */
export class GatewayTally {
  readonly #gatewayId: number
  readonly #now: () => Date
  readonly #minutes = new Map<number, Minute>()
  readonly #answers = new Float64Array(SAMPLES)
  #answered = 0
  #known: [Set<string>, Set<string>] = [new Set(), new Set()]

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

  /** READ receipts are not counted, because they come after the receipt that ends the message. */
  received(receipts: Pick<Receipt, 'of' | 'status'>[]) {
    const ends = receipts.filter(({ status, of }) => status !== 'READ' && this.#isNew(of))
    if (ends.length === 0) return
    const minute = this.#current()
    minute.ended += ends.length
    minute.failed += ends.filter(({ status }) => status === 'FAILED').length
  }

  /** The same feed, with its receipts counted once they are recorded. */
  counting(feed: Feed): Feed {
    return {
      ...feed,
      receipts: async (batch, refuse) => {
        const refused = new Set<number>()
        const onRefused = (index: number) => {
          refused.add(index)
          refuse?.(index)
        }
        await feed.receipts(batch, refuse && onRefused)
        this.received(refused.size > 0 ? batch.filter((_, index) => !refused.has(index)) : batch)
      },
    }
  }

  /** The time within which 95 of 100 of the last answers came. */
  answerMs(): number | null {
    const known = this.#answers.slice(0, Math.min(this.#answered, SAMPLES)).sort()
    const slow = known.at(Math.ceil(known.length * 0.95) - 1)
    return slow === undefined ? null : Math.round(slow)
  }

  /** The minutes that changed since they were last written. */
  changed(): OwnMinute[] {
    const changed = [...this.#minutes.values()].filter(({ changes, written }) => changes > written)
    return changed.map(({ written: _, errors, ...minute }) => ({ ...minute, errors: [...errors.values()] }))
  }

  /** Notes that these minutes are written. Minutes that are over are forgotten. */
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
