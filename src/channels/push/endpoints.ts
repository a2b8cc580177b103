import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isInNetworks, readNetworks } from '../../base/network/networks.ts'
import { isPublicAddress } from '../../base/network/public-address.ts'

/** `refused`: we never connect to it. `unknown`: the lookup of its name failed. */
export type Verdict = 'allowed' | 'refused' | 'unknown'

export type EndpointSettings = { allowInsecure: boolean; timeoutMs: number }

export type Lookup = (hostname: string) => Promise<string[]>

const REMEMBER_MS = 60_000
const MOST_HOSTS = 1000

/**
 * Endpoints come from browsers of strangers. A call to an endpoint must not reach our private network, so only https
 * addresses outside of private networks are allowed. The name is looked up here and again by the call itself. If the
 * answer changes in between, the call still needs https, and a server of our network has no certificate for that name.
 * For more safety, block private addresses in the firewall of the sending machine.
 */
export function createEndpointCheck({ allowInsecure, timeoutMs }: EndpointSettings, look: Lookup = lookUp) {
  const known = new LRUCache<string, { verdict: Verdict; until: number }>({ max: MOST_HOSTS })

  async function check({ protocol, hostname }: URL): Promise<Verdict> {
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    if (protocol === 'http:') return allowInsecure && isLoopback(host) ? 'allowed' : 'refused'
    if (protocol !== 'https:') return 'refused'
    if (allowInsecure) return 'allowed'
    if (isIP(host)) return verdictOn([host])
    return isLocalName(host) ? 'refused' : ofName(host)
  }

  async function ofName(host: string): Promise<Verdict> {
    const before = known.get(host)
    if (before && performance.now() < before.until) return before.verdict
    const verdict = await Promise.race([look(host).then(verdictOn), silence(timeoutMs)]).catch(() => 'unknown' as const)
    if (verdict !== 'unknown') remember(host, verdict)
    return verdict
  }

  function remember(host: string, verdict: Verdict) {
    known.set(host, { verdict, until: performance.now() + REMEMBER_MS })
  }

  return check
}

const lookUp: Lookup = async hostname => (await lookup(hostname, { all: true })).map(({ address }) => address)

const silence = (ms: number): Promise<Verdict> => pause(ms, 'unknown' as const, { ref: false })

/** The call may use any of the addresses, so all of them must be public. */
const verdictOn = (addresses: string[]): Verdict =>
  addresses.length > 0 && addresses.every(isPublic) ? 'allowed' : 'refused'

const isLocalName = (host: string) => !host.includes('.') || /\.(localhost|local|internal)$/i.test(host)

const loopback = readNetworks(['127.0.0.0/8', '::1'])

const isLoopback = (host: string) => host === 'localhost' || isInNetworks(loopback, host)

/** An IPv4 address that is mapped into IPv6 is refused: no push service has one. */
const isPublic = (address: string) => !/^::ffff:/i.test(address) && isPublicAddress(address)
