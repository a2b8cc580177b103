/** The place of a span in the traces of OpenTelemetry: 16 bytes and 8 bytes, in hexadecimal digits. */
export type SpanContext = { traceId: string; spanId: string }

export type Attributes = Record<string, string | number | boolean | undefined>

/** A step with its beginning and its end. */
export type Span = SpanContext & {
  parentId?: string | undefined
  name: string
  kind: SpanKind
  startedAt: Date
  endedAt: Date
  attributes: Attributes
  isFailed?: boolean
  /** Other traces that this step began. */
  links?: SpanContext[]
}

export type SpanKind = 'internal' | 'server' | 'client'

/**
 * The trace of a message, and its first span. Both are made of the uuid of the message: every process knows them, and
 * nothing has to be stored or passed on.
 */
export const traceOfMessage = (uuid: string): SpanContext => ({
  traceId: uuid.replaceAll('-', ''),
  spanId: uuid.slice(19).replace('-', ''),
})
