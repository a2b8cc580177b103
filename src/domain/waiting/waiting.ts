import type { ChannelType } from '../../base/channel-types.ts'
import type { WaitingShare } from '../../base/time/sending-end.ts'
import { nextOpening } from '../../base/time/sending-window.ts'
import type { Sql } from '../../db/sql.ts'
import { isEngineAtWork } from '../engines/engines.ts'
import type { Gateway, GatewayState } from '../gateways/gateway.ts'
import { listGateways } from '../gateways/gateways.ts'
import { gatewayStates } from '../gateways/states.ts'
import { type WaitingLane, windowOf } from '../lanes/lane.ts'
import { waitingLanes } from '../lanes/lanes.ts'

/** Something that a started dispatch waits for. */
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

/** What a started dispatch waits for, the reason that stops most first; nothing when it simply takes its time. */
export async function reasonsToWait(sql: Sql, dispatch: Started, now: Date): Promise<WaitReason[]> {
  const lanes = dispatch.waiting > 0 ? await waitingLanes(sql, dispatch.companyId, dispatch.dispatchId) : []
  const reasons = await reasonsOfLanes(sql, lanes, now)
  if (dispatch.awaitingReceipt > 0) reasons.push({ kind: 'receipts', messages: dispatch.awaitingReceipt })
  return reasons
}

/** How many messages of a started dispatch wait for which hours. */
export async function waitingByWindow(sql: Sql, companyId: number, dispatchId: number): Promise<WaitingShare[]> {
  const lanes = await waitingLanes(sql, companyId, dispatchId)
  const alike = Map.groupBy(lanes, lane => JSON.stringify(windowOf(lane)))
  return [...alike.values()].map(same => ({
    messages: same.reduce((sum, { waiting }) => sum + waiting, 0),
    window: windowOf(same[0]!),
  }))
}

/** What lanes with messages wait for. */
export async function reasonsOfLanes(sql: Sql, lanes: WaitingLane[], now: Date): Promise<WaitReason[]> {
  const [hasEngine, gateways, states] = await Promise.all([isEngineAtWork(sql), listGateways(sql), gatewayStates(sql)])
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

/** Names that are suspended or under review again. Of a closed or denied name messages fail and do not wait. */
function senderReasons(lanes: WaitingLane[]): WaitReason[] {
  const waiting = lanes.filter(
    lane => lane.isSuspended || !['APPROVED', 'CLOSED', 'DENIED'].includes(lane.senderStatus),
  )
  const statuses = new Map(waiting.map(lane => [lane.senderName, lane.isSuspended ? 'suspended' : lane.senderStatus]))
  return [...statuses].map(([senderName, status]) => ({ kind: 'sender', senderName, status }))
}

/** When the first of the lanes opens, if none is open now. */
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

/** Gateways that lanes depend on, where all that could serve a lane are paused or down. */
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

/** The tightest limit that holds for any of the lanes. */
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

/** Gateways share the work: together they take the sum of their rates, and any amount when one has no limit. */
function gatewayLimit({ channelType, brandId }: WaitingLane, all: Gateway[]): Limit[] {
  const serving = all.filter(gateway => !gateway.paused && serves(gateway, channelType, brandId))
  const rates = serving.map(({ partsPerSecond }) => partsPerSecond)
  if (rates.length === 0 || rates.includes(null)) return []
  const partsPerSecond = rates.reduce((sum: number, rate) => sum + rate!, 0)
  return [{ kind: 'limit', of: 'gateway', name: serving.map(({ name }) => name).join(', '), partsPerSecond }]
}
