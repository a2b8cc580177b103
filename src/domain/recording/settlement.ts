import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { type StatusChange, setFinalPrices } from '../messages/messages.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import { type Package, packagesBetween, priceAt, type Tariff } from '../pricing/tariff.ts'
import type { RecentReads } from './recent-reads.ts'
import * as usage from './usage-store.ts'

/** The cost of a delivered message, or of a package that begins with it. */
export type Cost = {
  kind: 'MESSAGES' | 'MAU_PACKAGE'
  dispatchId: number | null
  tariffId: number | null
  amount: Money
  /** Set for a message: the change to DELIVERED. */
  change?: StatusChange
  /** Set for a package: the step of the tariff that it belongs to. */
  from?: number
}

export const isMessageCost = (cost: Cost): cost is Cost & { change: StatusChange } => cost.change !== undefined

export const isPackageCost = (cost: Cost): cost is Cost & Pick<Package, 'tariffId' | 'from'> =>
  cost.kind === 'MAU_PACKAGE'

/**
 * The final costs of delivered messages. A fixed price equals the reserved one. A scaled price depends on the number of
 * messages delivered to the company this month, a price by unique recipients on the number of different recipients. The caller
 * holds the lock of the statuses, so no other transaction counts at the same time. Within a batch messages count in the
 * order of their delivery, so the same batch always costs the same.
 */
export async function settleDelivered(
  sql: Sql,
  companyId: number,
  month: string,
  changes: StatusChange[],
  recent: RecentReads,
): Promise<Cost[]> {
  const delivered = changes.filter(({ to }) => to === 'DELIVERED')
  const tariffs = await countingTariffs(sql, delivered, recent)
  const costs: Cost[] = []
  for (const change of delivered)
    if (change.tariffId === null || !tariffs.has(change.tariffId)) costs.push(costOf(change, change.price))
  for (const tariff of tariffs.values()) {
    const ofTariff = delivered.filter(({ tariffId }) => tariffId === tariff.tariffId).sort(byDelivery)
    const settle = tariff.pricingModel === 'SCALED' ? settleScaled : settleMau
    costs.push(...(await settle(sql, companyId, month, tariff, ofTariff)))
  }
  return costs
}

const costOf = (change: StatusChange, amount: Money): Cost => ({
  kind: 'MESSAGES',
  dispatchId: change.dispatchId,
  tariffId: change.tariffId,
  amount,
  change,
})

const byDelivery = (a: StatusChange, b: StatusChange) => a.at.getTime() - b.at.getTime() || (a.uuid < b.uuid ? -1 : 1)

/** The tariffs whose price depends on a count. */
async function countingTariffs(sql: Sql, delivered: StatusChange[], recent: RecentReads): Promise<Map<number, Tariff>> {
  const ids = new Set(delivered.flatMap(({ tariffId }) => tariffId ?? []))
  const tariffs = [...ids].flatMap(id => recent.tariff(id) ?? [])
  const known = new Set(tariffs.map(({ tariffId }) => tariffId))
  const unknown = [...ids].filter(id => !known.has(id))
  for (const tariff of unknown.length > 0 ? await tariffsByIds(sql, unknown) : []) {
    recent.noteTariff(tariff)
    tariffs.push(tariff)
  }
  return new Map(
    tariffs.filter(({ pricingModel }) => pricingModel !== 'FIXED').map(tariff => [tariff.tariffId, tariff]),
  )
}

async function settleScaled(sql: Sql, companyId: number, month: string, tariff: Tariff, changes: StatusChange[]) {
  const before = await usage.addDelivered(sql, companyId, tariff.tariffId, month, changes.length)
  return setPrices(
    sql,
    companyId,
    changes,
    changes.map((_, index) => priceAt(tariff, before + index + 1)),
  )
}

/** A recipient counts from its first delivered message on. The message that reaches a step of the tariff pays the package. */
async function settleMau(
  sql: Sql,
  companyId: number,
  month: string,
  tariff: Tariff,
  changes: StatusChange[],
): Promise<Cost[]> {
  const people = new Set(changes.map(({ destination }) => destination))
  const fresh = await usage.addRecipients(sql, companyId, tariff.tariffId, month, [...people])
  let reached = await usage.addRecipientCount(sql, companyId, tariff.tariffId, month, fresh.size)
  const packages: Cost[] = []
  const prices: Money[] = []
  for (const { destination, dispatchId } of changes) {
    if (fresh.delete(destination)) {
      reached += 1
      for (const due of packagesBetween(tariff, reached - 1, reached)) {
        packages.push({ kind: 'MAU_PACKAGE', dispatchId, ...due })
      }
    }
    prices.push(priceAt(tariff, reached))
  }
  return [...(await setPrices(sql, companyId, changes, prices)), ...packages]
}

async function setPrices(sql: Sql, companyId: number, changes: StatusChange[], perPart: Money[]): Promise<Cost[]> {
  const costs = changes.map((change, index) => ({
    ...costOf(change, priceOf(perPart, index) * BigInt(change.parts)),
    change,
  }))
  const changed = costs.flatMap(({ change, amount }) => (amount === change.price ? [] : { uuid: change.uuid, amount }))
  if (changed.length > 0) await setFinalPrices(sql, companyId, changed)
  return costs
}

function priceOf(perPart: Money[], index: number): Money {
  const price = perPart[index]
  if (price === undefined) throw new RangeError(`Delivered message ${index} has no price`)
  return price
}
