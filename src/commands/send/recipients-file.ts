import { createHash } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone-number.ts'
import type { Recipient } from '../../domain/dispatches/dispatch.ts'
import { withFile } from '../file.ts'
import { type Row, readRows } from './csv.ts'

/** What a file of recipients holds: it is read to its end once before anything is done with it. */
export type Survey = { columns: string[]; recipients: number; digest: string }

export function surveyRecipients(path: string): Promise<Survey> {
  return withFile(path, async source => {
    const hash = createHash('sha256')
    let heading: Heading | undefined
    let recipients = 0
    for await (const row of readRows(passing(source, hash))) {
      if (heading) {
        refuseExcess(heading, row)
        recipients += 1
      } else heading = readHeading(row)
    }
    if (!heading || recipients === 0) throw new UsageError('The file has no recipients below its heading.')
    return { columns: heading.names, recipients, digest: hash.digest('hex') }
  })
}

/** The recipients in their order, so many at once. */
export function eachRecipients(
  path: string,
  atOnce: number,
  work: (batch: Recipient[], first: number) => Promise<void>,
) {
  return withFile(path, async source => {
    let heading: Heading | undefined
    let batch: Recipient[] = []
    let first = 0
    const hand = async () => {
      if (batch.length > 0) await work(batch, first)
      first += batch.length
      batch = []
    }
    for await (const row of readRows(source)) {
      if (heading) batch.push(recipientOf(heading, row))
      else heading = readHeading(row)
      if (batch.length === atOnce) await hand()
    }
    await hand()
  })
}

async function* passing(source: AsyncIterable<Buffer>, hash: { update(piece: Buffer): unknown }) {
  for await (const piece of source) {
    hash.update(piece)
    yield piece
  }
}

type Heading = { names: string[]; destination: number }

function readHeading({ fields }: Row): Heading {
  const names = fields.map(name => name.trim())
  if (names.some(name => normaliseNumber(name) !== undefined)) {
    throw new UsageError('The file begins with a number: its first line must be a heading such as destination,name.')
  }
  const twice = names.find((name, place) => name !== '' && names.indexOf(name) !== place)
  if (twice !== undefined) throw new UsageError(`The heading has the column "${twice}" twice.`)
  return {
    names,
    destination: Math.max(
      0,
      names.findIndex(name => name.toLowerCase() === 'destination'),
    ),
  }
}

/** Most likely a separator that should stand in quotation marks: the texts would be wrong. */
function refuseExcess({ names }: Heading, { line, fields }: Row) {
  if (fields.slice(names.length).some(text => text.trim() !== '')) {
    throw new UsageError(`line ${line}: has ${fields.length} fields, and the heading ${names.length}.`)
  }
}

/** A field that a short row does not have is no substitution; an empty one is an empty text. */
function recipientOf({ names, destination }: Heading, { fields }: Row): Recipient {
  const columns = names.flatMap((name, place) =>
    place === destination || name === '' || fields[place] === undefined ? [] : [[name, fields[place]] as const],
  )
  return { destination: (fields[destination] ?? '').trim(), substitutions: Object.fromEntries(columns) }
}
