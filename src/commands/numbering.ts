import { importPorted, importRegister } from '../domain/numbering/imports.ts'
import { type Command, withDatabase } from './command.ts'
import { withFile } from './file.ts'

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
