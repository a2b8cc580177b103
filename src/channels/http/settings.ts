import { address, flag, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** How a gateway speaks our JSON protocol (docs/gateway-protocol.md), complete. */
export type HttpSettings = {
  /** Where messages are handed over. */
  url: string
  /** The key both sides sign with. */
  key: Buffer
  /** Sent as it is in the header of that name. */
  authorization: string | undefined
  /** Where the provider is to tell what became of a message; told with every message. */
  statusUrl: string | undefined
  /** The provider takes a message once, however often it is handed over. */
  idempotent: boolean
  window: number
  timeoutMs: number
}

/** Settings that are kept encrypted and never shown. */
export const secretSettings = ['secret', 'authorization']

/** Reads the settings of a gateway's row; throws with the name of the setting that is wrong. */
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

/** What Standard Webhooks asks of a secret: 24 to 64 bytes, in Base64 after the prefix. */
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
