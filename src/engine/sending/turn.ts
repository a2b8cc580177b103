import type { ChannelType } from '../../base/channel-types.ts'
import { CODES } from '../../domain/lanes/lane.ts'
import type { Gateways, LiveGateway } from '../gateways/gateways.ts'
import type { UsedUp } from './allowances.ts'

/** Whole chunks that one gateway sends at once. Codes, which come one by one, have more places beside them. */
export const CHUNKS_PER_GATEWAY = 3
const MORE_FOR_CODES = 8

/** Whether a gateway has a place for one more chunk of this priority. Codes go while it rests, too. */
export const hasFreePlace = (gateway: LiveGateway, priority: number): boolean =>
  priority === CODES
    ? gateway.busy < CHUNKS_PER_GATEWAY + MORE_FOR_CODES
    : gateway.busy < CHUNKS_PER_GATEWAY && !isResting(gateway)

/** Its limit is used up. */
export const isResting = ({ restsUntil = 0 }: LiveGateway): boolean => performance.now() < restsUntil

/** What one turn of the scheduler remembers. */
export type Turn = {
  /** Limits that have no parts left. */
  usedUp(): UsedUp
  /** Whether a gateway can take one more chunk of this priority. */
  hasPlace(gateway: LiveGateway, priority: number): boolean
  /** No gateway of the channel has a place: its lanes are not read any more in this turn. */
  isFull(channelType: ChannelType, priority: number): boolean
  /** The gateway takes no further chunk in this turn. */
  close(gateway: LiveGateway): void
  /** A lane had to wait for a place: the next free place wakes up the loop. */
  readonly isWaiting: boolean
  /** When the first closed gateway has rested, on the clock of `performance.now()`. The turn ends then, at the latest. */
  readonly endsAt: number
  /** Adds a change to `settled`. */
  waitFor(change: Promise<unknown>): void
  /** Resolves when all changes up to now are made. Rejects if one of them failed. */
  settled(): Promise<void>
}

/** Changes that a turn made and does not wait for one by one. */
class Changes {
  readonly #changes: Promise<unknown>[] = []

  waitFor(change: Promise<unknown>): void {
    change.catch(() => {}) // `settled` passes the error on
    this.#changes.push(change)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#changes.splice(0))
  }
}

/** Although a gateway has rested, a turn goes on for this time. Many gateways would otherwise end each turn at its start. */
const LEAST_TURN_MS = 50

/** Codes ask the gateways and limits anew for each chunk. */
export class TurnOfCodes extends Changes implements Turn {
  readonly #gateways: Pick<Gateways, 'ofChannel'>
  readonly endsAt = Number.POSITIVE_INFINITY
  isWaiting = false

  constructor(gateways: Pick<Gateways, 'ofChannel'>) {
    super()
    this.#gateways = gateways
  }

  usedUp(): UsedUp {
    return new Map()
  }

  hasPlace(gateway: LiveGateway, priority: number): boolean {
    const hasPlace = hasFreePlace(gateway, priority)
    if (!hasPlace) this.isWaiting = true
    return hasPlace
  }

  isFull(channelType: ChannelType, priority: number): boolean {
    return isFull(this.#gateways, channelType, one => this.hasPlace(one, priority))
  }

  close() {}
}

/**
 * A gateway that had no place for one lane counts as full until the turn ends. Otherwise a place that becomes free
 * during the turn would go to a lower priority that asks next, and not to the higher priority that has just asked.
 */
export class TurnOfOthers extends Changes implements Turn {
  readonly #gateways: Pick<Gateways, 'ofChannel'>
  readonly #usedUp: UsedUp = new Map()
  readonly #closed = new Set<LiveGateway>()
  readonly #begunAt = performance.now()
  endsAt = Number.POSITIVE_INFINITY
  isWaiting = false

  constructor(gateways: Pick<Gateways, 'ofChannel'>) {
    super()
    this.#gateways = gateways
  }

  usedUp(): UsedUp {
    return this.#usedUp
  }

  hasPlace(gateway: LiveGateway, priority: number): boolean {
    if (!hasFreePlace(gateway, priority)) this.close(gateway)
    if (this.#closed.has(gateway)) this.isWaiting = true
    return !this.#closed.has(gateway)
  }

  isFull(channelType: ChannelType, priority: number): boolean {
    return isFull(this.#gateways, channelType, one => this.hasPlace(one, priority))
  }

  close(gateway: LiveGateway) {
    this.#closed.add(gateway)
    if (!isResting(gateway)) return
    const restedAt = Math.max(gateway.restsUntil ?? 0, this.#begunAt + LEAST_TURN_MS)
    this.endsAt = Math.min(this.endsAt, restedAt)
  }
}

/**
 * Lanes of a full channel are not read. When a gateway of the channel is missing or down, they are read all the same:
 * they are postponed, or their messages are refused.
 */
function isFull(
  gateways: Pick<Gateways, 'ofChannel'>,
  channelType: ChannelType,
  hasPlace: (gateway: LiveGateway) => boolean,
): boolean {
  const { up, all } = gateways.ofChannel(channelType)
  return all > 0 && up.length === all && up.every(one => !hasPlace(one))
}
