import { isIPv6 } from 'node:net'

const GROUPS = 8
const OF_NETWORK = 4

/**
 * What the limits count an end user's address as: the address itself, of IPv6 its /64, which belongs to one connection
 * whole. An IPv4 address that is written as IPv6 counts as IPv4.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address.split('%')[0]!.toLowerCase())
  const isIpv4 = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff
  if (isIpv4)
    return groups
      .slice(6)
      .flatMap(group => [group >> 8, group & 255])
      .join('.')
  return `${groups
    .slice(0, OF_NETWORK)
    .map(group => group.toString(16))
    .join(':')}::/64`
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = withoutDots(address).split('::')
  const before = numbersOf(head)
  if (tail === undefined) return before
  const after = numbersOf(tail)
  return [...before, ...Array<number>(GROUPS - before.length - after.length).fill(0), ...after]
}

const numbersOf = (text: string) => (text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16)))

/** The last 32 bits may be written as an IPv4 address. */
const withoutDots = (address: string) =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number]
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
