import type { ChannelType } from '../../base/channel-types.ts'
import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { FieldMistake } from '../../base/field-mistake.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import type { ReviewActor, ReviewChange } from '../review/review.ts'
import { countWaitingRows, selectReviewChanges } from '../review/statements.ts'
import { refuseOldVersion, versionOfValues } from '../review/version.ts'
import { refuseBadDates, type Sender } from '../senders/sender.ts'
import { sendersByIds, sendersByNames } from '../senders/senders.ts'
import { whyUnusable } from './named.ts'
import { refuseBadPattern } from './pattern.ts'
import * as store from './store.ts'
import {
  changeableFields,
  type GivenName,
  type NewTemplate,
  refuseBadContent,
  type Template,
  type TemplateChange,
} from './template.ts'

export { listAllTemplates, type TemplateFilter, waitingTemplates } from './store.ts'

/** A limit for each company, because every text is matched with all templates of its company. */
export const MOST_TEMPLATES = 500

export async function createTemplate(
  sql: Transaction,
  companyId: number,
  given: NewTemplate & { givenName?: GivenName | undefined },
  now: Date,
): Promise<Template> {
  refuseBadPattern(given.pattern)
  refuseBadContent(given.content, given.channelType)
  refuseBadDates(given, now)
  const template = { ...given, senderId: await senderIdOf(sql, companyId, given) }

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

type BoundTo = Pick<Template, 'senderId' | 'channelType'> & { givenName?: GivenName | undefined }

/** The sender name of a template must belong to its company and channel, and must not be DENIED or CLOSED. */
async function senderIdOf(
  sql: Sql,
  companyId: number,
  { senderId, channelType, givenName }: BoundTo,
): Promise<number | null> {
  const sender =
    senderId !== null
      ? await senderWithId(sql, companyId, senderId, channelType)
      : givenName && (await senderCalled(sql, companyId, channelType, givenName))
  if (!sender) return null
  if (isOver(sender)) throw invalidField(senderId ? 'senderId' : 'senderName', `the sender name is ${sender.status}`)
  if (givenName && givenName.senderName !== sender.senderName) {
    throw invalidField(
      'senderName',
      `sender name ${senderId} is ${sender.senderName}; give the name or the id, not both`,
    )
  }
  return sender.senderId
}

async function senderWithId(sql: Sql, companyId: number, senderId: number, channelType: ChannelType): Promise<Sender> {
  const [sender] = await sendersByIds(sql, companyId, [senderId])
  if (!sender) throw invalidField('senderId', `there is no sender name ${senderId}`)
  if (sender.channelType !== channelType) throw invalidField('senderId', `is a name of ${sender.channelType}`)
  return sender
}

/**
 * Of several registrations of a name, the oldest usable one is enough: a template is for all registrations of its name.
 */
async function senderCalled(sql: Sql, companyId: number, channelType: ChannelType, given: GivenName): Promise<Sender> {
  const called = (await sendersByNames(sql, companyId, [given.senderName])).filter(
    sender =>
      sender.channelType === channelType &&
      (!given.brand || sender.brand === given.brand) &&
      (!given.countryCode || sender.countryCode === given.countryCode),
  )
  const [first] = called.toSorted((a, b) => usefulness(a) - usefulness(b) || a.senderId - b.senderId)
  if (first) return first
  const where = [given.brand, given.countryCode].filter(Boolean).join(', ')
  throw invalidField(
    'senderName',
    `the company has no sender name ${given.senderName} for ${channelType}${where && ` (${where})`}: ` +
      'register it first, or leave senderName out to serve every name',
  )
}

const isOver = ({ status }: Sender) => status === 'DENIED' || status === 'CLOSED'
const usefulness = (sender: Sender) => (sender.status === 'APPROVED' ? 0 : isOver(sender) ? 2 : 1)

/** Pages count from 1. */
export async function listTemplates(
  sql: Sql,
  companyId: number,
  filter: store.TemplateFilter,
  { page, perPage, newestFirst = false }: { page: number; perPage: number; newestFirst?: boolean },
): Promise<{ total: number; items: Template[] }> {
  const [count] = await store.countTemplates(sql, companyId, filter)
  const place = { offset: (page - 1) * perPage, limit: perPage, newestFirst }
  const items = await store.selectTemplates(sql, companyId, filter, place)
  return { total: count!.total, items }
}

export async function requireTemplate(sql: Sql, companyId: number, templateId: number): Promise<Template> {
  const [template] = await store.selectTemplate(sql, companyId, templateId)
  if (!template) throw notFound('Template')
  return template
}

/** For each of these templates, the reason why a message cannot use it. */
export async function whyTemplatesAreUnusable(
  sql: Sql,
  companyId: number,
  templateIds: number[],
): Promise<Map<number, FieldMistake>> {
  if (templateIds.length === 0) return new Map()
  const known = await store.selectTemplatesByIds(sql, companyId, templateIds)
  const byId = new Map(known.map(template => [template.templateId, template]))
  return new Map(templateIds.map(id => [id, whyUnusable(id, byId.get(id))]))
}

/** Changes fields of a template that its status allows to change. A rejected template goes back into review. */
export async function changeTemplate(
  pool: Pool,
  { companyId, templateId }: Pick<Template, 'companyId' | 'templateId'>,
  { givenName, ...given }: TemplateChange & { givenName?: GivenName | undefined },
  now: Date,
  by: ReviewActor = 'company',
): Promise<Template> {
  return pool.begin(async sql => {
    const [template] = await store.selectTemplateForUpdate(sql, companyId, templateId)
    if (!template) throw notFound('Template')

    const change = withoutUndefined({ ...given, ...(await namedSender(sql, template, given, givenName)) })
    changeableFields.refuseOthers(template.status, change)
    const changed = { ...template, ...change }
    if (change.pattern !== undefined) refuseBadPattern(change.pattern)
    if (change.content) refuseBadContent(change.content, template.channelType)
    if (change.validFrom || change.validTo) refuseBadDates(changed, now)

    await store.updateTemplate(sql, template, change)
    if (template.status === 'APPROVED') await store.insertVersion(sql, companyId)
    if (template.status === 'REJECTED') {
      await store.changeStatus(sql, template, { from: 'REJECTED', to: 'PRE_REVIEW', by, at: now })
    }
    return requireTemplate(sql, companyId, templateId)
  })
}

/** The new sender of the template. If the given name is its current name, the sender does not change. */
async function namedSender(
  sql: Sql,
  template: Template,
  { senderId }: TemplateChange,
  givenName: GivenName | undefined,
): Promise<Pick<TemplateChange, 'senderId'>> {
  if (!senderId && !givenName) return senderId === null ? { senderId } : {}
  if (!senderId && givenName?.senderName === template.senderName) return { senderId: undefined }
  const { companyId, channelType } = template
  return { senderId: await senderIdOf(sql, companyId, { senderId: senderId ?? null, channelType, givenName }) }
}

const withoutUndefined = (change: TemplateChange): TemplateChange =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

/** Locks a template until the transaction ends. Throws if the template changed after the person read it. */
export async function requireUnchanged(
  sql: Transaction,
  companyId: number,
  templateId: number,
  version: string,
): Promise<Template> {
  await store.selectTemplateForUpdate(sql, companyId, templateId)
  const template = await requireTemplate(sql, companyId, templateId)
  refuseOldVersion('template', { read: version, current: versionOf(template), status: template.status })
  return template
}

export const versionOf = (template: Template): string =>
  versionOfValues([
    template.status,
    template.pattern,
    template.trafficType,
    template.senderId,
    template.content,
    template.validFrom,
    template.validTo,
    template.managerComment,
  ])

/** Finds the company of a template id. */
export async function companyOfTemplate(sql: Sql, templateId: number): Promise<number> {
  const [owner] = await store.selectCompanyOf(sql, templateId)
  if (!owner) throw notFound('Template')
  return owner.companyId
}

/** The latest changes of the review status, the oldest first. */
export const reviewChangesOfTemplate = (sql: Sql, companyId: number, templateId: number): Promise<ReviewChange[]> =>
  selectReviewChanges(sql, store.reviewed, companyId, templateId)

export const countWaitingTemplates = (sql: Sql): Promise<number> => countWaitingRows(sql, store.reviewed)
