import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { leasedRanges } from '../lanes/lanes.ts'
import { placesInLanes, type StatusChange } from '../messages/messages.ts'
import type { Dispatches } from './store.ts'

/**
 * By how much the reservation of the company changes. A message holds its price until it is final. A message that was
 * CREATED in a stopped dispatch and had no lease held nothing. A late report about such a message (its engine was frozen,
 * or its receipt came early) adds its price to the reservation if it is SENT now, and nothing if it is final.
 */
export async function changeOfHolds(
  sql: Sql,
  companyId: number,
  changes: StatusChange[],
  dispatches: Dispatches,
): Promise<Money> {
  const isHolding = await holdersAmong(sql, companyId, changes, dispatches)
  return changes.reduce((total, change) => {
    const isFinal = change.to !== 'SENT'
    if (isHolding(change)) return isFinal ? total - change.price : total
    return isFinal ? total : total + change.price
  }, 0n)
}

async function holdersAmong(sql: Sql, companyId: number, changes: StatusChange[], dispatches: Dispatches) {
  const isOfStopped = ({ from, dispatchId }: StatusChange) =>
    from === 'CREATED' && dispatchId !== null && dispatches.get(dispatchId)?.status !== 'STARTED'
  const leased = await leasedAmong(sql, companyId, changes.filter(isOfStopped))
  return (change: StatusChange) => !isOfStopped(change) || leased.has(change.uuid)
}

async function leasedAmong(sql: Sql, companyId: number, changes: StatusChange[]): Promise<Set<string>> {
  if (changes.length === 0) return new Set()
  const dispatchIds = new Set(changes.flatMap(({ dispatchId }) => dispatchId ?? []))
  const uuids = changes.map(({ uuid }) => uuid)
  const [places, ...ranges] = await Promise.all([
    placesInLanes(sql, companyId, uuids),
    ...[...dispatchIds].map(dispatchId => leasedRanges(sql, companyId, dispatchId)),
  ])
  const isLeased = ({ laneId, seq }: { laneId: number; seq: number }) =>
    ranges.flat().some(range => range.laneId === laneId && range.firstSeq <= seq && seq < range.nextSeq)
  return new Set(places.filter(isLeased).map(({ uuid }) => uuid))
}
