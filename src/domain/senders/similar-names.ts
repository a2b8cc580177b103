import type { Sql } from '../../db/sql.ts'
import type { Neighbour } from './store.ts'
import * as store from './store.ts'

/** The number of names that are read on each side, and the number of names that are shown. */
const READ = 100
const SHOWN = 8

/** Names of other companies that look like this name, the most similar first. Each company, channel and status occurs once. */
export async function similarNames(sql: Sql, companyId: number, senderName: string): Promise<Neighbour[]> {
  const wanted = looks(senderName)
  const near = (await store.selectNeighbours(sql, companyId, senderName, READ))
    .map(name => ({ name, distance: distanceBetween(wanted, looks(name.senderName)) }))
    .filter(({ distance }) => distance <= farthest(wanted))
    .sort((a, b) => a.distance - b.distance || b.name.senderId - a.name.senderId)
    .map(({ name }) => name)
  const kinds = new Map(near.toReversed().map(name => [kindOf(name), name]))
  return near.filter(name => kinds.get(kindOf(name)) === name).slice(0, SHOWN)
}

const kindOf = ({ senderName, companyName, channelType, status, suspended }: Neighbour) =>
  JSON.stringify([senderName, companyName, channelType, status, suspended])

/** A form that is the same for names that look alike: without signs and capitals, and with letters for similar digits. */
const looks = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1i|]/g, 'l')

/** Up to a third of the characters may differ. */
const farthest = (name: string) => Math.max(1, Math.floor(name.length / 3))

/** The number of characters to insert, remove or replace. Names have at most 64 characters. */
export function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
