import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError, invalid } from '../../../base/errors.ts'
import { isInn } from '../../../base/inn.ts'
import { type Money, money, moneyToNumber } from '../../../base/money.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import type { Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, AuditAction } from '../../../domain/audit-log/entry.ts'
import {
  createCompany,
  lockUnchanged,
  pageOfCompanies,
  requireAnyCompany,
  requireCompanyWithin,
  setCompanyStatus,
  setSwitches,
  updateCompany,
} from '../../../domain/companies/companies.ts'
import {
  type Company,
  companyOrders,
  companyStatuses,
  comparedFields,
  counteragentTypes,
} from '../../../domain/companies/company.ts'
import { type BillingMode, billingModes } from '../../../domain/companies/terms.ts'
import { type Account, monthOf } from '../../../domain/ledger/account.ts'
import { accountOf, setBilling } from '../../../domain/ledger/ledger.ts'
import { type CompanySummary, companySummaries } from '../../../domain/overview/summaries.ts'
import type { Partner } from '../../../domain/partners/partner.ts'
import { loginsOf, requirePartner } from '../../../domain/partners/partners.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { may } from '../../../domain/people/rights.ts'
import { DateTime, Defaulted, Id, Nullable, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companySubject } from '../company-scope.ts'
import { presentAttention } from '../overview/overview.ts'

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })
const Address = Type.String({ maxLength: 1000 })
const Budget = Nullable(Type.Number({ minimum: 0, maximum: 999_999_999_999 }))
const ByCompany = Type.Object({ companyId: Id })

const List = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(OneOf(companyStatuses)),
  partnerId: Type.Optional(Id),
  order: Defaulted(OneOf(companyOrders, { default: 'name' })),
  /** The last company of the previous page of the list, or the first company of the next page. */
  after: Type.Optional(Id),
  before: Type.Optional(Id),
})

const NewCompany = Type.Object({
  /** Staff name the partner of the new company. A partner creates companies only for itself. */
  partnerId: Type.Optional(Id),
  name: Name,
  counteragentType: OneOf(counteragentTypes),
  counteragentInn: Type.String({ pattern: '^(\\d{10}|\\d{12})$' }),
  counteragentAddress: Type.Optional(Address),
  counteragentKpp: Type.Optional(Type.String({ maxLength: 20 })),
  budget: Budget,
})

/** `updatedAt`: the version of the company that the form showed. */
const Change = Type.Object({ name: Name, actualAddress: Address, updatedAt: DateTime })
const Status = Type.Object({ status: OneOf(companyStatuses) })
const Limits = Type.Object({
  budget: Budget,
  /** Only staff may set it. */
  billing: Type.Optional(OneOf(billingModes)),
  inbound: Type.Optional(Type.Boolean()),
  partsPerSecond: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100_000 }))),
  updatedAt: DateTime,
})

/** Types of requests and answers, which the pages import. */
export type NewCompany = Type.Static<typeof NewCompany>
export type CompanyChange = Type.Static<typeof Change>
export type CompanyLimits = Type.Static<typeof Limits>
export type ShownCompany = ReturnType<typeof present>
export type CompanyListAnswer = { zone: string; at: Date; items: ShownCompany[]; hasBefore: boolean; hasAfter: boolean }
export type CompanyAnswer = ShownCompany & ReturnType<typeof detailsOf> & { zone: string; at: Date }

const PER_PAGE = 50

/** Companies of a partner, or for staff of all partners: their money, traffic and state, and changes of them. */
export const companyListRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    companyReadRoutes(api, context)
    companyChangeRoutes(api, context)
    companyLimitRoutes(api, context)
  }

/** Lists companies, and reads one. */
function companyReadRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const shown = (viewer: Viewer, companies: Company[]) =>
    withStandings(sql, viewer, companies, { now: clock(), billingZone })

  api.get(
    '/company-list',
    { config: { needs: 'companies.see' }, schema: { querystring: List } },
    async ({ viewer, query }): Promise<CompanyListAnswer> => {
      const { order, after, before, ...filter } = query
      const search = filter.search?.trim()
      if (order === 'spent' && !may(viewer, 'money.see'))
        throw new AppError('access_denied', 'Only people who may see money')
      const sorting = order === 'spent' ? { by: order, month: monthOf(clock(), billingZone) } : { by: order }
      const page = await pageOfCompanies(sql, viewer, { ...filter, search }, sorting, { after, before }, PER_PAGE)
      return { ...page, items: await shown(viewer, page.items), zone: billingZone, at: clock() }
    },
  )

  api.get(
    '/companies/:companyId',
    { config: { needs: 'companies.see' }, schema: { params: ByCompany } },
    async ({ viewer, params }): Promise<CompanyAnswer> => {
      const company = await requireCompanyWithin(sql, viewer, params.companyId)
      const [item] = await shown(viewer, [company])
      return { ...item!, ...detailsOf(company), zone: billingZone, at: clock() }
    },
  )
}

/** Creates and changes companies. */
function companyChangeRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.post(
    '/companies',
    { config: { needs: 'companies.change' }, schema: { body: NewCompany } },
    async ({ viewer, actor, body }, reply): Promise<{ companyId: number }> => {
      if (!isInn(body.counteragentInn)) throw invalid('counteragentInn: its check digits are wrong')
      const partner = await partnerOf(sql, viewer, body.partnerId)
      const { partnerId: _, budget, ...given } = body
      const created = await sql.begin(async tx => {
        const { companyId } = await createCompany(tx, partner, { ...given, budget: amountOf(budget) })
        const company = await requireAnyCompany(tx, companyId)
        await record(tx, actor, 'company.created', company, { after: comparedFields(company) })
        return { companyId }
      })
      reply.code(201)
      return created
    },
  )

  api.patch(
    '/companies/:companyId',
    { config: { needs: 'companies.change' }, schema: { params: ByCompany, body: Change } },
    async ({ viewer, actor, params, body }, reply) => {
      const { companyId } = await requireCompanyWithin(sql, viewer, params.companyId)
      const { name, actualAddress } = body
      await sql.begin(async tx => {
        const before = await lockUnchanged(tx, companyId, momentIn(body))
        await updateCompany(tx, await requirePartner(tx, before.partnerId), companyId, { name, actualAddress })
        const after = await requireAnyCompany(tx, companyId)
        const fields = { before: comparedFields(before), after: comparedFields(after) }
        await record(tx, actor, 'company.changed', after, fields)
      })
      return reply.code(204).send()
    },
  )
}

/** Disables and enables companies, and sets their limits. */
function companyLimitRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  /**
   * While a company is disabled, its running dispatches pause, its keys are refused, and its people cannot sign in.
   */
  api.put(
    '/companies/:companyId/status',
    { config: { needs: 'companies.change' }, schema: { params: ByCompany, body: Status } },
    async ({ viewer, actor, params, body: { status } }, reply) => {
      const { companyId } = await requireCompanyWithin(sql, viewer, params.companyId)
      await sql.begin(async tx => {
        const company = await setCompanyStatus(tx, companyId, status)
        const statuses = { before: { status: company.status }, after: { status } }
        await record(tx, actor, status === 'ACTIVE' ? 'company.enabled' : 'company.disabled', company, statuses)
      })
      return reply.code(204).send()
    },
  )

  api.put(
    '/companies/:companyId/limits',
    { config: { needs: 'money.change' }, schema: { params: ByCompany, body: Limits } },
    async ({ viewer, actor, params, body }, reply) => {
      const { companyId } = await requireCompanyWithin(sql, viewer, params.companyId)
      refuseSwitchesOf(viewer, body)
      const month = monthOf(clock(), billingZone)
      await sql.begin(tx => changeLimits(tx, actor, companyId, body, month))
      return reply.code(204).send()
    },
  )
}

/** Staff name the partner. Other people create companies only for their own partner. */
async function partnerOf(sql: Sql, viewer: Viewer, partnerId: number | undefined): Promise<Partner> {
  if (viewer.kind !== 'STAFF') return requirePartner(sql, viewer.partnerId ?? 0)
  if (partnerId === undefined) throw invalid('partnerId: is required')
  return requirePartner(sql, partnerId)
}

function refuseSwitchesOf(viewer: Viewer, { billing, inbound, partsPerSecond }: CompanyLimits) {
  const isOfStaff = [billing, inbound, partsPerSecond].some(value => value !== undefined)
  if (isOfStaff && viewer.kind !== 'STAFF') throw new AppError('access_denied', 'Only staff change this')
}

async function changeLimits(tx: Transaction, actor: Actor, companyId: number, limits: CompanyLimits, month: string) {
  const before = await lockUnchanged(tx, companyId, momentIn(limits))
  const { billing: billedBefore } = await accountOf(tx, companyId, month)
  const { budget, billing, inbound, partsPerSecond } = limits
  await updateCompany(tx, await requirePartner(tx, before.partnerId), companyId, { budget: amountOf(budget) })
  await setSwitches(tx, companyId, {
    ...(inbound === undefined ? {} : { inbound }),
    ...(partsPerSecond === undefined ? {} : { partsPerSecond }),
  })
  if (billing) await setBilling(tx, companyId, billing)
  const after = await requireAnyCompany(tx, companyId)
  await recordLimits(tx, actor, { ...before, billing: billedBefore }, { ...after, billing: billing ?? billedBefore })
}

type Billed = Company & { billing: BillingMode }

/** The audit log has a separate entry for a new budget, because people search for budgets. */
async function recordLimits(tx: Transaction, actor: Actor, before: Billed, after: Billed) {
  const { budget: budgetBefore, ...was } = { ...comparedFields(before), billing: before.billing }
  const { budget, ...is } = { ...comparedFields(after), billing: after.billing }
  await record(tx, actor, 'budget.changed', after, { before: { budget: budgetBefore }, after: { budget } })
  await record(tx, actor, 'company.changed', after, { before: was, after: is })
}

function record(tx: Transaction, actor: Actor, what: AuditAction, company: Company, fields: object) {
  return recordChange(tx, actor, { what, ...companySubject(company), ...fields })
}

const amountOf = (budget: number | null): Money | null => (budget === null ? null : money(budget))

function momentIn({ updatedAt }: { updatedAt: string }): Date {
  const time = readTimestamp(updatedAt)?.time
  if (!time) throw invalid('updatedAt: must be a time with its zone')
  return time
}

// Answers ------------------------------------------------------------------------------------------------------------

type Moment = { now: Date; billingZone: string }

async function withStandings(sql: Sql, viewer: Viewer, companies: Company[], moment: Moment) {
  const sees = (right: Parameters<typeof may>[1]) => may(viewer, right)
  const ids = companies.map(({ companyId }) => companyId)
  const [standings, logins] = await Promise.all([
    companySummaries(sql, ids, { sees, ...moment }),
    sees('partners.see')
      ? loginsOf(
          sql,
          companies.map(({ partnerId }) => partnerId),
        )
      : new Map<number, string>(),
  ])
  return companies.map(company =>
    present(company, standings.get(company.companyId)!, logins.get(company.partnerId) ?? null),
  )
}

const present = (company: Company, standing: CompanySummary, partnerLogin: string | null) => ({
  companyId: company.companyId,
  name: company.name,
  status: company.status,
  counteragentInn: company.counteragentInn,
  /** Null for a viewer without the right to see partners. */
  partner: partnerLogin === null ? null : { partnerId: company.partnerId, login: partnerLogin },
  /** Null for a viewer without the right to see money. */
  account: standing.account ? presentAccount(standing.account) : null,
  today: standing.today,
  sentByHour: standing.sentByHour,
  running: standing.running,
  attention: standing.attention.map(presentAttention),
})

const presentAccount = ({ balance, reserved, spent, budget, billing, currency }: Account) => ({
  balance: moneyToNumber(balance),
  reserved: moneyToNumber(reserved),
  spent: moneyToNumber(spent),
  budget: budget === null ? null : moneyToNumber(budget),
  billing,
  currency,
})

const detailsOf = (company: Company) => ({
  counteragentType: company.counteragentType,
  counteragentName: company.counteragentName,
  counteragentAddress: company.counteragentAddress,
  counteragentKpp: company.counteragentKpp,
  actualAddress: company.actualAddress,
  inbound: company.inbound,
  partsPerSecond: company.partsPerSecond,
  updatedAt: company.updatedAt,
})
