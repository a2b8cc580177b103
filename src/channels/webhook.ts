import type { Inbound, Receipt } from './channel.ts'
import type { RawSettings } from './settings.ts'

/** A webhook request as it arrived. The names of headers are in lower case. */
export type WebhookRequest = {
  method: 'GET' | 'POST'
  headers: Record<string, string | undefined>
  query: Record<string, string | undefined>
  body: Buffer
}

/** A subscriber opened or closed the chat with a bot. `destination` is there if the number is known. */
export type ChatChange = { address: string; destination?: string; gone: boolean }

/** `ownId`: our uuid, if the provider repeats it. A message whose call had no answer is found only by it. */
export type ToldReceipt = Receipt & { ownId?: string }

export type WebhookResult =
  /** The content of the webhook. It is acknowledged when it is stored. */
  | { kind: 'told'; receipts: ToldReceipt[]; inbound: Inbound[]; chats: ChatChange[] }
  /** The provider checks that the address is ours. `answer` is the body of the response. */
  | { kind: 'asked'; answer: string }
  /** The signature or the secret is wrong. */
  | { kind: 'forged'; reason: string }
  /** The sender is right, but the body cannot be read. */
  | { kind: 'unreadable'; reason: string }

/** Verifies and reads a webhook with the settings of its gateway. It stores nothing and calls no service. */
export type ReadWebhook = (settings: RawSettings, request: WebhookRequest, now: Date) => WebhookResult

/** Our uuid, if the value is one. */
export const readOwnId = (value: unknown): { ownId?: string } =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? { ownId: value } : {}
