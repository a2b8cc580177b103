import type { ChannelType } from '../../base/channel-types.ts'
import type { WaitingShare } from '../../base/time/sending-end.ts'
import { nextOpening } from '../../base/time/sending-window.ts'
import type { Sql } from '../../db/sql.ts'
import { isEngineRunning } from '../engines/engines.ts'
import type { Gateway, GatewayState } from '../gateways/gateway.ts'
import { listGateways } from '../gateways/gateways.ts'
import { gatewayStates } from '../gateways/monitoring/states.ts'
import { type WaitingLane, windowOf } from '../lanes/lane.ts'
import { waitingLanes } from '../lanes/lanes.ts'

/** A reason why a STARTED dispatch waits. */
export type WaitReason =
  | { kind: 'engine' }
  | { kind: 'company' }
  | { kind: 'sender'; senderName: string; status: string }
  | { kind: 'window'; until: Date }
  | {
      kind: 'gateways'
      channelType: ChannelType
      gateways: { name: string; paused: boolean; lastError: string | null }[]
    }
  | { kind: 'limit'; of: 'company' | 'sender' | 'dispatch' | 'gateway'; name: string | null; partsPerSecond: number }
  | { kind: 'receipts'; messages: number }

type Started = { companyId: number; dispatchId: number; waiting: number; awaitingReceipt: number }

/** The reasons why a STARTED dispatch waits, the most serious first. Empty if it is being sent normally. */
export async function reasonsToWait(sql: Sql, dispatch: Started, now: Date): Promise<WaitReason[]> {
  const lanes = dispatch.waiting > 0 ? await waitingLanes(sql, dispatch.companyId, dispatch.dispatchId) : []
  const reasons = await reasonsOfLanes(sql, lanes, now)
  if (dispatch.awaitingReceipt > 0) reasons.push({ kind: 'receipts', messages: dispatch.awaitingReceipt })
  return reasons
}

/** The number of waiting messages of a STARTED dispatch by sending window. */
export async function waitingByWindow(sql: Sql, companyId: number, dispatchId: number): Promise<WaitingShare[]> {
  const lanes = await waitingLanes(sql, companyId, dispatchId)
  const alike = Map.groupBy(lanes, lane => JSON.stringify(windowOf(lane)))
  return [...alike.values()].map(same => ({
    messages: same.reduce((sum, { waiting }) => sum + waiting, 0),
    window: same[0] && windowOf(same[0]),
  }))
}

/** The reasons why these lanes wait. */
export async function reasonsOfLanes(sql: Sql, lanes: WaitingLane[], now: Date): Promise<WaitReason[]> {
  const [hasEngine, gateways, states] = await Promise.all([isEngineRunning(sql), listGateways(sql), gatewayStates(sql)])
  return [
    ...(hasEngine ? [] : [{ kind: 'engine' } as const]),
    ...companyReason(lanes),
    ...senderReasons(lanes),
    ...windowReason(lanes, now),
    ...(hasEngine ? gatewayReasons(lanes, gateways, states) : []),
    ...limitReason(lanes, gateways),
  ]
}

const companyReason = (lanes: WaitingLane[]): WaitReason[] =>
  lanes.some(({ isCompanyActive }) => !isCompanyActive) ? [{ kind: 'company' }] : []

/** Sender names that are suspended or under review again. Messages of a closed or denied name fail and do not wait. */
function senderReasons(lanes: WaitingLane[]): WaitReason[] {
  const waiting = lanes.filter(
    lane => lane.isSuspended || !['APPROVED', 'CLOSED', 'DENIED'].includes(lane.senderStatus),
  )
  const statuses = new Map(waiting.map(lane => [lane.senderName, lane.isSuspended ? 'suspended' : lane.senderStatus]))
  return [...statuses].map(([senderName, status]) => ({ kind: 'sender', senderName, status }))
}

/** The earliest time at which a lane may send, if none may send now. */
function windowReason(lanes: WaitingLane[], now: Date): WaitReason[] {
  const openings = lanes.map(lane => openingOf(lane, now))
  if (openings.length === 0 || openings.some(opening => opening <= now)) return []
  const until = new Date(Math.min(...openings.map(opening => opening.getTime())))
  return [{ kind: 'window', until }]
}

function openingOf(lane: WaitingLane, now: Date): Date {
  const window = windowOf(lane)
  return (window && nextOpening(window, now)) ?? now
}

/** The gateways of lanes whose gateways are all paused or down. */
function gatewayReasons(lanes: WaitingLane[], all: Gateway[], states: Map<number, GatewayState>): WaitReason[] {
  const stuck = new Map<number, Gateway>()
  for (const { channelType, brandId } of lanes) {
    const serving = all.filter(gateway => serves(gateway, channelType, brandId))
    const isUp = ({ paused, gatewayId }: Gateway) => !paused && states.get(gatewayId)?.up === true
    if (!serving.some(isUp)) for (const gateway of serving) stuck.set(gateway.gatewayId, gateway)
  }
  const channels = Map.groupBy(stuck.values(), ({ channelType }) => channelType)
  return [...channels].map(([channelType, gateways]) => ({
    kind: 'gateways',
    channelType,
    gateways: gateways.map(({ gatewayId, name, paused }) => ({
      name,
      paused,
      lastError: states.get(gatewayId)?.lastError ?? null,
    })),
  }))
}

const serves = ({ channelType, brands }: Gateway, channel: ChannelType, brandId: number) =>
  channelType === channel && (brands.length === 0 || brands.includes(brandId))

/** The lowest limit of all lanes. */
function limitReason(lanes: WaitingLane[], all: Gateway[]): WaitReason[] {
  const limits = lanes.flatMap(lane => limitsOf(lane, all))
  const [tightest] = limits.sort((a, b) => a.partsPerSecond - b.partsPerSecond)
  return tightest ? [tightest] : []
}

type Limit = Extract<WaitReason, { kind: 'limit' }>

function limitsOf(lane: WaitingLane, all: Gateway[]): Limit[] {
  const limit = (of: Limit['of'], name: string | null, partsPerSecond: number | null): Limit[] =>
    partsPerSecond === null ? [] : [{ kind: 'limit', of, name, partsPerSecond }]
  return [
    ...limit('company', null, lane.companyRate),
    ...limit('sender', lane.senderName, lane.senderRate),
    ...limit('dispatch', null, lane.dispatchRate),
    ...gatewayLimit(lane, all),
  ]
}

/** Gateways share the messages. Their limits add up, and there is no limit if one gateway has none. */
function gatewayLimit({ channelType, brandId }: WaitingLane, all: Gateway[]): Limit[] {
  const serving = all.filter(gateway => !gateway.paused && serves(gateway, channelType, brandId))
  const rates = serving.map(({ partsPerSecond }) => partsPerSecond)
  if (rates.length === 0 || rates.includes(null)) return []
  const partsPerSecond = rates.reduce((sum: number, rate) => sum + (rate ?? 0), 0)
  return [{ kind: 'limit', of: 'gateway', name: serving.map(({ name }) => name).join(', '), partsPerSecond }]
}
