import { readWebhook as readHttp } from '../../channels/http/webhook.ts'
import { readGatewayWebhook, readWebhook as readTelegram } from '../../channels/telegram/webhook.ts'
import { readWebhook as readWhatsapp } from '../../channels/whatsapp/webhook.ts'

/** The reader of a gateway's webhooks, by its connector. */
export const readers = {
  whatsapp: readWhatsapp,
  telegram: readTelegram,
  'telegram-gateway': readGatewayWebhook,
  http: readHttp,
}

export type ReadWebhook = typeof readHttp
export type WebhookResult = ReturnType<ReadWebhook>
export type WebhookReports = Extract<WebhookResult, { kind: 'told' }>

export const readerOf = (connector: string): ReadWebhook | undefined =>
  Object.hasOwn(readers, connector) ? readers[connector as keyof typeof readers] : undefined
