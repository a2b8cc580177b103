import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { allChannelTypes } from '../../../base/channel-types.ts'
import { AppError, invalid, UsageError } from '../../../base/errors.ts'
import type { Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, What } from '../../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../../domain/companies/companies.ts'
import { brandNamesOf, gatewayFields, gatewaySubject, OTHER_BRANDS } from '../../../domain/gateways/audit-fields.ts'
import type { Connectors, TrialReport } from '../../../domain/gateways/connectors.ts'
import {
  DRAIN_HOURS,
  drain,
  type Gateway,
  type GatewayChange,
  MOST_DRAIN_HOURS,
} from '../../../domain/gateways/gateway.ts'
import { addGateway, changeGatewayIn, findGateway, removeDrained } from '../../../domain/gateways/gateways.ts'
import { openSettings } from '../../../domain/gateways/secrets.ts'
import { partsPerSecondOf, waitForEngines } from '../../../domain/gateways/states.ts'
import { type GatewayView, gatewayViews } from '../../../domain/health/gateway-views.ts'
import { brandIds, brands, OTHER_BRAND_ID } from '../../../domain/numbering/brand.ts'
import { may } from '../../../domain/people/rights.ts'
import { lateReceiptsOfGateway } from '../../../domain/receipts/late-receipts.ts'
import { Defaulted, Id, Nullable, OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { SharedAnswer } from './shared-answer.ts'

const brandNames = [...brands, OTHER_BRANDS] as const

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$' })
const Brands = Type.Array(OneOf(brandNames), { maxItems: brandNames.length })
const Rate = Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))
const Companies = Type.Array(Id, { maxItems: 100 })
const Value = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] })
/** Null removes a setting. A setting that is not named stays as it is. */
const Settings = Type.Record(Type.String({ maxLength: 40 }), Value, { maxProperties: 60 })

const NewGateway = Type.Object({
  name: Name,
  channelType: OneOf(allChannelTypes),
  connector: Type.String({ maxLength: 40 }),
  brands: Brands,
  rate: Rate,
  companies: Companies,
  settings: Settings,
})
const Change = Type.Object({
  /** The version of the gateway that the form showed. */
  version: Type.Integer({ minimum: 1 }),
  name: Type.Optional(Name),
  brands: Type.Optional(Brands),
  rate: Type.Optional(Rate),
  companies: Type.Optional(Companies),
  settings: Type.Optional(Settings),
})
const Drain = Type.Object({
  hours: Defaulted(Type.Integer({ minimum: 1, maximum: MOST_DRAIN_HOURS, default: DRAIN_HOURS })),
})
const TrialMessage = Type.Object({
  to: Type.String({ minLength: 1, maxLength: 2000 }),
  sender: Type.String({ minLength: 1, maxLength: 100 }),
  text: Type.String({ minLength: 1, maxLength: 2000 }),
})
const ByGateway = Type.Object({ gatewayId: Id })

/** Types of requests and answers, which the pages import. */
export type NewGatewayBody = Type.Static<typeof NewGateway>
export type GatewayChangeBody = Type.Static<typeof Change>
export type TrialBody = Type.Static<typeof TrialMessage>
export type ListedGateway = ReturnType<typeof presentListed>
export type GatewaysAnswer = { at: Date; gateways: ListedGateway[] }
export type GatewayAnswer = ListedGateway & Awaited<ReturnType<typeof detailsOf>> & { at: Date }
export type ConnectorsAnswer = { connectors: Connectors['descriptions'] }
/** `enginesBehind`: the number of engines that did not confirm the change within some seconds. */
export type GatewayChanged = { gatewayId: number; enginesBehind: number }
export type { TrialReport } from '../../../domain/gateways/connectors.ts'

/** A process queries the database at most once in this time, for all its viewers together. */
const EVERY_MS = 1000
/** The page waits 30 seconds. */
const ENGINES_MS = 5000
const RECEIPT_WAIT_MS = 8000
const TRIAL_MS = 25_000
const MOST_TRIALS = 3

export const gatewayRoutes =
  ({ sql, clock, publicUrl, connectors }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const views = new SharedAnswer(EVERY_MS, () => gatewayViews(sql, clock()))
    const webhooks = webhooksOf(connectors, publicUrl)
    let trials = 0

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
        if (!view) throw notHere()
        const keeping = may(viewer, 'gateways.change') ? connectors?.keepingOf(view.gateway.connector) : undefined
        const details = await detailsOf(sql, view, { webhooks, keeping })
        return { at: clock(), ...presentListed(view), ...details }
      },
    )

    api.post(
      '/gateways',
      { config: { needs: 'gateways.change' }, schema: { body: NewGateway } },
      async ({ actor, body }, reply): Promise<GatewayChanged> => {
        const made = await sql.begin(tx => add(tx, actor, requireConnectors(connectors), body))
        reply.code(201)
        return followed(made)
      },
    )

    api.patch(
      '/gateways/:gatewayId',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway, body: Change } },
      async ({ actor, params, body: { version, ...wanted } }): Promise<GatewayChanged> => {
        const change = changeOf(wanted)
        return changed(actor, 'gateway.changed', params.gatewayId, change, version)
      },
    )

    api.post(
      '/gateways/:gatewayId/pause',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway } },
      ({ actor, params }) => changed(actor, 'gateway.paused', params.gatewayId, { paused: true }),
    )

    api.post(
      '/gateways/:gatewayId/resume',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway } },
      ({ actor, params }) => changed(actor, 'gateway.resumed', params.gatewayId, { paused: false }),
    )

    api.post(
      '/gateways/:gatewayId/drain',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway, body: Drain } },
      ({ actor, params, body }) =>
        changed(actor, 'gateway.drain_started', params.gatewayId, drain(body.hours, clock())),
    )

    api.delete(
      '/gateways/:gatewayId',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway } },
      async ({ actor, params }, reply) => {
        await sql.begin(async tx => {
          const removed = await removeDrained(tx, params.gatewayId, clock())
          const fields = { subject: gatewaySubject(removed), before: gatewayFields(removed) }
          await recordChange(tx, actor, { what: 'gateway.removed', ...fields })
        })
        views.forget()
        return reply.code(204).send()
      },
    )

    /** Sends one message, which is neither stored nor billed. */
    api.post(
      '/gateways/:gatewayId/trials',
      { config: { needs: 'gateways.change' }, schema: { params: ByGateway, body: TrialMessage } },
      async ({ actor, params, body }): Promise<TrialReport> => {
        const gateway = await findGateway(sql, params.gatewayId)
        if (!gateway) throw notHere()
        if (trials >= MOST_TRIALS) throw tooManyTrials()
        trials += 1
        try {
          const after = { to: body.to, sender: body.sender }
          await sql.begin(tx =>
            recordChange(tx, actor, { what: 'gateway.tested', subject: gatewaySubject(gateway), after }),
          )
          return await tryOut(requireConnectors(connectors), gateway, body)
        } finally {
          trials -= 1
        }
      },
    )

    async function changed(
      actor: Actor,
      what: What,
      gatewayId: number,
      change: GatewayChange,
      version?: number,
    ): Promise<GatewayChanged> {
      const after = await sql.begin(async tx => {
        const found = await findGateway(tx, gatewayId)
        if (!found) throw notHere()
        await requireCompanies(tx, change.companies ?? [])
        const keeping = requireConnectors(connectors).keepingOf(found.connector)
        const { before, after } = await changeGatewayIn(tx, gatewayId, change, keeping, version)
        const settings = change.settings && { settings: Object.keys(change.settings) }
        const fields = { before: gatewayFields(before), after: { ...gatewayFields(after), ...settings } }
        await recordChange(tx, actor, { what, subject: gatewaySubject(after), ...fields })
        return after
      })
      return followed(after)
    }

    /** Waits some seconds for the engines, so that "paused" on the page is true. */
    async function followed(gateway: Gateway): Promise<GatewayChanged> {
      const enginesBehind = await waitForEngines(sql, gateway, ENGINES_MS)
      views.forget()
      return { gatewayId: gateway.gatewayId, enginesBehind }
    }
  }

/** Throws in a process without connectors. Connectors check the settings of a gateway and send test messages. */
function requireConnectors(connectors: Connectors | undefined): Connectors {
  if (!connectors) throw new AppError('not_ready', 'This process cannot change gateways')
  return connectors
}

async function add(tx: Transaction, actor: Actor, connectors: Connectors, body: NewGatewayBody): Promise<Gateway> {
  const { name, channelType, connector, companies } = body
  const description = connectors.descriptions.find(one => one.name === connector)
  if (!description) throw invalid('connector: is not known')
  if (!description.channels.includes(channelType)) {
    throw invalid(`channelType: the connector ${connector} serves ${description.channels.join(', ')}`)
  }
  await requireCompanies(tx, companies)
  const settings = Object.fromEntries(Object.entries(body.settings).filter(([, value]) => value !== null))
  const wanted = { name, channelType, connector, companies, settings, partsPerSecond: body.rate }
  const made = await addGateway(tx, { ...wanted, brands: idsOf(body.brands) }, connectors.keepingOf(connector))
  if (!made) throw invalid(`A gateway with the name "${name}" exists already`)
  const after = { ...gatewayFields(made), settings: Object.keys(settings) }
  await recordChange(tx, actor, { what: 'gateway.added', subject: gatewaySubject(made), after })
  return made
}

function changeOf({ brands, rate, ...others }: Omit<GatewayChangeBody, 'version'>): GatewayChange {
  return {
    ...others,
    ...(brands === undefined ? {} : { brands: idsOf(brands) }),
    ...(rate === undefined ? {} : { partsPerSecond: rate }),
  }
}

const idsOf = (names: readonly (typeof brandNames)[number][]): number[] =>
  [...new Set(names)].map(name => (name === OTHER_BRANDS ? OTHER_BRAND_ID : brandIds[name as keyof typeof brandIds]))

async function requireCompanies(sql: Sql, companies: number[]) {
  for (const companyId of companies) {
    await requireAnyCompany(sql, companyId).catch(() => {
      throw invalid(`companies: there is no company ${companyId}`)
    })
  }
}

async function tryOut(connectors: Connectors, gateway: Gateway, message: TrialBody): Promise<TrialReport> {
  const end = new AbortController()
  const over = pause(TRIAL_MS, undefined, { signal: end.signal }).then(() => {
    throw invalid('The operator did not answer within 25 seconds')
  })
  try {
    return await Promise.race([connectors.tryOut(gateway, { ...message, waitMs: RECEIPT_WAIT_MS }), over])
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message.replace(/^--/, '').replace(/\.$/, ''))
    throw error
  } finally {
    end.abort()
    over.catch(() => {})
  }
}

const notHere = () => new AppError('not_found', 'Gateway not found')
const tooManyTrials = () =>
  new AppError('too_many_requests', 'Other gateways are being tested: try again in a moment', {
    retryAfterSeconds: 10,
    limit: MOST_TRIALS,
  })

// Answers ------------------------------------------------------------------------------------------------------------

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

type Shown = { webhooks: Map<string, (gatewayId: number) => string>; keeping: Keeping | undefined }
type Keeping = ReturnType<Connectors['keepingOf']>

async function detailsOf(sql: Sql, { gateway, day, engines }: GatewayView, { webhooks, keeping }: Shown) {
  return {
    companies: await companiesOf(sql, gateway.companies),
    webhook: webhooks.get(gateway.connector)?.(gateway.gatewayId) ?? null,
    errors: day.errors,
    endedLastMinute: day.endedLastMinute,
    late: await lateReceiptsOfGateway(sql, gateway.gatewayId),
    engines: engines.map(({ gatewayId: _, ...engine }) => engine),
    /** Null for a viewer without the right to change them. */
    settings: keeping ? settingsOf(gateway, keeping) : null,
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
function settingsOf(gateway: Gateway, { key, secretNames }: Keeping) {
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
