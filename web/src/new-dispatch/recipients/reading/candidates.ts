import { foreignCountryOf, isRussian, normaliseNumber } from '../../../../../src/base/phone/phone-number.ts'
import type { Row } from '../../../../../src/commands/send/csv.ts'
import type { FileForm } from '../files/file-form.ts'
import { rowsOf } from '../files/rows.ts'
import type { Columns } from './columns.ts'
import { isHeading } from './columns.ts'
import { NumberSet } from './number-set.ts'

/** A file of recipients and how to read it. The same `Reading` gives the same recipients in the same order. */
export type Reading = { file: Blob; form: FileForm; columns: Columns; repeats: Repeats }

/** A repeated number gets one message, or one for each line. */
export type Repeats = 'once' | 'each'

/** A row that the page finds valid. The server may still refuse it. */
export type Candidate = { line: number; digits: string; substitutions: Record<string, string> }

/** The mistake of a row: an invalid number, or a placeholder without a value. */
export type Fault = 'noNumber' | 'notNumber' | 'shortened' | 'length' | 'country' | `{${string}}`

export type Watch = {
  row?(): void
  bad?(fault: Fault, row: Row, written: string): void
  duplicate?(row: Row, digits: string): void
}

/** The rows with a valid number. */
export async function* candidatesOf(reading: Reading, watch: Watch = {}): AsyncGenerator<Candidate> {
  const { file, form, columns, repeats } = reading
  const seen = new NumberSet()
  const places = Object.entries(columns.placeholders)
  let isFirst = true
  for await (const row of rowsOf(file, form)) {
    const wasFirst = isFirst
    isFirst = false
    if (wasFirst && isHeading(row.fields)) continue
    watch.row?.()
    const written = (row.fields[columns.number] ?? '').trim()
    const digits = normaliseNumber(wholeNumber(written) ?? written)
    const fault = digits === undefined ? faultOf(written) : faultOfDigits(digits)
    if (digits === undefined || fault) {
      watch.bad?.(fault ?? 'notNumber', row, written)
      continue
    }
    const substitutions: Record<string, string> = {}
    let empty: string | undefined
    for (const [name, column] of places) {
      const value = (row.fields[column] ?? '').trim()
      if (value === '') empty = name
      substitutions[name] = value
    }
    if (empty !== undefined) {
      watch.bad?.(`{${empty}}`, row, written)
      continue
    }
    const isRepeated = !seen.add(digits)
    if (isRepeated) watch.duplicate?.(row, digits)
    if (!isRepeated || repeats === 'each') yield { line: row.line, digits: digits, substitutions }
  }
}

function faultOf(written: string): Fault {
  if (written === '') return 'noNumber'
  if (scientific.test(written)) return 'shortened'
  return /^\+?[\d\s()[\].-]+$/.test(written) ? 'length' : 'notNumber'
}

const scientific = /^(\d)[.,](\d+)E\+?(\d{1,2})$/i

/**
 * Spreadsheets save long numbers in CSV files as `7.9160000001E+10`. It is read as 79160000001 if no digit is missing.
 */
function wholeNumber(written: string): string | undefined {
  const [, first, fraction, exponent] = scientific.exec(written) ?? []
  return fraction?.length === Number(exponent) ? `${first}${fraction}` : undefined
}

/** The same rule as on the server. Only the server knows the assigned ranges. */
function faultOfDigits(digits: string): Fault | undefined {
  if (isRussian(digits)) return undefined
  if (digits[0] === '7' && digits.length !== 11) return 'length'
  return foreignCountryOf(digits) === undefined ? 'country' : undefined
}
