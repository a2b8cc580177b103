import { byCompany } from '../../db/by-company.ts'
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
  const free = (await freeReceivers(sql, now)).sort((a, b) => a.servedAt - b.servedAt)
  let doubtful = 0
  const next = free.filter(({ failures }) => failures === 0 || ++doubtful <= mostDoubtful)
  return next.slice(0, limit).map(({ companyId, receiver }) => ({ companyId, receiver }))
}

type FreeReceiver = Receiver & { servedAt: number }

const NEVER_SERVED = { failures: 0, servedAt: Number.NEGATIVE_INFINITY, isClaimed: false, mayProbe: true }

/** A receiver that keeps failing is free when its next probe is due, even if its batches are not. */
async function freeReceivers(sql: Sql, now: Date): Promise<FreeReceiver[]> {
  const free: FreeReceiver[] = []
  let after: ReceiverKey = { companyId: 0, receiver: '' }
  for (;;) {
    const page = await store.selectWaitingReceivers(sql, now, after, PAGE)
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
  const companyIds = [...new Set(keys.map(({ companyId }) => companyId))]
  const receivers = [...new Set(keys.map(({ receiver }) => receiver))]
  const states = await store.selectReceiverStates(sql, companyIds, receivers, now)
  return new Map(states.map(state => [keyOf(state), state]))
}

const keyOf = ({ companyId, receiver }: ReceiverKey) => `${companyId} ${receiver}`

/** Claims receivers for one worker. Returns only claimed receivers: another worker may have claimed some of them first. */
export const claimReceivers = (sql: Sql, keys: ReceiverKey[], worker: string, leaseSeconds: number, now: Date) =>
  byCompany<ReceiverKey, Receiver>(keys, (companyId, own) =>
    store.claimReceivers(sql, companyId, own.map(nameOf), { worker, leaseSeconds, now }),
  )

/** Renews the claims that this worker still has, and returns their receivers. */
export const renewReceivers = (sql: Sql, keys: ReceiverKey[], worker: string, leaseSeconds: number) =>
  byCompany<ReceiverKey, ReceiverKey>(keys, (companyId, own) =>
    store.renewReceivers(sql, companyId, own.map(nameOf), worker, leaseSeconds),
  )

const nameOf = ({ receiver }: ReceiverKey) => receiver
