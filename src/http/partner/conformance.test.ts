import { beforeAll, describe, expect, test } from 'vitest'
import { changePassword } from '../../domain/partners/partners.ts'
import { type Call, formOf, usePartnerApi } from '../../testing/api.ts'
import { accepted, type Endpoint, endpoints } from '../../testing/conformance/endpoints.ts'
import {
  asQuery,
  bodyMutations,
  noJsonLike,
  noTextsAt,
  otherContentTypes,
  queryMutations,
  valueAt,
  without,
  withValue,
} from '../../testing/conformance/mutations.ts'
import { useTraces } from '../../testing/conformance/traces.ts'
import { aDispatch, aWorld, JPG, PDF, PNG, type Side, UNKNOWN_ID, type World } from '../../testing/conformance/world.ts'
import { aPartner, numberOf } from '../../testing/factories.ts'

/**
 * Every endpoint of the partner API and every input, compared with the specification: a wrong input is refused
 * with the right code, names the field, and leaves no trace in any table. The exact good answers and the rules behind
 * them are in conformance-behaviour.test.ts.
 */

const api = usePartnerApi()
const { expectNoTraceOf, mayChange } = useTraces(api, ['login_failures'])
let world: World

beforeAll(async () => {
  world = await aWorld(api)
})

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const guarded = endpoints.filter(({ path }) => path !== '/auth/token')
const withJson = endpoints.filter(({ body }) => body)
const withId = endpoints.filter(({ id }) => id)

type Change = { side?: Side; id?: string; query?: string; body?: unknown; token?: string; headers?: object }

/** A good request to the endpoint, as far as the change leaves it good. */
function requestOf(endpoint: Endpoint, change: Change = {}): Call {
  const side = change.side ?? world.mine
  const query = change.query ?? asQuery(Object.entries(endpoint.query?.(side) ?? {}))
  const form = endpoint.form ? formOf({ name: 'file', filename: 'charter.pdf', content: PDF }) : undefined
  const body = 'body' in change ? change.body : (form?.body ?? endpoint.body?.(side))
  const isJson = body !== undefined && !(body instanceof Buffer)
  return {
    method: endpoint.method,
    path: `${endpoint.path.replace('{id}', change.id ?? String(endpoint.id?.(side)))}${query}`,
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as Buffer) }),
    token: change.token ?? world.mine.partner.token,
    headers: { ...(isJson ? { 'content-type': 'application/json' } : form?.headers), ...change.headers },
  }
}

/** Sends a request that must be refused and change no table. */
async function expectRefused(call: Call, status: number, code: number, msg: string | RegExp = /./) {
  await expectNoTraceOf(`${call.method} ${call.path} ${String(call.body).slice(0, 500)}`)
  const answer = await api.call(call)
  expect(answer.body).toEqual({ error: { code, msg: expect.stringMatching(msg) } })
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toMatch(/^application\/json(;|$)/)
}

/** Sends a request that may change something. */
async function send(call: Call) {
  await mayChange()
  return api.call(call)
}

const startingWith = (path: string) => new RegExp(`^${path.replaceAll(/[.[\]]/g, '\\$&')}(:|\\[|\\.)`)
const exactly = (text: string) => new RegExp(`^${text}$`)

describe('the table of endpoints', () => {
  test('has every endpoint of the specification and of the decisions, and no other', () => {
    expect(endpoints.map(nameOf).sort()).toEqual(specified.toSorted())
  })

  test('has every input that the served document describes, and the other way round', async () => {
    const document: Document = (await api.app.inject('/docs/partner.json')).json()
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        endpoint: `${method.toUpperCase()} ${path.replace(/(.)\/$/, '$1')}`,
        parameters: (operation.parameters ?? [])
          .filter(parameter => parameter.in === 'query' && parameter.name !== 'strict')
          .map(parameter => parameter.name)
          .sort(),
        fields: fieldsIn(operation.requestBody?.content?.['application/json']?.schema ?? {}).sort(),
      })),
    )
    const known = endpoints.map(endpoint => ({
      endpoint: nameOf(endpoint),
      parameters: (endpoint.parameters ?? []).map(({ name }) => name).sort(),
      fields: (endpoint.fields ?? [])
        .map(({ path }) => path.replaceAll(/\[\d+\]/g, '[]'))
        .filter(path => !path.endsWith('substitutions.name'))
        .sort(),
    }))
    const byName = (a: { endpoint: string }, b: { endpoint: string }) => a.endpoint.localeCompare(b.endpoint)
    expect(described.sort(byName)).toEqual(known.sort(byName))
  })

  type Schema = { items?: Schema; properties?: Record<string, Schema> }
  type Operation = {
    parameters?: { in: string; name: string }[]
    requestBody?: { content: Record<string, { schema: Schema }> }
  }
  type Document = { paths: Record<string, Record<string, Operation>> }

  function fieldsIn(schema: Schema, path = ''): string[] {
    const own = path ? [path] : []
    const items = schema.items ? fieldsIn(schema.items, `${path}[]`) : []
    const inside = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      fieldsIn(inner, path ? `${path}.${name}` : name),
    )
    return [...own, ...items, ...inside]
  }

  const specified = [
    'POST /auth/token',
    'POST /company',
    'GET /company',
    'GET /company/{id}',
    'PUT /company/{id}',
    'POST /company/{id}/documents',
    'GET /company/{id}/documents',
    'POST /senders',
    'GET /senders',
    'GET /senders/{id}',
    'PUT /senders/{id}',
    'POST /senders/{id}/suspend',
    'POST /senders/{id}/unsuspend',
    'POST /dispatches',
    'POST /dispatches/{id}/messages',
    'POST /dispatches/{id}/start',
    'POST /dispatches/{id}/stop',
    'GET /dispatches',
    'GET /dispatches/{id}',
    'GET /dispatches/{id}/report',
    'GET /messages',
    'PUT /recipients',
    'GET /price/tariffs',
    'GET /price/senders',
  ]
})

describe.each(endpoints.map(endpoint => [nameOf(endpoint), endpoint] as const))('%s', (_, endpoint) => {
  const mutations = bodyMutations(endpoint)
  const queries = queryMutations(endpoint)
  const optional = (endpoint.fields ?? []).filter(({ path, required }) => !required && !path.endsWith(']'))

  test('the good request succeeds', async () => {
    expect((await send(requestOf(endpoint))).status).toBe(endpoint.status)
  })

  if (endpoint.body)
    test('an unknown field is ignored', async () => {
      const body = { ...endpoint.body!(world.mine), noSuchField: { deep: [1] } }
      expect((await send(requestOf(endpoint, { body }))).status).toBe(endpoint.status)
    })

  if (endpoint.method === 'GET')
    test('an unknown query parameter changes nothing', async () => {
      const good = Object.entries(endpoint.query?.(world.mine) ?? {})
      for (const pairs of [good, good.filter(([name]) => isRequired(name))]) {
        const plain = await send(requestOf(endpoint, { query: asQuery(pairs) }))
        const more = await send(requestOf(endpoint, { query: asQuery([...pairs, ['noSuchParameter', '1']]) }))
        expect([more.status, more.body]).toEqual([endpoint.status, plain.body])
      }
    })
  else if (endpoint.parameters)
    test('an unknown query parameter is ignored', async () => {
      const query = asQuery([...Object.entries(endpoint.query!(world.mine)), ['noSuchParameter', '1']])
      expect((await send(requestOf(endpoint, { query }))).status).toBe(endpoint.status)
    })

  const isRequired = (parameter: string) => endpoint.parameters!.find(({ name }) => name === parameter)!.required

  test.each(optional.map(({ path }) => path))('%s may be left out', async path => {
    const body = without(endpoint.body!(world.mine), path)
    expect((await send(requestOf(endpoint, { body }))).status).toBe(endpoint.status)
  })

  test.each(mutations.map(mutation => [mutation.what, mutation] as const))('%s is 4000', async (_what, mutation) => {
    const body = mutation.body(endpoint.body!(world.mine))
    await expectRefused(requestOf(endpoint, { body }), 400, 4000, startingWith(mutation.names))
  })

  test.each(queries.map(mutation => [mutation.what, mutation] as const))('%s is 4000', async (_what, mutation) => {
    const query = mutation.query(endpoint.query!(world.mine))
    await expectRefused(requestOf(endpoint, { query }), 400, 4000, startingWith(mutation.names))
  })
})

describe('a value inside the bounds is accepted', () => {
  const rows = accepted.flatMap(({ endpoint, path, values }) =>
    values.map(value => [`${endpoint} ${path} ${JSON.stringify(value)}`, endpoint, path, value] as const),
  )

  test.each(rows)('%s', async (_, name, path, value) => {
    const endpoint = endpoints.find(candidate => nameOf(candidate) === name)!
    const isParameter = endpoint.parameters?.some(({ name }) => name === path)
    const change = isParameter
      ? { query: asQuery(Object.entries({ ...endpoint.query!(world.mine), [path]: value })) }
      : { body: withValue(endpoint.body!(world.mine), path, value) }
    const answer = await send(requestOf(endpoint, change))
    expect(answer.body).not.toHaveProperty('error')
    expect(answer.status).toBe(endpoint.status)
  })

  test('a hundred thousand recipients are taken, one more is not', async () => {
    const { companyId, senderIds } = world.mine
    const messages = Array.from({ length: 100_000 }, () => ({ destination: numberOf.MTS }))
    const body = aDispatch(companyId, [senderIds.MTS], { messages })
    const create = endpoints.find(endpoint => nameOf(endpoint) === 'POST /dispatches')!
    const append = endpoints.find(endpoint => nameOf(endpoint) === 'POST /dispatches/{id}/messages')!

    const taken = await send(requestOf(create, { query: '?dryRun=true', body }))
    expect(taken.body).toMatchObject({ id: 0, total: 100_000, success: 100_000, failed: 0 })

    messages.push({ destination: numberOf.MTS })
    await expectRefused(requestOf(create, { body }), 400, 4000, /^messages: /)
    await expectRefused(requestOf(append, { body: { messages } }), 400, 4000, /^messages: /)
  })
})

describe('who may ask', () => {
  const NOT_AUTHENTICATED = exactly('Not Authenticated')
  const BAD_CREDENTIALS = exactly('Bad credentials')
  const rows = guarded.map(endpoint => [nameOf(endpoint), endpoint] as const)

  test.each(rows)('%s without a token is 4010', async (_, endpoint) => {
    await expectRefused({ ...requestOf(endpoint), token: '' }, 401, 4010, NOT_AUTHENTICATED)
  })

  test.each(rows)('%s with an unknown token is 4010', async (_, endpoint) => {
    await expectRefused(requestOf(endpoint, { token: 'no-such-token' }), 401, 4010, NOT_AUTHENTICATED)
  })

  test.each(rows)('%s with a header of no known form is 4012', async (_, endpoint) => {
    const headers = { authorization: 'Token abc' }
    await expectRefused({ ...requestOf(endpoint, { headers }), token: '' }, 401, 4012, BAD_CREDENTIALS)
  })

  test.each(rows)('%s without a token says nothing about a bad request', async (_, endpoint) => {
    const call = requestOf(endpoint, { id: String(UNKNOWN_ID), query: '?page=0', body: 'no object' })
    await expectRefused({ ...call, token: '' }, 401, 4010, NOT_AUTHENTICATED)
  })

  test.each(rows)('%s with a token issued before the password was changed is 4010', async (_, endpoint) => {
    const token = await revoked()
    await expectRefused(requestOf(endpoint, { token }), 401, 4010, NOT_AUTHENTICATED)
  })

  let revokedToken: string | undefined
  async function revoked() {
    if (revokedToken) return revokedToken
    await mayChange()
    const partner = await aPartner(api.sql)
    await changePassword(api.sql, partner.login, 'another horse')
    revokedToken = partner.token
    return revokedToken
  }

  test.each(['Bearer', 'Bearer ', 'abc', 'Digest username="demo"', 'Bearer two words', 'Basic', 'BearerX abc'])(
    'the header %o is 4012',
    async authorization => {
      const call = { method: 'GET', path: '/company', headers: { authorization } } as const
      await expectRefused(call, 401, 4012, BAD_CREDENTIALS)
    },
  )

  test.each(['Basic bm9ib2R5Om5vdGhpbmc=', 'Bearer bm9ib2R5', 'bearer unknown'])(
    'the header %o is 4010',
    async authorization => {
      const call = { method: 'GET', path: '/company', headers: { authorization } } as const
      await expectRefused(call, 401, 4010, NOT_AUTHENTICATED)
    },
  )

  test('a token lives for 24 hours and not longer', async () => {
    const { login, password } = world.mine.partner
    const issuedAt = new Date()
    const afterHours = (hours: number) => new Date(issuedAt.getTime() + hours * 3600_000)
    try {
      api.now = issuedAt
      const { token } = (await send({ method: 'POST', path: '/auth/token', body: { login, password } })).body
      const listCompanies = { method: 'GET', path: '/company', token } as const
      api.now = afterHours(23.999)
      expect((await send(listCompanies)).status).toBe(200)
      for (const hours of [24, 24.001, 48]) {
        api.now = afterHours(hours)
        await expectRefused(listCompanies, 401, 4010, NOT_AUTHENTICATED)
      }
    } finally {
      api.now = undefined
    }
  })

  test('a new password ends every earlier token, and gets a new one', async () => {
    await mayChange()
    const partner = await aPartner(api.sql)
    const ask = async (token: string) => (await send({ method: 'GET', path: '/company', token })).status
    const logIn = (password: string) =>
      send({ method: 'POST', path: '/auth/token', body: { login: partner.login, password }, address: '192.0.2.9' })

    const second = (await logIn(partner.password)).body.token
    expect([await ask(partner.token), await ask(second)]).toEqual([200, 200])
    await changePassword(api.sql, partner.login, 'another horse')
    expect([await ask(partner.token), await ask(second)]).toEqual([401, 401])
    expect((await logIn(partner.password)).body).toEqual({ error: { code: 4012, msg: 'Bad credentials' } })
    expect(await ask((await logIn('another horse')).body.token)).toBe(200)
  })

  test.each([
    ['an unknown login', { login: 'nobody-here', password: 'correct horse' }],
    ['an empty login', { login: '', password: 'correct horse' }],
    ['a login in capitals', { login: 'MINE', password: 'correct horse' }],
    ['a login too long for an index', { login: randomText(9_000), password: 'x' }],
    ['a wrong password', { login: 'mine', password: 'wrong' }],
    ['an empty password', { login: 'mine', password: '' }],
  ])('%s gets no token', async (_, body) => {
    const login = body.login === 'mine' ? world.mine.partner.login : body.login
    const call: Call = { method: 'POST', path: '/auth/token', body: { ...body, login }, address: '192.0.2.77' }
    await expectNoTraceOf(`a token for ${login.slice(0, 100)}`)
    const answer = await api.call(call)
    expect(answer.body).toEqual({ error: { code: expect.any(Number), msg: expect.any(String) } })
    if (answer.status !== 400) {
      expect([answer.status, answer.body]).toEqual([401, { error: { code: 4012, msg: 'Bad credentials' } }])
    }
  })

  test('a login of a million characters is not even read', async () => {
    const body = { login: 'x'.repeat(1_000_000), password: 'x' }
    await expectRefused({ method: 'POST', path: '/auth/token', body }, 413, 4130, /16 KiB/)
  })

  /** Text that does not compress, the same in every run. */
  function randomText(length: number) {
    let state = 1
    const next = () => (state = (state * 48_271) % 2_147_483_647)
    return Array.from({ length }, () => (next() % 36).toString(36)).join('')
  }
})

describe('an object of another partner, or one without an owner', () => {
  test.each(
    withId.flatMap(endpoint =>
      [
        'abc',
        '0',
        '-1',
        '1.5',
        '9007199254740992',
        '99999999999999999999',
        '1a',
        '%20',
        'null',
        '%00',
        '%ff',
        '1,2',
        'Infinity',
        '1e999',
        '0x1',
        '1e0',
        '%201',
        '+1',
        '1.0',
      ].map(id => [nameOf(endpoint), id, endpoint] as const),
    ),
  )('%s with %s for the id is 4040', async (_, id, endpoint) => {
    await expectRefused(requestOf(endpoint, { id }), 404, 4040)
  })

  test.each(withId.map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s with an unknown id is 4040',
    async (_, endpoint) => {
      await expectRefused(requestOf(endpoint, { id: String(UNKNOWN_ID) }), 404, 4040)
      await expectRefused(requestOf(endpoint, { id: String(Number.MAX_SAFE_INTEGER) }), 404, 4040)
    },
  )

  test.each(withId.map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s of another partner is 4040, in the same words',
    async (_, endpoint) => {
      const unknown = await send(requestOf(endpoint, { id: String(UNKNOWN_ID) }))
      const call = requestOf(endpoint, { id: String(endpoint.id!(world.foreign)) })
      await expectRefused(call, 404, 4040, exactly(unknown.body.error.msg))
    },
  )

  const withCompany = endpoints.flatMap(endpoint => {
    const inBody = endpoint.fields?.some(({ path }) => path === 'companyId')
    const inQuery = endpoint.parameters?.find(({ name }) => name === 'companyId' || name === 'dispatchId')
    return inBody || inQuery ? [[nameOf(endpoint), endpoint, inQuery?.name] as const] : []
  })

  test.each(withCompany)(
    '%s with a company or dispatch of another partner, or an unknown id, is 4040',
    async (...row) => {
      const [, endpoint, parameter] = row
      const { mine, foreign } = world
      for (const id of [parameter === 'dispatchId' ? foreign.dispatchId : foreign.companyId, UNKNOWN_ID]) {
        const change = parameter
          ? { query: asQuery(Object.entries({ ...endpoint.query!(mine), [parameter]: id })) }
          : { body: withValue(endpoint.body!(mine), 'companyId', id) }
        await expectRefused(requestOf(endpoint, change), 404, 4040)
      }
    },
  )

  test('the list of companies shows the own ones alone', async () => {
    const { body } = await send({
      method: 'GET',
      path: '/company?per_page=1000',
      token: world.foreign.partner.token,
    })
    expect(body.items.map((item: { companyId: number }) => item.companyId)).toEqual([world.foreign.companyId])
  })

  test.each([
    ['POST /senders', 'documentIds', (side: Side) => [side.documentId]],
    ['PUT /senders/{id}', 'documentIds', (side: Side) => [side.documentId]],
    ['POST /dispatches', 'senderIds', (side: Side) => [side.senderIds.MTS]],
  ])("%s with another partner's %s is 4000", async (name, path, idsOf) => {
    const endpoint = endpoints.find(candidate => nameOf(candidate) === name)!
    const own = valueAt(endpoint.body!(world.mine), path) as unknown[]
    for (const ids of [idsOf(world.foreign), [...own.slice(0, 1), ...idsOf(world.foreign)]]) {
      const body = withValue(endpoint.body!(world.mine), path, ids)
      await expectRefused(requestOf(endpoint, { body }), 400, 4000, startingWith(path))
    }
  })

  test.each([
    ['POST /senders', 'documentIds', ['0198c5a0-0000-7000-8000-000000000000']],
    ['PUT /senders/{id}', 'documentIds', ['0198c5a0-0000-7000-8000-000000000000']],
    ['POST /dispatches', 'senderIds', [UNKNOWN_ID]],
  ])('%s with %s that does not exist is 4000', async (name, path, ids) => {
    const endpoint = endpoints.find(candidate => nameOf(candidate) === name)!
    const body = withValue(endpoint.body!(world.mine), path, ids)
    await expectRefused(requestOf(endpoint, { body }), 400, 4000, startingWith(path))
  })

  test('a sender asked for under another company of the same partner is 4040', async () => {
    const { token } = world.mine.partner
    const company = endpoints.find(endpoint => nameOf(endpoint) === 'POST /company')!
    const { companyId } = (await send(requestOf(company))).body
    const path = `/senders/${world.mine.draftId}?companyId=${companyId}`
    await expectRefused({ method: 'GET', path, token }, 404, 4040)
  })

  test.each([
    ['GET', ''],
    ['GET', '/'],
    ['GET', '/companies'],
    ['GET', '/company/1/document'],
    ['POST', '/senders/1/suspended'],
    ['GET', '/Company'],
    ['GET', '/company//1'],
  ] as const)('%s %s is 4040', async (method, path) => {
    await expectRefused({ method, path, token: world.mine.partner.token }, 404, 4040)
  })

  test.each([
    ['GET', '/dispatches/1/messages'],
    ['GET', '/auth/token'],
    ['DELETE', '/company/1'],
    ['PATCH', '/company/1'],
    ['POST', '/company/1'],
    ['PUT', '/company'],
    ['PUT', '/dispatches/1'],
    ['DELETE', '/dispatches/1'],
    ['POST', '/messages'],
    ['GET', '/recipients'],
    ['POST', '/recipients'],
    ['POST', '/price/tariffs'],
    ['PUT', '/dispatches/1/start'],
    ['GET', '/dispatches/1/start'],
  ] as const)('%s %s is 4050', async (method, path) => {
    await expectRefused({ method, path, token: world.mine.partner.token }, 405, 4050)
  })
})

describe('bodies', () => {
  const rows = withJson.map(endpoint => [nameOf(endpoint), endpoint] as const)
  const needed = rows.filter(([, { bodyless }]) => !bodyless)
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  test.each(rows)('%s refuses a body that is no JSON', async (_, endpoint) => {
    const good = JSON.stringify(endpoint.body!(world.mine))
    for (const text of noJsonLike(good)) {
      await expectRefused(requestOf(endpoint, { body: Buffer.from(text), headers: json }), 400, 4000, /^body: /)
    }
  })

  test.each(rows)('%s refuses JSON that is no object', async (_, endpoint) => {
    for (const body of [[], [{}], 'text', 5, true]) {
      await expectRefused(requestOf(endpoint, { body, headers: json }), 400, 4000, /^body: /)
    }
  })

  test.each(needed)('%s refuses a missing, an empty and a null body', async (_, endpoint) => {
    await expectRefused(requestOf(endpoint, { body: undefined }), 400, 4000, /^body: /)
    await expectRefused(requestOf(endpoint, { body: Buffer.alloc(0), headers: json }), 400, 4000, /^body: /)
    await expectRefused(requestOf(endpoint, { body: Buffer.alloc(0), headers: form }), 400, 4000, /^body: /)
    await expectRefused(requestOf(endpoint, { body: Buffer.from('null'), headers: json }), 400, 4000, /^body: /)
  })

  test.each(rows)('%s refuses another content type', async (_, endpoint) => {
    for (const type of [...otherContentTypes, 'multipart/form-data']) {
      await expectRefused(requestOf(endpoint, { headers: { 'content-type': type } }), 400, 4000, /^Content-Type: /)
    }
  })

  test.each(rows)('%s takes a content type with a charset', async (_, endpoint) => {
    const headers = { 'content-type': 'Application/JSON; charset=UTF-8' }
    expect((await send(requestOf(endpoint, { headers }))).status).toBe(endpoint.status)
  })

  const texts = withJson.flatMap(endpoint =>
    endpoint
      .fields!.filter(({ kind }) => kind === 'string' || kind === 'scalar')
      .map(({ path }) => [nameOf(endpoint), path, endpoint] as const),
  )

  test.each(texts)('%s refuses a NUL, half a surrogate pair and broken UTF-8 in %s', async (_, path, endpoint) => {
    const { escaped, raw } = noTextsAt(endpoint.body!(world.mine), path)
    const refused = (body: Buffer, by: RegExp) =>
      expectRefused(requestOf(endpoint, { body, headers: json }), 400, 4000, by)
    for (const body of escaped) await refused(body, startingWith(path))
    for (const body of raw) await refused(body, /^body: /)
  })

  test('a NUL in the name of a substitution is refused', async () => {
    const append = endpoints.find(endpoint => nameOf(endpoint) === 'POST /dispatches/{id}/messages')!
    const body = { messages: [{ destination: numberOf.MTS, substitutions: { 'a\0b': 'x' } }] }
    await expectRefused(requestOf(append, { body }), 400, 4000)
  })

  test.each([
    ['plain', '1'],
    ['with a NUL', '"\\u0000"'],
    ['with half a surrogate pair', '"\\ud800"'],
    ['with a whole pair', '"\\ud83d\\ude00"'],
  ])('a body nested a hundred thousand levels deep, %s, is refused or ignored, never a crash', async (_, core) => {
    const nested = `${'['.repeat(100_000)}${core}${']'.repeat(100_000)}`
    const call = { method: 'PUT', path: `/company/${world.mine.companyId}`, token: world.mine.partner.token } as const
    for (const text of [nested, `{"noSuchField":${nested}}`, `{"name":${nested}}`]) {
      const { status } = await send({ ...call, body: Buffer.from(text), headers: json })
      expect([200, 400]).toContain(status)
    }
  })

  test.each(endpoints.filter(({ bodyless }) => bodyless).map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s takes no body, an empty one with any content type, and {}',
    async (_, endpoint) => {
      for (const change of [
        { body: undefined },
        { body: undefined, headers: json },
        { body: Buffer.alloc(0), headers: json },
        { body: Buffer.alloc(0), headers: { 'content-type': 'application/json; charset=utf-8' } },
        { body: Buffer.alloc(0), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        { body: Buffer.alloc(0), headers: { 'content-type': 'text/plain' } },
        { body: undefined, headers: { 'content-type': 'multipart/form-data' } },
        { body: Buffer.alloc(0), headers: { 'content-type': '' } },
        { body: {} },
      ]) {
        expect((await send(requestOf(endpoint, change))).status).toBe(200)
      }
    },
  )

  test.each(endpoints.filter(({ bodyless }) => bodyless).map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s refuses a body that is no object',
    async (_, endpoint) => {
      for (const body of [[], 'text', 5, false]) {
        await expectRefused(requestOf(endpoint, { body, headers: json }), 400, 4000, /^body: /)
      }
      await expectRefused(requestOf(endpoint, { body: Buffer.from('{'), headers: json }), 400, 4000, /^body: /)
    },
  )
})

describe('documents', () => {
  const LIMIT = 10 * 1024 * 1024
  const upload = (form: { body: Buffer; headers: Record<string, string> }): Call => ({
    method: 'POST',
    path: `/company/${world.mine.companyId}/documents`,
    token: world.mine.partner.token,
    ...form,
  })
  const file = (content: string | Buffer, filename = 'charter.pdf', name = 'file', type = 'application/pdf') =>
    formOf({ name, filename, type, content })
  const pdfOf = (sizeBytes: number) => Buffer.concat([PDF, Buffer.alloc(sizeBytes - PDF.length, 32)])

  test.each([
    ['PDF', PDF],
    ['JPG', JPG],
    ['PNG', PNG],
  ])('a %s file is accepted with any name and content type', async (_, content) => {
    const answer = await send(upload(file(content, 'file.txt', 'file', 'text/plain')))
    expect([answer.status, answer.body.filename]).toEqual([201, 'file.txt'])
  })

  test('a file of exactly 10 MB is taken', async () => {
    expect((await send(upload(file(pdfOf(LIMIT))))).status).toBe(201)
    const [stored] = await api.sql`select octet_length(content) as size from company_documents
      order by created_at desc limit 1`
    expect(stored!.size).toBe(LIMIT)
  })

  test('the stored bytes are equal to the uploaded bytes', async () => {
    const content = Buffer.concat([PNG, Buffer.from(Array.from({ length: 256 }, (_, i) => i))])
    const { id } = (await send(upload(file(content, 'scan.png')))).body
    const [stored] = await api.sql`select content, kind from company_documents where document_id = ${id}`
    expect(stored).toEqual({ content, kind: 'png' })
  })

  test.each([
    ['Устав общества.pdf', 'Устав общества.pdf'],
    ['C:\\\\scans\\\\charter.pdf', 'charter.pdf'],
    ['../../etc/charter.pdf', 'charter.pdf'],
  ])('the file name %s is kept as %s', async (sent, kept) => {
    expect((await send(upload(file(PDF, sent)))).body.filename).toBe(kept)
  })

  test('other parts beside the file are ignored', async () => {
    const form = formOf({ name: 'note', content: 'hello' }, { name: 'file', filename: 'charter.pdf', content: PDF })
    expect((await send(upload(form))).status).toBe(201)
  })

  test.each([
    ['one byte more than 10 MB', () => file(pdfOf(LIMIT + 1))],
    ['11 MB', () => file(pdfOf(11 * 1024 * 1024))],
    ['an empty file', () => file('')],
    ['a text named .pdf', () => file('just text', 'charter.pdf', 'file', 'application/pdf')],
    ['a GIF', () => file('GIF89a......', 'image.gif', 'file', 'image/gif')],
    ['a PDF that begins later', () => file(`\n${PDF}`)],
    ['half a PNG signature', () => file(PNG.subarray(0, 4), 'image.png')],
    ['a part of another name', () => file(PDF, 'charter.pdf', 'document')],
    ['a part that is no file', () => formOf({ name: 'file', content: PDF })],
    ['no part at all', () => formOf()],
    ['an empty body', () => ({ ...formOf(), body: Buffer.alloc(0) })],
    ['no boundary', () => ({ ...file(PDF), headers: { 'content-type': 'multipart/form-data' } })],
    ['a body that ends early', () => ({ ...file(PDF), body: file(PDF).body.subarray(0, 120) })],
    ['a body that is no form', () => ({ ...file(PDF), body: Buffer.from('no form') })],
    ['JSON', () => ({ body: Buffer.from('{"file":"x"}'), headers: { 'content-type': 'application/json' } })],
    ['another content type', () => ({ body: PDF, headers: { 'content-type': 'application/pdf' } })],
    ['no content type', () => ({ body: PDF, headers: {} })],
    ['too many parts', () => formOf(...Array.from({ length: 50 }, (_, i) => ({ name: `f${i}`, content: 'x' })))],
  ])('%s is 4000', async (_, form) => {
    await expectRefused(upload(form()), 400, 4000)
  })

  test('nothing at all is 4000', async () => {
    const { companyId, partner } = world.mine
    await expectRefused({ method: 'POST', path: `/company/${companyId}/documents`, token: partner.token }, 400, 4000)
  })
})

test('no request above caused an internal error', () => {
  expect(api.errors).toEqual([])
})
