import type { ChannelType } from '../../base/channel-types.ts'
import { invalidField } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import type { Sql } from '../../db/sql.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import * as store from './store.ts'
import type { Chat, Subscriber, SubscribersOf } from './subscriber.ts'

const MOST_AT_ONCE = 10_000
/** An index of the database can hold this many bytes. The push subscription of a browser has far fewer. */
const MOST_ADDRESS_BYTES = 2000

/** Rejects subscribers with an invalid number or address. Known subscribers count as accepted. */
export async function saveSubscribers(
  sql: Sql,
  companyId: number,
  given: { channelType: ChannelType; senderName: string; subscribers: Subscriber[] },
): Promise<{ accepted: number; rejected: number }> {
  const { channelType, senderName, subscribers } = given
  if (subscribers.length > MOST_AT_ONCE) throw invalidField('subscribers', `at most ${MOST_AT_ONCE} at once`)
  await refuseForeignNames(sql, companyId, [{ channelType, senderName }])
  const accepted = subscribers.flatMap(normalised)
  if (accepted.length > 0) await store.insertSubscribers(sql, { companyId, channelType, senderName }, accepted)
  return { accepted: accepted.length, rejected: subscribers.length - accepted.length }
}

function normalised({ destination, address }: Subscriber): Subscriber[] {
  const number = normaliseNumber(destination)
  const trimmed = address.trim()
  return number !== undefined && isAddress(trimmed) ? [{ destination: number, address: trimmed }] : []
}

const isAddress = (text: string) =>
  text !== '' && Buffer.byteLength(text) <= MOST_ADDRESS_BYTES && !text.includes('\0') && text.isWellFormed()

/** The addresses of numbers at a gateway, the most promising first. Numbers without an address are not in the map. */
export async function addressesOf(
  sql: Sql,
  gatewayId: number,
  companyId: number,
  channelType: string,
  senderName: string,
  destinations: string[],
): Promise<Map<string, string[]>> {
  const asked = destinations.map(destination => ({ senderName, destination }))
  const byName = await addressesByName(sql, gatewayId, { companyId, channelType }, asked)
  return byName.get(senderName) ?? new Map()
}

/** The same for several sender names: by name, then by number. */
export async function addressesByName(
  sql: Sql,
  gatewayId: number,
  whose: { companyId: number; channelType: string },
  asked: { senderName: string; destination: string }[],
): Promise<Map<string, Map<string, string[]>>> {
  const known = (
    await Promise.all([store.selectUploaded(sql, whose, asked), store.selectReported(sql, gatewayId, asked)])
  ).flat()
  const gone = await goneAmong(sql, gatewayId, known)
  const byName = new Map<string, Map<string, Set<string>>>()
  for (const { senderName, destination, address } of known.toSorted(inOrder(gone))) {
    const ofName = byName.get(senderName) ?? new Map<string, Set<string>>()
    ofName.set(destination, (ofName.get(destination) ?? new Set()).add(address))
    byName.set(senderName, ofName)
  }
  return new Map([...byName].map(([name, ofName]) => [name, new Map([...ofName].map(([to, all]) => [to, [...all]]))]))
}

async function goneAmong(sql: Sql, gatewayId: number, known: store.KnownAddress[]): Promise<Set<string>> {
  if (known.length === 0) return new Set()
  const addresses = [...new Set(known.map(({ address }) => address))]
  return new Set((await store.selectGone(sql, gatewayId, addresses)).map(({ address }) => address))
}

/** The newest first. Chats that blocked the bot come last: they only show whether they still block it. */
const inOrder = (gone: Set<string>) => (a: store.KnownAddress, b: store.KnownAddress) =>
  Number(gone.has(a.address)) - Number(gone.has(b.address)) ||
  b.since.getTime() - a.since.getTime() ||
  (a.address < b.address ? -1 : 1)

/** Deletes an address that is no longer valid. */
export async function removeAddress(sql: Sql, gatewayId: number, gone: SubscribersOf & { address: string }) {
  await store.deleteAddress(sql, gone, gone.address)
  await store.deleteChat(sql, gatewayId, gone.address)
}

/** The last of several reports about a chat counts. A report without a number leaves the known number. */
export async function saveChats(sql: Sql, gatewayId: number, changes: Chat[]): Promise<void> {
  const chats = new Map<string, Chat>()
  for (const change of changes) chats.set(change.address, { ...chats.get(change.address), ...change })
  if (chats.size > 0) await store.upsertChats(sql, gatewayId, [...chats.values()])
}

export const chatsOf = async (sql: Sql, gatewayId: number, destination: string): Promise<string[]> =>
  (await store.selectChats(sql, gatewayId, destination)).map(({ address }) => address)

/** The number that the subscriber of a chat showed to the bot. Numbers that a company uploads count for that company only. */
export async function numberOfChat(sql: Sql, gatewayId: number, address: string): Promise<string | undefined> {
  const [known] = await store.selectNumber(sql, gatewayId, address)
  return known?.destination
}
