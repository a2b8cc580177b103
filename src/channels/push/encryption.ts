import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { SubscriptionKeys } from './addresses.ts'

/** Push services must accept 4096 bytes; the header needs 86 of them, the delimiter 1 and the tag 16. */
export const MOST_PLAIN_BYTES = 3993

const RECORD_BYTES = 4096
const LAST_RECORD = Buffer.from([2])

/** New for every message: the same key and salt for two messages would reveal their texts. */
export type Fresh = { own: ECDH; salt: Buffer }

/**
 * Encrypts for one browser (RFC 8291): the content coding aes128gcm (RFC 8188) in one record. The key is derived from a
 * new key pair of ours, the public key of the browser and its shared secret.
 */
export function encrypt(plain: Buffer, { p256dh, auth }: SubscriptionKeys, { own, salt } = fresh()) {
  const ownPoint = own.getPublicKey()
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, ownPoint])
  const material = derive(own.computeSecret(p256dh), auth, keyInfo, 32)
  const key = derive(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  return Buffer.concat([headerOf(salt, ownPoint), seal(Buffer.concat([plain, LAST_RECORD]), key, nonce)])
}

function fresh(): Fresh {
  const own = createECDH('prime256v1')
  own.generateKeys()
  return { own, salt: randomBytes(16) }
}

const derive = (material: Buffer, salt: Buffer, info: Buffer, bytes: number) =>
  Buffer.from(hkdfSync('sha256', material, salt, info, bytes))

function headerOf(salt: Buffer, ownPoint: Buffer): Buffer {
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(ownPoint.length, 4)
  return Buffer.concat([salt, sizes, ownPoint])
}

function seal(record: Buffer, key: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  return Buffer.concat([cipher.update(record), cipher.final(), cipher.getAuthTag()])
}
