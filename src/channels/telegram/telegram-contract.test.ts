import { afterEach, describe, expect } from 'vitest'
import { failure as botFailure, startFakeTelegram, tooMany } from '../../testing/providers/telegram-bot-api.ts'
import { failure as gatewayFailure, startFakeGateway } from '../../testing/providers/telegram-gateway-api.ts'
import { startReceiver } from '../../testing/providers/telegram-webhook-receiver.ts'
import { channelContract, type SubjectOptions, stoppingWith } from '../channel.contract.ts'
import type { Channel } from '../channel.ts'
import { createTelegramBot } from './bot.ts'
import { createTelegramGateway } from './gateway.ts'
import { readGatewayWebhook } from './webhook.ts'

const destinations = {
  delivered: '79160000001',
  undelivered: '79160000003',
  refused: '79160000004',
  busy: '79160000009',
}

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

describe('a bot', () => {
  const token = '7000000001:AAFakeFakeFakeFakeFakeFakeFakeFakeFa'
  const chatOf = (destination: string) => `10${destination}`

  const { undelivered: _, ...destinationsOfBot } = destinations // the Bot API never fails what it has taken

  async function aBot({ feed, answerMs = 0 }: SubjectOptions) {
    const telegram = await startFakeTelegram({ token, answerMs })
    atEnd.push(telegram.stop, () => expect(telegram.complaints).toEqual([]))
    telegram.plan(chatOf(destinations.refused), ...Array(50).fill(botFailure(400, 'Bad Request: chat not found')))
    telegram.plan(chatOf(destinations.busy), tooMany(1))
    const inner = createTelegramBot({ token, baseUrl: telegram.url, window: 20 }, feed)
    return { channel: writingUuids(inner), handed: () => telegram.taken.map(({ text }) => text) }
  }

  channelContract(aBot, destinationsOfBot, destination => ({
    channelType: 'TELEGRAM',
    addresses: [chatOf(destination)],
  }))
})

/** The Bot API carries no uuid, so the fake identifies a message by its text. */
const writingUuids = (channel: Channel): Channel => ({
  window: channel.window,
  health: () => channel.health(),
  stop: () => channel.stop(),
  submit: (batch, report, mayGo) =>
    channel.submit(
      batch.map(message => ({ ...message, text: message.uuid })),
      report,
      mayGo,
    ),
})

describe.each(['TELEGRAM', 'TELEGRAM_GATEWAY'] as const)('the Gateway API, for messages of %s', channelType => {
  const token = 'AAFakeGatewayToken'

  async function aGateway({ feed, answerMs = 0 }: SubjectOptions) {
    const telegram = await startFakeGateway({ token, answerMs })
    const receiver = await startReceiver(readGatewayWebhook, { token }, batch => feed.receipts(batch))
    atEnd.push(telegram.stop, receiver.stop, () => expect(telegram.complaints).toEqual([]))
    telegram.plan(`+${destinations.refused}`, ...Array(50).fill(gatewayFailure('PHONE_NUMBER_NOT_FOUND')))
    telegram.plan(`+${destinations.busy}`, gatewayFailure('FLOOD_WAIT_1'))
    telegram.become(`+${destinations.undelivered}`, 'sent', 'expired')

    const inner = createTelegramGateway({ token, baseUrl: telegram.url, callbackUrl: receiver.url, window: 20 }, feed)
    const channel = stoppingWith(inner, () => telegram.quiet())
    return { channel, handed: () => telegram.taken.map(({ payload }) => payload) }
  }

  channelContract(aGateway, destinations, () => ({ channelType, text: 'Your code is 271828' }))
})
