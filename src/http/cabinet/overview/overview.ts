import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { moneyToNumber } from '../../../base/money.ts'
import type { Attention } from '../../../domain/overview/attention.ts'
import { type Overview, overviewOf } from '../../../domain/overview/overview.ts'
import { UsualShares } from '../../../domain/overview/usual-shares.ts'
import type { OldestWaiting } from '../../../domain/overview/waiting.ts'
import { may, type Right } from '../../../domain/people/rights.ts'
import type { WaitReason } from '../../../domain/waiting/waiting.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { OfCompany, scopeOf } from '../company-scope.ts'

/** Types of answers, which the page imports. */
export type OverviewAnswer = ReturnType<typeof present>
export type AttentionLine = ReturnType<typeof presentAttention>
export type RunningDispatch = ReturnType<typeof presentRunning>

/** The first page of the cabinet: for one company, or for all companies of a partner or of the service. */
export const overviewRoutes =
  ({ sql, clock, billingZone }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const usualShares = new UsualShares()

    api.get(
      '/overview',
      { config: { needs: 'traffic.see' }, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<OverviewAnswer> => {
        const scope = await scopeOf(sql, viewer, query)
        const now = clock()
        const sees = (right: Right) => may(viewer, right)
        const overview = await overviewOf(sql, { scope, sees, now, billingZone, usualShares })
        return present(overview, { now, billingZone, sees })
      },
    )
  }

type Shown = { now: Date; billingZone: string; sees: (right: Right) => boolean }

const present = (overview: Overview, { now, billingZone, sees }: Shown) => ({
  at: now,
  zone: billingZone,
  companies: overview.companies,
  today: overview.today,
  funds: overview.funds?.map(({ currency, spent, reserved, budget }) => ({
    currency,
    spent: moneyToNumber(spent),
    reserved: moneyToNumber(reserved),
    budget: budget === null ? null : moneyToNumber(budget),
  })),
  oldest: overview.oldest && presentOldest(overview.oldest, sees),
  hours: overview.hours,
  operators: overview.operators,
  channels: overview.channels,
  running: { total: overview.running.total, items: overview.running.items.map(presentRunning) },
  attention: overview.attention.map(presentAttention),
  firstSteps: overview.firstSteps,
})

/** Only staff see the names and errors of gateways. */
const presentOldest = ({ reason, ...oldest }: OldestWaiting, sees: Shown['sees']) => ({
  ...oldest,
  reason: reason && presentReason(reason, sees),
})

function presentReason(reason: WaitReason, sees: Shown['sees']) {
  if (reason.kind === 'gateways' && !sees('gateways.see')) return { ...reason, gateways: [] }
  if (reason.kind === 'limit' && reason.of === 'gateway' && !sees('gateways.see')) return { ...reason, name: null }
  return reason
}

const presentRunning = ({
  firstUuid: _,
  lastUuid: __,
  companyId,
  companyName,
  ...dispatch
}: Overview['running']['items'][number]) => ({ ...dispatch, company: { companyId, name: companyName } })

export const presentAttention = (line: Attention) =>
  line.kind === 'balance' ? { ...line, left: moneyToNumber(line.left) } : line
