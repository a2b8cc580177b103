import { importPorted, importRegister } from '../../domain/numbering/imports.ts'
import { type Call, withDatabase } from '../command.ts'
import { withFile } from '../file.ts'

export const importRanges = ({ config, arguments: [file], print, progress }: Call) =>
  withFile(file!, source =>
    withDatabase(config, async ({ sql }) => {
      const done = await importRegister(sql, source, lines => progress(`${lines} ranges read`))
      progress('')
      print(done, `${done.ranges} ranges of ${done.codes} codes were loaded.${unknownIn(done.unknownRegions)}`)
    }),
  )

export const importPortedNumbers = ({ config, arguments: [file], switches, print, progress }: Call) =>
  withFile(file!, source =>
    withDatabase(config, async ({ sql }) => {
      const options = { replace: switches.replace ?? false }
      const done = await importPorted(sql, source, options, lines => progress(`${lines} numbers read`))
      progress('')
      print(done, `${done.lines} lines were read; ${done.ported} ported numbers are known now.`)
    }),
  )

const unknownIn = (regions: string[]) =>
  regions.length > 0 ? ` Unknown regions, taken as being on Moscow time: ${regions.join('; ')}.` : ''
