import { allChannelTypes, type ChannelType } from '../../base/channel-types.ts'
import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import type { Gateway, GatewayChange, Keeping, NewGateway, SimulatedInbound } from './gateway.ts'
import { outstandingOf } from './minutes.ts'
import { forgetReceiptIds } from './receipt-ids.ts'
import { keep, keepChanged } from './secrets.ts'
import * as store from './store.ts'

export { keepSimulated, listGateways, simulatorOutbox, unreportedSimulated } from './store.ts'

export async function findGateway(sql: Sql, gatewayId: number): Promise<Gateway | undefined> {
  const [found] = await store.selectGateway(sql, gatewayId)
  return found
}

/** Nothing when there is one of that name already. Without `keeping`, as for simulated operators, nothing is secret. */
export async function addGateway(sql: Sql, gateway: NewGateway, keeping?: Keeping): Promise<Gateway | undefined> {
  const kept = keeping ? keep(keeping, gateway.settings) : { settings: gateway.settings, sealed: null }
  const [added] = await store.insertGateway(sql, { ...gateway, ...kept })
  if (added) await store.notifyGateways(sql)
  return added
}

/** By its id, or by its name. */
export async function requireGateway(sql: Sql, called: string): Promise<Gateway> {
  const gateways = await store.listGateways(sql)
  const found =
    gateways.find(({ name }) => name === called) ?? gateways.find(({ gatewayId }) => String(gatewayId) === called)
  if (!found) throw notFound('Gateway')
  return found
}

/** Engines follow at once, see `waitForEngines`. Settings are checked as they would be afterwards, all of them. */
export const changeGateway = async (
  pool: Pool,
  gatewayId: number,
  change: GatewayChange,
  keeping: Keeping,
): Promise<Gateway> => (await pool.begin(sql => changeGatewayIn(sql, gatewayId, change, keeping))).after

/**
 * The same within a transaction. Returns the gateway before the change, too. `version` is the version that the person saw: a
 * gateway with a newer version is not changed.
 */
export async function changeGatewayIn(
  sql: Transaction,
  gatewayId: number,
  change: GatewayChange,
  keeping: Keeping,
  version?: number,
): Promise<{ before: Gateway; after: Gateway }> {
  const [before] = await store.lockGateway(sql, gatewayId)
  if (!before) throw notFound('Gateway')
  if (version !== undefined && version !== before.version) throw invalid(CHANGED_MEANWHILE)
  await refuseTakenName(sql, gatewayId, change.name)
  const kept = change.settings && keepChanged(keeping, before, change.settings)
  const [after] = await store.updateGateway(sql, gatewayId, change, kept)
  if (kept && leadsElsewhere(before, kept)) await forgetReceiptIds(sql, gatewayId)
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

/** What it has not reported by then stays SENT until the end of its lifetime. */
export async function removeGateway(sql: Sql, gatewayId: number): Promise<void> {
  const { count } = await store.deleteGateway(sql, gatewayId)
  if (count === 0) throw notFound('Gateway')
  await store.notifyGateways(sql)
}

/**
 * Removes a gateway of which no receipts are to come, or whose drain has had its time. Others are drained first: what an
 * operator has not reported stays SENT until the end of its lifetime.
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

/** Simulated operators for every channel: only in demo mode, or where someone adds one by hand. */
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

const NEWEST_HANDED = 5000

/** What the simulated operators got of a message that was handed to them a moment ago. */
export async function handedMessage(sql: Sql, companyId: number, uuid: string) {
  const [handed] = await store.selectHanded(sql, companyId, uuid, NEWEST_HANDED)
  return handed
}

export const trimOutbox = (sql: Sql) => store.trimSimulated(sql, OUTBOX_SIZE)

/** Lets a subscriber write: a simulated operator of the channel takes it up within a second. */
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
 * Hands over what subscribers wrote, each once it was told of: what a crash interrupts is told again. Of several
 * operators of a channel, and of several engines, one gets it.
 */
export async function takeSimulatedInbound(
  pool: Pool,
  channelType: ChannelType,
  tell: (message: SimulatedInbound) => Promise<void>,
): Promise<void> {
  const [any] = await store.selectAnyInbound(pool, channelType)
  if (!any) return
  await pool.begin(async sql => {
    for (const { inboundId, ...message } of await store.lockInbound(sql, channelType)) {
      await tell({ ...message, providerId: `simulated-${inboundId}` })
      await store.deleteInbound(sql, inboundId)
    }
  })
}
