import { basename } from 'node:path'
import { importPorted, importRegister } from '../../domain/numbering/imports.ts'
import { type Call, withDatabase } from '../command.ts'
import { withFile } from '../file.ts'
import { recorded } from '../recorded.ts'

export const importRanges = ({ config, arguments: [file], print, progress }: Call) =>
  withFile(file!, source =>
    withDatabase(config, async ({ sql }) => {
      const done = await recorded(sql, async (tx, record) => {
        const { ranges, codes, ...rest } = await importRegister(
          tx,
          source,
          lines => progress(`${lines} ranges read`),
          basename(file!),
        )
        const subject = { kind: 'numbering', id: 'register', name: basename(file!) }
        await record({ what: 'numbering.imported', subject, after: { ranges, areas: codes } })
        return { ranges, codes, ...rest }
      })
      progress('')
      print(done, `${done.ranges} ranges of ${done.codes} codes were loaded.${unknownIn(done.unknownRegions)}`)
    }),
  )

export const importPortedNumbers = ({ config, arguments: [file], switches, print, progress }: Call) =>
  withFile(file!, source =>
    withDatabase(config, async ({ sql }) => {
      const options = { replace: switches.replace ?? false }
      const done = await recorded(sql, async (tx, record) => {
        const read = await importPorted(tx, source, { ...options, name: basename(file!) }, lines =>
          progress(`${lines} numbers read`),
        )
        const subject = { kind: 'numbering', id: 'ported', name: basename(file!) }
        await record({ what: 'ported_numbers.imported', subject, after: { ...read, ...options } })
        return read
      })
      progress('')
      print(done, `${done.lines} lines were read; ${done.ported} ported numbers are known now.`)
    }),
  )

const unknownIn = (regions: string[]) =>
  regions.length > 0 ? ` Unknown regions, taken as being on Moscow time: ${regions.join('; ')}.` : ''
