import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'

/** Messages are counted by these fields, and by company, hour and brand. The messages of a dispatch have its fields. */
export type TrafficKind = { channelType: ChannelType; trafficType: TrafficType }

/** Counts of messages and parts, and the price of the delivered messages. */
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

export const HOUR_MS = 3600_000

type Operators = TrafficKind & { hour: number; rows: Map<number, TrafficHour> }

/** Collects the traffic of a transaction. Many messages make only a few rows. */
export class TrafficTally {
  readonly #operators = new Map<string, Operators>()
  /** Most messages have the hour and kind of the message before. They need no lookup by key. */
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
