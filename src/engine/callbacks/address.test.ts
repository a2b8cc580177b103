import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readNetworks } from '../../base/network/networks.ts'
import { createAddressCheck, createLookup, type Resolve } from './address.ts'

const isAllowed = createAddressCheck([])

test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])('%s is public', address => {
  expect(isAllowed(address)).toBe(true)
})

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  'fd00:ec2::254',
  '',
  'localhost',
])('%s is refused', address => {
  expect(isAllowed(address)).toBe(false)
})

test('a network of the settings is allowed and its neighbours are not, also when written as IPv6', () => {
  const check = createAddressCheck(['10.0.0.0/8', '192.168.7.7', 'fd00::/8'])
  for (const address of ['10.255.0.1', '192.168.7.7', 'fd00::1', '::ffff:10.0.0.1']) expect(check(address)).toBe(true)
  for (const address of ['11.0.0.0.1', '192.168.7.8', 'fc00::1', '127.0.0.1']) expect(check(address)).toBe(false)
})

test('a public IPv4 address mapped into IPv6 is allowed, and a private one is not', () => {
  fc.assert(
    fc.property(fc.ipV4(), address => {
      expect(isAllowed(`::ffff:${address}`)).toBe(isAllowed(address))
    }),
  )
})

test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'fd00::/129', 'example.com', ''])(
  '"%s" is no network',
  network => {
    expect(() => readNetworks([network])).toThrow(/is no network/)
  },
)

const lookUp = (resolve: Resolve, family?: 4 | 6) =>
  new Promise((found, refused) => {
    createLookup(isAllowed, resolve, family)('receiver.example', { all: true }, (error, addresses) =>
      error ? refused(error) : found(addresses),
    )
  })

test('the lookup of a name returns only the allowed addresses', async () => {
  const both: Resolve = async () => [
    { address: '10.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
  ]
  expect(await lookUp(both)).toEqual([{ address: '8.8.8.8', family: 4 }])
})

test('a name that has only private addresses is refused, and the error contains no address', async () => {
  const refusal = (await lookUp(async () => [{ address: '10.0.0.1', family: 4 }]).catch(error => error)) as Error
  expect(refusal).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' })
  expect(refusal.message).not.toContain('10.0.0.1')
})

test('with a source address the lookup returns only addresses of its family', async () => {
  const both: Resolve = async () => [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]
  expect(await lookUp(both, 6)).toEqual([{ address: '2606:4700::1111', family: 6 }])
  await expect(lookUp(async () => [{ address: '8.8.8.8', family: 4 }], 6)).rejects.toMatchObject({
    code: 'EADDRNOTAVAIL',
  })
})
