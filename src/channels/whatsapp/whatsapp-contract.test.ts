import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { type Cloud, startCloud } from '../../testing/providers/whatsapp-cloud-api.ts'
import { aFeed, channelContract, stoppingWith } from '../channel.contract.ts'
import type { Channel, Feed, Inbound } from '../channel.ts'
import type { WebhookRequest } from '../webhook.ts'
import { readWebhook } from './webhook.ts'
import { createWhatsapp } from './whatsapp.ts'

const account = {
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '74950000000',
  accessToken: 'EAAJB-token',
  appSecret: 'app-secret',
  apiVersion: 'v25.0',
}
const verifyToken = 'verify-token'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

async function aSubject({ feed, answerMs }: { feed: Feed; answerMs?: number | undefined }) {
  const cloud = await startCloud({ ...account, ...(answerMs === undefined ? {} : { answerMs }) })
  atEnd.push(() => cloud.stop())
  const settings = { ...account, displayPhoneNumber: undefined, verifyToken, baseUrl: cloud.url, window: 20 }
  const receiver = await startReceiver(settings, feed)
  expect(await cloud.subscribe(receiver.url, verifyToken)).toMatchObject({ status: 200 })
  const channel = stoppingWith(createWhatsapp(settings, feed), () => receiver.pause())
  return { channel, cloud, receiver, handed: () => handedTo(cloud) }
}

function handedTo(cloud: Cloud): string[] {
  expect(cloud.complaints).toEqual([])
  return cloud.messages.map(({ uuid }) => uuid)
}

/** The webhook that Meta calls: it acknowledges only input that the feed has accepted. */
async function startReceiver(settings: Record<string, unknown>, feed: Feed) {
  const taking = new Set<Promise<number>>()
  let isPaused = false

  const server = createServer(async (request, response) => {
    const read = readWebhook(settings, await webhookRequest(request), new Date())
    if (read.kind === 'asked') return void response.end(read.answer)
    if (read.kind !== 'told') return void response.writeHead(read.kind === 'forged' ? 403 : 400).end()
    if (isPaused) return void response.writeHead(503).end()
    const taken = Promise.all([...read.inbound.map(feed.inbound), feed.receipts(read.receipts)]).then(
      () => 200,
      () => 500,
    )
    taking.add(taken)
    response.writeHead(await taken).end()
    taking.delete(taken)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/1`,
    /** Accepts no more webhooks, and waits for the running ones. */
    async pause() {
      isPaused = true
      await Promise.all(taking)
    },
  }
}

async function webhookRequest(request: IncomingMessage): Promise<WebhookRequest> {
  const { searchParams } = new URL(request.url!, 'http://localhost')
  const chunks: Buffer[] = await request.toArray()
  return {
    method: request.method as 'GET' | 'POST',
    headers: request.headers as Record<string, string>,
    query: Object.fromEntries(searchParams),
    body: Buffer.concat(chunks),
  }
}

describe('WhatsApp', () => {
  channelContract(
    aSubject,
    { delivered: '79160000001', undelivered: '79160000003', refused: '79160000004', busy: '79160000009' },
    () => ({ channelType: 'WHATSAPP' }),
  )
})

describe('webhooks of Meta', () => {
  const aMessage = (destination: string) => ({
    companyId: 1,
    uuid: '01980000-0000-7000-8000-000000000001',
    channelType: 'WHATSAPP' as const,
    senderName: 'ROMASHKA',
    destination,
    text: 'Hello',
    parts: 1,
    attempts: 0,
  })

  const sendTo = async (channel: Channel, destination: string) => {
    await channel.submit(
      [aMessage(destination)],
      () => {},
      () => true,
    )
  }

  test('a message reported twice has two receipts with the same id and time', async () => {
    const feed = aFeed()
    const { channel, cloud } = await aSubject({ feed })
    await sendTo(channel, '79160000006')
    const receipt = {
      of: { providerId: cloud.messages[0]!.id },
      status: 'DELIVERED',
      happenedAt: new Date(1771200000_000),
    }
    await eventually(() => expect(feed.taken).toMatchObject([receipt, receipt]))
  })

  test('a message with a report of the reading alone is delivered and read', async () => {
    const feed = aFeed()
    const { channel } = await aSubject({ feed })
    await sendTo(channel, '79160000008')
    await eventually(() => expect(feed.taken.map(({ status }) => status)).toEqual(['DELIVERED', 'READ']))
  })

  test('a message of a subscriber arrives, and is repeated until it is accepted', async () => {
    const inbound: Inbound[] = []
    let refusals = 2
    const feed = {
      ...aFeed(),
      async inbound(message: Inbound) {
        if (refusals-- > 0) throw new Error('not now')
        inbound.push(message)
      },
    }
    const { cloud } = await aSubject({ feed })
    await cloud.tell({
      contacts: [{ profile: { name: 'Anna' }, wa_id: '79161234567' }],
      messages: [{ from: '79161234567', id: 'wamid.1', timestamp: '1771200000', type: 'text', text: { body: 'Стоп' } }],
    })
    expect(inbound).toEqual([
      {
        from: '+79161234567',
        to: '74950000000',
        text: 'Стоп',
        receivedAt: new Date(1771200000_000),
        providerId: 'wamid.1',
      },
    ])
  })

  test('a subscription with another token is rejected', async () => {
    const { cloud, receiver } = await aSubject({ feed: aFeed() })
    expect(await cloud.subscribe(receiver.url, 'another')).toEqual({ status: 403, answer: '' })
  })
})
