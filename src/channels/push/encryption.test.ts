import { createECDH, webcrypto } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt } from '../../testing/providers/push-service.ts'
import { encrypt, MOST_PLAIN_BYTES } from './encryption.ts'

/** RFC 8291, appendix A. */
const example = {
  plain: 'When I grow up, I want to be a watermelon',
  ownPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  browserPublic: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  browserPrivate: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml' +
    'mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT' +
    'pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

const bytes = (base64url: string) => Buffer.from(base64url, 'base64url')

test('the encryption gives the example of RFC 8291 byte for byte', () => {
  const own = createECDH('prime256v1')
  own.setPrivateKey(bytes(example.ownPrivate))
  const keys = { p256dh: bytes(example.browserPublic), auth: bytes(example.auth) }
  const body = encrypt(Buffer.from(example.plain), keys, { own, salt: bytes(example.salt) })
  expect(body.toString('base64url')).toBe(example.body)
})

test('the browser of our tests reads the example of RFC 8291', async () => {
  expect((await decrypt(bytes(example.body), await theExampleBrowser())).toString()).toBe(example.plain)
})

test('a browser reads messages that were encrypted for it, from empty to the longest', async () => {
  const browser = await aBrowser()
  for (const plain of ['', 'Привет, мир', 'a'.repeat(MOST_PLAIN_BYTES)]) {
    const body = encrypt(Buffer.from(plain), { p256dh: browser.point, auth: browser.auth })
    expect(body.length).toBeLessThanOrEqual(4096)
    expect((await decrypt(body, browser)).toString()).toBe(plain)
  }
})

test('a shared secret that begins with a zero is not a byte shorter', async () => {
  const own = createECDH('prime256v1')
  own.setPrivateKey(Buffer.from([123]))
  const browser = await theExampleBrowser()
  expect(own.computeSecret(browser.point)[0]).toBe(0)
  const keys = { p256dh: browser.point, auth: browser.auth }
  const body = encrypt(Buffer.from(example.plain), keys, { own, salt: bytes(example.salt) })
  expect((await decrypt(body, browser)).toString()).toBe(example.plain)
})

test('the same text is encrypted by another key and salt each time', async () => {
  const { point, auth } = await aBrowser()
  const [one, other] = [1, 2].map(() => encrypt(Buffer.from('Hello'), { p256dh: point, auth }))
  expect(one!.subarray(0, 16)).not.toEqual(other!.subarray(0, 16))
  expect(one!.subarray(21, 86)).not.toEqual(other!.subarray(21, 86))
})

test('another browser cannot read it', async () => {
  const [browser, other] = [await aBrowser(), await aBrowser()]
  const body = encrypt(Buffer.from('Hello'), { p256dh: browser.point, auth: browser.auth })
  await expect(decrypt(body, other)).rejects.toThrow()
  await expect(decrypt(body, { ...browser, auth: other.auth })).rejects.toThrow()
})

async function aBrowser() {
  const pair = (await webcrypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, [
    'deriveBits',
  ])) as webcrypto.CryptoKeyPair
  const point = Buffer.from(await webcrypto.subtle.exportKey('raw', pair.publicKey))
  return { pair, point, auth: webcrypto.getRandomValues(Buffer.alloc(16)) }
}

async function theExampleBrowser() {
  const point = bytes(example.browserPublic)
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)]
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' }
  const jwk = { kty: 'EC', crv: 'P-256', x, y }
  const pair = {
    publicKey: await webcrypto.subtle.importKey('jwk', jwk, algorithm, true, []),
    privateKey: await webcrypto.subtle.importKey('jwk', { ...jwk, d: example.browserPrivate }, algorithm, true, [
      'deriveBits',
    ]),
  }
  return { pair, point, auth: bytes(example.auth) }
}
