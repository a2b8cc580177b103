import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner, aSender } from '../../testing/factories.ts'
import { openStatuses, type ReviewStatus, reviewStatuses } from '../review/review.ts'
import type { Sender } from '../senders/sender.ts'
import { advanceDueTemplates, approveTemplate, denyTemplate, rejectTemplate } from './moderation.ts'
import type { NewTemplate, Template } from './template.ts'
import {
  changeTemplate,
  createTemplate,
  listAllTemplates,
  listTemplates,
  MOST_TEMPLATES,
  requireTemplate,
  reviewChangesOfTemplate,
} from './templates.ts'

const db = useDatabase()

const now = new Date('2026-05-01T12:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)

let companyId: number
let otherCompanyId: number
let sender: Sender
beforeAll(async () => {
  const partner = await aPartner(db.sql)
  companyId = await aCompany(db.sql, partner)
  otherCompanyId = await aCompany(db.sql, partner)
  sender = await anApprovedSender(db.sql, companyId)
})
beforeEach(async () => {
  await db.sql`truncate template_moves, templates`
})

const aTemplate = (given: Partial<NewTemplate> = {}, of = companyId): Promise<Template> =>
  db.sql.begin(tx =>
    createTemplate(
      tx,
      of,
      {
        channelType: 'SMS',
        trafficType: 'AUTHORIZE',
        pattern: 'Ваш код: %d',
        senderId: null,
        content: null,
        validFrom: inDays(-10),
        validTo: null,
        ...given,
      },
      now,
    ),
  )

/** A template in the given status, without a review. */
async function aTemplateIn(status: ReviewStatus, given: Partial<NewTemplate> = {}): Promise<Template> {
  const { validTo = null, ...rest } = given
  const { templateId } = await aTemplate(rest)
  await db.sql`update templates set status = ${status}, valid_to = ${validTo} where template_id = ${templateId}`
  return requireTemplate(db.sql, companyId, templateId)
}

const read = ({ templateId }: Pick<Template, 'templateId'>) => requireTemplate(db.sql, companyId, templateId)
const statusOf = async (template: Template) => (await read(template)).status
const changesOf = async (template: Template) =>
  (await reviewChangesOfTemplate(db.sql, companyId, template.templateId)).map(
    ({ from, to, by }) => `${from} > ${to} by ${by}`,
  )
const tick = (moderation: 'auto' | 'manual', at = now) => advanceDueTemplates(db.sql, moderation, at)
const others = (...states: readonly ReviewStatus[]) => reviewStatuses.filter(status => !states.includes(status))

describe('a new template', () => {
  test('is a draft, with the brand and country of its sender name', async () => {
    expect(await aTemplate({ senderId: sender.senderId })).toEqual({
      templateId: expect.any(Number),
      companyId,
      channelType: 'SMS',
      trafficType: 'AUTHORIZE',
      pattern: 'Ваш код: %d',
      senderId: sender.senderId,
      senderName: 'ROMASHKA',
      brand: 'MTS',
      countryCode: 'RU',
      content: null,
      validFrom: inDays(-10),
      validTo: null,
      status: 'DRAFT',
      managerComment: null,
      rejectedAt: null,
      createdAt: expect.any(Date),
    })
  })

  test('may have no sender name, and for WhatsApp may name the template of the messenger', async () => {
    const content = { name: 'login_code', language: 'ru' }
    expect(await aTemplate({ channelType: 'WHATSAPP', content })).toMatchObject({
      senderId: null,
      senderName: null,
      brand: null,
      countryCode: null,
      content,
    })
  })

  test.each<[string, Partial<NewTemplate>, string]>([
    ['a bad pattern', { pattern: '%w{2,3}' }, 'pattern: %w{2,3} must be %w{1,n}'],
    ['an empty pattern', { pattern: '' }, 'pattern: must not be empty'],
    [
      'a last day before the first',
      { validFrom: inDays(2), validTo: inDays(1) },
      'validTo: must not be before validFrom',
    ],
    ['a last day in the past', { validTo: inDays(-1) }, 'validTo: must not be in the past'],
    [
      'content, which SMS does not have',
      { content: { name: 'x', language: 'ru' } },
      'content: only templates of WHATSAPP',
    ],
    [
      'a bad name of the content',
      { channelType: 'WHATSAPP', content: { name: 'Код', language: 'ru' } },
      'content.name: must be',
    ],
    [
      'a bad language of the content',
      { channelType: 'WHATSAPP', content: { name: 'x', language: 'r' } },
      'content.language: must be',
    ],
    ['an unknown sender name', { senderId: 987_654 }, 'senderId: there is no sender name 987654'],
  ])('is refused with %s', async (_, given, why) => {
    await expect(aTemplate(given)).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining(why) })
    expect(await db.sql`select from templates`).toHaveLength(0)
  })

  test("is refused with another company's sender name, a name of another channel, and a CLOSED name", async () => {
    const foreign = await aSender(db.sql, otherCompanyId)
    const viber = await aSender(db.sql, companyId, { channelType: 'VIBER' })
    const closed = await aSender(db.sql, companyId)
    await db.sql`update senders set status = 'CLOSED' where sender_id = ${closed.senderId}`
    const refusal = (senderId: number) => aTemplate({ senderId }).catch(error => error.message)
    expect(await refusal(foreign.senderId)).toBe(`senderId: there is no sender name ${foreign.senderId}`)
    expect(await refusal(viber.senderId)).toBe('senderId: is a name of VIBER')
    expect(await refusal(closed.senderId)).toBe('senderId: the sender name is CLOSED')
  })

  test('is refused if 500 templates are neither CLOSED nor DENIED, also if several are created at once', async () => {
    await db.sql`
      insert into templates (company_id, template_id, channel_type, traffic_type, pattern, valid_from, status)
      select ${companyId}, 1000000 + n, 'SMS', 'PROMO', 'x', now(), case when n <= 5 then 'CLOSED' else 'APPROVED' end::review_status
      from generate_series(1, ${MOST_TEMPLATES}::int) n`
    const made = await Promise.allSettled(Array.from({ length: 12 }, () => aTemplate()))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    await expect(aTemplate()).rejects.toThrow('at most 500 templates')
    await aTemplate({}, otherCompanyId)
  })
})

describe('reading', () => {
  test('lists the templates of one company by filters and pages', async () => {
    const sms = await aTemplate({ senderId: sender.senderId })
    const viber = await aTemplate({ channelType: 'VIBER', trafficType: 'PROMO' })
    const approved = await aTemplateIn('APPROVED', { trafficType: 'SERVICE' })
    await aTemplate({}, otherCompanyId)
    const ids = async (filter: Parameters<typeof listTemplates>[2], page = { page: 1, perPage: 10 }) => {
      const { total, items } = await listTemplates(db.sql, companyId, filter, page)
      return [total, ...items.map(({ templateId }) => templateId)]
    }
    const [a, b, c] = [sms.templateId, viber.templateId, approved.templateId]
    expect(await ids({})).toEqual([3, a, b, c])
    expect(await ids({}, { page: 2, perPage: 2 })).toEqual([3, c])
    expect(await ids({}, { page: 9, perPage: 2 })).toEqual([3])
    expect(await ids({ channelType: ['VIBER'] })).toEqual([1, b])
    expect(await ids({ status: ['APPROVED'] })).toEqual([1, c])
    expect(await ids({ status: ['APPROVED', 'DRAFT'] })).toEqual([3, a, b, c])
    expect(await ids({ trafficType: ['SERVICE', 'PROMO'] })).toEqual([2, b, c])
    expect(await ids({ templateId: [a, c] })).toEqual([2, a, c])
    expect(await ids({ senderId: [sender.senderId] })).toEqual([1, a])
    expect(await ids({ senderName: ['ROMASHKA'], brand: ['MTS'], countryCode: ['RU'] })).toEqual([1, a])
    expect(await ids({ senderName: ['OTHER'] })).toEqual([0])
  })

  test("treats another company's template like an unknown id", async () => {
    const { templateId } = await aTemplate({}, otherCompanyId)
    for (const id of [templateId, 987_654]) {
      await expect(requireTemplate(db.sql, companyId, id)).rejects.toMatchObject({ kind: 'not_found' })
      const change = changeTemplate(db.sql, { companyId, templateId: id }, {}, now)
      await expect(change).rejects.toMatchObject({ kind: 'not_found' })
    }
  })

  test('gives staff the templates of all companies, first templates before approval', async () => {
    const approved = await aTemplateIn('APPROVED')
    const draft = await aTemplate()
    const foreign = await aTemplate({}, otherCompanyId)
    const ids = async (of?: number) => (await listAllTemplates(db.sql, of)).map(({ templateId }) => templateId)
    expect(await ids()).toEqual([draft.templateId, foreign.templateId, approved.templateId])
    expect(await ids(otherCompanyId)).toEqual([foreign.templateId])
  })
})

describe('moderation', () => {
  const review = [
    'DRAFT > PRE_REVIEW by clock',
    'PRE_REVIEW > INTERNAL_REVIEW by clock',
    'INTERNAL_REVIEW > EXTERNAL_REVIEW by clock',
    'EXTERNAL_REVIEW > AWAITING by clock',
    'AWAITING > APPROVED by clock',
  ]

  test('manual: the engine submits a draft and does nothing more', async () => {
    const template = await aTemplate()
    expect([await tick('manual'), await tick('manual')]).toEqual([1, 0])
    expect(await changesOf(template)).toEqual(review.slice(0, 1))
  })

  test.each(openStatuses.map((status, i) => [status, review.slice(i)] as const))(
    'automatic: one tick approves a template that is %s and records every change of status',
    async (status, moves) => {
      const template = await aTemplateIn(status)
      expect(await tick('auto')).toBe(moves.length)
      expect(await statusOf(template)).toBe('APPROVED')
      expect(await changesOf(template)).toEqual(moves)
    },
  )

  test.each(others(...openStatuses))('a template that is %s keeps its status', async status => {
    const template = await aTemplateIn(status)
    expect([await tick('auto'), await tick('manual')]).toEqual([0, 0])
    expect(await statusOf(template)).toBe(status)
  })

  test.each(['auto', 'manual'] as const)(
    'the engine approves on the first day and closes at the end (%s)',
    async how => {
      const template = await aTemplateIn('AWAITING', { validFrom: inDays(1), validTo: inDays(5) })
      expect(await tick(how, new Date(inDays(1).getTime() - 1))).toBe(0)
      expect(await tick(how, inDays(1))).toBe(1)
      expect(await tick(how, new Date(inDays(5).getTime() - 1))).toBe(0)
      expect(await tick(how, inDays(5))).toBe(1)
      expect(await changesOf(template)).toEqual(['AWAITING > APPROVED by clock', 'APPROVED > CLOSED by clock'])
    },
  )

  test('several processes make each change of status once', async () => {
    const templates = await Promise.all(Array.from({ length: 20 }, () => aTemplate()))
    const moves = await Promise.all(Array.from({ length: 6 }, () => tick('auto')))
    const late = await tick('auto') // a tick leaves a template that another tick changed first
    for (const template of templates) expect(await changesOf(template)).toEqual(review)
    expect([...moves, late].reduce((sum, count) => sum + count, 0)).toBe(20 * 5)
  })
})

describe('staff', () => {
  test.each(openStatuses)('approve a template that is %s', async status => {
    const template = await aTemplateIn(status)
    expect(await approveTemplate(db.sql, template.templateId, now, 'Fine')).toMatchObject({
      status: 'APPROVED',
      managerComment: 'Fine',
    })
    expect((await changesOf(template)).at(-1)).toBe('AWAITING > APPROVED by staff')
  })

  test('approve a template before its first day: it is AWAITING', async () => {
    const { templateId } = await aTemplateIn('PRE_REVIEW', { validFrom: inDays(1) })
    expect((await approveTemplate(db.sql, templateId, now)).status).toBe('AWAITING')
  })

  test('reject a template with a comment; a change sends it back into review, and approval deletes the comment', async () => {
    const template = await aTemplateIn('PRE_REVIEW')
    const rejected = await rejectTemplate(db.sql, template.templateId, 'Too vague', now)
    expect(rejected).toMatchObject({ status: 'REJECTED', managerComment: 'Too vague', rejectedAt: now })
    const changed = await changeTemplate(db.sql, template, { pattern: 'Код %d{1,6}' }, now)
    expect(changed).toMatchObject({ status: 'PRE_REVIEW', pattern: 'Код %d{1,6}', rejectedAt: null })
    expect((await changesOf(template)).at(-1)).toBe('REJECTED > PRE_REVIEW by company')
    expect((await approveTemplate(db.sql, template.templateId, now)).managerComment).toBeNull()
  })

  test.each(others('CLOSED', 'DENIED'))('deny a template that is %s, for ever', async status => {
    const { templateId } = await aTemplateIn(status)
    expect(await denyTemplate(db.sql, templateId, 'Never', now)).toMatchObject({
      status: 'DENIED',
      managerComment: 'Never',
    })
    expect(await tick('auto', inDays(10))).toBe(0)
  })

  test.each([
    ['approve', others(...openStatuses), (id: number) => approveTemplate(db.sql, id, now)],
    [
      'reject',
      others('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW'),
      (id: number) => rejectTemplate(db.sql, id, 'no', now),
    ],
    ['deny', ['CLOSED', 'DENIED'] as ReviewStatus[], (id: number) => denyTemplate(db.sql, id, 'no', now)],
  ] as const)('cannot %s a template in another status', async (_, states, decide) => {
    for (const status of states) {
      const template = await aTemplateIn(status)
      const refusal = await decide(template.templateId).catch(error => error)
      expect(refusal.message).toMatch(new RegExp(`^Template ${template.templateId} is ${status} and cannot be \\w+$`))
      expect(await read(template)).toEqual(template)
    }
    await expect(decide(987_654)).rejects.toMatchObject({ kind: 'not_found' })
  })
})

describe('a change', () => {
  const early = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED'] as const
  const untilApproved = [...openStatuses, 'REJECTED'] as const
  const fields: [string, () => object, readonly ReviewStatus[]][] = [
    ['trafficType', () => ({ trafficType: 'SERVICE' }), early],
    ['pattern', () => ({ pattern: 'Новый %w' }), early],
    ['senderId', () => ({ senderId: sender.senderId }), early],
    ['content', () => ({ content: null }), early],
    ['validFrom', () => ({ validFrom: inDays(2) }), untilApproved],
    ['validTo', () => ({ validTo: inDays(20) }), [...untilApproved, 'APPROVED']],
  ]

  test.each(fields)('of %s is possible in some statuses only', async (field, change, allowed) => {
    for (const status of reviewStatuses) {
      const template = await aTemplateIn(status)
      const outcome = await changeTemplate(db.sql, template, change(), now).then(
        changed => changed,
        error => error.message,
      )
      if (allowed.includes(status)) expect(outcome).toMatchObject(change())
      else expect(outcome).toBe(`${field}: cannot be changed while the template is ${status}`)
    }
  })

  test('that is refused changes nothing', async () => {
    const template = await aTemplateIn('REJECTED')
    const foreign = await aSender(db.sql, otherCompanyId)
    for (const change of [{ pattern: '' }, { validTo: inDays(-20) }, { senderId: foreign.senderId }]) {
      await expect(changeTemplate(db.sql, template, change, now)).rejects.toMatchObject({ kind: 'invalid' })
    }
    expect(await read(template)).toEqual(template)
  })

  test('keeps fields that it does not give or gives as undefined', async () => {
    const template = await aTemplate({ senderId: sender.senderId, validTo: inDays(3) })
    const changed = await changeTemplate(db.sql, template, { trafficType: 'PROMO', pattern: undefined as never }, now)
    expect(changed).toEqual({ ...template, trafficType: 'PROMO' })
    expect(await changeTemplate(db.sql, template, { senderId: null, validTo: null }, now)).toMatchObject({
      senderId: null,
      senderName: null,
      validTo: null,
    })
  })
})
