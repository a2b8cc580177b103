import { beforeAll, describe, expect, test } from 'vitest'
import { keyTypes } from '../../domain/keys/key.ts'
import { formOf } from '../../testing/api.ts'
import type { Field } from '../../testing/conformance/endpoints.ts'
import { cascadeDispatch, plainDispatch, recipients } from '../../testing/conformance/messaging-dispatch.ts'
import {
  type MessagingEndpoint,
  messagingEndpoints,
  nameOf,
  taken,
} from '../../testing/conformance/messaging-endpoints.ts'
import {
  cascadeFields,
  commonFields,
  messageFields,
  messageRows,
} from '../../testing/conformance/messaging-messages.ts'
import { aMessagingWorld, type MessagingSide, type MessagingWorld } from '../../testing/conformance/messaging-world.ts'
import {
  asQuery,
  bodyMutations,
  noJsonLike,
  noTextsAt,
  otherContentTypes,
  queryMutations,
  without,
  withValue,
} from '../../testing/conformance/mutations.ts'
import { useTraces } from '../../testing/conformance/traces.ts'
import { UNKNOWN_ID } from '../../testing/conformance/world.ts'
import { aKey, type MessagingCall, useMessagingApi } from '../../testing/messaging-api.ts'

/**
 * Every endpoint in the table and every input: a refusal has the right code, names the
 * field, and leaves no trace in any table.
 */

const api = useMessagingApi()
const { expectNoTraceOf, mayChange } = useTraces(api)
let world: MessagingWorld

beforeAll(async () => {
  world = await aMessagingWorld(api.sql)
})

const rows = messagingEndpoints.map(endpoint => [nameOf(endpoint), endpoint] as const)
const withBody = rows.filter(([, { body }]) => body)
const withJson = withBody.filter(([, { form }]) => !form)
const withId = rows.filter(([, { id }]) => id)
const json = { 'content-type': 'application/json' }

type Change = { side?: MessagingSide; id?: string; query?: string; body?: unknown; key?: string; headers?: object }

/** A good request to the endpoint, as far as the change leaves it good. */
function requestOf(endpoint: MessagingEndpoint, change: Change = {}): MessagingCall {
  const side = change.side ?? world.mine
  const query = change.query ?? asQuery(Object.entries(endpoint.query ?? {}))
  const body = 'body' in change ? change.body : endpoint.body?.(side)
  const sent = body === undefined ? undefined : sentAs(endpoint, body instanceof Buffer ? body : JSON.stringify(body))
  return {
    method: endpoint.method,
    path: `${endpoint.path.replace('{id}', change.id ?? String(endpoint.id?.(side)))}${query}`,
    key: change.key ?? side.keys[endpoint.types[0]!],
    ...(sent ? { body: sent.body } : {}),
    headers: { ...sent?.headers, ...change.headers },
  }
}

const sentAs = ({ form }: MessagingEndpoint, content: string | Buffer) =>
  form ? formOf({ name: 'body', content }) : { body: content, headers: json }

/** Sends a request that must be refused and change no table. */
async function expectRefused(call: MessagingCall, status: number, code: number, msg: string | RegExp = /./) {
  await expectNoTraceOf(`${call.method} ${call.path} ${String(call.body).slice(0, 500)}`)
  const answer = await api.call(call)
  expect(answer.body).toEqual({ error: { code, msg: expect.stringMatching(msg) } })
  expect(answer.status).toBe(status)
}

/** Sends a request that may change something. */
async function send(call: MessagingCall) {
  await mayChange()
  return api.call(call)
}

const startingWith = (path: string) => new RegExp(`^${path.replaceAll(/[.[\]]/g, '\\$&')}(:|\\[|\\.)`)
const endpointCalled = (name: string) => messagingEndpoints.find(endpoint => nameOf(endpoint) === name)!

describe('the tables', () => {
  type Schema = {
    $ref?: string
    anyOf?: Schema[]
    oneOf?: Schema[]
    allOf?: Schema[]
    items?: Schema
    properties?: Record<string, Schema>
  }
  type Operation = {
    parameters?: { in: string; name: string }[]
    requestBody?: { content: Record<string, { schema: Schema }> }
    description: string
  }
  type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }
  let document: Document

  beforeAll(async () => {
    document = (await api.app.inject('/docs/messaging.json')).json()
  })

  /** Each field once, whichever of several forms has it. */
  const fieldsIn = (schema: Schema) => [...new Set(pathsIn(schema))].sort()

  function pathsIn({ $ref, anyOf = [], oneOf = [], allOf = [], items, properties = {} }: Schema, path = ''): string[] {
    if ($ref) return pathsIn(document.components.schemas[$ref.split('/').at(-1)!]!, path)
    const inForms = [...anyOf, ...oneOf, ...allOf].flatMap(form => pathsIn(form, path))
    const inItems = items ? pathsIn(items, `${path}[]`) : []
    const inside = Object.entries(properties).flatMap(([name, inner]) =>
      pathsIn(inner, path ? `${path}.${name}` : name),
    )
    return [...(path ? [path] : []), ...inForms, ...inItems, ...inside]
  }

  const pathsOf = (fields: Field[]) => [...new Set(fields.map(({ path }) => path.replaceAll(/\[\d+\]/g, '[]')))].sort()
  const jsonOf = (path: string) => document.paths[path]!.post!.requestBody!.content['application/json']!.schema

  test.each(rows)('%s has every input that the served document describes, and no other', (_, endpoint) => {
    const operation = document.paths[endpoint.path]![endpoint.method.toLowerCase()]!
    const parameters = (operation.parameters ?? []).filter(one => one.in === 'query' && one.name !== 'strict')
    expect(parameters.map(({ name }) => name).sort()).toEqual(
      (endpoint.parameters ?? []).map(({ name }) => name).sort(),
    )

    const content = operation.requestBody?.content ?? {}
    const schema = endpoint.form
      ? content['multipart/form-data']!.schema.properties!.body!
      : (content['application/json']?.schema ?? {})
    expect(fieldsIn(schema)).toEqual(pathsOf(endpoint.fields ?? []))
    expect(operation.description).toContain(`Takes a key of the type ${endpoint.types.join(' or ')}.`)
  })

  const contents = messageRows.flatMap(row => row.fields)
  const inStep = [...cascadeFields, ...contents.map(field => ({ ...field, path: `cascade[0].${field.path}` }))]

  test.each([
    ['/message', [...messageRows.flatMap(messageFields), ...contents]],
    ['/message/cascade', [...commonFields, ...inStep]],
    ['/dispatch', [...plainDispatch.fields!, ...cascadeDispatch.fields!, ...inStep]],
    ['/dispatch/{id}/messages', recipients.fields!.filter(({ path }) => !path.includes('substitutions.'))],
  ])('POST %s has every input that the served document describes, and no other', (path, fields) => {
    const schema = jsonOf(path)
    const forms = schema.oneOf ?? schema.anyOf
    const single = forms?.[0] ?? schema
    expect(fieldsIn(single)).toEqual(pathsOf(fields).flatMap(path => path.replace(/^\[\]\.?/, '') || []))
    if (forms) expect(fieldsIn(forms[1]!.items!)).toEqual(fieldsIn(single))
  })
})

describe.each(rows)('%s', (_, endpoint) => {
  const { method, path, status, fields = [], parameters = [] } = endpoint
  const described = { method, path, status, fields, parameters }
  const optional = fields.filter(field => !field.required && !field.path.endsWith(']'))

  test('the good request succeeds, under every prefix', async () => {
    for (const prefix of ['/api/v1', '/v1', '/api/v1/v1'] as const) {
      expect((await send({ ...requestOf(endpoint), prefix })).status).toBe(status)
    }
  })

  if (endpoint.body)
    test('an unknown field is ignored', async () => {
      const body = { ...endpoint.body!(world.mine), noSuchField: { deep: [1] } }
      expect((await send(requestOf(endpoint, { body }))).status).toBe(status)
    })

  if (method === 'GET')
    test('an unknown query parameter changes nothing', async () => {
      for (const pairs of [Object.entries(endpoint.query ?? {}), []]) {
        const plain = await send(requestOf(endpoint, { query: asQuery(pairs) }))
        const more = await send(requestOf(endpoint, { query: asQuery([...pairs, ['noSuchParameter', '1']]) }))
        expect([more.status, more.body]).toEqual([status, plain.body])
      }
    })

  test.each(optional.map(field => field.path))('%s may be left out', async path => {
    const body = without(endpoint.body!(world.mine), path)
    expect((await send(requestOf(endpoint, { body }))).status).toBe(status)
  })

  test.each(fields.filter(({ nullable }) => nullable).map(field => field.path))('%s may be null', async path => {
    const body = withValue(endpoint.body!(world.mine), path, null)
    expect((await send(requestOf(endpoint, { body }))).status).toBe(status)
  })

  const codeFor = (what: string) => endpoint.codes?.[what] ?? 4000
  const mutations = bodyMutations(described).map(one => [one.what, codeFor(one.what), one] as const)

  test.each(mutations)('%s is %s', async (_what, code, mutation) => {
    const body = mutation.body(endpoint.body!(world.mine))
    await expectRefused(requestOf(endpoint, { body }), 400, code, startingWith(mutation.names))
  })

  test.each(queryMutations(described).map(one => [one.what, one] as const))('%s is 4000', async (_what, mutation) => {
    const query = mutation.query(endpoint.query!)
    await expectRefused(requestOf(endpoint, { query }), 400, 4000, startingWith(mutation.names))
  })
})

describe('a value inside the bounds is accepted', () => {
  const inside = taken.flatMap(({ endpoint, path, values }) =>
    values.map(value => [`${endpoint} ${path} ${JSON.stringify(value).slice(0, 60)}`, endpoint, path, value] as const),
  )

  test.each(inside)('%s', async (_, name, path, value) => {
    const endpoint = endpointCalled(name)
    const change = endpoint.query
      ? { query: asQuery(Object.entries({ ...endpoint.query, [path]: value })) }
      : { body: withValue(endpoint.body!(world.mine), path, value) }
    const answer = await send(requestOf(endpoint, change))
    expect(answer.body).not.toHaveProperty('error')
    expect(answer.status).toBe(endpoint.status)
  })
})

describe('who may ask', () => {
  const NOT_AUTHENTICATED = /^Not Authenticated$/

  test.each(rows)('%s without a key is 4010, with any other mistake', async (_, endpoint) => {
    const { key: _key, ...call } = requestOf(endpoint)
    await expectRefused(call, 401, 4010, NOT_AUTHENTICATED)
    const { key: _other, ...bad } = requestOf(endpoint, { id: String(UNKNOWN_ID), query: '?page=0', body: 'no object' })
    await expectRefused(bad, 401, 4010, NOT_AUTHENTICATED)
  })

  test.each(rows)('%s with an unknown key is 4010', async (_, endpoint) => {
    await expectRefused(requestOf(endpoint, { key: 'bm9ib2R5OnNlY3JldA==' }), 401, 4010, NOT_AUTHENTICATED)
  })

  test.each(rows)('%s with a header of no known form is 4012', async (_, endpoint) => {
    const { key: _key, ...call } = requestOf(endpoint, { headers: { authorization: 'Token abc' } })
    await expectRefused(call, 401, 4012, /^Bad credentials$/)
  })

  test.each(rows)('%s from an address outside the list is 4013', async (_, endpoint) => {
    await mayChange()
    const { key } = await aKey(api.sql, world.mine.companyId, endpoint.types[0]!, { addresses: ['192.0.2.0/24'] })
    await expectRefused({ ...requestOf(endpoint, { key }), address: '198.51.100.7' }, 401, 4013, /^IP not allowed$/)
  })

  const closed = rows.flatMap(([name, endpoint]) =>
    keyTypes.filter(type => !endpoint.types.includes(type)).map(type => [name, type, endpoint] as const),
  )

  test.each(closed)('%s with a key of the type %s is 4030, with any other mistake', async (_, type, endpoint) => {
    const key = world.mine.keys[type]
    await expectRefused(requestOf(endpoint, { key }), 403, 4030, /^Access Denied$/)
    const bad = { key, id: String(UNKNOWN_ID), query: '?page=0', body: 'no object' }
    await expectRefused(requestOf(endpoint, bad), 403, 4030, /^Access Denied$/)
  })

  test.each(keyTypes)('the error codes are there for a key of the type %s', async type => {
    const call = requestOf(endpointCalled('GET /references/error-codes'), { key: world.mine.keys[type] })
    expect((await send(call)).status).toBe(200)
  })
})

describe('an object of another company, or one without an owner', () => {
  const noIds = ['abc', '0', '-1', '1.5', '9007199254740992', '1a', '%20', 'null', '%00', '%ff', '1,2', '1e0', '+1']

  test.each(withId)('%s with something else for the id is 4040', async (_, endpoint) => {
    for (const id of noIds) await expectRefused(requestOf(endpoint, { id }), 404, 4040)
  })

  test.each(withId)('%s of another company, or with an unknown id, is 4040 with the same text', async (_, endpoint) => {
    const unknown = await send(requestOf(endpoint, { id: String(UNKNOWN_ID) }))
    const words = new RegExp(`^${unknown.body.error.msg}$`)
    for (const id of [endpoint.id!(world.foreign), UNKNOWN_ID, Number.MAX_SAFE_INTEGER]) {
      await expectRefused(requestOf(endpoint, { id: String(id) }), 404, 4040, words)
    }
  })

  test.each([
    ['POST /sender-names', 'documentIds', (side: MessagingSide) => [side.documentId]],
    ['POST /sender-names as a form', 'documentIds', (side: MessagingSide) => [side.documentId]],
    ['PUT /sender-names/{id}', 'documentIds', (side: MessagingSide) => [side.documentId]],
    ['POST /templates', 'senderNameId', (side: MessagingSide) => side.messengerNameId],
    ['PUT /templates/{id}', 'senderNameId', (side: MessagingSide) => side.messengerNameId],
  ])("%s with another company's %s is 4000", async (name, path, idOf) => {
    const endpoint = endpointCalled(name)
    const body = withValue(endpoint.body!(world.mine), path, idOf(world.foreign))
    await expectRefused(requestOf(endpoint, { body }), 400, 4000, startingWith(path))
  })

  test.each([
    ['another company', (foreign: MessagingSide) => foreign.flashcallUuid],
    ['no message', () => '0198c5a0-0000-7000-8000-000000000000'],
    ['no message, with a time before the first month', () => '00000000-0000-0000-0000-000000000000'],
  ])('the result of a flash call of %s is 4040', async (_, uuidOf) => {
    const endpoint = endpointCalled('POST /flashcall-conversion')
    const body = { ...endpoint.body!(world.mine), messageUuid: uuidOf(world.foreign) }
    await expectRefused(requestOf(endpoint, { body }), 404, 4040, /^Message not found$/)
  })

  test.each([
    ['DELETE', '/sender-names/1'],
    ['POST', '/sender-names/1'],
    ['PUT', '/sender-names'],
    ['PATCH', '/templates/1'],
    ['POST', '/references/error-codes'],
    ['GET', '/flashcall-conversion'],
    ['GET', '/subscribers'],
  ] as const)('%s %s is 4050', async (method, path) => {
    await expectRefused({ method, path, key: world.mine.keys.ENTITY }, 405, 4050)
  })

  test.each([
    ['GET', '/Templates'],
    ['GET', '/references'],
  ] as const)('%s %s is 4040', async (method, path) => {
    await expectRefused({ method, path, key: world.mine.keys.ENTITY }, 404, 4040)
  })
})

describe('bodies', () => {
  test.each(withBody)('%s refuses a body that is no JSON', async (_, endpoint) => {
    const good = JSON.stringify(endpoint.body!(world.mine))
    for (const text of noJsonLike(good)) {
      await expectRefused(requestOf(endpoint, { body: Buffer.from(text) }), 400, 4000, /^body: /)
    }
  })

  test.each(withBody)('%s refuses JSON that is no object', async (_, endpoint) => {
    for (const body of [[], [{}], 'text', 5, true, null]) {
      await expectRefused(requestOf(endpoint, { body }), 400, 4000, /^body: /)
    }
  })

  test.each(withBody)('%s refuses a missing and an empty body', async (_, endpoint) => {
    await expectRefused(requestOf(endpoint, { body: undefined }), 400, 4000, /^body: /)
    await expectRefused(requestOf(endpoint, { body: Buffer.alloc(0) }), 400, 4000, /^body: /)
  })

  test.each(withJson)('%s refuses another content type', async (_, endpoint) => {
    for (const type of otherContentTypes) {
      await expectRefused(requestOf(endpoint, { headers: { 'content-type': type } }), 400, 4000, /^Content-Type: /)
    }
  })

  const texts = withBody.flatMap(([name, endpoint]) =>
    endpoint
      .fields!.filter(({ kind }) => kind === 'string' || kind === 'scalar')
      .map(({ path }) => [name, path, endpoint] as const),
  )

  test.each(texts)('%s refuses a NUL, half a surrogate pair and broken UTF-8 in %s', async (_, path, endpoint) => {
    const { escaped, raw } = noTextsAt(endpoint.body!(world.mine), path)
    for (const body of escaped) await expectRefused(requestOf(endpoint, { body }), 400, 4000, startingWith(path))
    for (const body of raw) await expectRefused(requestOf(endpoint, { body }), 400, 4000, /^body: /)
  })

  test.each(withJson)('%s refuses more than its limit', async (_, endpoint) => {
    const body = { ...endpoint.body!(world.mine), noSuchField: 'x'.repeat(17 * 1024 * 1024) }
    await expectRefused(requestOf(endpoint, { body }), 413, 4130, /[KM]iB$/)
  })
})

test('no request above caused an internal error', () => {
  expect(api.errors).toEqual([])
})
