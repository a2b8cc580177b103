import fc from 'fast-check'
import parsePhoneNumber from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'
import { describe, expect, test } from 'vitest'
import { foreignCountryOf, isRussian, normaliseNumber } from './phone-number.ts'

describe('normalising', () => {
  test.each([
    ['79161234567', '79161234567'],
    ['+79161234567', '79161234567'],
    ['89161234567', '79161234567'],
    ['8 (916) 123-45-67', '79161234567'],
    ['+7 [916] 123–45—67', '79161234567'],
    [' +7\u00a0916 123 45 67 ', '79161234567'],
    ['+49 151 12345678', '4915112345678'],
    ['+89161234567', '79161234567'], // a common slip
    ['8916123456', '8916123456'], // ten digits: not how Russians dial
    ['9161234567', '79161234567'], // without its country code
    ['(916) 123-45-67', '79161234567'],
    ['+9161234567', '9161234567'], // India
    ['+95 9 123 4567', '9591234567'], // Myanmar
    ['916123456', '916123456'], // nine digits
    ['4951234567', '4951234567'], // a landline without its country code: it could be anywhere
    ['85212345678', '85212345678'], // Hong Kong
    ['+84 912 345 678', '84912345678'], // Vietnam
    ['84951234567', '74951234567'], // Moscow
    ['12345', '12345'],
    ['123456789012345', '123456789012345'],
  ])('%s is %s', (raw, digits) => {
    expect(normaliseNumber(raw)).toBe(digits)
  })

  test.each([
    '',
    '+',
    '1234',
    '1234567890123456',
    '7916123456x',
    '7+9161234567',
    '++79161234567',
    '٧٩١٦١٢٣٤٥٦٧',
    '7.916',
  ])('%j is no number', raw => {
    expect(normaliseNumber(raw)).toBeUndefined()
  })

  test('a text of more than 64 characters is no number, even with few digits', () => {
    const written = (length: number) => '79161234567'.padEnd(length, ' ')
    expect(normaliseNumber(written(64))).toBe('79161234567')
    expect(normaliseNumber(written(65))).toBeUndefined()
    expect(normaliseNumber(written(32 * 1024 * 1024))).toBeUndefined()
  })

  test('a normalised number with a plus before it does not change', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9 +()-]{0,20}$/), raw => {
        const digits = normaliseNumber(raw)
        if (digits !== undefined) expect(normaliseNumber(`+${digits}`)).toBe(digits)
      }),
    )
  })

  test('spaces, brackets and dashes do not change the number', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9]{5,15}$/),
        fc.array(fc.constantFrom(' ', '-', '(', ')')),
        (digits, signs) => {
          const decorated = [...digits].map((digit, i) => digit + (signs[i] ?? '')).join('')
          expect(normaliseNumber(decorated)).toBe(normaliseNumber(digits))
        },
      ),
    )
  })
})

test.each([
  ['79161234567', true],
  ['74951234567', true],
  ['77011234567', false],
  ['76001234567', false],
  ['7916123456', false],
  ['791612345678', false],
  ['49161234567', false],
])('%s is Russian: %s', (digits, expected) => {
  expect(isRussian(digits)).toBe(expected)
})

describe('the country of a foreign number', () => {
  test.each([
    ['77011234567', 'KZ'],
    ['76001234567', 'KZ'],
    ['375291234567', 'BY'],
    ['4915112345678', 'DE'],
    ['14155552671', 'US'],
    ['12045551234', 'CA'],
    ['18765551234', 'JM'],
    ['18005551234', 'US'],
    ['447400123456', 'GB'],
    ['447781123456', 'GG'],
    ['441534123456', 'JE'],
    ['393123456789', 'IT'],
    ['61412345678', 'AU'],
    ['262692123456', 'RE'],
    ['262639012345', 'YT'],
    ['262976900000', 'YT'],
    ['262268901234', 'YT'],
    ['24740123', 'SH'],
    ['2908999', 'SH'],
    ['38344123456', 'XK'],
  ])('of %s is %s', (digits, country) => {
    expect(foreignCountryOf(digits)).toBe(country)
  })

  test.each([
    ['1415555267', 'a length that the United States do not have'],
    ['7701123456', 'a length that Kazakhstan does not have'],
    ['770112345678901', 'a length that Kazakhstan does not have'],
    ['791612345678', 'a length that Russia does not have'],
    ['375291', 'a length that Belarus does not have'],
    ['999123456789', 'an unassigned calling code'],
    ['88212345678', 'a calling code of no country'],
    ['012345678', 'an unassigned calling code'],
  ])('of %s is unknown: %s', digits => {
    expect(foreignCountryOf(digits)).toBeUndefined()
  })

  test('is the country of the parser of the library, if the parser finds one', () => {
    const foreign = Object.keys(metadata.country_calling_codes).filter(code => code !== '7')
    const shared = ['1', '44', '61', '212', '262', '290', '358', '39', '47', '599']
    const callingCode = fc.oneof(fc.constantFrom(...foreign), fc.constantFrom(...shared), fc.constantFrom('1', '44'))
    fc.assert(
      fc.property(callingCode, fc.stringMatching(/^[1-9][0-9]{5,10}$/), (code, rest) => {
        const theirs = parsePhoneNumber(`+${code}${rest}`)
        const asWritten = theirs?.number === `+${code}${rest}` // the parse may drop a prefix, and we do not
        const premium = code === '44' && rest.startsWith('98') // British, though the library gives it to Guernsey
        const local = code === '1' && rest.length === 7 // 310-xxxx is dialled within Canada only
        if (theirs?.isValid() && asWritten && theirs.country && !premium && !local) {
          expect(foreignCountryOf(code + rest)).toBe(ours[theirs.country] ?? theirs.country)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  const ours: Record<string, string> = { AC: 'SH', TA: 'SH', BL: 'GP', MF: 'GP', CC: 'AU', CX: 'AU', EH: 'MA' }
})
