import { byCompany } from '../../db/by-company.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { BlacklistEntry, BlacklistPlace } from './entry.ts'
import { erasedName } from './erased.ts'
import * as store from './store.ts'

export { STOP_WORDS } from '../../base/content/stop-words.ts'

export type { BlacklistEntry, BlacklistPlace, Source } from './entry.ts'
export { addToBlacklist } from './store.ts'

/** Adds many numbers, as digits. Returns the number of new entries. Adding a number again changes nothing. */
export async function importToBlacklist(sql: Sql, companyId: number, numbers: string[], comment: string | undefined) {
  const { count } = await store.insertEntries(sql, companyId, numbers, comment ?? null, 'FILE')
  return count
}

/** The entry of a number, locked until the transaction ends. */
export async function findEntry(sql: Transaction, companyId: number, destination: string) {
  const [entry] = await store.selectEntry(sql, companyId, destination)
  return entry
}

/** Removes a number. Returns whether it was on the blacklist. */
export async function removeFromBlacklist(sql: Sql, companyId: number, destination: string): Promise<boolean> {
  return (await removeEntry(sql, companyId, destination)) !== undefined
}

/** Removes a number and returns its entry. An erased number is removed too. */
export async function removeEntry(sql: Sql, companyId: number, destination: string) {
  const [any] = await store.selectAnyEntry(sql, companyId)
  const [erased] = any?.hasErased ? await store.deleteEntry(sql, companyId, erasedName(companyId, destination)) : []
  const [removed] = await store.deleteEntry(sql, companyId, destination)
  return removed ?? erased
}

/** The newest entries of a company's blacklist, and the number of all entries. */
export async function listBlacklist(
  sql: Sql,
  companyId: number,
  limit: number,
): Promise<{ total: number; items: BlacklistEntry[] }> {
  const [[count], items] = await Promise.all([
    store.countEntries(sql, companyId),
    store.selectNewest(sql, companyId, limit),
  ])
  return { total: count!.total, items }
}

/** More entries are not counted: the cabinet says "more than". */
const MOST_COUNTED = 100_000

/** The number of entries. `isMore`: there are more than were counted. */
export async function sizeOfBlacklist(sql: Sql, companyId: number): Promise<{ total: number; isMore: boolean }> {
  const [row] = await store.countEntriesUpTo(sql, companyId, MOST_COUNTED + 1)
  return { total: Math.min(row!.total, MOST_COUNTED), isMore: row!.total > MOST_COUNTED }
}

export type BlacklistPage = { items: BlacklistEntry[]; next: BlacklistPlace | undefined }

/** A page of the newest entries. With the beginning of a number: a page of the entries that begin so, in the order of numbers. */
export async function pageOfBlacklist(
  sql: Sql,
  companyId: number,
  { beginning, after }: { beginning?: string | undefined; after?: BlacklistPlace | undefined },
  limit: number,
): Promise<BlacklistPage> {
  const found = beginning
    ? await store.selectByNumber(sql, companyId, { ...rangeOf(beginning), after: after?.destination }, limit + 1)
    : await store.selectNewest(sql, companyId, limit + 1, after)
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? items.at(-1) : undefined }
}

/** Numbers that begin with 7916 lie from 7916 up to 7917, which is not included. */
function rangeOf(beginning: string): { from: string; before: string | undefined } {
  const stem = beginning.replace(/9+$/, '')
  return { from: beginning, before: stem === '' ? undefined : String(BigInt(stem) + 1n) }
}

const EXPORTED_AT_ONCE = 5000

/** All entries in the order of numbers, page by page. The next page is read after the reader took the last. */
export async function* everyEntry(sql: Sql, companyId: number): AsyncGenerator<BlacklistEntry[]> {
  for (let after: string | undefined; ; ) {
    const page = await store.selectByNumber(sql, companyId, { from: '', after }, EXPORTED_AT_ONCE)
    if (page.length > 0) yield page
    if (page.length < EXPORTED_AT_ONCE) return
    after = page.at(-1)!.destination
  }
}

/** The numbers that are on the company's blacklist. For the many companies without entries this costs one small statement. */
export async function blacklistedAmong(sql: Sql, companyId: number, numbers: string[]): Promise<Set<string>> {
  const [any] = await store.selectAnyEntry(sql, companyId)
  if (!any) return new Set()
  const rows = await store.selectEntries(sql, companyId, numbers)
  const erased = any.hasErased ? await erasedAmong(sql, companyId, numbers) : []
  return new Set([...rows.map(row => row.destination), ...erased])
}

/** The numbers that were on the blacklist when they were erased. */
async function erasedAmong(sql: Sql, companyId: number, numbers: string[]): Promise<string[]> {
  const byName = new Map(numbers.map(digits => [erasedName(companyId, digits), digits]))
  const rows = await store.selectEntries(sql, companyId, [...byName.keys()])
  return rows.flatMap(({ destination }) => byName.get(destination) ?? [])
}

/** Replaces a number on the blacklist by a keyed hash: the number stays blocked. */
export async function eraseEntry(sql: Transaction, companyId: number, digits: string): Promise<void> {
  await store.copyEntry(sql, companyId, digits, erasedName(companyId, digits))
  await store.deleteEntry(sql, companyId, digits)
}

/** Whether a text consists of a stop word only. The words are given in capitals. */
export const isStopWord = (text: string, stopWords: readonly string[]) => stopWords.includes(text.trim().toUpperCase())

/**
 * A subscriber that sent a stop word: the number (digits, country code first), the chat, or both; and the sender name.
 * `isOwned`: the name belongs to the gateway, and only its owners send under it.
 */
export type Stop = { from?: string | undefined; chat?: string | undefined; to: string; isOwned: boolean }

/**
 * Puts a subscriber on the blacklists of all companies that write under this name in the gateway's channel, because the
 * subscriber cannot tell them apart. For a name of the gateway these are only the companies that the gateway lists. For
 * a chat, each company's blacklist gets the numbers that this company uploaded for the chat. Returns the companies.
 */
export async function addStop(sql: Sql, gatewayId: number, { from, chat, to, isOwned }: Stop): Promise<number[]> {
  const [gateway] = await store.selectGateway(sql, gatewayId)
  if (!gateway) return []
  const written = { ...gateway, to, isOwned }
  const stopped = [
    ...(from === undefined ? [] : await stoppedOfNumber(sql, written, from)),
    ...(chat === undefined ? [] : await store.selectOfSubscribers(sql, written, { address: chat })),
  ]
  const companies = await byCompany(stopped, (companyId, own) =>
    store.insertStops(sql, companyId, [...new Set(own.map(({ destination }) => destination))]),
  )
  return [...new Set(companies.map(({ companyId }) => companyId))]
}

async function stoppedOfNumber(sql: Sql, written: store.WrittenTo, from: string): Promise<store.StoppedNumber[]> {
  return [
    ...(await store.selectOfSenders(sql, written, from)),
    ...(await store.selectOfSubscribers(sql, written, { destination: from })),
    ...(await store.selectListed(sql, written, from)),
  ]
}
