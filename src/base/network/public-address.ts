import { addressNumber, contains, ipv4Number, type Network, readNetworks } from './networks.ts'

const publicNetworks = readNetworks(['0.0.0.0/0', '2000::/3'])

/** Networks that are not part of the public internet (IANA special-purpose registries). */
const specialNetworks = readNetworks([
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
])

/** Whether an address belongs to the public internet. An IPv4 address may be written as IPv6 (mapped, NAT64). */
export const isPublicAddress = (address: string): boolean =>
  leadsInto(publicNetworks, address) && !leadsInto(specialNetworks, address)

/** Whether a connection to the address reaches one of the networks, also through NAT64. */
export function leadsInto(networks: Network[], address: string): boolean {
  const number = addressNumber(address)
  return number !== undefined && networks.some(network => contains(network, withoutNat64(number)))
}

const NAT64_START = 0x64_ff9bn << 64n

/** A NAT64 address (`64:ff9b::/96`) as the IPv4 address that it leads to. */
const withoutNat64 = (number: bigint): bigint =>
  number >> 32n === NAT64_START ? ipv4Number(BigInt.asUintN(32, number)) : number
