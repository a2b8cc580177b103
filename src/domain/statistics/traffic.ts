import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'

/** What messages are counted by, besides their company, hour and operator. A dispatch decides it for its messages. */
export type TrafficKind = { channelType: ChannelType; trafficType: TrafficType }

/** How many messages and parts; and for delivered ones, what they cost. */
export type TrafficCounts = {
  accepted: number
  acceptedParts: number
  sent: number
  sentParts: number
  delivered: number
  deliveredParts: number
  failed: number
  failedParts: number
  spent: Money
}

/** A row of `traffic_hours`. `hour` counts hours of UTC since 1970. */
export type TrafficHour = TrafficKind & TrafficCounts & { hour: number; brandId: number }

const HOUR_MS = 3600_000

type Operators = TrafficKind & { hour: number; rows: Map<number, TrafficHour> }

/** Collects what a transaction adds to the rolled-up traffic: a few rows, however many messages. */
export class TrafficTally {
  readonly #operators = new Map<string, Operators>()
  /** Most messages are of the same hour and kind as the one before: no key is written for them. */
  #last: Operators | undefined

  /** The row of one operator in the hour of a moment. */
  at(moment: Date, kind: TrafficKind, brandId: number): TrafficHour {
    const { rows, hour, channelType, trafficType } = this.#operatorsIn(Math.floor(moment.getTime() / HOUR_MS), kind)
    const known = rows.get(brandId)
    if (known) return known
    const row = { hour, channelType, trafficType, brandId, ...noTraffic() }
    rows.set(brandId, row)
    return row
  }

  rows(): TrafficHour[] {
    return [...this.#operators.values()].flatMap(({ rows }) => [...rows.values()])
  }

  #operatorsIn(hour: number, { channelType, trafficType }: TrafficKind): Operators {
    const last = this.#last
    if (last && last.hour === hour && last.channelType === channelType && last.trafficType === trafficType) return last
    const key = `${hour} ${channelType} ${trafficType}`
    const operators = this.#operators.get(key) ?? { hour, channelType, trafficType, rows: new Map() }
    this.#operators.set(key, operators)
    this.#last = operators
    return operators
  }
}

const noTraffic = (): TrafficCounts => ({
  accepted: 0,
  acceptedParts: 0,
  sent: 0,
  sentParts: 0,
  delivered: 0,
  deliveredParts: 0,
  failed: 0,
  failedParts: 0,
  spent: 0n,
})
