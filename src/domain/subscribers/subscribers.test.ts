import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ChannelType } from '../../base/channel-types.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { receiveInbound } from '../inbound/inbound.ts'
import { addressesOf, numberOfChat, removeAddress, saveChats, saveSubscribers } from './subscribers.ts'

const db = useDatabase()
let companyId: number
let gatewayId: number

beforeEach(async () => {
  await db.sql`delete from gateways`
  await db.sql`delete from subscribers`
  await db.sql`update senders set status = 'DENIED'`
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

  test('subscribers without a number or an address are rejected, the others are stored', async () => {
    const saved = await save(
      { destination: 'nobody', address: '501' },
      { destination: anna, address: '  ' },
      { destination: anna, address: 'a\0b' },
      { destination: anna, address: 'ж'.repeat(1001) },
      { destination: anna, address: '\ud800' },
      { destination: anna, address: '503' },
    )
    expect(saved).toEqual({ accepted: 1, rejected: 5 })
    expect(await addresses(anna)).toEqual(new Map([[anna, ['503']]]))
  })

  test('with addresses of at most 2000 bytes, the limit of the index', async () => {
    const [most, more] = [randomBytes(1000).toString('hex'), randomBytes(1001).toString('hex')]
    expect(await save({ destination: anna, address: most })).toEqual({ accepted: 1, rejected: 0 })
    expect(await save({ destination: anna, address: more })).toEqual({ accepted: 0, rejected: 1 })
  })

  test('the same subscriber in one or two batches is stored once', async () => {
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

  test('and finds and forgets them whether the bot is written with the sign or without it', async () => {
    await save({ destination: anna, address: '501' })
    const called = (senderName: string) => addressesOf(db.sql, gatewayId, companyId, 'TELEGRAM', senderName, [anna])
    expect(await called('@shop_bot')).toEqual(new Map([[anna, ['501']]]))
    const gone = { companyId, channelType: 'TELEGRAM', senderName: '@shop_bot', address: '501' }
    await removeAddress(db.sql, gatewayId, gone)
    expect(await called('shop_bot')).toEqual(new Map())
  })

  test('which are no other company’s and no other name’s', async () => {
    await save({ destination: anna, address: '501' })
    const other = await aCompany(db.sql, await aPartner(db.sql))
    expect(await addressesOf(db.sql, gatewayId, other, 'TELEGRAM', 'shop_bot', [anna])).toEqual(new Map())
    expect(await addressesOf(db.sql, gatewayId, companyId, 'TELEGRAM', 'other_bot', [anna])).toEqual(new Map())
  })
})

describe('a bot is told of chats', () => {
  test('a chat with a number is one more address, beside the addresses that the company saved', async () => {
    await save({ destination: anna, address: '501' })
    await saveChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect((await addresses(anna)).get(anna)!.toSorted()).toEqual(['501', '777'])
  })

  test('a later report without the number leaves the number; a blocked chat comes last', async () => {
    await save({ destination: anna, address: '501' })
    await saveChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    await saveChats(db.sql, gatewayId, [{ address: '777', gone: true }])
    expect(await addresses(anna)).toEqual(new Map([[anna, ['501', '777']]]))
    await saveChats(db.sql, gatewayId, [
      { address: '777', gone: false },
      { address: '501', gone: true },
    ])
    expect(await addresses(anna)).toEqual(new Map([[anna, ['777', '501']]]))
  })

  test('the last of several reports about a chat in a batch counts', async () => {
    await saveChats(db.sql, gatewayId, [
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
    await saveChats(db.sql, other.gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await addresses(anna)).toEqual(new Map())
  })
})

test('an invalid address is deleted, for its company and name only', async () => {
  await save({ destination: anna, address: '501' }, { destination: anna, address: '502' })
  await saveChats(db.sql, gatewayId, [{ address: '501', destination: anna, gone: false }])
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
  const stop = { from: 'chat:777', to: 'shop_bot', text: 'STOP', receivedAt: new Date() }
  const aBot = () => anApprovedSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot' })
  const saveOf = (company: number, senderName: string, destination: string, channelType: ChannelType = 'TELEGRAM') =>
    saveSubscribers(db.sql, company, { channelType, senderName, subscribers: [{ destination, address: '777' }] })

  test('comes from the number that the subscriber showed, not from a number that a company saved', async () => {
    await save({ destination: boris, address: '777' })
    expect(await numberOfChat(db.sql, gatewayId, '777')).toBeUndefined()
    await saveChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await numberOfChat(db.sql, gatewayId, '777')).toBe(anna)
  })

  test('with a stop word blocks the number that was shown and the number that the company saved', async () => {
    await save({ destination: boris, address: '777' })
    expect(await receiveInbound(db.sql, gatewayId, stop)).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await blacklistedAmong(db.sql, companyId, [anna, boris])).toEqual(new Set([boris]))
    await aBot()
    await saveChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await receiveInbound(db.sql, gatewayId, stop)).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await blacklistedAmong(db.sql, companyId, [anna, boris])).toEqual(new Set([anna, boris]))
  })

  test('does not depend on numbers that another company saved', async () => {
    await aBot()
    await save({ destination: anna, address: '777' })
    const other = await aCompany(db.sql, await aPartner(db.sql))
    await saveOf(other, 'shop_bot', boris)
    const { companyIds } = (await receiveInbound(db.sql, gatewayId, stop)) as { companyIds: number[] }
    expect(companyIds.toSorted()).toEqual([companyId, other].toSorted())
    expect(await blacklistedAmong(db.sql, companyId, [anna, boris])).toEqual(new Set([anna]))
    expect(await blacklistedAmong(db.sql, other, [anna, boris])).toEqual(new Set([boris]))
  })

  test('whose chat only another company uploaded does not concern the company with the name', async () => {
    await aBot()
    const other = await aCompany(db.sql, await aPartner(db.sql))
    await saveOf(other, 'shop_bot', boris)
    expect(await receiveInbound(db.sql, gatewayId, stop)).toEqual({ kind: 'stopped', companyIds: [other] })
    expect(await blacklistedAmong(db.sql, companyId, [boris])).toEqual(new Set())
  })

  test.each([
    ['shop_bot', '@shop_bot'],
    ['@shop_bot', 'shop_bot'],
  ])('to %s is one to %s', async (to, senderName) => {
    await saveOf(companyId, senderName, anna)
    await saveOf(companyId, to, anna)
    expect(await receiveInbound(db.sql, gatewayId, { ...stop, to })).toEqual({
      kind: 'stopped',
      companyIds: [companyId],
    })
    expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set([anna]))

    const other = await aCompany(db.sql, await aPartner(db.sql))
    await anApprovedSender(db.sql, other, { channelType: 'TELEGRAM', senderName })
    expect(await receiveInbound(db.sql, gatewayId, { ...stop, to, from: boris })).toMatchObject({ companyIds: [other] })
    expect(await blacklistedAmong(db.sql, other, [boris])).toEqual(new Set([boris]))
  })

  test('to a name of SMS concerns that exact name only, with or without the sign', async () => {
    const sms = await aGateway(db.sql, { name: 'sms', channelType: 'SMS' })
    const other = await aCompany(db.sql, await aPartner(db.sql))
    await anApprovedSender(db.sql, companyId, { channelType: 'SMS', senderName: '@SHOP' })
    await anApprovedSender(db.sql, other, { channelType: 'SMS', senderName: 'SHOP' })
    const written = { ...stop, from: anna }
    expect(await receiveInbound(db.sql, sms.gatewayId, { ...written, to: 'SHOP' })).toMatchObject({
      companyIds: [other],
    })
    expect(await receiveInbound(db.sql, sms.gatewayId, { ...written, to: '@SHOP' })).toMatchObject({
      companyIds: [companyId],
    })
  })

  test('with a stop word puts its number on the blacklist', async () => {
    await anApprovedSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot' })
    const message = { from: 'chat:777', to: 'shop_bot', text: ' стоп ', receivedAt: new Date() }
    expect(await receiveInbound(db.sql, gatewayId, message)).toEqual({ kind: 'unknown subscriber' })
    await saveChats(db.sql, gatewayId, [{ address: '777', destination: anna, gone: false }])
    expect(await receiveInbound(db.sql, gatewayId, { ...message, text: 'Hello' })).toEqual({ kind: 'ignored' })
    expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set())
    expect(await receiveInbound(db.sql, gatewayId, message)).toEqual({ kind: 'stopped', companyIds: [companyId] })
    expect(await blacklistedAmong(db.sql, companyId, [anna])).toEqual(new Set([anna]))
  })
})
