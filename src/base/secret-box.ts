import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'

/**
 * A key for one purpose. Keys of different purposes, made of the same secret, do not open each other's boxes. Node.js
 * uses a KeyObject several times faster than bytes, which it makes into a KeyObject again at each use.
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

/** A version, a nonce, the tag of AES-256-GCM, and the text. The same text never looks the same twice. */
export function seal(key: BoxKey, text: string): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(versionByte)
  const sealed = cipher.update(text, 'utf8')
  cipher.final() // gives no bytes: GCM has no blocks to fill up
  return Buffer.concat([versionByte, nonce, cipher.getAuthTag(), sealed])
}

const NONCES_AT_ONCE = 256
const nonces = Buffer.alloc(NONCES_AT_ONCE * NONCE_BYTES)
let nextAt = nonces.length

/** Each random nonce is used once. Many are drawn together, because a draw takes as long as the encryption. */
function nextNonce(): Buffer {
  if (nextAt === nonces.length) {
    randomFillSync(nonces)
    nextAt = 0
  }
  const nonce = nonces.subarray(nextAt, nextAt + NONCE_BYTES)
  nextAt += NONCE_BYTES
  return nonce
}

/** Throws when it was sealed with another key or is damaged: these cannot be told apart. */
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
