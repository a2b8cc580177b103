import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAllowed, MOST_ADDRESSES, refusalOfAddresses } from './address-list.ts'

describe('a list allows', () => {
  test.each([
    [[], '192.0.2.7'],
    [[], '2001:db8::7'],
    [[], 'unknown'],
    [['192.0.2.7'], '192.0.2.7'],
    [['198.51.100.1', '192.0.2.7'], '192.0.2.7'],
    [['192.0.2.0/24'], '192.0.2.255'],
    [['192.0.2.9/24'], '192.0.2.1'],
    [['192.0.2.7/32'], '192.0.2.7'],
    [['0.0.0.0/0'], '203.0.113.5'],
    [['2001:db8::/32'], '2001:db8:ffff::1'],
    [['2001:DB8::A'], '2001:0db8:0000:0000:0000:0000:0000:000a'],
    [['2001:db8::a/128'], '2001:db8::a'],
    [['::1'], '::1'],
    [['::/0'], '2001:db8::1'],
    [['fe80::/10'], 'fe80::1%eth0'],
    // IPv4 in the spelling of IPv6, on either side
    [['192.0.2.7'], '::ffff:192.0.2.7'],
    [['192.0.2.0/24'], '::ffff:c000:2fe'],
    [['::ffff:192.0.2.7'], '192.0.2.7'],
    [['::ffff:192.0.2.0/120'], '192.0.2.200'],
    [['::ffff:0:0/96'], '203.0.113.5'],
    [['::/0'], '203.0.113.5'],
  ])('%j: %s', (list, address) => {
    expect(refusalOfAddresses(list)).toBeUndefined()
    expect(isAllowed(list, address)).toBe(true)
  })
})

describe('a list refuses', () => {
  test.each([
    [['192.0.2.7'], '192.0.2.8'],
    [['192.0.2.0/24'], '192.0.3.0'],
    [['192.0.2.0/31'], '192.0.2.2'],
    [['192.0.2.7'], '::192.0.2.7'],
    [['192.0.2.7'], '::ffff:192.0.2.8'],
    [['0.0.0.0/0'], '2001:db8::1'],
    [['0.0.0.0/0'], '::1'],
    [['2001:db8::/32'], '2001:db9::'],
    [['2001:db8::/127'], '2001:db8::2'],
    [['0.0.0.0/0', '::/0'], 'unknown'],
    [['0.0.0.0/0', '::/0'], ''],
    [['0.0.0.0/0'], '203.0.113.5:4711'],
    [['not an address'], '203.0.113.5'],
  ])('%j: %s', (list, address) => {
    expect(isAllowed(list, address)).toBe(false)
  })
})

describe('an invalid entry is named in the error', () => {
  test.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.256',
    '192.0.02.1',
    '192.0.2.0/33',
    '192.0.2.0/-1',
    '192.0.2.0/',
    '192.0.2.0/08',
    '192.0.2.0/8/8',
    '192.0.2.0/255.255.255.0',
    '192.0.2.1-192.0.2.9',
    ' 192.0.2.1',
    '2001:db8::/129',
    '2001:db8:::1',
    '2001:db8::1::2',
    '[2001:db8::1]',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
    '/24',
  ])('"%s"', entry => {
    expect(refusalOfAddresses(['192.0.2.1', entry])).toBe(
      `must be addresses or networks such as 192.0.2.0/24 or 2001:db8::/32, not "${entry}"`,
    )
  })

  test('and so is the limit of a list that is too long', () => {
    const list = (length: number) => Array<string>(length).fill('192.0.2.1')
    expect(refusalOfAddresses(list(MOST_ADDRESSES))).toBeUndefined()
    expect(refusalOfAddresses(list(MOST_ADDRESSES + 1))).toBe('must be at most 100 addresses or networks')
  })

  test('any text is either an address or named in the error, and never throws', () => {
    const texts = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789abcdef:./%') }))
    fc.assert(
      fc.property(texts, texts, (entry, address) => {
        expect(isAllowed(refusalOfAddresses([entry]) === undefined ? [entry] : [], address)).toBeTypeOf('boolean')
      }),
    )
  })
})

// The slow model: an address is a string of 128 zeros and ones, and a network is how such strings begin. ------------

type Written = { bits: string; text: string }

const binary = (numbers: number[], width: number) => numbers.map(n => n.toString(2).padStart(width, '0')).join('')
const MAPPED = '0'.repeat(80) + '1'.repeat(16)

const hex = fc.tuple(fc.integer({ min: 0, max: 0xffff }), fc.boolean(), fc.boolean())
const group = ([n, padded, upper]: [number, boolean, boolean]) => {
  const text = padded ? n.toString(16).padStart(4, '0') : n.toString(16)
  return upper ? text.toUpperCase() : text
}

/** Few different bytes and groups, so that addresses and networks meet often. */
const byte = fc.constantFrom(0, 1, 127, 128, 192, 255)
const v4: fc.Arbitrary<Written> = fc.tuple(byte, byte, byte, byte).map(bytes => ({
  bits: MAPPED + binary(bytes, 8),
  text: bytes.join('.'),
}))
const v6: fc.Arbitrary<Written> = fc
  .tuple(
    fc.array(fc.oneof(fc.constant<[number, boolean, boolean]>([0, false, false]), hex), { minLength: 8, maxLength: 8 }),
    fc.nat(7),
    fc.nat(8),
  )
  .map(([groups, from, length]) => ({
    bits: binary(
      groups.map(([n]) => n),
      16,
    ),
    text: compressed(
      groups.map(group),
      groups.map(([n]) => n === 0),
      from,
      length,
    ),
  }))
const mapped: fc.Arbitrary<Written> = fc
  .tuple(v4, fc.constantFrom('::ffff:', '::FFFF:', '0:0:0:0:0:ffff:', '0::0:ffff:'))
  .map(([{ bits, text }, clothes]) => ({ bits, text: clothes + text }))

/** Leaves out a run of zeros, when there is one at that place. */
function compressed(groups: string[], isZero: boolean[], from: number, length: number): string {
  const end = Math.min(8, from + length)
  if (length === 0 || !isZero.slice(from, end).every(Boolean)) return groups.join(':')
  return `${groups.slice(0, from).join(':')}::${groups.slice(end).join(':')}`
}

const anAddress = fc.oneof(v4, v6, mapped)
const anEntry = fc.tuple(anAddress, fc.option(fc.nat(128))).map(([{ bits, text }, prefix]) => {
  if (prefix === null) return { start: bits, text }
  const widest = text.includes(':') ? 128 : 32
  const length = prefix % (widest + 1)
  return { start: bits.slice(0, 128 - widest + length), text: `${text}/${length}` }
})

test('in every spelling, a list allows an address whose bits begin like the bits of an entry', () => {
  let letIn = 0
  fc.assert(
    fc.property(fc.array(anEntry, { minLength: 1, maxLength: 5 }), anAddress, (entries, { bits, text }) => {
      const list = entries.map(entry => entry.text)
      const expected = entries.some(({ start }) => bits.startsWith(start))
      if (expected) letIn += 1
      expect(refusalOfAddresses(list)).toBeUndefined()
      expect(isAllowed(list, text)).toBe(expected)
    }),
    { numRuns: 1000 },
  )
  expect(letIn).toBeGreaterThan(100)
})

test('every network that contains an address allows it, and no network with one changed bit does', () => {
  fc.assert(
    fc.property(anAddress, fc.nat(127), fc.nat(127), ({ bits, text }, length, place) => {
      const flipped = [...bits].map((bit, n) => (n === place ? String(1 - Number(bit)) : bit)).join('')
      expect(isAllowed([`${spelled(bits)}/${length}`], text)).toBe(true)
      expect(isAllowed([`${spelled(flipped)}/${length}`], text)).toBe(place >= length)
    }),
    { numRuns: 1000 },
  )
})

const spelled = (bits: string) =>
  bits
    .match(/.{16}/g)!
    .map(group => Number.parseInt(group, 2).toString(16))
    .join(':')
