import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GSM_DEFAULT, GSM_EXTENSION, mostSmsCharacters, smsAlphabet, smsParts, splitSms } from './sms-text.ts'

/** The tables of 3GPP TS 23.038 by code point: the places that differ from ASCII, and the runs that do not. */
const NOT_ASCII: Record<number, number> = {
  0: 0x40,
  1: 0xa3,
  2: 0x24,
  3: 0xa5,
  4: 0xe8,
  5: 0xe9,
  6: 0xf9,
  7: 0xec,
  8: 0xf2,
  9: 0xc7,
  11: 0xd8,
  12: 0xf8,
  14: 0xc5,
  15: 0xe5,
  16: 0x394,
  17: 0x5f,
  18: 0x3a6,
  19: 0x393,
  20: 0x39b,
  21: 0x3a9,
  22: 0x3a0,
  23: 0x3a8,
  24: 0x3a3,
  25: 0x398,
  26: 0x39e,
  28: 0xc6,
  29: 0xe6,
  30: 0xdf,
  31: 0xc9,
  36: 0xa4,
  64: 0xa1,
  91: 0xc4,
  92: 0xd6,
  93: 0xd1,
  94: 0xdc,
  95: 0xa7,
  96: 0xbf,
  123: 0xe4,
  124: 0xf6,
  125: 0xf1,
  126: 0xfc,
  127: 0xe0,
}
const CODE_POINTS = Array.from({ length: 128 }, (_, place) => NOT_ASCII[place] ?? place)
const ESCAPE_PLACE = 27
const SIMPLE = CODE_POINTS.filter((_, place) => place !== ESCAPE_PLACE).map(point => String.fromCodePoint(point))
const ESCAPED = [...'\f^{}\\[~]|€']

describe('the alphabet', () => {
  test('has the standard character in each of its 128 places', () => {
    expect([...GSM_DEFAULT].map(char => char.codePointAt(0))).toEqual(CODE_POINTS)
    expect(new Set(GSM_DEFAULT).size).toBe(128)
  })

  test('has the ten characters of the extension table in their places', () => {
    expect(Object.entries(GSM_EXTENSION)).toEqual([
      ['\f', 10],
      ['^', 20],
      ['{', 40],
      ['}', 41],
      ['\\', 47],
      ['[', 60],
      ['~', 61],
      [']', 62],
      ['|', 64],
      ['€', 101],
    ])
  })

  test('is GSM for exactly these 137 of all UTF-16 units', () => {
    const found: string[] = []
    for (let unit = 0; unit < 0x10000; unit++) {
      const char = String.fromCharCode(unit)
      if (smsAlphabet(char) === 'gsm7') found.push(char)
    }
    expect(found).toHaveLength(137)
    expect(new Set(found)).toEqual(new Set([...SIMPLE, ...ESCAPED]))
  })

  test.each([
    ['an empty text', '', 'gsm7'],
    ['Latin', 'Your code is 1234', 'gsm7'],
    ['lines', 'a\r\nb', 'gsm7'],
    ['Cyrillic', 'Ваш код 1234', 'ucs2'],
    ['one foreign character at the end', 'Your code is 1234 №', 'ucs2'],
    ['one foreign character at the start', '№ 1234 is your code', 'ucs2'],
    ['the small ç', 'ç', 'ucs2'],
    ['a backtick', '`', 'ucs2'],
    ['a tabulator', '\t', 'ucs2'],
    ['the escape itself', '\x1b', 'ucs2'],
    ['a surrogate pair', '😀', 'ucs2'],
    ['half a surrogate pair', '\ud83d', 'ucs2'],
  ])('of %s is right', (_, text, alphabet) => {
    expect(smsAlphabet(text)).toBe(alphabet)
    expect(splitSms(text).alphabet).toBe(alphabet)
  })
})

/** Every text here, with the lengths of the parts it falls into. */
const lengths: [name: string, text: string, parts: number[]][] = [
  ['an empty text', '', []],

  ['1 character', 'a', [1]],
  ['70 characters', 'a'.repeat(70), [70]],
  ['71 characters', 'a'.repeat(71), [71]],
  ['160 characters', 'a'.repeat(160), [160]],
  ['161 characters', 'a'.repeat(161), [153, 8]],
  ['2 full parts', 'a'.repeat(306), [153, 153]],
  ['2 full parts and 1', 'a'.repeat(307), [153, 153, 1]],
  ['3 full parts', 'a'.repeat(459), [153, 153, 153]],
  ['10 full parts', 'a'.repeat(1530), Array(10).fill(153)],
  ['10 full parts and 1', 'a'.repeat(1531), [...Array(10).fill(153), 1]],

  ['80 escape pairs', '€'.repeat(80), [80]],
  ['81 escape pairs: 76 pairs a part, one septet left over', '€'.repeat(81), [76, 5]],
  ['158 septets and an escape pair', `${'a'.repeat(158)}€`, [159]],
  ['159 septets and an escape pair', `${'a'.repeat(159)}€`, [153, 7]],
  ['an escape pair that ends a part', `${'a'.repeat(151)}€${'b'.repeat(153)}`, [152, 153]],
  ['an escape pair that would straddle two parts', `${'a'.repeat(152)}€${'b'.repeat(151)}`, [152, 152]],
  ['306 septets that a straddling pair makes 3 parts', `${'a'.repeat(152)}€${'b'.repeat(152)}`, [152, 152, 1]],
  ['pairs that would straddle twice', `${'a'.repeat(152)}[${'b'.repeat(150)}]c`, [152, 151, 2]],
  ['an escape pair that begins a part', `${'a'.repeat(153)}€${'b'.repeat(151)}`, [153, 152]],

  ['70 Cyrillic letters', 'я'.repeat(70), [70]],
  ['71 Cyrillic letters', 'я'.repeat(71), [67, 4]],
  ['2 full Cyrillic parts', 'я'.repeat(134), [67, 67]],
  ['2 full Cyrillic parts and 1', 'я'.repeat(135), [67, 67, 1]],
  ['3 full Cyrillic parts', 'я'.repeat(201), [67, 67, 67]],
  ['10 full Cyrillic parts', 'я'.repeat(670), Array(10).fill(67)],
  ['10 full Cyrillic parts and 1', 'я'.repeat(671), [...Array(10).fill(67), 1]],
  ['160 characters, the last of them Cyrillic', `${'a'.repeat(159)}я`, [67, 67, 26]],
  ['71 characters, the last of them Cyrillic', `${'a'.repeat(70)}я`, [67, 4]],
  ['extension characters, one unit each beside Cyrillic', `${'€'.repeat(69)}я`, [70]],

  ['35 surrogate pairs', '😀'.repeat(35), [70]],
  ['36 surrogate pairs: 33 pairs a part, one unit left over', '😀'.repeat(36), [66, 6]],
  ['a surrogate pair that ends a part', `${'я'.repeat(65)}😀${'я'.repeat(67)}`, [67, 67]],
  ['a surrogate pair that would straddle two parts', `${'я'.repeat(66)}😀${'я'.repeat(65)}`, [66, 67]],
  ['134 units that a straddling pair makes 3 parts', `${'я'.repeat(66)}😀${'я'.repeat(66)}`, [66, 67, 1]],
  ['a surrogate pair that begins a part', `${'я'.repeat(67)}😀${'я'.repeat(65)}`, [67, 67]],
  ['a surrogate pair at the end of 70 units', `${'я'.repeat(68)}😀`, [70]],
  ['a surrogate pair at the end of 71 units', `${'я'.repeat(69)}😀`, [67, 4]],
  ['a high half at the end of a part, without its low half', `${'я'.repeat(66)}\ud83d${'я'.repeat(67)}`, [67, 67]],
  ['a low half at the start of a part, without its high half', `${'я'.repeat(67)}\ude00${'я'.repeat(66)}`, [67, 67]],
  ['Latin, an emoji and an extension character', `${'a'.repeat(66)}😀€${'b'.repeat(64)}`, [66, 67]],
]

describe('the parts', () => {
  test.each(lengths)('of %s are right', (_, text, expected) => {
    expect(smsParts(text)).toBe(expected.length)
    expect(splitSms(text).parts.map(part => part.length)).toEqual(expected)
    expect(splitSms(text).parts.join('')).toBe(text)
  })

  test('of the longest text that fits are as many as requested, and a longer text has one more', () => {
    const most = mostSmsCharacters(10)
    expect(smsParts('a'.repeat(most))).toBe(10)
    expect(smsParts('a'.repeat(most + 1))).toBe(11)
    expect(smsParts('я'.repeat(most + 1))).toBeGreaterThan(10)
  })

  test('of any text equal the parts of the slow model', () => {
    fc.assert(
      fc.property(anyText, text => {
        const model = slowSplit(text)
        expect(splitSms(text)).toEqual(model)
        expect(smsParts(text)).toBe(model.parts.length)
        expect(smsAlphabet(text)).toBe(model.alphabet)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** The same rules in the simplest form, for comparison: it adds character by character to the parts. */
function slowSplit(text: string) {
  const chars = [...text]
  const isGsm = chars.every(char => SIMPLE.includes(char) || ESCAPED.includes(char))
  const costs = chars.map(char => (isGsm ? (ESCAPED.includes(char) ? 2 : 1) : char.length))
  const [single, several] = isGsm ? [160, 153] : [70, 67]
  const limit = costs.reduce((sum, cost) => sum + cost, 0) <= single ? single : several

  const parts: { chars: string[]; cost: number }[] = []
  chars.forEach((char, i) => {
    const last = parts.at(-1)
    if (last && last.cost + costs[i]! <= limit) {
      last.chars.push(char)
      last.cost += costs[i]!
    } else {
      parts.push({ chars: [char], cost: costs[i]! })
    }
  })
  return { alphabet: isGsm ? 'gsm7' : 'ucs2', parts: parts.map(part => part.chars.join('')) }
}

// Runs of one character, some as long as a part, so that special characters are often at the boundary of a part.
const gsmChar = fc.oneof(fc.constantFrom(...SIMPLE), fc.constantFrom(...ESCAPED))
const otherChar = fc.oneof(
  fc.constantFrom('я', 'Ж', 'ç', '\t', '\x1b', '😀', '👩‍👧', '\ud83d', '\ude00'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const runLength = fc.oneof(fc.nat(5), fc.integer({ min: 64, max: 72 }), fc.integer({ min: 74, max: 162 }))
const runsOf = (char: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(char, runLength), { maxLength: 12 }).map(runs => runs.map(([c, n]) => c.repeat(n)).join(''))
const anyText = fc.oneof(runsOf(gsmChar), runsOf(otherChar), runsOf(fc.oneof(gsmChar, otherChar)))
