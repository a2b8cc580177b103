import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { usePartnerApi } from '../../testing/api.ts'
import {
  anyBytes,
  anyContentType,
  anyHeader,
  anyJson,
  anyParameter,
  anyText,
  changed,
  someChanges,
} from '../../testing/conformance/arbitraries.ts'
import { expectCivil } from '../../testing/conformance/civil.ts'
import { type Endpoint, endpoints } from '../../testing/conformance/endpoints.ts'
import { aWorld, type World } from '../../testing/conformance/world.ts'

/**
 * The answer to every request is a success in its documented shape or `{error}` with a 4xx: never a 5xx, never a
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

const endpoint = fc.constantFrom(...endpoints)
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
  anyHeader,
  { maxKeys: 3 },
)

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

const bodied = fc.constantFrom(...endpoints.filter(({ body }) => body))

test('good bodies with something changed', () =>
  fc.assert(
    fc.asyncProperty(bodied, someChanges, async (endpoint, wanted) => {
      await send({ endpoint, body: Buffer.from(JSON.stringify(changed(endpoint.body!(world.mine), wanted))) })
    }),
    { ...limits, numRuns: RUNS * 4 },
  ))

test('any JSON at all', () =>
  fc.assert(
    fc.asyncProperty(endpoint, anyJson, async (endpoint, body) => {
      await send({ endpoint, body: Buffer.from(JSON.stringify(body)) })
    }),
    limits,
  ))

test('any bytes with any content type', () =>
  fc.assert(
    fc.asyncProperty(endpoint, anyBytes, anyContentType, async (endpoint, body, type) => {
      await send({ endpoint, body, headers: { 'content-type': type } })
    }),
    limits,
  ))

test('any query', () => {
  const names = endpoints.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name))
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: anyText })
  const pairs = fc.array(fc.tuple(name, anyParameter), { maxLength: 6 })
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

test('a good query with one value changed', () => {
  const asked = endpoints.flatMap(endpoint => (endpoint.parameters ?? []).map(({ name }) => ({ endpoint, name })))
  return fc.assert(
    fc.asyncProperty(fc.constantFrom(...asked), anyParameter, async ({ endpoint, name }, value) => {
      const good = endpoint.query!(world.mine) as Record<string, string>
      await send({ endpoint, query: new URLSearchParams({ ...good, [name]: value }).toString() })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('any id in the path', () => {
  const byId = fc.constantFrom(...endpoints.filter(({ id }) => id))
  // A dot or two would be taken as steps of the path before they are sent.
  const id = fc
    .oneof(
      anyParameter.map(value => encodeURIComponent(value.toWellFormed())),
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

test('any headers', () =>
  fc.assert(
    fc.asyncProperty(endpoint, headers, async (endpoint, headers) => {
      const body = endpoint.body && Buffer.from(JSON.stringify(endpoint.body(world.mine)))
      await send({ endpoint, headers, ...(body ? { body } : {}) })
    }),
    limits,
  ))

test('anything without a valid token is 401, except where a token is asked for', () => {
  const guarded = fc.constantFrom(...endpoints.filter(({ path }) => path !== '/auth/token'))
  return fc.assert(
    fc.asyncProperty(guarded, anyHeader, anyJson, anyParameter, async (endpoint, authorization, body, value) => {
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

test('any path', () => {
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH') as fc.Arbitrary<'GET'>
  const step = fc.oneof(
    fc.constantFrom('company', 'senders', 'dispatches', 'messages', 'documents', 'start', '1', '', '.', '..'),
    anyText.map(value => encodeURIComponent(value.toWellFormed())),
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
