import { promises as dns, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { readNetworks } from '../../base/network/networks.ts'
import { isPublicAddress, leadsInto } from '../../base/network/public-address.ts'

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

/** Allows public addresses, and addresses of the networks in the settings. */
export function createAddressCheck(allow: string[]): AddressCheck {
  const allowed = readNetworks(allow)
  return address => leadsInto(allowed, address) || isPublicAddress(address)
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
