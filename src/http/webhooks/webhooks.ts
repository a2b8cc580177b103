import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid, notFound } from '../../base/errors.ts'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Sql } from '../../db/sql.ts'
import type { Gateway, Settings } from '../../domain/gateways/gateway.ts'
import { findGateway } from '../../domain/gateways/gateways.ts'
import { gatewayKey, openSettings } from '../../domain/gateways/secrets.ts'
import { type InboundOutcome, receiveInbound } from '../../domain/inbound/inbound.ts'
import type { ProviderReceipt } from '../../domain/receipts/receipt.ts'
import { addToReceiptInbox } from '../../domain/receipts/receipts.ts'
import { saveChats } from '../../domain/subscribers/subscribers.ts'
import { MIB } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import { type ReadWebhook, readerOf, type WebhookReports } from './readers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The gateway of a request to `/webhooks/{gatewayId}`. */
    gateway: Remembered
  }
}

/** Meta's webhooks have up to 3 MB. */
const BODY_LIMIT = 4 * MIB
const SETTINGS_GOOD_FOR_MS = 1000
const SECRETS_RETRY_SECONDS = 60

/**
 * `/webhooks/{gatewayId}`: messengers and providers send receipts and messages of subscribers. The answer leaves after the
 * commit. Receipts are written to the receipt inbox, from which the engines take them.
 */
export function registerWebhooks(app: FastifyInstance, context: Context & { strangerBytes: StrangerBytes }) {
  const { clock } = context
  const gateways = rememberGateways(context.sql, gatewayKey(context.secret))

  app.register(async scope => {
    takeBodiesAsTheyAre(scope)
    context.strangerBytes.guard(scope)
    // Before the body is read: unknown clients cannot fill the memory with bodies for gateways that do not exist.
    scope.decorateRequest('gateway')
    scope.addHook('onRequest', async request => {
      request.gateway = await gateways.require((request.params as { gatewayId: string }).gatewayId)
    })
    scope.route({
      method: ['GET', 'POST'],
      url: '/webhooks/:gatewayId',
      bodyLimit: BODY_LIMIT,
      handler: async (request, reply) => {
        const { gatewayId, read, settings } = request.gateway
        // Some providers report by GET. A HEAD request shows that the gateway exists, and records nothing.
        if (request.method === 'HEAD') return {}
        const result = read(settings, asItArrived(request), clock())
        switch (result.kind) {
          case 'told':
            await keep(context, request, result)
            return {}
          case 'asked':
            return reply.type('text/plain; charset=utf-8').send(result.answer)
          case 'forged':
            request.log.warn({ gatewayId, address: request.ip, reason: result.reason }, 'webhook.forged')
            throw new AppError('not_authenticated', 'The signature or the token is wrong')
          case 'unreadable':
            request.log.warn({ gatewayId, reason: result.reason }, 'webhook.unreadable')
            throw invalid('body: cannot be read')
        }
      },
    })
  })
}

/** Reads every body as bytes, with any content type, because signatures are computed over the bytes. */
function takeBodiesAsTheyAre(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body)
}

const asItArrived = ({ method, headers, query, body }: FastifyRequest) => ({
  method: method as 'GET' | 'POST',
  headers: firsts(headers),
  query: firsts(query as Record<string, string | string[] | undefined>),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
})

/** Of a repeated parameter the first value counts. */
const firsts = (values: Record<string, string | string[] | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))

// Recording ---------------------------------------------------------------------------------------------------------

async function keep(context: Context, { log, gateway }: FastifyRequest, { receipts, inbound, chats }: WebhookReports) {
  const { sql: pool, stopWords, numbering } = context
  const { gatewayId } = gateway
  if (receipts.length + inbound.length + chats.length === 0) return
  const outcomes = await pool.begin(async sql => {
    const theirs = receipts.flatMap(byProviderId)
    if (theirs.length > 0) await addToReceiptInbox(sql, gatewayId, theirs)
    // Chats come first: a chat may name the number of the subscriber whose message follows.
    await saveChats(sql, gatewayId, chats)
    const taken: InboundOutcome[] = []
    for (const message of inbound) {
      taken.push(await receiveInbound(sql, gatewayId, message, stopWords, numbering()))
    }
    return taken
  })
  for (const [index, { kind, ...more }] of outcomes.entries()) {
    const { from, to } = inbound[index]!
    log.info({ gatewayId, to, from: from.slice(-4), outcome: kind, ...more }, 'inbound.taken')
  }
}

/** Each provider identifies messages by its own id. Some providers send the id of the service too. */
function byProviderId(receipt: WebhookReports['receipts'][number]): ProviderReceipt[] {
  const { of, ownId, status, happenedAt, errorCode, operatorError } = receipt
  if (!('providerId' in of)) return []
  const told = { happenedAt, errorCode: errorCode ?? null, operatorError: operatorError ?? null }
  return [{ providerId: of.providerId, ownId: ownId ?? null, status, ...told }]
}

// Gateways ----------------------------------------------------------------------------------------------------------

type Remembered = { gatewayId: number; read: ReadWebhook; settings: Settings; at: number }

/** Keeps gateways with their decrypted settings for a second, so that a burst of webhooks reads the database once. */
function rememberGateways(sql: Sql, key: BoxKey) {
  const known = new Map<string, Remembered>()

  async function find(id: string): Promise<Remembered> {
    const gateway = /^[1-9]\d{0,14}$/.test(id) ? await findGateway(sql, Number(id)) : undefined
    known.delete(id)
    const read = gateway && readerOf(gateway.connector)
    if (!read) throw notFound('Gateway')
    const { gatewayId } = gateway
    const found = { gatewayId, read, settings: settingsOf(gateway, key), at: performance.now() }
    known.set(id, found)
    return found
  }

  return {
    async require(id: string): Promise<Remembered> {
      const remembered = known.get(id)
      const isFresh = remembered && performance.now() - remembered.at < SETTINGS_GOOD_FOR_MS
      return isFresh ? remembered : find(id)
    },
  }
}

/** Makes the provider retry. Meanwhile the operator has to restore the right TIDINGS_SECRET or set the secrets again. */
function settingsOf(gateway: Gateway, key: BoxKey): Settings {
  try {
    return openSettings(gateway, key)
  } catch {
    const message = 'The gateway cannot check webhooks just now'
    throw new AppError('not_ready', message, { retryAfterSeconds: SECRETS_RETRY_SECONDS })
  }
}
