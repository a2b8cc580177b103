import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from './body.ts'

const parse = (text: string) => parseJson(Buffer.from(text))

describe('text that cannot be kept', () => {
  test.each([
    ['{"a":"\\u0000"}', 'a'],
    ['{"a":["x",{"b":"\\ud83d"}]}', 'a[1].b'],
    ['{"a":{"b":"\\ude00\\ud83d"}}', 'a.b'],
    ['{"a":{"b\\u0000":1}}', 'a'],
    ['{"\\ud800":1}', 'body'],
    ['["x","\\ud800"]', '[1]'],
    ['"\\udc00"', 'body'],
    // A written-out backslash before what only looks like the first half of a pair.
    ['{"a":"\\\\ud83d\\ude00"}', 'a'],
    ['{"a":"\\ud83d\\\\ude00"}', 'a'],
    ['{"a":"\\\\\\ud83d"}', 'a'],
  ])('%s is refused at %s', (text, path) => {
    expect(() => parse(text)).toThrow(`${path}: has a character that is no text`)
  })

  test.each([
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"\\uD83D\\uDE00\\ud83d\\ude00"}',
    '{"a":"\\\\u0000"}',
    '"\\\\\\ud83d\\ude00"',
  ])('%s is text', text => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test('is found in whatever way it is escaped, and nothing else is', () => {
    const piece = fc.constantFrom('\\u0000', '\\ud83d', '\\uD83D', '\\ude00', '\\uDFff', '\\\\', 'u0000', 'ud83d', 'x')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), pieces => {
        const json = `{"list":[0,{"text":"${pieces.join('')}"}]}`
        const { text } = JSON.parse(json).list[1]
        const isBad = text.includes('\0') || !text.isWellFormed()
        if (isBad) expect(() => parse(json)).toThrow('list[1].text')
        else expect(parse(json)).toEqual(JSON.parse(json))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is named by a path of bearable length however deep it lies', () => {
    const json = `${'['.repeat(100_000)}"\\u0000"${']'.repeat(100_000)}`
    expect(() => parse(json)).toThrow(/^(\[0\]){1,30}: has a character that is no text$/)
  })
})

/** As a ratio: what is looked through costs about as much as reading it, not many times that. */
test.each([
  ['a pair of surrogates, which is fine', '"\\ud83d\\ude00"', 2.5],
  ['a pair that has to be looked at', '"\\\\\\ud83d\\ude00"', 8],
])('a long list beside %s does not hold us up', (_, text, bound) => {
  const body = Buffer.from(`{"login":${text},"z":[${'0,'.repeat(2_000_000)}0]}`)
  const plain = shortest(() => JSON.parse(body.toString('utf8')))
  expect(shortest(() => parseJson(body)) / plain).toBeLessThan(bound)
})

function shortest(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  })
  return Math.min(...times)
}
