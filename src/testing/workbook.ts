import { crc32, deflateRawSync } from 'node:zlib'

/** A text, a number, or the content of a cell as XML, with its attributes. */
type Cell = string | number | { attributes: string; xml: string }

/**
 * A workbook in the form of spreadsheet programs: with a table of texts or with texts in the cells. Empty sheets
 * precede its sheet.
 */
export async function aWorkbook(
  rows: Cell[][],
  kind: 'shared' | 'inline',
  styles?: string,
  emptySheets: string[] = [],
): Promise<Blob> {
  const texts = new Map<string, number>()
  const sheet = rows.map((cells, i) => rowOf(cells, i + 1, kind === 'shared' ? texts : undefined)).join('')
  const shared = [...texts.keys()].map(text => `<si><t xml:space="preserve">${inXml(text)}</t></si>`).join('')
  return zipOf({
    'xl/workbook.xml': `<workbook><sheets>${emptySheets.map(emptyTag).join('')}<sheet name="List" sheetId="1" r:id="rId7"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId7" Type="worksheet" Target="worksheets/list.xml"/>' +
      '<Relationship Id="rId8" Type="worksheet" Target="worksheets/empty.xml"/></Relationships>',
    'xl/worksheets/empty.xml': '<worksheet><sheetData/></worksheet>',
    'xl/worksheets/list.xml': `<?xml version="1.0"?><worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...(styles ? { 'xl/styles.xml': styles } : {}),
    ...(kind === 'shared' ? { 'xl/sharedStrings.xml': `<sst>${shared}</sst>` } : {}),
  })
}

const emptyTag = (name: string) => `<sheet name="${inXml(name)}" sheetId="2" r:id="rId8"/>`

function rowOf(cells: Cell[], line: number, texts: Map<string, number> | undefined): string {
  const written = cells.map((cell, column) => {
    if (cell === '') return ''
    const place = `r="${String.fromCharCode(65 + column)}${line}"`
    if (typeof cell === 'object') return `<c ${place} ${cell.attributes}>${cell.xml}</c>`
    if (typeof cell === 'number') return `<c ${place}><v>${cell}</v></c>`
    if (!texts) return `<c ${place} t="inlineStr"><is><t>${inXml(cell)}</t></is></c>`
    if (!texts.has(cell)) texts.set(cell, texts.size)
    return `<c ${place} t="s"><v>${texts.get(cell)}</v></c>`
  })
  return `<row r="${line}">${written.join('')}</row>`
}

const inXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function zipOf(files: Record<string, string>): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const directory: Uint8Array<ArrayBuffer>[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text)
    const packed = new Uint8Array(deflateRawSync(content))
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = new Uint8Array([0x50, 0x4b, 3, 4, ...common, ...Buffer.from(name)])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(new Uint8Array([0x50, 0x4b, 1, 2, 20, 0, ...common, ...tail, ...Buffer.from(name)]))
    parts.push(local, packed)
    offset += local.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  )
  end.writeUInt32LE(offset, 16)
  return new Blob([...parts, ...directory, new Uint8Array(end)])
}
