import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { ClientChannel, TrafficType } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { formatMoney, type Money, money } from '../../../base/money.ts'
import type { Sql } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Company } from '../../../domain/companies/company.ts'
import { addRecipients, createClientDispatch, requireDispatchOf } from '../../../domain/dispatches/client-dispatches.ts'
import { type ClientDryRun, dryRunClientDispatch } from '../../../domain/dispatches/client-dry-run.ts'
import type { DispatchStatus, Recipient } from '../../../domain/dispatches/dispatch.ts'
import { priceToStart, startCreatedDispatch } from '../../../domain/dispatches/lifecycle.ts'
import type { Gateway } from '../../../domain/gateways/gateway.ts'
import { listGateways } from '../../../domain/gateways/gateways.ts'
import { type Account, monthOf } from '../../../domain/ledger/account.ts'
import { accountOf } from '../../../domain/ledger/ledger.ts'
import { type Brand, brands } from '../../../domain/numbering/brand.ts'
import { may } from '../../../domain/people/rights.ts'
import { openPriceBook, type PriceBook } from '../../../domain/pricing/pricing.ts'
import type { ReviewStatus } from '../../../domain/review/review.ts'
import { SHARED_NAME } from '../../../domain/routing/routing.ts'
import { isInternational, type Sender, senderTypeOf } from '../../../domain/senders/sender.ts'
import { pageOfSenders } from '../../../domain/senders/senders.ts'
import { fillPlaces, placesIn } from '../../../domain/templates/pattern.ts'
import { listTemplates } from '../../../domain/templates/templates.ts'
import { bodyLimits } from '../../bodies/body.ts'
import { createIngestQueue } from '../../ingest-queue.ts'
import { dispatchOf, NewDispatchBody } from '../../messaging/messages/dispatches.ts'
import { Id } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { KeyHeader, onceOf } from '../idempotency-key.ts'

/** The number of recipients of one request. */
const MOST_AT_ONCE = 10_000
const MOST_SUBSTITUTIONS = 100

const ByDispatch = Type.Object({ dispatchId: Id })
const Recipients = Type.Unsafe<Recipient[]>(
  Type.Array(
    Type.Object({
      destination: Type.String({ maxLength: 64 }),
      substitutions: Type.Optional(
        Type.Unsafe({
          type: 'object',
          maxProperties: MOST_SUBSTITUTIONS,
          additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        }),
      ),
    }),
    { minItems: 1, maxItems: MOST_AT_ONCE },
  ),
)
const Trial = Type.Object({ dispatch: NewDispatchBody, recipients: Recipients })
/**
 * `total` is the number of recipients of the whole upload. The audit log has one entry for the upload, written with the
 * first request.
 */
const Addition = Type.Object({
  from: Type.Integer({ minimum: 0 }),
  total: Type.Integer({ minimum: 1 }),
  recipients: Recipients,
})
const Start = Type.Object({ price: Type.String({ pattern: '^\\d{1,14}\\.\\d{4}$' }) })

/** Types of requests and answers, which the page imports. Amounts are decimals with four places. */
export type DispatchForm = Type.Static<typeof NewDispatchBody>
export type Registration = {
  brand: Brand
  isInternational: boolean
  status: ReviewStatus
  isUsable: boolean
  /** The price of advertising. A text that fits an approved template may have another price. */
  partPrice: string | null
}
export type OfferedName = { channelType: ClientChannel; senderName: string; registrations: Registration[] }
export type OfferedTemplate = {
  templateId: number
  channelType: ClientChannel
  trafficType: TrafficType
  senderName: string | null
  text: string
}
export type BudgetAnswer = {
  month: string
  budget: string | null
  spent: string
  reserved: string
  free: string | null
}
export type OfferAnswer = {
  company: { companyId: number; name: string; currency: string }
  names: OfferedName[]
  /** The price of a part by operator under the common sender name. The operator null stands for all other operators. */
  shared: { senderName: string; prices: { brand: Brand | null; partPrice: string }[] }
  channelPrices: Partial<Record<ClientChannel, string>>
  /**
   * The parts per second that the limits of the company and of its gateways allow. A channel without a known limit is
   * missing.
   */
  speeds: Partial<Record<ClientChannel, number>>
  templates: OfferedTemplate[]
  /** Only for a viewer with the right to see money. */
  budget: BudgetAnswer | null
}
export type TrialAnswer = Omit<ClientDryRun, 'byBrand' | 'laterPrice'> & {
  laterPrice: string
  byBrand: { brand: Brand | null; messages: number; parts: number; price: string }[]
}
export type DraftAnswer = {
  dispatchId: number
  status: DispatchStatus
  recipients: number
  price: string
  currency: string
}

/**
 * A new dispatch, step by step. The page asks for the choices and for the price of the recipients. Then it creates the
 * dispatch, adds recipients in requests of 10,000, and starts it.
 */
export const newDispatchRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, clock, numbering, billingZone, publicUrl } = context
    const linkBase = `${publicUrl}/s`
    const inTurn = createIngestQueue(sql.options.max)
    const needs = { needs: 'traffic.send' } as const
    const billing = () => ({ billingZone, now: clock() })

    const draftOf = async (companyId: number, dispatchId: number): Promise<DraftAnswer> => {
      const dispatch = await requireDispatchOf(sql, companyId, dispatchId)
      const { status, messageCount, currency } = dispatch
      const price = status === 'CREATED' ? await priceToStart(sql, dispatch, billing()) : dispatch.priceEstimate
      return { dispatchId, status, recipients: messageCount, price: formatMoney(price), currency }
    }

    api.get(
      '/new-dispatch',
      { config: needs, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<OfferAnswer> => {
        const company = await companyOf(sql, viewer, query)
        const month = monthOf(clock(), billingZone)
        const account = may(viewer, 'money.see') ? await accountOf(sql, company.companyId, month) : undefined
        return { ...(await offerFor(sql, company)), budget: account ? presentBudget(account, month) : null }
      },
    )

    api.post(
      '/new-dispatch/check',
      { config: needs, schema: { querystring: OfCompany, body: Trial }, bodyLimit: bodyLimits.recipients },
      async ({ viewer, query, body }, reply): Promise<TrialAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const dispatch = dispatchOf(body.dispatch, { trafficCenterId: null })
        const request = { dispatch, recipients: body.recipients, linkBase, now: clock() }
        return presentTrial(await inTurn(reply, () => dryRunClientDispatch(sql, numbering(), companyId, request)))
      },
    )

    api.post(
      '/new-dispatch',
      { config: needs, schema: { querystring: OfCompany, headers: KeyHeader, body: NewDispatchBody } },
      async (request): Promise<DraftAnswer> => {
        const { companyId } = await companyOf(sql, request.viewer, request.query)
        const dispatch = dispatchOf(request.body, { trafficCenterId: null })
        const { dispatchId } = await createClientDispatch(sql, companyId, {
          dispatch,
          once: onceOf(request, companyId),
          now: clock(),
          alongside: (tx, id) => {
            const { name, channelType, senderName, text, cascade } = dispatch
            const subject = { kind: 'dispatch', id, name }
            const channels = cascade ? { cascade: cascade.map(step => step.channelType).join(', ') } : {}
            const after = { channelType, senderName, text, ...channels }
            return recordChange(tx, request.actor, { what: 'dispatch.created', companyId, subject, after })
          },
        })
        return draftOf(companyId, dispatchId)
      },
    )

    api.get(
      '/new-dispatch/:dispatchId',
      { config: needs, schema: { querystring: OfCompany, params: ByDispatch } },
      async ({ viewer, query, params }): Promise<DraftAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        return draftOf(companyId, params.dispatchId)
      },
    )

    api.post(
      '/new-dispatch/:dispatchId/recipients',
      {
        config: needs,
        schema: { querystring: OfCompany, params: ByDispatch, headers: KeyHeader, body: Addition },
        bodyLimit: bodyLimits.recipients,
      },
      async (request, reply): Promise<{ recipients: number }> => {
        const { companyId } = await companyOf(sql, request.viewer, request.query)
        const { dispatchId, name } = await requireDispatchOf(sql, companyId, request.params.dispatchId)
        const { from, total, recipients } = request.body
        if (from + recipients.length > total) throw invalid('total: is less than the recipients')
        const note: Parameters<typeof addRecipients>[3]['alongside'] = async (tx, id) => {
          if (from > 0) return
          await recordChange(tx, request.actor, {
            what: 'dispatch.changed',
            companyId,
            subject: { kind: 'dispatch', id, name },
            before: { recipients: 0 },
            after: { recipients: total },
          })
        }
        const wanted = { from, recipients, linkBase, once: onceOf(request, companyId), alongside: note }
        await inTurn(reply, () => addRecipients(sql, numbering(), { companyId, dispatchId }, wanted))
        return { recipients: from + recipients.length }
      },
    )

    /**
     * Holds exactly the price that the person saw, or does not start. A repeated request finds the dispatch started.
     */
    api.post(
      '/new-dispatch/:dispatchId/start',
      { config: needs, schema: { querystring: OfCompany, params: ByDispatch, body: Start } },
      async ({ viewer, actor, query, params, body }): Promise<{ dispatchId: number }> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const { dispatchId, status, name, messageCount } = await requireDispatchOf(sql, companyId, params.dispatchId)
        const home = { companyId, dispatchId }
        if (status !== 'CREATED') return { dispatchId }
        const subject = { kind: 'dispatch', id: dispatchId, name }
        const after = { recipients: messageCount, price: body.price }
        await startCreatedDispatch(sql, home, billing(), {
          price: money(body.price),
          alongside: tx => recordChange(tx, actor, { what: 'dispatch.started', companyId, subject, after }),
        })
        return { dispatchId }
      },
    )
  }

// Choices -------------------------------------------------------------------------------------------------------------

const MOST_NAMES = 1000
const MOST_TEMPLATES = 200
const PRICED_CHANNELS = ['VIBER', 'WHATSAPP', 'VK', 'TELEGRAM', 'TEXT_TO_SPEECH', 'WEASY', 'PUSH'] as const

async function offerFor(sql: Sql, company: Company): Promise<Omit<OfferAnswer, 'budget'>> {
  const { companyId, partnerId, name, currency } = company
  const [prices, gateways, senders, templates] = await Promise.all([
    openPriceBook(sql, partnerId),
    listGateways(sql),
    pageOfSenders(sql, companyId, {}, { page: 1, perPage: MOST_NAMES }),
    listTemplates(sql, companyId, { status: ['APPROVED'] }, { page: 1, perPage: MOST_TEMPLATES }),
  ])
  return {
    company: { companyId, name, currency },
    names: namesOf(senders.items, prices),
    shared: { senderName: SHARED_NAME, prices: sharedPrices(prices) },
    channelPrices: Object.fromEntries(PRICED_CHANNELS.map(channel => [channel, priceOfChannel(prices, channel)])),
    speeds: speedsOf(company, gateways),
    templates: templates.items.map(({ templateId, channelType, trafficType, senderName, pattern }) => ({
      templateId,
      channelType,
      trafficType,
      senderName,
      text: fillPlaces(
        pattern,
        placesIn(pattern).map((_, i) => `{value${i + 1}}`),
      ),
    })),
  }
}

function speedsOf({ partsPerSecond }: Company, gateways: Gateway[]): OfferAnswer['speeds'] {
  const byChannel = Map.groupBy(
    gateways.filter(({ paused }) => !paused),
    ({ channelType }) => channelType,
  )
  const known = (['SMS', ...PRICED_CHANNELS] as const).map(channel => {
    const limits = [sumOfRates(byChannel.get(channel) ?? []), partsPerSecond].filter(limit => limit !== null)
    return [channel, limits.length === 0 ? undefined : Math.min(...limits)] as const
  })
  return Object.fromEntries(known.filter(([, speed]) => speed !== undefined))
}

/** Null if a gateway has no limit, or if there is no gateway. */
function sumOfRates(gateways: Gateway[]): number | null {
  const rates = gateways.map(({ partsPerSecond }) => partsPerSecond)
  const known = rates.filter(rate => rate !== null)
  return rates.length === 0 || known.length < rates.length ? null : known.reduce((sum, rate) => sum + rate, 0)
}

/** Leaves out names that were finally refused. */
function namesOf(senders: Sender[], prices: PriceBook): OfferedName[] {
  const offered = senders.filter(({ status }) => status !== 'DENIED' && status !== 'CLOSED')
  const byName = Map.groupBy(offered, ({ channelType, senderName }) => `${channelType} ${senderName}`)
  return [...byName.values()].flatMap(registrations => {
    const [first] = registrations
    if (!first) return []
    const { channelType, senderName } = first
    return { channelType, senderName, registrations: registrations.map(sender => presentRegistration(sender, prices)) }
  })
}

const presentRegistration = (sender: Sender, prices: PriceBook): Registration => ({
  brand: sender.brand,
  isInternational: isInternational(sender),
  status: sender.status,
  isUsable: sender.status === 'APPROVED' && !sender.suspended,
  partPrice: isInternational(sender)
    ? null
    : partPrice(prices, sender.channelType, { senderType: senderTypeOf(sender), brand: sender.brand }),
})

const sharedPrices = (prices: PriceBook) =>
  [...brands, null].map(brand => ({
    brand,
    partPrice: partPrice(prices, 'SMS', { senderType: 'COMMON', brand: brand ?? '' }),
  }))

const priceOfChannel = (prices: PriceBook, channelType: ClientChannel) =>
  partPrice(prices, channelType, { senderType: 'COMMON', brand: '' })

const partPrice = (
  prices: PriceBook,
  channelType: ClientChannel,
  name: { senderType: ReturnType<typeof senderTypeOf>; brand: string },
) => formatMoney(prices.priceOf({ channelType, country: 'RU', trafficType: 'PROMO', ...name }).perPart)

function presentBudget(account: Account, month: string): BudgetAnswer {
  const { budget, spent, reserved } = account
  const free = freeIn(account)
  return {
    month,
    budget: budget === null ? null : formatMoney(budget),
    spent: formatMoney(spent),
    reserved: formatMoney(reserved),
    free: free === null ? null : formatMoney(free),
  }
}

/** The highest price that a dispatch may have: by the budget, by the balance of a prepaid company, or by both. */
function freeIn({ budget, spent, reserved, billing, balance }: Account): Money | null {
  const ofBudget = budget === null ? null : budget - spent - reserved
  const ofBalance = billing === 'PREPAID' ? balance - reserved : null
  if (ofBudget === null || ofBalance === null) return ofBudget ?? ofBalance
  return ofBudget < ofBalance ? ofBudget : ofBalance
}

const presentTrial = ({ byBrand, laterPrice, ...trial }: ClientDryRun): TrialAnswer => ({
  ...trial,
  laterPrice: formatMoney(laterPrice),
  byBrand: byBrand.map(({ price, ...sums }) => ({ ...sums, price: formatMoney(price) })),
})
