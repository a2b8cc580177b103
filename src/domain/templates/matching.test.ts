import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { type ApprovedTemplate, approvedTemplates, fitTemplate, matchingTemplate, saidByTemplate } from './matching.ts'
import { denyTemplate, moveDueTemplates } from './moderation.ts'
import { compilePattern } from './pattern.ts'
import type { NewTemplate } from './template.ts'
import { createTemplate } from './templates.ts'

describe('the template of a text', () => {
  let lastId = 0
  const approved = (pattern: string, given: Partial<ApprovedTemplate> = {}): ApprovedTemplate => ({
    templateId: ++lastId,
    channelType: 'SMS',
    templateType: 'SERVICE',
    senderName: null,
    content: null,
    compiled: compilePattern(pattern),
    ...given,
  })
  const typeOf = (templates: ApprovedTemplate[], text: string, senderName?: string) =>
    matchingTemplate(templates, { channelType: 'SMS', senderName, text })?.template.templateType

  test('is the one it fits, with what stands at the places', () => {
    const order = approved('Заказ %d для %w{1,3} готов')
    const templates = [approved('Код %d'), order]
    const match = matchingTemplate(templates, { channelType: 'SMS', text: 'Заказ 17 для Анны Петровой готов' })
    expect(match).toEqual({ template: order, values: ['17', 'Анны Петровой'] })
    expect(matchingTemplate(templates, { channelType: 'SMS', text: 'Распродажа!' })).toBeUndefined()
  })

  test('of a messenger goes out as its own template, filled with what stands at the places', () => {
    const given = { channelType: 'WHATSAPP', content: { name: 'order_ready', language: 'en_US' } } as const
    const content = { contentType: 'text', text: 'Order 17 is ready', footer: { text: 'Shop' } } as const
    const said = (template: ApprovedTemplate) => saidByTemplate(content, fitTemplate(template, content.text)!)
    expect(said(approved('Order %d is %w', given))).toEqual({
      ...content,
      template: { templateId: 'order_ready:en_US', parameters: ['17', 'ready'] },
    })
    expect(said(approved('Order %d is %w'))).toBeUndefined()
  })

  test('is one of its channel', () => {
    expect(typeOf([approved('Код %d', { channelType: 'VIBER' })], 'Код 1')).toBeUndefined()
  })

  test('is one of its sender name, or of none', () => {
    const bound = approved('Код %d', { senderName: 'ROMASHKA' })
    expect(typeOf([bound], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
    expect(typeOf([bound], 'Код 1', 'romashka')).toBeUndefined()
    expect(typeOf([bound], 'Код 1')).toBeUndefined()
    expect(typeOf([approved('Код %d')], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
  })

  test('is the first of several', () => {
    const templates = [approved('Код %w', { templateType: 'AUTHORIZE' }), approved('Код %d')]
    expect(typeOf(templates, 'Код 1')).toBe('AUTHORIZE')
  })

  test('is none where hundreds of hostile templates would take too long, and that is known after a bounded effort', () => {
    const hostile = Array.from({ length: 500 }, () => approved(`${'%wa'.repeat(50)}!`))
    const effort = { steps: 0 }
    const text = 'a'.repeat(10_000)
    expect(matchingTemplate([...hostile, approved('%w')], { channelType: 'SMS', text }, effort)).toBeUndefined()
    expect(effort.steps).toBeLessThan(3_100_000)
  })

  test('is found among 500 long ones that begin alike', () => {
    const beginning = 'Здравствуйте, %w! '.repeat(40)
    const alike = Array.from({ length: 500 }, (_, i) => approved(`${beginning}${i}`))
    const text = `${'Здравствуйте, Анна! '.repeat(40)}499`
    expect(matchingTemplate(alike, { channelType: 'SMS', text })?.template).toBe(alike[499])
  })
})

describe('the approved templates of a company', () => {
  const db = useDatabase()
  const now = new Date('2026-05-01T12:00:00Z')
  const inMs = (ms: number) => new Date(now.getTime() + ms)
  const DAY_MS = 86_400_000

  let companyId: number
  beforeAll(async () => {
    companyId = await aCompany(db.sql, await aPartner(db.sql))
  })
  beforeEach(async () => {
    await db.sql`truncate template_moves, templates`
    forgetCache()
  })

  /** A pool that counts what it is asked; a new one has a cache of its own. */
  let pool: Pool
  let asked = 0
  function forgetCache() {
    asked = 0
    pool = new Proxy(db.sql, {
      apply(target, self, args) {
        if (String(args[0]).includes('array_position')) asked++
        return Reflect.apply(target, self, args)
      },
    })
  }

  async function anApproved(given: Partial<NewTemplate> = {}, of = companyId) {
    const template = await db.sql.begin(tx =>
      createTemplate(
        tx,
        of,
        {
          channelType: 'SMS',
          templateType: 'SERVICE',
          pattern: 'Код %d',
          senderId: null,
          content: null,
          dateFrom: inMs(-DAY_MS),
          dateTo: null,
          ...given,
        },
        now,
      ),
    )
    await moveDueTemplates(db.sql, 'auto', now)
    return template
  }

  const idsAt = async (at: Date, of = companyId) =>
    (await approvedTemplates(pool, of, at)).map(({ templateId }) => templateId)

  test('come the most urgent first, with what matching needs', async () => {
    const sender = await anApprovedSender(db.sql, companyId)
    const promo = await anApproved({ templateType: 'PROMO' })
    const service = await anApproved()
    const authorize = await anApproved({ templateType: 'AUTHORIZE', senderId: sender.senderId })
    const transact = await anApproved({ templateType: 'TRANSACT' })
    const content = { name: 'code', language: 'ru' }
    const older = await anApproved({ channelType: 'WHATSAPP', content })
    expect(await idsAt(now)).toEqual([authorize, transact, service, older, promo].map(one => one.templateId))
    const [first, , , whatsapp] = await approvedTemplates(pool, companyId, now)
    expect(first).toMatchObject({ senderName: 'ROMASHKA', channelType: 'SMS', content: null })
    expect(whatsapp).toMatchObject({ senderName: null, content })
    expect(matchingTemplate([first!], { channelType: 'SMS', senderName: 'ROMASHKA', text: 'Код 7' })).toMatchObject({
      values: ['7'],
    })
  })

  test('are those within their dates, and of nobody else', async () => {
    const other = await aCompany(db.sql, await aPartner(db.sql))
    await anApproved({}, other)
    await anApproved({ dateFrom: inMs(DAY_MS) })
    const ending = await anApproved({ dateTo: inMs(5_000) })
    expect(await idsAt(now)).toEqual([ending.templateId])
    expect(await idsAt(inMs(5_000))).toEqual([])
    expect(await idsAt(inMs(5_000), other)).toHaveLength(1)
  })

  test('are asked for once a second, however many ask at once', async () => {
    const { templateId } = await anApproved()
    await Promise.all(Array.from({ length: 50 }, () => idsAt(now)))
    await denyTemplate(db.sql, templateId, undefined, now)
    expect(await idsAt(inMs(999))).toEqual([templateId])
    expect(asked).toBe(1)
    expect(await idsAt(inMs(1000))).toEqual([])
    expect(asked).toBe(2)
  })

  test('are asked for again after a failure', async () => {
    const { templateId } = await anApproved()
    await db.sql`alter table templates rename to templates_away`
    await expect(idsAt(now)).rejects.toThrow('templates')
    await db.sql`alter table templates_away rename to templates`
    expect(await idsAt(now)).toEqual([templateId])
  })

  test('of a thousand companies are kept, not of more', async () => {
    for (let of = 1; of <= 1001; of++) await idsAt(now, 1_000_000 + of)
    expect(asked).toBe(1001)
    await idsAt(now, 1_001_001)
    expect(asked).toBe(1001)
    await idsAt(now, 1_000_001)
    expect(asked).toBe(1002)
  })
})
