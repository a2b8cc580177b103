import type { Sql } from '../../../db/sql.ts'
import * as store from './bind-store.ts'

/** A worker that does not renew its binds for this time loses them. Any other worker can take them. */
export const BIND_LEASE_SECONDS = 10

/** The binds of a gateway that a worker has, and the binds beyond its share. */
export type BindShare = { binds: number[]; tooMany: number[] }

/**
 * Renews a worker's binds and takes free binds up to its share. The worker keeps binds beyond its share until it has
 * closed them and calls `releaseBinds`. With several workers it takes a second or two until each has its share.
 */
export async function shareBinds(sql: Sql, gatewayId: number, worker: string, contract: number): Promise<BindShare> {
  const [row] = await store.renewBinds(sql, gatewayId, worker, BIND_LEASE_SECONDS)
  const { binds, seekers } = row!
  const share = shareOf(worker, seekers, contract)
  const valid = binds.filter(bind => bind <= contract).slice(0, share)
  const tooMany = binds.filter(bind => !valid.includes(bind))
  const most = share - valid.length
  if (most <= 0 || tooMany.length > 0) return { binds, tooMany }
  const taken = await store.takeBinds(sql, gatewayId, worker, { contract, most, seconds: BIND_LEASE_SECONDS })
  return { binds: [...binds, ...taken.map(({ bind }) => bind)], tooMany }
}

/** Each worker gets the same share. The first workers by name get the remainder, so that all workers compute the same. */
export function shareOf(worker: string, seekers: string[], contract: number): number {
  const each = Math.floor(contract / seekers.length)
  return each + (seekers.indexOf(worker) < contract % seekers.length ? 1 : 0)
}

export async function releaseBinds(sql: Sql, gatewayId: number, worker: string, binds: number[]): Promise<void> {
  if (binds.length > 0) await store.deleteBinds(sql, gatewayId, worker, binds)
}

/** Releases all binds of a worker that stops using the gateway. */
export async function releaseAllBinds(sql: Sql, gatewayId: number, worker: string): Promise<void> {
  await store.deleteAllBinds(sql, gatewayId, worker)
  await store.deleteOldSeekers(sql, gatewayId)
}
