import fc from 'fast-check'

/** Random input: texts, numbers and JSON of every kind, and valid bodies with one change. */

/** Strings that often break servers. */
const nasty = fc.constantFrom(
  '',
  ' ',
  '\0',
  '\ud800',
  '\u2028',
  "'; drop table senders; --",
  '`id`',
  '{{7*7}}',
  '%00',
  '%w{1,99999999}',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '-0',
  '1e999',
  '9999999999999999999999',
  '2026-07-01T10:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '0001-01-01T00:00:00+14:00',
  '79160000001',
  '00000000-0000-0000-0000-000000000000',
  '🌼'.repeat(300),
  'я'.repeat(5000),
)

export const anyText = fc.oneof(nasty, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))

export const anyNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 1.5, 1e300, -1e300, 5e-324, 2 ** 31, 2 ** 53, 2 ** 63, Number.MAX_SAFE_INTEGER),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

export const anyJson = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(anyText, anyNumber, fc.boolean(), fc.constant(null)) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
)

export const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map(array => Buffer.from(array)),
  anyText.map(value => Buffer.from(value)),
)

/** A value of a query or a path. */
export const anyParameter = fc.oneof(
  anyText,
  anyNumber.map(String),
  fc.constantFrom('1', '2', '10', 'true', 'null', '[]', '%'),
)

/** Values of a header that HTTP itself accepts. */
export const anyHeader = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
    .map(code => String.fromCharCode(code)),
  maxLength: 300,
})

export const anyContentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'text/plain',
  '/',
  ';',
)

/** One change of a valid body: a field replaced, added, removed or wrapped, at any depth. */
export type BodyChange = { at: number; to: unknown; how: 'replace' | 'add' | 'remove' | 'wrap' }

export const someChanges = fc.array(
  fc.record({ at: fc.nat(60), to: anyJson, how: fc.constantFrom('replace', 'add', 'remove', 'wrap') }),
  { minLength: 1, maxLength: 3 },
) as fc.Arbitrary<BodyChange[]>

type Tree = Record<string, unknown>

export function changed(good: object, wanted: BodyChange[]): object {
  const body = structuredClone(good) as Tree
  for (const { at, to, how } of wanted) {
    const places = placesIn(body)
    if (places.length === 0) continue
    const [parent, key] = places[at % places.length]!
    if (how === 'replace') parent[key] = to
    if (how === 'add') parent[`${key}2`] = to
    if (how === 'remove') delete parent[key]
    if (how === 'wrap') parent[key] = [parent[key]]
  }
  return body
}

function placesIn(tree: Tree): [Tree, string][] {
  return Object.keys(tree).flatMap(key => {
    const inner = tree[key]
    const deeper = inner !== null && typeof inner === 'object' ? placesIn(inner as Tree) : []
    return [[tree, key] as [Tree, string], ...deeper]
  })
}
