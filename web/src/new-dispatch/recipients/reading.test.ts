import { describe, expect, test } from 'vitest'
import { aWorkbook } from '../../../../src/testing/workbook.ts'
import { type Candidate, candidatesOf, type Fault } from './candidates.ts'
import { matchColumns } from './columns.ts'
import { recogniseForm } from './file-form.ts'
import { NumberSet } from './number-set.ts'
import { rowsOf } from './rows.ts'

const columns = { number: 0, placeholders: { name: 1 } }

async function read(file: Blob) {
  const form = await recogniseForm(file)
  const faults: Fault[] = []
  const candidates: Candidate[] = []
  let duplicates = 0
  const watch = { bad: (fault: Fault) => void faults.push(fault), duplicate: () => void duplicates++ }
  for await (const candidate of candidatesOf({ file, form, columns }, watch)) candidates.push(candidate)
  return {
    form,
    faults,
    duplicates,
    found: candidates.map(({ digits, substitutions }) => [digits, substitutions.name]),
  }
}

describe('a CSV file', () => {
  test('is read in UTF-8 with commas, its numbers in any spelling and each once', async () => {
    const text = 'phone,name\n+7 916 000-00-01,Anna\n8 (916) 000 00 01,Anna\n9160000002,"Oleg, junior"\n'
    const { form, found, duplicates } = await read(new Blob([text]))
    expect(form).toEqual({ kind: 'csv', encoding: 'UTF-8', separator: ',' })
    expect([found, duplicates]).toEqual([
      [
        ['79160000001', 'Anna'],
        ['79160000002', 'Oleg, junior'],
      ],
      1,
    ])
  })

  test('is read in Windows-1251 with semicolons', async () => {
    const anna = [0xc0, 0xed, 0xed, 0xe0] // Анна
    const bytes = new Uint8Array([...new TextEncoder().encode('phone;name\r\n79160000001;'), ...anna])
    const { form, found } = await read(new Blob([bytes]))
    expect(form).toEqual({ kind: 'csv', encoding: 'Windows-1251', separator: ';' })
    expect(found).toEqual([['79160000001', 'Анна']])
  })

  test('without a heading is read from its first line', async () => {
    expect((await read(new Blob(['79160000001,Anna\n']))).found).toEqual([['79160000001', 'Anna']])
  })

  test('says what is wrong with each bad line', async () => {
    const lines = ['phone,name', ',Anna', 'olga@mail.example,Olga', '8 916,Anna', '21012345678901,Anna', '79160000001,']
    const { faults, found } = await read(new Blob([lines.join('\n')]))
    expect(faults).toEqual(['noNumber', 'notNumber', 'length', 'country', '{name}'])
    expect(found).toEqual([])
  })
})

describe('a workbook', () => {
  test.each(['shared', 'inline'] as const)('is read with %s texts and with numbers', async kind => {
    const rows = [
      ['phone', 'name'],
      [79160000001, 'Анна & Co'],
      ['+7 916 000-00-02', '<Oleg>'],
    ]
    const { form, found } = await read(await aWorkbook(rows, kind))
    expect(form).toEqual({ kind: 'xlsx' })
    expect(found).toEqual([
      ['79160000001', 'Анна & Co'],
      ['79160000002', '<Oleg>'],
    ])
  })

  test('keeps cells in their columns where some are empty, and says the line', async () => {
    const found = []
    for await (const row of rowsOf(await aWorkbook([['a', '', 'c'], [], ['', 'b']], 'inline'), { kind: 'xlsx' }))
      found.push(row)
    expect(found).toEqual([
      { line: 1, fields: ['a', '', 'c'] },
      { line: 3, fields: ['', 'b'] },
    ])
  })

  test('that is damaged is refused', async () => {
    const whole = await aWorkbook([['phone'], [79160000001]], 'inline')
    await expect(read(whole.slice(0, whole.size - 40))).rejects.toThrow(/directory/)
    await expect(read(new Blob([new Uint8Array([0xd0, 0xcf, 0x11, 0xe0])]))).rejects.toThrow('oldExcel')
  })
})

test('columns are matched by name in both languages, the number also by its look', () => {
  const column = (name: string, ...samples: string[]) => ({ name, samples })
  expect(matchColumns([column('Имя'), column('Телефон'), column('Промокод')], ['name', 'code', 'city'])).toEqual({
    number: 1,
    placeholders: { name: 0, code: 2, city: -1 },
  })
  expect(matchColumns([column('a', 'Anna'), column('b', '8 916 000-00-01')], []).number).toBe(1)
})

test('numbers are found again among very many', () => {
  const numbers = new NumberSet()
  const added = () => Array.from({ length: 200_000 }, (_, i) => numbers.add(String(79160000000 + i * 7)))
  expect(added().every(isNew => isNew)).toBe(true)
  expect(added().some(isNew => isNew)).toBe(false)
  expect([numbers.add('999999999999999'), numbers.add('999999999999999')]).toEqual([true, false])
})
