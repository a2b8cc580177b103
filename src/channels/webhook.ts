import type { Inbound, Receipt } from './channel.ts'
import type { RawSettings } from './settings.ts'

/** What a messenger tells us over HTTP, as it arrived. Names of headers are lower case. */
export type WebhookRequest = {
  method: 'GET' | 'POST'
  headers: Record<string, string | undefined>
  query: Record<string, string | undefined>
  body: Buffer
}

/** A subscriber of a bot who came, or whose chat is closed; `destination` when the number is known. */
export type ChatChange = { address: string; destination?: string; gone: boolean }

/** `ownId`: our uuid, where the provider repeats it. A message whose submission was not answered is known by it alone. */
export type ToldReceipt = Receipt & { ownId?: string }

export type WebhookResult =
  /** What was told; it is acknowledged when it is safe in the database. */
  | { kind: 'told'; receipts: ToldReceipt[]; inbound: Inbound[]; chats: ChatChange[] }
  /** A question about ourselves, e.g. whether this address is ours: answered as it is. */
  | { kind: 'asked'; answer: string }
  /** Not from whom it says it is from. */
  | { kind: 'forged'; reason: string }
  /** From the right one, but nothing we can read. */
  | { kind: 'unreadable'; reason: string }

/** Verifies and reads a webhook with the settings of the gateway it came for. Pure: it neither stores nor calls. */
export type ReadWebhook = (settings: RawSettings, request: WebhookRequest, now: Date) => WebhookResult

/** Our uuid as a provider repeats it; nothing when it is none. */
export const readOwnId = (value: unknown): { ownId?: string } =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? { ownId: value } : {}
