import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { vapidSettings } from '../../testing/providers/push-fixtures.ts'
import { readSettings } from './settings.ts'
import { createVapid } from './vapid.ts'

const settings = readSettings(vapidSettings).vapid!
const start = new Date('2026-03-01T12:00:00Z')
const hoursLater = (hours: number) => new Date(start.getTime() + hours * 3600_000)
const ORIGIN = 'https://push.example'

const read = (header: string) => {
  const [, token, key] = /^vapid t=(\S+), k=(\S+)$/.exec(header)!
  const [head, claims, signature] = token!.split('.')
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { head: json(head!), claims: json(claims!), signed: `${head}.${claims}`, signature: signature!, key }
}

test('it is a token for the origin, signed by our key, with our address and our public key', () => {
  const { head, claims, signed, signature, key } = read(createVapid(settings).authorization(ORIGIN, start))
  expect(head).toEqual({ typ: 'JWT', alg: 'ES256' })
  expect(claims).toEqual({ aud: ORIGIN, sub: vapidSettings.vapidSubject, exp: start.getTime() / 1000 + 12 * 3600 })
  expect(key).toBe(vapidSettings.vapidPublicKey)
  const publicKey = { key: createPublicKey(settings.privateKey), dsaEncoding: 'ieee-p1363' as const }
  expect(verify('sha256', Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
})

test('it is signed once for an origin, and again before it ends', () => {
  const vapid = createVapid(settings)
  const first = vapid.authorization(ORIGIN, start)
  expect(vapid.authorization(ORIGIN, hoursLater(10.9))).toBe(first)
  const renewed = vapid.authorization(ORIGIN, hoursLater(11))
  expect(read(renewed).claims.exp).toBe(hoursLater(23).getTime() / 1000)
  expect(vapid.authorization(ORIGIN, hoursLater(12))).toBe(renewed)
})

test('each origin has its own', () => {
  const vapid = createVapid(settings)
  expect(read(vapid.authorization('https://other.example', start)).claims.aud).toBe('https://other.example')
  expect(read(vapid.authorization(ORIGIN, start)).claims.aud).toBe(ORIGIN)
})

test('of more origins than it remembers, the oldest is forgotten', () => {
  const vapid = createVapid(settings)
  const first = vapid.authorization(ORIGIN, start)
  for (let i = 0; i < 999; i++) vapid.authorization(`https://${i}.example`, start)
  expect(vapid.authorization(ORIGIN, start)).toBe(first)
  vapid.authorization('https://one-more.example', start)
  expect(vapid.authorization(ORIGIN, start)).not.toBe(first)
})
