import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvLine, readRows, separatorOf } from './csv.ts'
import { decoded, inspectText } from './text-file.ts'

/** The file in pieces of one size: wherever it is cut, it reads the same. */
async function read(text: string | Buffer, pieceBytes = 1 << 16): Promise<string[][]> {
  const bytes = Buffer.from(text as string)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const { encoding, firstLine } = await inspectText(pieces())
  const rows: string[][] = []
  for await (const { fields } of readRows(decoded(pieces(), encoding), separatorOf(firstLine))) rows.push(fields)
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
    [
      'tabs',
      'a\tb\n1\t2,5;x\n',
      [
        ['a', 'b'],
        ['1', '2,5;x'],
      ],
    ],
    [
      'a line that names the separator',
      'sep=;\r\na;b,c,d\r\n1;2\r\n',
      [
        ['a', 'b,c,d'],
        ['1', '2'],
      ],
    ],
  ])('with %s', async (_, text, rows) => {
    for (const size of [1, 2, 3, 1000]) expect(await read(text, size)).toEqual(rows)
  })

  test('reads every text that was written with quotation marks', async () => {
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

  test('with a row that does not end is refused instead of filling the memory', async () => {
    await expect(read(`a,b\n1,"2${'\nx'.repeat(100_000)}`)).rejects.toThrow('line 2: the row is too long')
    await expect(read(`a${'x'.repeat(200_000)}`)).rejects.toThrow('line 1: the row is too long')
  })

  test('written by us is read back', async () => {
    const rows = [
      ['a', 'b'],
      ['1 "one"; 2,3', 'x\r\ny\tz'],
    ]
    for (const separator of [',', ';', '\t'] as const) {
      expect(await read(rows.map(row => csvLine(row, separator)).join(''))).toEqual(rows)
    }
  })
})

describe('an encoding is recognised', () => {
  const text = 'Телефон;Имя\r\n79160000001;Ёлка №5\r\n79030000001;Борис\r\n'
  const rows = [
    ['Телефон', 'Имя'],
    ['79160000001', 'Ёлка №5'],
    ['79030000001', 'Борис'],
  ]
  const littleEndian = Buffer.from(text, 'utf16le')
  const bigEndian = Buffer.from(littleEndian).swap16()

  test.each<[string, Buffer]>([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16, little-endian, with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big-endian, with a mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16, little-endian', littleEndian],
    ['UTF-16, big-endian', bigEndian],
    ['Windows-1251', inWindows1251(text)],
  ])('%s, wherever the file is cut', async (_, bytes) => {
    for (const size of [1, 3, 7, 1000]) expect(await read(bytes, size)).toEqual(rows)
  })

  test.each<[string, Buffer, string]>([
    ['zero bytes', Buffer.from('a\0\0b;c\n'), 'no text'],
    ['a workbook', Buffer.from('PK\u0003\u0004 and so on'), 'save it as CSV'],
    ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), 'save it as CSV'],
    ['a byte of none of them', Buffer.from([0xcf, 0xf0, 0x98, 0x0a]), 'neither UTF-8 nor UTF-16 nor Windows-1251'],
    [
      'half a character of UTF-16',
      Buffer.concat([Buffer.from('\ufeffa;b', 'utf16le'), Buffer.from([0x41])]),
      'UTF-16LE',
    ],
  ])('%s: refused', async (_, bytes, words) => {
    await expect(read(bytes)).rejects.toThrow(words)
  })

  function inWindows1251(text: string): Buffer {
    const special: Record<string, number> = { Ё: 0xa8, ё: 0xb8, '№': 0xb9 }
    const byteOf = (char: string) => special[char] ?? (char >= 'А' ? char.charCodeAt(0) - 0x350 : char.charCodeAt(0))
    return Buffer.from([...text].map(byteOf))
  }
})
