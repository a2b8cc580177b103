import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { type Step, setFinalPrices } from '../messages/messages.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import { packagesBetween, priceAt, type Tariff } from '../pricing/tariff.ts'
import * as usage from './usage-store.ts'

/** What a message cost, or the package that it was the first to reach. */
export type Cost = {
  kind: 'MESSAGES' | 'MAU_PACKAGE'
  dispatchId: number | null
  tariffId: number | null
  amount: Money
  /** Of a message: the step that delivered it. */
  step?: Step
  /** Of a package: the step of the tariff that it belongs to. */
  from?: number
}

/**
 * What the delivered messages cost in the end. A fixed price is the reserved one; a scaled one depends on how many
 * the company has had delivered this month, one by unique recipients on how many different people those were. The
 * caller holds the account's lock, so the counting cannot be disturbed; within a batch it goes by the time of
 * delivery, so that the same batch always costs the same.
 */
export async function settleDelivered(sql: Sql, companyId: number, month: string, steps: Step[]): Promise<Cost[]> {
  const delivered = steps.filter(({ to }) => to === 'DELIVERED')
  const tariffs = await countingTariffs(sql, delivered)
  const costs: Cost[] = []
  for (const step of delivered) if (!tariffs.has(step.tariffId!)) costs.push(costOf(step, step.price))
  for (const tariff of tariffs.values()) {
    const ofTariff = delivered.filter(({ tariffId }) => tariffId === tariff.tariffId).sort(byDelivery)
    const settle = tariff.pricingModel === 'SCALED' ? settleScaled : settleMau
    costs.push(...(await settle(sql, companyId, month, tariff, ofTariff)))
  }
  return costs
}

const costOf = (step: Step, amount: Money): Cost => ({
  kind: 'MESSAGES',
  dispatchId: step.dispatchId,
  tariffId: step.tariffId,
  amount,
  step,
})

const byDelivery = (a: Step, b: Step) => a.at.getTime() - b.at.getTime() || (a.uuid < b.uuid ? -1 : 1)

/** Only tariffs whose price depends on a count need a closer look. */
async function countingTariffs(sql: Sql, delivered: Step[]): Promise<Map<number, Tariff>> {
  const ids = [...new Set(delivered.flatMap(({ tariffId }) => tariffId ?? []))]
  const tariffs = ids.length > 0 ? await tariffsByIds(sql, ids) : []
  return new Map(
    tariffs.filter(({ pricingModel }) => pricingModel !== 'FIXED').map(tariff => [tariff.tariffId, tariff]),
  )
}

async function settleScaled(sql: Sql, companyId: number, month: string, tariff: Tariff, steps: Step[]) {
  const before = await usage.addDelivered(sql, companyId, tariff.tariffId, month, steps.length)
  return setPrices(
    sql,
    companyId,
    steps,
    steps.map((_, index) => priceAt(tariff, before + index + 1)),
  )
}

/** Each new person counts from the message that reached them on; whose message reaches a step pays its package. */
async function settleMau(sql: Sql, companyId: number, month: string, tariff: Tariff, steps: Step[]): Promise<Cost[]> {
  const people = new Set(steps.map(({ destination }) => destination))
  const fresh = await usage.addRecipients(sql, companyId, tariff.tariffId, month, [...people])
  let reached = await usage.addRecipientCount(sql, companyId, tariff.tariffId, month, fresh.size)
  const packages: Cost[] = []
  const prices: Money[] = []
  for (const { destination, dispatchId } of steps) {
    if (fresh.delete(destination)) {
      reached += 1
      for (const due of packagesBetween(tariff, reached - 1, reached)) {
        packages.push({ kind: 'MAU_PACKAGE', dispatchId, ...due })
      }
    }
    prices.push(priceAt(tariff, reached))
  }
  return [...(await setPrices(sql, companyId, steps, prices)), ...packages]
}

async function setPrices(sql: Sql, companyId: number, steps: Step[], perPart: Money[]): Promise<Cost[]> {
  const costs = steps.map((step, index) => costOf(step, perPart[index]! * BigInt(step.parts)))
  const changed = steps.flatMap((step, index) =>
    costs[index]!.amount === step.price ? [] : { uuid: step.uuid, amount: costs[index]!.amount },
  )
  if (changed.length > 0) await setFinalPrices(sql, companyId, changed)
  return costs
}
