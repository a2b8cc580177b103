import { promises as dns, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction, SocketAddress } from 'node:net'
import { promisify } from 'node:util'
import { UsageError } from '../../base/errors.ts'

/**
 * Says whether callbacks may be sent to an IP address. A customer chooses the URL of a callback, so a request must not reach
 * servers inside our network: this service, its neighbours, the metadata of the cloud. The check is made on the address of
 * the connection and not on the name, because a name can resolve to another address between check and connection.
 */
export type AddressCheck = (address: string) => boolean

export type Resolved = { address: string; family: 4 | 6 }
export type Resolve = (hostname: string) => Promise<Resolved[]>

/** The error code of a refused address. The text of the error does not contain the address, because customers may see it. */
export const ADDRESS_REFUSED = 'ERR_ADDRESS_REFUSED'

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

/** Allows public addresses, and addresses of the networks in the settings. */
export function createAddressCheck(allow: string[]): AddressCheck {
  const allowed = networkList(allow)
  return address => {
    const plain = plainAddress(address)
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6'
    if (isIP(plain) === 0) return false
    return allowed.check(plain, family) || isPublic(plain, family)
  }
}

const isPublic = (address: string, family: 'ipv4' | 'ipv6') =>
  !special.check(address, family) && (family === 'ipv4' || globalUnicast.check(address, 'ipv6'))

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

/**
 * The lookup that sockets use. It resolves a name and returns only the allowed addresses, so that the socket can connect to no
 * other. With `family` it returns only addresses of that family, because the source address has it.
 */
export function createLookup(check: AddressCheck, resolve: Resolve, family?: 4 | 6): LookupFunction {
  return (hostname, options, callback) => {
    checkedAddresses(hostname, check, resolve, family).then(
      addresses => {
        const [first] = addresses
        if (options.all || !first) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      error => callback(error, []),
    )
  }
}

async function checkedAddresses(hostname: string, check: AddressCheck, resolve: Resolve, family?: 4 | 6) {
  const found = await resolve(hostname)
  const fitting = found.filter(({ address }) => check(address))
  if (fitting.length === 0) throw found.length > 0 ? addressRefused() : coded('ENOTFOUND', 'no address')
  const usable = fitting.filter(resolved => family === undefined || resolved.family === family)
  if (usable.length === 0) throw coded('EADDRNOTAVAIL', 'no address of the family of the source address')
  return usable
}

export const addressRefused = () => coded(ADDRESS_REFUSED, 'the address is in a network that is not allowed')

const coded = (code: string, message: string) => Object.assign(new Error(message), { code })

const lookupBySystem = promisify(systemLookup)
const resolver = new dns.Resolver({ timeout: 2000, tries: 2 })

/**
 * Asks the name servers directly. The lookup of the operating system blocks one of four threads while a name server does not
 * answer, so that a few such names would delay every other receiver. The operating system is asked only when the name
 * servers do not know the name (names in the hosts file, search domains).
 */
export async function resolveName(hostname: string): Promise<Resolved[]> {
  if (/(^|\.)localhost$/i.test(hostname)) return askSystem(hostname)
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
  if (found.length > 0) return found
  if ([v4, v6].some(answer => answer.status === 'rejected' && answer.reason.code === 'ETIMEOUT')) {
    throw coded('ETIMEOUT', 'the name servers are silent')
  }
  return askSystem(hostname)
}

const addressesOf = (answer: PromiseSettledResult<string[]>, family: 4 | 6): Resolved[] =>
  answer.status === 'fulfilled' ? answer.value.map(address => ({ address, family })) : []

async function askSystem(hostname: string): Promise<Resolved[]> {
  const found = await lookupBySystem(hostname, { all: true, order: 'ipv4first' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}
