import { beforeAll, describe, expect, test } from 'vitest'
import { storeDocument } from '../../../domain/documents/documents.ts'
import { advanceDueSenders } from '../../../domain/senders/moderation.ts'
import { distanceBetween, similarNames } from '../../../domain/senders/similar-names.ts'
import { advanceDueTemplates } from '../../../domain/templates/moderation.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { PDF } from '../../../testing/conformance/world.ts'
import { aCompany, anApprovedSender, aPartner, aSender, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { QueueAnswer, SenderReview } from './review.ts'
import type { NamesAnswer, SenderPageAnswer } from './senders.ts'
import type { TemplatePageAnswer } from './templates.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let foreignId: number
let owner: CabinetBrowser
let moderator: CabinetBrowser
let documentId: string

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  foreignId = await aCompany(api.sql, await aPartner(api.sql), { name: 'Другая' })
  owner = await signedIn(ofCompany(companyId), 'owner')
  moderator = await signedIn(staff, 'moderator')
  const stored = await api.sql.begin(tx => storeDocument(tx, companyId, { filename: 'letter.pdf', content: PDF }))
  documentId = stored.id
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

const form = (given: object = {}) => ({
  channelType: 'SMS',
  senderName: 'Romashka',
  commonType: 'COMMON',
  brands: ['MTS'],
  description: '',
  documentIds: [],
  ...given,
})

/** Requests a name and puts it into review, as the engine does. */
async function requested(given: object = {}, browser = owner): Promise<number> {
  const { status, body } = await browser.ask('POST', '/senders', form(given))
  expect(status).toBe(201)
  await submit()
  return body.senderIds[0]
}

const submit = async () => {
  const now = new Date()
  await advanceDueSenders(api.sql, 'manual', () => null, now)
  await advanceDueTemplates(api.sql, 'manual', now)
}

const pageOf = async (senderId: number) => (await owner.ask('GET', `/senders/${senderId}`)).body as SenderPageAnswer
const reviewOf = async (senderId: number) =>
  (await moderator.ask('GET', `/review/senders/${senderId}`)).body as SenderReview

async function decide(senderId: number, decision: string, comment?: string, version?: string) {
  const seen = version ?? (await reviewOf(senderId)).version
  return moderator.ask('POST', `/review/senders/${senderId}/decision`, {
    decision,
    version: seen,
    ...(comment ? { comment } : {}),
  })
}

describe('a sender name', () => {
  test('is requested for several operators, sent back, corrected and approved, and its history has every step', async () => {
    const { status, body } = await owner.ask(
      'POST',
      '/senders',
      form({ senderName: 'Story', brands: ['MTS', 'TELE2'], commonType: 'PROMO', documentIds: [documentId] }),
    )
    expect(status).toBe(201)
    expect(body.senderIds).toHaveLength(2)
    await submit()
    const [senderId] = body.senderIds
    expect((await decide(senderId, 'reject', 'The letter names another firm')).body).toEqual({ status: 'REJECTED' })

    const { version, comment, documents } = await pageOf(senderId)
    expect({ comment, documents }).toMatchObject({
      comment: 'The letter names another firm',
      documents: [{ id: documentId, filename: 'letter.pdf', kind: 'pdf' }],
    })
    expect((await owner.ask('PATCH', `/senders/${senderId}`, { version, description: 'A new letter' })).status).toBe(
      204,
    )
    expect((await decide(senderId, 'approve')).body).toEqual({ status: 'APPROVED' })
    const { history } = await pageOf(senderId)
    expect(history.map(({ status, by, comment }) => [status, by, comment])).toEqual([
      ['APPROVED', 'staff', null],
      ['PRE_REVIEW', 'company', null],
      ['REJECTED', 'staff', 'The letter names another firm'],
      ['PRE_REVIEW', 'clock', null],
      ['DRAFT', null, null],
    ])
  })

  test.each([
    ['a name that is no SMS name', { senderName: 'Ромашка' }, /senderName: must be/],
    ['no operator', { brands: [] }, /brands: at least one/],
    ['advertising without a document', { commonType: 'PROMO' }, /documentIds: a document is required/],
    ['an unknown document', { documentIds: [crypto.randomUUID()] }, /documentIds: must name documents/],
    ['a name that Viber refuses', { channelType: 'VIBER', senderName: '...' }, /for VIBER/],
  ])('is refused with %s', async (_, given, reason) => {
    const { status, body } = await owner.ask('POST', '/senders', form(given))
    expect(status).toBe(400)
    expect(body.error.msg).toMatch(reason)
  })

  test('is not requested twice, and if one of several registrations is refused, none is created', async () => {
    await requested({ senderName: 'Twice', brands: ['MTS'] })
    const { status, body } = await owner.ask(
      'POST',
      '/senders',
      form({ senderName: 'Twice', brands: ['TELE2', 'MTS'] }),
    )
    expect([status, body.error.msg]).toEqual([400, 'senderName: Twice is registered for MTS already'])
    const { names } = (await owner.ask('GET', '/senders?search=twic')).body as NamesAnswer
    expect(names.map(({ registrations }) => registrations.map(({ brand }) => brand))).toEqual([['MTS']])
  })

  test('that another person changed meanwhile is not overwritten', async () => {
    const senderId = await requested({ senderName: 'Edited' })
    const { version } = await pageOf(senderId)
    expect((await owner.ask('PATCH', `/senders/${senderId}`, { version, senderName: 'Mine' })).status).toBe(204)
    const late = await owner.ask('PATCH', `/senders/${senderId}`, { version, senderName: 'Late' })
    expect([late.status, late.body.error.msg]).toEqual([
      400,
      'version: the sender name was changed, it is PRE_REVIEW now',
    ])
    expect((await pageOf(senderId)).senderName).toBe('Mine')
  })

  test('is suspended and resumed, and closes on a future day', async () => {
    const { senderId } = await anApprovedSender(api.sql, companyId, { senderName: 'Paused' })
    await owner.ask('POST', `/senders/${senderId}/suspend`, { reason: 'Complaints' })
    expect(await pageOf(senderId)).toMatchObject({ suspended: true, suspendReason: 'Complaints', status: 'APPROVED' })
    const { names } = (await owner.ask('GET', '/senders?state=suspended')).body as NamesAnswer
    expect(names.map(({ senderName }) => senderName)).toEqual(['Paused'])
    await owner.ask('POST', `/senders/${senderId}/unsuspend`)
    const { suspended, version } = await pageOf(senderId)
    expect(suspended).toBe(false)
    const dateTo = new Date(Date.now() + 86_400_000).toISOString()
    await owner.ask('PATCH', `/senders/${senderId}`, { version, dateTo })
    expect((await pageOf(senderId)).dateTo).toBe(dateTo)
  })
})

describe('a template', () => {
  test('is requested, sent back, corrected and denied', async () => {
    const body = { channelType: 'SMS', templateType: 'AUTHORIZE', pattern: 'Code %d', senderId: null, content: null }
    const made = await owner.ask('POST', '/templates', body)
    expect(made.status).toBe(201)
    await submit()
    const path = `/templates/${made.body.templateId}`
    const decideOn = async (decision: string) => {
      const { version } = (await moderator.ask('GET', `/review${path}`)).body
      return moderator.ask('POST', `/review${path}/decision`, { decision, version, comment: 'Too short' })
    }
    expect((await decideOn('reject')).body).toEqual({ status: 'REJECTED' })
    const { version } = (await owner.ask('GET', path)).body as TemplatePageAnswer
    expect((await owner.ask('PATCH', path, { version, pattern: 'Your code is %d' })).status).toBe(204)
    expect((await owner.ask('PATCH', path, { version, pattern: 'Late' })).status).toBe(400)
    expect((await decideOn('deny')).body).toEqual({ status: 'DENIED' })
    const page = (await owner.ask('GET', path)).body as TemplatePageAnswer
    expect(page).toMatchObject({ pattern: 'Your code is %d', status: 'DENIED', comment: 'Too short', changeable: [] })
    expect(page.history.map(({ status }) => status)).toEqual([
      'DENIED',
      'PRE_REVIEW',
      'REJECTED',
      'PRE_REVIEW',
      'DRAFT',
    ])
  })
})

describe('the review', () => {
  test('lists and counts waiting requests, the oldest first', async () => {
    const older = await requested({ senderName: 'Older' })
    const newer = await requested({ senderName: 'Newer' })
    const { items, waiting } = (await moderator.ask('GET', '/review')).body as QueueAnswer
    const ids = items.filter(({ kind }) => kind === 'sender').map(({ id }) => id)
    expect(ids.indexOf(older)).toBeLessThan(ids.indexOf(newer))
    expect(items).toHaveLength(waiting)
    expect((await moderator.ask('GET', '/review/count')).body).toEqual({ waiting })
  })

  test('decides a request once: of two moderators at the same time one is refused', async () => {
    const senderId = await requested({ senderName: 'Race' })
    const { version } = await reviewOf(senderId)
    const answers = await Promise.all([
      decide(senderId, 'approve', undefined, version),
      decide(senderId, 'reject', 'No', version),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(answers.find(({ status }) => status === 400)!.body.error.msg).toMatch(/^version: /)
    const [row] = await api.sql`
      select count(*)::int as decisions from audit_entries
      where subject_kind = 'sender' and subject_id = ${String(senderId)} and what <> 'sender.created'`
    expect(row!.decisions).toBe(1)
  })

  test('refuses the decision if the company changed the request after the moderator opened it', async () => {
    const senderId = await requested({ senderName: 'Harmless' })
    const { version } = await reviewOf(senderId)
    await owner.ask('PATCH', `/senders/${senderId}`, {
      version: (await pageOf(senderId)).version,
      senderName: 'SberBank',
    })
    expect((await decide(senderId, 'approve', undefined, version)).status).toBe(400)
    expect((await pageOf(senderId)).status).toBe('PRE_REVIEW')
  })

  test('requires a comment to send back or to deny', async () => {
    const senderId = await requested({ senderName: 'Mute' })
    for (const decision of ['reject', 'deny']) {
      expect((await decide(senderId, decision)).body.error.msg).toBe('comment: is required')
      expect((await decide(senderId, decision, '  ')).status).toBe(400)
    }
  })

  test('shows similar names of other companies, and the other names of this company', async () => {
    for (const senderName of ['Fialka-Shop', 'F1alkaSh0p', 'FialkaShopX', 'Fish'])
      await aSender(api.sql, foreignId, { senderName })
    await aSender(api.sql, companyId, { senderName: 'FialkaOwn' })
    const { similar, others } = await reviewOf(await requested({ senderName: 'FialkaShop' }))
    expect(similar.map(({ senderName }) => senderName).sort()).toEqual(['F1alkaSh0p', 'Fialka-Shop', 'FialkaShopX'])
    expect(similar[0]!.companyName).toBe('Другая')
    expect(others.map(({ senderName }) => senderName)).toContain('FialkaOwn')
  })

  test.each(planModes)('finds similar names by an index, among any number of names (%s)', async mode => {
    await api.sql`
      insert into senders (company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, valid_from)
      select ${foreignId}, 1000000 + n, 'Shop' || n, 'SMS', 'COMMON', 'MTS', 'RU', now() from generate_series(1, 3000) n
      on conflict do nothing`
    await api.sql`analyze senders`
    const reads = await readsOf(api, mode, sql => similarNames(sql, companyId, 'Shop1500'), /collate "C"/)
    const ofSenders = reads.filter(({ table }) => table === 'senders')
    expect(ofSenders.map(({ index }) => index)).toEqual(['senders_by_plain_name', 'senders_by_plain_name'])
    for (const { rows } of ofSenders) expect(rows).toBeLessThanOrEqual(100)
  })

  test('the distance of two names is the number of letters in which they differ', () => {
    expect(distanceBetween('romashka', 'romashka')).toBe(0)
    expect(distanceBetween('romashka', 'romashki')).toBe(1)
    expect(distanceBetween('', 'abc')).toBe(3)
  })
})

describe('other people', () => {
  const routes = (senderId: number, templateId: number): ['GET' | 'POST' | 'PATCH', string, object?][] => [
    ['GET', '/senders'],
    ['GET', '/senders/fees'],
    ['POST', '/senders', form()],
    ['GET', `/senders/${senderId}`],
    ['PATCH', `/senders/${senderId}`, { version: 'x' }],
    ['POST', `/senders/${senderId}/suspend`, {}],
    ['POST', `/senders/${senderId}/unsuspend`],
    ['GET', '/templates'],
    ['GET', '/templates/names'],
    ['POST', '/templates', { channelType: 'SMS', templateType: 'PROMO', pattern: 'x', senderId: null, content: null }],
    ['GET', `/templates/${templateId}`],
    ['PATCH', `/templates/${templateId}`, { version: 'x' }],
  ]
  const ofReview: ['GET' | 'POST', string, object?][] = [
    ['GET', '/review'],
    ['GET', '/review/count'],
    ['GET', '/review/senders/1'],
    ['GET', '/review/templates/1'],
    ['POST', '/review/senders/1/decision', { decision: 'deny', version: 'x' }],
    ['POST', '/review/templates/1/decision', { decision: 'deny', version: 'x' }],
  ]

  test('neither see nor change names and templates of a foreign company', async () => {
    const { senderId } = await aSender(api.sql, foreignId, { senderName: 'Theirs' })
    const browsers = [owner, await signedIn(ofPartner(partner.partnerId), 'owner')]
    for (const browser of browsers) {
      for (const [method, path, body] of routes(senderId, 1)) {
        expect([path, (await browser.ask(method, `${path}?companyId=${foreignId}`, body)).status]).toEqual([path, 404])
      }
    }
    // Only by its id, with the own company.
    expect((await owner.ask('GET', `/senders/${senderId}`)).status).toBe(404)
    expect((await owner.ask('POST', `/senders/${senderId}/suspend`, {})).status).toBe(404)
  })

  test('change nothing with a lesser role, and review nothing unless they are staff', async () => {
    const [sender, finance] = [
      await signedIn(ofCompany(companyId), 'sender'),
      await signedIn(ofCompany(companyId), 'finance'),
    ]
    const support = await signedIn(staff, 'support')
    const { senderId } = await aSender(api.sql, companyId, { senderName: 'Roles' })
    for (const [method, path, body] of routes(senderId, 1)) {
      const whole = `${path}?companyId=${companyId}`
      expect([path, (await finance.ask(method, whole, body)).status]).toEqual([path, 403])
      if (method === 'GET') continue
      for (const browser of [sender, support, moderator])
        expect([path, (await browser.ask(method, whole, body)).status]).toEqual([path, 403])
    }
    for (const [method, path, body] of ofReview) {
      for (const browser of [owner, sender, support])
        expect([path, (await browser.ask(method, path, body)).status]).toEqual([path, 403])
    }
  })
})
