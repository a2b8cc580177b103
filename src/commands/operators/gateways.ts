import { UsageError } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import { catalogue, isConnector } from '../../channels/catalogue.ts'
import { connectorNames } from '../../channels/connector-names.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { brandNamesOf, gatewayFields, gatewaySubject, OTHER_BRANDS } from '../../domain/gateways/audit-fields.ts'
import {
  drain,
  type Gateway,
  type GatewayChange,
  type GatewayState,
  isDrained,
  MOST_DRAIN_HOURS,
  type NewGateway,
  type SettingRules,
} from '../../domain/gateways/gateway.ts'
import {
  addGateway,
  changeGateway,
  listGateways,
  removeGateway,
  requireGateway,
} from '../../domain/gateways/gateways.ts'
import { gatewayDays } from '../../domain/gateways/monitoring/minutes.ts'
import {
  gatewayStates,
  partsPerSecondOf,
  waitForEngines,
  waitForRelease,
} from '../../domain/gateways/monitoring/states.ts'
import { brandIds, OTHER_BRAND_ID } from '../../domain/numbering/brand.ts'
import { secretsOf, settingRulesOf } from '../../engine/gateways/known-connectors.ts'
import { tryGateway } from '../../engine/gateways/trial.ts'
import { noCompany, noGateway, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { given, textOption } from '../command-line.ts'
import { channelOption, choiceOption, rateOption } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'
import { changeBySettings, readSettings, type Setting } from './gateway-settings.ts'
import { presentTrial, readTrial, trialInWords } from './gateway-trial.ts'

const brandNames = [...Object.keys(brandIds), OTHER_BRANDS]

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const [gateways, states, days] = await Promise.all([listGateways(sql), gatewayStates(sql), gatewayDays(sql)])
    const listed = gateways.map(gateway => ({
      gateway,
      state: states.get(gateway.gatewayId),
      outstanding: days.get(gateway.gatewayId)?.outstanding ?? 0,
    }))
    print(
      listed.map(({ gateway, state, outstanding }) => ({
        ...present(gateway, config),
        state: { ...presentState(state), outstanding },
      })),
      tableOf(listed, config),
    )
  })
}

export async function addOne(call: Call) {
  const channelType = given(channelOption(call), '--channel')
  const connector = given(choiceOption(call, 'connector', connectorNames), '--connector')
  const { channels, check } = catalogue[connector]
  if (!(channels as readonly string[]).includes(channelType)) {
    throw new UsageError(`The connector ${connector} serves ${channels.join(', ')}, not ${channelType}.`)
  }
  const change = changeIn(call, await settingsIn(call), connector)
  const { name, brands = [], settings = {}, partsPerSecond = null, companies = [] } = change
  refuseWrong(check, settings)
  const wanted = { channelType, connector, brands, settings, partsPerSecond, companies }
  await withDatabase(call.config, async ({ sql, secret }) => {
    await requireCompanies(sql, companies)
    const rules = settingRulesOf(secret, connector)
    const added = await recorded(sql, async (tx, record) => {
      const made = await (name === undefined
        ? addUnnamed(tx, wanted, rules)
        : addGateway(tx, { ...wanted, name }, rules))
      if (!made) throw new UsageError(`A gateway with the name "${name}" exists already.`)
      const after = { ...gatewayFields(made), settings: Object.keys(settings) }
      await record({ what: 'gateway.added', subject: gatewaySubject(made), after })
      return made
    })
    const behind = await whileWaiting(call, waitForEngines(sql, added))
    call.print(
      { ...present(added, call.config), enginesBehind: behind },
      `Gateway ${added.gatewayId} (${printable(added.name)}) was added.${webhookNote(added, call.config)}${behindNote(behind)}`,
    )
  })
}

/** Before anything is opened; it is looked at again where it is stored. */
function refuseWrong(check: SettingRules['check'], settings: NewGateway['settings']) {
  try {
    check(settings)
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`)
  }
}

/** Called after its connector and channel, with a number behind it from the second on. */
async function addUnnamed(sql: Pool, wanted: Omit<NewGateway, 'name'>, rules: SettingRules): Promise<Gateway> {
  const plain = `${wanted.connector}-${wanted.channelType.toLowerCase()}`
  for (let count = 1; ; count += 1) {
    const added = await addGateway(sql, { ...wanted, name: count === 1 ? plain : `${plain}-${count}` }, rules)
    if (added) return added
  }
}

export async function setOne(call: Call) {
  const { name, brands, rate, companies } = call.options
  if ([name, brands, rate, companies, call.lists.set].every(given => given === undefined)) {
    throw new UsageError('There is nothing to change: give --brands, --rate, --companies, --name or --set.')
  }
  const settings = await settingsIn(call)
  await changeOne(
    call,
    'gateway.changed',
    ({ connector }) => changeIn(call, settings, connector),
    changed => `Gateway ${printable(changed.name)} was changed.`,
  )
}

export const pauseOne = (call: Call) =>
  changeOne(
    call,
    'gateway.paused',
    () => ({ paused: true }),
    ({ name }) => `Gateway ${name} is paused.`,
  )

export function drainOne(call: Call) {
  const { hours = '' } = call.options
  if (!/^[1-9]\d?$/.test(hours) || Number(hours) > MOST_DRAIN_HOURS) {
    throw new UsageError(`--hours must be from 1 to ${MOST_DRAIN_HOURS}, not "${hours}".`)
  }
  return changeOne(
    call,
    'gateway.drain_started',
    () => drain(Number(hours), new Date()),
    ({ name, drainUntil }) =>
      `Gateway ${printable(name)} takes nothing new, and has until ${drainUntil?.toISOString()} to report what it has.`,
  )
}

export const resumeOne = (call: Call) =>
  changeOne(
    call,
    'gateway.resumed',
    () => ({ paused: false }),
    ({ name }) => `Gateway ${name} is at work again.`,
  )

const changeOne = (
  call: Call,
  what: AuditAction,
  changeOf: (gateway: Gateway) => GatewayChange,
  sentence: (changed: Gateway) => string,
) =>
  onGateway(call, async ({ sql, secret }, gateway) => {
    const rules = settingRulesOf(secret, gateway.connector)
    const change = changeOf(gateway)
    await requireCompanies(sql, change.companies ?? [])
    const changed = await recorded(sql, async (tx, record) => {
      const after = await changeGateway(tx, gateway.gatewayId, change, rules)
      const settings = change.settings && { settings: Object.keys(change.settings) }
      const fields = { before: gatewayFields(gateway), after: { ...gatewayFields(after), ...settings } }
      await record({ what, subject: gatewaySubject(after), ...fields })
      return after
    })
    const behind = await whileWaiting(call, waitForEngines(sql, changed))
    call.print({ ...present(changed, call.config), enginesBehind: behind }, `${sentence(changed)}${behindNote(behind)}`)
  })

export const removeOne = (call: Call) =>
  onGateway(call, async ({ sql }, gateway) => {
    const { gatewayId, name } = gateway
    await recorded(sql, async (tx, record) => {
      await removeGateway(tx, gatewayId)
      await record({ what: 'gateway.removed', subject: gatewaySubject(gateway), before: gatewayFields(gateway) })
    })
    const behind = await whileWaiting(call, waitForRelease(sql, gatewayId))
    call.print({ gatewayId, name, enginesBehind: behind }, `Gateway ${name} was removed.${behindNote(behind)}`)
  })

async function whileWaiting(call: Call, engines: Promise<number>): Promise<number> {
  call.progress('Waiting for the engines…')
  try {
    return await engines
  } finally {
    call.progress('')
  }
}

/** For example because an engine was killed a moment ago, or is cut off from the database. */
function behindNote(engines: number): string {
  if (engines === 0) return ''
  return engines === 1 ? ' 1 engine does not use the change yet.' : ` ${engines} engines do not use the change yet.`
}

/** A refused message makes the command fail, because scripts check its exit code. */
export async function testOne(call: Call) {
  const trial = readTrial(call)
  await onGateway(call, async (database, gateway) => {
    const { to, sender } = trial
    await recorded(database.sql, (_, record) =>
      record({ what: 'gateway.tested', subject: gatewaySubject(gateway), after: { to, sender } }),
    )
    const outcome = await tryGateway(database, gateway, trial)
    call.print(presentTrial(gateway, outcome), trialInWords(gateway, outcome))
    if (outcome.result?.kind !== 'accepted') process.exitCode = 1
  })
}

async function onGateway(call: Call, work: (database: Database, found: Gateway) => Promise<void>) {
  const called = textOption(call, 'gateway')
  await withDatabase(call.config, async database => {
    const found = await orAdvise(noGateway(called), requireGateway(database.sql, called))
    await work(database, found)
  })
}

const settingsIn = (call: Call): Promise<Setting[]> => readSettings(call.lists.set ?? [])

function changeIn(call: Call, settings: Setting[], connector: string): GatewayChange {
  const { name, brands, companies } = call.options
  const rate = rateOption(call)
  return {
    ...(name === undefined ? {} : { name }),
    ...(brands === undefined ? {} : { brands: readBrands(brands) }),
    ...(companies === undefined ? {} : { companies: readCompanies(companies) }),
    ...changeBySettings(settings, secretsOf(connector)),
    ...(rate === undefined ? {} : { partsPerSecond: rate }),
  }
}

function readBrands(text: string): number[] {
  if (text.toLowerCase() === 'any') return []
  const names = text.split(',').map(name => name.trim().toUpperCase())
  const wrong = names.find(name => !brandNames.includes(name))
  if (wrong !== undefined) {
    throw new UsageError(`--brands must be any, or some of ${brandNames.join(',')}, not "${wrong}".`)
  }
  return [...new Set(names)].map(name =>
    name === OTHER_BRANDS ? OTHER_BRAND_ID : brandIds[name as keyof typeof brandIds],
  )
}

function readCompanies(text: string): number[] {
  if (text.toLowerCase() === 'none') return []
  const ids = text.split(',').map(id => id.trim())
  const wrong = ids.find(id => !/^[1-9]\d{0,15}$/.test(id))
  if (wrong !== undefined) throw new UsageError(`--companies must be none, or ids such as 1,2, not "${wrong}".`)
  return [...new Set(ids.map(Number))]
}

async function requireCompanies(sql: Pool, companies: number[]) {
  for (const companyId of companies) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
}

/** Without its settings: an address among them may tell more than it should. */
const present = (g: Gateway, config: Config) => ({
  gatewayId: g.gatewayId,
  name: g.name,
  channel: g.channelType,
  connector: g.connector,
  brands: brandNamesOf(g),
  companies: g.companies,
  rate: g.partsPerSecond,
  paused: g.paused,
  drainUntil: g.drainUntil?.toISOString() ?? null,
  ...(hasWebhook(g) ? { webhook: webhookOf(g, config) } : {}),
})

const hasWebhook = ({ connector }: Gateway) => isConnector(connector) && catalogue[connector].hasWebhook
/** In full where the service's own address is known. */
const webhookOf = ({ gatewayId }: Gateway, { publicUrl = '' }: Config) => `${publicUrl}/webhooks/${gatewayId}`

const webhookNote = (gateway: Gateway, config: Config) =>
  hasWebhook(gateway) ? ` Its webhooks come to ${webhookOf(gateway, config)}.` : ''

/** Over all engines; without one, nothing is up. */
const presentState = (state: GatewayState | undefined) => ({
  up: state?.up ?? false,
  bound: state?.bound ?? 0,
  wanted: state?.wanted ?? 0,
  open: state?.open ?? 0,
  window: state?.window ?? 0,
  rate: state ? partsPerSecondOf(state) : 0,
  lastError: state?.lastError ?? null,
  lastErrorAt: state?.lastErrorAt?.toISOString() ?? null,
})

type Listed = { gateway: Gateway; state: GatewayState | undefined; outstanding: number }

const tableOf = (listed: Listed[], config: Config) =>
  table(
    ['ID', 'CHANNEL', 'CONNECTOR', 'BRANDS', 'RATE', 'NAME', 'WEBHOOK', 'STATE'],
    listed.map(({ gateway: g, ...how }) => [
      g.gatewayId,
      g.channelType,
      g.connector,
      brandNamesOf(g).join(',') || 'any',
      g.partsPerSecond,
      g.name,
      hasWebhook(g) ? webhookOf(g, config) : null,
      inWords(g, how),
    ]),
  )

function inWords(gateway: Gateway, { state, outstanding }: Omit<Listed, 'gateway'>): string {
  if (gateway.drainUntil) return drainInWords(gateway, outstanding + (state?.open ?? 0))
  if (gateway.paused) return 'paused'
  if (!state) return 'no engine is running'
  const binds = state.wanted > 0 ? `, ${state.bound} of ${state.wanted} binds` : ''
  if (state.up) return `at work${binds}, ${partsPerSecondOf(state)} parts/s`
  return `down${binds}${state.lastError ? `: ${state.lastError}` : ''}`
}

/** Receipts are counted by engines, and a killed one loses what it counted last. */
const drainInWords = (gateway: Gateway, outstanding: number) =>
  isDrained(gateway, outstanding, new Date())
    ? 'drained'
    : `draining until ${gateway.drainUntil?.toISOString()}, about ${outstanding} receipts outstanding`
