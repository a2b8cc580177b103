import { allChannelTypes, type ChannelType } from '../../base/channel-types.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { byCompany } from '../../db/by-company.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { forgetReceiptIds } from './binds/receipt-ids.ts'
import type { Gateway, GatewayChange, NewGateway, SettingRules, SimulatedInbound } from './gateway.ts'
import { outstandingOf } from './monitoring/minutes.ts'
import { sealChangedSettings, sealSettings } from './secrets.ts'
import * as store from './store.ts'

export { listGateways, simulatorOutbox, storeSimulated } from './store.ts'

const MOST_UNREPORTED = 10_000

/**
 * Messages of this age that a simulated operator took through other engines and that are still SENT: the engine that took
 * them has ended without a report.
 */
export async function unreportedSimulated(sql: Sql, gatewayId: number, worker: string, age: store.Age) {
  const taken = await store.selectSimulatedOfOthers(sql, gatewayId, worker, age)
  return byCompany(taken, async (companyId, own) => {
    const uuids = own.map(({ uuid }) => uuid)
    const sent = new Set((await store.selectSent(sql, companyId, uuids)).map(({ uuid }) => uuid))
    return own.filter(({ uuid }) => sent.has(uuid)).slice(0, MOST_UNREPORTED)
  })
}

export async function findGateway(sql: Sql, gatewayId: number): Promise<Gateway | undefined> {
  const [found] = await store.selectGateway(sql, gatewayId)
  return found
}

/** Returns undefined if the name is taken. Without `rules`, as for simulated operators, no setting is secret. */
export async function addGateway(sql: Sql, gateway: NewGateway, rules?: SettingRules): Promise<Gateway | undefined> {
  const stored = rules ? sealSettings(rules, gateway.settings) : { settings: gateway.settings, sealed: null }
  const [added] = await store.insertGateway(sql, { ...gateway, ...stored })
  if (added) await store.notifyGateways(sql)
  return added
}

/** Finds a gateway by its id or its name. */
export async function requireGateway(sql: Sql, called: string): Promise<Gateway> {
  const gateways = await store.listGateways(sql)
  const found =
    gateways.find(({ name }) => name === called) ?? gateways.find(({ gatewayId }) => String(gatewayId) === called)
  if (!found) throw notFound('Gateway')
  return found
}

/** Changes a gateway. All settings are checked as they are after the change. `waitForEngines` waits until all engines use it. */
export const changeGateway = async (
  pool: Pool,
  gatewayId: number,
  change: GatewayChange,
  rules: SettingRules,
): Promise<Gateway> => (await pool.begin(sql => changeGatewayIn(sql, gatewayId, change, rules))).after

/**
 * The same within a transaction. Returns the gateway before the change, too. `version` is the version that the person saw: a
 * gateway with a newer version is not changed.
 */
export async function changeGatewayIn(
  sql: Transaction,
  gatewayId: number,
  change: GatewayChange,
  rules: SettingRules,
  version?: number,
): Promise<{ before: Gateway; after: Gateway }> {
  const [before] = await store.lockGateway(sql, gatewayId)
  if (!before) throw notFound('Gateway')
  if (version !== undefined && version !== before.version) throw invalid(CHANGED_MEANWHILE)
  await refuseTakenName(sql, gatewayId, change.name)
  const stored = change.settings && sealChangedSettings(rules, before, change.settings)
  const [after] = await store.updateGateway(sql, gatewayId, change, stored)
  if (stored && leadsElsewhere(before, stored)) await forgetReceiptIds(sql, gatewayId)
  await store.notifyGateways(sql)
  return { before, after: after! }
}

const CHANGED_MEANWHILE = 'Somebody changed this gateway meanwhile: load it again, and make your change anew'

/** Another SMSC, or another account of it, may write its ids in another way. */
const leadsElsewhere = (
  { settings: before }: Pick<Gateway, 'settings'>,
  { settings: after }: Pick<Gateway, 'settings'>,
) => ['host', 'port', 'systemId'].some(name => before[name] !== after[name])

async function refuseTakenName(sql: Sql, gatewayId: number, wanted: string | undefined) {
  const taken = wanted !== undefined && (await store.listGateways(sql)).find(({ name }) => name === wanted)
  if (taken && taken.gatewayId !== gatewayId) throw invalid(`A gateway with the name "${taken.name}" exists already`)
}

/** Messages without a receipt stay SENT until the end of their lifetime. */
export async function removeGateway(sql: Sql, gatewayId: number): Promise<void> {
  const { count } = await store.deleteGateway(sql, gatewayId)
  if (count === 0) throw notFound('Gateway')
  await store.notifyGateways(sql)
}

/**
 * Removes a gateway that expects no receipts, or whose drain is over. Other gateways must be drained first, because
 * messages without a receipt stay SENT until the end of their lifetime.
 */
export async function removeDrained(sql: Transaction, gatewayId: number, now: Date): Promise<Gateway> {
  const [gateway] = await store.lockGateway(sql, gatewayId)
  if (!gateway) throw notFound('Gateway')
  const isOver = gateway.drainUntil !== null && gateway.drainUntil <= now
  const outstanding = isOver ? 0 : await outstandingOf(sql, gatewayId)
  if (outstanding > 0) throw invalid(`About ${outstanding} receipts of this gateway are outstanding: drain it first`)
  await removeGateway(sql, gatewayId)
  return gateway
}

/** Adds a simulated operator for every channel, in demo mode. */
export async function addSimulators(sql: Sql): Promise<void> {
  for (const channelType of allChannelTypes) {
    await addGateway(sql, {
      name: `simulator-${channelType.toLowerCase()}`,
      channelType,
      connector: 'simulator',
      brands: [],
      settings: {},
      partsPerSecond: null,
    })
  }
}

const OUTBOX_SIZE = 100_000

/** A batch has a code, or many messages of a dispatch. */
const NEWEST_SEARCHED = 5000

/** A message that the simulated operators received lately, as they received it. */
export async function simulatedMessage(sql: Sql, companyId: number, uuid: string) {
  const [message] = await store.selectSimulated(sql, companyId, uuid, NEWEST_SEARCHED)
  return message
}

export const trimOutbox = (sql: Sql) => store.trimSimulated(sql, OUTBOX_SIZE)

/** Stores a message of a subscriber. A simulated operator of the channel receives it within a second. */
export async function writeSimulatedInbound(
  sql: Sql,
  channelType: ChannelType,
  message: Pick<SimulatedInbound, 'from' | 'to' | 'text'>,
): Promise<void> {
  const isSimulated = (gateway: Gateway) => gateway.connector === 'simulator' && gateway.channelType === channelType
  if (!(await store.listGateways(sql)).some(isSimulated)) {
    throw invalid(`There is no simulated operator for ${channelType}`)
  }
  await store.insertInbound(sql, channelType, message)
}

/**
 * Reports the messages that subscribers wrote, and deletes each after its report. After a crash a message may be reported
 * again. Of several operators of a channel, and of several engines, only one gets a message.
 */
export async function takeSimulatedInbound(
  pool: Pool,
  channelType: ChannelType,
  report: (message: SimulatedInbound) => Promise<void>,
): Promise<void> {
  const [any] = await store.selectAnyInbound(pool, channelType)
  if (!any) return
  await pool.begin(async sql => {
    for (const { inboundId, ...message } of await store.lockInbound(sql, channelType)) {
      await report({ ...message, providerId: `simulated-${inboundId}` })
      await store.deleteInbound(sql, inboundId)
    }
  })
}
