import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Sql } from '../../../db/sql.ts'
import { requireAnyCompany } from '../../../domain/companies/companies.ts'
import { brandNamesOf } from '../../../domain/gateways/audit-fields.ts'
import type { Connectors } from '../../../domain/gateways/connectors.ts'
import type { Gateway, SettingRules } from '../../../domain/gateways/gateway.ts'
import { partsPerSecondOf } from '../../../domain/gateways/monitoring/states.ts'
import { openSettings } from '../../../domain/gateways/secrets.ts'
import { type GatewayView, gatewayViews } from '../../../domain/health/gateway-views.ts'
import { may } from '../../../domain/people/rights.ts'
import { lateReceiptsOfGateway } from '../../../domain/receipts/late-receipts.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { gatewayChangeRoutes } from './gateway-changes.ts'
import { ByGateway, gatewayNotFound, requireConnectors } from './gateway-requests.ts'
import { gatewayTrialRoutes } from './gateway-trials.ts'
import { SharedAnswer } from './shared-answer.ts'

/** Types of answers, which the pages import. */
export type ListedGateway = ReturnType<typeof presentListed>
export type GatewaysAnswer = { at: Date; gateways: ListedGateway[] }
export type GatewayAnswer = ListedGateway & Awaited<ReturnType<typeof detailsOf>> & { at: Date }
export type ConnectorsAnswer = { connectors: Connectors['descriptions'] }

/** A process queries the database at most once in this time, for all its viewers together. */
const EVERY_MS = 1000

/** Gateways, for staff. */
export const gatewayRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const views = new SharedAnswer(EVERY_MS, () => gatewayViews(context.sql, context.clock()))
    gatewayReadRoutes(api, context, views)
    gatewayChangeRoutes(api, context, () => views.forget())
    gatewayTrialRoutes(api, context)
  }

/** Lists gateways and connectors, and reads one gateway with its settings. */
function gatewayReadRoutes(
  api: CabinetApi,
  { sql, clock, publicUrl, connectors }: CabinetContext,
  views: SharedAnswer<GatewayView[]>,
) {
  const webhooks = webhooksOf(connectors, publicUrl)

  api.get('/gateways', { config: { needs: 'gateways.see' } }, async (): Promise<GatewaysAnswer> => {
    const all = await views.get()
    return { at: clock(), gateways: all.map(presentListed) }
  })

  api.get('/connectors', { config: { needs: 'gateways.change' } }, async (): Promise<ConnectorsAnswer> => {
    return { connectors: requireConnectors(connectors).descriptions }
  })

  api.get(
    '/gateways/:gatewayId',
    { config: { needs: 'gateways.see' }, schema: { params: ByGateway } },
    async ({ viewer, params }): Promise<GatewayAnswer> => {
      const view = (await views.get()).find(({ gateway }) => gateway.gatewayId === params.gatewayId)
      if (!view) throw gatewayNotFound()
      const rules = may(viewer, 'gateways.change') ? connectors?.settingRulesOf(view.gateway.connector) : undefined
      const details = await detailsOf(sql, view, { webhooks, rules })
      return { at: clock(), ...presentListed(view), ...details }
    },
  )
}

/** Leaves out the settings, because an address in them may contain a secret. */
const presentListed = ({ gateway, standing, throttledAt, state, day, waiting, stuck }: GatewayView) => ({
  gatewayId: gateway.gatewayId,
  name: gateway.name,
  channelType: gateway.channelType,
  connector: gateway.connector,
  brands: brandNamesOf(gateway),
  rateLimit: gateway.partsPerSecond,
  version: gateway.version,
  standing,
  throttledAt,
  pausedAt: gateway.pausedAt,
  drainUntil: gateway.drainUntil,
  rate: state ? partsPerSecondOf(state) : 0,
  open: state?.open ?? 0,
  window: state?.window ?? 0,
  bound: state?.bound ?? 0,
  wanted: state?.wanted ?? 0,
  answerMs: state?.answerMs ?? null,
  lastError: state?.lastError ?? null,
  lastErrorAt: state?.lastErrorAt ?? null,
  waiting,
  stuck,
  outstanding: day.outstanding,
  errorsLastHour: day.errors.reduce((sum, { count }) => sum + count, 0),
  hour: day.hour,
})

type Shown = { webhooks: Map<string, (gatewayId: number) => string>; rules: SettingRules | undefined }

async function detailsOf(sql: Sql, { gateway, day, engines }: GatewayView, { webhooks, rules }: Shown) {
  return {
    companies: await companiesOf(sql, gateway.companies),
    webhook: webhooks.get(gateway.connector)?.(gateway.gatewayId) ?? null,
    errors: day.errors,
    endedLastMinute: day.endedLastMinute,
    late: await lateReceiptsOfGateway(sql, gateway.gatewayId),
    engines: engines.map(({ gatewayId: _, ...engine }) => engine),
    /** Null for a viewer without the right to change them. */
    settings: rules ? settingsOf(gateway, rules) : null,
  }
}

/** Names of companies. A removed company has its id instead. */
const companiesOf = (sql: Sql, ids: number[]) =>
  Promise.all(
    ids.map(companyId =>
      requireAnyCompany(sql, companyId).then(
        ({ name }) => ({ companyId, name }),
        () => ({ companyId, name: String(companyId) }),
      ),
    ),
  )

/** Secrets appear only by name. `isSealed`: they were encrypted with another TIDINGS_SECRET. */
function settingsOf(gateway: Gateway, { key, secretNames }: SettingRules) {
  try {
    const opened = openSettings(gateway, key)
    const secrets = secretNames.filter(name => opened[name] !== undefined)
    return { values: gateway.settings, secrets, isSealed: false }
  } catch {
    return { values: gateway.settings, secrets: [], isSealed: true }
  }
}

const webhooksOf = (connectors: Connectors | undefined, publicUrl: string): Shown['webhooks'] =>
  new Map(
    (connectors?.descriptions ?? [])
      .filter(({ hasWebhook }) => hasWebhook)
      .map(({ name }) => [name, (gatewayId: number) => `${publicUrl}/webhooks/${gatewayId}`]),
  )
