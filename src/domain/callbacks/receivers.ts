import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import { isDistributed } from '../../db/sharding/distribute.ts'
import type { Sql } from '../../db/sql.ts'
import { FAILURES_UNTIL_PROBE, type Receiver, type ReceiverKey } from './callback.ts'
import * as store from './store.ts'

/** Batches that one statement reads. */
const PAGE = 500

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
  if (!(await isSharded(sql))) return store.selectDueReceivers(sql, now, limit, mostDoubtful)
  const free = (await freeReceivers(sql, now)).sort((a, b) => a.servedAt - b.servedAt)
  let doubtful = 0
  const next = free.filter(({ failures }) => failures === 0 || ++doubtful <= mostDoubtful)
  return next.slice(0, limit).map(({ companyId, receiver }) => ({ companyId, receiver }))
}

/** Whether the tables are distributed does not change while the process runs, so each pool is asked once. */
const sharded = new WeakMap<Sql, boolean>()

async function isSharded(sql: Sql): Promise<boolean> {
  const known = sharded.get(sql)
  if (known !== undefined) return known
  const found = await isDistributed(sql)
  sharded.set(sql, found)
  return found
}

type FreeReceiver = Receiver & { servedAt: number }

const NEVER_SERVED = { failures: 0, servedAt: Number.NEGATIVE_INFINITY, isClaimed: false, mayProbe: true }

/** A receiver that keeps failing is free when its next probe is due, even if its batches are not. */
async function freeReceivers(sql: Sql, now: Date): Promise<FreeReceiver[]> {
  const free: FreeReceiver[] = []
  let after: ReceiverKey = { companyId: 0, receiver: '' }
  for (;;) {
    const page = await acrossCompanies(sql, () => store.selectWaitingReceivers(sql, now, after, PAGE))
    const states = await statesOf(sql, page, now)
    for (const { companyId, receiver, isDue } of page) {
      const { failures, servedAt, isClaimed, mayProbe } = states.get(keyOf({ companyId, receiver })) ?? NEVER_SERVED
      const isReady = isDue || failures >= FAILURES_UNTIL_PROBE
      if (isReady && mayProbe && !isClaimed) free.push({ companyId, receiver, failures, servedAt })
    }
    const last = page.at(-1)
    if (!last || page.reduce((sum, { batches }) => sum + batches, 0) < PAGE) return free
    after = last
  }
}

async function statesOf(sql: Sql, keys: ReceiverKey[], now: Date): Promise<Map<string, store.ReceiverState>> {
  if (keys.length === 0) return new Map()
  const states = await byCompany<ReceiverKey, store.ReceiverState>(keys, (companyId, own) =>
    store.selectReceiverStates(sql, companyId, own.map(nameOf), now),
  )
  return new Map(states.map(state => [keyOf(state), state]))
}

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
