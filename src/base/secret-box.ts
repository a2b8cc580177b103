import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'

/**
 * A key for one purpose. A key of another purpose, derived from the same secret, does not decrypt the texts of this
 * one. A KeyObject is several times faster than bytes, because Node.js converts bytes at each use.
 */
export type BoxKey = KeyObject

const VERSION = 1
const versionByte = Buffer.of(VERSION)
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

export const boxKey = (secret: string, purpose: string): BoxKey =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `tidings ${purpose}`, KEY_BYTES)))

/** A version, a nonce, the tag of AES-256-GCM and the encrypted text. Encrypting a text twice gives different bytes. */
export function seal(key: BoxKey, text: string): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(versionByte)
  const sealed = cipher.update(text, 'utf8')
  cipher.final() // returns no bytes, because GCM needs no padding
  return Buffer.concat([versionByte, nonce, cipher.getAuthTag(), sealed])
}

const NONCES_AT_ONCE = 256
const nonces = Buffer.alloc(NONCES_AT_ONCE * NONCE_BYTES)
let nextAt = nonces.length

/**
 * Each random nonce is used once. Many are generated together, because generating one takes as long as an encryption.
 */
function nextNonce(): Buffer {
  if (nextAt === nonces.length) {
    randomFillSync(nonces)
    nextAt = 0
  }
  const nonce = nonces.subarray(nextAt, nextAt + NONCE_BYTES)
  nextAt += NONCE_BYTES
  return nonce
}

/** Throws when the text was encrypted with another key or is damaged. The two cases look the same. */
export function open(key: BoxKey, box: Buffer): string {
  if (box.length < HEAD_BYTES || box[0] !== VERSION) throw new Error('it is no box of a version known here')
  const nonce = box.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(versionByte)
    .setAuthTag(box.subarray(1 + NONCE_BYTES, HEAD_BYTES))
  try {
    return Buffer.concat([decipher.update(box.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    throw new Error('it was sealed with another secret, or is damaged')
  }
}
