import { expect, test } from 'vitest'
import { opensFormula } from '../../../base/formula.ts'
import { filesIn } from '../../../testing/archive.ts'
import type { Cell } from './csv.ts'
import { xlsxOf } from './xlsx.ts'

async function filesOf(pieces: AsyncIterable<Buffer>): Promise<Map<string, string>> {
  const read: Buffer[] = []
  for await (const piece of pieces) read.push(piece)
  return filesIn(Buffer.concat(read))
}

async function* pagesOf(...pages: Cell[][][]) {
  yield* pages
}

test('a spreadsheet has every row, with numbers as numbers and texts as texts', async () => {
  const files = await filesOf(xlsxOf(['Number', 'Parts'], pagesOf([['79160000001', 2]], [['7<&>', null]]), 2))
  const sheet = files.get('xl/worksheets/sheet1.xml')!
  expect(sheet.match(/<row>/g)).toHaveLength(3)
  expect(sheet).toContain('<c><v>2</v></c>')
  expect(sheet).toContain('>79160000001</t>')
  expect(sheet).toContain('>7&lt;&amp;&gt;</t>')
  expect([...files.keys()]).toContain('[Content_Types].xml')
})

test.each(['=1+1', '+1', '-1', '@a', '\tb', '\rc'])('%j stays a text, also after a person edits it', async value => {
  const files = await filesOf(xlsxOf(['Text'], pagesOf([[value]]), 1))
  expect(files.get('xl/worksheets/sheet1.xml')).toContain(
    `<c s="2" t="inlineStr"><is><t xml:space="preserve">${value}<`,
  )
})

test('characters that XML does not allow are replaced', async () => {
  const files = await filesOf(xlsxOf(['Text'], pagesOf([['a\u0001b\ud800c😀']]), 1))
  expect(files.get('xl/worksheets/sheet1.xml')).toContain('>a\ufffdb\ufffdc😀</t>')
})

test('rows beyond the end of a sheet go to the next', async () => {
  const pages = pagesOf([[1], [2]], [[3], [4]], [[5]])
  const files = await filesOf(xlsxOf(['N'], pages, 5, { rowsOfSheet: 2 }))
  const rows = (sheet: number) => files.get(`xl/worksheets/sheet${sheet}.xml`)!.match(/<v>\d/g)
  expect([rows(1), rows(2), rows(3)]).toEqual([['<v>1', '<v>2'], ['<v>3', '<v>4'], ['<v>5']])
  expect(files.get('xl/workbook.xml')!.match(/<sheet /g)).toHaveLength(3)
})

test('a text that a spreadsheet would calculate is recognized by its first character', () => {
  for (const text of ['=1', '+1', '-1', '@a', '\t=1', '\n=1', '\uff1d1', '\uff0b1']) expect(text).toMatch(opensFormula)
  for (const text of ['1=1', 'a', "'=1", '']) expect(text).not.toMatch(opensFormula)
})
