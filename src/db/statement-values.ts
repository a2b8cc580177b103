type Row = Record<string, unknown>

/**
 * Refuses values that the driver cannot write, before the driver gets the statement. When the driver finds such a value
 * in a statement behind another one on the same connection, it rejects the other one, and every later statement gets
 * the rows of the statement after it or waits for ever (version 3.4.9). `args` are the arguments of a call: of a
 * template, or of a helper such as `sql(rows)`.
 */
export function refuseUnwritable([first, ...rest]: readonly unknown[]): void {
  if (isTemplate(first)) rest.forEach(refuseValue)
  else if (first === undefined) throw unwritable('an undefined value')
  else if (typeof first === 'object') refuseRows([first].flat() as Row[], rest.flat() as string[])
}

const isTemplate = (first: unknown) => Array.isArray(first) && 'raw' in first

function refuseRows(rows: Row[], columns: string[]) {
  for (const row of rows) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) refuseValue(row)
    else for (const name of columns.length > 0 ? columns : Object.keys(row)) refuseValue(row[name])
  }
}

function refuseValue(value: unknown) {
  if (value === undefined) throw unwritable('an undefined value')
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) value.forEach(refuseValue)
  else if (value instanceof Date && Number.isNaN(value.getTime())) throw unwritable('an invalid date')
  else if (isTyped(value) && value.value === undefined) throw unwritable('an undefined value')
}

/** `sql.typed.money(amount)`, `sql.json(value)`: a Parameter of the driver. Plain JSON may have a type and a value too. */
const isTyped = (value: object): value is { value: unknown } => 'value' in value && 'type' in value && 'array' in value

const unwritable = (words: string) => new TypeError(`A statement has ${words}, which cannot be written`)
