import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { approvedTemplates, currentTemplates, refuseChangedTemplates, TemplatesChanged } from './approved.ts'
import { fitTemplate } from './matching.ts'
import { advanceDueTemplates, approveTemplate, denyTemplate } from './moderation.ts'
import type { NewTemplate } from './template.ts'
import { changeTemplate, createTemplate } from './templates.ts'

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

  /** A pool that counts the reads of templates. Each new pool has its own cache. */
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

  const aTemplate = (given: Partial<NewTemplate> = {}): NewTemplate => ({
    channelType: 'SMS',
    trafficType: 'SERVICE',
    pattern: 'Код %d',
    senderId: null,
    content: null,
    validFrom: inMs(-DAY_MS),
    validTo: null,
    ...given,
  })

  async function anApproved(given: Partial<NewTemplate> = {}, of = companyId) {
    const template = await db.sql.begin(tx => createTemplate(tx, of, aTemplate(given), now))
    await advanceDueTemplates(db.sql, 'auto', now)
    return template
  }

  const idsAt = async (at: Date, of = companyId) =>
    (await approvedTemplates(pool, of, at)).templates.map(({ templateId }) => templateId)

  test('come the most urgent first, with all data for matching', async () => {
    const sender = await anApprovedSender(db.sql, companyId)
    const promo = await anApproved({ trafficType: 'PROMO' })
    const service = await anApproved()
    const authorize = await anApproved({ trafficType: 'AUTHORIZE', senderId: sender.senderId })
    const transact = await anApproved({ trafficType: 'TRANSACT' })
    const content = { name: 'code', language: 'ru' }
    const older = await anApproved({ channelType: 'WHATSAPP', content })
    expect(await idsAt(now)).toEqual([authorize, transact, service, older, promo].map(one => one.templateId))
    const [first, , , whatsapp] = (await approvedTemplates(pool, companyId, now)).templates
    expect(first).toMatchObject({ senderName: 'ROMASHKA', channelType: 'SMS', content: null })
    expect(whatsapp).toMatchObject({ senderName: null, content })
    expect(fitTemplate(first!, 'Код 7')).toMatchObject({ values: ['7'] })
  })

  test('are only templates of the company within their dates', async () => {
    const other = await aCompany(db.sql, await aPartner(db.sql))
    await anApproved({}, other)
    await anApproved({ validFrom: inMs(DAY_MS) })
    const ending = await anApproved({ validTo: inMs(5_000) })
    expect(await idsAt(now)).toEqual([ending.templateId])
    expect(await idsAt(inMs(5_000))).toEqual([])
    expect(await idsAt(inMs(5_000), other)).toHaveLength(1)
  })

  test('get a new version only with an approval, a denial, a closing or a change of an approved template', async () => {
    const versionNow = async () => (await currentTemplates(db.sql, pool, companyId, now)).version
    const idsNow = async () =>
      (await currentTemplates(db.sql, pool, companyId, now)).templates.map(one => one.templateId)
    const draft = await db.sql.begin(tx => createTemplate(tx, companyId, aTemplate(), now))
    const before = await versionNow()
    await changeTemplate(db.sql, draft, { pattern: 'Код: %d' }, now)
    expect(await versionNow()).toBe(before)

    await approveTemplate(db.sql, draft.templateId, now)
    expect([await versionNow(), await idsNow()]).toEqual([before + 1, [draft.templateId]])
    await refuseChangedTemplates(db.sql, companyId, before + 1)
    await expect(refuseChangedTemplates(db.sql, companyId, before)).rejects.toThrow(TemplatesChanged)

    await changeTemplate(db.sql, draft, { validTo: inMs(DAY_MS) }, now)
    expect(await versionNow()).toBe(before + 2)
    await advanceDueTemplates(db.sql, 'auto', inMs(DAY_MS)) // closes the template
    expect([await versionNow(), await idsNow()]).toEqual([before + 3, []])

    const other = await anApproved()
    expect([await versionNow(), await idsNow()]).toEqual([before + 4, [other.templateId]])
    await denyTemplate(db.sql, other.templateId, undefined, now)
    expect([await versionNow(), await idsNow()]).toEqual([before + 5, []])
  })

  test('are read within a transaction only if memory has another version', async () => {
    await anApproved()
    for (let i = 0; i < 3; i++) await db.sql.begin(tx => currentTemplates(tx, pool, companyId, now))
    expect(asked).toBe(0) // the transaction read them, not the pool
    const [first, second] = [
      await approvedTemplates(pool, companyId, now),
      await approvedTemplates(pool, companyId, now),
    ]
    expect(asked).toBe(0)
    expect(first.templates).toBe(second.templates)
  })

  test('are not compiled again when only a date changes', async () => {
    const template = await anApproved()
    const [before] = (await currentTemplates(db.sql, pool, companyId, now)).templates
    await changeTemplate(db.sql, template, { validTo: inMs(DAY_MS) }, now)
    const [after] = (await currentTemplates(db.sql, pool, companyId, now)).templates
    expect(after!.validTo).toEqual(inMs(DAY_MS))
    expect(after!.compiled).toBe(before!.compiled)
  })

  test('are read once a second, for any number of requests', async () => {
    const { templateId } = await anApproved()
    await Promise.all(Array.from({ length: 50 }, () => idsAt(now)))
    await denyTemplate(db.sql, templateId, undefined, now)
    expect(await idsAt(inMs(999))).toEqual([templateId])
    expect(asked).toBe(1)
    expect(await idsAt(inMs(1000))).toEqual([])
    expect(asked).toBe(2)
  })

  test('are read again after a failure', async () => {
    const { templateId } = await anApproved()
    await db.sql`alter table templates rename to templates_away`
    await expect(idsAt(now)).rejects.toThrow('templates')
    await db.sql`alter table templates_away rename to templates`
    expect(await idsAt(now)).toEqual([templateId])
  })

  test('of at most a thousand companies are in memory', async () => {
    for (let of = 1; of <= 1001; of++) await idsAt(now, 1_000_000 + of)
    expect(asked).toBe(1001)
    await idsAt(now, 1_001_001)
    expect(asked).toBe(1001)
    await idsAt(now, 1_000_001)
    expect(asked).toBe(1002)
  })
})
