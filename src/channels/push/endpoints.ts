import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { forgetOldest } from '../forget-oldest.ts'

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
  const known = new Map<string, { verdict: Verdict; until: number }>()

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
    known.delete(host)
    if (known.size >= MOST_HOSTS) forgetOldest(known)
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

function isLoopback(host: string): boolean {
  if (!isIP(host)) return host === 'localhost'
  return loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return reachable.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Global unicast, and public IPv4 addresses in networks with IPv6 only (NAT64). */
const NAT64 = '64:ff9b::'
const reachable = new BlockList()
reachable.addSubnet('2000::', 3, 'ipv6')
reachable.addSubnet(NAT64, 96, 'ipv6')

/** All addresses outside of the public internet (IANA special-purpose registries). */
const specialV4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const specialV6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ...specialV4.map(([network, bits]): [string, number] => [NAT64 + network, 96 + bits]),
]

const special = new BlockList()
for (const [network, bits] of specialV4) special.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of specialV6) special.addSubnet(network, bits, 'ipv6')
