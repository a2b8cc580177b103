import { BlockList, isIP, SocketAddress } from 'node:net'
import { UsageError } from '../errors.ts'

/** Networks that are not part of the public internet (IANA special-purpose registries). */
const specialNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]

const special = networkList(specialNetworks)
const globalUnicast = networkList(['2000::/3'])

/** Whether an address belongs to the public internet, also when an IPv4 address is written as IPv6 (mapped, NAT64). */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address)
  if (isIP(plain) === 4) return !special.check(plain, 'ipv4')
  return isIP(plain) === 6 && !special.check(plain, 'ipv6') && globalUnicast.check(plain, 'ipv6')
}

/** Whether one of the networks contains the address. A text that is no address is in no network. */
export function isInNetworks(networks: BlockList, address: string): boolean {
  const plain = plainAddress(address)
  return isIP(plain) !== 0 && networks.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

/** Reads single addresses and networks such as `10.0.0.0/8`. Any other text is a mistake in the settings. */
export function networkList(networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) addNetwork(list, network)
  return list
}

function addNetwork(list: BlockList, network: string) {
  const [address = '', prefix, ...rest] = network.split('/')
  const version = isIP(address)
  const bits = /^\d{1,3}$/.test(prefix ?? '0') ? Number(prefix ?? addressBits(version)) : Number.NaN
  if (version === 0 || rest.length > 0 || !(bits <= addressBits(version))) {
    throw new UsageError(`"${network}" is no network; write 10.0.0.0/8, fd00::/8 or a single address.`)
  }
  list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
}

function addressBits(version: number): number {
  return version === 4 ? 32 : 128
}

/** Turns an IPv4 address that is written as IPv6 (mapped, NAT64) into its IPv4 form, and removes a zone. */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  const full = new SocketAddress({ address: bare, family: 'ipv6' }).address
  const [, dotted] = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/.exec(full) ?? []
  if (dotted) return dotted
  const [, high = '0', low] = /^(?:::ffff:|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(full) ?? []
  return low ? dottedOf(high, low) : full
}

function dottedOf(high: string, low: string): string {
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [a >> 8, a & 255, b >> 8, b & 255].join('.')
}
