import { isIPv4, isIPv6 } from 'node:net'

/**
 * From where a key may be used: addresses such as `192.0.2.7` and `2001:db8::7`, and networks such as `192.0.2.0/24`.
 *
 * All of them are numbers of 128 bits, IPv4 in its place among IPv6 (`::ffff:0:0/96`). So it makes no difference in
 * which of its two clothes an IPv4 address comes, from a socket that listens on both or in a list.
 */

export const MOST_ADDRESSES = 100

/** Why these entries are no list; undefined when they are. */
export function refusalOfAddresses(entries: string[]): string | undefined {
  if (entries.length > MOST_ADDRESSES) return `must be at most ${MOST_ADDRESSES} addresses or networks`
  const wrong = entries.find(entry => !networkIn(entry))
  if (wrong === undefined) return undefined
  return `must be addresses or networks such as 192.0.2.0/24 or 2001:db8::/32, not "${wrong}"`
}

/** Whether a list lets an address in. An empty one lets in everything; what is no address gets through no list. */
export function isAllowed(addresses: string[], address: string): boolean {
  if (addresses.length === 0) return true
  const asked = numberIn(address.replace(/%.*$/, '')) // the zone of a link-local address says nothing
  return asked !== undefined && addresses.some(entry => isWithin(asked, networkIn(entry)))
}

/** The bits that are free to differ, and the others as a number. */
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
