import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { formatMoney } from '../../../base/money.ts'
import type { Sql } from '../../../db/sql.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { maySeePrices } from '../../../domain/people/rights.ts'
import { type StatisticsSum, verificationSums } from '../../../domain/verifications/verifications.ts'
import type { Verifier, VerifierChannel } from '../../../domain/verifiers/verifier.ts'
import { hadVerifier, listVerifiers } from '../../../domain/verifiers/verifiers.ts'
import { countErrors } from '../../../domain/widgets/errors.ts'
import { readingOf } from '../../context.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { VerifierId } from './find-verifier.ts'
import { daysOf, isTotal, periodBefore, periodOf } from './period.ts'

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
const Overview = Type.Object({
  ...OfCompany.properties,
  verifier: Type.Optional(VerifierId),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
})

export type Sums = {
  sent: number
  delivered: number
  confirmed: number
  secondsToConfirm: number | null
  /** Decimals with four places. Null for a viewer without the right to see prices. */
  cost: string | null
  costOfConfirmed: string | null
}
export type ListedVerifier = ReturnType<typeof presentListed> & { sums: Sums }
export type ListedWidget = ListedVerifier & {
  origins: string[]
  isBuilder: boolean
  /** Errors of the last day, with the most frequent error code. */
  errors: { count: number; code: number } | null
}
export type VerificationAnswer = {
  companyId: number
  currency: string
  /** Days in UTC. */
  from: string
  to: string
  total: Sums
  /** The sums of the previous period of the same length. */
  before: Sums
  byDay: (Sums & { day: string })[]
  byCountry: (Sums & { country: string })[]
  byChannel: (Sums & { channelType: VerifierChannel })[]
  verifiers: ListedVerifier[]
  widgets: ListedWidget[]
}

const see = { needs: 'settings.see' } as const

/** Statistics of codes by day, country, channel, verifier and widget. */
export const statisticsRoutes =
  ({ sql, reading, clock }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { read } = readingOf({ sql, reading })
    api.get(
      '/verification',
      { config: see, schema: { querystring: Overview } },
      async ({ viewer, query }): Promise<VerificationAnswer> => {
        const { companyId, currency } = await companyOf(sql, viewer, query)
        const period = periodOf(query, clock())
        await refuseUnknown(sql, companyId, query.verifier)
        const present = presenterOf(viewer)
        const sumsOf = (of: Parameters<typeof verificationSums>[2]) =>
          read(pool => verificationSums(pool, companyId, of))
        const [all, asked, earlier, verifiers, widgets, errors] = await Promise.all([
          sumsOf(period),
          query.verifier === undefined ? null : sumsOf({ ...period, verifierId: query.verifier }),
          sumsOf({ ...periodBefore(period), ...only(query.verifier) }),
          listVerifiers(sql, companyId, 'API'),
          listVerifiers(sql, companyId, 'WIDGET'),
          countErrors(sql, companyId),
        ])
        const sums = asked ?? all
        const withSums = (verifier: Verifier) => ({
          ...presentListed(verifier),
          sums: present(all.find(({ verifierId }) => verifierId === verifier.verifierId)),
        })
        return {
          companyId,
          currency,
          ...period,
          total: present(sums.find(isTotal)),
          before: present(earlier.find(isTotal)),
          byDay: daysOf(period).map(day => ({ day, ...present(sums.find(sum => sum.day === day)) })),
          byCountry: told(sums, 'country').map(sum => ({ country: sum.country!, ...present(sum) })),
          byChannel: told(sums, 'channelType').map(sum => ({
            channelType: sum.channelType as VerifierChannel,
            ...present(sum),
          })),
          verifiers: verifiers.map(withSums),
          widgets: widgets.map(widget => ({
            ...withSums(widget),
            origins: widget.page!.origins,
            isBuilder: widget.page!.isBuilder,
            errors: errorsOf(errors.filter(({ widgetId }) => widgetId === widget.verifierId)),
          })),
        }
      },
    )
  }

const only = (verifierId: string | undefined) => (verifierId === undefined ? {} : { verifierId })

async function refuseUnknown(sql: Sql, companyId: number, verifierId: string | undefined) {
  if (verifierId !== undefined && !(await hadVerifier(sql, companyId, verifierId))) throw notFound('Verifier')
}

const told = (sums: StatisticsSum[], by: 'country' | 'channelType') => sums.filter(sum => sum[by] !== null)

function presenterOf(viewer: Viewer) {
  const seesPrices = maySeePrices(viewer)
  return (sum: StatisticsSum | undefined): Sums => {
    const { sent, delivered, confirmed, cost, confirmMs } = sum ?? nothing
    return {
      sent,
      delivered,
      confirmed,
      secondsToConfirm: confirmed > 0 ? Math.round(confirmMs / confirmed / 100) / 10 : null,
      cost: seesPrices ? formatMoney(cost) : null,
      costOfConfirmed:
        seesPrices && confirmed > 0 ? formatMoney((cost + BigInt(confirmed) / 2n) / BigInt(confirmed)) : null,
    }
  }
}

const nothing = { sent: 0, delivered: 0, confirmed: 0, cost: 0n, confirmMs: 0 } as unknown as StatisticsSum

function errorsOf(counts: { code: number; count: number }[]) {
  const [most] = counts
  if (!most) return null
  return { count: counts.reduce((sum, { count }) => sum + count, 0), code: most.code }
}

const presentListed = ({ verifierId, name, settings, createdAt }: Verifier) => ({
  id: verifierId,
  name,
  channels: settings.channels,
  hasFallback: settings.fallbackSeconds !== null,
  codeLength: settings.codeLength,
  lifetimeSeconds: settings.lifetimeSeconds,
  tries: settings.tries,
  createdAt,
})
