import { createHmac } from 'node:crypto'
import { type BoxKey, boxKey } from '../../base/secret-box.ts'

let key: BoxKey | undefined

/** Each process calls it at its start with the secret of the service. */
export function useErasureSecret(secret: string): void {
  key = boxKey(secret, 'erased numbers')
}

/** Digits come before letters in every order of texts, so entries of erased numbers come after all others. */
export const ERASED = 'erased'

/**
 * The name of an erased number on a blacklist. The number stays blocked. The number cannot be found without the secret
 * of the service, which is not in the database. The name differs between companies.
 */
export function erasedName(companyId: number, digits: string): string {
  if (!key) throw new Error('the secret for erased numbers is not set')
  return `${ERASED}-${createHmac('sha256', key).update(`${companyId}:${digits}`).digest('hex').slice(0, 32)}`
}
