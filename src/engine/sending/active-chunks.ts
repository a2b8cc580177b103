import { closesAt } from '../../base/sending-window.ts'
import {
  isShared,
  LEASE_SECONDS,
  type Lease,
  type Left,
  type RunnableLane,
  runsOf,
  windowOf,
} from '../../domain/lanes/lane.ts'
import { heldLanes, renewLeases } from '../../domain/lanes/lanes.ts'
import { queuedMessages } from '../../domain/messages/messages.ts'
import { closeLease } from '../../domain/sending/leases.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import type { Allowance, Allowances } from './allowances.ts'
import { type Attempt, type Hand, type SenderContext, sendMessages } from './sender.ts'

export type HandsContext = SenderContext & {
  billingZone: string
  worker: string
  allowances: Allowances
  gateways: Gateways
  /** Then nothing more is handed over. */
  isStopping(): boolean
  /** There may be room for another chunk. */
  wakeUp(): void
}

/** The most that is handed over of a chunk between two looks at what has changed. */
const SLICE = 500
/** A slice that is under way for longer is looked through again for what is no longer wanted. */
const LONG_SLICE_MS = 500
/** A worker stops submitting this long before its lease could be taken by another. */
const SAFETY_MS = 2000
/** What a message that is longer than what its limits had to give waits for more. */
const TOO_LONG_MS = 200
/** How soon to look again for the gateway that carries a name. */
const CARRIER_AWAY_MS = 1000

type Held = Hand & { lease: Lease; until: number; held: boolean }

/** A way out and what may go there; none for messages that are only to be refused. */
export type WayOut = { gateway: LiveGateway | undefined; allowance: Allowance; mostMessages: number }

/** The chunks under way in this process: each is brought out as long as its lease is ours and its lane is not held. */
export function createHands(context: HandsContext) {
  const { sql, clock, worker, allowances, gateways, isStopping, wakeUp } = context
  const hands = new Map<string, Held>()

  /** Brings a chunk out that was leased when we `asked`; what is left of it is given back. */
  async function workOff(lane: RunnableLane, lease: Lease, way: WayOut, asked: number) {
    const hand = handOf(lane, lease, way.gateway, asked)
    const { gateway, allowance, mostMessages } = way
    hands.set(lease.token, hand)
    if (gateway) gateway.busy += 1
    let isFree = false
    const letGo = async () => {
      if (isFree) return
      isFree = true
      if (gateway) gateway.busy -= 1
      wakeUp()
      await allowances.giveBack(allowance, allowance.parts - hand.handedParts)
    }
    try {
      const read = await attemptsOf(lane, lease, mostMessages)
      const { messages, elsewhere } = byRoute(lane, read, gateway)
      const count = await allowances.fittingCount(messages, allowance)
      const over =
        elsewhere.length === 0
          ? overOf(lease, messages, count, mostMessages)
          : [...elsewhere, ...eachOf(messages.slice(count)), ...overOf(lease, read, read.length, mostMessages)]
      const began = performance.now()
      const { recorded, left } = await sendMessages(context, lane, messages.slice(0, count), gateway, hand)
      if (gateway) gateway.partsPerSecond = (hand.handedParts * 1000) / Math.max(1, performance.now() - began)
      await letGo() // for the next chunk, while this one is written down
      await recorded
      await closeLease(sql, lease, runsOf([...left, ...over]), { billingZone: context.billingZone, now: clock() })
    } finally {
      hands.delete(lease.token)
      await letGo()
    }
  }

  /**
   * The lease is ours from when we asked for it, not from when we heard of it: we may have been frozen in between.
   * Looked at before every message, so that a stop, a pause or the end of the window acts inside a chunk.
   */
  function handOf(lane: RunnableLane, lease: Lease, gateway: LiveGateway | undefined, asked: number): Held {
    const window = windowOf(lane)
    const closing = window ? closesAt(window, clock()) : undefined
    const hand: Held = {
      lease,
      until: asked + LEASE_SECONDS * 1000,
      held: false,
      handedParts: 0,
      sliceSize: aSecondOf(gateway, SLICE),
      mayGo: () =>
        !isStopping() &&
        !hand.held &&
        performance.now() < hand.until - SAFETY_MS &&
        (!gateway || (!gateway.gateway.paused && (!closing || clock() < closing))),
    }
    return hand
  }

  async function attemptsOf(lane: RunnableLane, lease: Lease, most: number): Promise<Attempt[]> {
    const queued = await queuedMessages(sql, { ...lease, most }, lane)
    const before = { attempts: lease.attempts, ...(lane.gatewayId ? { gatewayId: lane.gatewayId } : {}) }
    return queued.map(message => ({ ...message, ...before }))
  }

  /**
   * Messages of a shared lane whose name a gateway has begun to carry since they were accepted are put aside for that
   * gateway: no other takes them.
   */
  function byRoute(lane: RunnableLane, read: Attempt[], gateway: LiveGateway | undefined) {
    if (!isShared(lane)) return { messages: read, elsewhere: [] }
    const messages: Attempt[] = []
    const elsewhere: Left[] = []
    // Put aside before and here again: its gateway is paused or gone.
    const dueAt = lane.leaseId ? new Date(clock().getTime() + CARRIER_AWAY_MS) : clock()
    for (const message of read) {
      const carriers = gateways.carriersOf(lane.channelType, lane.brandId, message.senderName ?? '')
      const isOurs = carriers.size === 0 || (gateway && carriers.has(gateway.gateway.gatewayId))
      if (isOurs) messages.push(message)
      else elsewhere.push(leftAt(dueAt, message, [...carriers][0]))
    }
    return { messages, elsewhere }
  }

  const eachOf = (messages: Attempt[]): Left[] => messages.map(message => leftAt(clock(), message, message.gatewayId))

  const leftAt = (dueAt: Date, { seq, attempts }: Attempt, gatewayId: number | undefined): Left => ({
    seq,
    attempts,
    dueAt,
    ...(gatewayId ? { gatewayId } : {}),
  })

  /** What of a lease may not go this time, all the places behind what was read included: its first and last place. */
  function overOf(lease: Lease, messages: Attempt[], count: number, most: number): Left[] {
    const isReadThrough = messages.length < most
    if (isReadThrough && count === messages.length) return []
    const dueAt = count === 0 ? new Date(clock().getTime() + TOO_LONG_MS) : clock()
    const last = messages.at(-1)!
    const from = messages[count]?.seq ?? last.seq + 1
    const to = isReadThrough ? last.seq : lease.nextSeq - 1
    const { attempts, gatewayId } = last
    const places = from > to ? [] : [from, to]
    return places.map(seq => ({ seq, attempts, dueAt, ...(gatewayId ? { gatewayId } : {}) }))
  }

  async function renew() {
    if (hands.size === 0) return
    const asked = performance.now()
    const mine = [...hands] // who comes while we ask is not in the answer
    const ours = await renewLeases(
      sql,
      worker,
      mine.map(([token]) => token),
    )
    for (const [token, hand] of mine) {
      if (ours.has(token)) hand.until = asked + LEASE_SECONDS * 1000
      else hand.held = true
    }
  }

  /** Stops, suspensions and disabled companies act within a second; so does the blacklist at a slow gateway. */
  async function hold() {
    if (hands.size === 0) return
    const held = await heldLanes(
      sql,
      [...hands.values()].map(({ lease }) => lease),
    )
    const ids = new Set(held.map(({ companyId, laneId }) => `${companyId}/${laneId}`))
    for (const hand of hands.values()) if (ids.has(`${hand.lease.companyId}/${hand.lease.laneId}`)) hand.held = true
    for (const { slice } of [...hands.values()])
      if (slice && performance.now() > slice.since + LONG_SLICE_MS) await slice.lookAgain()
  }

  return { workOff, renew, hold }
}

/** What a gateway takes within about a second, as its last chunk showed; of one that had none, as much as it takes at once. */
export function aSecondOf(gateway: LiveGateway | undefined, most: number): number {
  if (!gateway) return most
  return Math.max(1, Math.min(most, Math.max(gateway.channel.window, Math.ceil(gateway.partsPerSecond ?? 0))))
}
