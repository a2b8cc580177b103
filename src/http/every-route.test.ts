import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyType, keyTypes } from '../domain/keys/key.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { formOf, usePartnerApi } from '../testing/api.ts'
import { aPerson, CabinetBrowser, cabinetRoutes, staff } from '../testing/cabinet.ts'
import { aMessagingWorld, type MessagingSide } from '../testing/conformance/messaging-world.ts'
import { asQuery, withValue } from '../testing/conformance/mutations.ts'
import { useTraces } from '../testing/conformance/traces.ts'
import { aDispatch, aWorld, type Side as PartnerSide, PDF, printOfTables } from '../testing/conformance/world.ts'
import { anApprovedSender, numberOf } from '../testing/factories.ts'
import { expectNothingAssigned, withForbidden } from '../testing/forbidden-fields.ts'
import { collectRoutes, isId, type Route } from '../testing/routes.ts'
import { secret } from '../testing/verification.ts'
import { aWidget, browserOf } from '../testing/widget.ts'
import { type App, buildApp } from './app.ts'
import { MIB } from './bodies/body.ts'
import { compileValidator } from './validation.ts'

/**
 * Every route of the service outside the cabinet, taken from the routes that the app registers. Each takes an id of another
 * owner for an id that does not exist, and refuses requests without credentials or with credentials of another kind.
 * cabinet/every-route.test.ts does the same for the cabinet.
 */

type Side = PartnerSide & {
  m: MessagingSide & { dispatchId: number; uuid: string; codeUuid: string; centerId: number }
  widget: { id: string; origin: string; key: string; secret: string }
}

type Asked = {
  id?: string | number
  query?: Record<string, unknown>
  body?: object
  form?: ReturnType<typeof formOf>
  headers?: Record<string, string>
}

type Row = {
  credentials: 'partner' | 'page of a widget' | readonly KeyType[]
  /** A good request of this side. */
  ask: (side: Side) => Asked
  /** Filters of a search: each is tried alone. With another filter beside it, the search finds nothing in any case. */
  isSearch?: true
  /** Inputs that are called like an id and are none. */
  values?: string[]
  /** Tables that a refused request may change, because they tell the owner of the object about it. */
  writes?: string[]
}

const partner = (ask: Row['ask'] = () => ({}), more: Partial<Row> = {}): Row => ({
  credentials: 'partner',
  ask,
  ...more,
})
const key = (types: readonly KeyType[], ask: Row['ask'] = () => ({}), more: Partial<Row> = {}): Row => ({
  credentials: types,
  ask,
  ...more,
})
/** Refusals are listed in the widget's log of errors, which its company sees. */
const page = (ask: Row['ask']): Row => ({ credentials: 'page of a widget', ask, writes: ['widget_errors'] })

const messages = [{ destination: numberOf.MTS }]
const single = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numberOf.MTS, content: 'Hello' }
const step = { channelType: 'SMS', senderName: 'ROMASHKA', content: { text: 'Hello' } }
const ofSession = ({ widget }: Side) => ({ key: widget.key, secret: widget.secret })
const aSenderName = {
  senderName: 'VASILEK',
  channelType: 'SMS',
  commonType: 'COMMON',
  brand: 'MTS',
  dateFrom: '2026-01-01T00:00:00Z',
}
const aTemplate = { templateType: 'SERVICE', pattern: 'Your order %d is ready' }

/** Every route with credentials, and a good request to it. A new route must be added here. */
const rows: Record<string, Row> = {
  'POST /partner/v1/company': partner(() => ({
    body: { company: { name: 'Vasilek', counteragentType: 'LEGAL', counteragentInn: '7700000002' } },
  })),
  'GET /partner/v1/company': partner(),
  'GET /partner/v1/company/:id': partner(({ companyId }) => ({ id: companyId })),
  'PUT /partner/v1/company/:id': partner(({ companyId }) => ({ id: companyId, body: { name: 'Romashka-2' } })),
  'POST /partner/v1/company/:id/documents': partner(({ companyId }) => ({
    id: companyId,
    form: formOf({ name: 'file', filename: 'charter.pdf', content: PDF }),
  })),
  'GET /partner/v1/company/:id/documents': partner(({ companyId }) => ({ id: companyId })),
  'POST /partner/v1/senders': partner(({ companyId, documentId }) => ({
    body: { companyId, ...aSenderName, documentIds: [documentId] },
  })),
  'GET /partner/v1/senders': partner(({ companyId }) => ({ query: { companyId } })),
  'GET /partner/v1/senders/:id': partner(({ draftId, companyId }) => ({ id: draftId, query: { companyId } })),
  'PUT /partner/v1/senders/:id': partner(({ draftId, documentId }) => ({
    id: draftId,
    body: { documentIds: [documentId] },
  })),
  'POST /partner/v1/senders/:id/suspend': partner(({ senderIds }) => ({ id: senderIds.MTS, body: {} })),
  'POST /partner/v1/senders/:id/unsuspend': partner(({ senderIds }) => ({ id: senderIds.MTS })),
  'POST /partner/v1/dispatches': partner(({ companyId, senderIds }) => ({
    body: aDispatch(companyId, [senderIds.MTS]),
  })),
  'POST /partner/v1/dispatches/:id/messages': partner(({ dispatchId }) => ({ id: dispatchId, body: { messages } })),
  'POST /partner/v1/dispatches/:id/start': partner(({ runningId }) => ({ id: runningId })),
  'POST /partner/v1/dispatches/:id/stop': partner(({ runningId }) => ({ id: runningId })),
  'GET /partner/v1/dispatches': partner(({ companyId }) => ({ query: { companyId } })),
  'GET /partner/v1/dispatches/:id': partner(({ dispatchId }) => ({ id: dispatchId })),
  'GET /partner/v1/dispatches/:id/report': partner(({ dispatchId }) => ({ id: dispatchId })),
  'GET /partner/v1/messages': partner(({ dispatchId }) => ({ query: { dispatchId } })),
  'PUT /partner/v1/recipients': partner(({ companyId }) => ({
    body: { companyId, msisdn: '79160000099', blacklist: true },
  })),
  'GET /partner/v1/price/tariffs': partner(),
  'GET /partner/v1/price/senders': partner(),

  'GET /api/v1/balance': key(keyTypes),
  'GET /api/v1/references/error-codes': key(keyTypes),
  'POST /api/v1/message': key(['MESSAGE'], () => ({ body: single })),
  'GET /api/v1/message': key(
    ['MESSAGE'],
    ({ m }) => ({
      query: {
        message_uuid: m.uuid,
        external_message_id: `order of ${m.companyId}`,
        dispatch_id: m.dispatchId,
        template_id: m.templateId,
        cascade_message_uuid: m.uuid,
        traffic_center_id: m.centerId,
      },
    }),
    { isSearch: true, values: ['?dispatch'] },
  ),
  'GET /api/v1/message/:id': key(['MESSAGE'], ({ m }) => ({ id: m.uuid })),
  'POST /api/v1/message/cascade': key(['MESSAGE'], () => ({
    body: { destination: numberOf.MTS, cascade: [step, step] },
  })),
  'POST /api/v1/message/stop': key(['MESSAGE'], ({ m }) => ({ body: { uuids: [m.uuid] } })),
  'POST /api/v1/dispatch': key(['MESSAGE'], () => ({
    body: { name: 'Sale', channelType: 'SMS', senderName: 'ROMASHKA', text: 'Hello' },
  })),
  'POST /api/v1/dispatch/:id/messages': key(['MESSAGE'], ({ m }) => ({ id: m.dispatchId, body: messages })),
  'POST /api/v1/dispatch/:id/start': key(['MESSAGE'], ({ m }) => ({ id: m.dispatchId })),
  'POST /api/v1/dispatch/:id/stop': key(['MESSAGE'], ({ m }) => ({ id: m.dispatchId })),
  'GET /api/v1/dispatch': key(['MESSAGE']),
  'GET /api/v1/dispatch/:id': key(['MESSAGE'], ({ m }) => ({ id: m.dispatchId })),
  'POST /api/v1/flashcall-conversion': key(['MESSAGE'], ({ m }) => ({
    body: { messageUuid: m.flashcallUuid, result: 'NUMBER_VERIFIED' },
  })),
  'POST /api/v1/subscribers': key(['MESSAGE'], () => ({
    body: {
      channelType: 'TELEGRAM',
      senderName: 'romashka_bot',
      subscribers: [{ destination: numberOf.MTS, externalId: '5001' }],
    },
  })),
  'POST /api/v1/sender-names': key(['ENTITY'], ({ m }) => ({
    body: { ...aSenderName, documentIds: [m.documentId] },
  })),
  'GET /api/v1/sender-names': key(['ENTITY']),
  'GET /api/v1/sender-names/:id': key(['ENTITY'], ({ m }) => ({ id: m.draftId })),
  'PUT /api/v1/sender-names/:id': key(['ENTITY'], ({ m }) => ({
    id: m.draftId,
    body: { documentIds: [m.documentId] },
  })),
  'POST /api/v1/templates': key(['ENTITY'], ({ m }) => ({
    body: { ...aTemplate, channelType: 'WHATSAPP', senderNameId: m.messengerNameId },
  })),
  'GET /api/v1/templates': key(['ENTITY'], ({ m }) => ({ query: { template_id: m.templateId } }), { isSearch: true }),
  'GET /api/v1/templates/:id': key(['ENTITY'], ({ m }) => ({ id: m.templateId })),
  'PUT /api/v1/templates/:id': key(['ENTITY'], ({ m }) => ({
    id: m.templateId,
    body: { ...aTemplate, senderNameId: m.messengerNameId },
  })),
  'POST /api/v1/verifier/send': key(['VERIFIER'], ({ m }) => ({
    body: { channelType: 'SMS', destination: numberOf.TELE2, gatewayId: m.gatewayId },
  })),
  'POST /api/v1/verifier/check': key(['VERIFIER'], ({ m }) => ({ body: { uuid: m.codeUuid, code: 'none' } })),
  'POST /api/v1/verifier/widget/check': key(['VERIFIER', 'BUILDER_WIDGET'], ({ m }) => ({
    body: { key: m.sessionKey },
  })),
  // The visitor sees why no code comes: the session shows that the request came with a wrong API key.
  'POST /api/v1/verifier/widget/send': key(
    ['VERIFIER', 'BUILDER_WIDGET'],
    ({ m }) => ({ body: { key: m.sessionKey } }),
    { writes: ['widget_sessions', 'widget_errors'] },
  ),

  'POST /widget/api/open': page(({ widget }) => ({ body: { widgetId: widget.id } })),
  'POST /widget/api/sessions': page(({ widget }) => ({
    body: { widgetId: widget.id, destination: numberOf.BEELINE },
  })),
  'POST /widget/api/errors': {
    ...page(({ widget }) => ({ body: { widgetId: widget.id, code: 350, reason: 'x' } })),
    values: ['body.key'], // is not read
  },
  'POST /widget/api/state': page(side => ({ body: ofSession(side) })),
  'POST /widget/api/deliver': page(side => ({ body: ofSession(side) })),
  'POST /widget/api/check': page(side => ({ body: { ...ofSession(side), code: '0000' } })),
  'POST /widget/api/again': page(side => ({ body: { ...ofSession(side), channelType: 'SMS' } })),
}

/** Routes without credentials, and why no object of an owner can be reached through them. */
const open: Record<string, string> = {
  'GET /metrics': 'figures of the whole service, for the addresses in TIDINGS_METRICS_ALLOW',
  'GET /healthz': 'says that the process lives',
  'GET /readyz': 'says whether the service is ready',
  'POST /partner/v1/auth/token': 'gives a token for a login and its password',
  'GET /docs/partner.json': 'the reference',
  'GET /docs/messaging.json': 'the reference',
  'GET /docs': 'the reference',
  'GET /docs/errors': 'the reference',
  'GET /docs/reference.js': 'the reference',
  'GET /docs/docs.css': 'the reference',
  'GET /docs/scalar.js': 'the reference',
  'GET /api/v1/ping': 'says that the service is available',
  'GET /widget/VerifyWidget.umd.min.js': 'a file of the program',
  'GET /widget/VerifyWidget.css': 'a file of the program',
  'GET /widget/VerifyWidget.d.ts': 'a file of the program',
  'OPTIONS /widget/api/:action': 'answers browsers before a request of another origin, without data',
  'GET /widget/demo': 'a page of the program',
  'GET /widget/demo/page.js': 'a file of the program',
  'GET /widget/demo/page.css': 'a file of the program',
  'POST /widget/demo/send': 'takes sessions of the widget of the demo alone: widget/demo/demo.test.ts',
  'POST /widget/demo/check': 'takes sessions of the widget of the demo alone: widget/demo/demo.test.ts',
  'POST /widget/demo/outbox': 'takes sessions of the widget of the demo alone: widget/demo/demo.test.ts',
  'GET /': 'leads to the cabinet',
  'GET /cabinet': 'a file of the program',
  'GET /cabinet/*': 'a file of the program',
  'GET /s/:code': 'leads each visitor with the short link to its target, and shows nothing else',
  'GET /webhooks/:gatewayId': 'takes requests with the signature of the gateway: webhooks/webhooks.test.ts',
  'POST /webhooks/:gatewayId': 'takes requests with the signature of the gateway: webhooks/webhooks.test.ts',
}

const OTHER_PREFIXES = ['/v1', '/api/v1/v1']

const api = usePartnerApi()
const { expectNoTraceOf, mayChange } = useTraces(api)
let app: App
let routes: Route[]
let ours: Side
let theirs: Side

beforeAll(async () => {
  const numbering = await loadNumbering(api.sql)
  const build = () =>
    buildApp({
      sql: api.sql,
      clock: () => new Date(),
      numbering: () => numbering,
      log: pino({ level: 'error' }, { write: line => void api.errors.push(line) }),
      billingZone: 'Europe/Moscow',
      publicUrl: 'http://localhost:8080',
      trustedProxies: [],
      secret,
      metrics: true,
      demo: true,
    })
  const collected = await collectRoutes(build)
  app = collected.app
  routes = collected.routes
  const [partners, companies] = [await aWorld(api), await aMessagingWorld(api.sql)]
  ours = await aSide(partners.mine, companies.mine, 'https://romashka.example')
  theirs = await aSide(partners.foreign, companies.foreign, 'https://kolibri.example')
})

afterAll(() => app?.close())

async function aSide(side: PartnerSide, m: MessagingSide, origin: string): Promise<Side> {
  await anApprovedSender(api.sql, m.companyId)
  const post = async (path: string, payload: object, type: KeyType = 'MESSAGE') => {
    const headers = { authorization: `Bearer ${m.keys[type]}` }
    const answer = await app.inject({ method: 'POST', url: `/api/v1${path}`, payload, headers })
    expect([path, answer.statusCode, answer.body]).toEqual([path, 200, answer.body])
    return answer.json()
  }
  const { dispatchId } = await post('/dispatch', rows['POST /api/v1/dispatch']!.ask(side as Side).body!)
  await post(`/dispatch/${dispatchId}/messages`, messages)
  const sent = await post('/message', {
    ...single,
    externalMessageId: `order of ${m.companyId}`,
  })
  const [center] = await api.sql`select center_id as id from traffic_centers where company_id = ${m.companyId}`
  const code = { channelType: 'SMS', destination: '79160000077', gatewayId: m.gatewayId }
  const { uuid: codeUuid } = await post('/verifier/send', code, 'VERIFIER')
  const id = await aWidget(api.sql, m.companyId, { page: { origins: [origin], isBuilder: true } })
  const visitor = browserOf(() => app)
  const begun = await visitor.ask('sessions', { widgetId: id, destination: '79160000078' }, { origin })
  const { key, secret } = begun.body
  return {
    ...side,
    m: { ...m, dispatchId, uuid: sent.items[0].messageUuid, codeUuid, centerId: center!.id },
    widget: { id, origin, key, secret },
  }
}

const credentialsOf = ({ credentials }: Row, side: Side): Record<string, string> => {
  if (credentials === 'partner') return { authorization: `Bearer ${side.partner.token}` }
  if (credentials === 'page of a widget') return { origin: side.widget.origin }
  return { authorization: `Bearer ${side.m.keys[credentials[0]!]}` }
}

async function send(route: Route, asked: Asked, headers: Record<string, string>, prefix = '') {
  const { id, query = {}, body, form } = asked
  const url = `${route.url.replace('/api/v1', prefix || '/api/v1').replace(':id', String(id))}`
  const answer = await app.inject({
    method: route.method as 'GET',
    url: `${url}${asQuery(Object.entries(query))}`,
    ...(form ? { payload: form.body } : body ? { payload: body } : {}),
    headers: { ...form?.headers, ...headers },
  })
  return { status: answer.statusCode, text: answer.body }
}

const isOfMessaging = ({ url }: Route) => url.startsWith('/api/v1/') && !url.startsWith('/api/v1/v1/')
const isOtherSpelling = ({ url }: Route) => url.startsWith('/v1/') || url.startsWith('/api/v1/v1/')
const isOfCabinet = ({ url }: Route) => url.startsWith('/cabinet/api')

describe('every route', () => {
  test('is in the tables above: add a new route to `rows`, or to `open` with the reason why it needs no credentials', () => {
    const names = routes.filter(route => !isOfCabinet(route) && !isOtherSpelling(route)).map(({ name }) => name)
    expect(names.sort()).toEqual([...Object.keys(rows), ...Object.keys(open)].sort())
  })

  test('has schemas that compile: a running service compiles them with the first request', () => {
    const schemas = routes.flatMap(route => route.schemas)
    expect(schemas.length).toBeGreaterThan(routes.length / 2)
    for (const schema of schemas) expect(compileValidator({ schema })({})).toBeTypeOf('boolean')
  })

  test('of the cabinet is in its own test, and other spellings have the same routes', async () => {
    const ofCabinet = routes.filter(isOfCabinet).map(({ name }) => name.replace('/cabinet/api', ''))
    expect(ofCabinet.sort()).toEqual((await cabinetRoutes(api.sql)).map(({ route }) => route).sort())
    const spelled = routes.filter(isOtherSpelling).map(({ name }) => name)
    const ours = routes.filter(isOfMessaging).map(({ name }) => name)
    const expected = OTHER_PREFIXES.flatMap(prefix => ours.map(name => name.replace('/api/v1', prefix)))
    expect(spelled.sort()).toEqual(expected.sort())
  })

  test('has inputs that are ids or values: add a new name to the lists of src/testing/routes.ts', () => {
    const unknown = routes.flatMap(({ name, inputs }) =>
      inputs.filter(input => isId(input) === undefined).map(input => `${name} ${input}`),
    )
    expect(unknown).toEqual([])
  })

  test('without credentials in the tables takes no id that the table does not explain', () => {
    const withIds = routes.filter(({ name, inputs }) => name in open && inputs.some(isId)).map(({ name }) => name)
    expect(withIds.sort()).toEqual(
      ['check', 'outbox', 'send']
        .map(action => `POST /widget/demo/${action}`)
        .concat('GET /s/:code', 'GET /webhooks/:gatewayId', 'POST /webhooks/:gatewayId')
        .sort(),
    )
  })
})

const guarded = Object.entries(rows).filter(([, { credentials }]) => credentials !== 'page of a widget')

describe('credentials', () => {
  test('must be given on every route, in every spelling, also with HEAD', async () => {
    const answers = await answersTo([{}, { authorization: 'Bearer none' }, { cookie: 'tidings=none' }])
    expect(answers.filter(([, status]) => status !== 401)).toEqual([])
    expect(answers.length).toBeGreaterThan(400)
  })

  test('are checked on every route before the body is judged', async () => {
    const wrong: [string, string, number][] = []
    for (const [name, row] of guarded) {
      const route = routeOf(name)
      if (route.method === 'GET') continue
      for (const body of unreadable)
        for (const [authorization, expected] of refusalsOf(row.credentials)) {
          const status = await sendRaw(route, body, authorization ? { authorization } : {})
          if (status !== expected) wrong.push([name, `${body.payload.slice(0, 20)}`, status])
        }
    }
    expect(wrong).toEqual([])
  })

  test('that are right do not hide the error of a body', async () => {
    const route = routeOf('POST /api/v1/verifier/widget/send')
    const header = { authorization: `Bearer ${ours.m.keys.VERIFIER}` }
    const statuses = await Promise.all(unreadable.map(body => sendRaw(route, body, header)))
    expect(statuses).toEqual([400, 400, 400, 400, 400, 415, 413])
  })

  /** Headers that a route refuses, each with the status. */
  function refusalsOf(credentials: (typeof guarded)[number][1]['credentials']): [string, number][] {
    const others = credentials === 'partner' ? [] : keyTypes.filter(type => !credentials.includes(type as never))
    return [
      ['', 401],
      ['Bearer none', 401],
      ...others.map(type => [`Bearer ${ours.m.keys[type]}`, 403] as [string, number]),
    ]
  }

  const json = { 'content-type': 'application/json' }
  type Unreadable = { payload: string | Buffer; headers: Record<string, string> }
  const unreadable: Unreadable[] = [
    { payload: '{', headers: json },
    { payload: '"\\ud800"', headers: json },
    { payload: '"\\u0000"', headers: json },
    { payload: Buffer.from([0x22, 0xff, 0x22]), headers: json },
    { payload: '{}', headers: { 'content-type': 'text/plain' } },
    { payload: '{}', headers: { ...json, 'content-encoding': 'br' } },
    { payload: Buffer.alloc(20 * MIB, ' '), headers: json },
  ]

  async function sendRaw({ method, url }: Route, { payload, headers }: Unreadable, header: Record<string, string>) {
    const all = { ...headers, ...header }
    const request = { method: method as 'POST', url: url.replace(':id', '1'), payload, headers: all }
    return (await app.inject(request)).statusCode
  }

  test('of another kind are refused on every route', async () => {
    const cabinet = new CabinetBrowser(() => app)
    await cabinet.signIn((await aPerson(api.sql, staff, 'admin')).login)
    expect((await cabinet.ask('GET', '/session')).status).toBe(200)
    const ofOthers: Record<string, string>[] = [
      { cookie: cabinet.cookie! },
      { authorization: `Bearer ${cabinet.cookie!.split('=')[1]}` },
    ]
    const ofPartner = { authorization: `Bearer ${ours.partner.token}` }
    const keys = keyTypes.map(type => ({ type, header: { authorization: `Bearer ${ours.m.keys[type]}` } }))
    const wrong: [string, number][] = []
    for (const [name, row] of guarded) {
      const route = routeOf(name)
      const asked = row.ask(ours)
      const headers = [...ofOthers, ...(row.credentials === 'partner' ? keys.map(one => one.header) : [ofPartner])]
      for (const header of headers) {
        const { status } = await send(route, asked, header)
        if (status !== 401) wrong.push([name, status])
      }
      if (row.credentials === 'partner') continue
      for (const { type, header } of keys.filter(one => !row.credentials.includes(one.type as never))) {
        const { status } = await send(route, asked, header)
        if (status !== 403) wrong.push([`${name} with ${type}`, status])
      }
    }
    expect(wrong).toEqual([])
  })

  async function answersTo(headers: Record<string, string>[]) {
    const answers: [string, number][] = []
    for (const [name, row] of guarded) {
      const route = routeOf(name)
      const spellings = isOfMessaging(route) ? ['', ...OTHER_PREFIXES] : ['']
      const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
      for (const header of headers)
        for (const prefix of spellings)
          for (const method of methods) {
            const { status } = await send({ ...route, method }, row.ask(ours), header, prefix)
            answers.push([`${method} ${prefix}${route.url} ${Object.keys(header)}`, status])
          }
    }
    return answers
  }
})

describe('an id of another owner', () => {
  const withIds = Object.entries(rows)

  test.each(withIds)('%s takes it for an id that does not exist, and changes nothing', async (name, row) => {
    const route = routeOf(name)
    const ids = route.inputs.filter(input => isId(input) && !row.values?.includes(input))
    expect(Object.keys(idsIn(row.ask(ours))).sort(), 'the request in the table must use every id').toEqual(ids.sort())
    const before = row.writes && (await printOfTables(api.sql, row.writes))
    await (row.writes ? mayChange() : expectNoTraceOf(name))
    for (const inputs of [...ids.map(one => [one]), ...(row.isSearch || ids.length < 2 ? [] : [ids])]) {
      const mine = row.isSearch ? { query: {} } : row.ask(ours)
      const foreign = idsIn(row.ask(theirs))
      const named = inputs.map(input => [input, foreign[input]] as const)
      const unknown = inputs.map(input => [input, unknownLike(foreign[input])] as const)
      const headers = credentialsOf(row, ours)
      const answer = await send(route, replaced(mine, named), headers)
      const answerToUnknown = await send(route, replaced(mine, unknown), headers)
      if (answer.status === 403 && answer.text.includes('Access Denied')) continue // a session of another company
      expect([inputs, answer.status, without(answer.text, named)]).toEqual([
        inputs,
        answerToUnknown.status,
        without(answerToUnknown.text, unknown),
      ])
    }
    if (before) expect(await printOfTables(api.sql, row.writes)).toEqual(before)
  })

  test.each(withIds)('%s finds its own', async (name, row) => {
    const route = routeOf(name)
    await mayChange()
    const asked = row.ask(theirs)
    const ids = Object.entries(idsIn(asked))
    for (const one of row.isSearch ? ids.filter(([input]) => input !== '?cascade_message_uuid') : [undefined]) {
      const request = one ? replaced({ query: {} }, [one]) : asked
      const { status, text } = await send(route, request, credentialsOf(row, theirs))
      const isFound = status < 300 || (status === 429 && route.url === '/widget/api/again') // a code was just sent
      expect([name, one, text, isFound]).toEqual([name, one, text, true])
      if (one && one[0] !== '?template_id') expect([one, text]).not.toEqual([one, expect.stringContaining('"total":0')])
    }
  })
})

describe('fields that a request may not set', () => {
  const withBody = Object.entries(rows).filter(([, { ask, credentials }]) => {
    const { body } = ask({ m: {}, widget: {}, senderIds: {} } as never)
    return body && credentials !== 'page of a widget'
  })

  test.each(withBody)('%s stores none of them', async (name, row) => {
    const route = routeOf(name)
    const known = route.inputs.map(input => input.split(/\.|\[\]\.?/).at(-1)!)
    const asked = row.ask(ours)
    const owner = {
      companyId: row.credentials === 'partner' ? theirs.companyId : theirs.m.companyId,
      partnerId: theirs.partner.partnerId,
    }
    await mayChange()
    await expectNothingAssigned(api.sql, owner, async () => {
      // Without ids of own objects, which would keep a wrong company from being used.
      const { documentIds: _, senderNameId: __, ...rest } = asked.body as Record<string, unknown>
      const body = withForbidden(Array.isArray(asked.body) ? asked.body : rest, known, owner) as object
      const { status, text } = await send(route, { ...asked, body }, credentialsOf(row, ours))
      expect([name, text, status < 500]).toEqual([name, text, true])
    })
  })

  test('a new name is under review, and a new dispatch has its own price and status', async () => {
    const { companyId, senderIds } = ours
    const headers = { authorization: `Bearer ${ours.partner.token}` }
    const post = async (url: string, payload: object) =>
      (await app.inject({ method: 'POST', url: `/partner/v1${url}`, payload, headers })).json()
    await mayChange()
    const more = { status: 'APPROVED', price: 0, isActive: true, validFrom: '2020-01-01T00:00:00Z' }
    const sender = await post('/senders', { companyId, ...aSenderName, ...more })
    expect(sender.status).not.toBe('APPROVED')
    const { id } = await post('/dispatches', {
      ...aDispatch(companyId, [senderIds.TELE2], { messages: [{ destination: numberOf.TELE2 }] }),
      status: 'COMPLETED',
      price: 0,
    })
    const [stored] = await api.sql`select status from dispatches where dispatch_id = ${id}`
    const [message] = await api.sql`select price::float8 as price, status from messages where dispatch_id = ${id}`
    expect([stored, message]).toEqual([{ status: 'CREATED' }, { price: expect.any(Number), status: 'CREATED' }])
    expect(message!.price).toBeGreaterThan(0)
  })
})

test('no request above caused an internal error', () => {
  expect(api.errors).toEqual([])
})

const routeOf = (name: string) => routes.find(route => route.name === name)!

/** The ids in a request, by the names of the inputs. */
function idsIn({ id, query = {}, body = {} }: Asked): Record<string, unknown> {
  const all = [
    ...(id === undefined ? [] : [[':id', id] as const]),
    ...Object.entries(query).map(([name, value]) => [`?${name}`, value] as const),
    ...Object.entries(body).map(([name, value]) => [`body.${name}`, value] as const),
  ]
  return Object.fromEntries(all.filter(([input]) => isId(input)))
}

function replaced(asked: Asked, values: (readonly [string, unknown])[]): Asked {
  let { id, query = {}, body, ...rest } = asked
  for (const [input, value] of values) {
    if (input === ':id') id = value as string
    else if (input.startsWith('?')) query = { ...query, [input.slice(1)]: value }
    else body = withValue(body!, input.slice('body.'.length), value)
  }
  return { ...rest, ...(id === undefined ? {} : { id }), query, ...(body ? { body } : {}) }
}

function unknownLike(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unknownLike)
  if (typeof value === 'number') return 999_999_999
  const text = String(value)
  return /^[0-9a-f-]{36}$/.test(text) ? '0198c5a0-0000-7000-8000-000000000000' : `${text.slice(0, 3)}~${text.slice(4)}`
}

/** An answer may repeat the id of the request. */
const without = (text: string, values: (readonly [string, unknown])[]) =>
  values.reduce(
    (so, [, value]) =>
      [value].flat().reduce<string>((at, id) => at.replaceAll(new RegExp(`(?<!\\w)${id}(?!\\w)`, 'g'), 'ID'), so),
    text,
  )
