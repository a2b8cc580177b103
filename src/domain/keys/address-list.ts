import { isIPv4, isIPv6 } from 'node:net'

/**
 * The addresses that may use a key: single addresses such as `192.0.2.7` and `2001:db8::7`, and networks such as `192.0.2.0/24`.
 *
 * All of them are numbers of 128 bits, with IPv4 at its place in IPv6 (`::ffff:0:0/96`). So both spellings of an IPv4
 * address are equal, from a socket that listens on both and in a list.
 */

export const MOST_ADDRESSES = 100

/** The reason why these entries are no valid list. Undefined for a valid list. */
export function refusalOfAddresses(entries: string[]): string | undefined {
  if (entries.length > MOST_ADDRESSES) return `must be at most ${MOST_ADDRESSES} addresses or networks`
  const wrong = entries.find(entry => !networkIn(entry))
  if (wrong === undefined) return undefined
  return `must be addresses or networks such as 192.0.2.0/24 or 2001:db8::/32, not "${wrong}"`
}

/** Whether a list allows an address. An empty list allows all. No list allows a text that is no address. */
export function isAllowed(addresses: string[], address: string): boolean {
  if (addresses.length === 0) return true
  const asked = numberIn(address.replace(/%.*$/, '')) // the zone of a link-local address does not count
  return asked !== undefined && addresses.some(entry => isWithin(asked, networkIn(entry)))
}

/** The number of bits that may differ, and the other bits as a number. */
type Network = { start: bigint; freeBits: bigint }

const isWithin = (asked: bigint, network: Network | undefined) =>
  network !== undefined && asked >> network.freeBits === network.start

function networkIn(entry: string): Network | undefined {
  const [address = '', prefix, ...more] = entry.split('/')
  const widest = isIPv4(address) ? 32 : 128
  const bits = prefix === undefined ? widest : readPrefix(prefix)
  const number = numberIn(address)
  if (number === undefined || bits > widest || more.length > 0) return undefined
  const freeBits = BigInt(widest - bits)
  return { start: number >> freeBits, freeBits }
}

const readPrefix = (text: string) => (/^(0|[1-9]\d{0,2})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY)

const IPV4_PLACE = 0xffff_0000_0000n

function numberIn(address: string): bigint | undefined {
  if (isIPv4(address)) return IPV4_PLACE + numberOf(address.split('.').map(Number), 8n)
  if (!isIPv6(address) || address.includes('%')) return undefined
  const [head, tail] = withoutDots(address).split('::')
  const [left, right] = [groupsIn(head), groupsIn(tail)]
  const zeros = Array<number>(8 - left.length - right.length).fill(0)
  return numberOf([...left, ...zeros, ...right], 16n)
}

/** `::ffff:192.0.2.7` as `::ffff:c000:207`. */
const withoutDots = (address: string) =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })

const groupsIn = (text: string | undefined) => (text ? text.split(':').map(group => Number.parseInt(group, 16)) : [])

const numberOf = (digits: number[], bitsEach: bigint) =>
  digits.reduce((number, digit) => (number << bitsEach) + BigInt(digit), 0n)
