import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { type Service, startService, stop, useDataFolders } from '../../src/testing/processes.ts'

const aDataFolder = useDataFolders()
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const NUMBER = '79160000001'
const TEXT = 'Invented for the traces'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  links?: { traceId: string; spanId: string }[]
  service: string
}

const spans: Span[] = []
const bodies: string[] = []
let collector: Server
let receiver: Server
let service: Service

beforeAll(async () => {
  collector = await serverOf(body => {
    bodies.push(body)
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const name = resource.attributes.find(({ key }: Attribute) => key === 'service.name').value.stringValue
      spans.push(...scopeSpans[0].spans.map((span: Span) => ({ ...span, service: name })))
    }
  })
  receiver = await serverOf(() => {})
  service = await startService(['serve'], {
    TIDINGS_DATA: await aDataFolder(),
    TIDINGS_DEMO: 'true',
    TIDINGS_LOG_LEVEL: 'fatal',
    TIDINGS_CALLBACK_ALLOW: '127.0.0.0/8',
    TIDINGS_TRACES_URL: `${urlOf(collector)}/v1/traces`,
  })
})

afterAll(async () => {
  if (service) await stop(service)
  collector?.close()
  receiver?.close()
})

test('one message is followed from the request of the client to the callback, over both processes', async () => {
  const messageUuid = await post('01')
  const traceId = messageUuid.replaceAll('-', '')
  await eventually(() => expect(namesIn(traceId)).toEqual(['accept', 'callback', 'message', 'receipt', 'send']))

  const whole = spans.find(({ name, traceId: id }) => name === 'message' && id === traceId)!
  const steps = spans.filter(span => span.traceId === traceId && span !== whole)
  expect(new Set(steps.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([whole.spanId]))
  expect(Object.fromEntries(steps.map(({ name, service: from }) => [name, from]))).toEqual({
    accept: 'tidings-api',
    send: 'tidings-engine',
    receipt: 'tidings-engine',
    callback: 'tidings-engine',
  })
  expect(attributeOf(whole, 'tidings.status')).toBe('DELIVERED')
  expect(BigInt(whole.endTimeUnixNano)).toBeGreaterThan(BigInt(whole.startTimeUnixNano))

  // The span of the request may be exported later than the span of its first step.
  const request = await eventually(() => {
    const found = spans.find(span => span.traceId === TRACE)
    expect(found).toBeDefined()
    return found
  })
  expect(request).toMatchObject({ parentSpanId: PARENT, name: 'POST /api/v1/message', service: 'tidings-api' })
  expect(request!.links).toEqual([{ traceId, spanId: whole.spanId }])
})

test('a client that does not want its request traced is heard, and spans have no numbers, texts or keys', async () => {
  const requests = () => spans.filter(({ traceId }) => traceId === TRACE)
  const before = requests().length
  const unwanted = await post('00')
  const wanted = await post('01')
  await eventually(() => expect(namesIn(unwanted.replaceAll('-', ''))).toContain('callback'))
  await eventually(() => expect(requests().length).toBeGreaterThan(before)) // spans of a process arrive in their order
  expect(
    requests()
      .slice(before)
      .map(({ links }) => links?.[0]?.traceId),
  ).toEqual([wanted.replaceAll('-', '')])
  const sent = bodies.join('\n')
  for (const hidden of [NUMBER, TEXT, service.demo!.key!, 'secret-path']) expect(sent).not.toContain(hidden)
})

const namesIn = (traceId: string) =>
  [...new Set(spans.filter(span => span.traceId === traceId).map(({ name }) => name))].sort()

const attributeOf = ({ attributes }: Span, wanted: string) =>
  attributes.find(({ key }) => key === wanted)?.value.stringValue

async function post(flags: string): Promise<string> {
  const response = await fetch(`${service.url}/api/v1/message`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.demo!.key}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-${PARENT}-${flags}`,
    },
    body: JSON.stringify({
      channelType: 'SMS',
      senderName: 'ROMASHKA',
      destination: NUMBER,
      content: TEXT,
      callbackUrl: `${urlOf(receiver)}/secret-path`,
      callbackEvents: ['delivered'],
    }),
  })
  const { items } = (await response.json()) as { items: { messageUuid: string }[] }
  return items[0]!.messageUuid
}

async function serverOf(take: (body: string) => void): Promise<Server> {
  const server = createServer(async (request, response) => {
    take(await bodyOf(request))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return server
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
