import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { UsageError } from '../../base/errors.ts'
import { eachRecipients, openRecipients, type RecipientsFile } from './recipients-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidings-recipients-'))
afterAll(() => rmSync(folder, { recursive: true }))

function aFile(...lines: string[]): string {
  const path = join(folder, 'people.csv')
  writeFileSync(path, lines.join('\r\n'))
  return path
}

async function batchesOf(file: RecipientsFile, given: { atOnce: number; unique: boolean }) {
  const batches: { first: number; destinations: string[] }[] = []
  await eachRecipients(file, given, async (rows, first) => {
    batches.push({ first, destinations: rows.map(({ recipient }) => recipient.destination) })
  })
  return batches
}

describe('the column with the numbers', () => {
  test.each([
    'phone',
    'Phone number',
    'TEL.',
    'tel',
    'mobile',
    'MSISDN',
    'destination',
    'Телефон',
    'номер телефона',
    'Номер',
    'мобильный',
  ])('is recognised by its name: %s', async name => {
    expect(await openRecipients(aFile(`name;${name};city`, 'Anna;79160000001;Omsk'), undefined)).toMatchObject({
      columns: ['name', name, 'city'],
      numberColumn: 1,
      rows: 1,
    })
  })

  test('is the column of --column, in upper or lower case', async () => {
    const path = aFile('phone,Home phone,name', '1,79160000001,A')
    expect(await openRecipients(path, 'Home phone')).toMatchObject({ numberColumn: 1 })
    expect(await openRecipients(path, 'home PHONE ')).toMatchObject({ numberColumn: 1 })
  })

  test.each<[string, string[], string | undefined, RegExp]>([
    [
      'no known name',
      ['contact,name', '79160000001,A'],
      undefined,
      /^people\.csv: The heading has no column that is known to hold phone numbers, only "contact", "name": say which one it is with --column NAME\.$/,
    ],
    [
      'two known names',
      ['phone,Телефон,name', '1,2,3'],
      undefined,
      /The heading has several columns that may hold the phone numbers: "phone", "Телефон": say which one it is with/,
    ],
    ['a column that is not there', ['tel', '1'], 'Home', /The heading has no column "Home", only "tel"\./],
    ['no heading', ['79160000001,A'], undefined, /The file begins with a number: its first line must be a heading/],
    ['nothing below the heading', ['tel,name'], undefined, /The file has no recipients below its heading/],
    ['one name twice', ['tel,name,name', '1,2,3'], undefined, /The heading has the column "name" twice/],
    [
      'too many fields',
      ['tel,name', '1,2', '1,2,3'],
      undefined,
      /people\.csv: line 3: has 3 fields, and the heading 2/,
    ],
    ['control characters', ['a\u001b[31m', '1'], undefined, /only "a\\u001b\[31m": say/],
  ])('%s: nothing is guessed', async (_, lines, column, sentence) => {
    const refusal = await openRecipients(aFile(...lines), column).catch(error => error)
    expect(refusal).toBeInstanceOf(UsageError)
    expect(refusal.message).toMatch(sentence)
  })
})

test('rows are read in batches, on request without repeated numbers', async () => {
  const path = aFile(
    'tel,name',
    '79160000001,A',
    '8 916 000-00-01,B',
    '12,C',
    '12,D',
    '79160000002,E',
    '+79160000002,F',
  )
  const file = await openRecipients(path, undefined)
  expect(file).toMatchObject({ rows: 6, duplicates: { count: 2 } })
  expect(await batchesOf(file, { atOnce: 4, unique: false })).toEqual([
    { first: 0, destinations: ['79160000001', '8 916 000-00-01', '12', '12'] },
    { first: 4, destinations: ['79160000002', '+79160000002'] },
  ])
  expect(await batchesOf(file, { atOnce: 3, unique: true })).toEqual([
    { first: 0, destinations: ['79160000001', '12', '12'] },
    { first: 3, destinations: ['79160000002'] },
  ])
})

test('a field that a short row does not have is no substitution; an empty one is an empty text', async () => {
  const file = await openRecipients(aFile('tel,name,city', '79160000001,A', '79160000002,,'), undefined)
  await eachRecipients(file, { atOnce: 10, unique: false }, async rows => {
    expect(rows.map(({ recipient }) => recipient.substitutions)).toEqual([{ name: 'A' }, { name: '', city: '' }])
  })
})

test('a file that changes between two readings is refused, and so is a pipe', async () => {
  const file = await openRecipients(aFile('tel', '79160000001'), undefined)
  aFile('tel', '79160000001', '79160000002')
  await expect(batchesOf(file, { atOnce: 10, unique: false })).rejects.toThrow(
    'people.csv: The file was changed while it was being read.',
  )
  await expect(openRecipients('/dev/null', undefined)).rejects.toThrow('"/dev/null" is no regular file')
})
