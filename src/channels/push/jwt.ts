import { type KeyObject, sign } from 'node:crypto'

/** A signed token; ES256 by a key of P-256, RS256 by an RSA key. */
export function jwt(alg: 'ES256' | 'RS256', claims: Record<string, unknown>, key: KeyObject): string {
  const signed = `${encoded({ typ: 'JWT', alg })}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Times in tokens are whole seconds. */
export const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000)
