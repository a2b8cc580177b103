import type { Endpoint, Field, Kind, Parameter } from './endpoints.ts'

/** A request that must be refused: the change of a valid request, and the field that the answer must name. */
export type Mutation = { what: string; names: string; body: (good: object) => unknown }
export type QueryMutation = { what: string; names: string; query: (good: Record<string, unknown>) => string }

/** Every mistake in a body that follows from its description. */
export function bodyMutations(endpoint: Endpoint): Mutation[] {
  return (endpoint.fields ?? []).flatMap(field => [...missing(field), ...wrongTypes(field), ...refusedValues(field)])
}

function missing({ path, required }: Field): Mutation[] {
  if (!required) return []
  return [{ what: `${path} missing`, names: path, body: good => without(good, path) }]
}

const wrongTypes = (field: Field): Mutation[] =>
  wrongValues(field.kind)
    .filter(wrong => !(field.nullable && wrong === null))
    .map(wrong => ({
      what: `${field.path} ${shown(wrong)}`,
      names: field.path,
      body: good => withValue(good, field.path, wrong === QUOTED ? String(valueAt(good, field.path)) : wrong),
    }))

const refusedValues = ({ path, refused = [] }: Field): Mutation[] =>
  refused.map(value => ({
    what: `${path} ${shown(value)}`,
    names: path,
    body: good => withValue(good, path, value),
  }))

/** Means the valid value as a string. The API must not convert it. */
const QUOTED = Symbol('the same in quotes')

function wrongValues(kind: Kind): unknown[] {
  const text = [5, 1.5, true, null, [], {}, ['text']]
  switch (kind) {
    case 'string':
      return text
    case 'enum':
      return [...text, 'NO_SUCH_VALUE', '', 'constructor']
    case 'datetime':
      return [...text, ...noTimestamps]
    case 'uuid':
      return [...text, '', 'not-a-uuid', '0198c5a0-0000-7000-8000-00000000000', '0198c5a00000700080000000000000000']
    case 'int':
      return [QUOTED, '', 'text', 1.5, true, null, [], {}, [5]]
    case 'number':
      return [QUOTED, '', 'text', true, null, [], {}, [5]]
    case 'bool':
      return [QUOTED, 'yes', '', 1, 0, null, [], {}, [true]]
    case 'array':
      return ['text', 5, true, null, {}]
    case 'object':
      return ['text', 5, true, null, [], [{}]]
    case 'scalar':
      return [[], {}, ['text']]
  }
}

const noTimestamps = [
  '',
  'yesterday',
  '2026-07-01',
  '2026-07-01T10:00:00',
  '2026-07-01 10:00:00Z',
  '2026-02-30T10:00:00Z',
  '2026-13-01T10:00:00Z',
  '2026-07-01T24:00:00Z',
  '2026-07-01T10:60:00Z',
  '2026-07-01T10:00:00+25:00',
  '1782900000',
  // In UTC, the year before the first valid year and the year after the last.
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
]

/** Every mistake in a query that follows from its description. */
export function queryMutations({ parameters = [] }: Endpoint): QueryMutation[] {
  return parameters.flatMap(parameter => [
    ...(parameter.required ? [change(parameter, 'missing', [])] : []),
    ...wrongTexts(parameter).map(text => change(parameter, JSON.stringify(text), [text])),
    ...(parameter.repeatable || parameter.kind === 'string' ? [] : [change(parameter, 'twice', 'both')]),
    ...(parameter.repeatable && parameter.kind === 'enum'
      ? [change(parameter, 'good, then bad', 'bad second', `${parameter.name}[1]`)]
      : []),
  ])
}

function change(
  { name, repeatable }: Parameter,
  what: string,
  values: string[] | 'both' | 'bad second',
  names = repeatable ? `${name}[0]` : name,
): QueryMutation {
  return {
    what: `?${name} ${what}`,
    names,
    query: good => {
      const rest = Object.entries(good).filter(([key]) => key !== name)
      const value = String(good[name])
      const given = values === 'both' ? [value, value] : values === 'bad second' ? [value, 'NO_SUCH_VALUE'] : values
      return asQuery([...rest, ...given.map((text): [string, unknown] => [name, text])])
    },
  }
}

function wrongTexts({ kind, refused = [] }: Parameter): readonly string[] {
  if (kind === 'int')
    return [
      '',
      'text',
      '1.5',
      'true',
      'null',
      'NaN',
      '1,2',
      '[1]',
      'Infinity',
      '1e999',
      '0x1',
      '1e0',
      ' 1',
      '+1',
      '1.0',
      ...refused,
    ]
  if (kind === 'bool') return ['', 'yes', '2', 'TRUE', ...refused]
  if (kind === 'enum') return ['', 'NO_SUCH_VALUE', 'constructor', ...refused]
  return refused
}

export const asQuery = (pairs: [string, unknown][]) =>
  pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`

/** Invalid JSON made from a valid text. */
export const noJsonLike = (good: string) => [
  '{',
  good.slice(0, -1),
  `${good}}`,
  'no json',
  "{'a': 1}",
  '{"a":1,}',
  ' ',
  '\ufeff{}',
  'NaN',
]

export const otherContentTypes = ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'json', '']

/**
 * Bodies with an invalid character at the path: escaped, where the answer names the path, and raw, where the body is no
 * JSON.
 */
export function noTextsAt(body: object, path: string): { escaped: Buffer[]; raw: Buffer[] } {
  const [head, tail] = JSON.stringify(withValue(body, path, 'MARK')).split('MARK')
  const having = (piece: Buffer) => Buffer.concat([Buffer.from(head!), piece, Buffer.from(tail!)])
  return {
    escaped: ['\\u0000', 'a\\u0000b', '\\ud83d', '\\uDE00\\uD83D'].map(piece => having(Buffer.from(piece))),
    raw: [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]].map(bytes => having(Buffer.from(bytes))),
  }
}

// Paths within a body ---------------------------------------------------------------------------------------------

type Tree = Record<string, unknown>

const stepsOf = (path: string) => path.split(/[.[\]]+/).filter(step => step !== '')

export function valueAt(body: object, path: string): unknown {
  return stepsOf(path).reduce<unknown>((at, step) => (at as Tree | undefined)?.[step], body)
}

export function withValue(body: object, path: string, value: unknown): object {
  const copy = structuredClone(body) as Tree
  const steps = stepsOf(path)
  const last = steps.pop()!
  const parent = steps.reduce<Tree>((at, step) => at[step] as Tree, copy)
  parent[last] = value
  return copy
}

export function without(body: object, path: string): object {
  const copy = structuredClone(body) as Tree
  const steps = stepsOf(path)
  const last = steps.pop()!
  delete steps.reduce<Tree>((at, step) => at[step] as Tree, copy)[last]
  return copy
}

function shown(value: unknown): string {
  if (value === QUOTED) return 'as a string'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 40)}... (${text.length} characters)` : text
}
