import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type ClientChannel, channelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import { changeTogether, recordChange } from '../../../domain/audit-log/audit-log.ts'
import { openStatuses, type ReviewStatus } from '../../../domain/review/review.ts'
import { pageOfNames } from '../../../domain/senders/senders.ts'
import { MOST_PATTERN_CHARACTERS } from '../../../domain/templates/pattern.ts'
import { changeableFields, type Template, type TemplateChange } from '../../../domain/templates/template.ts'
import {
  changeTemplate,
  createTemplate,
  listTemplates,
  requireTemplate,
  requireUnchanged,
  reviewChangesOfTemplate,
  type TemplateFilter,
  versionOf,
} from '../../../domain/templates/templates.ts'
import { DateTime, Id, Nullable, OneOf } from '../../schemas.ts'
import { templateFieldOf, withTemplateFields } from '../../wire-names.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { historyOf, reviewActorOf } from './review-history.ts'
import { listQuery, type ReviewFilter, statusesOf } from './review-list.ts'

const PER_PAGE = 50
/** The limit of names in the form. A company with more names uses the API for the others. */
const MOST_NAMES = 200

const ListQuery = listQuery(Object.keys(statusesOf) as ReviewFilter[], 200)
const ByTemplate = Type.Object({ templateId: Id })
const Pattern = Type.String({ minLength: 1, maxLength: MOST_PATTERN_CHARACTERS })
const Content = Nullable(
  Type.Object({ name: Type.String({ maxLength: 512 }), language: Type.String({ maxLength: 10 }) }),
)
const NewTemplate = Type.Object({
  channelType: OneOf(channelTypes),
  templateType: OneOf(trafficTypes),
  pattern: Pattern,
  /** Null for all names of the channel. */
  senderId: Nullable(Id),
  /** The name of the template at Meta, for WhatsApp. */
  content: Content,
})
const Change = Type.Object({
  version: Type.String({ maxLength: 40 }),
  templateType: Type.Optional(OneOf(trafficTypes)),
  pattern: Type.Optional(Pattern),
  senderId: Type.Optional(Nullable(Id)),
  content: Type.Optional(Content),
  /** The template is withdrawn at this moment. */
  dateTo: Type.Optional(DateTime),
})

/** Types of requests and answers, which the page imports. */
export type NewTemplateForm = Type.Static<typeof NewTemplate>
export type TemplateChangeForm = Type.Static<typeof Change>
export type ListedTemplate = ReturnType<typeof present>
export type TemplatesAnswer = { page: number; perPage: number; total: number; templates: ListedTemplate[] }
export type MadeTemplate = { templateId: number }
export type TemplatePageAnswer = ListedTemplate & {
  version: string
  changeable: string[]
  history: ReturnType<typeof historyOf>
}
/** The names that a template can be bound to, each with its first registration. */
export type TemplateNamesAnswer = { names: { senderId: number; senderName: string; channelType: ClientChannel }[] }

/** Templates of one company: listing, requesting, changing and withdrawing. */
export const templateRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    templateReadRoutes(api, context)
    templateChangeRoutes(api, context)
  }

/** Lists templates and the names for them, and reads one template. */
function templateReadRoutes(api: CabinetApi, { sql }: CabinetContext) {
  const config = { needs: 'settings.see' } as const

  api.get(
    '/templates',
    { config, schema: { querystring: ListQuery } },
    async ({ viewer, query }): Promise<TemplatesAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const place = { page: query.page, perPage: PER_PAGE }
      const { total, items } = await listTemplates(sql, companyId, filterIn(query), { ...place, newestFirst: true })
      return { ...place, total, templates: items.map(present) }
    },
  )

  api.get(
    '/templates/names',
    { config, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<TemplateNamesAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const statuses = [...openStatuses, 'REJECTED', 'APPROVED'] as const
      const { names } = await pageOfNames(sql, companyId, { statuses }, { page: 1, perPage: MOST_NAMES })
      const isOpen = ({ status }: { status: ReviewStatus }) => (statuses as readonly ReviewStatus[]).includes(status)
      return {
        names: names.map(({ senderName, channelType, registrations }) => ({
          senderName,
          channelType,
          senderId: registrations.find(isOpen)!.senderId,
        })),
      }
    },
  )

  api.get(
    '/templates/:templateId',
    { config, schema: { querystring: OfCompany, params: ByTemplate } },
    async ({ viewer, query, params }): Promise<TemplatePageAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const template = await requireTemplate(sql, companyId, params.templateId)
      const moves = await reviewChangesOfTemplate(sql, companyId, params.templateId)
      return {
        ...present(template),
        version: versionOf(template),
        changeable: changeableFields.in(template.status).map(templateFieldOf),
        history: historyOf(template.createdAt, moves),
      }
    },
  )
}

/** Requests and changes templates. */
function templateChangeRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  const config = { needs: 'settings.change' } as const

  api.post(
    '/templates',
    { config, schema: { querystring: OfCompany, body: NewTemplate } },
    async ({ viewer, actor, query, body }, reply): Promise<MadeTemplate> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const now = clock()
      const { templateId } = await sql.begin(async tx => {
        const made = await createTemplate(tx, companyId, readNew(body, now), now)
        const after = { channel: made.channelType, ...valuesOf(made) }
        await recordChange(tx, actor, { what: 'template.created', ...templateSubjectOf(made), after })
        return made
      })
      reply.code(201)
      return { templateId }
    },
  )

  /** A template that was rejected goes back into review. */
  api.patch(
    '/templates/:templateId',
    { config, schema: { querystring: OfCompany, params: ByTemplate, body: Change } },
    async ({ viewer, actor, query, params, body }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await changeTogether(sql, async (tx, within) => {
        const before = await requireUnchanged(tx, companyId, params.templateId, body.version)
        const after = await withTemplateFields(() =>
          changeTemplate(within, before, readChange(body), clock(), reviewActorOf[viewer.kind]),
        )
        const values = { before: valuesOf(before), after: valuesOf(after) }
        await recordChange(tx, actor, { what: 'template.changed', ...templateSubjectOf(after), ...values })
      })
      return reply.code(204).send()
    },
  )
}

const filterIn = ({ state, search }: Type.Static<typeof ListQuery>): TemplateFilter => ({
  ...(state ? { status: [...statusesOf[state]] } : {}),
  ...(search?.trim() ? { search: search.trim() } : {}),
})

const readNew = ({ templateType, ...body }: Type.Static<typeof NewTemplate>, now: Date) => ({
  ...body,
  trafficType: templateType,
  validFrom: now,
  validTo: null,
})

const readChange = ({ version: _, templateType, dateTo, ...change }: TemplateChangeForm): TemplateChange => ({
  ...change,
  ...(templateType === undefined ? {} : { trafficType: templateType }),
  ...(dateTo === undefined ? {} : { validTo: readTimestamp(dateTo)!.time }),
})

/** The fields that the audit log keeps. */
const valuesOf = ({ trafficType, pattern, senderName, validTo, status }: Template) => ({
  type: trafficType,
  text: pattern,
  name: senderName,
  dateTo: validTo,
  status,
})

export const templateSubjectOf = ({ templateId, senderName, companyId }: Template) => ({
  subject: { kind: 'template', id: templateId, name: senderName ?? '' },
  companyId,
})

const present = (template: Template) => ({
  templateId: template.templateId,
  channelType: template.channelType,
  templateType: template.trafficType,
  pattern: template.pattern,
  senderId: template.senderId,
  senderName: template.senderName,
  content: template.content,
  status: template.status,
  comment: template.managerComment,
  dateFrom: template.validFrom,
  dateTo: template.validTo,
  createdAt: template.createdAt,
})
