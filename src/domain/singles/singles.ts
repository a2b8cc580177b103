import type { Money } from '../../base/money.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { type Account, monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount, refusalOf } from '../ledger/ledger.ts'
import type { Acceptance, NewSingle } from './single.ts'
import * as store from './store.ts'

/**
 * Accepts single messages of one company, any number in one transaction: each holds its price from now on, or is
 * refused because the company cannot pay for it, and takes its place at the end of its lane. One that is refused
 * does not hinder the others.
 */
export function acceptSingles(
  pool: Pool,
  companyId: number,
  singles: NewSingle[],
  { billingZone, now }: { billingZone: string; now: Date },
): Promise<Acceptance[]> {
  return pool.begin(async sql => {
    const account = await lockAccount(sql, companyId, monthOf(now, billingZone))
    const { payable, refusals, sum } = payableOf(account, singles)
    if (payable.length > 0) await changeReserved(sql, companyId, sum)
    const uuids = await place(sql, companyId, payable)
    return singles.map((single): Acceptance => {
      const reason = refusals.get(single)
      return reason ? { kind: 'refused', reason } : { kind: 'accepted', uuid: uuids.get(single)! }
    })
  }) as Promise<Acceptance[]>
}

/** In the order given: what fits into the budget and the balance, and why the rest does not. */
function payableOf(account: Account, singles: NewSingle[]) {
  const payable: NewSingle[] = []
  const refusals = new Map<NewSingle, string>()
  let sum: Money = 0n
  for (const single of singles) {
    const refusal = refusalOf(account, sum + single.price)
    if (refusal) refusals.set(single, refusal)
    else {
      payable.push(single)
      sum += single.price
    }
  }
  return { payable, refusals, sum }
}

/** Gives each its key and its place; returns the keys. */
async function place(sql: Sql, companyId: number, singles: NewSingle[]): Promise<Map<NewSingle, string>> {
  const uuidOf = new Map<NewSingle, string>()
  if (singles.length === 0) return uuidOf
  const [clock] = await store.selectNow(sql)
  for (const [i, uuid] of uuid7Batch(clock!.now, singles.length).entries()) uuidOf.set(singles[i]!, uuid)

  const placed: store.PlacedSingle[] = []
  for (const ofLane of Map.groupBy(singles, laneOf).values()) {
    const [lane] = await store.extendLane(sql, companyId, ofLane[0]!, ofLane.length)
    for (const [i, single] of ofLane.entries()) {
      placed.push({ ...single, uuid: uuidOf.get(single)!, laneId: lane!.laneId, seq: lane!.first + i })
    }
  }
  await store.insertMessages(sql, companyId, placed)
  await store.notifyLanes(sql)
  return uuidOf
}

const laneOf = ({ channelType, senderId, brandId, priority }: NewSingle) =>
  `${channelType}/${senderId}/${brandId}/${priority}`
