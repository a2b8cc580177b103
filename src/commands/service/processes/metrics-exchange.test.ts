import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { exchangeMetrics, MetricsExchange } from './metrics-exchange.ts'

/** Both ends of the channel between the parent and a process. */
function aChannel() {
  const ends = [new EventEmitter(), new EventEmitter()] as const
  const peerOf = (own: EventEmitter, other: EventEmitter) =>
    Object.assign(own, { send: (message: unknown) => void setImmediate(() => other.emit('message', message)) })
  return { child: peerOf(ends[0], ends[1]), parent: peerOf(ends[1], ends[0]) }
}

function aProcess(exchange: MetricsExchange, number: number, own: () => Promise<string>) {
  const { child, parent } = aChannel()
  exchange.join(number, child)
  return { child, ask: exchangeMetrics(parent, own) }
}

const metricsWith = (requests: number) =>
  [
    '# HELP requests_total Requests',
    '# TYPE requests_total counter',
    `requests_total{route="/a",status="200"} ${requests}`,
    '',
    '# HELP memory_bytes Memory',
    '# TYPE memory_bytes gauge',
    'memory_bytes 5e+6',
    '',
  ].join('\n')

test('every process answers with the metrics of all: each metric described once, each series with its process', async () => {
  const exchange = new MetricsExchange()
  const first = aProcess(exchange, 1, async () => metricsWith(7))
  const second = aProcess(exchange, 2, async () => metricsWith(8))
  const all = [
    '# HELP requests_total Requests',
    '# TYPE requests_total counter',
    'requests_total{process="1",route="/a",status="200"} 7',
    'requests_total{process="2",route="/a",status="200"} 8',
    '',
    '# HELP memory_bytes Memory',
    '# TYPE memory_bytes gauge',
    'memory_bytes{process="1"} 5e+6',
    'memory_bytes{process="2"} 5e+6',
    '',
  ].join('\n')
  expect(await first.ask()).toBe(all)
  expect(await second.ask()).toBe(all)
})

test('a process that does not answer is left out, and a process that starts again takes the place of the former one', async () => {
  const exchange = new MetricsExchange()
  const first = aProcess(exchange, 1, async () => metricsWith(7))
  const stuck = aProcess(exchange, 2, () => new Promise(() => {}))
  expect(await first.ask()).not.toContain('process="2"')

  aProcess(exchange, 2, async () => metricsWith(1))
  stuck.child.emit('exit')
  expect(await first.ask()).toContain('requests_total{process="2",route="/a",status="200"} 1')
})
