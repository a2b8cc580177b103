import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import type { Span } from '../../../base/tracing/span.ts'
import { eventually } from '../../../testing/eventually.ts'
import { SpanExporter } from './span-exporter.ts'

const NOW = new Date('2026-05-01T12:00:00.123Z')
const span: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentId: '00f067aa0ba902b7',
  name: 'send',
  kind: 'client',
  startedAt: NOW,
  endedAt: new Date(NOW.getTime() + 7),
  attributes: { 'tidings.gateway_id': 3, left: undefined, ok: true, share: 0.5, result: 'refused' },
  isFailed: true,
  links: [{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }],
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function anExporter(answer = (response: ServerResponse) => void response.end('{}')) {
  const requests: { headers: unknown; body: { resourceSpans: unknown[] } }[] = []
  const collector: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    answer(response)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => collector.once('listening', resolve))
  const lines: object[] = []
  const log = pino({ level: 'warn' }, { write: line => void lines.push(JSON.parse(line)) })
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`
  const resource = { 'service.name': 'tidings-api' }
  const exporter = new SpanExporter({ url, headers: { 'x-team': 'sms' }, resource, log })
  ends.push(
    () => exporter.stop(),
    () => collector.closeAllConnections(),
    () => collector.close(),
  )
  return { exporter, requests, lines }
}

test('spans are sent as the JSON of OTLP', async () => {
  const { exporter, requests } = await anExporter()
  exporter.add(span)
  await exporter.stop()
  expect(requests).toHaveLength(1)
  expect(requests[0]!.headers).toMatchObject({ 'x-team': 'sms', 'content-type': 'application/json' })
  const { startedAt, endedAt, parentId, isFailed, ...same } = span
  expect(requests[0]!.body.resourceSpans).toEqual([
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'tidings-api' } }] },
      scopeSpans: [
        {
          scope: { name: 'tidings' },
          spans: [
            {
              ...same,
              kind: 3,
              parentSpanId: parentId,
              startTimeUnixNano: '1777636800123000000',
              endTimeUnixNano: '1777636800130000000',
              attributes: [
                { key: 'tidings.gateway_id', value: { intValue: '3' } },
                { key: 'ok', value: { boolValue: true } },
                { key: 'share', value: { doubleValue: 0.5 } },
                { key: 'result', value: { stringValue: 'refused' } },
              ],
              status: { code: 2 },
            },
          ],
        },
      ],
    },
  ])
})

test('a span whose end is before its beginning, by another clock, takes no time', async () => {
  const { exporter, requests } = await anExporter()
  exporter.add({ ...span, endedAt: new Date(NOW.getTime() - 5) })
  await exporter.stop()
  expect(JSON.stringify(requests[0]!.body)).toContain('"endTimeUnixNano":"1777636800123000000"')
})

test('a collector that hangs costs spans and one warning, and neither memory nor time', async () => {
  const { exporter, requests, lines } = await anExporter(() => {})
  for (let i = 0; i < 30_000; i++) exporter.add(span)
  await eventually(() => expect(requests).toHaveLength(1))
  await exporter.stop() // gives the first request up, and begins no second
  expect(requests).toHaveLength(1)
  expect(lines.length).toBeLessThanOrEqual(2)
  const lost = lines.map(line => (line as { spans: number }).spans)
  expect(lost.reduce((sum, spans) => sum + spans, 0)).toBe(30_000)
})

test('a collector that refuses spans is named in a warning', async () => {
  const { exporter, lines } = await anExporter(response => void response.writeHead(403).end())
  exporter.add(span)
  await exporter.stop()
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'traces.lost', spans: 1, reason: 'the collector answered 403' }),
  ])
})
