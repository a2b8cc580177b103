import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { startFakeProvider } from '../../testing/providers/http-provider.ts'
import { startReceiver } from '../../testing/providers/http-webhook-receiver.ts'
import { aFeed } from '../channel.contract.ts'
import type { Channel, Outgoing, SendResult } from '../channel.ts'
import { failureCodeOf, refusalCodeOf } from './failures.ts'
import { createHttpGateway } from './http.ts'
import { signedHeaders } from './signature.ts'
import { readWebhook } from './webhook.ts'

/** Our code does what docs/gateway-protocol.md says. */
const document = readFileSync(new URL('../../../docs/gateway-protocol.md', import.meta.url), 'utf8')

const key = Buffer.alloc(32, 7)
const secret = `whsec_${key.toString('base64')}`

const blocks = (language: string) =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code!)
const examples: Record<string, unknown>[] = blocks('json').map(code => JSON.parse(code))

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

const base = { companyId: 1, senderName: 'ROMASHKA', destination: '79160000001', parts: 1, attempts: 0 }
const text = 'Your order is ready'
const button = { text: 'Open', url: 'https://shop.example/orders/17' }
const data = { order: 17 }

const messages: Omit<Outgoing, 'uuid'>[] = [
  {
    ...base,
    channelType: 'VIBER',
    text,
    content: { contentType: 'text', text, image: 'https://shop.example/order.png', button },
    expiresAt: new Date('2026-11-16T02:24:09.304Z'),
  },
  { ...base, channelType: 'VK', text },
  { ...base, channelType: 'FLASHCALL', text: '0042' },
  { ...base, channelType: 'VOICECODE', senderName: 'voicecode', text: 'Your code is 1-2-3-4' },
  {
    ...base,
    channelType: 'TEXT_TO_SPEECH',
    senderName: '74950000001',
    text,
    content: { contentType: 'tts', text, sex: 'female', speed: 1.2 },
  },
  {
    ...base,
    channelType: 'WHATSAPP',
    text: 'Your order 17 is ready',
    content: { contentType: 'template', templateId: 'order_ready', parameters: ['17'] },
  },
  {
    ...base,
    channelType: 'PUSH',
    senderName: 'Romashka',
    text,
    content: { contentType: 'push', text, title: 'Romashka', url: button.url, data },
    addresses: ['device-1'],
  },
]

const submissions = examples.filter(example => 'version' in example)

test('there is an example for every kind of content', () => {
  expect(submissions.map(({ channel }) => channel)).toEqual(messages.map(({ channelType }) => channelType))
})

test.each(submissions.map((example, index) => ({ channel: example.channel, example, message: messages[index]! })))(
  'the example of $channel equals the request that we send',
  async ({ example, message }) => {
    const provider = await startFakeProvider({ secret })
    atEnd.push(() => provider.stop())
    const statusUrl = example.statusUrl
    const channel = createHttpGateway({ url: provider.url, secret, statusUrl }, aFeed())
    expect((await submitOne(channel, { ...message, uuid: example.id as string })).kind).toBe('accepted')
    expect(provider.bodies).toEqual([JSON.stringify(example)])
  },
)

test('the examples of webhooks are read', () => {
  const now = new Date('2026-11-15T02:30:00Z')
  const told = examples.filter(example => !('version' in example))
  const read = told.map(example => {
    const body = JSON.stringify(example)
    const headers = signedHeaders(key, 'w-1', body, now)
    return readWebhook({ secret }, { method: 'POST', headers, query: {}, body: Buffer.from(body) }, now)
  })
  expect(read).toMatchObject([
    {
      kind: 'told',
      receipts: [
        { of: { providerId: 'm1' }, status: 'DELIVERED' },
        { of: { providerId: 'm2' }, status: 'FAILED', errorCode: 601, operatorError: 'no_answer' },
        { of: { providerId: 'm1' }, status: 'READ' },
      ],
    },
    { kind: 'told', inbound: [{ from: '79160000001', to: 'ROMASHKA', text: 'STOP', providerId: 'in-1' }] },
  ])
})

test('the table of error codes equals ours', () => {
  const rows = [...document.matchAll(/^\| (`(\w+)`|any other) \|[^|]*\| (\d+) \| (\d+) \|$/gm)]
  expect(rows).toHaveLength(8)
  for (const [, , code = 'of_their_own', refusal, failure] of rows)
    expect([code, refusalCodeOf(code), failureCodeOf(code)]).toEqual([code, Number(refusal), Number(failure)])
})

test('the provider in the document accepts a message once, and its webhooks are read', async () => {
  const feed = aFeed()
  const receiver = await startReceiver({ secret }, feed)
  atEnd.push(() => receiver.close())
  const url = await startDocumentedProvider()
  const gateway = (settings: object = {}) => {
    const given = { url, secret, idempotent: true, statusUrl: receiver.url }
    return createHttpGateway({ ...given, ...settings }, feed)
  }
  const viber: Outgoing = { ...messages[0]!, uuid: '01980000-0000-7000-8000-000000000001' }

  expect(await submitOne(gateway(), viber)).toEqual({ kind: 'accepted', providerIds: ['m1'] })
  expect(await submitOne(gateway(), viber)).toEqual({ kind: 'accepted', providerIds: ['m1'] })
  await eventually(() => expect(feed.taken).toHaveLength(1))
  expect(feed.taken).toMatchObject([{ of: { providerId: 'm1' }, status: 'DELIVERED' }])

  expect(await submitOne(gateway(), { ...viber, channelType: 'VK' })).toMatchObject({ kind: 'refused', errorCode: 455 })
  const stranger = gateway({ secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` })
  expect(await submitOne(stranger, viber)).toMatchObject({ kind: 'busy', reason: expect.stringContaining('401') })
})

async function startDocumentedProvider(): Promise<string> {
  const [code] = blocks('js')
  const child = spawn(process.execPath, ['--input-type=module', '-e', code!], {
    env: { ...process.env, SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  return eventually(() => {
    const [, port] = /listening on (\d+)/.exec(said) ?? []
    expect(port).toBeDefined()
    return `http://127.0.0.1:${port}/`
  })
}

async function submitOne(channel: Channel, message: Outgoing): Promise<SendResult> {
  const reports: SendResult[] = []
  await channel.submit(
    [message],
    (_, result) => reports.push(result),
    () => true,
  )
  return reports[0]!
}
