import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies, ignoreNodeAway } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import type { Receiver, ReceiverKey } from './callback.ts'
import * as store from './store.ts'

/** While fewer batches wait, one statement reads them all. */
const FEW = 200

/**
 * Receivers that have a due batch and no worker. The receiver that was served longest ago comes first. At most
 * `mostDoubtful` of them failed last time.
 */
export async function findDueReceivers(
  sql: Sql,
  now: Date,
  limit: number,
  mostDoubtful: number,
): Promise<ReceiverKey[]> {
  const waiting = await waitingReceivers(sql, now)
  const free = waiting.filter(({ isFree }) => isFree).sort((a, b) => a.servedAt - b.servedAt)
  let doubtful = 0
  const next = free.filter(({ failures }) => failures === 0 || ++doubtful <= mostDoubtful)
  return next.slice(0, limit).map(({ companyId, receiver }) => ({ companyId, receiver }))
}

/**
 * While many batches wait, the cost depends on the number of receivers and not of batches. Citus has no recursive query over all
 * companies, so a company with several receivers is asked for itself.
 */
async function waitingReceivers(sql: Sql, now: Date): Promise<store.WaitingReceiver[]> {
  const batches = await acrossCompanies(sql, () => store.selectWaitingBatches(sql, now, FEW))
  if (batches.length < FEW) return firstOfEach(batches)
  const first = await acrossCompanies(sql, () => store.selectFirstReceivers(sql, now))
  const others = await byCompany(
    first.filter(({ hasMore }) => hasMore),
    companyId => store.selectReceiversOf(sql, companyId, now),
  ).catch(error => ignoreNodeAway(error) ?? [])
  return [...first.filter(({ hasMore }) => !hasMore), ...others]
}

/** The batch of a receiver that is due first decides. */
const firstOfEach = (batches: store.WaitingReceiver[]) =>
  [...Map.groupBy(batches, keyOf).values()].map(([first]) => first!)

const keyOf = ({ companyId, receiver }: ReceiverKey) => `${companyId} ${receiver}`

/** Claims receivers for one worker. Returns only claimed receivers: another worker may have claimed some of them first. */
export const claimReceivers = (sql: Sql, keys: ReceiverKey[], worker: string, leaseSeconds: number, now: Date) =>
  byCompany<ReceiverKey, Receiver>(keys, (companyId, own) =>
    store.claimReceivers(sql, companyId, own.map(nameOf), { worker, leaseSeconds, now }),
  )

/** Renews claims, and says of each whether it is still ours. A claim whose company cannot be reached is left out. */
export const renewReceivers = <Own extends ReceiverKey>(sql: Sql, keys: Own[], worker: string, leaseSeconds: number) =>
  byCompany<Own, { key: Own; isOurs: boolean }>(keys, async (companyId, own) => {
    const renewed = await store.renewReceivers(sql, companyId, own.map(nameOf), worker, leaseSeconds)
    const ours = new Set(renewed.map(nameOf))
    return own.map(key => ({ key, isOurs: ours.has(key.receiver) }))
  })

const nameOf = ({ receiver }: ReceiverKey) => receiver
