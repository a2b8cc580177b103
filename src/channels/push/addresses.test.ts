import { createECDH } from 'node:crypto'
import { expect, test } from 'vitest'
import { readAddress } from './addresses.ts'

const own = createECDH('prime256v1')
own.generateKeys()
const p256dh = own.getPublicKey('base64url')
const auth = Buffer.alloc(16, 7).toString('base64url')
const endpoint = 'https://push.example/a?b=c'
const json = (given: Record<string, unknown>) => JSON.stringify({ endpoint, keys: { p256dh, auth }, ...given })

test("a browser's subscription is read from its JSON, with any other members", () => {
  expect(readAddress(` ${json({ expirationTime: null })} `)).toEqual({
    kind: 'browser',
    endpoint: new URL(endpoint),
    keys: { p256dh: own.getPublicKey(), auth: Buffer.alloc(16, 7) },
  })
})

test('any other text is a token of FCM, with or without its prefix', () => {
  expect(readAddress('abc:APA91b-x_y')).toEqual({ kind: 'app', token: 'abc:APA91b-x_y' })
  expect(readAddress('fcm:abc:APA91b-x_y')).toEqual({ kind: 'app', token: 'abc:APA91b-x_y' })
})

const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url')
const compressed = own.getPublicKey('base64url', 'compressed')

test.each([
  ['nothing', ''],
  ['a prefix alone', 'fcm: '],
  ['broken JSON', '{"endpoint":'],
  ['no endpoint', json({ endpoint: undefined })],
  ['an endpoint that is no address', json({ endpoint: 'push.example' })],
  ['an endpoint with a password', json({ endpoint: 'https://user:pass@push.example/' })],
  ['no keys', json({ keys: null })],
  ['keys of another kind', json({ keys: { p256dh: 7, auth } })],
  ['a point off the curve', json({ keys: { p256dh: offCurve, auth } })],
  ['a compressed point', json({ keys: { p256dh: compressed, auth } })],
  ['a short secret', json({ keys: { p256dh, auth: 'AAAA' } })],
])('%s is unreadable', (_, address) => {
  expect(readAddress(address)).toEqual({ kind: 'unreadable', reason: expect.any(String) })
})
