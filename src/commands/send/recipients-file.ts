import { stat } from 'node:fs/promises'
import { UsageError } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { printable } from '../../base/printable.ts'
import type { Recipient } from '../../domain/dispatches/dispatch.ts'
import { withFile } from '../file.ts'
import { type Row, readRows, type Separator, separatorOf } from './csv.ts'
import { createDuplicateFinder, type Duplicates } from './duplicates.ts'
import { decoded, type Encoding, inspectText } from './text-file.ts'

/** What a file of recipients holds. The file is read to its end once before anything is done with it. */
export type RecipientsFile = {
  path: string
  encoding: Encoding
  separator: Separator
  /** The names of the columns, and the column with the numbers. */
  columns: string[]
  numberColumn: number
  rows: number
  duplicates: Duplicates
  /** Of the bytes: the same file has the same. */
  digest: string
  /** By this a file is noticed that changes between two readings. */
  version: string
}

/** A row of the file, and the recipient that it stands for. */
export type RecipientRow = { fields: string[]; recipient: Recipient }

export async function openRecipients(path: string, wantedColumn: string | undefined): Promise<RecipientsFile> {
  const version = await versionOf(path)
  const { encoding, firstLine, digest } = await withFile(path, inspectText)
  const form = { path, encoding, separator: separatorOf(firstLine) }
  const finder = createDuplicateFinder()
  try {
    return await withFile(path, async source => {
      let heading: Heading | undefined
      let rows = 0
      for await (const row of readRows(decoded(source, encoding), form.separator)) {
        if (heading) {
          refuseExcess(heading, row)
          const digits = normaliseNumber(numberIn(heading, row))
          if (digits !== undefined) finder.add(rows, digits)
          rows += 1
        } else heading = readHeading(row, wantedColumn)
      }
      if (!heading || rows === 0) throw new UsageError('The file has no recipients below its heading.')
      return { ...form, ...heading, rows, duplicates: finder.find(), digest, version }
    })
  } finally {
    finder.close()
  }
}

/** How many rows are to be sent. */
export const recipientsIn = ({ rows, duplicates }: RecipientsFile, unique: boolean): number =>
  unique ? rows - duplicates.count : rows

/** The rows in their order, in batches; with `unique` without repeated numbers. */
export function eachRecipients(
  file: RecipientsFile,
  { atOnce, unique }: { atOnce: number; unique: boolean },
  work: (batch: RecipientRow[], first: number) => Promise<void>,
): Promise<void> {
  return withFile(file.path, async source => {
    await refuseChanged(file)
    let batch: RecipientRow[] = []
    let first = 0
    let place = -1 // of the heading
    const handOver = async () => {
      if (batch.length > 0) await work(batch, first)
      first += batch.length
      batch = []
    }
    for await (const { fields } of readRows(decoded(source, file.encoding), file.separator)) {
      const isWanted = place >= 0 && !(unique && file.duplicates.has(place))
      if (isWanted) batch.push({ fields, recipient: recipientOf(file, fields) })
      place += 1
      if (batch.length === atOnce) await handOver()
    }
    await handOver()
  })
}

/** Refuses a pipe, which could be read only once. A missing file is reported when it is opened. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isFile() && !found.isDirectory()) {
    throw new UsageError(`"${path}" is no regular file: save it to one, because it is read several times.`)
  }
  return `${found?.size} ${found?.mtimeMs}`
}

/** Only the rows that were shown are sent: the file must not change meanwhile. */
async function refuseChanged({ path, version }: RecipientsFile) {
  if ((await versionOf(path)) !== version) throw new UsageError('The file was changed while it was being read.')
}

type Heading = Pick<RecipientsFile, 'columns' | 'numberColumn'>

function readHeading({ fields }: Row, wanted: string | undefined): Heading {
  const columns = fields.map(name => name.trim())
  if (columns.some(name => normaliseNumber(name) !== undefined)) {
    throw new UsageError('The file begins with a number: its first line must be a heading such as phone,name.')
  }
  const twice = columns.find((name, place) => name !== '' && columns.indexOf(name) !== place)
  if (twice !== undefined) throw new UsageError(`The heading has the column "${printable(twice)}" twice.`)
  return { columns, numberColumn: wanted === undefined ? numberColumnOf(columns) : columnCalled(columns, wanted) }
}

/** How people call the column with the numbers, without spaces and signs. */
const numberNames = new Set(
  [
    'destination phone phones phonenumber phoneno tel telephone telephonenumber mobile mobilephone mobilenumber',
    'cell cellphone msisdn number recipient',
    'телефон телефоны телефонномер номертелефона номертел номер номера тел моб мобильный мобильныйтелефон',
    'мобильныйномер сотовый сотовыйтелефон контактныйтелефон получатель абонент',
  ]
    .join(' ')
    .split(' '),
)

const plainName = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** The only column with a known name. Without one, or with several, nothing is guessed. */
function numberColumnOf(columns: string[]): number {
  const found = columns.filter(name => numberNames.has(plainName(name)))
  if (found.length === 1) return columns.indexOf(found[0]!)
  const what =
    found.length === 0
      ? `no column that is known to hold phone numbers, only ${listOf(columns)}`
      : `several columns that may hold the phone numbers: ${listOf(found)}`
  throw new UsageError(`The heading has ${what}: say which one it is with --column NAME.`)
}

function columnCalled(columns: string[], wanted: string): number {
  const exact = columns.indexOf(wanted.trim())
  const place = exact >= 0 ? exact : columns.findIndex(name => plainName(name) === plainName(wanted) && name !== '')
  if (place >= 0) return place
  throw new UsageError(`The heading has no column "${printable(wanted)}", only ${listOf(columns)}.`)
}

const LISTED = 20
const LONGEST_SHOWN = 60

function listOf(columns: string[]): string {
  const shown = columns.slice(0, LISTED).map(name => `"${printable(name.slice(0, LONGEST_SHOWN))}"`)
  return shown.join(', ') + (columns.length > LISTED ? ` and ${columns.length - LISTED} more` : '')
}

/** Most likely a separator that should stand in quotation marks: the texts would be wrong. */
function refuseExcess({ columns }: Heading, { line, fields }: Row) {
  if (fields.slice(columns.length).some(text => text.trim() !== '')) {
    throw new UsageError(`line ${line}: has ${fields.length} fields, and the heading ${columns.length}.`)
  }
}

const numberIn = ({ numberColumn }: Heading, { fields }: Pick<Row, 'fields'>) => (fields[numberColumn] ?? '').trim()

/** A field that a short row does not have is no substitution; an empty one is an empty text. */
function recipientOf(heading: Heading, fields: string[]): Recipient {
  const substitutions = heading.columns.flatMap((name, place) =>
    place === heading.numberColumn || name === '' || fields[place] === undefined
      ? []
      : [[name, fields[place]] as const],
  )
  return { destination: numberIn(heading, { fields }), substitutions: Object.fromEntries(substitutions) }
}
