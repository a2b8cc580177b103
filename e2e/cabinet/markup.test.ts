import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7 } from '../../src/base/uuid7.ts'
import { recordChange } from '../../src/domain/audit-log/audit-log.ts'
import { addToBlacklist } from '../../src/domain/blacklist/blacklist.ts'
import { enqueueCallbacks } from '../../src/domain/callbacks/callbacks.ts'
import { setSwitches } from '../../src/domain/companies/companies.ts'
import { storeDocument } from '../../src/domain/documents/documents.ts'
import { receiveInbound } from '../../src/domain/inbound/inbound.ts'
import { addRule } from '../../src/domain/inbound/rules.ts'
import { createKey } from '../../src/domain/keys/keys.ts'
import { importRegister, saveVirtualOperator } from '../../src/domain/numbering/imports.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { addPiece, compareUpload, startUpload } from '../../src/domain/numbering/uploads.ts'
import { invitePerson } from '../../src/domain/people/people.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { advanceDueSenders, denySender, rejectSender } from '../../src/domain/senders/moderation.ts'
import { followLink, saveLinks } from '../../src/domain/short-links/short-links.ts'
import { advanceDueTemplates, rejectTemplate } from '../../src/domain/templates/moderation.ts'
import { createTemplate } from '../../src/domain/templates/templates.ts'
import { createVerifier } from '../../src/domain/verifiers/verifiers.ts'
import { aPerson, ofCompany, staff } from '../../src/testing/cabinet.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner, aSender } from '../../src/testing/factories.ts'
import { aDispatch, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'
import { PNG } from './pictures.ts'

/** Names and texts with markup, on every page that shows them: the markup is shown as text and runs no script. */

const cabinet = useCabinet()
const { newPage } = useBrowser()

/** Markup that reports itself if a page makes an element of it. Each value differs, so that no value hides another. */
const markup = (value: string) => `<img src=x onerror=ran('${value}')>`

/** A page, the values that it must show, and a step that shows them. */
type Shown = { path: string; values: string[]; open?: (page: Page) => Promise<unknown> }

/** The number of elements made of markup, and the texts that the page does not show. Fields show their text as value. */
const stateOf = (texts: string[]) => `(() => {
  const fields = [...document.querySelectorAll('input, textarea')].filter(field => field.checkVisibility())
  const shown = [document.body.innerText, ...fields.map(({ value }) => value)]
  const missing = ${JSON.stringify(texts)}.filter(text => !shown.some(one => one.includes(text)))
  return { elements: document.querySelectorAll('img[src=x]').length, missing }
})()`

/** Changes the page without loading the whole cabinet again, which would take longer. */
const goTo = (page: Page, path: string) => page.evaluate(`history.pushState({}, '', '/cabinet/${path}')`)

/** Leaves the page before, which may show the same values, for a page that is quickly drawn. */
async function leave(page: Page) {
  await goTo(page, 'not-found')
  await page.waitForFunction(
    `!document.querySelector('main').innerText.includes('<img') && !document.querySelector('[role=dialog]')`,
  )
}

async function expectShownAsText(page: Page, { path, values, open }: Shown) {
  await leave(page)
  await goTo(page, path)
  await open?.(page)
  const state = stateOf(values.map(markup))
  const isDone = `(({ elements, missing }) => elements > 0 || missing.length === 0)(${state})`
  await page.waitForFunction(isDone).catch(() => {}) // the next line says which value is missing
  expect([path, await page.evaluate(state)]).toEqual([path, { elements: 0, missing: [] }])
}

async function openAll(place: Place, role: string, pages: Shown[]) {
  const { login } = await aPerson(cabinet.sql, place, role)
  // Without the page's policy, which would stop the script of an element that is made of markup.
  const page = await newPage({ viewport: { width: 1400, height: 900 }, bypassCSP: true })
  const faults = watchFaults(page)
  const ran: string[] = []
  await page.exposeFunction('ran', (value: string) => ran.push(value))
  await enter(page, cabinet, login, 'account')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const shown of pages) await expectShownAsText(page, shown)
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(markup('proof'))})`)
  await eventually(() => expect(ran).toEqual(['proof'])) // only the element that the test itself made has run
  faults.expectNone()
}

const search = async (page: Page) => {
  await page.keyboard.press('Control+K')
  await page.locator('[role=dialog] input:focus').waitFor()
  await page.keyboard.type('<img')
}

const openCompanies = (page: Page) => page.getByRole('button', { name: 'Company: All companies' }).click()

let world: World
let dispatchId: number
let gatewayId: number
let asked: Awaited<ReturnType<typeof requests>>

beforeAll(async () => {
  const { sql } = cabinet
  const partner = await aPartner(sql, markup('partner'))
  const companyId = await aCompany(sql, partner, { name: markup('company') })
  world = { partner, companyId, senders: [await anApprovedSender(sql, companyId)] }
  gatewayId = (await aGateway(sql, { name: markup('gateway'), channelType: 'WHATSAPP' })).gatewayId
  dispatchId = await aDispatch(sql, await loadNumbering(sql), world, [{ destination: '79160000077' }], {
    text: markup('message'),
  })
  await sql`update dispatches set name = ${markup('dispatch')} where dispatch_id = ${dispatchId}`
  await sql.begin(async tx => {
    const person = { login: 'boris@example.com', role: 'viewer', name: markup('person') }
    await invitePerson(tx, ofCompany(companyId), person, new Date())
    await recordChange(
      tx,
      { kind: 'OPERATOR', name: markup('operator') },
      {
        what: 'sender.rejected',
        subject: { kind: 'sender', id: 1, name: markup('subject') },
        companyId,
        before: { comment: markup('before') },
        after: { comment: markup('after') },
      },
    )
  })
  asked = await requests()
})

/** Requests of a sender name and of a template that were sent back, and requests that wait. */
async function requests() {
  const { sql } = cabinet
  const { companyId } = world
  const now = new Date()
  const document = await sql.begin(tx => storeDocument(tx, companyId, { filename: markup('document'), content: PNG }))
  const name = { senderName: markup('sender'), channelType: 'VIBER' } as const
  const other = await aCompany(sql, world.partner)
  const denied = await aSender(sql, other, name)
  await denySender(sql, denied.senderId, markup('denial'), now)
  const description = markup('description')
  const { senderId } = await aSender(sql, companyId, { ...name, description, documentIds: [document.id] })
  await aSender(sql, companyId, { ...name, senderName: markup('waiting sender') })

  const template = { channelType: 'SMS', trafficType: 'AUTHORIZE', content: null, senderId: null } as const
  const make = (pattern: string) =>
    sql.begin(tx => createTemplate(tx, companyId, { ...template, pattern, validFrom: now, validTo: null }, now))
  const { templateId } = await make(markup('template'))
  await make(markup('waiting template'))

  await advanceDueSenders(sql, 'manual', () => null, now)
  await advanceDueTemplates(sql, 'manual', now)
  await rejectSender(sql, senderId, markup('rejection'), now)
  await rejectTemplate(sql, templateId, markup('template rejection'), now)
  return { documentId: document.id, senderId, templateId }
}

/** A short link of the dispatch with a click, a number on the blacklist, and a message of a subscriber. */
async function subscribers() {
  const { sql } = cabinet
  const { companyId } = world
  const now = new Date()
  const [message] = await sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
  const link = { code: 'markup1234', messageUuid: message!.uuid, url: `https://shop.example/${markup('target')}` }
  await sql.begin(tx => saveLinks(tx, companyId, [link], now))
  await followLink(sql, link.code, { base: cabinet.origin, now })
  await addToBlacklist(sql, companyId, '79160000063', markup('blacklist'), 'API')

  await setSwitches(sql, companyId, { inbound: true })
  const senderName = markup('inbound name')
  await anApprovedSender(sql, companyId, { channelType: 'WHATSAPP', senderName })
  await addRule(sql, companyId, {
    channelType: 'WHATSAPP',
    senderNames: [senderName],
    callbackUrl: 'https://shop.example/inbound', // the service takes no address with markup
    center: markup('center'),
  })
  const written = { from: '79160000062', to: senderName, text: markup('inbound'), receivedAt: now }
  await receiveInbound(sql, gatewayId, written)
  return { code: link.code, uuid: message!.uuid }
}

async function verifiers() {
  const { sql } = cabinet
  const { companyId } = world
  const [verifierId, widgetId] = await sql.begin(async tx => [
    await createVerifier(tx, companyId, 'API', { name: markup('verifier') }),
    await createVerifier(tx, companyId, 'WIDGET', { name: markup('widget'), page: { origins: ['https://a.example'] } }),
  ])
  await sql`
    insert into widget_errors (company_id, widget_id, code, reason, origin)
    values (${companyId}, ${widgetId}, 310, ${markup('widget error')}, ${markup('origin')})`
  return { verifierId, widgetId }
}

/** A key with a request, and a callback with an answer and without one. */
async function ofDevelopers() {
  const { sql } = cabinet
  const { companyId } = world
  const now = new Date()
  const event = { event: 'delivered' as const, messageUuid: uuid7(now), destination: '79160000001', at: now }
  const url = 'https://shop.example/callback'
  const keyId = await sql.begin(async tx => {
    await enqueueCallbacks(tx, companyId, [{ url, event }], now)
    return (await createKey(tx, companyId, 'ENTITY', { name: markup('key') })).keyId
  })
  // The service takes no address with markup, and the pages do not rely on it.
  await sql`update callbacks set url = ${`https://shop.example/${markup('callback')}`} where company_id = ${companyId}`
  await sql`insert into receivers (company_id, receiver, failures) values (${companyId}, ${markup('receiver')}, 20)`
  const [callback] = await sql<{ callbackId: number }[]>`
    insert into callback_attempts (company_id, callback_id, attempted_at, tried_events, delivered_events, status_code,
      error, answer, took_ms)
    select company_id, callback_id, now() - n * interval '1 second', 1, 0, (array[500, null])[n],
      (array[null, ${markup('failure')}])[n], (array[${markup('answer')}, null])[n], 1
    from callbacks, generate_series(1, 2) n where company_id = ${companyId} returning callback_id`
  await sql`select ensure_request_hour(now())`
  await sql`
    insert into requests (owner_kind, owner_id, at, key_id, method, route, status, took_ms, address, request_id)
    values ('COMPANY', ${companyId}, now(), ${keyId}, 'POST', '/api/v1/message', 200, 1, '203.0.113.9', 'request')`
  return callback!
}

/** A gateway without a connection, with errors of its operator. */
async function gatewayErrors() {
  const { sql } = cabinet
  const worker = crypto.randomUUID()
  const error = { kind: 'refused', errorCode: 603, operatorError: markup('operator error'), reason: markup('reason') }
  await sql`
    insert into gateway_states (gateway_id, worker, up, open_messages, window_size, bound, wanted, parts_last_minute,
      last_error, last_error_at, seen_at)
    values (${gatewayId}, ${worker}, false, 0, 0, 0, 1, 0, ${markup('connection error')}, now(), now() + interval '1 hour')`
  await sql`
    insert into gateway_minutes (gateway_id, minute, worker, parts, taken, ended, failed, errors)
    select ${gatewayId}, date_trunc('minute', now()), ${worker}, 1, 1, 1, 1,
      ${JSON.stringify([{ ...error, count: 1, lastAt: new Date() }])}::text::jsonb`
  await sql`
    insert into late_receipts (company_id, message_uuid, status, received_at, operator_error, gateway_id)
    values (${world.companyId}, gen_random_uuid(), 'FAILED', now(), ${markup('late error')}, ${gatewayId})`
}

/** An imported register, a virtual operator, and an uploaded register that changes the operator of a code. */
async function numberingPlan() {
  const { sql } = cabinet
  const now = new Date()
  const register = (operator: string, region: string) =>
    Buffer.from(`999;0000000;9999999;10000000;${markup(operator)};${region};${region};7700000002`)
  async function* source() {
    yield register('holder', 'г. Москва')
  }
  await importRegister(sql, source(), { name: markup('register') })
  await saveVirtualOperator(sql, { inn: '7700000001', name: markup('virtual operator'), brandId: 2 })
  const piece = register('new holder', markup('region'))
  const upload = { kind: 'register', name: markup('upload'), replaces: false, sizeBytes: piece.length } as const
  const uploadId = await startUpload(sql, upload, now)
  await addPiece(sql, uploadId, 0, piece, now)
  await compareUpload(sql, uploadId, now)
  return uploadId
}

describe.skipIf(!hasBrowser)('markup in names and texts is shown as text', () => {
  test('to a company', async () => {
    const { documentId, senderId, templateId } = asked
    const { code, uuid } = await subscribers()
    const { verifierId, widgetId } = await verifiers()
    const { callbackId } = await ofDevelopers()
    await openAll(ofCompany(world.companyId), 'owner', [
      { path: 'senders', values: ['company', 'sender', 'rejection', 'waiting sender'] },
      { path: `senders/${senderId}`, values: ['sender', 'rejection', 'description', 'document'] },
      { path: 'templates', values: ['template', 'template rejection', 'waiting template'] },
      { path: `templates/${templateId}`, values: ['template', 'template rejection'] },
      { path: `documents?open=${documentId}`, values: ['document'] },
      { path: 'links', values: ['target', 'dispatch'] },
      { path: `links?open=${code}`, values: ['target', 'dispatch'] },
      { path: 'blacklist', values: ['blacklist'] },
      { path: 'inbound', values: ['inbound', 'inbound name', 'center'] },
      { path: 'inbound/rules', values: ['inbound name', 'center'] },
      { path: 'inbound/centers', values: ['center'] },
      { path: 'verification', values: ['verifier', 'widget'] },
      { path: `verification/verifiers/${verifierId}`, values: ['verifier'] },
      { path: `verification/widgets/${widgetId}`, values: ['widget', 'widget error', 'origin'] },
      { path: 'developers', values: ['key'] },
      { path: 'developers/requests', values: ['key'] },
      { path: `developers/callbacks?open=${callbackId}`, values: ['callback', 'receiver', 'answer', 'failure'] },
      { path: 'audit', values: ['subject', 'before', 'after'] },
      { path: 'people', values: ['person'] },
      { path: 'dispatches', values: ['dispatch'] },
      { path: `dispatches/${dispatchId}`, values: ['dispatch', 'message'] },
      { path: `messages?open=${uuid}`, values: ['message', 'dispatch'] },
      { path: 'account', values: ['dispatch'], open: search },
    ])
  })

  test('to staff', async () => {
    const { senderId, templateId } = asked
    await gatewayErrors()
    const uploadId = await numberingPlan()
    const { companyId, partner } = world
    await openAll(staff, 'admin', [
      {
        path: `review?sender=${senderId}`,
        values: [
          'company',
          'sender',
          'waiting sender',
          'waiting template',
          'description',
          'rejection',
          'denial',
          'document',
        ],
      },
      { path: `review?template=${templateId}`, values: ['company', 'template', 'template rejection'] },
      { path: 'partners', values: ['partner'] },
      { path: `partners/${partner.partnerId}`, values: ['partner', 'company'] },
      { path: 'companies', values: ['company', 'partner'] },
      { path: `companies/${companyId}`, values: ['company', 'partner'] },
      { path: 'gateways', values: ['gateway'] },
      {
        path: `gateways/${gatewayId}`,
        values: ['gateway', 'connection error', 'operator error', 'reason', 'late error'],
      },
      { path: `gateways/${gatewayId}/settings`, values: ['gateway'] },
      { path: 'numbering', values: ['register', 'holder', 'virtual operator', 'upload'] },
      { path: `numbering?upload=${uploadId}`, values: ['upload', 'holder', 'new holder', 'region'] },
      { path: 'audit', values: ['operator', 'subject', 'before', 'after', 'company'] },
      { path: 'account', values: ['company'], open: openCompanies },
      { path: 'account', values: ['company', 'partner', 'gateway', 'dispatch'], open: search },
    ])
  })
})
