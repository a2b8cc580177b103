import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from './parse.ts'

const parse = (text: string) => parseJson(Buffer.from(text))

/** As large bodies are parsed: in pieces of a few bytes. */
const parseInPieces = (text: string) => parseJson(Buffer.from(text), { smallBytes: 0, pieceBytes: 8 })

const ways = [
  ['at once', parse],
  ['in pieces', parseInPieces],
] as const

describe.each(ways)('text that cannot be kept, parsed %s,', (_, parse) => {
  test.each([
    ['{"a":"\\u0000"}', 'a'],
    ['{"a":["x",{"b":"\\ud83d"}]}', 'a[1].b'],
    ['{"a":{"b":"\\ude00\\ud83d"}}', 'a.b'],
    ['{"a":{"b\\u0000":1}}', 'a'],
    ['{"\\ud800":1}', 'body'],
    ['{"one":1,"\\ud800":["something long"]}', 'body'],
    ['["x","\\ud800"]', '[1]'],
    ['["something long","more of it","x","\\ud800"]', '[3]'],
    ['"\\udc00"', 'body'],
    // A written-out backslash before what only looks like the first half of a pair.
    ['{"a":"\\\\ud83d\\ude00"}', 'a'],
    ['{"a":"\\ud83d\\\\ude00"}', 'a'],
    ['{"a":"\\\\\\ud83d"}', 'a'],
  ])('%s is refused at %s', async (text, path) => {
    await expect(parse(text)).rejects.toThrow(`${path}: has a character that is no text`)
  })

  test.each([
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"\\uD83D\\uDE00\\ud83d\\ude00"}',
    '{"a":"\\\\u0000"}',
    '"\\\\\\ud83d\\ude00"',
  ])('%s is text', async text => {
    expect(await parse(text)).toEqual(JSON.parse(text))
  })

  test('is found with every form of escape, and no other text is refused', async () => {
    const piece = fc.constantFrom('\\u0000', '\\ud83d', '\\uD83D', '\\ude00', '\\uDFff', '\\\\', 'u0000', 'ud83d', 'x')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async pieces => {
        const json = `{"list":[0,{"text":"${pieces.join('')}"}]}`
        const { text } = JSON.parse(json).list[1]
        const isBad = text.includes('\0') || !text.isWellFormed()
        if (isBad) await expect(parse(json)).rejects.toThrow('list[1].text')
        else expect(await parse(json)).toEqual(JSON.parse(json))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe.each(ways)('a mistake, parsed %s,', (_, parse) => {
  test.each([
    ['{"a": 1,\n "b": x}', 'line 2, column 7: expected a value, found "x"'],
    ['{"a": 1,\n "b" 2}', 'line 2, column 6: expected ":", found "2"'],
    ['{"a": 1\n "b": 2}', 'line 2, column 2: expected "," or "}", found \'"\''],
    ['[1, 2,, 3]', 'line 1, column 7: expected a value, found ","'],
    ['[1, 2, 3,]', 'line 1, column 10: expected a value, found "]"'],
    ['{"a": 1,}', 'line 1, column 9: expected a name in double quotes, found "}"'],
    ["{'a': 1}", 'line 1, column 2: expected a name in double quotes or "}", found "\'"'],
    ['{"name": "ж", "b": 01}', 'line 1, column 21: expected "," or "}", found "1"'],
    [
      '{"a": "one\ntwo"}',
      'line 1, column 11: expected an escape such as \\n in place of a control character, found "\\n"',
    ],
    ['["\\x41"]', 'line 1, column 4: expected one of " \\ / b f n r t u after a backslash, found "x"'],
    ['["\\u00g1"]', 'line 1, column 7: expected four hexadecimal digits after \\u, found "g"'],
    ['{"list": [1, 2}', 'line 1, column 15: expected "," or "]", found "}"'],
    ['{"list": [1, 2]', 'line 1, column 16: expected "," or "}", found the end of the body'],
    ['[1.]', 'line 1, column 4: expected a digit, found "]"'],
    ['[1] [2]', 'line 1, column 5: expected the end of the body, found "["'],
    ['nul', 'line 1, column 1: expected a value, found "n"'],
    ['["long enough", "to be cut"] x', 'line 1, column 30: expected the end of the body, found "x"'],
    ['x ["long enough", "to be cut"]', 'line 1, column 1: expected a value, found "x"'],
    ['[["long enough", "to be cut"] x, 1]', 'line 1, column 31: expected "," or "]", found "x"'],
    ['[1, x ["long enough", "to be cut"]]', 'line 1, column 5: expected a value, found "x"'],
    ['[5 ["long enough", "to be cut"]]', 'line 1, column 4: expected "," or "]", found "["'],
    ['{"a": -["long enough", "to be cut"]}', 'line 1, column 8: expected a digit, found "["'],
    ['{["long enough", "to be cut"]}', 'line 1, column 2: expected a name in double quotes or "}", found "["'],
  ])('%j is named by its place', async (text, message) => {
    await expect(parse(text)).rejects.toThrow(`body: must be JSON: ${message}`)
  })
})

test('in pieces or at once, the same texts are JSON and mean the same', async () => {
  const blanks = fc.constantFrom('', ' ', '\n', '\t ')
  const json = fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
    .map(([value, space]) => JSON.stringify(value, null, space))
  const damage = fc.record({
    at: fc.nat(200),
    put: fc.constantFrom('', ',', '[', ']', '{', '}', '"', '1', '-', ' ', 'x'),
  })
  const broken = fc
    .tuple(json, fc.array(damage, { maxLength: 2 }), blanks)
    .map(([text, damages, blank]) =>
      damages.reduce(
        (so, { at, put }) => so.slice(0, at % (so.length + 1)) + put + so.slice((at % (so.length + 1)) + 1),
        blank + text,
      ),
    )
  await fc.assert(
    fc.asyncProperty(broken, async text => {
      const [plain, pieces] = await Promise.allSettled([parse(text), parseInPieces(text)])
      expect(pieces.status).toBe(plain.status)
      if (plain.status === 'fulfilled') expect((pieces as typeof plain).value).toStrictEqual(plain.value)
    }),
    { numRuns: 3_000 },
  )
})

test('names that every object has stay plain names', async () => {
  const text = '{"__proto__":{"a":[1,2,3,4,5]},"constructor":1,"__proto__":[1,2,3,4,5,6],"toString":null}'
  const value = (await parseInPieces(text)) as object
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
})

describe('hostile bodies', () => {
  const MIB = 1024 * 1024

  test.each([
    ['lists in lists', '['.repeat(16 * MIB), /at most 32 levels deep/],
    ['objects in objects', '{"a":'.repeat(3 * MIB), /at most 32 levels deep/],
    ['empty objects', `[${'{},'.repeat(5 * MIB)}{}]`, /too many/],
    ['short numbers', `{"list":[${'0,'.repeat(8 * MIB)}0]}`, /too many/],
    ['commas', ','.repeat(16 * MIB), /too many/],
    [
      'many names in one object',
      `{${Array.from({ length: 11_000 }, (_, i) => `"a long name ${i}":1`).join()}}`,
      /an object must have at most 10000 names/,
    ],
    ['short names', `{${'"a":1,'.repeat(5 * MIB)}"a":1}`, /at most 10000 names/],
  ])('of %s are refused before they are parsed', async (_, text, message) => {
    await expect(parse(text)).rejects.toThrow(message)
  })

  test('of 32 levels are the deepest that are taken', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`
    expect(JSON.stringify(await parse(nested(32)))).toBe(nested(32))
    await expect(parse(nested(33))).rejects.toThrow('body: must be at most 32 levels deep')
  })

  test('or honest ones do not keep others waiting', async () => {
    const recipients = Array.from({ length: 60_000 }, (_, i) => ({
      destination: `7916${1_000_000 + i}`,
      substitutions: { name: 'Иван', amount: i },
    }))
    const text = JSON.stringify({ companyId: 4, messages: recipients, name: 'Sale' })
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const value = await parse(text)
    isDone = true
    expect(value).toEqual({ companyId: 4, messages: recipients, name: 'Sale' })
    expect(turns).toBeGreaterThan(2)
  })
})
