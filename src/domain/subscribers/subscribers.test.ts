import { beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { takeInbound } from '../inbound/inbound.ts'
import { addressesOf, noteChats, numberOfChat, removeAddress, saveSubscribers } from './subscribers.ts'

const db = useDatabase()
let companyId: number
let gatewayId: number

beforeEach(async () => {
  await db.sql`delete from gateways`
  await db.sql`delete from subscribers`
  companyId = await aCompany(db.sql, await aPartner(db.sql))
  gatewayId = (await aGateway(db.sql, { channelType: 'TELEGRAM' })).gatewayId
})

const anna = '79160001122'
const boris = '79030001122'

const save = (...subscribers: { destination: string; address: string }[]) =>
  saveSubscribers(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot', subscribers })
const addresses = (...destinations: string[]) =>
  addressesOf(db.sql, gatewayId, companyId, 'TELEGRAM', 'shop_bot', destinations)

describe('a company saves its subscribers', () => {
  test('and finds their addresses by number, however it was written', async () => {
    const saved = await save(
      { destination: '8 (916) 000-11-22', address: '501' },
      { destination: boris, address: ' 502 ' },
    )
    expect(saved).toEqual({ accepted: 2, rejected: 0 })
    expect(await addresses(anna, boris, '79260000000')).toEqual(
      new Map([
        [anna, ['501']],
        [boris, ['502']],
      ]),
    )
  })

  test('those without a number or an address are rejected, the rest is kept', async () => {
    const saved = await save(
      { destination: 'nobody', address: '501' },
      { destination: anna, address: '  ' },
      { destination: anna, address: 'a\0b' },
      { destination: anna, address: 'x'.repeat(4097) },
      { destination: anna, address: '503' },
    )
    expect(saved).toEqual({ accepted: 1, rejected: 4 })
    expect(await addresses(anna)).toEqual(new Map([[anna, ['503']]]))
  })

  test('the same twice, in one batch or two, is one', async () => {
    const twice = { destination: anna, address: '501' }
    expect(await save(twice, twice)).toEqual({ accepted: 2, rejected: 0 })
    expect(await save(twice)).toEqual({ accepted: 1, rejected: 0 })
    expect(await addresses(anna)).toEqual(new Map([[anna, ['501']]]))
  })

  test('10,000 at once and no more', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ destination: `7916${1_000_000 + i}`, address: `${i}` }))
    expect(await save(...many)).toEqual({ accepted: 10_000, rejected: 0 })
    await expect(save(...many, many[0]!)).rejects.toThrow('at most 10000 at once')
  })

  test('which are no other company’s and no other name’s', async () => {
    await save({ destination: anna, address: '501' })
    const other = await aCompany(db.sql, await aPartner(db.sql))
    expect(await addressesOf(db.sql, gatewayId, other, 'TELEGRAM', 'shop_bot', [anna])).toEqual(new Map())
    expect(await addressesOf(db.sql, gatewayId, companyId, 'TELEGRAM', 'other_bot', [anna])).toEqual(new Map())
  })
})

describe('a bot is told of chats', () => {
  test('a chat with a number is an address of it, beside those that the company saved', async () => {
    await save({ destination: anna, address: '501' })
    await noteChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect((await addresses(anna)).get(anna)!.toSorted()).toEqual(['501', '777'])
  })

  test('a later word without the number does not take it away; a chat that is blocked comes last', async () => {
    await save({ destination: anna, address: '501' })
    await noteChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    await noteChats(db.sql, gatewayId, [{ address: '777', gone: true }])
    expect(await addresses(anna)).toEqual(new Map([[anna, ['501', '777']]]))
    await noteChats(db.sql, gatewayId, [
      { address: '777', gone: false },
      { address: '501', gone: true },
    ])
    expect(await addresses(anna)).toEqual(new Map([[anna, ['777', '501']]]))
  })

  test('of several words about one chat in a batch the last counts', async () => {
    await noteChats(db.sql, gatewayId, [
      { address: '777', gone: true },
      { address: '777', destination: anna, gone: true },
      { address: '777', gone: false },
    ])
    expect(await db.sql`select address, destination, gone from gateway_chats`).toEqual([
      { address: '777', destination: anna, gone: false },
    ])
  })

  test('a chat of another gateway is no address', async () => {
    const other = await aGateway(db.sql, { name: 'other', channelType: 'TELEGRAM' })
    await noteChats(db.sql, other.gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await addresses(anna)).toEqual(new Map())
  })
})

test('an address that leads nowhere is forgotten, of that company and name alone', async () => {
  await save({ destination: anna, address: '501' }, { destination: anna, address: '502' })
  await noteChats(db.sql, gatewayId, [{ address: '501', destination: anna, gone: false }])
  const other = await aCompany(db.sql, await aPartner(db.sql))
  const ofOther = [{ destination: anna, address: '501' }]
  await saveSubscribers(db.sql, other, { channelType: 'TELEGRAM', senderName: 'shop_bot', subscribers: ofOther })

  await removeAddress(db.sql, gatewayId, { companyId, channelType: 'TELEGRAM', senderName: 'shop_bot', address: '501' })
  expect(await addresses(anna)).toEqual(new Map([[anna, ['502']]]))
  expect(await addressesOf(db.sql, gatewayId, other, 'TELEGRAM', 'shop_bot', [anna])).toEqual(
    new Map([[anna, ['501']]]),
  )
})

describe('a message from a chat', () => {
  test('is from the number that the subscriber showed, or else the one that a company saved', async () => {
    await save({ destination: boris, address: '777' })
    expect(await numberOfChat(db.sql, gatewayId, '777', 'shop_bot')).toBe(boris)
    await noteChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await numberOfChat(db.sql, gatewayId, '777', 'shop_bot')).toBe(anna)
    expect(await numberOfChat(db.sql, gatewayId, '778', 'shop_bot')).toBeUndefined()
  })

  test('that says stop brings its number onto the blacklist', async () => {
    await anApprovedSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot' })
    const message = { from: 'chat:777', to: 'shop_bot', text: ' стоп ', receivedAt: new Date() }
    expect(await takeInbound(db.sql, gatewayId, message)).toEqual({ kind: 'unknown subscriber' })
    await noteChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await takeInbound(db.sql, gatewayId, { ...message, text: 'Hello' })).toEqual({ kind: 'ignored' })
    expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set())
    expect(await takeInbound(db.sql, gatewayId, message)).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set([anna]))
  })
})
