import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../../db/sql.ts'
import { changeTogether, recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import type { Company } from '../../../domain/companies/company.ts'
import { senderFeeTable } from '../../../domain/pricing/pricing.ts'
import { isWaiting, type ReviewStatus } from '../../../domain/review/review.ts'
import { approveSender, denySender, rejectSender } from '../../../domain/senders/moderation.ts'
import { isInternational, isPaidType, type Sender } from '../../../domain/senders/sender.ts'
import {
  companyOfSender,
  pageOfNames,
  requireSenderRequest,
  requireUnchanged as requireSenderUnchanged,
  reviewChangesOfSender,
} from '../../../domain/senders/senders.ts'
import { similarNames } from '../../../domain/senders/similar-names.ts'
import { versionOf as versionOfSender } from '../../../domain/senders/version.ts'
import { countWaitingSenders, waitingSenders } from '../../../domain/senders/waiting.ts'
import { approveTemplate, denyTemplate, rejectTemplate } from '../../../domain/templates/moderation.ts'
import type { Template } from '../../../domain/templates/template.ts'
import {
  companyOfTemplate,
  countWaitingTemplates,
  listTemplates,
  requireTemplate,
  requireUnchanged as requireTemplateUnchanged,
  reviewChangesOfTemplate,
  versionOf as versionOfTemplate,
  waitingTemplates,
} from '../../../domain/templates/templates.ts'
import { Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { historyOf } from './review-history.ts'
import { attachedTo, feesByBrand, subjectOf } from './senders.ts'
import { templateSubjectOf } from './templates.ts'

/** The limit for names and for templates. The next requests follow after the decisions on these. */
const MOST_LISTED = 200
const MOST_OTHERS = 8

const BySender = Type.Object({ senderId: Id })
const ByTemplate = Type.Object({ templateId: Id })
const decisions = ['approve', 'reject', 'deny'] as const
const Decision = Type.Object({
  decision: OneOf(decisions),
  /** The version that the person saw. If the request was decided or changed meanwhile, the decision is refused. */
  version: Type.String({ maxLength: 40 }),
  comment: Type.Optional(Type.String({ maxLength: 2000 })),
})

/** Types of requests and answers, which the page imports. */
export type DecisionForm = Type.Static<typeof Decision>
export type QueueItem = {
  kind: 'sender' | 'template'
  id: number
  /** The sender name, or the text of the template. */
  title: string
  companyName: string
  channelType: Sender['channelType']
  brand: Sender['brand'] | null
  waitingSince: Date
}
/** The oldest first. `isAutomatic`: the engine approves requests itself, so that no new request waits. */
export type QueueAnswer = { items: QueueItem[]; waiting: number; isAutomatic: boolean }
export type CountAnswer = { waiting: number }
export type SenderReview = Awaited<ReturnType<typeof presentSender>>
export type TemplateReview = Awaited<ReturnType<typeof presentTemplate>>
export type DecidedAnswer = { status: ReviewStatus }

/** Names and templates of all companies that wait for a decision of staff. */
export const reviewRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    reviewListRoutes(api, context)
    reviewRequestRoutes(api, context)
    decisionRoutes(api, context)
  }

const config = { needs: 'review' } as const

/** Lists and counts the requests. */
function reviewListRoutes(api: CabinetApi, { sql, moderation }: CabinetContext) {
  api.get('/review', { config }, async (): Promise<QueueAnswer> => {
    const [senders, templates] = await Promise.all([
      waitingSenders(sql, MOST_LISTED),
      waitingTemplates(sql, MOST_LISTED),
    ])
    const items: QueueItem[] = [
      ...senders.map(one => ({ ...one, kind: 'sender' as const, id: one.senderId, title: one.senderName })),
      ...templates.map(one => ({
        ...one,
        kind: 'template' as const,
        id: one.templateId,
        title: one.pattern,
        brand: null,
      })),
    ]
    return {
      items: items.sort(byWaiting).slice(0, MOST_LISTED).map(presentItem),
      waiting: await countWaiting(sql),
      isAutomatic: moderation === 'auto',
    }
  })

  /** The navigation asks for it once a minute. */
  api.get('/review/count', { config }, async (): Promise<CountAnswer> => ({ waiting: await countWaiting(sql) }))
}

/** Reads one request. */
function reviewRequestRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.get(
    '/review/senders/:senderId',
    { config, schema: { params: BySender } },
    async ({ viewer, params }): Promise<SenderReview> => {
      const company = await requireCompanyWithin(sql, viewer, await companyOfSender(sql, params.senderId))
      return presentSender(sql, company, params.senderId)
    },
  )

  api.get(
    '/review/templates/:templateId',
    { config, schema: { params: ByTemplate } },
    async ({ viewer, params }): Promise<TemplateReview> => {
      const company = await requireCompanyWithin(sql, viewer, await companyOfTemplate(sql, params.templateId))
      return presentTemplate(sql, company, params.templateId)
    },
  )
}

/** Decides on a request. */
function decisionRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  api.post(
    '/review/senders/:senderId/decision',
    { config, schema: { params: BySender, body: Decision } },
    async ({ actor, params, body }): Promise<DecidedAnswer> => {
      const companyId = await companyOfSender(sql, params.senderId)
      return changeTogether(sql, async (tx, within) => {
        const before = await requireSenderUnchanged(tx, companyId, params.senderId, body.version)
        refuseDecided(before.status)
        const decided = await decideSender(within, params.senderId, body, clock())
        await record(tx, actor, { kind: 'sender', before, decided, ...subjectOf(decided) }, body.decision)
        return { status: decided.status }
      })
    },
  )

  api.post(
    '/review/templates/:templateId/decision',
    { config, schema: { params: ByTemplate, body: Decision } },
    async ({ actor, params, body }): Promise<DecidedAnswer> => {
      const companyId = await companyOfTemplate(sql, params.templateId)
      return changeTogether(sql, async (tx, within) => {
        const before = await requireTemplateUnchanged(tx, companyId, params.templateId, body.version)
        refuseDecided(before.status)
        const decided = await decideTemplate(within, params.templateId, body, clock())
        await record(tx, actor, { kind: 'template', before, decided, ...templateSubjectOf(decided) }, body.decision)
        return { status: decided.status }
      })
    },
  )
}

const byWaiting = (a: { waitingSince: Date }, b: { waitingSince: Date }) =>
  a.waitingSince.getTime() - b.waitingSince.getTime()

const MOST_TITLE = 120

const presentItem = ({ kind, id, title, companyName, channelType, brand, waitingSince }: QueueItem): QueueItem => ({
  kind,
  id,
  title: title.slice(0, MOST_TITLE),
  companyName,
  channelType,
  brand: channelType === 'SMS' ? brand : null,
  waitingSince,
})

const countWaiting = async (sql: Sql) => (await countWaitingSenders(sql)) + (await countWaitingTemplates(sql))

function refuseDecided(status: ReviewStatus) {
  if (!isWaiting(status)) throw invalid(`version: the request is ${status} and does not wait for review`)
}

async function decideSender(pool: Pool, senderId: number, { decision, comment }: DecisionForm, now: Date) {
  if (decision === 'approve') return approveSender(pool, senderId, await senderFeeTable(pool), now, given(comment))
  if (decision === 'reject') return rejectSender(pool, senderId, requireComment(comment), now)
  return denySender(pool, senderId, requireComment(comment), now)
}

function decideTemplate(pool: Pool, templateId: number, { decision, comment }: DecisionForm, now: Date) {
  if (decision === 'approve') return approveTemplate(pool, templateId, now, given(comment))
  if (decision === 'reject') return rejectTemplate(pool, templateId, requireComment(comment), now)
  return denyTemplate(pool, templateId, requireComment(comment), now)
}

const given = (comment: string | undefined) => comment?.trim() || undefined

/** The comment tells the company what to correct, or the reason of the refusal. */
function requireComment(comment: string | undefined): string {
  const text = given(comment)
  if (!text) throw invalid('comment: is required')
  return text
}

const PAST = { approve: 'approved', reject: 'rejected', deny: 'denied' } as const

type Decided = {
  kind: 'sender' | 'template'
  before: Sender | Template
  decided: Sender | Template
  subject: { kind: string; id: number; name: string }
  companyId: number
}

function record(tx: Transaction, actor: Actor, decided: Decided, decision: (typeof decisions)[number]) {
  const values = ({ status, managerComment: comment }: Sender | Template) => ({ status, comment })
  return recordChange(tx, actor, {
    what: `${decided.kind}.${PAST[decision]}`,
    subject: decided.subject,
    companyId: decided.companyId,
    before: values(decided.before),
    after: values(decided.decided),
  })
}

const presentCompany = ({ companyId, name, counteragentName, counteragentInn, status }: Company) => ({
  companyId,
  name,
  counteragentName,
  counteragentInn,
  isDisabled: status === 'DISABLED',
})

async function presentSender(sql: Sql, company: Company, senderId: number) {
  const { companyId } = company
  const sender = await requireSenderRequest(sql, companyId, senderId)
  const { names } = await pageOfNames(sql, companyId, {}, { page: 1, perPage: MOST_OTHERS })
  const fees = await feesByBrand(sql)
  return {
    company: presentCompany(company),
    currency: company.currency,
    senderId,
    senderName: sender.senderName,
    channelType: sender.channelType,
    brand: sender.brand,
    commonType: sender.commonType,
    countryCode: sender.countryCode,
    status: sender.status,
    isWaiting: isWaiting(sender.status),
    suspended: sender.suspended,
    comment: sender.managerComment,
    description: sender.description ?? '',
    dateFrom: sender.validFrom,
    createdAt: sender.createdAt,
    /** The monthly fee of the name. Null without a fee. */
    fee: isPaidType(sender.commonType) ? (fees[sender.brand] ?? null) : null,
    version: versionOfSender(sender),
    documents: await attachedTo(sql, sender),
    history: historyOf(sender.createdAt, await reviewChangesOfSender(sql, companyId, senderId)),
    /** The company's names, the newest first, with their statuses. The registration under review is left out. */
    others: names
      .map(({ channelType, senderName, registrations }) => ({
        channelType,
        senderName,
        registrations: registrations
          .filter(one => one.senderId !== senderId)
          .map(one => ({
            brand: isInternational(one) ? null : one.brand,
            status: one.status,
            suspended: one.suspended,
          })),
      }))
      .filter(({ registrations }) => registrations.length > 0),
    similar: await similarNames(sql, companyId, sender.senderName),
  }
}

async function presentTemplate(sql: Sql, company: Company, templateId: number) {
  const { companyId } = company
  const template = await requireTemplate(sql, companyId, templateId)
  const place = { page: 1, perPage: MOST_OTHERS + 1, newestFirst: true }
  const { items } = await listTemplates(sql, companyId, { channelType: [template.channelType] }, place)
  return {
    company: presentCompany(company),
    templateId,
    channelType: template.channelType,
    templateType: template.trafficType,
    pattern: template.pattern,
    senderName: template.senderName,
    content: template.content,
    status: template.status,
    isWaiting: isWaiting(template.status),
    comment: template.managerComment,
    dateFrom: template.validFrom,
    createdAt: template.createdAt,
    version: versionOfTemplate(template),
    history: historyOf(template.createdAt, await reviewChangesOfTemplate(sql, companyId, templateId)),
    others: items
      .filter(one => one.templateId !== templateId)
      .slice(0, MOST_OTHERS)
      .map(one => ({ templateId: one.templateId, pattern: one.pattern.slice(0, MOST_TITLE), status: one.status })),
  }
}
