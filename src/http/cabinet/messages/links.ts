import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../../../base/errors.ts'
import {
  type ClickedDispatch,
  clickedDispatches,
  clickedLink,
  clicksByHour,
  type LinkPlace,
  type ListedLink,
  MOST_CLICKS,
  searchLinks,
} from '../../../domain/short-links/company-links.ts'
import { shortUrlOf } from '../../../domain/short-links/short-link.ts'
import { Defaulted, Id } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'

const PLACE = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9A-Za-z]{1,32}$'
const UUID_LENGTH = 36

const List = Type.Object({
  companyId: Type.Optional(Id),
  q: Defaulted(Type.String({ maxLength: 200, default: '' })),
  dispatch: Type.Optional(Id),
  /** The `older` of the previous page of the list. */
  before: Type.Optional(Type.String({ pattern: PLACE })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
const ByCode = Type.Object({ code: Type.String({ pattern: '^[0-9A-Za-z]{1,32}$' }) })

const OfDispatches = Type.Object({
  companyId: Type.Optional(Id),
  /** The `older` of the previous page of the list. */
  before: Type.Optional(Id),
})
const DISPATCHES_OF_PAGE = 10

const DAY_MS = 24 * 3600_000
const DAYS = 30

/** Types of answers, which the page imports. */
export type LinkRow = ReturnType<ReturnType<typeof presenter>>
export type LinksAnswer = { items: LinkRow[]; older: string | null; isCut: boolean }
/** A day of the billing zone, `2026-11-12`. */
export type DayOfClicks = { day: string; clicks: number }
export type ClicksAnswer = { days: DayOfClicks[] }
export type ClickedDispatchesAnswer = { items: ClickedDispatch[]; older: number | null }
export type LinkAnswer = LinkRow & ClicksAnswer

/** The short links of a company and their clicks. */
export const linkRoutes =
  ({ sql, clock, billingZone, publicUrl }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const present = presenter(`${publicUrl}/s`)
    const seen = { needs: 'traffic.see' } as const

    api.get(
      '/links',
      { config: seen, schema: { querystring: List } },
      async ({ viewer, query }): Promise<LinksAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const before = query.before === undefined ? undefined : placeIn(query.before)
        const search = { typed: query.q, dispatchId: query.dispatch, before, limit: query.perPage }
        const { items, older, isCut } = await searchLinks(sql, companyId, search)
        return { items: items.map(present), older: older ? `${older.messageUuid}-${older.code}` : null, isCut }
      },
    )

    /** Clicks on all links of the company in the last 30 days. */
    api.get(
      '/links/clicks',
      { config: seen, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<ClicksAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const from = new Date(clock().getTime() - (DAYS + 1) * DAY_MS)
        const hours = await clicksByHour(sql, companyId, from)
        return {
          days: daysOf(
            hours.map(({ hour, clicks }) => ({ at: hour, clicks })),
            clock(),
            billingZone,
          ),
        }
      },
    )

    /** Clicks summed by dispatch, the newest dispatch first. */
    api.get(
      '/links/dispatches',
      { config: seen, schema: { querystring: OfDispatches } },
      async ({ viewer, query }): Promise<ClickedDispatchesAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        return clickedDispatches(sql, companyId, query.before, DISPATCHES_OF_PAGE)
      },
    )

    api.get(
      '/links/:code',
      { config: seen, schema: { querystring: OfCompany, params: ByCode } },
      async ({ viewer, query, params }): Promise<LinkAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const found = await clickedLink(sql, companyId, params.code)
        if (!found) throw notFound('Link')
        const clicks = found.clickedAt.map(at => ({ at, clicks: 1 }))
        return { ...present(found.link), days: daysOf(clicks, clock(), billingZone) }
      },
    )
  }

const placeIn = (text: string): LinkPlace => ({
  messageUuid: text.slice(0, UUID_LENGTH),
  code: text.slice(UUID_LENGTH + 1),
})

/** The last 30 days of the zone, including days without a click. */
function daysOf(clicks: { at: Date; clicks: number }[], now: Date, zone: string): DayOfClicks[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const today = Date.parse(`${format.format(now)}T00:00:00Z`)
  const days = Array.from({ length: DAYS }, (_, i) =>
    new Date(today - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  )
  const counts = new Map(days.map(day => [day, 0]))
  for (const { at, clicks: more } of clicks) {
    const day = format.format(at)
    const before = counts.get(day)
    if (before !== undefined) counts.set(day, before + more)
  }
  return [...counts].map(([day, clicks]) => ({ day, clicks }))
}

const presenter = (base: string) => (link: ListedLink) => ({
  code: link.code,
  shortUrl: shortUrlOf(base, link.code),
  url: link.url,
  createdAt: link.createdAt,
  clicks: Math.min(link.clicks, MOST_CLICKS),
  /** The link has more clicks than the service counts. */
  isMore: link.clicks > MOST_CLICKS,
  messageUuid: link.messageUuid,
  /** Null if the message is too old to be shown. */
  destination: link.destination,
  dispatchId: link.dispatchId,
  dispatchName: link.dispatchName,
})
