import { ignoreNodeAway } from '../../db/reachable.ts'
import type { Pool } from '../../db/sql.ts'
import { type Billing, type DueFee, monthOf } from './account.ts'
import * as store from './fee-store.ts'
import { type Charge, charge, lockAccount } from './ledger.ts'

const BATCH = 500
const DAY_MS = 24 * 3600_000

/**
 * Charges the fees of paid names that are due. A name owes a month when it is approved in it or was APPROVED when it
 * began. A name that was DENIED or CLOSED before owes nothing more. Only the dates of the name decide, so the function
 * may run at any time, any number of times and in several engines. A name with an entry for the month is not charged
 * again.
 *
 * A month stays open for a day after its end, for names approved in its last minutes. After that nothing is written
 * into it any more: if no engine runs for a whole month, its fees are never charged.
 *
 * Returns how many fees were charged.
 */
export async function chargeDueFees(pool: Pool, billing: Billing) {
  const { billingZone, now } = billing
  const yesterday = new Date(now.getTime() - DAY_MS)
  let charged = 0
  for (const month of new Set([monthOf(yesterday, billingZone), monthOf(now, billingZone)])) {
    charged += await chargeMonth(pool, month, billing)
  }
  return charged
}

async function chargeMonth(pool: Pool, month: string, billing: Billing): Promise<number> {
  let charged = 0
  for (;;) {
    const due = await store.selectDueFees(pool, month, billing.billingZone, BATCH)
    let now = 0
    for (const [companyId, fees] of Map.groupBy(due, fee => fee.companyId)) {
      now += (await chargeFees(pool, companyId, fees, month, billing).catch(ignoreNodeAway)) ?? 0
    }
    charged += now
    if (due.length < BATCH || now === 0) return charged
  }
}

/** Fees are charged even if the budget or the balance is too small. */
function chargeFees(pool: Pool, companyId: number, due: DueFee[], month: string, billing: Billing): Promise<number> {
  return pool.begin(async sql => {
    const account = await lockAccount(sql, companyId, month)
    // Under the lock: another engine may have been quicker.
    const charged = await store.selectCharged(
      sql,
      companyId,
      month,
      due.map(({ senderId }) => senderId),
    )
    const fees = due.filter(fee => !charged.some(({ senderId }) => senderId === fee.senderId))
    await charge(sql, companyId, account, chargeOf(fees, account.currency, month), billing)
    return fees.length
  })
}

const chargeOf = (fees: DueFee[], currency: string, month: string): Charge => ({
  entries: fees.map(({ senderId, fee }) => ({ kind: 'SENDER_FEE', amount: fee, currency, month, senderId })),
  shares: [
    {
      kind: 'SENDER_FEE',
      month,
      channelType: null,
      brandId: null,
      tariffId: null,
      messages: fees.length,
      parts: 0,
      amount: fees.reduce((sum, { fee }) => sum + fee, 0n),
    },
  ],
})
