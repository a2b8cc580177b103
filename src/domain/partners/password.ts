import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)
const KEY_BYTES = 32
const SALT_BYTES = 16

/** Of scrypt. A derivation takes 128 x N x r bytes: 128 MiB and about half a second with the default N of 2^17. */
type Cost = { N: number; r: number; p: number }

const costOf = (exponent: number): Cost => ({ N: 2 ** exponent, r: 8, p: 1 })
let cost = costOf(17)

/** Sets the cost of new hashes for this process, as the exponent of N. Old hashes keep the cost that they name. */
export function usePasswordCost(exponent: number) {
  cost = costOf(exponent)
}

/** `scrypt$N$r$p$salt$key`: the cost stands beside the hash, so that it can be raised without locking anyone out. */
export async function hashPassword(password: string): Promise<string> {
  const today = cost
  const salt = randomBytes(SALT_BYTES)
  return format(today, salt, await deriveKey(password, salt, KEY_BYTES, today))
}

/** The hash of no password at all, as costly to compare with as any other. */
export const hashOfUnknown = (): string => format(cost, randomBytes(SALT_BYTES), randomBytes(KEY_BYTES))

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const { salt, key, ...made } = parse(hash)
  return timingSafeEqual(await deriveKey(password, salt, key.length, made), key)
}

/** Whether a hash was made at less than today's cost. */
export function isOutdatedHash(hash: string): boolean {
  const { N, r, p } = parse(hash)
  return N * r * p < cost.N * cost.r * cost.p
}

function format({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return ['scrypt', N, r, p, salt.toString('base64'), key.toString('base64')].join('$')
}

function parse(hash: string): Cost & { salt: Buffer; key: Buffer } {
  const [, N, r, p, salt, key] = hash.split('$')
  const [saltBytes, keyBytes] = [Buffer.from(salt!, 'base64'), Buffer.from(key!, 'base64')]
  return { N: Number(N), r: Number(r), p: Number(p), salt: saltBytes, key: keyBytes }
}

// Two derivations at a time: each needs much memory, and two of the four threads that Node.js has for such work. -----

const MOST_AT_ONCE = 2
let running = 0
/** As many as callers let in: logins wait for their turn before they come here (`log-in.ts`). */
const waiting: (() => void)[] = []

async function deriveKey(password: string, salt: Buffer, bytes: number, { N, r, p }: Cost): Promise<Buffer> {
  if (running >= MOST_AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve))
  else running += 1
  try {
    return await derive(password, salt, bytes, { N, r, p, maxmem: 2 * 128 * N * r })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
