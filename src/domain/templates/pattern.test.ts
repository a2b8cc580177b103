import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Automaton } from './automaton.ts'
import { compilePattern, fitPattern, plainText, refuseBadPattern } from './pattern.ts'

/** The values at the places. Also checks that the automaton has the same result. */
function fit(pattern: string, text: string): string[] | undefined {
  const values = fitPattern(compilePattern(pattern), plainText(text))
  const automaton = new Automaton([compilePattern(pattern)])
  const reading = automaton.read(plainText(text))
  while (!automaton.advance(reading, 1000));
  expect(automaton.fitting(reading)).toEqual(values ? [0] : [])
  return values
}

describe('a pattern fits', () => {
  test.each<[string, string, string[]]>([
    ['Привет!', 'Привет!', []],
    ['Код: %d', 'Код: 4321', ['4321']],
    ['Здравствуйте, %w! Заказ %d готов.', 'Здравствуйте, Анна-Мария! Заказ 17 готов.', ['Анна-Мария', '17']],
    ['%w, ваш код %d', 'Анна, ваш код 12', ['Анна', '12']],
    ['Сумма %d руб.', 'Сумма 1499,90 руб.', ['1499,90']],
    ['Дата %d.%d.%d', 'Дата 01.02.2026', ['01', '02', '2026']],
    ['Ждём: %w{1,3}!', 'Ждём: улица Садовая 5!', ['улица Садовая 5']],
    ['Ждём: %w{1,3}!', 'Ждём: Садовая!', ['Садовая']],
    ['%w{1,3} и %w', 'Анна и Пётр и Ольга', ['Анна и Пётр', 'Ольга']],
    ['%d{1,6} - код', '4321 - код', ['4321']],
    ['%d{1,2}%d{1,2}', '123', ['12', '3']],
    ['कोड %d', 'कोड १२३४', ['१२३४']],
    ['验证码%d，请勿泄露', '验证码123456，请勿泄露', ['123456']],
    ['Привет, %w', 'Привет, 🎉', ['🎉']],
    ['Скидка 50%', 'Скидка 50%', []],
    ['100%%w', '100%Анна', ['Анна']],
    ['a\tb', ' a\u00a0 \n b ', []],
    ['caf\u00e9 %w', 'cafe\u0301 x', ['x']],
    ['%w{1,', 'a{1,', ['a']],
  ])('%j: %j', (pattern, text, values) => {
    expect(fit(pattern, text)).toEqual(values)
  })

  test.each([
    ['Привет!', 'Привет'],
    ['Привет!', 'привет!'],
    ['Привет', 'Ну, Привет'],
    ['Код: %d', 'Код: 4321 '.concat('и ещё')],
    ['Код: %d', 'Код: '],
    ['Код: %d', 'Код: 12a'],
    ['Код: %d', 'Код: .5'],
    ['Код: %d', 'Код: 5.'],
    ['Код: %w', 'Код: два слова'],
    ['Код: %w', 'Код:'],
    ['Код: %w{1,2}', 'Код: три разных слова'],
    ['Код: %d{1,4}', 'Код: 12345'],
    ['Код: %d{1,4}', 'Код: 1.5'],
    ['%w%w', '🎉'],
    ['a b', 'ab'],
    ['ab', 'a b'],
  ])('%j, but not %j', (pattern, text) => {
    expect(fit(pattern, text)).toBeUndefined()
  })
})

describe('a pattern is refused', () => {
  test.each([
    ['if it is empty', '', /must not be empty/],
    ['if it is only white space', ' \n ', /must not be empty/],
    ['if it is too long', 'a'.repeat(2001), /at most 2000 characters/],
    ['if it has too many places', '%w '.repeat(51), /at most 50 places/],
    ['if it has the bounds %w{2,3}', '%w{2,3}', /%w\{2,3\} must be %w\{1,n\} with n from 1 to 100/],
    ['if it has the bounds %w{1,0}', '%w{1,0}', /n from 1 to 100/],
    ['if it has the bounds %w{1,101}', '%w{1,101}', /n from 1 to 100/],
    ['if it has the bounds %d{1,}', '%d{1,}', /%d\{1,\} must be %d\{1,n\}/],
    ['if it has the bounds %d{name}', '%d{name}', /n from 1 to 100/],
    ['if it has the bounds %d{}', '%d{}', /n from 1 to 100/],
  ])('%s', (_, pattern, why) => {
    expect(() => compilePattern(pattern)).toThrow(why)
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  test('if it is new and its places stand for more than 200 words in all; a stored pattern is not', () => {
    refuseBadPattern('%w{1,100} %w{1,99} %w %d{1,100}')
    expect(() => refuseBadPattern('%w{1,100} %w{1,99} %w %w')).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: 'pattern: its places must stand for at most 200 words in all, not 201',
      }),
    )
    expect(fit('%w{1,100} %w{1,100} %w', 'a b c')).toEqual(['a', 'b', 'c'])
  })

  test('but not if it is exactly at the limits', () => {
    expect(fit('a'.repeat(2000), 'a'.repeat(2000))).toEqual([])
    expect(fit('%w '.repeat(50), 'x '.repeat(50))).toHaveLength(50)
    expect(fit('%w{1,100}', 'x '.repeat(100))).toHaveLength(1)
    expect(fit('%w{1,100}', 'x '.repeat(101))).toBeUndefined()
  })
})

describe('compared with a regular expression, which is slow and independent', () => {
  /** Few characters, so that pieces overlap and repeat. */
  const literals = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '1', '.', 'я', '🎉'), maxLength: 4 })
  const places = fc.constantFrom('%w', '%d', '%w{1,2}', '%w{1,3}', '%d{1,2}', '%d{1,3}')
  const patterns = fc.array(fc.oneof(literals, places), { minLength: 1, maxLength: 6 })
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '  ', '1', '2', '.', ',', 'я', '🎉'), maxLength: 14 })

  const spelled: Record<string, string> = { '%w': '[^ ]+', '%d': '\\p{Nd}+(?:[.,]\\p{Nd}+)*' }
  const spell = (piece: string) => {
    const [, letter, most] = /^%([wd])\{1,(\d)\}$/.exec(piece) ?? []
    if (letter === 'w') return `([^ ]+(?: [^ ]+){0,${Number(most) - 1}})`
    if (letter === 'd') return `(\\p{Nd}{1,${most}})`
    return spelled[piece] ? `(${spelled[piece]})` : piece.replaceAll(/[.]/g, '\\.')
  }
  const squeeze = (text: string) => text.replaceAll(/ +/g, ' ')
  const expressionFor = (pieces: string[]) => new RegExp(`^${pieces.map(spell).join('')}$`, 'u')

  /** The automaton of all patterns must find the same patterns as a check of each pattern alone. */
  test('the automaton of many patterns finds the same patterns as each pattern alone', () => {
    let fitting = 0
    fc.assert(
      fc.property(
        fc.array(patterns, { minLength: 1, maxLength: 8 }),
        fc.array(texts, { maxLength: 3 }),
        (all, said) => {
          const compiled = all
            .map(pieces => pieces.join(''))
            .filter(pattern => pattern.trim() !== '')
            .map(compilePattern)
          const automaton = new Automaton(compiled)
          for (const text of said.map(plainText)) {
            const reading = automaton.read(text)
            while (!automaton.advance(reading, 3)); // in small slices, as with other requests in between
            const found = automaton.fitting(reading).sort((a, b) => a - b)
            expect(found).toEqual(compiled.flatMap((pattern, i) => (fitPattern(pattern, text) ? [i] : [])))
            fitting += found.length
          }
        },
      ),
      { numRuns: 800 },
    )
    expect(fitting).toBeGreaterThan(50)
  })

  test('the same texts fit', () => {
    let fitting = 0
    fc.assert(
      fc.property(patterns, texts, (pieces, text) => {
        const pattern = pieces.join('')
        // The examples above test white space at the ends and several spaces.
        fc.pre(pattern.trim() === pattern && pattern !== '' && !/ {2}/.test(pattern))
        const found = fit(pattern, text)
        expect(found !== undefined).toBe(expressionFor(pieces).test(squeeze(text).trim()))
        if (found) fitting++
      }),
      { numRuns: 1500 },
    )
    expect(fitting).toBeGreaterThan(50)
  })

  /** The texts are made from a pattern, so that they fit. The values then fill the pattern again. */
  test('the pattern filled with the values of its places is the text', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', '1', '.', 'я', '🎉'), minLength: 1, maxLength: 3 })
    const numbers = fc.constantFrom('1', '12', '1.5', '2,11')
    const filled = fc.oneof(
      literals.map(text => ({ piece: text, text, isPlace: false })),
      words.map(text => ({ piece: '%w', text, isPlace: true })),
      numbers.map(text => ({ piece: '%d', text, isPlace: true })),
      fc
        .array(words, { minLength: 1, maxLength: 3 })
        .map(some => ({ piece: '%w{1,3}', text: some.join(' '), isPlace: true })),
    )
    fc.assert(
      fc.property(fc.array(filled, { minLength: 1, maxLength: 6 }), pieces => {
        const pattern = pieces.map(({ piece }) => piece).join('')
        fc.pre(pattern.trim() === pattern && pattern !== '' && !/ {2}/.test(pattern))
        const text = pieces.map(piece => piece.text).join('')
        const values = fit(pattern, text)
        expect(values).toHaveLength(pieces.filter(({ isPlace }) => isPlace).length)
        let next = 0
        const again = pieces.map(({ piece, isPlace }) => (isPlace ? values![next++] : piece)).join('')
        expect(again).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a hostile text of 10,000 characters', () => {
  const stepsOf = (pattern: string, text: string) => {
    const effort = { steps: 0 }
    const values = fitPattern(compilePattern(pattern), plainText(text), effort)
    return { steps: effort.steps, fits: values !== undefined }
  }

  test.each([
    ['a word that could be cut anywhere', `${'%wa'.repeat(50)}!`, 'a'.repeat(10_000), false],
    ['words that any place could take', `${'%w{1,100} a '.repeat(50)}!`, 'a '.repeat(5_000), false],
    ['digits that any place could take', `${'%d'.repeat(50)}x`, '1'.repeat(10_000), false],
    ['a long literal that almost matches everywhere', `%w${'a'.repeat(1_990)}b`, 'a'.repeat(10_000), false],
    ['a text that fits', '%wa'.repeat(50), 'a'.repeat(10_000), true],
  ])('%s: a piece reads each character at most twice', (_, pattern, text, fits) => {
    const pieces = compilePattern(pattern).pieces.length
    const decided = stepsOf(pattern, text)
    expect(decided.steps).toBeLessThanOrEqual(2 * pieces * text.length)
    expect(decided.fits).toBe(fits)
  })

  test('a text with a different beginning is refused after a few steps', () => {
    expect(stepsOf('Ваш код: %d', 'Ваши покупки '.repeat(770))).toEqual({ steps: 5, fits: false })
  })
})
