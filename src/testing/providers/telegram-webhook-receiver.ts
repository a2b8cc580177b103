import type { IncomingMessage } from 'node:http'
import type { Receipt } from '../../channels/channel.ts'
import type { RawSettings } from '../../channels/settings.ts'
import type { ReadWebhook, WebhookResult } from '../../channels/webhook.ts'
import { type Deed, startFakeServer } from './fake-server.ts'

/**
 * A fake of our own webhook route: reads updates of Telegram, passes receipts on, and answers 200 when they are
 * accepted. `results` are the parsed updates.
 */
export async function startReceiver(
  read: ReadWebhook,
  settings: RawSettings,
  receipts: (batch: Receipt[]) => Promise<void>,
) {
  const results: WebhookResult[] = []

  async function deedFor(request: IncomingMessage, body: Buffer): Promise<Deed> {
    const headers = request.headers as Record<string, string | undefined>
    const result = read(settings, { method: 'POST', headers, query: {}, body }, new Date())
    results.push(result)
    if (result.kind !== 'told') return { status: result.kind === 'forged' ? 403 : 400, body: '' }
    const isTaken = result.receipts.length === 0 || (await receipts(result.receipts).then(isFine, isNot))
    return { status: isTaken ? 200 : 500, body: '' }
  }

  return { ...(await startFakeServer(deedFor)), results }
}

const isFine = () => true
const isNot = () => false
