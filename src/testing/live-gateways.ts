import type { Channel } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import type { Gateway } from '../domain/gateways/gateway.ts'
import type { PagedLane } from '../domain/lanes/lane.ts'
import { lanesInTurn } from '../domain/lanes/lanes.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'
import type { LiveGateway } from '../engine/gateways/gateways.ts'
import { MeteredChannel } from '../engine/gateways/meter.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from './world.ts'

const idle: Channel = { window: 100, health: () => ({ up: true }), async stop() {}, async submit() {} }

/** A connected gateway that is in no table. Its channel accepts messages and does nothing, unless the test gives another. */
export function aLiveGateway(gatewayId: number, given: Partial<LiveGateway> = {}, channel = idle): LiveGateway {
  const gateway: Gateway = {
    gatewayId,
    name: `gateway ${gatewayId}`,
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: {},
    sealed: null,
    partsPerSecond: null,
    paused: false,
    pausedAt: null,
    drainUntil: null,
    companies: [],
    version: 1,
  }
  return { gateway, channel: new MeteredChannel(channel), busy: 0, ...given }
}

/** A started dispatch with this number of messages in each of its four lanes, and its first lane. */
export async function aStartedDispatch(
  sql: Pool,
  numbering: Numbering,
  messages = 5,
): Promise<{ world: World; dispatchId: number; lane: PagedLane }> {
  const world = await aWorld(sql)
  const dispatchId = await aDispatch(sql, numbering, world, someRecipients(4 * messages))
  await start(sql, world, dispatchId)
  const [row] = await sql<
    { priority: number }[]
  >`select priority from lanes where company_id = ${world.companyId} limit 1`
  const queue = { companyId: world.companyId, channelType: 'SMS' as const }
  const [lane] = await lanesInTurn(sql, row?.priority ?? 0, new Date(), [queue], 1)
  if (!lane) throw new Error('The dispatch has no lane')
  return { world, dispatchId, lane }
}
