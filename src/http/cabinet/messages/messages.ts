import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { allChannelTypes } from '../../../base/channel-types.ts'
import { type Money, moneyToNumber } from '../../../base/money.ts'
import { timeOfUuid7 } from '../../../base/uuid7.ts'
import type { Pool } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { replayCallback } from '../../../domain/callbacks/callbacks.ts'
import { companyIdsWithin } from '../../../domain/companies/companies.ts'
import { countIncoming, type Incoming } from '../../../domain/inbound/inbound-search.ts'
import { type LifeOfMessage, type LifeOfStep, lifeOfMessage } from '../../../domain/message-life/message-life.ts'
import type { Moment } from '../../../domain/message-life/moment.ts'
import { readBox } from '../../../domain/message-search/box.ts'
import {
  type BoxAnswer,
  everyShownMessage,
  requireShownMessage,
  type ShownMessage,
  searchBox,
} from '../../../domain/message-search/box-search.ts'
import { statusTimeOf, statusWordOf } from '../../../domain/message-search/found-message.ts'
import { countRecent, type RecentCounts } from '../../../domain/message-search/recent-counts.ts'
import { brandIds, brandOf, brands, OTHER_BRAND_ID } from '../../../domain/numbering/brand.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { maySeePrices } from '../../../domain/people/rights.ts'
import { readingOf } from '../../context.ts'
import { DateTime, Defaulted, Id, SomeOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { OfCompany } from '../company-scope.ts'
import { FileSender } from '../reports/file-sender.ts'
import { ofReader, refuseUnknownZone } from '../reports/report-words.ts'
import { isNamedTo } from '../service/audit.ts'
import { messageReport } from './message-report.ts'
import { searchPeriod } from './search-period.ts'
import { againOf } from './send-again.ts'

const REPORTS_OF_PERSON = 1

const OUTBOUND = ['sending', 'sent', 'delivered', 'undelivered', 'unsent'] as const
const OPERATORS = [...brands, 'OTHER'] as const
const Uuid = Type.String({ format: 'uuid' })

const filters = {
  companyId: Type.Optional(Id),
  q: Defaulted(Type.String({ maxLength: 200, default: '' })),
  status: SomeOf(OUTBOUND),
  channel: SomeOf(allChannelTypes),
  operator: SomeOf(OPERATORS),
  error: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  dispatch: Type.Optional(Id),
  from: Type.Optional(DateTime),
  to: Type.Optional(DateTime),
}
const Filters = Type.Object(filters)
const Search = Type.Object({
  ...filters,
  before: Type.Optional(Uuid),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
const Written = Type.Pick(Filters, ['companyId', 'q', 'from', 'to'])
const Report = Type.Object({ ...filters, ...ofReader })
const ByUuid = Type.Object({ uuid: Uuid })
const ByCallback = Type.Object({ uuid: Uuid, callbackId: Id })

/** Types of answers, which the pages import. */
export type ListedMessage = ReturnType<typeof present>
export type MessagesAnswer = Omit<BoxAnswer, 'items'> & { items: ListedMessage[] }
export type { RecentCounts }
export type IncomingAnswer = { companies: Incoming[] | null }
export type MessageMoment = Plain<Moment>
export type MessageStep = ReturnType<typeof presentStep>
export type MessageAnswer = ReturnType<typeof presentLife>

/** Replaces bigint amounts by numbers. */
type Plain<T> = T extends Money ? number : T extends Date ? T : T extends object ? { [K in keyof T]: Plain<T[K]> } : T

/** Messages of the company, or of all companies that the viewer may see: the search, and the history of one message. */
export const messageRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    messageSearchRoutes(api, context)
    messageReportRoutes(api, context)
    messageHistoryRoutes(api, context)
  }

/** Searches messages, and counts them. */
function messageSearchRoutes(api: CabinetApi, { sql, reading, clock }: CabinetContext) {
  const { read } = readingOf({ sql, reading })

  api.get(
    '/messages',
    { config: { needs: 'traffic.see' }, schema: { querystring: Search } },
    async ({ viewer, query }): Promise<MessagesAnswer> => {
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      const page = { before: query.before?.toLowerCase(), limit: query.perPage }
      const search = { ...searchOf(query), ...page }
      const find = (pool: Pool) => searchBox(pool, companyIds, search, clock())
      const { items, ...answer } = await (isForOwnMessages(search.typed) ? find(sql) : read(find))
      return { ...answer, items: items.map(present) }
    },
  )

  /** Counts of the searches that the page shows as tabs. A count is null if counting took too long. */
  api.get(
    '/messages/counts',
    { config: { needs: 'traffic.see' }, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<{ counts: RecentCounts | null }> => {
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      return { counts: (await read(pool => countRecent(pool, companyIds, clock()))) ?? null }
    },
  )

  /** The number of inbound messages that the same search finds. Null if counting took too long. */
  api.get(
    '/messages/incoming',
    { config: { needs: 'traffic.see' }, schema: { querystring: Written } },
    async ({ viewer, query }): Promise<IncomingAnswer> => {
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      const { typed, from, to } = searchOf(query)
      const counted = await read(pool => countIncoming(pool, companyIds, { typed, from, to }, clock()))
      return { companies: counted ?? null }
    },
  )
}

/** By an id or a number: a person may search for a message that was accepted a moment ago. These searches cost little. */
const isForOwnMessages = (typed: string) => ['uuid', 'number'].includes(readBox(typed).kind)

/** All messages that the search finds, as a file. */
function messageReportRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, clock, billingZone } = context
  const { upToDate } = readingOf(context)
  const files = new FileSender(context, REPORTS_OF_PERSON)

  api.get(
    '/messages/report',
    { config: { needs: 'traffic.see' }, schema: { querystring: Report } },
    async (request, reply) => {
      const { viewer, query } = request
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      const { language, zone = billingZone } = query
      refuseUnknownZone(zone)
      const isOfMany = viewer.kind !== 'COMPANY' && query.companyId === undefined
      const pages = everyShownMessage(await upToDate(), companyIds, searchOf(query), clock())
      const pieces = messageReport(pages, { language, zone, hasPrices: maySeePrices(viewer), hasCompanies: isOfMany })
      return files.send(request, reply, { name: 'messages', format: 'csv', pieces })
    },
  )
}

/** The history of one message, and its callbacks. */
function messageHistoryRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  api.get(
    '/messages/:uuid',
    { config: { needs: 'traffic.see' }, schema: { querystring: OfCompany, params: ByUuid } },
    async ({ viewer, query, params }): Promise<MessageAnswer> => {
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      return presentLife(await lifeOfMessage(sql, companyIds, params.uuid.toLowerCase(), clock()), viewer)
    },
  )

  /** Sends the whole batch again. The receiver recognizes callbacks that it has seen by their ids. */
  api.post(
    '/messages/:uuid/callbacks/:callbackId/replay',
    { config: { needs: 'developers.change' }, schema: { querystring: OfCompany, params: ByCallback } },
    async ({ viewer, actor, query, params }, reply) => {
      const companyIds = await companyIdsWithin(sql, viewer, query.companyId)
      const { companyId } = await requireShownMessage(sql, companyIds, params.uuid.toLowerCase())
      const { callbackId } = params
      await sql.begin(async tx => {
        await replayCallback(tx, companyId, callbackId, clock())
        const subject = { kind: 'callback', id: callbackId }
        await recordChange(tx, actor, { what: 'callback.replayed', companyId, subject })
      })
      return reply.code(204).send()
    },
  )
}

function searchOf(query: Type.Static<typeof Filters>) {
  const { q, status, channel, operator, error, dispatch } = query
  return {
    typed: q,
    statuses: status,
    channelTypes: channel,
    brandIds: operator?.map(name => (name === 'OTHER' ? OTHER_BRAND_ID : brandIds[name])),
    errorCodes: error === undefined ? undefined : [error],
    dispatchId: dispatch,
    ...searchPeriod(query),
  }
}

const present = (message: ShownMessage) => ({
  uuid: message.uuid,
  companyId: message.companyId,
  companyName: message.companyName,
  status: statusWordOf(message),
  statusAt: statusTimeOf(message),
  acceptedAt: timeOfUuid7(message.uuid),
  destination: message.destination,
  operator: brandOf(message.brandId ?? OTHER_BRAND_ID) ?? null,
  channelType: message.channelType,
  trafficType: message.trafficType,
  senderName: message.senderName,
  text: message.text,
  errorCode: message.errorCode,
  operatorError: message.operatorError,
  dispatchId: message.dispatchId,
  dispatchName: message.dispatchName,
  externalId: message.externalId,
  cascadeStep: message.cascadeStep,
  parts: message.parts,
  currency: message.currency,
})

const presentLife = (life: LifeOfMessage, viewer: Viewer) => ({
  ...present(life.message),
  again: againOf(life),
  expiresAt: life.message.expiresAt,
  cascadeUuid: life.message.cascadeUuid,
  dispatchStatus: life.dispatch?.status ?? null,
  steps: life.steps.map(step => presentStep(step, viewer)),
})

const presentStep = ({ message, moments, money, callbacks }: LifeOfStep, viewer: Viewer) => ({
  ...present(message),
  callbacks,
  moments: moments.flatMap(moment => momentFor(viewer, moment)).map(plain) as MessageMoment[],
  /** Null for a viewer without the right to see prices. */
  money: maySeePrices(viewer) ? (plain(money) as Plain<LifeOfStep['money']>) : null,
})

/** Removes names of staff for other viewers, and amounts for a viewer without the right to see prices. */
function momentFor(viewer: Viewer, moment: Moment): Moment[] {
  const seesPrices = maySeePrices(viewer)
  switch (moment.kind) {
    case 'accepted':
      return [moment.person && !isNamedTo(viewer, moment.person.kind) ? { ...moment, person: null } : moment]
    case 'priced':
    case 'held':
      return seesPrices ? [moment] : []
    case 'delivered':
      return [seesPrices ? moment : { ...moment, charged: 0n, released: 0n }]
    case 'failed':
      return [seesPrices ? moment : { ...moment, released: 0n }]
    default:
      return [moment]
  }
}

/** Amounts are bigints, which JSON cannot represent. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return moneyToNumber(value)
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}
