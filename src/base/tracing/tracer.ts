import { randomBytes } from 'node:crypto'
import { type Attributes, type Span, type SpanContext, type SpanKind, traceOfMessage } from './span.ts'

/** A step of a message. */
export type MessageStep = {
  startedAt: Date
  endedAt: Date
  kind?: SpanKind
  isFailed?: boolean
  attributes?: Attributes
}

/**
 * Records the spans of a share of messages and requests, from 0 to 1. All processes trace the same messages, because the
 * last digits of the uuid decide. `record` must return at once.
 */
export class Tracer {
  readonly #share: number
  readonly record: (span: Span) => void

  constructor(share: number, record: (span: Span) => void) {
    this.#share = share
    this.record = record
  }

  isTraced = (messageUuid: string): boolean => Number.parseInt(messageUuid.slice(-8), 16) < this.#share * 2 ** 32

  /** Whether a request without a trace of its client is traced. */
  isChosen = (): boolean => Math.random() < this.#share

  /** A step of a message, if the message is traced. */
  step(messageUuid: string, name: string, step: MessageStep): void {
    if (!this.isTraced(messageUuid)) return
    const { traceId, spanId: parentId } = traceOfMessage(messageUuid)
    this.record({ ...spanOf(messageUuid, name, step), traceId, spanId: newSpanId(), parentId })
  }

  /** The whole life of a message, if it is traced. The steps are its children. */
  whole(messageUuid: string, step: MessageStep): void {
    if (!this.isTraced(messageUuid)) return
    this.record({ ...spanOf(messageUuid, 'message', step), ...traceOfMessage(messageUuid) })
  }
}

export const newSpanId = () => randomBytes(8).toString('hex')

export const newTrace = (): SpanContext => ({ traceId: randomBytes(16).toString('hex'), spanId: newSpanId() })

const spanOf = (messageUuid: string, name: string, { kind = 'internal', attributes, ...step }: MessageStep) => ({
  ...step,
  name,
  kind,
  attributes: { 'messaging.message.id': messageUuid, ...attributes },
})
