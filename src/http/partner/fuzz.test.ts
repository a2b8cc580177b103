import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { usePartnerApi } from '../../testing/api.ts'
import { type Endpoint, endpoints } from '../../testing/conformance/endpoints.ts'
import { aWorld, type World } from '../../testing/conformance/world.ts'

/**
 * Whatever is sent, the answer is a success in its documented shape or `{error}` with a 4xx: never a 5xx, never a
 * word about our insides. A failure prints its seed and the shrunk request: give them to `fc.assert` to see it again.
 */

const RUNS = 120
const MOST_MS = 6_000
const limits = { numRuns: RUNS, interruptAfterTimeLimit: MOST_MS, endOnFailure: false }

const api = usePartnerApi()
let world: World

beforeAll(async () => {
  world = await aWorld(api)
})

// What is sent ----------------------------------------------------------------------------------------------------

/** Strings that have broken someone's server before. */
const nasty = fc.constantFrom(
  '',
  ' ',
  '\0',
  '\ud800',
  '\u2028',
  "'; drop table companies; --",
  '`id`',
  '{{7*7}}',
  '%00',
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
  '🌼'.repeat(300),
  'я'.repeat(5000),
)
const text = fc.oneof(nasty, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 1.5, 1e300, -1e300, 5e-324, 2 ** 31, 2 ** 53, 2 ** 63, Number.MAX_SAFE_INTEGER),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const json = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(text, number, fc.boolean(), fc.constant(null)) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
)

const paramText = fc.oneof(text, number.map(String), fc.constantFrom('1', '2', '10', 'true', 'null', '[]', '%'))

const endpoint = fc.constantFrom(...endpoints)
/** What is not JSON is sent as bytes with any content type. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map(array => Buffer.from(array)),
  text.map(value => Buffer.from(value)),
)
const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'text/plain',
  '/',
  ';',
)
const headerText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)), maxLength: 300 }),
  fc.string({ unit: fc.integer({ min: 0x80, max: 0xff }).map(code => String.fromCharCode(code)), maxLength: 20 }),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'idempotency-key',
    'accept',
    'accept-encoding',
    'x-forwarded-for',
    'host',
    'expect',
    'range',
    'cookie',
  ),
  headerText,
  { maxKeys: 3 },
)

/** One change to a good body: a field replaced, added, removed or repeated deep inside. */
type Change = { at: number; to: unknown; how: 'replace' | 'add' | 'remove' | 'wrap' }
const changes = fc.array(
  fc.record({ at: fc.nat(60), to: json, how: fc.constantFrom('replace', 'add', 'remove', 'wrap') }),
  { minLength: 1, maxLength: 3 },
) as fc.Arbitrary<Change[]>

type Tree = Record<string, unknown>

function changed(good: object, wanted: Change[]): object {
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

// How it is sent and what must come back --------------------------------------------------------------------------

type Request = { endpoint: Endpoint; id?: string; query?: string; body?: Buffer; headers?: object; token?: string }

async function send({ endpoint, id, query, body, headers, token }: Request) {
  const path = endpoint.path.replace('{id}', id ?? String(endpoint.id?.(world.mine)))
  const search = query ?? new URLSearchParams(Object.entries(endpoint.query?.(world.mine) ?? {}) as never).toString()
  const seen = api.errors.length
  const answer = await api.call({
    method: endpoint.method,
    path: `${path}${search && `?${search}`}`,
    ...(body ? { body } : {}),
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers } as Record<string, string>,
    token: token ?? world.mine.partner.token,
  })
  expectCivil(answer)
  expect(api.errors.slice(seen)).toEqual([])
  return answer
}

/** `api.call` has already held a success to the served document. */
function expectCivil({ status, body, text }: { status: number; body: { error?: { code: number } }; text: string }) {
  expect(status).toBeLessThan(500)
  expect(text).not.toMatch(insides)
  if (status < 300) {
    expect(body).not.toHaveProperty('error')
  } else {
    expect(body).toEqual({ error: { code: expect.any(Number), msg: expect.any(String) } })
    expect(Math.floor(body.error!.code / 10)).toBe(status)
  }
}

const insides = /\bat \S+ \(|\.ts:\d|node_modules|PostgresError|syntax error at|relation "|insert into|select .* from/i

const bodied = fc.constantFrom(...endpoints.filter(({ body }) => body))

test('good bodies with something changed', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(bodied, changes, async (endpoint, wanted) => {
      await send({ endpoint, body: Buffer.from(JSON.stringify(changed(endpoint.body!(world.mine), wanted))) })
    }),
    { ...limits, numRuns: RUNS * 4 },
  ),
)

test('any JSON at all', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(endpoint, json, async (endpoint, body) => {
      await send({ endpoint, body: Buffer.from(JSON.stringify(body)) })
    }),
    limits,
  ),
)

test('any bytes with any content type', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(endpoint, bytes, contentType, async (endpoint, body, type) => {
      await send({ endpoint, body, headers: { 'content-type': type } })
    }),
    limits,
  ),
)

test('any query', { timeout: 60_000 }, () => {
  const names = endpoints.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name))
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: text })
  const pairs = fc.array(fc.tuple(name, paramText), { maxLength: 6 })
  const raw = fc.oneof(
    { weight: 4, arbitrary: pairs.map(list => new URLSearchParams(list).toString()) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('&&&', '=', '%', '%zz=%zz', 'page', 'page[]=1', 'page[a]=1', '__proto__=1'),
    },
  )
  return fc.assert(
    fc.asyncProperty(endpoint, raw, async (endpoint, query) => {
      await send({ endpoint, query })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('a good query with one value changed', { timeout: 60_000 }, () => {
  const asked = endpoints.flatMap(endpoint => (endpoint.parameters ?? []).map(({ name }) => ({ endpoint, name })))
  return fc.assert(
    fc.asyncProperty(fc.constantFrom(...asked), paramText, async ({ endpoint, name }, value) => {
      const good = endpoint.query!(world.mine) as Record<string, string>
      await send({ endpoint, query: new URLSearchParams({ ...good, [name]: value }).toString() })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('any id in the path', { timeout: 60_000 }, () => {
  const byId = fc.constantFrom(...endpoints.filter(({ id }) => id))
  // A dot or two would be taken as steps of the path before they are sent.
  const id = fc
    .oneof(
      paramText.map(value => encodeURIComponent(value.toWellFormed())),
      fc.constantFrom('%', '%ff', '%2f', ';', '*', ':id', '%00', '1%00', '0x1', '1e0'),
    )
    .filter(value => !/^\.{0,2}$/.test(value))
  return fc.assert(
    fc.asyncProperty(byId, id, async (endpoint, id) => {
      await send({ endpoint, id, query: '' })
    }),
    limits,
  )
})

test('any headers', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(endpoint, headers, async (endpoint, headers) => {
      const body = endpoint.body && Buffer.from(JSON.stringify(endpoint.body(world.mine)))
      await send({ endpoint, headers, ...(body ? { body } : {}) })
    }),
    limits,
  ),
)

test('anything without a valid token is 401, except where a token is asked for', { timeout: 60_000 }, () => {
  const guarded = fc.constantFrom(...endpoints.filter(({ path }) => path !== '/auth/token'))
  return fc.assert(
    fc.asyncProperty(guarded, headerText, json, paramText, async (endpoint, authorization, body, value) => {
      const answer = await send({
        endpoint,
        query: new URLSearchParams({ companyId: value, page: value }).toString(),
        body: Buffer.from(JSON.stringify(body)),
        headers: authorization === '' ? {} : { authorization },
        token: '',
      })
      expect(answer.status).toBe(401)
      expect([4010, 4012]).toContain(answer.body.error.code)
    }),
    limits,
  )
})

test('any path', { timeout: 60_000 }, () => {
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH') as fc.Arbitrary<'GET'>
  const step = fc.oneof(
    fc.constantFrom('company', 'senders', 'dispatches', 'messages', 'documents', 'start', '1', '', '.', '..'),
    text.map(value => encodeURIComponent(value.toWellFormed())),
  )
  return fc.assert(
    fc.asyncProperty(method, fc.array(step, { maxLength: 4 }), async (method, steps) => {
      const path = `/${steps.join('/')}`
      const response = await api.app.inject({
        method,
        url: `/partner/v1${path}`,
        headers: { authorization: `Bearer ${world.mine.partner.token}` },
      })
      expect(response.headers['content-type']).toMatch(/json/)
      expectCivil({ status: response.statusCode, body: response.json(), text: response.body })
    }),
    limits,
  )
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
