import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addGateway, changeGateway } from '../../../domain/gateways/gateways.ts'
import { gatewayKey } from '../../../domain/gateways/secrets.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

/** Names of a gateway belong to the companies that it lists, and to companies with a registration of the name. */

const api = useMessagingApi()
let mine: World
let other: World
const keys = new Map<World, string>()

beforeAll(async () => {
  mine = await aWorld(api.sql)
  other = await aWorld(api.sql)
  for (const world of [mine, other]) keys.set(world, (await aKey(api.sql, world.companyId)).key)
})

let gatewayId: number

beforeEach(async () => {
  await api.sql`delete from gateways`
  const gateway = await addGateway(api.sql, {
    name: 'bot',
    channelType: 'TELEGRAM',
    connector: 'telegram',
    brands: [],
    settings: { botName: 'shop_bot' },
    partsPerSecond: null,
    companies: [mine.companyId],
  })
  gatewayId = gateway!.gatewayId
})

const post = async (world: World, path: string, body: object) => {
  const { status, body: answer } = await api.call({ method: 'POST', path, body, key: keys.get(world)! })
  return { status, msg: answer.error?.msg }
}

const content = { contentType: 'text', text: 'Hello' }
const destination = numberOf.MTS
const message = (senderName: string, channelType = 'TELEGRAM') => ({
  channelType,
  senderName,
  destination,
  content: channelType === 'TELEGRAM' ? content : { text: 'Hello' },
})

const taken = { status: 200, msg: undefined }
const refusedAt = (path: string) => ({ status: 400, msg: `${path}: belongs to another company` })

describe('a name of a gateway', () => {
  test('is for the company that the gateway lists, in every spelling', async () => {
    for (const name of ['shop_bot', '@shop_bot']) {
      expect(await post(mine, '/message', message(name))).toEqual(taken)
      expect(await post(other, '/message', message(name))).toEqual(refusedAt('senderName'))
    }
    expect(await post(other, '/message', message('free_bot'))).toEqual(taken)
  })

  test('cannot be used in a cascade, a dispatch or its steps, and takes no subscribers', async () => {
    const last = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' }
    const cascade = [{ channelType: 'TELEGRAM', senderName: 'shop_bot', content }, last]
    expect(await post(other, '/message/cascade', { destination, cascade })).toEqual(refusedAt('cascade[0].senderName'))
    expect(await post(other, '/dispatch', { name: 'Sale', cascade })).toEqual(refusedAt('cascade[0].senderName'))
    const plain = { name: 'Sale', channelType: 'TELEGRAM', senderName: 'shop_bot', text: 'Hello' }
    expect(await post(other, '/dispatch', plain)).toEqual(refusedAt('senderName'))
    const upload = {
      channelType: 'TELEGRAM',
      senderName: 'shop_bot',
      subscribers: [{ destination, externalId: 777 }],
    }
    expect(await post(other, '/subscribers', upload)).toEqual(refusedAt('senderName'))
    for (const [path, body] of [
      ['/message/cascade', { destination, cascade }],
      ['/dispatch', { name: 'Sale', cascade }],
      ['/dispatch', plain],
      ['/subscribers', upload],
    ] as const) {
      expect(await post(mine, path, body)).toEqual(taken)
    }
  })

  test('takes no further recipients and does not start for a company that has lost it', async () => {
    const plain = { name: 'Sale', channelType: 'TELEGRAM', senderName: 'shop_bot', text: 'Hello' }
    const created = await api.call({ method: 'POST', path: '/dispatch', body: plain, key: keys.get(mine)! })
    const at = `/dispatch/${created.body.dispatchId}`
    const keeping = { key: gatewayKey('a secret of the tests, 32 or longer'), secretNames: [], check: () => {} }
    await changeGateway(api.sql, gatewayId, { companies: [other.companyId] }, keeping)
    expect(await post(mine, `${at}/messages`, [{ destination }])).toEqual(refusedAt('senderName'))
    expect(await post(mine, `${at}/start`, {})).toEqual(refusedAt('senderName'))
  })

  test('is for a company that has it registered, too', async () => {
    const registered = await aWorld(api.sql)
    keys.set(registered, (await aKey(api.sql, registered.companyId)).key)
    expect(await post(registered, '/message', message('shop_bot'))).toEqual(refusedAt('senderName'))
    await anApprovedSender(api.sql, registered.companyId, { channelType: 'TELEGRAM', senderName: '@shop_bot' })
    expect(await post(registered, '/message', message('shop_bot'))).toEqual(taken)
  })

  test.each(['VK', 'WEASY', 'PUSH', 'TELEGRAM'] as const)(
    'of %s is for no company when the gateway lists none; other names and channels stay free',
    async channelType => {
      await addGateway(api.sql, {
        name: `named-${channelType}`,
        channelType,
        connector: 'simulator',
        brands: [],
        settings: { senderNames: ['harbour'] },
        partsPerSecond: null,
      })
      expect(await post(mine, '/message', message('harbour', channelType))).toEqual(refusedAt('senderName'))
      expect(await post(mine, '/message', message('quay', channelType))).toEqual(taken)
      const elsewhere = channelType === 'VK' ? 'WEASY' : 'VK'
      expect(await post(mine, '/message', message('harbour', elsewhere))).toEqual(taken)
    },
  )
})
