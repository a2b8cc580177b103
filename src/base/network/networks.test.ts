import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isInNetworks, networkOf, readNetwork, readNetworks } from './networks.ts'
import { isPublicAddress, leadsInto } from './public-address.ts'

describe('a network', () => {
  test.each(['192.0.2.7', '192.0.2.0/24', '10.0.0.0/08', '::/0', '2001:DB8::/32', 'fe80::1%eth0', 'fe80::%eth0/64'])(
    'can be written as %s',
    text => {
      expect(readNetwork(text)).toBeDefined()
    },
  )

  test.each(['', 'localhost', '192.0.02.1', '192.0.2.7%eth0', '192.0.2.0/33', '::/129', '192.0.2.0/', '::/8/8', '/8'])(
    'cannot be written as "%s"',
    text => {
      expect(readNetwork(text)).toBeUndefined()
      expect(() => readNetworks(['192.0.2.7', text])).toThrow(`"${text}" is no network`)
    },
  )

  test('contains the addresses that BlockList of Node.js finds in it', () => {
    const address = fc.oneof(
      fc.ipV6(),
      fc.ipV4(),
      fc.ipV4().map(ipv4 => `::ffff:${ipv4}`),
    )
    fc.assert(
      fc.property(address, address, fc.nat(128), (start, asked, prefix) => {
        const length = prefix % (isIPv4(start) ? 33 : 129)
        const list = new BlockList()
        list.addSubnet(start, length, familyOf(start))
        const networks = readNetworks([`${start}/${length}`])
        expect(isInNetworks(networks, asked)).toBe(list.check(asked, familyOf(asked)))
        expect(isInNetworks(networks, start)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('contains no text that is no address', () => {
    const all = readNetworks(['0.0.0.0/0', '::/0'])
    for (const text of ['', 'unknown', '192.0.2', '192.0.2.7:80', '[::1]']) expect(isInNetworks(all, text)).toBe(false)
  })
})

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

describe('limits count', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
    ['2001:0DB8::2:3:4:5', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:192.0.2.7', '2001:db8:1:2::/64'],
    ['::203.0.113.7', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
    ['no address', 'no address'],
  ])('%s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  test('an IPv6 address as the /64 network that contains it', () => {
    fc.assert(
      fc.property(fc.ipV6(), address => {
        const network = networkOf(address)
        if (!isIPv4(network)) expect(isInNetworks(readNetworks([network]), address)).toBe(true)
      }),
    )
  })
})

test('a NAT64 address leads to its IPv4 address, but does not lie in the network of that address', () => {
  const networks = readNetworks(['203.0.113.0/24'])
  expect(leadsInto(networks, '64:ff9b::203.0.113.7')).toBe(true)
  expect(isInNetworks(networks, '64:ff9b::203.0.113.7')).toBe(false)
  expect(isPublicAddress('64:ff9b::8.8.8.8')).toBe(true)
  expect(isPublicAddress('64:ff9b::10.0.0.1')).toBe(false)
})
