import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type ChannelType, channelTypes } from '../../../base/channel-types.ts'
import { type Money, moneyToNumber } from '../../../base/money.ts'
import type { WaitingShare } from '../../../base/time/sending-end.ts'
import type { Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import {
  type Again,
  type AgainCounts,
  countAgain,
  linkedBySendingAgain,
  MOST_AGAIN,
  sendAgain,
} from '../../../domain/dispatches/again.ts'
import { AgainCounter } from '../../../domain/dispatches/again-counts.ts'
import { requireDispatchOf } from '../../../domain/dispatches/client-dispatches.ts'
import {
  type Dispatch,
  type DispatchOptions,
  type DispatchStatus,
  dispatchStatuses,
} from '../../../domain/dispatches/dispatch.ts'
import { startDispatchOf, stopDispatchOf } from '../../../domain/dispatches/lifecycle.ts'
import { type Brand, brandOf } from '../../../domain/numbering/brand.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { maySeePrices } from '../../../domain/people/rights.ts'
import { sendersByIds } from '../../../domain/senders/senders.ts'
import { type ClicksOfDispatch, clicksOfDispatch } from '../../../domain/short-links/company-links.ts'
import { reasonsToWait, type WaitReason, waitingByWindow } from '../../../domain/waiting/waiting.ts'
import type { Share, WatchedDispatch } from '../../../domain/watching/watched.ts'
import {
  type Breakdown,
  Breakdowns,
  countWatched,
  listWatched,
  requireWatched,
} from '../../../domain/watching/watching.ts'
import { IngestQueue } from '../../ingest-queue.ts'
import { ById, DateTime, Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { scopeOf } from '../company-scope.ts'
import { FileSender } from '../reports/file-sender.ts'
import { reportFormats, reportOf } from '../reports/report.ts'
import { ofReader, refuseUnknownZone } from '../reports/report-words.ts'

const REPORTS_OF_PERSON = 2

/** A process makes this many dispatches to send again at a time. Each may take a minute. */
const AGAIN_AT_ONCE = 2

const List = Type.Object({
  companyId: Type.Optional(Id),
  status: Type.Optional(OneOf(dispatchStatuses)),
  channel: Type.Optional(OneOf(channelTypes)),
  search: Defaulted(Type.String({ maxLength: 100, default: '' })),
  from: Type.Optional(DateTime),
  to: Type.Optional(DateTime),
  olderThan: Type.Optional(Id),
  newerThan: Type.Optional(Id),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
})
type List = Type.Static<typeof List>
const Report = Type.Object({
  format: Defaulted(OneOf(reportFormats, { default: 'csv' })),
  ...ofReader,
})
const Repeat = Type.Object({ language: ofReader.language })

/** Types of answers, which the page imports. */
export type ListedDispatch = ReturnType<typeof presentListed>
export type DispatchesAnswer = {
  items: ListedDispatch[]
  hasNewer: boolean
  hasOlder: boolean
  /** The number of dispatches of each status. Null if there are too many to count. */
  counts: Partial<Record<DispatchStatus, number>> | null
}
export type DispatchAnswer = ListedDispatch &
  ReturnType<typeof presentDetails> & {
    waits: ShownReason[]
    /**
     * The number of messages of a started dispatch that wait for each range of hours. The page estimates the end from
     * it.
     */
    hours: WaitingShare[]
    /** Clicks on its short links. Null for a dispatch without short links. */
    clicks: ClicksOfDispatch | null
    /** The dispatch that repeats the failed messages of this one, and the dispatch that this one repeats. */
    again: LinkedDispatch | null
    againOf: LinkedDispatch | null
  }
export type AgainAnswer = Again
/** What sending again would send, and the failed messages that it would leave out, by the reason. */
export type AgainCountAnswer = ReturnType<typeof presentAgain>
type LinkedDispatch = { dispatchId: number; name: string }
export type BreakdownAnswer = ReturnType<typeof presentBreakdown>

/** Dispatches of one company, or of all companies that the viewer may see. */
export const dispatchRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    dispatchReadRoutes(api, context)
    dispatchReportRoutes(api, context)
    dispatchActionRoutes(api, context)
    dispatchAgainRoutes(api, context)
  }

const seen = { needs: 'traffic.see' } as const

/** Lists dispatches, and reads one. */
function dispatchReadRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  api.get(
    '/dispatches',
    { config: seen, schema: { querystring: List } },
    async ({ viewer, query }): Promise<DispatchesAnswer> => {
      const scope = await scopeOf(sql, viewer, query)
      const [page, counts] = await Promise.all([
        listWatched(sql, scope, filterOf(query), placeOf(query), query.perPage),
        countWatched(sql, scope),
      ])
      return { ...page, items: page.items.map(item => presentListed(item, viewer)), counts }
    },
  )

  api.get('/dispatches/:id', { config: seen, schema: { params: ById } }, async ({ viewer, params }) =>
    presentWhole(sql, viewer, await requireWatched(sql, viewer, params.id), clock()),
  )
}

/** Reads all messages of a dispatch: as a breakdown, and as a file. */
function dispatchReportRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, clock, billingZone } = context
  const files = new FileSender(context, REPORTS_OF_PERSON)
  const breakdowns = new Breakdowns(sql, clock)

  /** Reads every message of the dispatch. The page therefore requests it only when it opens, and on demand. */
  api.get(
    '/dispatches/:id/breakdown',
    { config: seen, schema: { params: ById } },
    async ({ viewer, params }): Promise<BreakdownAnswer> => {
      const dispatch = await requireOwn(sql, viewer, params.id)
      return presentBreakdown(await breakdowns.of(dispatch), dispatch, viewer)
    },
  )

  api.get(
    '/dispatches/:id/report',
    { config: seen, schema: { params: ById, querystring: Report } },
    async (request, reply) => {
      const { format, language, zone = billingZone } = request.query
      refuseUnknownZone(zone)
      const dispatch = await requireOwn(sql, request.viewer, request.params.id)
      const pieces = reportOf(sql, dispatch, format, { zone, language, hasPrices: maySeePrices(request.viewer) })
      return files.send(request, reply, { name: `dispatch-${dispatch.dispatchId}`, format, pieces })
    },
  )
}

/** Starts and stops dispatches. */
function dispatchActionRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const billing = () => ({ billingZone, now: clock() })

  for (const [verb, move, what] of [
    ['start', startDispatchOf, 'dispatch.started'],
    ['stop', stopDispatchOf, 'dispatch.stopped'],
  ] as const)
    api.post(
      `/dispatches/:id/${verb}`,
      { config: { needs: 'traffic.send' }, schema: { params: ById } },
      async ({ viewer, actor, params }): Promise<DispatchAnswer> => {
        const { companyId, dispatchId, name } = await requireWatched(sql, viewer, params.id)
        const subject = { kind: 'dispatch', id: dispatchId, name }
        await move(sql, { companyId, dispatchId }, billing(), tx =>
          recordChange(tx, actor, { what, companyId, subject }),
        )
        return presentWhole(sql, viewer, await requireWatched(sql, viewer, params.id), clock())
      },
    )
}

/** Sends failed messages again. */
function dispatchAgainRoutes(api: CabinetApi, { sql, numbering }: CabinetContext) {
  const making = new IngestQueue(AGAIN_AT_ONCE)
  const running = new Map<number, Promise<Again>>()
  const counter = new AgainCounter(key => countAgain(sql, numbering(), key))

  /** Reads every message of the dispatch. The page requests it when a person opens the dialog. */
  api.get(
    '/dispatches/:id/again',
    { config: { needs: 'traffic.send' }, schema: { params: ById } },
    async ({ viewer, params }): Promise<AgainCountAnswer> => {
      const { companyId, dispatchId, currency } = await requireWatched(sql, viewer, params.id)
      return presentAgain(await counter.of({ companyId, dispatchId }, viewer.personId), currency)
    },
  )

  /** Creates a dispatch to the recipients of failed messages. A person starts it after seeing its price. */
  api.post(
    '/dispatches/:id/again',
    { config: { needs: 'traffic.send' }, schema: { params: ById, querystring: Repeat } },
    async ({ viewer, actor, params, query }, reply): Promise<AgainAnswer> => {
      const { companyId, dispatchId, name } = await requireWatched(sql, viewer, params.id)
      const newName = nameOfAgain(name, query.language)
      const record = (tx: Transaction, after: { dispatchId: number }) => {
        const subject = { kind: 'dispatch', id: dispatchId, name }
        return recordChange(tx, actor, { what: 'dispatch.sent_again', companyId, subject, after })
      }
      const made = await joined(running, dispatchId, () =>
        making.run(reply, () => sendAgain(sql, numbering(), { companyId, dispatchId }, newName, record)),
      )
      reply.code(made.isNew ? 201 : 200)
      return made
    },
  )
}

/** A second request joins the running one. Otherwise it would use a connection to wait for the lock of the dispatch. */
async function joined(running: Map<number, Promise<Again>>, dispatchId: number, make: () => Promise<Again>) {
  const earlier = running.get(dispatchId)
  if (earlier) return { ...(await earlier), isNew: false }
  const made = make().finally(() => running.delete(dispatchId))
  running.set(dispatchId, made)
  return made
}

const presentAgain = (counts: AgainCounts | null, currency: string) => ({
  /** Null if the dispatch has too many messages to count them in time. */
  counts: counts && { ...counts, price: moneyToNumber(counts.price) },
  currency,
  /** The most messages that one dispatch can send again. */
  most: MOST_AGAIN,
})

const againWords = { en: ', again', ru: ', повторно' } as const
const LONGEST_NAME = 255

/** The name of the new dispatch, with words at its end that distinguish it from the first dispatch. */
const nameOfAgain = (name: string, language: keyof typeof againWords) =>
  name.slice(0, LONGEST_NAME - againWords[language].length) + againWords[language]

const filterOf = ({ status, channel, search, from, to }: List) => ({
  status,
  channelType: channel,
  search: search.trim() || undefined,
  createdFrom: from === undefined ? undefined : new Date(from),
  createdBefore: to === undefined ? undefined : new Date(to),
})

function placeOf({ olderThan, newerThan }: List) {
  if (newerThan !== undefined) return { newerThan }
  return olderThan === undefined ? undefined : { olderThan }
}

async function requireOwn(sql: Sql, viewer: Viewer, dispatchId: number): Promise<Dispatch> {
  const { companyId } = await requireWatched(sql, viewer, dispatchId)
  return requireDispatchOf(sql, companyId, dispatchId)
}

const presentListed = (dispatch: WatchedDispatch, viewer: Viewer) => ({
  dispatchId: dispatch.dispatchId,
  companyId: dispatch.companyId,
  companyName: dispatch.companyName,
  name: dispatch.name,
  status: dispatch.status,
  channels: dispatch.cascadeChannels ?? [dispatch.channelType],
  waiting: dispatch.waiting,
  sent: dispatch.sent,
  delivered: dispatch.delivered,
  failed: dispatch.failed,
  unsent: dispatch.unsent,
  currency: dispatch.currency,
  /** Null for a viewer without the right to see money. */
  estimate: maySeePrices(viewer) ? moneyToNumber(dispatch.priceEstimate) : null,
  createdAt: dispatch.createdAt,
  startAt: dispatch.startAt,
  startedAt: dispatch.startedAt,
  completedAt: dispatch.completedAt,
  /** A dispatch that is stopped finally and cannot be started again. */
  isEnded: dispatch.endedAt !== null,
})

async function presentWhole(sql: Sql, viewer: Viewer, watched: WatchedDispatch, now: Date): Promise<DispatchAnswer> {
  const dispatch = await requireDispatchOf(sql, watched.companyId, watched.dispatchId)
  const senders = await sendersByIds(sql, dispatch.companyId, dispatch.senderIds)
  const names = [...new Set(senders.map(({ senderName }) => senderName))]
  const clicks = await clicksOfDispatch(sql, dispatch.companyId, dispatch.dispatchId)
  const started = { ...watched, awaitingReceipt: watched.sent }
  const [waits, hours] =
    watched.status === 'STARTED'
      ? await Promise.all([
          reasonsToWait(sql, started, now),
          waitingByWindow(sql, watched.companyId, watched.dispatchId),
        ])
      : [[], []]
  return {
    ...presentListed(watched, viewer),
    ...presentDetails(dispatch, names),
    waits: waits.map(reason => presentReason(reason, viewer)),
    hours,
    ...(await linkedBySendingAgain(sql, dispatch)),
    clicks: dispatch.options?.shortUrl || clicks.clicks > 0 ? clicks : null,
  }
}

const presentDetails = (dispatch: Dispatch, names: string[]) => ({
  text: dispatch.text,
  senderNames: dispatch.senderName === null ? names : [dispatch.senderName],
  trafficType: dispatch.trafficType,
  callbackUrl: dispatch.callbackUrl,
  isCascade: dispatch.cascade !== null,
  sendingHours: hoursOf(dispatch.options),
  limit: limitOf(dispatch.options),
})

const hoursOf = (options: DispatchOptions | null) =>
  options?.hours || options?.days
    ? {
        hours: options.hours ?? allHours,
        days: options.days ?? allDays,
        isLocal: options.useLocalTime !== false,
      }
    : null

const allHours = Array.from({ length: 24 }, (_, hour) => hour)
const allDays = [1, 2, 3, 4, 5, 6, 7]

/** The limit of parts in an interval. A number instead of the interval is the limit for one minute. */
function limitOf(options: DispatchOptions | null) {
  const { rate, rateTerm } = options ?? {}
  if (typeof rateTerm === 'number') return { rate: rateTerm, term: 'minute' }
  return rate === undefined || rateTerm === undefined ? null : { rate, term: rateTerm }
}

/** Only staff see the names of gateways. */
type ShownReason =
  | Exclude<WaitReason, { kind: 'gateways' | 'limit' }>
  | { kind: 'gateways'; channelType: ChannelType; gateways: string[] }
  | { kind: 'limit'; of: 'company' | 'sender' | 'dispatch' | 'gateway'; partsPerSecond: number }

function presentReason(reason: WaitReason, { kind }: Viewer): ShownReason {
  if (reason.kind === 'limit') return { kind: 'limit', of: reason.of, partsPerSecond: reason.partsPerSecond }
  if (reason.kind !== 'gateways') return reason
  const gateways = kind === 'STAFF' ? reason.gateways.map(({ name }) => name) : []
  return { kind: 'gateways', channelType: reason.channelType, gateways }
}

type OfOperator = {
  /** Null for other operators, and for an invalid number. */
  operator: Brand | null
  waiting: number
  sent: number
  delivered: number
  failed: number
}

function presentBreakdown({ countedAt, shares, pace }: Breakdown, dispatch: Dispatch, viewer: Viewer) {
  return {
    countedAt,
    pace,
    operators: operatorsOf(shares),
    reasons: reasonsOf(shares),
    money: maySeePrices(viewer) ? moneyOf(shares, dispatch) : null,
  }
}

const fieldOf = { CREATED: 'waiting', SENT: 'sent', DELIVERED: 'delivered', FAILED: 'failed' } as const

function operatorsOf(shares: Share[]): OfOperator[] {
  const byBrand = new Map<number, OfOperator>()
  for (const { brandId, status, messages } of shares) {
    const operator = brandOf(brandId) ?? null
    const counts = byBrand.get(brandId) ?? { operator, waiting: 0, sent: 0, delivered: 0, failed: 0 }
    byBrand.set(brandId, counts)
    counts[fieldOf[status]] += messages
  }
  const sizeOf = ({ waiting, sent, delivered, failed }: OfOperator) => waiting + sent + delivered + failed
  return [...byBrand.values()].sort((a, b) => sizeOf(b) - sizeOf(a))
}

function reasonsOf(shares: Share[]) {
  const failed = shares.filter(({ status }) => status === 'FAILED')
  const byCode = Map.groupBy(failed, ({ errorCode, wasSent }) => `${errorCode} ${wasSent}`)
  const reasons = [...byCode.values()].flatMap(same => {
    const [first] = same
    if (!first) return []
    const messages = same.reduce((sum, { messages }) => sum + messages, 0)
    return { errorCode: first.errorCode, wasSent: first.wasSent, messages }
  })
  return reasons.sort((a, b) => b.messages - a.messages)
}

/** A dispatch that is not started holds no money for waiting messages. */
function moneyOf(shares: Share[], { status, currency, priceEstimate }: Dispatch) {
  const sum = (of: Share['status'][], amount: (share: Share) => Money) =>
    moneyToNumber(shares.filter(share => of.includes(share.status)).reduce((total, share) => total + amount(share), 0n))
  const holding: Share['status'][] = status === 'STARTED' ? ['CREATED', 'SENT'] : ['SENT']
  return {
    currency,
    estimate: moneyToNumber(priceEstimate),
    held: sum(holding, ({ price }) => price),
    charged: sum(['DELIVERED'], ({ finalPrice }) => finalPrice),
    released: sum(['FAILED'], ({ price }) => price),
  }
}
