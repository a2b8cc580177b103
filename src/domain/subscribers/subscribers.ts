import { invalid } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone-number.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { Chat, Subscriber, SubscribersOf } from './subscriber.ts'

const MOST_AT_ONCE = 10_000
/** A subscription of a browser is an address and two keys; tokens of apps have no bound that anyone promises. */
const MOST_ADDRESS_CHARS = 4096

/** Those whose number or address is none are rejected; those that are known already count as accepted. */
export async function saveSubscribers(
  sql: Sql,
  companyId: number,
  given: { channelType: string; senderName: string; subscribers: Subscriber[] },
): Promise<{ accepted: number; rejected: number }> {
  const { channelType, senderName, subscribers } = given
  if (subscribers.length > MOST_AT_ONCE) throw invalid(`subscribers: at most ${MOST_AT_ONCE} at once`)
  const accepted = subscribers.flatMap(normalised)
  if (accepted.length > 0) await store.insertSubscribers(sql, { companyId, channelType, senderName }, accepted)
  return { accepted: accepted.length, rejected: subscribers.length - accepted.length }
}

function normalised({ destination, address }: Subscriber): Subscriber[] {
  const number = normaliseNumber(destination)
  const isAddress = address.trim() !== '' && address.length <= MOST_ADDRESS_CHARS && !address.includes('\0')
  return number !== undefined && isAddress ? [{ destination: number, address: address.trim() }] : []
}

/** Where a gateway finds the owners of numbers; the most promising address first. Who has none is not in the map. */
export async function addressesOf(
  sql: Sql,
  gatewayId: number,
  companyId: number,
  channelType: string,
  senderName: string,
  destinations: string[],
): Promise<Map<string, string[]>> {
  const found = await store.selectAddresses(sql, gatewayId, { companyId, channelType, senderName }, destinations)
  const byDestination = new Map<string, string[]>()
  for (const { destination, address } of found) {
    const known = byDestination.get(destination)
    if (known) known.push(address)
    else byDestination.set(destination, [address])
  }
  return byDestination
}

/** An address that leads nowhere any more. */
export async function removeAddress(sql: Sql, gatewayId: number, gone: SubscribersOf & { address: string }) {
  await store.deleteAddress(sql, gone, gone.address)
  await store.deleteChat(sql, gatewayId, gone.address)
}

/** Of several words about one chat the last counts, and none of them takes its number away. */
export async function noteChats(sql: Sql, gatewayId: number, changes: Chat[]): Promise<void> {
  const chats = new Map<string, Chat>()
  for (const change of changes) chats.set(change.address, { ...chats.get(change.address), ...change })
  if (chats.size > 0) await store.upsertChats(sql, gatewayId, [...chats.values()])
}

export const chatsOf = async (sql: Sql, gatewayId: number, destination: string): Promise<string[]> =>
  (await store.selectChats(sql, gatewayId, destination)).map(({ address }) => address)

/** The number of whoever writes from a chat to this name, when anyone has told it. */
export async function numberOfChat(sql: Sql, gatewayId: number, address: string, senderName: string) {
  const [known] = await store.selectNumber(sql, gatewayId, address, senderName)
  return known?.destination
}
