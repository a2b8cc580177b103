import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { formOf } from '../../testing/api.ts'
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
import { type MessagingEndpoint, messagingEndpoints } from '../../testing/conformance/messaging-endpoints.ts'
import { aMessagingWorld, type MessagingWorld } from '../../testing/conformance/messaging-world.ts'
import { PDF } from '../../testing/conformance/world.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'

/**
 * The answer to every request is a success in its documented shape or `{error}` with a 4xx: never a 5xx, never a
 * word about our insides. A failure prints its seed and the shrunk request: give them to `fc.assert` to see it again.
 */

const RUNS = 120
const limits = { numRuns: RUNS, interruptAfterTimeLimit: 6_000, endOnFailure: false }

const api = useMessagingApi()
let world: MessagingWorld

beforeAll(async () => {
  world = await aMessagingWorld(api.sql)
})

const endpoint = fc.constantFrom(...messagingEndpoints)
const bodied = fc.constantFrom(...messagingEndpoints.filter(({ body }) => body))
type Request = {
  endpoint: MessagingEndpoint
  id?: string
  query?: string
  body?: Buffer
  headers?: object
  key?: string
}

async function send({ endpoint, id, query, body, headers, key }: Request) {
  const path = endpoint.path.replace('{id}', id ?? String(endpoint.id?.(world.mine)))
  const search = query ?? new URLSearchParams((endpoint.query ?? {}) as Record<string, string>).toString()
  const seen = api.errors.length
  const answer = await api.call({
    method: endpoint.method,
    path: `${path}${search && `?${search}`}`,
    ...(body ? { body } : {}),
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers } as Record<string, string>,
    ...(key === '' ? {} : { key: world.mine.keys[endpoint.types[0]!] }),
  })
  expectCivil(answer)
  expect(api.errors.slice(seen)).toEqual([])
  return answer
}

const asJson = (value: unknown) => Buffer.from(JSON.stringify(value))
const inForm = (content: string | Buffer) => formOf({ name: 'body', content })

function sendBody(endpoint: MessagingEndpoint, body: unknown) {
  const form = endpoint.form ? inForm(asJson(body)) : { body: asJson(body), headers: {} }
  return send({ endpoint, ...form })
}

test('good bodies with something changed', () =>
  fc.assert(
    fc.asyncProperty(bodied, someChanges, async (endpoint, wanted) => {
      await sendBody(endpoint, changed(endpoint.body!(world.mine), wanted))
    }),
    { ...limits, numRuns: RUNS * 4 },
  ))

test('any JSON at all', () =>
  fc.assert(
    fc.asyncProperty(endpoint, anyJson, async (endpoint, body) => {
      await sendBody(endpoint, body)
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

test('any form', () => {
  const register = messagingEndpoints.find(({ form }) => form)!
  // Names stand between quotes in the form's own lines.
  const name = fc.oneof(fc.constantFrom('body', 'file', 'file1', 'file2', '__proto__'), anyText).map(quotable)
  const content = fc.oneof(anyBytes, fc.constant(PDF))
  const part = fc.record({ name, content }, { requiredKeys: ['name', 'content'] })
  const file = fc.record({ name, filename: anyText.map(quotable), type: anyHeader, content })
  return fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(part, file), { maxLength: 5 }), fc.boolean(), async (parts, withBody) => {
      const body = { name: 'body', content: asJson(register.body!(world.mine)) }
      await send({ endpoint: register, ...formOf(...(withBody ? [body] : []), ...parts) })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

const quotable = (text: string) => text.replaceAll(/["\r\n]/g, '')

test('any query', () => {
  const names = messagingEndpoints.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name))
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: anyText })
  const raw = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .array(fc.tuple(name, anyParameter), { maxLength: 6 })
        .map(list => String(new URLSearchParams(list))),
    },
    { weight: 1, arbitrary: fc.constantFrom('&&&', '=', '%', '%zz=%zz', 'page', 'page[]=1', '__proto__=1') },
  )
  return fc.assert(
    fc.asyncProperty(endpoint, raw, async (endpoint, query) => {
      await send({ endpoint, query })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('a good query with one value changed', () => {
  const asked = messagingEndpoints.flatMap(endpoint =>
    (endpoint.parameters ?? []).map(({ name }) => ({ endpoint, name })),
  )
  return fc.assert(
    fc.asyncProperty(fc.constantFrom(...asked), anyParameter, async ({ endpoint, name }, value) => {
      const good = endpoint.query as Record<string, string>
      await send({ endpoint, query: String(new URLSearchParams({ ...good, [name]: value })) })
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('any id in the path', () => {
  const byId = fc.constantFrom(...messagingEndpoints.filter(({ id }) => id))
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

test('any headers', () => {
  const names = fc.constantFrom('idempotency-key', 'accept', 'accept-encoding', 'x-forwarded-for', 'host', 'range')
  return fc.assert(
    fc.asyncProperty(endpoint, fc.dictionary(names, anyHeader, { maxKeys: 3 }), async (endpoint, headers) => {
      const body = endpoint.body && asJson(endpoint.body(world.mine))
      await send({ endpoint, headers, ...(body ? { body } : {}) })
    }),
    limits,
  )
})

test('anything without a valid key is 401', () =>
  fc.assert(
    fc.asyncProperty(endpoint, anyHeader, anyJson, anyParameter, async (endpoint, authorization, body, value) => {
      const answer = await send({
        endpoint,
        query: String(new URLSearchParams({ page: value, status: value })),
        body: asJson(body),
        headers: authorization === '' ? {} : { authorization },
        key: '',
      })
      expect(answer.status).toBe(401)
      expect([4010, 4012]).toContain(answer.body.error.code)
    }),
    limits,
  ))

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
