import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileTemplate, type Substitutions } from './text-template.ts'

const render = (text: string, substitutions?: Substitutions) => compileTemplate(text).render(substitutions)

describe('a placeholder', () => {
  test.each([
    'name',
    'N',
    '_',
    '__a',
    'a1',
    'a_1',
    '_1',
    'имя',
    'Имя_2',
    '名前',
    'שם',
    'नाम', // a vowel sign, which Unicode calls a mark
    'हिन्दी',
    'cafe\u0301', // decomposed
    'a٣', // an Arabic digit
    '𝒳1', // a letter outside the first plane
    'constructor',
  ])('may be called %s', name => {
    const template = compileTemplate(`<{${name}}>`)
    expect(template.names).toEqual([name])
    expect(template.render({ [name]: 'x' })).toBe('<x>')
    expect(template.render({})).toBeUndefined()
  })

  test.each([
    '{}',
    '{ }',
    '{1a}',
    '{1}',
    '{a b}',
    '{ a}',
    '{a }',
    '{a-b}',
    '{a.b}',
    '{a\n}',
    '{\na}',
    '{\u0301a}', // a mark has nothing to stand on
    '{٣}',
    '{½}',
    '{aⅫ}', // a number, not a digit
    '{a😀}',
    '{a\ud835}',
    '{a',
    'a}',
    '{',
    '}',
    '}{',
    '}a{',
    '{{}}',
    '{a{',
    '',
  ])('is not %j, which stays as it is', text => {
    const template = compileTemplate(text)
    expect(template.names).toEqual([])
    expect(template.render({ a: 'x', b: 'y', '': 'z', '1a': 'w', 'a b': 'v', '1': 'u' })).toBe(text)
    expect(template.render(undefined)).toBe(text)
  })

  test.each([
    ['{a}', 'X'],
    ['{a}{b}', 'XY'],
    ['{a}-{a}', 'X-X'],
    [' {a}, {b}! ', ' X, Y! '],
    ['{{a}}', '{X}'],
    ['{{{a}', '{{X'],
    ['{a{b}', '{aY'],
    ['{a}}', 'X}'],
    ['{a}b}', 'Xb}'],
    ['}{a}', '}X'],
    ['{}{a}', '{}X'],
    ['{1}{a}{ }', '{1}X{ }'],
    ['{a b}{b}', '{a b}Y'],
    ['%{a}', '%X'],
    ['{a}{', 'X{'],
  ])('is found in %j', (text, expected) => {
    expect(render(text, { a: 'X', b: 'Y' })).toBe(expected)
  })

  test('is named once, in the order of first appearance', () => {
    expect(compileTemplate('{b} {a} {b} {c} {a}').names).toEqual(['b', 'a', 'c'])
  })

  test('is case-sensitive', () => {
    expect(render('{Name}', { name: 'x' })).toBeUndefined()
  })

  test('may stand in a text as long as a request allows', () => {
    const letters = 'я'.repeat(10_000_000)
    expect(render(`{${letters}`, {})).toHaveLength(10_000_001)
    expect(compileTemplate(`{${letters}}`).names).toEqual([letters])
  })

  test('is found in one pass, for any arrangement of braces', () => {
    const letters = 'я'.repeat(20_000)
    const closing = '}'.repeat(20_000)
    expect(compileTemplate(`{${letters}${closing}`).names).toEqual([letters])
    expect(compileTemplate(`${'{'.repeat(20_000)}${letters}`).names).toEqual([])
    expect(compileTemplate(`${letters}${closing}`).names).toEqual([])
    expect(compileTemplate('{a'.repeat(20_000)).names).toEqual([])
  })
})

describe('a text that grows too long', () => {
  test('is rendered only until it exceeds the limit', () => {
    const asked: string[] = []
    const value = new Proxy({} as Record<string, string>, {
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: '' }),
      get: (_, name) => {
        asked.push(String(name))
        return 'x'.repeat(10)
      },
    })
    const text = compileTemplate('{a}'.repeat(1_000)).render(value, 100)
    expect(text!.length).toBeGreaterThan(100)
    expect(asked).toHaveLength(11)
  })

  test('is rendered completely when it just fits', () => {
    const template = compileTemplate('{a}-{a}!')
    expect(template.render({ a: 'xyz' }, 8)).toBe('xyz-xyz!')
    expect(template.render({ a: 'xyz' }, 7)!.length).toBeGreaterThan(7)
    expect(template.render({ a: '' }, 0)!.length).toBeGreaterThan(0)
  })
})

describe('a substitution', () => {
  test.each([
    ['text', 'text'],
    ['', ''],
    [0, '0'],
    [-0, '0'],
    [12.5, '12.5'],
    [1e21, '1e+21'],
    [true, 'true'],
    [false, 'false'],
  ])('of %j is written %j', (value, expected) => {
    expect(render('{a}', { a: value })).toBe(expected)
    expect(render('{a}{a}', { a: value })).toBe(expected + expected)
  })

  test('that is null counts as absent', () => {
    expect(render('{a}', { a: null })).toBeUndefined()
  })

  test('that is absent for any placeholder makes the text undefined', () => {
    expect(render('{a}{b}', { a: 'x' })).toBeUndefined()
    expect(render('{a}{b}', { b: 'x' })).toBeUndefined()
    expect(render('{a}', undefined)).toBeUndefined()
  })

  test('without a placeholder is ignored', () => {
    expect(render('text', { a: 'x', b: null })).toBe('text')
  })

  test('is not substituted again', () => {
    expect(render('{a} {b}', { a: '{b}', b: '{a}' })).toBe('{b} {a}')
    expect(render('{{a}}', { a: 'b', b: 'x' })).toBe('{b}')
    expect(render('{a}{b}', { a: '{', b: 'a}' })).toBe('{a}')
  })

  test('is inserted unchanged, also when it contains signs of a replacement pattern', () => {
    expect(render('{a}', { a: "$& $1 $' $$" })).toBe("$& $1 $' $$")
  })

  const inherited = [...Object.getOwnPropertyNames(Object.prototype)]

  test.each(inherited)('is never an inherited property: %s', name => {
    expect(render(`{${name}}`, {})).toBeUndefined()
    expect(render(`{${name}}`, undefined)).toBeUndefined()
  })

  test.each(inherited)('may be called %s', name => {
    expect(render(`{${name}}`, JSON.parse(`{"${name}": "own"}`))).toBe('own')
  })

  test('is found in an object without a prototype', () => {
    expect(render('{a}', Object.assign(Object.create(null), { a: 'x' }))).toBe('x')
  })
})

test('any template renders as the slow model does, any number of times', () => {
  fc.assert(
    fc.property(anyText, fc.array(anySubstitutions, { maxLength: 3 }), (text, recipients) => {
      const template = compileTemplate(text)
      for (const substitutions of recipients) {
        expect(template.render(substitutions)).toBe(slowRender(text, substitutions))
      }
    }),
    { numRuns: 3_000 },
  )
})

/**
 * The same rules in the simplest form, for comparison: it checks at each character whether a placeholder begins there.
 */
function slowRender(text: string, substitutions: Substitutions): string | undefined {
  const known = new Map(Object.entries(substitutions).filter(([, value]) => value !== null))
  const chars = [...text]
  const output: string[] = []
  for (let i = 0; i < chars.length; ) {
    const name = nameAt(chars, i)
    if (name === undefined) {
      output.push(chars[i]!)
      i += 1
    } else {
      if (!known.has(name)) return undefined
      output.push(`${known.get(name)}`)
      i += [...name].length + 2
    }
  }
  return output.join('')
}

function nameAt(chars: string[], start: number): string | undefined {
  if (chars[start] !== '{') return undefined
  const inside: string[] = []
  for (let i = start + 1; i < chars.length; i++) {
    const char = chars[i]!
    if (char === '}') return inside.length > 0 ? inside.join('') : undefined
    const isLetter = char === '_' || /\p{L}/u.test(char)
    const isFollower = /\p{M}|\p{Nd}/u.test(char)
    if (!isLetter && !(isFollower && inside.length > 0)) return undefined
    inside.push(char)
  }
  return undefined
}

// Few names and many braces, so that texts often contain a placeholder, or nearly one.
const anyPiece = fc.oneof(
  fc.constantFrom('{', '}', '{', '}', 'a', 'b', '1', '_', ' ', 'я', '\u0301', '😀', '\ud835', '𝒳'),
  fc.constantFrom('{a}', '{b}', '{_}', '{я}', '{a1}', '{ab}', '{__proto__}', '{constructor}', '{toString}'),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const anyText = fc.array(anyPiece, { maxLength: 12 }).map(pieces => pieces.join(''))
const anyValue = fc.oneof(anyText, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const anySubstitutions = fc
  .tuple(
    fc.dictionary(fc.constantFrom('a', 'b', '_', 'я', 'a1', 'ab', '𝒳', 'constructor', 'toString'), anyValue, {
      minKeys: 5,
    }),
    fc.option(anyValue),
  )
  .map(([known, proto]) => Object.defineProperty({ ...known }, '__proto__', { value: proto, enumerable: true }))
