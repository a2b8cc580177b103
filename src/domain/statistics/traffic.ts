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

/** Collects what a transaction adds to the rolled-up traffic: a few rows, however many messages. */
export class TrafficTally {
  readonly #operators = new Map<string, Map<number, TrafficHour>>()

  /** The row of one operator in the hour of a moment. */
  at(moment: Date, kind: TrafficKind, brandId: number): TrafficHour {
    return this.during(moment, kind)(brandId)
  }

  /** The same for many messages of one moment and kind: the hour is looked up once. */
  during(moment: Date, { channelType, trafficType }: TrafficKind): (brandId: number) => TrafficHour {
    const hour = Math.floor(moment.getTime() / HOUR_MS)
    const byOperator = this.#operatorsOf(`${hour} ${channelType} ${trafficType}`)
    return brandId => {
      const known = byOperator.get(brandId)
      if (known) return known
      const row = { hour, channelType, trafficType, brandId, ...noTraffic() }
      byOperator.set(brandId, row)
      return row
    }
  }

  rows(): TrafficHour[] {
    return [...this.#operators.values()].flatMap(byOperator => [...byOperator.values()])
  }

  #operatorsOf(key: string) {
    const known = this.#operators.get(key)
    if (known) return known
    const operators = new Map<number, TrafficHour>()
    this.#operators.set(key, operators)
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
