import { expect, test } from 'vitest'
import { uuid7Batch } from '../uuid7.ts'
import { type Span, traceOfMessage } from './span.ts'
import { Tracer } from './tracer.ts'

const NOW = new Date('2026-05-01T12:00:00.123Z')
const step = { startedAt: NOW, endedAt: new Date(NOW.getTime() + 7) }
const [uuid] = uuid7Batch(NOW, 1) as [string]
const ignore = () => {}

test('a step is a child of the life of its message, in the trace with the uuid of the message', () => {
  const spans: Span[] = []
  const tracer = new Tracer(1, span => spans.push(span))
  tracer.step(uuid, 'send', { ...step, isFailed: true, attributes: { 'tidings.gateway_id': 3 } })
  tracer.whole(uuid, step)
  const { traceId, spanId } = traceOfMessage(uuid)
  expect(traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(spanId).toMatch(/^[0-9a-f]{16}$/)
  const attributes = { 'messaging.message.id': uuid }
  expect(spans).toEqual([
    {
      traceId,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      parentId: spanId,
      name: 'send',
      kind: 'internal',
      ...step,
      attributes: { ...attributes, 'tidings.gateway_id': 3 },
      isFailed: true,
    },
    { traceId, spanId, name: 'message', kind: 'internal', ...step, attributes },
  ])
})

test('every process chooses the same messages, about as many as the share says', () => {
  const uuids = uuid7Batch(NOW, 4000)
  const chosen = uuids.filter(new Tracer(0.25, ignore).isTraced)
  expect(chosen).toEqual(uuids.filter(new Tracer(0.25, ignore).isTraced))
  expect(chosen.length).toBeGreaterThan(800)
  expect(chosen.length).toBeLessThan(1200)
})

test('a share of 0 traces nothing, and a share of 1 everything', () => {
  const ends = [`${uuid.slice(0, -8)}00000000`, `${uuid.slice(0, -8)}ffffffff`]
  const [none, all] = [new Tracer(0, ignore), new Tracer(1, ignore)]
  expect(ends.filter(none.isTraced)).toEqual([])
  expect(ends.filter(all.isTraced)).toEqual(ends)
  expect([none.isChosen(), all.isChosen()]).toEqual([false, true])
})
