import { addressNumber, contains, readNetwork } from '../../base/network/networks.ts'

/** The addresses that may use a key: single addresses such as `192.0.2.7` and `2001:db8::7`, and networks such as `192.0.2.0/24`. */

export const MOST_ADDRESSES = 100

/** The reason why these entries are no valid list. Undefined for a valid list. */
export function refusalOfAddresses(entries: string[]): string | undefined {
  if (entries.length > MOST_ADDRESSES) return `must be at most ${MOST_ADDRESSES} addresses or networks`
  const wrong = entries.find(entry => !readNetwork(entry) || hasZone(entry) || hasPaddedPrefix(entry))
  if (wrong === undefined) return undefined
  return `must be addresses or networks such as 192.0.2.0/24 or 2001:db8::/32, not "${wrong}"`
}

const hasZone = (entry: string) => entry.includes('%')
const hasPaddedPrefix = (entry: string) => /\/0\d/.test(entry)

/** Whether a list allows an address. An empty list allows all. No list allows a text that is no address. */
export function isAllowed(addresses: string[], address: string): boolean {
  if (addresses.length === 0) return true
  const asked = addressNumber(address)
  return asked !== undefined && addresses.some(entry => allows(entry, asked))
}

function allows(entry: string, asked: bigint): boolean {
  const network = readNetwork(entry)
  return network !== undefined && contains(network, asked)
}
