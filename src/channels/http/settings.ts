import Type from 'typebox'
import {
  address,
  flag,
  type RawSettings,
  rare,
  refine,
  secret,
  senderNames,
  text,
  valuesOf,
  whole,
} from '../settings.ts'

/** The settings of a gateway with our JSON protocol (docs/gateway-protocol.md). */
export const httpSchema = Type.Object({
  /** The address for messages. */
  url: address(),
  /** Both sides sign with this key. */
  secret: signingKey(),
  /** The value of the header `authorization`. */
  authorization: Type.Optional(secret(header())),
  /** The address for receipts. Every message carries it. */
  statusUrl: Type.Optional(address()),
  /** The provider accepts a message once, even if it is sent several times. */
  idempotent: flag(),
  senderNames: senderNames(),
  ...rare({
    window: whole(1, 1000, 20),
    timeoutMs: whole(100, 300_000, 30_000),
  }),
})

export type HttpSettings = ReturnType<typeof readSettings>

export function readSettings(raw: RawSettings) {
  const { secret, ...settings } = valuesOf(httpSchema, raw)
  return { ...settings, key: secret }
}

const keySchema = Type.Pick(httpSchema, ['secret'])

/** Webhooks need no other setting. */
export const readKey = (raw: RawSettings): Buffer => valuesOf(keySchema, raw).secret

/** The secret of Standard Webhooks: 24 to 64 bytes, in Base64 after the prefix. */
function signingKey() {
  const given = refine(secret(text()), isKey, 'must be whsec_ and 24 to 64 bytes in Base64')
  return Type.Decode(given, keyOf)
}

function isKey(text: string): boolean {
  const { length } = keyOf(text)
  return length >= 24 && length <= 64
}

function keyOf(text: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  return Buffer.from(base64 ?? '', 'base64')
}

function header() {
  const given = refine(text(), isPlainLine, 'must be one line of plain characters')
  return Type.Decode(given, value => value.trim())
}

function isPlainLine(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text.trim())
}
