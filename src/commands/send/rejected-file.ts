import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join, parse, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { UsageError } from '../../base/errors.ts'
import { csvLine, type Separator } from './csv.ts'

export type RejectedFile = {
  add(fields: string[], errorCode: number, reason: string): Promise<void>
  /** The path of the file, which is whole from now on; undefined when no row was rejected. */
  finish(): Promise<string | undefined>
  /** Deletes the file. */
  discard(): Promise<void>
}

/** Where rejected rows go unless told otherwise: beside the file itself. */
export function rejectedPathOf(path: string): string {
  const { dir, name } = parse(path)
  return join(dir, `${name}.rejected.csv`)
}

/**
 * Rejected rows as they stand in the file, with a code and a reason behind each. The same command can read it again.
 */
export function createRejectedFile(
  path: string,
  source: { path: string; columns: string[]; separator: Separator },
): RejectedFile {
  if (resolve(path) === resolve(source.path)) throw new UsageError('--rejected must name another file than FILE.')
  const unfinished = join(dirname(path), `.${parse(path).base}.part`)
  let stream: WriteStream | undefined
  let failure: NodeJS.ErrnoException | undefined

  function open() {
    stream = createWriteStream(unfinished)
    stream.on('error', error => {
      failure = error
    })
    // The mark tells spreadsheets that this is UTF-8.
    stream.write(`\ufeff${csvLine([...source.columns, 'errorCode', 'reason'], source.separator)}`)
  }

  async function write(line: string) {
    if (!stream) open()
    if (!stream!.write(line)) await once(stream!, 'drain').catch(() => {}) // a failure is kept by its listener
    refuseFailure()
  }

  function refuseFailure() {
    if (failure) throw new UsageError(`"${path}" cannot be written: ${failure.code}. --rejected FILE names another.`)
  }

  return {
    add: (fields, errorCode, reason) => {
      const padded = source.columns.map((_, place) => fields[place] ?? '')
      return write(csvLine([...padded, String(errorCode), reason], source.separator))
    },
    async finish() {
      if (!stream) return undefined
      stream.end()
      await finished(stream).catch(() => {})
      refuseFailure()
      await rename(unfinished, path)
      return path
    },
    async discard() {
      stream?.destroy()
      if (stream) await rm(unfinished, { force: true })
    },
  }
}
