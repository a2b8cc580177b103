import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { money, moneyToNumber } from '../../base/money.ts'
import { createCompany, listCompanies, requireCompany, updateCompany } from '../../domain/companies/companies.ts'
import { type Company, companyStatuses, counteragentTypes } from '../../domain/companies/company.ts'
import { once } from '../../domain/idempotency/idempotency.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers, ById, DateTime, Id, Nullable, OneOf, Page, PageOf, PerPage } from '../schemas.ts'

const Name = Type.String({ minLength: 1, maxLength: 255 })
const Address = Type.String({ maxLength: 1000 })
const Budget = Nullable(
  Type.Number({ minimum: 0, maximum: 999_999_999_999, description: 'Most to spend in a calendar month' }),
)

const NewCompany = Type.Object({
  company: Type.Object({
    name: Name,
    counteragentType: OneOf(counteragentTypes),
    counteragentInn: Type.String({ pattern: '^(\\d{10}|\\d{12})$', description: '10 or 12 digits' }),
    counteragentAddress: Type.Optional(Address),
    counteragentKpp: Type.Optional(Type.String({ maxLength: 20 })),
  }),
  budget: Type.Optional(Budget),
})

const CompanyChange = Type.Object({
  budget: Type.Optional(Budget),
  status: Type.Optional(OneOf(companyStatuses)),
  name: Type.Optional(Name),
  actualAddress: Type.Optional(Address),
})

const BudgetAnswer = Type.Unsafe<{ value: number; currency: string } | null>({
  ...Answer({ value: Type.Number(), currency: Type.String() }),
  type: ['object', 'null'],
})

const listed = {
  companyId: Id,
  name: Type.String(),
  counteragentName: Type.String(),
  counteragentInn: Type.String(),
  status: OneOf(companyStatuses),
  budget: BudgetAnswer,
}

const OneCompany = Answer({
  ...listed,
  counteragentType: OneOf(counteragentTypes),
  counteragentAddress: Nullable(Type.String()),
  counteragentKpp: Nullable(Type.String()),
  actualAddress: Nullable(Type.String()),
  updatedAt: DateTime,
})

const tags = ['Companies']
const PageQuery = Type.Object({ page: Page, per_page: PerPage(10) })

const schemas = {
  create: {
    tags,
    summary: 'Create a company',
    headers: IdempotencyHeader,
    body: NewCompany,
    response: answers(201, 'The company was created', Answer({ companyId: Id })),
  },
  list: {
    tags,
    summary: 'List companies',
    querystring: PageQuery,
    response: answers(200, 'A page of companies', PageOf(Answer(listed))),
  },
  get: { tags, summary: 'Read a company', params: ById, response: answers(200, 'The company', OneCompany) },
  update: {
    tags,
    summary: 'Change a company',
    params: ById,
    body: CompanyChange,
    response: answers(200, 'The company was changed', Answer({ companyId: Id, updatedAt: DateTime })),
  },
}

export const companyRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/', { schema: schemas.create }, async (request, reply) => {
      const { company, budget } = request.body
      const created = await once(sql, onceOf(request), tx =>
        createCompany(tx, request.partner, { ...company, budget: amountOf(budget ?? null) }),
      )
      return reply.code(201).send(created)
    })

    api.get('/', { schema: schemas.list }, async request => {
      const { page, per_page: perPage } = request.query
      const { total, items } = await listCompanies(sql, request.partner, page, perPage)
      return { page, perPage, total, items: items.map(presentListed) }
    })

    api.get('/:id', { schema: schemas.get }, async request =>
      presentCompany(await requireCompany(sql, request.partner, request.params.id)),
    )

    api.put('/:id', { schema: schemas.update }, async request => {
      const { budget, ...change } = request.body
      const given = budget === undefined ? change : { ...change, budget: amountOf(budget) }
      const { companyId, updatedAt } = await sql.begin(tx =>
        updateCompany(tx, request.partner, request.params.id, given),
      )
      return { companyId, updatedAt: updatedAt.toISOString() }
    })
  }

const amountOf = (budget: number | null) => (budget === null ? null : money(budget))

const presentListed = (company: Company) => ({
  companyId: company.companyId,
  name: company.name,
  counteragentName: company.counteragentName,
  counteragentInn: company.counteragentInn,
  status: company.status,
  budget: company.budget === null ? null : { value: moneyToNumber(company.budget), currency: company.currency },
})

const presentCompany = (company: Company) => ({
  ...presentListed(company),
  counteragentType: company.counteragentType,
  counteragentAddress: company.counteragentAddress,
  counteragentKpp: company.counteragentKpp,
  actualAddress: company.actualAddress,
  updatedAt: company.updatedAt.toISOString(),
})
