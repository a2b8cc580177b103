import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { UsageError } from '../base/errors.ts'
import { importPorted, importRegister } from '../domain/numbering/imports.ts'
import { type Command, withDatabase } from './command.ts'

export const numberingCommands: Command[] = [
  {
    name: 'numbering import',
    about: 'Loads the official register of number ranges; running services follow within seconds.',
    arguments: [{ name: 'FILE', about: 'A file of the register in its published CSV form' }],
    run: ({ config, arguments: [file], print, progress }) =>
      withFile(file!, source =>
        withDatabase(config, async ({ sql }) => {
          const done = await importRegister(sql, source, lines => progress(`${lines} ranges read`))
          progress('')
          print(done, `${done.ranges} ranges of ${done.codes} codes were loaded.${unknownIn(done.unknownRegions)}`)
        }),
      ),
  },
  {
    name: 'ported import',
    about: 'Loads numbers that moved to another operator, as `number;brand` lines; they win over ranges.',
    arguments: [{ name: 'FILE', about: 'Lines such as 79160000001;TELE2' }],
    options: { replace: { about: 'The file is the whole list: numbers not in it are forgotten' } },
    run: ({ config, arguments: [file], switches, print, progress }) =>
      withFile(file!, source =>
        withDatabase(config, async ({ sql }) => {
          const options = { replace: switches.replace ?? false }
          const done = await importPorted(sql, source, options, lines => progress(`${lines} numbers read`))
          progress('')
          print(done, `${done.lines} lines were read; ${done.ported} ported numbers are known now.`)
        }),
      ),
  },
]

const unknownIn = (regions: string[]) =>
  regions.length > 0 ? ` Unknown regions, taken as being on Moscow time: ${regions.join('; ')}.` : ''

/** Opens the file before anything else is done; what is wrong inside it is told with its name. */
async function withFile(path: string, work: (source: Readable) => Promise<void>) {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'ENOENT' ? `There is no file "${path}".` : `"${path}" cannot be read: ${error.code}.`,
    )
  })
  try {
    if ((await handle.stat()).isDirectory()) throw new UsageError(`"${path}" is a folder: a file is needed.`)
    await work(handle.createReadStream({ autoClose: false }))
  } catch (error) {
    throw error instanceof UsageError && /^(line |The file )/.test(error.message)
      ? new UsageError(`${basename(path)}: ${error.message}`)
      : error
  } finally {
    await handle.close()
  }
}
