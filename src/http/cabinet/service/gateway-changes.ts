import Type from 'typebox'
import { allChannelTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, AuditAction } from '../../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../../domain/companies/companies.ts'
import { gatewayFields, gatewaySubject, OTHER_BRANDS } from '../../../domain/gateways/audit-fields.ts'
import type { Connectors } from '../../../domain/gateways/connectors.ts'
import {
  DRAIN_HOURS,
  drain,
  type Gateway,
  type GatewayChange,
  MOST_DRAIN_HOURS,
} from '../../../domain/gateways/gateway.ts'
import { addGateway, changeGatewayIn, findGateway, removeDrained } from '../../../domain/gateways/gateways.ts'
import { waitForEngines } from '../../../domain/gateways/monitoring/states.ts'
import { brandIds, brands, OTHER_BRAND_ID } from '../../../domain/numbering/brand.ts'
import { Defaulted, Id, Nullable, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { ByGateway, gatewayNotFound, requireConnectors } from './gateway-requests.ts'

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

/** Types of requests and answers, which the pages import. */
export type NewGatewayBody = Type.Static<typeof NewGateway>
export type GatewayChangeBody = Type.Static<typeof Change>
/** `enginesBehind`: the number of engines that did not confirm the change within some seconds. */
export type GatewayChanged = { gatewayId: number; enginesBehind: number }

const ENGINES_MS = 5000

/** Adds, changes, pauses, drains and removes gateways. Calls `onChange` after each of these. */
export function gatewayChangeRoutes(api: CabinetApi, context: CabinetContext, onChange: () => void) {
  const { clock } = context
  const changes = new GatewayChanges(context, onChange)
  const config = { needs: 'gateways.change' } as const
  const ofGateway = { config, schema: { params: ByGateway } }

  api.post('/gateways', { config, schema: { body: NewGateway } }, async ({ actor, body }, reply) => {
    const added = await changes.add(actor, body)
    reply.code(201)
    return added
  })

  api.patch(
    '/gateways/:gatewayId',
    { config, schema: { params: ByGateway, body: Change } },
    ({ actor, params, body: { version, ...wanted } }) =>
      changes.change(actor, 'gateway.changed', params.gatewayId, changeOf(wanted), version),
  )

  api.post('/gateways/:gatewayId/pause', ofGateway, ({ actor, params }) =>
    changes.change(actor, 'gateway.paused', params.gatewayId, { paused: true }),
  )

  api.post('/gateways/:gatewayId/resume', ofGateway, ({ actor, params }) =>
    changes.change(actor, 'gateway.resumed', params.gatewayId, { paused: false }),
  )

  api.post(
    '/gateways/:gatewayId/drain',
    { config, schema: { params: ByGateway, body: Drain } },
    ({ actor, params, body }) =>
      changes.change(actor, 'gateway.drain_started', params.gatewayId, drain(body.hours, clock())),
  )

  api.delete('/gateways/:gatewayId', ofGateway, async ({ actor, params }, reply) => {
    await changes.remove(actor, params.gatewayId, clock())
    return reply.code(204).send()
  })
}

class GatewayChanges {
  readonly #sql: Pool
  readonly #connectors: Connectors | undefined
  readonly #onChange: () => void

  constructor({ sql, connectors }: CabinetContext, onChange: () => void) {
    this.#sql = sql
    this.#connectors = connectors
    this.#onChange = onChange
  }

  async add(actor: Actor, body: NewGatewayBody): Promise<GatewayChanged> {
    const made = await this.#sql.begin(tx => add(tx, actor, requireConnectors(this.#connectors), body))
    return this.#followed(made)
  }

  async change(
    actor: Actor,
    what: AuditAction,
    gatewayId: number,
    change: GatewayChange,
    version?: number,
  ): Promise<GatewayChanged> {
    const changed = await this.#sql.begin(async tx => {
      const found = await findGateway(tx, gatewayId)
      if (!found) throw gatewayNotFound()
      await requireCompanies(tx, change.companies ?? [])
      const rules = requireConnectors(this.#connectors).settingRulesOf(found.connector)
      const { before, after } = await changeGatewayIn(tx, gatewayId, change, rules, version)
      const settings = change.settings && { settings: Object.keys(change.settings) }
      const fields = { before: gatewayFields(before), after: { ...gatewayFields(after), ...settings } }
      await recordChange(tx, actor, { what, subject: gatewaySubject(after), ...fields })
      return after
    })
    return this.#followed(changed)
  }

  async remove(actor: Actor, gatewayId: number, now: Date) {
    await this.#sql.begin(async tx => {
      const removed = await removeDrained(tx, gatewayId, now)
      const fields = { subject: gatewaySubject(removed), before: gatewayFields(removed) }
      await recordChange(tx, actor, { what: 'gateway.removed', ...fields })
    })
    this.#onChange()
  }

  /** Waits some seconds for the engines, so that "paused" on the page is true. */
  async #followed(gateway: Gateway): Promise<GatewayChanged> {
    const enginesBehind = await waitForEngines(this.#sql, gateway, ENGINES_MS)
    this.#onChange()
    return { gatewayId: gateway.gatewayId, enginesBehind }
  }
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
  const made = await addGateway(tx, { ...wanted, brands: idsOf(body.brands) }, connectors.settingRulesOf(connector))
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
