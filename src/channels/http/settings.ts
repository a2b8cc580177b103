import { address, flag, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** The settings of a gateway with our JSON protocol (docs/gateway-protocol.md), with all defaults. */
export type HttpSettings = {
  /** The address for messages. */
  url: string
  /** Both sides sign with this key. */
  key: Buffer
  /** The value of the header `authorization`. */
  authorization: string | undefined
  /** The address for receipts. Every message carries it. */
  statusUrl: string | undefined
  /** The provider accepts a message once, even if it is sent several times. */
  idempotent: boolean
  window: number
  timeoutMs: number
}

/** These settings are stored encrypted and never shown. */
export const secretSettings = ['secret', 'authorization']

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
export function readSettings(raw: RawSettings): HttpSettings {
  return {
    url: address(raw, 'url'),
    key: readKey(raw),
    authorization: optional(raw, 'authorization', header),
    statusUrl: optional(raw, 'statusUrl', address),
    idempotent: flag(raw, 'idempotent'),
    window: whole(raw, 'window', 20, 1, 1000),
    timeoutMs: whole(raw, 'timeoutMs', 30_000, 100, 300_000),
  }
}

/** The secret of Standard Webhooks: 24 to 64 bytes, in Base64 after the prefix. */
export function readKey(raw: RawSettings): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text(raw, 'secret')) ?? []
  const key = Buffer.from(base64 ?? '', 'base64')
  if (key.length < 24 || key.length > 64) throw wrongSetting('secret', 'must be whsec_ and 24 to 64 bytes in Base64')
  return key
}

function header(raw: RawSettings, name: string): string {
  const value = text(raw, name).trim()
  if (!/^[\x20-\x7e]+$/.test(value)) throw wrongSetting(name, 'must be one line of plain characters')
  return value
}
