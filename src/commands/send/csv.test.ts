import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRows } from './csv.ts'

/** The file in pieces of one size: wherever it is cut, it reads the same. */
async function read(text: string | Buffer, pieceBytes = 1 << 16): Promise<string[][]> {
  const bytes = Buffer.from(text as string)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const rows: string[][] = []
  for await (const { fields } of readRows(pieces())) rows.push(fields)
  return rows
}

describe('a CSV file', () => {
  test.each<[string, string, string[][]]>([
    [
      'commas',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'semicolons',
      'a;b\n1;2,5\n',
      [
        ['a', 'b'],
        ['1', '2,5'],
      ],
    ],
    [
      'line ends of Windows',
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'line ends of old',
      'a,b\r1,2\r',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'no last line end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a byte order mark',
      '\ufeffa,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'quotation marks',
      '"a;x";b\n"1 ""one""";"2\r\n3"',
      [
        ['a;x', 'b'],
        ['1 "one"', '2\r\n3'],
      ],
    ],
    [
      'a quotation mark inside',
      'a,b\n5" nail,""',
      [
        ['a', 'b'],
        ['5" nail', ''],
      ],
    ],
    [
      'empty lines and rows',
      'a;b\n\n;\n1;\n',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    ['one column', 'destination\n79160000001', [['destination'], ['79160000001']]],
    [
      'a separator in the heading that is quoted',
      '"a,b,c";d\n1;2',
      [
        ['a,b,c', 'd'],
        ['1', '2'],
      ],
    ],
    ['nothing', '', []],
  ])('with %s', async (_, text, rows) => {
    for (const size of [1, 2, 3, 1000]) expect(await read(text, size)).toEqual(rows)
  })

  test('reads back whatever was written with quotation marks', async () => {
    const field = fc.string({ unit: fc.constantFrom('"', ',', ';', '\r', '\n', 'я', '😀', ' ') })
    const rows = fc.array(fc.tuple(field, field), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const quoted = rows.map(row => row.map(text => `"${text.replaceAll('"', '""')}"`).join(';'))
        const kept = rows.filter(row => row.some(text => text.trim() !== ''))
        expect(await read(['a;b', ...quoted].join('\n'), size)).toEqual([['a', 'b'], ...kept])
      }),
    )
  })

  test('that ends inside quotation marks tells where they began', async () => {
    await expect(read('a,b\n1,2\n3,"4\n5')).rejects.toThrow('line 3: a quotation mark is not closed.')
  })

  test('that is not UTF-8, or no text, is told', async () => {
    await expect(read(Buffer.from([0xcf, 0xf0, 0xe8]))).rejects.toThrow('not written in UTF-8')
    await expect(read('a\0b')).rejects.toThrow('no text')
  })
})
