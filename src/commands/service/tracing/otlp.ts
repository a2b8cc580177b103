import type { Attributes, Span, SpanKind } from '../../../base/tracing/span.ts'

/** The numbers of the protocol. */
const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3 }
const STATUS_ERROR = 2

/** Spans as the JSON of the OpenTelemetry protocol (OTLP). `resource` describes the process that they come from. */
export function otlpBodyOf(resource: Attributes, spans: readonly Span[]): string {
  const scopeSpans = [{ scope: { name: 'tidings' }, spans: spans.map(otlpSpanOf) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: otlpAttributesOf(resource) }, scopeSpans }] })
}

function otlpSpanOf({ traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, isFailed, links }: Span) {
  return {
    traceId,
    spanId,
    ...(parentId ? { parentSpanId: parentId } : {}),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanosecondsOf(startedAt),
    // The clocks of two processes may differ by some milliseconds.
    endTimeUnixNano: nanosecondsOf(endedAt < startedAt ? startedAt : endedAt),
    attributes: otlpAttributesOf(attributes),
    ...(links && links.length > 0 ? { links } : {}),
    ...(isFailed ? { status: { code: STATUS_ERROR } } : {}),
  }
}

/** As text: the number is too large for a JSON number. */
const nanosecondsOf = (time: Date) => `${time.getTime()}000000`

const otlpAttributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : { key, value: otlpValueOf(value) }))

function otlpValueOf(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
