import { describe, expect, test } from 'vitest'
import { aWorkbook } from '../../../../../src/testing/workbook.ts'
import { recogniseForm } from '../files/file-form.ts'
import { rowsOf } from '../files/rows.ts'
import { type Candidate, candidatesOf, type Fault, type Repeats } from './candidates.ts'
import { matchColumns } from './columns.ts'
import { lookAt } from './look.ts'
import { NumberSet } from './number-set.ts'

const columns = { number: 0, placeholders: { name: 1 } }

async function read(file: Blob, repeats: Repeats = 'once') {
  const form = await recogniseForm(file)
  const faults: Fault[] = []
  const candidates: Candidate[] = []
  let duplicates = 0
  const watch = { bad: (fault: Fault) => void faults.push(fault), duplicate: () => void duplicates++ }
  for await (const candidate of candidatesOf({ file, form, columns, repeats }, watch)) candidates.push(candidate)
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

  test('has a message for each line if the person chooses it, and reports the number of repeats', async () => {
    const text = '79160000001,Anna\n79160000001,Oleg\n79160000001,Vera\n'
    const { found, duplicates } = await read(new Blob([text]), 'each')
    expect([found.map(([, name]) => name), duplicates]).toEqual([['Anna', 'Oleg', 'Vera'], 2])
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

  test('reads numbers that a spreadsheet wrote with an exponent, unless digits are missing', async () => {
    const text = 'phone;name\n7,9160000001E+10;Anna\n7.9160000002e10;Oleg\n7,916E+10;Vera\n'
    const { found, faults } = await read(new Blob([text]))
    expect(found.map(([digits]) => digits)).toEqual(['79160000001', '79160000002'])
    expect(faults).toEqual(['shortened'])
  })

  test('reports the mistake of each bad line', async () => {
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

  test('has several sheets: the first sheet with recipients is read, or the sheet that the person chooses', async () => {
    const file = await aWorkbook([['phone'], [79160000002]], 'inline', undefined, ['Title & date', 'Old'])
    const { form, columns } = await lookAt(file)
    expect(form).toEqual({ kind: 'xlsx', sheet: 2, sheets: ['Title & date', 'Old', 'List'] })
    expect(columns[0]!.samples).toEqual(['79160000002'])
    await expect(lookAt(file, 1)).rejects.toThrow('empty')
  })

  test('keeps cells in their columns if some are empty, and reports the line', async () => {
    const found = []
    for await (const row of rowsOf(await aWorkbook([['a', '', 'c'], [], ['', 'b']], 'inline'), { kind: 'xlsx' }))
      found.push(row)
    expect(found).toEqual([
      { line: 1, fields: ['a', '', 'c'] },
      { line: 3, fields: ['', 'b'] },
    ])
  })

  test('gives dates and numbers as the sheet shows them', async () => {
    const formats = [
      'General',
      'dd/mm/yyyy',
      '[$-419]d mmmm yyyy;@',
      'h:mm',
      'yyyy-mm-dd hh:mm:ss',
      '0.00',
      '0%',
      '0000',
    ]
    const styles = `<styleSheet><numFmts>${formats
      .map((code, i) => `<numFmt numFmtId="${170 + i}" formatCode="${code}"/>`)
      .join('')}</numFmts><cellXfs>${formats.map((_, i) => `<xf numFmtId="${170 + i}"/>`).join('')}<xf numFmtId="14"/>
      </cellXfs></styleSheet>`
    const styled = (value: number | string, s: number) => ({ attributes: `s="${s}"`, xml: `<v>${value}</v>` })
    const typed = (value: string, t: string) => ({ attributes: `t="${t}"`, xml: `<v>${value}</v>` })
    const cells = [
      styled('7.9160000001E10', 0),
      styled('8.97010012345E+18', 0),
      styled('0.30000000000000004', 0),
      styled('1.5E-7', 0),
      styled(46342, 1),
      styled(46342, 2),
      styled(0.39583333333333331, 3),
      styled(46342.395833333336, 4),
      styled(1500.5, 5),
      styled(0.3, 6),
      styled(42, 7),
      styled(46342, 8),
      typed('2026-11-16T09:30:00', 'd'),
      typed('1', 'b'),
      typed('#N/A', 'e'),
    ]
    const shown = []
    for await (const { fields } of rowsOf(await aWorkbook([cells], 'inline', styles), { kind: 'xlsx' }))
      shown.push(...fields)
    expect(shown).toEqual([
      '79160000001',
      '8970100123450000000',
      '0.3',
      '0.00000015',
      '16.11.2026',
      '16.11.2026',
      '09:30',
      '16.11.2026 09:30',
      '1500.50',
      '30%',
      '0042',
      '16.11.2026',
      '16.11.2026 09:30',
      'TRUE',
      '',
    ])
  })

  test('that is damaged is refused', async () => {
    const whole = await aWorkbook([['phone'], [79160000001]], 'inline')
    await expect(read(whole.slice(0, whole.size - 40))).rejects.toThrow(/directory/)
    await expect(read(new Blob([new Uint8Array([0xd0, 0xcf, 0x11, 0xe0])]))).rejects.toThrow('oldExcel')
  })

  test('that grows when it is unpacked is refused', async () => {
    const cell = { attributes: 't="inlineStr"', xml: `<is><t>${'7'.repeat(3_000_000)}</t></is>` }
    const styles = `<styleSheet>${' '.repeat(21_000_000)}</styleSheet>`
    for (const book of [
      await aWorkbook([['phone'], [cell]], 'inline'),
      await aWorkbook([['phone']], 'inline', styles),
    ]) {
      expect(book.size).toBeLessThan(30_000)
      await expect(read(book)).rejects.toThrow('broken')
    }
  })

  test('with entities of its own keeps them as text', async () => {
    const declared = '<!DOCTYPE x [<!ENTITY a "79160000001"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    const cell = { attributes: 't="inlineStr"', xml: `${declared}<is><t>&a;&b;&amp;</t></is>` }
    const shown = []
    for await (const { fields } of rowsOf(await aWorkbook([[cell]], 'inline'), { kind: 'xlsx' })) shown.push(...fields)
    expect(shown.join()).not.toMatch(/7916|root:/)
    expect(shown.join()).toContain('&a;&b;&')
  })
})

test('columns are matched by name in both languages, the number also by its values', () => {
  const column = (name: string, ...samples: string[]) => ({ name, samples })
  expect(matchColumns([column('Имя'), column('Телефон'), column('Промокод')], ['name', 'code', 'city'])).toEqual({
    number: 1,
    placeholders: { name: 0, code: 2, city: -1 },
  })
  expect(matchColumns([column('a', 'Anna'), column('b', '8 916 000-00-01')], []).number).toBe(1)
})

test('the set finds every added number again among very many', () => {
  const numbers = new NumberSet()
  const added = () => Array.from({ length: 200_000 }, (_, i) => numbers.add(String(79160000000 + i * 7)))
  expect(added().every(isNew => isNew)).toBe(true)
  expect(added().some(isNew => isNew)).toBe(false)
  expect([numbers.add('999999999999999'), numbers.add('999999999999999')]).toEqual([true, false])
})
