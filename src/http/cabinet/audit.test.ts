import { beforeAll, describe, expect, test } from 'vitest'
import { recordChange } from '../../domain/audit-log/audit-log.ts'
import type { Actor, AuditAction, Change } from '../../domain/audit-log/entry.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { invitePerson } from '../../domain/people/people.ts'
import { codeAt } from '../../domain/people/totp.ts'
import { defaultPage, defaultSettings } from '../../domain/verifiers/verifier.ts'
import { formOf, useApp } from '../../testing/api.ts'
import { aPerson, CabinetBrowser, cabinetRoutes, ofCompany, ofPartner, PASSWORD, staff } from '../../testing/cabinet.ts'
import { aCompany, anApprovedSender, aPartner, type TestPartner } from '../../testing/factories.ts'
import { aDispatch, someRecipients } from '../../testing/world.ts'
import type { AuditAnswer } from './service/audit.ts'
import type { TariffAnswer, TariffsAnswer } from './tariffs/tariffs.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let elsewhere: { partnerId: number; companyId: number }

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  const other = await aPartner(api.sql)
  elsewhere = { partnerId: other.partnerId, companyId: await aCompany(api.sql, other) }
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { personId, login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  const find = async (query = '') => (await browser.ask('GET', `/audit${query}`)).body as AuditAnswer
  return { personId, login, browser, find }
}

async function aCompanysDispatch(): Promise<number> {
  const senders = [await anApprovedSender(api.sql, companyId)]
  const numbering = await loadNumbering(api.sql)
  return aDispatch(api.sql, numbering, { partner, companyId, senders }, someRecipients(1))
}

type SignedIn = Awaited<ReturnType<typeof signedIn>>

describe('every change of the cabinet', () => {
  const secrets: string[] = []

  /** A route that changes something: its request, and the audit entries that must follow. */
  const changes: Record<string, (me: SignedIn) => Promise<AuditAction[]>> = {
    'POST /people': async ({ browser }) => {
      const { body } = await browser.ask('POST', '/people', { login: 'new@example.com', role: 'viewer' })
      secrets.push(body.link.split('#')[1])
      return ['person.invited']
    },
    'PATCH /people/:personId': async ({ browser }) => {
      const { personId } = await aPerson(api.sql, ofCompany(companyId), 'viewer')
      await browser.ask('PATCH', `/people/${personId}`, { role: 'sender', isActive: false })
      await browser.ask('PATCH', `/people/${personId}`, { isActive: true })
      return ['person.role_changed', 'person.deactivated', 'person.activated']
    },
    'POST /people/:personId/invitation': async ({ browser }) => {
      const { personId } = await aPerson(api.sql, ofCompany(companyId), 'viewer')
      const { body } = await browser.ask('POST', `/people/${personId}/invitation`)
      secrets.push(body.link.split('#')[1])
      return ['person.link_renewed']
    },
    'POST /invitation/accept': async ({ browser }) => {
      const given = { login: 'invited@example.com', role: 'viewer' }
      const { token } = await api.sql.begin(tx => invitePerson(tx, ofCompany(companyId), given, new Date()))
      await browser.ask('POST', '/invitation/accept', { token, password: 'a password of mine' })
      secrets.push(token, 'a password of mine')
      return ['person.joined']
    },
    'PATCH /account': async ({ browser }) => {
      await browser.ask('PATCH', '/account', { name: 'Anna', theme: 'dark' })
      return ['account.changed']
    },
    'PUT /account/password': async ({ browser }) => {
      await browser.ask('PUT', '/account/password', { before: PASSWORD, password: 'the next password' })
      secrets.push(PASSWORD, 'the next password')
      return ['account.password_changed']
    },
    'DELETE /account/sessions/:id': async ({ browser, login }) => {
      await new CabinetBrowser(() => api.app).signIn(login)
      const { body } = await browser.ask('GET', '/account/sessions')
      const other = body.sessions.find(({ isThis }: { isThis: boolean }) => !isThis)
      secrets.push(other.id)
      await browser.ask('DELETE', `/account/sessions/${other.id}`)
      return ['session.ended']
    },
    'DELETE /account/sessions': async ({ browser }) => {
      await browser.ask('DELETE', '/account/sessions')
      return ['sessions.ended']
    },
    'POST /account/second-factor': async me => {
      await switchOn(me)
      return ['account.second_factor_on']
    },
    'POST /account/second-factor/recovery-codes': async me => {
      const [code] = await switchOn(me)
      const { body } = await me.browser.ask('POST', '/account/second-factor/recovery-codes', { code })
      secrets.push(...body.recoveryCodes)
      return ['account.second_factor_on', 'account.recovery_codes_renewed']
    },
    'DELETE /account/second-factor': async me => {
      const [code] = await switchOn(me)
      await me.browser.ask('DELETE', '/account/second-factor', { code })
      return ['account.second_factor_on', 'account.second_factor_off']
    },
    'POST /dispatches/:id/start': async ({ browser }) => {
      const dispatchId = await aCompanysDispatch()
      await browser.ask('POST', `/dispatches/${dispatchId}/start`)
      await browser.ask('POST', `/dispatches/${dispatchId}/start`) // is started already
      return ['dispatch.started']
    },
    'POST /dispatches/:id/stop': async ({ browser }) => {
      const dispatchId = await aCompanysDispatch()
      await browser.ask('POST', `/dispatches/${dispatchId}/start`)
      await browser.ask('POST', `/dispatches/${dispatchId}/stop`)
      return ['dispatch.started', 'dispatch.stopped']
    },
    'POST /dispatches/:id/again': async ({ browser }) => {
      const dispatchId = await aCompanysDispatch()
      await api.sql`update messages set status = 'FAILED' where dispatch_id = ${dispatchId}`
      await api.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
      await browser.ask('POST', `/dispatches/${dispatchId}/again`)
      await browser.ask('POST', `/dispatches/${dispatchId}/again`) // was sent again already
      return ['dispatch.sent_again']
    },
    'DELETE /documents/:documentId': async ({ browser }) => {
      const form = formOf({ name: 'file', filename: 'old.pdf', content: '%PDF-1.7' })
      const { id } = (await browser.ask('POST', '/documents', form.body, form)).body
      await browser.ask('DELETE', `/documents/${id}`)
      return ['document.uploaded', 'document.deleted']
    },
    'POST /documents': async ({ browser }) => {
      const form = formOf({ name: 'file', filename: 'charter.pdf', content: '%PDF-1.7' })
      await browser.ask('POST', '/documents', form.body, form)
      return ['document.uploaded']
    },
    'POST /new-dispatch': async ({ browser }) => {
      await aDraft(browser, 'create')
      await aDraft(browser, 'create') // the same request again
      return ['dispatch.created']
    },
    'POST /new-dispatch/:dispatchId/recipients': async ({ browser }) => {
      await fill(browser, await aDraft(browser, 'fill'))
      return ['dispatch.created', 'dispatch.changed']
    },
    'POST /new-dispatch/:dispatchId/start': async ({ browser }) => {
      const dispatchId = await aDraft(browser, 'start')
      await fill(browser, dispatchId)
      const { price } = (await browser.ask('GET', `/new-dispatch/${dispatchId}`)).body
      await browser.ask('POST', `/new-dispatch/${dispatchId}/start`, { price })
      await browser.ask('POST', `/new-dispatch/${dispatchId}/start`, { price }) // is started already
      return ['dispatch.created', 'dispatch.changed', 'dispatch.started']
    },
    'POST /inbound/rules': async ({ browser }) => {
      await aRule(browser)
      secrets.push(encodeURIComponent('a word of the shop'))
      return ['inbound_rule.added']
    },
    'PATCH /inbound/rules/:ruleId': async ({ browser }) => {
      const { ruleId, centerId, callbackUrl } = await aRule(browser)
      const seen = { senderNames: [], centerId, callbackUrl }
      await browser.ask('PATCH', `/inbound/rules/${ruleId}`, { seen, center: 'Support' })
      return ['inbound_rule.added', 'inbound_rule.changed']
    },
    'DELETE /inbound/rules/:ruleId': async ({ browser }) => {
      await browser.ask('DELETE', `/inbound/rules/${(await aRule(browser)).ruleId}`)
      return ['inbound_rule.added', 'inbound_rule.removed']
    },
    'POST /inbound/centers': async ({ browser }) => {
      await browser.ask('POST', '/inbound/centers', { name: 'Counter' })
      return ['traffic_center.added']
    },
    'PUT /inbound/centers/default': async ({ browser }) => {
      const { centerId } = (await browser.ask('POST', '/inbound/centers', { name: 'Night' })).body
      const { centers } = (await browser.ask('GET', '/inbound/rules')).body
      const seen = centers.find(({ isDefault }: { isDefault: boolean }) => isDefault).centerId
      await browser.ask('PUT', '/inbound/centers/default', { centerId, seen })
      return ['traffic_center.added', 'traffic_center.made_default']
    },
    'POST /blacklist': async ({ browser }) => {
      await browser.ask('POST', '/blacklist', { msisdn: '79160000061' })
      await browser.ask('POST', '/blacklist', { msisdn: '79160000061' }) // is there already
      return ['blacklist.added']
    },
    'POST /blacklist/import': async ({ browser }) => {
      await browser.ask('POST', '/blacklist/import', { numbers: ['79160000062'] })
      await browser.ask('POST', '/blacklist/import', { numbers: ['79160000062'] }) // is there already
      return ['blacklist.imported']
    },
    'DELETE /blacklist/:msisdn': async ({ browser }) => {
      await browser.ask('POST', '/blacklist', { msisdn: '79160000063' })
      await browser.ask('DELETE', '/blacklist/79160000063')
      return ['blacklist.added', 'blacklist.removed']
    },
    'POST /send': async ({ browser }) => {
      const steps = [{ channelType: 'SMS', senderName: 'sms_promo', content: 'A secret for Anna' }]
      await browser.ask('POST', '/send', { destination: '79160000001', steps }, withKey('send'))
      await browser.ask('POST', '/send', { destination: '79160000001', steps }, withKey('send'))
      secrets.push('A secret for Anna')
      return ['message.sent']
    },
    'POST /messages/:uuid/callbacks/:callbackId/replay': async ({ browser }) => {
      const [message] =
        await api.sql`select message_uuid as uuid from messages where dispatch_id = ${await aCompanysDispatch()}`
      await browser.ask('POST', `/messages/${message!.uuid}/callbacks/${await aCallback()}/replay`)
      return ['callback.replayed']
    },
    'POST /verification/:kind': async ({ browser }) => {
      await aWidget(browser)
      return ['widget.created']
    },
    'PUT /verification/:kind/:id': async ({ browser }) => {
      const path = `/verification/widgets/${await aWidget(browser)}`
      const { version } = (await browser.ask('GET', path)).body
      await browser.ask('PUT', path, { ...widgetForm('the second secret'), version })
      return ['widget.created', 'widget.changed']
    },
    'DELETE /verification/:kind/:id': async ({ browser }) => {
      await browser.ask('DELETE', `/verification/widgets/${await aWidget(browser)}`)
      return ['widget.created', 'widget.deleted']
    },
    'POST /verification/:kind/:id/try': async ({ browser }) => {
      const own = { channelType: 'SMS', destination: '79160000077' }
      await browser.ask('POST', `/verification/widgets/${await aWidget(browser)}/try`, own)
      return ['widget.created', 'message.sent']
    },
    'POST /verification/unblock': async ({ browser }) => {
      const subject = 'prefix:7916000'
      await api.sql`
        insert into verification_limits (company_id, subject, since, count, last_at)
        values (${companyId}, ${subject}, now(), 1, now()) on conflict do nothing`
      await browser.ask('POST', '/verification/unblock', { subject })
      return ['verifier.unblocked']
    },
    'POST /keys': async ({ browser }) => {
      secrets.push((await browser.ask('POST', '/keys', { type: 'MESSAGE', name: 'shop' })).body.key)
      return ['key.created']
    },
    'PATCH /keys/:keyId': async ({ browser }) => {
      const { keyId } = (await browser.ask('POST', '/keys', { type: 'MESSAGE' })).body
      await browser.ask('PATCH', `/keys/${keyId}`, { isActive: false })
      await browser.ask('PATCH', `/keys/${keyId}`, { isActive: true })
      return ['key.created', 'key.deactivated', 'key.activated']
    },
    'POST /keys/:keyId/reissue': async ({ browser }) => {
      const { keyId } = (await browser.ask('POST', '/keys', { type: 'MESSAGE' })).body
      secrets.push((await browser.ask('POST', `/keys/${keyId}/reissue`)).body.key)
      return ['key.created', 'key.reissued']
    },
    'POST /callbacks/:callbackId/replay': async ({ browser }) => {
      await browser.ask('POST', `/callbacks/${await aCallback()}/replay`)
      return ['callback.replayed']
    },
    'POST /callbacks/receivers/try': async ({ browser }) => {
      await api.sql`insert into receivers (company_id, receiver) values (${companyId}, 'https://shop.example')`
      await browser.ask('POST', '/callbacks/receivers/try', { receiver: 'https://shop.example' })
      return ['callback.receiver_tried']
    },
    'POST /callbacks/secret': async ({ browser }) => {
      secrets.push((await browser.ask('POST', '/callbacks/secret')).body.secret)
      return ['callback.secret_replaced']
    },
    'POST /callbacks/tests': async ({ browser }) => {
      await browser.ask('POST', '/callbacks/tests', { url: 'https://user:callback-password@shop.example' })
      secrets.push('callback-password')
      return ['callback.tested']
    },
    'POST /senders': async ({ browser }) => {
      await aName(browser, 'Requested')
      return ['sender.created']
    },
    'PATCH /senders/:senderId': async ({ browser }) => {
      const senderId = await aName(browser, 'Changed')
      const { version } = (await browser.ask('GET', `/senders/${senderId}`)).body
      await browser.ask('PATCH', `/senders/${senderId}`, { version, senderName: 'Other' })
      return ['sender.created', 'sender.changed']
    },
    'POST /senders/:senderId/suspend': async ({ browser }) => {
      const senderId = await aName(browser, 'Suspended')
      await browser.ask('POST', `/senders/${senderId}/suspend`, {})
      await browser.ask('POST', `/senders/${senderId}/suspend`, {}) // is suspended already
      return ['sender.created', 'sender.suspended']
    },
    'POST /senders/:senderId/unsuspend': async ({ browser }) => {
      const senderId = await aName(browser, 'Resumed')
      await browser.ask('POST', `/senders/${senderId}/suspend`, {})
      await browser.ask('POST', `/senders/${senderId}/unsuspend`)
      return ['sender.created', 'sender.suspended', 'sender.unsuspended']
    },
    'POST /templates': async ({ browser }) => {
      await aTemplate(browser)
      return ['template.created']
    },
    'PATCH /templates/:templateId': async ({ browser }) => {
      const templateId = await aTemplate(browser)
      const { version } = (await browser.ask('GET', `/templates/${templateId}`)).body
      await browser.ask('PATCH', `/templates/${templateId}`, { version, pattern: 'Another %w' })
      return ['template.created', 'template.changed']
    },
    'DELETE /session': async ({ browser }) => {
      secrets.push(browser.cookie!.split('=')[1]!)
      await browser.ask('DELETE', '/session')
      return ['session.ended']
    },
  }

  /** The same for the changes of an admin of the staff. */
  const changesOfStaff: Record<string, (me: SignedIn) => Promise<AuditAction[]>> = {
    'POST /gateways': async me => {
      await aGatewayOf(me)
      return ['gateway.added']
    },
    'PATCH /gateways/:gatewayId': async me => {
      const path = await aGatewayOf(me)
      secrets.push('open sesame')
      await me.browser.ask('PATCH', path, { version: 1, settings: { password: 'open sesame' } })
      return ['gateway.added', 'gateway.changed']
    },
    'POST /gateways/:gatewayId/pause': async me => {
      await me.browser.ask('POST', `${await aGatewayOf(me)}/pause`)
      return ['gateway.added', 'gateway.paused']
    },
    'POST /gateways/:gatewayId/resume': async me => {
      const path = await aGatewayOf(me)
      await me.browser.ask('POST', `${path}/pause`)
      await me.browser.ask('POST', `${path}/resume`)
      return ['gateway.added', 'gateway.paused', 'gateway.resumed']
    },
    'POST /gateways/:gatewayId/drain': async me => {
      await me.browser.ask('POST', `${await aGatewayOf(me)}/drain`, {})
      return ['gateway.added', 'gateway.drain_started']
    },
    'POST /gateways/:gatewayId/trials': async me => {
      await me.browser.ask('POST', `${await aGatewayOf(me)}/trials`, { to: 'no number', sender: 'me', text: 'Hello' })
      return ['gateway.added', 'gateway.tested']
    },
    'DELETE /gateways/:gatewayId': async me => {
      await me.browser.ask('DELETE', await aGatewayOf(me))
      return ['gateway.added', 'gateway.removed']
    },
    'POST /companies': async ({ browser }) => {
      const company = { name: 'New', counteragentType: 'LEGAL', counteragentInn: '7700000009', budget: null }
      await browser.ask('POST', '/companies', { ...company, partnerId: partner.partnerId })
      return ['company.created']
    },
    'PATCH /companies/:companyId': async ({ browser }) => {
      const { updatedAt } = (await browser.ask('GET', `/companies/${companyId}`)).body
      await browser.ask('PATCH', `/companies/${companyId}`, { name: 'Renamed', actualAddress: 'Here', updatedAt })
      return ['company.changed']
    },
    'PUT /companies/:companyId/status': async ({ browser }) => {
      const turn = (status: string) => browser.ask('PUT', `/companies/${companyId}/status`, { status })
      await Promise.all([turn('DISABLED'), turn('DISABLED')]) // two people at once
      await turn('ACTIVE')
      return ['company.disabled', 'company.enabled']
    },
    'PUT /companies/:companyId/limits': async ({ browser }) => {
      const { updatedAt } = (await browser.ask('GET', `/companies/${companyId}`)).body
      const limits = { budget: 1_000_000, partsPerSecond: 1000, updatedAt }
      await browser.ask('PUT', `/companies/${companyId}/limits`, limits)
      return ['budget.changed', 'company.changed']
    },
    'POST /partners': async me => {
      await aPartnerOf(me)
      return ['partner.created']
    },
    'POST /partners/:partnerId/password': async me => {
      const { body } = await me.browser.ask('POST', `/partners/${await aPartnerOf(me)}/password`)
      secrets.push(body.password)
      return ['partner.created', 'partner.password_changed']
    },
    'PUT /partners/:partnerId/state': async me => {
      const path = `/partners/${await aPartnerOf(me)}/state`
      for (const isActive of [false, false, true]) await me.browser.ask('PUT', path, { isActive })
      return ['partner.created', 'partner.disabled', 'partner.enabled']
    },
    'POST /partners/:partnerId/unlock': async me => {
      await me.browser.ask('POST', `/partners/${await aPartnerOf(me)}/unlock`)
      return ['partner.created', 'partner.unlocked']
    },
    'POST /money/top-ups': async ({ browser }) => {
      const path = `/money/top-ups?companyId=${companyId}`
      await browser.ask('POST', path, { amount: '10', note: 'Invoice 7' }, withKey('top-up'))
      await browser.ask('POST', path, { amount: '10', note: 'Invoice 7' }, withKey('top-up')) // the same request again
      return ['company.topped_up']
    },
    'POST /money/corrections': async ({ browser }) => {
      const path = `/money/corrections?companyId=${companyId}`
      const body = { amount: '-0.5', reason: 'Invoice 7 twice' }
      for (let time = 0; time < 2; time++) await browser.ask('POST', path, body, withKey('correction')) // counts once
      return ['company.balance_corrected']
    },
    'PUT /money/terms': async ({ browser }) => {
      const path = `/money/terms?companyId=${companyId}`
      const { terms } = (await browser.ask('GET', `/money?companyId=${companyId}`)).body
      const [more, prepaid] = [
        { ...terms, budget: '77' },
        { ...terms, billing: 'PREPAID' },
      ]
      await browser.ask('PUT', path, { before: terms, after: more })
      await browser.ask('PUT', path, { before: more, after: prepaid })
      await browser.ask('PUT', path, { before: prepaid, after: terms })
      return ['budget.changed', 'company.changed', 'company.changed']
    },
    'POST /tariffs/changes': async ({ browser }) => {
      await changeTariff(browser, null)
      return ['tariffs.changed']
    },
    'DELETE /tariffs/:tariffId': async ({ browser }) => {
      const tomorrow = new Date(Date.now() + 48 * 3600_000).toISOString().slice(0, 10)
      const { periods } = await changeTariff(browser, tomorrow)
      await browser.ask('DELETE', `/tariffs/${periods.at(-1)!.tariffId}`)
      return ['tariffs.changed', 'tariffs.withdrawn']
    },
    'POST /tariffs/prices/changes': async ({ browser }) => {
      await browser.ask('POST', '/tariffs/prices/changes', newCountryPrice('PL', null))
      return ['tariffs.changed']
    },
    'POST /tariffs/prices/withdrawals': async ({ browser }) => {
      const tomorrow = new Date(Date.now() + 48 * 3600_000).toISOString().slice(0, 10)
      await browser.ask('POST', '/tariffs/prices/changes', newCountryPrice('CZ', tomorrow))
      const { countries } = (await browser.ask('GET', '/tariffs')).body as TariffsAnswer
      const { channelType, country, version } = countries.find(one => one.country === 'CZ')!
      await browser.ask('POST', '/tariffs/prices/withdrawals', { channelType, country, version })
      return ['tariffs.changed', 'tariffs.withdrawn']
    },
    'POST /tariffs/import': async ({ browser }) => {
      const file = { text: TARIFF_FILE, from: null, replaces: false }
      const { version } = (await browser.ask('POST', '/tariffs/import/check', file)).body
      await browser.ask('POST', '/tariffs/import', { ...file, version })
      return ['tariffs.imported']
    },
    'PATCH /tariffs/fees': async ({ browser }) => {
      const [fee] = (await browser.ask('GET', '/tariffs')).body.fees
      await browser.ask('PATCH', '/tariffs/fees', { brand: fee.brand, before: fee.value, value: '1.5' })
      return ['tariffs.fee_changed']
    },
    'POST /numbering/uploads/:uploadId/apply': async ({ browser }) => {
      const { path, version } = await upload(browser)
      await browser.ask('POST', `${path}/apply`, { version })
      return ['ported_numbers.imported']
    },
    'PUT /numbering/virtual-operators': async ({ browser }) => {
      const operator = { inn: '7700000001', name: 'ООО "Пчела"', brandId: 2, before: null }
      await browser.ask('PUT', '/numbering/virtual-operators', operator)
      return ['numbering.virtual_operator_saved']
    },
  }

  const upload = async (browser: CabinetBrowser) => {
    const content = Buffer.from('79160000001;TELE2')
    const file = { kind: 'ported', name: 'ported.csv', sizeBytes: content.length, replaces: false }
    const { uploadId } = (await browser.ask('POST', '/numbering/uploads', file)).body
    const path = `/numbering/uploads/${uploadId}`
    const headers = { 'content-type': 'application/octet-stream' }
    await browser.ask('PUT', `${path}/pieces/0`, content, { headers })
    return { path, version: (await browser.ask('POST', `${path}/compare`)).body.version }
  }

  const TARIFF_FILE = 'senderType,brand,trafficType,pricingModel,from,price\nSTART,MTS,,FIXED,0,2.5'
  let prices = 0

  async function changeTariff(browser: CabinetBrowser, from: string | null): Promise<TariffAnswer> {
    const [{ tariffId }] = (await browser.ask('GET', '/tariffs')).body.tariffs
    const { tariff, version } = (await browser.ask('GET', `/tariffs/${tariffId}`)).body as TariffAnswer
    const { senderType, brand, trafficType } = tariff
    const changed = { pricingModel: 'FIXED', steps: [{ from: '0', price: `${++prices}.25`, priceMauBatch: null }] }
    await browser.ask('POST', '/tariffs/changes', { senderType, brand, trafficType, from, version, tariff: changed })
    return (await browser.ask('GET', `/tariffs/${tariffId}`)).body
  }

  let gateways = 0
  async function aGatewayOf({ browser }: SignedIn): Promise<string> {
    const password = `sesame ${++gateways}`
    secrets.push(password)
    const { gatewayId } = (
      await browser.ask('POST', '/gateways', {
        name: `operator ${gateways}`,
        channelType: 'SMS',
        connector: 'smpp',
        brands: [],
        rate: null,
        companies: [],
        settings: { host: '127.0.0.1', port: 1, systemId: 'shop', password },
      })
    ).body
    return `/gateways/${gatewayId}`
  }

  /** Only staff make these changes. The test of decisions of staff checks them. */
  const ofStaff = ['POST /review/senders/:senderId/decision', 'POST /review/templates/:templateId/decision']

  /**
   * Routes without an entry: the list of sessions shows sign-ins, and the other routes change nothing, although they
   * are POST.
   */
  const changeNothing = [
    'POST /session',
    'POST /session/second-factor',
    'POST /invitation',
    'POST /account/second-factor/proposal',
    'POST /new-dispatch/check',
    'POST /verification/:kind/:id/try/check',
    'POST /tariffs/import/check',
    'POST /send/price',
    'POST /numbering/uploads',
    'PUT /numbering/uploads/:uploadId/pieces/:piece',
    'POST /numbering/uploads/:uploadId/compare',
    'DELETE /numbering/uploads/:uploadId',
  ]

  const newCountryPrice = (country: string, from: string | null) => ({
    channelType: 'SMS',
    country,
    version: '',
    from,
    price: '7.5',
  })

  const widgetForm = (captchaSecret: string) => {
    secrets.push(captchaSecret)
    const origins = ['https://shop.example']
    const page = { ...defaultPage, origins, captcha: 'turnstile', captchaSiteKey: 'of the site' }
    return { name: 'Shop', settings: defaultSettings, page, captchaSecret }
  }

  const aWidget = async (browser: CabinetBrowser): Promise<string> =>
    (await browser.ask('POST', '/verification/widgets', widgetForm('the first secret'))).body.id

  let partners = 0
  async function aPartnerOf({ browser }: SignedIn): Promise<number> {
    const { partnerId, password } = (await browser.ask('POST', '/partners', { login: `new-partner-${++partners}` }))
      .body
    secrets.push(password)
    return partnerId
  }

  async function aName(browser: CabinetBrowser, senderName: string): Promise<number> {
    const name = {
      senderName,
      channelType: 'SMS',
      commonType: 'COMMON',
      brands: ['MTS'],
      description: '',
      documentIds: [],
    }
    return (await browser.ask('POST', '/senders', name)).body.senderIds[0]
  }

  async function aTemplate(browser: CabinetBrowser): Promise<number> {
    const given = { channelType: 'SMS', templateType: 'SERVICE', pattern: 'Hello %w', senderId: null, content: null }
    return (await browser.ask('POST', '/templates', given)).body.templateId
  }

  async function aDraft(browser: CabinetBrowser, key: string): Promise<number> {
    const form = { name: 'Sale', channelType: 'SMS', senderName: 'sms_promo', text: 'Hello' }
    return (await browser.ask('POST', '/new-dispatch', form, withKey(key))).body.dispatchId
  }

  const fill = (browser: CabinetBrowser, dispatchId: number) => {
    const recipients = [{ destination: '+79160000001' }]
    const path = `/new-dispatch/${dispatchId}/recipients`
    return browser.ask('POST', path, { from: 0, total: 1, recipients }, withKey(`recipients of ${dispatchId}`))
  }

  const aRule = async (browser: CabinetBrowser) => {
    const callbackUrl = `https://anna:${encodeURIComponent('a word of the shop')}@shop.example`
    const rule = { channelType: 'WHATSAPP', senderNames: [], center: 'Hall', callbackUrl }
    return (await browser.ask('POST', '/inbound/rules', rule)).body
  }

  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

  async function aCallback(): Promise<number> {
    const [row] = await api.sql`
      insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
      values (${companyId}, 'shop.example', 'https://shop.example', 'partner', '[]', 0, 'EXPIRED', now(), now())
      returning callback_id as id`
    return row!.id
  }

  async function switchOn({ browser }: SignedIn): Promise<string[]> {
    const { secret } = (await browser.ask('POST', '/account/second-factor/proposal')).body
    const code = codeAt(secret, new Date())
    const given = { secret, code, password: PASSWORD }
    const { recoveryCodes } = (await browser.ask('POST', '/account/second-factor', given)).body
    secrets.push(secret, ...recoveryCodes)
    return recoveryCodes
  }

  test('is known to this test: every route except GET is in one of the two lists', async () => {
    const known = [...Object.keys(changes), ...Object.keys(changesOfStaff), ...ofStaff, ...changeNothing]
    const routes = (await cabinetRoutes(api.sql)).map(({ route }) => route)
    expect(routes.filter(route => !route.startsWith('GET ')).sort()).toEqual(known.sort())
  })

  /** The entries that the change wrote. Fails if they are not the expected entries. */
  async function entriesOf(change: () => Promise<AuditAction[]>) {
    const [{ last }] = (await api.sql`select coalesce(max(entry_id), 0) as last from audit_entries`) as [
      { last: number },
    ]
    const expected = await change()
    const written = await api.sql`select * from audit_entries where entry_id > ${last} order by entry_id`
    expect(written.map(({ what }) => what)).toEqual(expected)
    return written
  }

  test.each(Object.keys(changesOfStaff))('%s of staff records the person, the address and the request', async route => {
    const me = await signedIn(staff, 'admin')
    for (const entry of await entriesOf(() => changesOfStaff[route]!(me))) {
      expect(entry).toMatchObject({ actorKind: 'STAFF', actor: me.login, address: '203.0.113.9' })
      expect(entry).toMatchObject({ requestId: expect.stringMatching(/^[\w-]{8,}$/) })
    }
  })

  test.each(Object.keys(changes))('%s records the person, the address and the request', async route => {
    const me = await signedIn(ofCompany(companyId), 'owner')
    for (const entry of await entriesOf(() => changes[route]!(me))) {
      expect(entry).toMatchObject({ actorKind: 'COMPANY', address: '203.0.113.9', companyId: companyId })
      expect(entry).toMatchObject({ partnerId: partner.partnerId, requestId: expect.stringMatching(/^[\w-]{8,}$/) })
    }
  })

  test('decisions of staff are in the log of the company, with the state before and after', async () => {
    const { browser } = await signedIn(staff, 'moderator')
    const owner = await signedIn(ofCompany(companyId), 'owner')
    const senderId = await aName(owner.browser, 'Decided')
    const templateId = await aTemplate(owner.browser)
    await api.sql`update senders set status = 'PRE_REVIEW' where sender_id = ${senderId}`
    await api.sql`update templates set status = 'PRE_REVIEW' where template_id = ${templateId}`
    for (const path of [`/review/senders/${senderId}`, `/review/templates/${templateId}`]) {
      const { version } = (await browser.ask('GET', path)).body
      await browser.ask('POST', `${path}/decision`, { decision: 'reject', comment: 'Not yet', version })
    }
    for (const kind of ['sender', 'template']) {
      const subject = `${kind}:${kind === 'sender' ? senderId : templateId}`
      expect((await owner.find(`?subject=${subject}&what=${kind}.rejected`)).entries).toMatchObject([
        {
          who: { kind: 'STAFF', login: null },
          before: { status: 'PRE_REVIEW', comment: null },
          after: { status: 'REJECTED', comment: 'Not yet' },
        },
      ])
    }
  })

  test('records no secret', async () => {
    const [row] = await api.sql`select string_agg(e::text, ' ') as everything from audit_entries e`
    expect(secrets.length).toBeGreaterThan(30)
    for (const secret of secrets) expect(row!.everything).not.toContain(secret)
  })

  test('records the values before and after', async () => {
    const { browser, find } = await signedIn(ofCompany(companyId), 'owner')
    const { personId, login } = await aPerson(api.sql, ofCompany(companyId), 'viewer')
    await browser.ask('PATCH', `/people/${personId}`, { role: 'finance' })
    expect((await find(`?subject=person:${personId}`)).entries).toMatchObject([
      {
        what: 'person.role_changed',
        subject: { kind: 'person', id: String(personId), name: login },
        before: { role: 'viewer' },
        after: { role: 'finance' },
      },
    ])
  })

  test('that is refused records nothing', async () => {
    const { browser, find, login } = await signedIn(ofCompany(companyId), 'owner')
    expect((await browser.ask('POST', '/people', { login: 'x@example.com', role: 'emperor' })).status).toBe(400)
    expect((await browser.ask('PUT', '/account/password', { before: 'wrong', password: PASSWORD })).status).toBe(401)
    expect((await find(`?person=${login}`)).entries).toEqual([])
  })
})

describe('the entries that a viewer sees', () => {
  const operator: Actor = { kind: 'OPERATOR', name: 'root' }
  const person = (kind: 'COMPANY' | 'PARTNER' | 'STAFF'): Actor => ({
    kind,
    name: `${kind.toLowerCase()}@example.com`,
    personId: 1,
    address: '198.51.100.7',
    agent: 'Firefox',
    requestId: 'request-7',
  })
  const of = (id: string, whose: Partial<Change> = {}): Change => ({
    what: 'key.changed',
    subject: { kind: 'key', id },
    ...whose,
  })

  beforeAll(async () => {
    await api.sql.begin(async tx => {
      await recordChange(tx, person('COMPANY'), of('ours', { companyId }))
      await recordChange(tx, person('STAFF'), of('ours by staff', { companyId }))
      await recordChange(tx, person('PARTNER'), of('ours by partner', { companyId }))
      await recordChange(tx, operator, of('of the partner', { partnerId: partner.partnerId }))
      await recordChange(tx, operator, of('theirs', { companyId: elsewhere.companyId }))
      await recordChange(tx, operator, of('of the service'))
    })
  })

  const keysIn = ({ entries }: AuditAnswer) =>
    entries.filter(({ subject }) => subject.kind === 'key').map(({ subject }) => subject.id)

  test('people of a company see the changes of their company', async () => {
    const { find } = await signedIn(ofCompany(companyId), 'owner')
    const ours = ['ours by partner', 'ours by staff', 'ours']
    expect(keysIn(await find('?what=key.changed'))).toEqual(ours)
    expect(keysIn(await find(`?what=key.changed&companyId=${companyId}`))).toEqual(ours)
  })

  test('people of a partner see the changes of the partner and of its companies, or of one company', async () => {
    const { find } = await signedIn(ofPartner(partner.partnerId), 'owner')
    const ours = ['ours by partner', 'ours by staff', 'ours']
    expect(keysIn(await find('?what=key.changed'))).toEqual(['of the partner', ...ours])
    expect(keysIn(await find(`?what=key.changed&companyId=${companyId}`))).toEqual(ours)
  })

  test('staff see all changes, or the changes of one company', async () => {
    const { find } = await signedIn(staff, 'support')
    expect(keysIn(await find('?what=key.changed'))).toHaveLength(6)
    expect(keysIn(await find(`?what=key.changed&companyId=${elsewhere.companyId}`))).toEqual(['theirs'])
  })

  test('a foreign company is not found', async () => {
    for (const place of [ofCompany(companyId), ofPartner(partner.partnerId)]) {
      const { browser } = await signedIn(place, 'owner')
      expect((await browser.ask('GET', `/audit?companyId=${elsewhere.companyId}`)).status).toBe(404)
    }
    const { browser } = await signedIn(staff, 'admin')
    expect((await browser.ask('GET', '/audit?companyId=99999999')).status).toBe(404)
  })

  test('other people neither see the names of staff and of the command line, nor find entries by them', async () => {
    const company = await signedIn(ofCompany(companyId), 'owner')
    const whoOf = async ({ find }: SignedIn, id: string) => (await find(`?subject=key:${id}`)).entries[0]!.who
    const unnamed = { kind: 'STAFF', login: null, address: null, agent: null, requestId: null }
    expect(await whoOf(company, 'ours by staff')).toEqual(unnamed)
    expect((await company.find('?person=staff@example.com')).entries).toEqual([])
    expect(await whoOf(company, 'ours by partner')).toEqual({
      ...unnamed,
      kind: 'PARTNER',
      login: 'partner@example.com',
    })
    expect(await whoOf(company, 'ours')).toMatchObject({ login: 'company@example.com', address: '198.51.100.7' })
    const ofThePartner = await signedIn(ofPartner(partner.partnerId), 'owner')
    expect(await whoOf(ofThePartner, 'of the partner')).toEqual(unnamed)
    expect(await whoOf(ofThePartner, 'ours')).toMatchObject({ address: '198.51.100.7', requestId: 'request-7' })
    const admin = await signedIn(staff, 'admin')
    expect(await whoOf(admin, 'of the partner')).toMatchObject({ kind: 'OPERATOR', login: 'root' })
    expect((await admin.find('?person=staff@example.com')).entries).toHaveLength(1)
  })
})

describe('the list', () => {
  test('is read in pages, and by period', async () => {
    const { find } = await signedIn(ofCompany(companyId), 'owner')
    const first = await find('?what=key.changed&perPage=2')
    const second = await find(`?what=key.changed&perPage=2&after=${first.next}`)
    expect([first.entries.length, second.entries.length, second.next]).toEqual([2, 1, null])
    const hour = (ahead: number) => new Date(Date.now() + ahead * 3600_000).toISOString()
    const found = async (from: number, to: number) =>
      (await find(`?what=key.changed&from=${hour(from)}&to=${hour(to)}`)).entries.length
    expect([await found(-1, 1), await found(1, 2), await found(-2, -1)]).toEqual([3, 0, 0])
  })

  test.each(['what=nonsense', 'subject=nonsense', 'after=nonsense', 'from=yesterday', 'perPage=101', 'companyId=x'])(
    'refuses %s',
    async query => {
      const { browser } = await signedIn(staff, 'admin')
      expect((await browser.ask('GET', `/audit?${query}`)).status).toBe(400)
    },
  )
})
