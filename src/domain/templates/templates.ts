import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { refuseBadDates } from '../senders/sender.ts'
import { sendersByIds } from '../senders/senders.ts'
import { whyUnusable } from './named.ts'
import { compilePattern } from './pattern.ts'
import * as store from './store.ts'
import {
  type NewTemplate,
  refuseBadContent,
  refuseForbiddenChange,
  type Template,
  type TemplateChange,
} from './template.ts'

export type { TemplateFilter } from './store.ts'

/** Every text of a company is held against each of its templates. */
export const MOST_TEMPLATES = 500

export async function createTemplate(
  sql: Transaction,
  companyId: number,
  template: NewTemplate,
  now: Date,
): Promise<Template> {
  compilePattern(template.pattern)
  refuseBadContent(template.content, template.channelType)
  refuseBadDates(template, now)
  await refuseBadSender(sql, companyId, template)

  const templateId = await insertOneMore(sql, companyId, template)
  return requireTemplate(sql, companyId, templateId)
}

async function insertOneMore(sql: Transaction, companyId: number, template: NewTemplate): Promise<number> {
  await store.lockTemplatesOf(sql, companyId)
  const [id] = await store.insertTemplateId(sql, companyId)
  const [made] = await store.insertTemplate(sql, companyId, id!.templateId, template, MOST_TEMPLATES)
  if (!made) throw invalid(`A company has at most ${MOST_TEMPLATES} templates that are not CLOSED or DENIED`)
  return made.templateId
}

/** A template is bound to a name of its own company and channel, and not to one that can never send again. */
async function refuseBadSender(
  sql: Sql,
  companyId: number,
  { senderId, channelType }: Pick<Template, 'senderId' | 'channelType'>,
) {
  if (senderId === null) return
  const [sender] = await sendersByIds(sql, companyId, [senderId])
  if (!sender) throw invalid(`senderNameId: there is no sender name ${senderId}`)
  if (sender.channelType !== channelType) throw invalid(`senderNameId: is a name of ${sender.channelType}`)
  if (sender.status === 'DENIED' || sender.status === 'CLOSED') {
    throw invalid(`senderNameId: the sender name is ${sender.status}`)
  }
}

/** Pages count from 1. */
export async function listTemplates(
  sql: Sql,
  companyId: number,
  filter: store.TemplateFilter,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ total: number; items: Template[] }> {
  const [count] = await store.countTemplates(sql, companyId, filter)
  const items = await store.selectTemplates(sql, companyId, filter, { offset: (page - 1) * perPage, limit: perPage })
  return { total: count!.total, items }
}

export async function requireTemplate(sql: Sql, companyId: number, templateId: number): Promise<Template> {
  const [template] = await store.selectTemplate(sql, companyId, templateId)
  if (!template) throw notFound('Template')
  return template
}

/** Why each of these templates cannot be used, although a message names it by its id. */
export async function whyTemplatesAreUnusable(
  sql: Sql,
  companyId: number,
  templateIds: number[],
): Promise<Map<number, string>> {
  if (templateIds.length === 0) return new Map()
  const known = await store.selectTemplatesByIds(sql, companyId, templateIds)
  const byId = new Map(known.map(template => [template.templateId, template]))
  return new Map(templateIds.map(id => [id, whyUnusable(id, byId.get(id))]))
}

/** Changes a template as far as its state allows; one that was rejected goes back into review. */
export async function changeTemplate(
  pool: Pool,
  { companyId, templateId }: Pick<Template, 'companyId' | 'templateId'>,
  given: TemplateChange,
  now: Date,
): Promise<Template> {
  const change = withoutUndefined(given)
  return pool.begin(async sql => {
    const [template] = await store.selectTemplateForUpdate(sql, companyId, templateId)
    if (!template) throw notFound('Template')

    refuseForbiddenChange(template, change)
    const changed = { ...template, ...change }
    if (change.pattern !== undefined) compilePattern(change.pattern)
    if (change.content) refuseBadContent(change.content, template.channelType)
    if (change.dateFrom || change.dateTo) refuseBadDates(changed, now)
    if (change.senderId) await refuseBadSender(sql, companyId, changed)

    await store.updateTemplate(sql, template, change)
    if (template.status === 'APPROVED') await store.insertVersion(sql, companyId)
    if (template.status === 'REJECTED') await resubmit(sql, template, now)
    return requireTemplate(sql, companyId, templateId)
  }) as Promise<Template>
}

const withoutUndefined = (change: TemplateChange): TemplateChange =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

const resubmit = (sql: Sql, { companyId, templateId }: Template, now: Date) =>
  store.moveTemplate(sql, { companyId, templateId, from: 'REJECTED', to: 'PRE_REVIEW', by: 'company', now })

/** For staff: the templates of every company, or of one; what waits for review comes first. */
export const listAllTemplates = (sql: Sql, companyId: number | undefined): Promise<Template[]> =>
  store.selectAllTemplates(sql, companyId)
