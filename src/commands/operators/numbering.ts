import { basename } from 'node:path'
import { exportNumbering } from '../../domain/numbering/exports.ts'
import { importPorted, importRegister } from '../../domain/numbering/imports.ts'
import { type Call, withDatabase } from '../command.ts'
import { withFile, writeNewFile } from '../file.ts'
import { recorded } from '../recorded.ts'

export const importRanges = ({ config, arguments: [file = ''], switches, print, progress }: Call) =>
  withFile(file, source =>
    withDatabase(config, async ({ sql }) => {
      const options = { replace: switches.replace ?? false }
      const done = await recorded(sql, async (tx, record) => {
        const { ranges, codes, ...rest } = await importRegister(
          tx,
          source,
          { ...options, name: basename(file) },
          lines => progress(`${lines} ranges read`),
        )
        const subject = { kind: 'numbering', id: 'register', name: basename(file) }
        await record({ what: 'numbering.imported', subject, after: { ranges, areas: codes, ...options } })
        return { ranges, codes, ...rest }
      })
      progress('')
      print(done, `${done.ranges} ranges of ${done.codes} codes were loaded.${unknownIn(done.unknownRegions)}`)
    }),
  )

export const importPortedNumbers = ({ config, arguments: [file = ''], switches, print, progress }: Call) =>
  withFile(file, source =>
    withDatabase(config, async ({ sql }) => {
      const options = { replace: switches.replace ?? false }
      const done = await recorded(sql, async (tx, record) => {
        const read = await importPorted(tx, source, { ...options, name: basename(file) }, lines =>
          progress(`${lines} numbers read`),
        )
        const subject = { kind: 'numbering', id: 'ported', name: basename(file) }
        await record({ what: 'ported_numbers.imported', subject, after: { ...read, ...options } })
        return read
      })
      progress('')
      print(done, `${done.lines} lines were read; ${done.ported} ported numbers are known now.`)
    }),
  )

export const exportRanges = (call: Call) => exportFile(call, 'register')
export const exportPortedNumbers = (call: Call) => exportFile(call, 'ported')

const exportFile = ({ config, arguments: [file = ''], print }: Call, kind: 'register' | 'ported') =>
  writeNewFile(file, write =>
    withDatabase(config, async ({ sql }) => {
      const { version, pieces } = await exportNumbering(sql, kind)
      await write(pieces)
      print({ file, version }, `Version ${version} of the numbering plan was written to ${file}.`)
    }),
  )

const unknownIn = (regions: string[]) =>
  regions.length > 0 ? ` Unknown regions, taken as being on Moscow time: ${regions.join('; ')}.` : ''
