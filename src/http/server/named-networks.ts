import { type Network, readNetworks } from '../../base/network/networks.ts'

/** The names of networks in the settings. */
const namedNetworks: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Reads networks of the settings, some of them by name. */
export const readNamedNetworks = (networks: string[]): Network[] =>
  readNetworks(networks.flatMap(name => namedNetworks[name] ?? [name]))
