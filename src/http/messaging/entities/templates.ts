import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { channelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import { once } from '../../../domain/idempotency/idempotency.ts'
import { brands } from '../../../domain/numbering/brand.ts'
import { reviewStatuses } from '../../../domain/review/review.ts'
import { MOST_PATTERN_CHARACTERS } from '../../../domain/templates/pattern.ts'
import type { GivenName, NewTemplate, Template, TemplateChange } from '../../../domain/templates/template.ts'
import {
  changeTemplate,
  createTemplate,
  listTemplates,
  requireTemplate,
  type TemplateFilter,
} from '../../../domain/templates/templates.ts'
import type { Context } from '../../context.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { Answer, answers, ById, DateTime, Id, Nullable, OneOf, Page, PerPage, SomeOf } from '../../schemas.ts'
import { withTemplateFields } from '../../wire-names.ts'
import { Maybe } from '../messages/message-request.ts'

const Pattern = Type.String({
  minLength: 1,
  maxLength: MOST_PATTERN_CHARACTERS,
  description: '`%w` one word, `%d` a number, `%w{1,n}` up to n words, `%d{1,n}` up to n digits',
})
const messengerFields = { name: Type.String({ maxLength: 512 }), language: Type.String({ maxLength: 10 }) }
const MessengerTemplate = Type.Object(messengerFields, {
  description: "The messenger's own template, which goes out in place of a free text; for WHATSAPP only",
})

const common = {
  senderNameId: Type.Optional(Nullable(Id)),
  senderName: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "In place of `senderNameId`: the company's sender name of this channel",
    }),
  ),
  brand: Maybe(OneOf(brands, { description: 'Which registration of `senderName`, where there are several' })),
  countryCode: Maybe(
    Type.String({
      minLength: 2,
      maxLength: 2,
      description: 'The country of the registration of `senderName`, where there are several',
    }),
  ),
  content: Type.Optional(Nullable(MessengerTemplate)),
  dateFrom: Maybe(DateTime),
  dateTo: Type.Optional(Nullable(DateTime)),
}

const NewTemplateBody = Type.Object({
  channelType: OneOf(channelTypes),
  templateType: OneOf(trafficTypes),
  pattern: Pattern,
  ...common,
})

const TemplateChangeBody = Type.Object({
  templateType: Maybe(OneOf(trafficTypes)),
  pattern: Maybe(Pattern),
  ...common,
})

const TemplateAnswer = Answer({
  id: Id,
  channelType: OneOf(channelTypes),
  templateType: OneOf(trafficTypes),
  pattern: Type.String(),
  dateFrom: DateTime,
  dateTo: Nullable(DateTime),
  senderNameId: Nullable(Id),
  senderName: Nullable(Type.String()),
  brand: Type.Unsafe<Template['brand']>({ type: ['string', 'null'], enum: [...brands, null] }),
  countryCode: Nullable(Type.String()),
  content: Nullable(Answer(messengerFields)),
  managerComment: Nullable(Type.String()),
  status: OneOf(reviewStatuses),
  createdAt: DateTime,
  rejectedAt: Nullable(DateTime),
})

const TemplateFilterQuery = Type.Object({
  page: Page,
  per_page: PerPage(100),
  channel_type: SomeOf(channelTypes),
  status: SomeOf(reviewStatuses),
  template_id: Type.Optional(
    Type.Array(Type.String({ pattern: '^[1-9]\\d{0,14}$', description: 'a positive whole number' })),
  ),
  sender_name: Type.Optional(Type.Array(Type.String({ pattern: '^[^\\0]*$', description: 'text' }))),
  template_type: SomeOf(trafficTypes),
})

const tags = ['Templates']
const response = answers(200, 'The template as it is now', TemplateAnswer)

const schemas = {
  create: {
    tags,
    summary: 'Register a template',
    description:
      'Texts that match an approved template get its type. A template without `senderNameId` serves every name of its ' +
      'channel; `senderName` finds the id by the name. Without `dateFrom` it is valid from now on.',
    headers: IdempotencyHeader,
    body: NewTemplateBody,
    response: answers(201, 'The template was registered', TemplateAnswer),
  },
  list: {
    tags,
    summary: 'List templates',
    description: 'The filters may be repeated.',
    querystring: TemplateFilterQuery,
    response: answers(
      200,
      'A page of the templates that the filters leave, oldest first',
      Answer({ total: Type.Integer(), items: Type.Array(TemplateAnswer) }),
    ),
  },
  get: { tags, summary: 'Read a template', params: ById, response },
  update: { tags, summary: 'Change or close a template', params: ById, body: TemplateChangeBody, response },
}

export const templateRoutes =
  ({ sql, clock }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/templates', { schema: schemas.create }, async (request, reply) => {
      const { companyId } = request.caller
      const now = clock()
      const template = readNewTemplate(request.body, now)
      const created = await once(sql, onceOf(request), async tx =>
        presentTemplate(await createTemplate(tx, companyId, template, now)),
      )
      return reply.code(201).send(created)
    })

    api.get('/templates', { schema: schemas.list }, async ({ caller, query }) => {
      const { page, per_page: perPage } = query
      const { total, items } = await listTemplates(sql, caller.companyId, readFilter(query), { page, perPage })
      return { total, items: items.map(presentTemplate) }
    })

    api.get('/templates/:id', { schema: schemas.get }, async ({ caller, params }) =>
      presentTemplate(await requireTemplate(sql, caller.companyId, params.id)),
    )

    api.put('/templates/:id', { schema: schemas.update }, async ({ caller, params, body }) => {
      const template = { companyId: caller.companyId, templateId: params.id }
      return presentTemplate(await withTemplateFields(() => changeTemplate(sql, template, readChange(body), clock())))
    })
  }

const readNewTemplate = (
  {
    channelType,
    templateType,
    pattern,
    senderNameId,
    content,
    dateFrom,
    dateTo,
    ...named
  }: Static<typeof NewTemplateBody>,
  now: Date,
): NewTemplate & { givenName?: GivenName | undefined } => ({
  channelType,
  trafficType: templateType,
  pattern,
  senderId: senderNameId ?? null,
  givenName: givenNameOf(named),
  content: messengerTemplateOf(content ?? null),
  validFrom: dateFrom ? timeOf(dateFrom) : now,
  validTo: timeOrNull(dateTo ?? null),
})

/** Null removes an optional field of a template. For other fields null means no change. */
const readChange = ({
  templateType,
  pattern,
  senderNameId,
  content,
  dateFrom,
  dateTo,
  ...named
}: Static<typeof TemplateChangeBody>): TemplateChange & { givenName?: GivenName | undefined } => ({
  givenName: givenNameOf(named),
  ...(templateType ? { trafficType: templateType } : {}),
  ...(pattern ? { pattern } : {}),
  ...(senderNameId === undefined ? {} : { senderId: senderNameId }),
  ...(content === undefined ? {} : { content: messengerTemplateOf(content) }),
  ...(dateFrom ? { validFrom: timeOf(dateFrom) } : {}),
  ...(dateTo === undefined ? {} : { validTo: timeOrNull(dateTo) }),
})

const givenNameOf = ({ senderName, brand, countryCode }: Partial<Static<typeof NewTemplateBody>>) =>
  senderName ? { senderName, brand: brand ?? undefined, countryCode: countryCode ?? undefined } : undefined

/** Without unknown fields. */
const messengerTemplateOf = (content: Template['content']) =>
  content && { name: content.name, language: content.language }

/** The schema has validated the text. */
const timeOf = (text: string): Date => readTimestamp(text)!.time
const timeOrNull = (text: string | null) => (text === null ? null : timeOf(text))

const readFilter = ({
  channel_type: channelType,
  status,
  template_id: templateIds,
  sender_name: senderName,
  template_type: trafficType,
}: Static<typeof TemplateFilterQuery>): TemplateFilter => ({
  ...(channelType ? { channelType } : {}),
  ...(status ? { status } : {}),
  ...(templateIds ? { templateId: templateIds.map(Number) } : {}),
  ...(senderName ? { senderName } : {}),
  ...(trafficType ? { trafficType } : {}),
})

const presentTemplate = (template: Template) => ({
  id: template.templateId,
  channelType: template.channelType,
  templateType: template.trafficType,
  pattern: template.pattern,
  dateFrom: template.validFrom.toISOString(),
  dateTo: template.validTo?.toISOString() ?? null,
  senderNameId: template.senderId,
  senderName: template.senderName,
  brand: template.brand,
  countryCode: template.countryCode,
  content: template.content,
  managerComment: template.managerComment,
  status: template.status,
  createdAt: template.createdAt.toISOString(),
  rejectedAt: template.rejectedAt?.toISOString() ?? null,
})
