import type postgres from 'postgres'

/** The array types of PostgreSQL that our statements use, by the type of their elements. These numbers never change. */
const arrayTypes = new Map([
  [16, 1000], // boolean
  [17, 1001], // bytea
  [20, 1016], // bigint
  [21, 1005], // smallint
  [23, 1007], // integer
  [25, 1009], // text
  [701, 1022], // double precision
  [1043, 1015], // varchar
  [1082, 1182], // date
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1700, 1231], // numeric
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
])

type Element = null | string | number | bigint | boolean | Date
type Options = {
  parsers: Record<number, unknown>
  serializers: Record<number, ((value: unknown) => string) | undefined>
  shared: { typeArrayMap: Record<number, number> }
}

/**
 * Registers the array types at a pool. Otherwise the driver reads them from the server on every new connection. If this
 * connection is lost meanwhile, the process ends, because the driver does not handle the rejected promise:
 * https://github.com/porsager/postgres/issues/1192 (open in version 3.4.9).
 */
export function knowArrays(options: postgres.ParsedOptions): void {
  const { parsers, serializers, shared } = options as unknown as Options
  for (const [element, array] of arrayTypes) {
    const parse = parsers[element] as ((text: string) => unknown) | undefined
    const serialize = serializers[element]
    shared.typeArrayMap[element] = array
    parsers[array] = Object.assign((text: string) => readArray(text, parse), { array: true })
    serializers[array] = values => (Array.isArray(values) ? writeArray(values, serialize) : (values as string))
  }
}

/** `{1,2,NULL,"a \"quoted\" text"}`. Texts are always quoted, because checking whether they need it takes longer. */
export function writeArray(values: readonly unknown[], serialize: (value: Element) => string = String): string {
  let written = ''
  for (const value of values) written += `,${writeElement(value, serialize)}`
  return `{${written.slice(1)}}`
}

function writeElement(value: unknown, serialize: (value: Element) => string): string {
  if (value === null) return 'NULL'
  if (value === undefined) throw new Error('an array with an undefined element cannot be stored')
  const text = serialize(value as Element)
  return typeof value === 'number' ? text : `"${escaped(text)}"`
}

const escaped = (text: string) =>
  text.includes('"') || text.includes('\\') ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : text

function plainElements(text: string): string[] {
  const inner = text.slice(text.startsWith('{') ? 1 : 0, -1) // the driver has removed the first brace
  return inner === '' ? [] : inner.split(',')
}

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs

/** Parses the text of an array with one dimension. Most arrays have no quoted element, and then only commas separate them. */
export function readArray<T>(text: string, parse?: (text: string) => T): (T | string | null)[] {
  const read = (plain: string) => (plain === 'NULL' ? null : parse ? parse(plain) : plain)
  if (!text.includes('"')) return plainElements(text).map(read)
  return Array.from(text.matchAll(ELEMENT), ([, quoted, plain]) => {
    if (plain !== undefined) return read(plain)
    const value = quoted!.replace(/\\(.)/gs, '$1')
    return parse ? parse(value) : value
  })
}
