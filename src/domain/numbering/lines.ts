import { UsageError } from '../../base/errors.ts'

export type Source = AsyncIterable<Uint8Array | string>

/** What one line of a file says, and which line it was. */
export interface Entry<T> {
  line: number
  value: T
}

const LONGEST_LINE = 100_000

/**
 * Reads a file of lines as it arrives, in batches: one await a piece, not a line. Blank lines and a heading are
 * passed over; the first line that cannot be read ends everything, with its number.
 */
export async function* entriesOf<T>(
  source: Source,
  read: (line: string) => T,
  onHeading?: (heading: string) => void,
): AsyncGenerator<Entry<T>[]> {
  let line = 0
  for await (const batch of linesOf(source)) {
    const entries: Entry<T>[] = []
    for (const text of batch) {
      line += 1
      const content = text.trim() // a byte order mark and a carriage return are white space, too
      if (line === 1 && heading.test(content)) onHeading?.(content)
      else if (content !== '') entries.push(readEntry(line, content, read))
    }
    yield entries
  }
}

const heading = /^"?\p{L}/u

function readEntry<T>(line: number, content: string, read: (line: string) => T): Entry<T> {
  try {
    return { line, value: read(content) }
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`line ${line}: ${error.message}`) : error
  }
}

async function* linesOf(source: Source): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const piece of source) {
    const lines = (rest + textOf(decoder, piece)).split('\n')
    rest = lines.pop()!
    if (rest.length > LONGEST_LINE) throw new UsageError('The file is not made of lines.')
    yield lines
  }
  if (rest !== '') yield [rest]
}

function textOf(decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array | string): string {
  if (typeof piece === 'string') return piece
  try {
    return decoder.decode(piece, { stream: true })
  } catch (cause) {
    throw new UsageError('The file is not in UTF-8.', { cause })
  }
}
