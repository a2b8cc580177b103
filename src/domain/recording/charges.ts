import type { ChargeShare, Entry } from '../ledger/account.ts'
import type { Charge } from '../ledger/ledger.ts'
import type { StatusChange } from '../messages/messages.ts'
import type { TrafficKind } from '../statistics/traffic.ts'
import type { Cost } from './settlement.ts'

type KindOf = (change: StatusChange) => TrafficKind

export const chargeOf = (costs: Cost[], currency: string, month: string, kindOf: KindOf): Charge => ({
  entries: entriesOf(costs, currency, month),
  shares: sharesOf(costs, month, kindOf),
})

/** One entry of the ledger for each dispatch and batch. */
function entriesOf(costs: Cost[], currency: string, month: string): Entry[] {
  const entries = new Map<string, Entry & { messages: number }>()
  let entry: (Entry & { messages: number }) | undefined // most costs belong to the entry of the cost before
  for (const { kind, dispatchId, tariffId, amount, change } of costs) {
    const ofTariff = kind === 'MAU_PACKAGE' ? tariffId : null
    if (entry?.kind !== kind || entry.dispatchId !== dispatchId || entry.tariffId !== ofTariff) {
      const key = `${kind}/${dispatchId}/${ofTariff}`
      entry = entries.get(key) ?? { kind, dispatchId, tariffId: ofTariff, amount: 0n, currency, month, messages: 0 }
      entries.set(key, entry)
    }
    entry.amount += amount
    if (change) entry.messages += 1
  }
  return [...entries.values()]
}

/** The costs by channel, operator and tariff. Packages belong to a tariff of SMS and to no operator. */
function sharesOf(costs: Cost[], month: string, kindOf: KindOf): ChargeShare[] {
  const shares = new Map<string, ChargeShare>()
  let share: ChargeShare | undefined // most costs belong to the share of the cost before
  for (const { kind, tariffId, amount, change } of costs) {
    const channelType = change ? kindOf(change).channelType : 'SMS'
    const brandId = change?.brandId ?? null
    const isSameKind = share?.kind === kind && share.channelType === channelType
    if (!share || !isSameKind || share.brandId !== brandId || share.tariffId !== tariffId) {
      const key = `${kind}/${channelType}/${brandId}/${tariffId}`
      share = shares.get(key) ?? { kind, month, channelType, brandId, tariffId, messages: 0, parts: 0, amount: 0n }
      shares.set(key, share)
    }
    share.messages += 1
    share.parts += change?.parts ?? 0
    share.amount += amount
  }
  return [...shares.values()]
}
