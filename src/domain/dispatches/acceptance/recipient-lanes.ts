import type { Lane } from '../../lanes/dispatch-lanes.ts'
import type { Classified } from '../../numbering/numbering.ts'
import { brandIdOf } from '../../routing/routing.ts'
import type { AcceptanceRules } from './acceptance-rules.ts'

/** The lanes that these numbers need. With local times there is a lane for each time zone among the numbers. */
export function lanesFor(
  { routing, zoneOf }: AcceptanceRules,
  numbers: readonly Classified[],
): Omit<Lane, 'laneId' | 'tail'>[] {
  if (!zoneOf) return routing.lanes.map(lane => ({ ...lane, zone: null }))
  const brandsOf = new Map<string, Set<number>>()
  for (const number of numbers) {
    if (number.kind === 'refused') continue
    const zone = zoneOf(number)
    const known = brandsOf.get(zone)
    if (known) known.add(brandIdOf(number))
    else brandsOf.set(zone, new Set([brandIdOf(number)]))
  }
  return [...brandsOf].flatMap(([zone, brandIds]) =>
    routing.lanes.filter(({ brandId }) => brandIds.has(brandId)).map(lane => ({ ...lane, zone })),
  )
}

/** Finds the lane of a recipient. A dispatch has few lanes: one for each sender, brand and time zone. */
export class LaneTable {
  readonly #byZone = new Map<string | null, Map<number, Lane>>()

  constructor(lanes: readonly Lane[]) {
    for (const lane of lanes) {
      const ofZone = this.#byZone.get(lane.zone) ?? new Map<number, Lane>()
      this.#byZone.set(lane.zone, ofZone.set(keyOf(lane.senderId, lane.brandId), lane))
    }
  }

  laneOf(senderId: number | null, brandId: number, zone: string | null): Lane {
    const lane = this.#byZone.get(zone)?.get(keyOf(senderId, brandId))
    if (!lane) throw new Error(`The dispatch has no lane for sender ${senderId}, brand ${brandId} and zone ${zone}`)
    return lane
  }
}

const keyOf = (senderId: number | null, brandId: number) => (senderId ?? 0) * 8 + brandId
