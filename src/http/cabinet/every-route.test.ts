import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import { monthOf } from '../../domain/ledger/account.ts'
import { topUp } from '../../domain/ledger/ledger.ts'
import { pageOfLines } from '../../domain/ledger/lines.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { type PersonKind, type Place, personKinds, roles } from '../../domain/people/person.ts'
import { may, type Right, rights, rightsOf } from '../../domain/people/rights.ts'
import { codeAt } from '../../domain/people/totp.ts'
import { saveLinks } from '../../domain/short-links/short-links.ts'
import { defaultPage, defaultSettings } from '../../domain/verifiers/verifier.ts'
import { formOf, useApp } from '../../testing/api.ts'
import { aPerson, CabinetBrowser, cabinetRoutes, ofCompany, ofPartner, PASSWORD, staff } from '../../testing/cabinet.ts'
import { useTraces } from '../../testing/conformance/traces.ts'
import { printOfTables } from '../../testing/conformance/world.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { expectNothingAssigned, withForbidden } from '../../testing/forbidden-fields.ts'
import { isId } from '../../testing/routes.ts'
import { aDispatch, billingZone, someRecipients } from '../../testing/world.ts'
import type { Needs } from './sign-in/access.ts'

/**
 * Every route of the cabinet and the right that it needs. A new route, or a route with another right, must be added
 * here.
 */
const routesOf: Record<Needs, string[]> = {
  'no session': ['POST /invitation', 'POST /invitation/accept', 'GET /service', 'POST /session'],
  half: ['DELETE /session', 'POST /session/second-factor'],
  'signed in': [
    'PATCH /account',
    'PUT /account/password',
    'DELETE /account/second-factor',
    'GET /account/second-factor',
    'POST /account/second-factor',
    'POST /account/second-factor/proposal',
    'POST /account/second-factor/recovery-codes',
    'DELETE /account/sessions',
    'GET /account/sessions',
    'DELETE /account/sessions/:id',
    'GET /companies',
    'GET /session',
  ],
  'traffic.see': [
    'GET /dispatches',
    'GET /dispatches/:id',
    'GET /dispatches/:id/breakdown',
    'GET /dispatches/:id/report',
    'GET /inbound',
    'GET /inbound/report',
    'GET /links',
    'GET /links/:code',
    'GET /links/clicks',
    'GET /links/dispatches',
    'GET /live',
    'GET /messages',
    'GET /messages/:uuid',
    'GET /messages/counts',
    'GET /messages/incoming',
    'GET /messages/report',
    'GET /overview',
  ],
  'traffic.send': [
    'GET /dispatches/:id/again',
    'POST /dispatches/:id/again',
    'POST /dispatches/:id/start',
    'POST /dispatches/:id/stop',
    'GET /new-dispatch',
    'POST /new-dispatch',
    'GET /new-dispatch/:dispatchId',
    'POST /new-dispatch/:dispatchId/recipients',
    'POST /new-dispatch/:dispatchId/start',
    'POST /new-dispatch/check',
    'POST /send',
    'POST /send/price',
  ],
  'settings.see': [
    'GET /blacklist',
    'GET /blacklist/export',
    'GET /documents',
    'GET /documents/:documentId/content',
    'GET /inbound/rules',
    'GET /inbound/trial',
    'GET /senders',
    'GET /senders/:senderId',
    'GET /senders/fees',
    'GET /templates',
    'GET /templates/:templateId',
    'GET /templates/names',
    'GET /verification',
    'GET /verification/:kind/:id',
    'GET /verification/blocked',
    'GET /verification/offer',
    'GET /verification/widgets/:id/errors',
  ],
  'settings.change': [
    'POST /blacklist',
    'DELETE /blacklist/:msisdn',
    'POST /blacklist/import',
    'POST /documents',
    'DELETE /documents/:documentId',
    'POST /inbound/centers',
    'PUT /inbound/centers/default',
    'POST /inbound/rules',
    'DELETE /inbound/rules/:ruleId',
    'PATCH /inbound/rules/:ruleId',
    'POST /senders',
    'PATCH /senders/:senderId',
    'POST /senders/:senderId/suspend',
    'POST /senders/:senderId/unsuspend',
    'POST /templates',
    'PATCH /templates/:templateId',
    'POST /verification/:kind',
    'DELETE /verification/:kind/:id',
    'PUT /verification/:kind/:id',
    'POST /verification/:kind/:id/try',
    'POST /verification/:kind/:id/try/check',
    'POST /verification/unblock',
  ],
  'developers.see': [
    'GET /callbacks',
    'GET /callbacks/:callbackId',
    'GET /callbacks/settings',
    'GET /callbacks/tests/:testId',
    'GET /keys',
    'GET /requests',
  ],
  'developers.change': [
    'POST /callbacks/:callbackId/replay',
    'POST /callbacks/receivers/try',
    'POST /callbacks/secret',
    'POST /callbacks/tests',
    'POST /keys',
    'PATCH /keys/:keyId',
    'POST /keys/:keyId/reissue',
    'POST /messages/:uuid/callbacks/:callbackId/replay',
  ],
  'money.see': [
    'GET /money',
    'GET /money/accounts',
    'GET /money/ledger',
    'GET /money/ledger/:day/:lineId',
    'GET /money/ledger/file',
    'GET /money/statements',
    'GET /money/statements/:month',
    'GET /money/statements/:month/file',
    'GET /prices',
    'GET /prices/calculation',
  ],
  'money.change': [
    'PUT /companies/:companyId/limits',
    'PUT /money/terms',
    'POST /money/top-ups',
    'POST /money/corrections',
  ],
  'companies.see': ['GET /companies/:companyId', 'GET /company-list'],
  'companies.change': ['POST /companies', 'PATCH /companies/:companyId', 'PUT /companies/:companyId/status'],
  'people.see': ['GET /people'],
  'people.change': ['POST /people', 'PATCH /people/:personId', 'POST /people/:personId/invitation'],
  'audit.see': ['GET /audit'],
  review: [
    'GET /review',
    'GET /review/count',
    'GET /review/senders/:senderId',
    'POST /review/senders/:senderId/decision',
    'GET /review/templates/:templateId',
    'POST /review/templates/:templateId/decision',
  ],
  'gateways.see': ['GET /gateways', 'GET /gateways/:gatewayId'],
  'gateways.change': [
    'GET /connectors',
    'POST /gateways',
    'DELETE /gateways/:gatewayId',
    'PATCH /gateways/:gatewayId',
    'POST /gateways/:gatewayId/drain',
    'POST /gateways/:gatewayId/pause',
    'POST /gateways/:gatewayId/resume',
    'POST /gateways/:gatewayId/trials',
  ],
  'tariffs.see': ['GET /tariffs', 'GET /tariffs/:tariffId', 'GET /tariffs/export', 'GET /tariffs/prices/export'],
  'tariffs.change': [
    'DELETE /tariffs/:tariffId',
    'POST /tariffs/changes',
    'PATCH /tariffs/fees',
    'POST /tariffs/import',
    'POST /tariffs/import/check',
    'POST /tariffs/prices/changes',
    'POST /tariffs/prices/withdrawals',
  ],
  'numbering.see': ['GET /numbering', 'GET /numbering/export', 'GET /numbering/lookup'],
  'numbering.change': [
    'POST /numbering/uploads',
    'DELETE /numbering/uploads/:uploadId',
    'GET /numbering/uploads/:uploadId',
    'POST /numbering/uploads/:uploadId/apply',
    'POST /numbering/uploads/:uploadId/compare',
    'PUT /numbering/uploads/:uploadId/pieces/:piece',
    'PUT /numbering/virtual-operators',
  ],
  'partners.see': ['GET /partners', 'GET /partners/:partnerId'],
  'partners.change': [
    'POST /partners',
    'POST /partners/:partnerId/password',
    'PUT /partners/:partnerId/state',
    'POST /partners/:partnerId/unlock',
  ],
  'health.see': ['GET /health'],
}

/** The roles that have each right. A role that gets a right must be added here. */
const holders: Record<Right, string> = {
  'traffic.see': 'COMPANY: all, PARTNER: all, STAFF: all',
  'traffic.send': 'COMPANY: owner sender, PARTNER: owner manager, STAFF: admin',
  'settings.see': 'COMPANY: owner sender viewer, PARTNER: all, STAFF: all',
  'settings.change': 'COMPANY: owner, PARTNER: owner manager, STAFF: admin',
  'developers.see': 'COMPANY: owner, PARTNER: owner manager, STAFF: admin support',
  'developers.change': 'COMPANY: owner, PARTNER: owner, STAFF: admin',
  'money.see': 'COMPANY: owner finance, PARTNER: all, STAFF: admin support',
  'money.change': 'PARTNER: owner, STAFF: admin',
  'companies.see': 'PARTNER: all, STAFF: all',
  'companies.change': 'PARTNER: owner manager, STAFF: admin',
  'people.see': 'COMPANY: owner, PARTNER: owner, STAFF: admin support',
  'people.change': 'COMPANY: owner, PARTNER: owner, STAFF: admin',
  'audit.see': 'COMPANY: owner, PARTNER: owner, STAFF: admin support',
  review: 'STAFF: admin moderator',
  'gateways.see': 'STAFF: admin support',
  'gateways.change': 'STAFF: admin',
  'tariffs.see': 'STAFF: admin support',
  'tariffs.change': 'STAFF: admin',
  'numbering.see': 'STAFF: admin support',
  'numbering.change': 'STAFF: admin',
  'partners.see': 'STAFF: admin support',
  'partners.change': 'STAFF: admin',
  'health.see': 'STAFF: admin support',
}

const { api } = useApp('/docs/partner.json')
const { expectNoTraceOf, mayChange } = useTraces(api)
const MARK = 'Kolibri'
/** The attackers belong to the partner `ours`. They must not reach any object of the partner `theirs`. */
let ours: Side
let theirs: Side & Awaited<ReturnType<typeof belongingsOf>>
/** The owner of another company of the same partner as `theirs`. */
let neighbour: CabinetBrowser
let routes: Awaited<ReturnType<typeof cabinetRoutes>>

type Side = { partnerId: number; companyId: number; owner: CabinetBrowser; partnerOwner: CabinetBrowser }

beforeAll(async () => {
  routes = await cabinetRoutes(api.sql)
  ours = await aSide('Romashka')
  const home = await aSide(MARK)
  theirs = { ...home, ...(await belongingsOf(home, MARK)) }
  const beside = await aCompany(
    api.sql,
    { partnerId: home.partnerId, login: MARK, currency: 'RUB' },
    { name: 'Vasilek' },
  )
  neighbour = await signedIn(ofCompany(beside), 'owner')
  // Otherwise a session that is used again after a minute changes its row, which is no trace of an attack.
  await api.sql`update person_sessions set used_at = now() + interval '1 hour'`
})

async function aSide(name: string): Promise<Side> {
  const partner = await aPartner(api.sql)
  const companyId = await aCompany(api.sql, partner, { name })
  const owner = await signedIn(ofCompany(companyId), 'owner')
  return { ...partner, companyId, owner, partnerOwner: await signedIn(ofPartner(partner.partnerId), 'owner') }
}

async function signedIn(place: Place, role: string) {
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn((await aPerson(api.sql, place, role)).login)).status).toBe(200)
  return browser
}

/** One object of every kind that has an id. */
async function belongingsOf({ companyId, partnerId, owner }: Side, mark: string) {
  const url = `https://${mark.toLowerCase()}.example`
  const made = async (path: string, body: object) => (await owner.ask('POST', path, body)).body
  const sender = await anApprovedSender(api.sql, companyId, { senderName: mark })
  const partner = { partnerId, login: mark, currency: 'RUB' } as never
  const world = { partner, companyId, senders: [sender] }
  const dispatchId = await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(1), { text: mark })
  const [message] = await api.sql`select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
  const [callback] = await api.sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
    values (${companyId}, ${mark}, ${url}, 'partner', '[]', 0, 'EXPIRED', now(), now())
    returning callback_id as id`
  await api.sql`insert into receivers (company_id, receiver) values (${companyId}, ${url})`
  const links = [{ code: `of${mark}`, messageUuid: uuid7Batch(new Date(), 1)[0]!, url }]
  await api.sql.begin(tx => saveLinks(tx, companyId, links, new Date()))
  await topUp(api.sql, companyId, { amount: money('7'), note: mark }, { billingZone, now: new Date() })
  const { lines } = await pageOfLines(api.sql, companyId, {}, undefined, 1)
  await made('/blacklist', { msisdn: BLACKLISTED, comment: mark })
  const file = formOf({ name: 'file', filename: `${mark}.pdf`, content: '%PDF-1.7' })
  const rule = await made('/inbound/rules', ruleOf(mark, url))
  return {
    dispatchId,
    uuid: message!.uuid as string,
    callbackId: callback!.id as number,
    line: `${lines[0]!.day}/${lines[0]!.lineId}`,
    senderId: sender.senderId,
    ruleId: rule.ruleId as number,
    centerId: rule.centerId as number,
    personId: (await aPerson(api.sql, ofCompany(companyId), 'viewer', `${mark}@example.com`)).personId,
    templateId: (await made('/templates', templateOf(mark, null))).templateId as number,
    keyId: (await made('/keys', { type: 'MESSAGE', name: mark })).keyId as number,
    testId: (await made('/callbacks/tests', { url })).testId as number,
    verifierId: (await made('/verification/verifiers', verifierForm(mark))).id as string,
    widgetId: (await made('/verification/widgets', { ...verifierForm(mark), page })).id as string,
    documentId: (await owner.ask('POST', '/documents', file.body, file)).body.id as string,
  }
}

const BLACKLISTED = '79160000063'
const ruleOf = (center: string, callbackUrl: string) => ({
  channelType: 'WHATSAPP',
  senderNames: [],
  center,
  callbackUrl,
})
const templateOf = (mark: string, senderId: number | null) => ({
  channelType: 'SMS',
  templateType: 'SERVICE',
  pattern: `${mark} %w`,
  senderId,
  content: null,
})
const verifierForm = (name: string) => ({ name, settings: defaultSettings })
/** Of a widget. */
const page = { ...defaultPage, origins: ['https://kolibri.example'] }
const nameOf = (documentIds: string[]) => ({
  senderName: 'Requested',
  channelType: 'SMS',
  commonType: 'COMMON',
  brands: ['MTS'],
  description: '',
  documentIds,
})
const one = { destination: '79160000001', steps: [{ channelType: 'SMS', senderName: MARK, content: 'Hello' }] }
const dispatch = { name: 'Sale', channelType: 'SMS', senderName: MARK, text: 'Hello' }
const recipients = [{ destination: '79160000001' }]
const terms = { budget: null, billing: 'POSTPAID' }
const updatedAt = new Date(0).toISOString()
const upload = formOf({ name: 'file', filename: 'new.pdf', content: '%PDF-1.7' })

/** The ids of the objects of `theirs`, by the names of parameters in the paths of routes. */
const idsOfTheirs = (route: string): Record<string, unknown> => ({
  ...theirs,
  id: route.includes('/dispatches/')
    ? theirs.dispatchId
    : route.includes('widgets')
      ? theirs.widgetId
      : theirs.verifierId,
  kind: 'verifiers',
  code: 'ofKolibri',
  msisdn: BLACKLISTED,
  month: monthOf(new Date(), billingZone).slice(0, 7),
  day: theirs.line.split('/')[0]!,
  lineId: theirs.line.split('/')[1]!,
})

/** The queries of routes that require a query. */
const queries: Record<string, () => string> = {
  'GET /inbound/trial': () => 'channel=SMS&name=x',
  'GET /live': () => `dispatches=${theirs.dispatchId}`,
  'GET /prices/calculation': () => 'channelType=SMS&messages=1',
}

let people = 0

/** The bodies of routes that require a body. A login is new each time: a login that exists would be refused. */
const bodies: Record<string, () => object> = {
  'POST /people': () => ({ login: `intruder${++people}@example.com`, role: 'owner' }),
  'PATCH /people/:personId': () => ({ role: 'owner' }),
  'PATCH /companies/:companyId': () => ({ name: 'Taken', actualAddress: '', updatedAt }),
  'PUT /companies/:companyId/status': () => ({ status: 'ACTIVE' }),
  'PUT /companies/:companyId/limits': () => ({ budget: null, updatedAt }),
  'POST /blacklist': () => ({ msisdn: '79160000064' }),
  'POST /blacklist/import': () => ({ numbers: ['79160000065'] }),
  'POST /inbound/rules': () => ruleOf('Taken', 'https://romashka.example'),
  'PATCH /inbound/rules/:ruleId': () => ({
    seen: { senderNames: [], centerId: theirs.centerId, callbackUrl: 'https://kolibri.example' },
    callbackUrl: 'https://romashka.example',
  }),
  'POST /inbound/centers': () => ({ name: 'Taken' }),
  'PUT /inbound/centers/default': () => ({ centerId: theirs.centerId, seen: theirs.centerId }),
  'POST /new-dispatch/check': () => ({ dispatch, recipients }),
  'POST /new-dispatch': () => dispatch,
  'POST /new-dispatch/:dispatchId/recipients': () => ({ from: 0, total: 1, recipients }),
  'POST /new-dispatch/:dispatchId/start': () => ({ price: '0.0000' }),
  'POST /money/top-ups': () => ({ amount: '1', note: '' }),
  'POST /money/corrections': () => ({ amount: '-1', reason: 'Taken' }),
  'PUT /money/terms': () => ({ before: terms, after: { ...terms, budget: '1' } }),
  'POST /verification/unblock': () => ({ subject: 'prefix:7916000' }),
  'POST /verification/:kind': () => verifierForm('Taken'),
  'PUT /verification/:kind/:id': () => ({ ...verifierForm('Taken'), version: 'x' }),
  'POST /verification/:kind/:id/try': () => ({ channelType: 'SMS', destination: '79160000001' }),
  'POST /verification/:kind/:id/try/check': () => ({ uuid: theirs.uuid, code: '1234' }),
  'POST /senders': () => nameOf([]),
  'PATCH /senders/:senderId': () => ({ version: 'x', senderName: 'Taken' }),
  'POST /senders/:senderId/suspend': () => ({}),
  'POST /templates': () => templateOf('Taken', null),
  'PATCH /templates/:templateId': () => ({ version: 'x', pattern: 'Taken %w' }),
  'POST /send/price': () => one,
  'POST /send': () => one,
  'POST /keys': () => ({ type: 'MESSAGE' }),
  'PATCH /keys/:keyId': () => ({ name: 'Taken' }),
  'POST /callbacks/receivers/try': () => ({ receiver: 'https://kolibri.example' }),
  'POST /callbacks/tests': () => ({ url: 'https://romashka.example' }),
  'POST /documents': () => upload.body,
}

/**
 * Routes without a company and without an id. The tests of answers about the own companies and of ids within a request
 * check them.
 */
const ofEverybody = ['GET /companies', 'GET /company-list', 'GET /money/accounts', 'POST /companies']
/** Routes that refuse everyone else before they search for an object. */
const ofStaffAlone = ['POST /money/top-ups', 'POST /money/corrections']

type Method = Parameters<CabinetBrowser['ask']>[0]
let keys = 0

async function ask(browser: CabinetBrowser, route: string, path: string, body?: object) {
  const { statusCode, body: text } = await api.app.inject({
    method: route.split(' ')[0] as Method,
    url: `/cabinet/api${path}`,
    ...(body === undefined ? {} : { payload: body }),
    headers: {
      ...(route === 'POST /documents' ? upload.headers : {}),
      'idempotency-key': `key ${++keys}`,
      cookie: browser.cookie!,
    },
  })
  return { status: statusCode, text }
}

/** A request for an object of `theirs`: by its ids, and for their company if the route takes a company. */
function requestOf(route: string, companyId: number | undefined) {
  const path = route.split(' ')[1]!.replace(/:(\w+)/g, (_, name) => String(idsOfTheirs(route)[name]))
  const query = [queries[route]?.(), companyId === undefined ? undefined : `companyId=${companyId}`].filter(Boolean)
  return [`${path}${query.length > 0 ? '?' : ''}${query.join('&')}`, bodies[route]?.()] as const
}

/** Rights that only staff have. The guard refuses a request of other people before it reads the id. */
const isOfTenants = (needs: Needs) =>
  (['COMPANY', 'PARTNER'] as const).some(kind => may({ kind, role: 'owner' }, needs as Right))

describe('every route of the cabinet', () => {
  test('is in the list above with the right that it needs', () => {
    const actual = Object.fromEntries(Object.keys(routesOf).map(needs => [needs, [] as string[]]))
    for (const { route, needs } of routes) actual[needs]!.push(route)
    for (const list of Object.values(actual)) list.sort()
    expect(actual).toEqual(Object.fromEntries(Object.entries(routesOf).map(([needs, list]) => [needs, list.sort()])))
  })

  test('needs a right that these roles have', () => {
    const actual = rights.map(right => [right, personKinds.flatMap(kind => holdersOf(right, kind)).join(', ')])
    expect(Object.fromEntries(actual)).toEqual(holders)
  })

  test('is closed to strangers, and to people whose second factor is missing', async () => {
    const half = await signedIn(staff, 'admin')
    const { secret } = (await half.ask('POST', '/account/second-factor/proposal')).body
    await half.ask('POST', '/account/second-factor', {
      secret,
      code: codeAt(secret, new Date()),
      password: PASSWORD,
    })
    const { login } = (await half.ask('GET', '/session')).body.person
    await half.signIn(login)
    const stranger = Object.assign(new CabinetBrowser(() => api.app), { cookie: 'tidings=nothing' })
    for (const [browser, open] of [
      [stranger, ['no session']],
      [half, ['no session', 'half']],
    ] as const) {
      const closed = routes.filter(({ needs }) => !open.some(one => one === needs))
      expect(closed.length).toBeGreaterThan(150)
      const answers = closed.map(async ({ route }) => [
        route,
        (await ask(browser, route, ...requestOf(route, 1))).status,
      ])
      expect(await Promise.all(answers)).toEqual(closed.map(({ route }) => [route, 401]))
    }
  })

  test.each(personKinds.flatMap(kind => roles[kind].map(role => [kind, role] as const)))(
    'is closed to %s in the role %s without its right',
    async (kind, role) => {
      const { companyId, partnerId } = ours
      const places = { COMPANY: ofCompany(companyId), PARTNER: ofPartner(partnerId), STAFF: staff }
      const browser = await signedIn(places[kind], role)
      const closed = routes.filter(({ needs }) => isRight(needs) && !rightsOf({ kind, role }).includes(needs))
      const answers = closed.map(async ({ route }) => [
        route,
        (await ask(browser, route, ...requestOf(route, companyId))).status,
      ])
      expect(await Promise.all(answers)).toEqual(closed.map(({ route }) => [route, 403]))
    },
  )

  const tenantRoutes = Object.entries(routesOf)
    .flatMap(([needs, list]) => (isOfTenants(needs as Needs) ? list : []))
    .filter(route => !ofEverybody.includes(route))
    .sort((one, other) => Number(one.startsWith('DELETE')) - Number(other.startsWith('DELETE')))

  test.each(tenantRoutes)('%s finds nothing of another company, and changes nothing', async route => {
    const { needs, takesCompany } = routes.find(one => one.route === route)!
    const isById = /:(?!kind|month)/.test(route)
    expect([route, takesCompany || isById || route === 'GET /live']).toEqual([route, true])
    const attackers = [
      { kind: 'COMPANY', browser: ours.owner, own: undefined },
      { kind: 'COMPANY', browser: neighbour, own: undefined },
      { kind: 'PARTNER', browser: ours.partnerOwner, own: ours.companyId },
    ] as const
    for (const { kind, browser, own } of attackers) {
      if (!may({ kind, role: 'owner' }, needs as Right)) continue
      const named = [...(takesCompany ? [theirs.companyId] : []), ...(isById || !takesCompany ? [own] : [])]
      for (const companyId of named) {
        const [path, body] = requestOf(route, takesCompany ? companyId : undefined)
        const status = ofStaffAlone.includes(route) ? 403 : 404
        await expectNoTraceOf(`${route} ${path}`)
        const answer = await ask(browser, route, path, body)
        expect([path, answer]).toMatchObject([path, { status }])
        expect(answer.text).not.toContain(MARK)
      }
    }
  })

  const lesser = (['COMPANY', 'PARTNER'] as const).flatMap(kind =>
    roles[kind].filter(role => role !== 'owner').map(role => [kind, role] as const),
  )

  test.each(lesser)(
    'finds nothing of another company for %s in the role %s, and changes nothing',
    async (kind, role) => {
      await mayChange()
      const own = kind === 'COMPANY' ? undefined : ours.companyId
      const browser = await signedIn(kind === 'COMPANY' ? ofCompany(ours.companyId) : ofPartner(ours.partnerId), role)
      const open = routes.filter(
        ({ route, needs }) => tenantRoutes.includes(route) && may({ kind, role }, needs as Right),
      )
      expect(open.length).toBeGreaterThan(15)
      const before = await printOfTables(api.sql)
      const wrong: unknown[] = []
      for (const { route, takesCompany } of open) {
        const isById = /:(?!kind|month)/.test(route)
        const named = [...(takesCompany ? [theirs.companyId] : []), ...(isById || !takesCompany ? [own] : [])]
        for (const companyId of named) {
          const [path, body] = requestOf(route, takesCompany ? companyId : undefined)
          const { status, text } = await ask(browser, route, path, body)
          if (status !== (ofStaffAlone.includes(route) ? 403 : 404) || text.includes(MARK)) wrong.push([path, status])
        }
      }
      expect(wrong).toEqual([])
      expect(await printOfTables(api.sql)).toEqual(before)
    },
  )

  // The answer of the first does not end, and the others refuse the owner too.
  const withoutOwner = ['GET /live', ...ofStaffAlone]

  test.each(tenantRoutes.filter(route => !withoutOwner.includes(route)))('%s finds an own object', async route => {
    const { needs, takesCompany } = routes.find(one => one.route === route)!
    const browser = may({ kind: 'COMPANY', role: 'owner' }, needs as Right) ? theirs.owner : theirs.partnerOwner
    await mayChange()
    const { text } = await ask(browser, route, ...requestOf(route, takesCompany ? theirs.companyId : undefined))
    expect([route, /"code":(4010|4030|4040|5000)/.exec(text)?.[0]]).toEqual([route, undefined])
  })
})

function holdersOf(right: Right, kind: PersonKind): string[] {
  const named = roles[kind].filter(role => may({ kind, role }, right))
  if (named.length === 0) return []
  return [`${kind}: ${named.length === roles[kind].length ? 'all' : named.join(' ')}`]
}

const isRight = (needs: Needs): needs is Right => (rights as readonly string[]).includes(needs)

test("an answer about the viewer's own companies contains nothing of other companies", async () => {
  const lists = routes.filter(
    ({ route, needs }) => /^GET [^:]*$/.test(route) && isOfTenants(needs) && route !== 'GET /live',
  )
  const found: string[] = []
  for (const browser of [ours.owner, ours.partnerOwner])
    for (const { route } of [...lists, { route: 'GET /companies' }]) {
      const [path] = requestOf(route, undefined)
      if ((await ask(browser, route, path)).text.includes(MARK)) found.push(path)
    }
  expect(found).toEqual([])
  expect((await ask(theirs.partnerOwner, 'GET /company-list', '/company-list')).text).toContain(MARK)
})

describe('an id of another company within a query or a body', () => {
  type Own = Awaited<ReturnType<typeof belongingsOf>>
  type Request = { path?: string; query?: string; body?: object }
  const ofPartnerOfTheirs = () => ({ query: `partnerId=${theirs.partnerId}` })
  const company = { name: 'Taken', counteragentType: 'LEGAL', counteragentInn: '7700000003' }
  const versionOf = async (path: string) => (await ours.owner.ask('GET', path)).body.version as string

  /** Every id within a query or a body of a route that tenants may use: a request with it, or why there is none. */
  const requests: Record<string, ((own: Own) => Request | Promise<Request>) | string> = {
    'GET /people ?partnerId': ofPartnerOfTheirs,
    'POST /people ?partnerId': () => ({
      ...ofPartnerOfTheirs(),
      body: { login: 'intruder@example.com', role: 'owner' },
    }),
    'PATCH /people/:personId ?partnerId': () => ({ ...ofPartnerOfTheirs(), body: { role: 'owner' } }),
    'POST /people/:personId/invitation ?partnerId': ofPartnerOfTheirs,
    'GET /company-list ?partnerId': ofPartnerOfTheirs,
    'POST /companies body.partnerId': () => ({ body: { ...company, partnerId: theirs.partnerId } }),
    'GET /audit ?person': () => ({ query: `person=${theirs.personId}` }),
    'GET /audit ?subject': () => ({ query: `subject=key:${theirs.keyId}` }),
    'GET /blacklist ?q': () => ({ query: `q=${MARK}` }),
    'GET /inbound ?q': () => ({ query: `q=${MARK}` }),
    'GET /inbound ?center': () => ({ query: `center=${theirs.centerId}` }),
    'GET /inbound/report ?q': () => ({ query: `q=${MARK}` }),
    'GET /inbound/report ?center': () => ({ query: `center=${theirs.centerId}` }),
    'POST /inbound/rules body.center': 'is a name of a center of the own company',
    'PATCH /inbound/rules/:ruleId body.center': 'is a name of a center of the own company',
    'PATCH /inbound/rules/:ruleId body.seen.centerId': 'is compared with the own rule, and not stored',
    'PUT /inbound/centers/default body.centerId': own => ({
      body: { centerId: theirs.centerId, seen: own.centerId },
    }),
    'GET /links ?q': () => ({ query: 'q=kolibri' }),
    'GET /links ?dispatch': () => ({ query: `dispatch=${theirs.dispatchId}` }),
    'GET /messages ?q': () => ({ query: `q=${theirs.uuid}` }),
    'GET /messages ?dispatch': () => ({ query: `dispatch=${theirs.dispatchId}` }),
    'GET /messages/incoming ?q': () => ({ query: `q=${theirs.uuid}` }),
    'GET /messages/report ?q': () => ({ query: `q=${theirs.uuid}` }),
    'GET /messages/report ?dispatch': () => ({ query: `dispatch=${theirs.dispatchId}` }),
    'GET /live ?dispatches': 'the test of every route does it',
    'GET /verification ?verifier': () => ({ query: `verifier=${theirs.verifierId}` }),
    'POST /verification/unblock body.subject': 'is a subject of the own company, such as a number',
    'POST /verification/:kind/:id/try/check body.uuid': own => ({
      path: `/verification/verifiers/${own.verifierId}/try/check`,
      body: { uuid: theirs.uuid, code: '1234' },
    }),
    'GET /prices/calculation ?partnerId': () => ({
      query: `partnerId=${theirs.partnerId}&channelType=SMS&messages=1`,
    }),
    'POST /senders body.documentIds': () => ({ body: nameOf([theirs.documentId]) }),
    'PATCH /senders/:senderId body.documentIds': async own => ({
      path: `/senders/${own.senderId}`,
      body: { version: await versionOf(`/senders/${own.senderId}`), documentIds: [theirs.documentId] },
    }),
    'POST /templates body.senderId': () => ({ body: templateOf('Taken', theirs.senderId) }),
    'PATCH /templates/:templateId body.senderId': async own => ({
      path: `/templates/${own.templateId}`,
      body: { version: await versionOf(`/templates/${own.templateId}`), senderId: theirs.senderId },
    }),
    'POST /keys body.center': 'is a name of a center of the own company',
    'GET /callbacks ?message': () => ({ query: `message=${theirs.uuid}` }),
    'POST /callbacks/receivers/try body.receiver': () => ({ body: { receiver: 'https://kolibri.example' } }),
    'GET /requests ?partnerId': ofPartnerOfTheirs,
    'GET /requests ?key': () => ({ query: `key=${theirs.keyId}` }),
    'GET /requests ?requestId': () => ({ query: 'requestId=of-kolibri' }),
  }

  test('is in the list above: add the ids of a new route to it', () => {
    const ids = routes
      .filter(({ needs }) => isOfTenants(needs))
      .flatMap(({ route, inputs }) => inputs.filter(input => isId(input)).map(input => [route, input] as const))
      .filter(([, input]) => !input.startsWith(':') && input !== '?companyId') // the test of every route has these
    expect(ids.map(([route, input]) => `${route} ${input}`).sort()).toEqual(Object.keys(requests).sort())
  })

  test('is refused, or finds nothing, and changes nothing', async () => {
    const own = await belongingsOf(ours, 'Romashka')
    const wrong: unknown[] = []
    const before = await printOfTables(api.sql)
    for (const [name, requestOf] of Object.entries(requests)) {
      if (typeof requestOf === 'string') continue
      const [method, pattern] = name.split(' ') as [string, string]
      const { path, query, body } = await requestOf(own)
      const { takesCompany, needs } = routes.find(({ route }) => route === `${method} ${pattern}`)!
      const filled = path ?? pattern.replace(/:(\w+)/g, (_, param) => String(idsOfTheirs(pattern)[param]))
      for (const [browser, kind] of [
        [ours.owner, 'COMPANY'],
        [ours.partnerOwner, 'PARTNER'],
      ] as const) {
        if (!may({ kind, role: 'owner' }, needs as Right)) continue
        const isNamed = kind === 'PARTNER' && takesCompany && !query?.startsWith('partnerId')
        const named = isNamed ? `&companyId=${ours.companyId}` : ''
        const { status, text } = await ask(browser, name, `${filled}?${query ?? ''}${named}`, body)
        if (status >= 400 && status < 500) continue
        const nothing = await ask(browser, name, `${filled}?${query ? unknownIn(query) : ''}${named}`, body)
        const isNothing =
          method === 'GET' ? timeless(text) === timeless(nothing.text) : /"status":"NOT_FOUND"/.test(text)
        if (!isNothing || /kolibri/i.test(text)) wrong.push([name, kind, status, text])
      }
    }
    expect(wrong).toEqual([])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('is found by its owner', async () => {
    const found: string[] = []
    for (const [name, requestOf] of Object.entries(requests)) {
      if (typeof requestOf === 'string' || !name.startsWith('GET')) continue
      const { query } = await requestOf(theirs)
      const [, path] = name.split(' ')
      const { text } = await ask(theirs.owner, name, `${path}?${query}`)
      if (/kolibri/i.test(text)) found.push(name)
    }
    expect(found).toEqual(expect.arrayContaining(['GET /audit ?subject', 'GET /links ?q', 'GET /messages ?dispatch']))
  })

  /** The same query with an id or a text that does not exist. */
  const unknownIn = (query: string) =>
    query
      .replace(/=(key:)?\d+(?=&|$)/, '=$1999999')
      .replace(/=[0-9a-f-]{36}/, `=${NOWHERE}`)
      .replace(/kolibri/i, 'Xolibri')
})

const timeless = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
const NOWHERE = '0198c5a0-0000-7000-8000-000000000000'

test("a session of another person cannot be ended, also not by the person's own partner", async () => {
  const { body } = await theirs.owner.ask('GET', '/account/sessions')
  for (const browser of [ours.owner, neighbour, theirs.partnerOwner])
    expect((await browser.ask('DELETE', `/account/sessions/${body.sessions[0].id}`)).status).toBe(404)
  expect((await theirs.owner.ask('GET', '/session')).status).toBe(200)
})

describe('a request of another site', () => {
  const siteHeaders: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:8080.evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]

  test('is refused on every route that changes something, also with a valid cookie, and changes nothing', async () => {
    const changing = routes.filter(({ route }) => !route.startsWith('GET'))
    expect(changing.length).toBeGreaterThan(80)
    const admin = await signedIn(staff, 'admin')
    const before = await printOfTables(api.sql)
    const wrong: unknown[] = []
    for (const { route } of changing)
      for (const more of siteHeaders) {
        const [path, body] = requestOf(route, ours.companyId)
        const headers = { host: 'localhost:8080', cookie: admin.cookie!, ...more }
        const method = route.split(' ')[0] as Method
        const answer = await api.app.inject({ method, url: `/cabinet/api${path}`, payload: body ?? {}, headers })
        const isRefused = answer.statusCode === 403 && answer.body.includes('comes from another site')
        if (!isRefused) wrong.push([route, more, answer.statusCode])
      }
    expect(wrong).toEqual([])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('is no way around it: HEAD and GET change nothing', async () => {
    const admin = await signedIn(staff, 'admin')
    const reading = routes.filter(({ route }) => route.startsWith('GET') && route !== 'GET /live')
    const before = await printOfTables(api.sql, ['person_sessions'])
    for (const { route } of reading) await ask(admin, route, requestOf(route, theirs.companyId)[0])
    expect(await printOfTables(api.sql, ['person_sessions'])).toEqual(before)
  })
})

describe('fields that a request may not set', () => {
  test('are stored by no route that adds something', async () => {
    const owner = { companyId: theirs.companyId, partnerId: theirs.partnerId }
    const adding = routes.filter(
      ({ route, needs }) => /^POST [^:]*(:kind)?$/.test(route) && isOfTenants(needs) && bodies[route],
    )
    const accepted: string[] = []
    await expectNothingAssigned(api.sql, owner, async () => {
      for (const { route, inputs, takesCompany } of adding) {
        const known = inputs.map(input => input.split(/\.|\[\]\.?|\?/).at(-1)!)
        const [path, body] = requestOf(route, takesCompany ? ours.companyId : undefined)
        if (Buffer.isBuffer(body)) continue
        const { status } = await ask(ours.partnerOwner, route, path, withForbidden(body, known, owner) as object)
        if (status < 300) accepted.push(route)
      }
    })
    expect(accepted.length).toBeGreaterThan(6)
  })

  test('of the own account are its name, language and theme alone', async () => {
    const person = async () => (await ours.owner.ask('GET', '/session')).body.person
    const before = await person()
    const more = {
      role: 'admin',
      kind: 'STAFF',
      companyId: theirs.companyId,
      partnerId: theirs.partnerId,
      login: 'x',
      isActive: false,
    }
    expect((await ours.owner.ask('PATCH', '/account', { name: 'Anna', ...more })).status).toBeLessThan(300)
    expect(await person()).toEqual({ ...before, name: 'Anna' })
    const [entry] = await api.sql`select after from audit_entries where what = 'account.changed' order by entry_id desc`
    expect(Object.keys(entry!.after).filter(name => !['name', 'language', 'theme'].includes(name))).toEqual([])
  })
})
