import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, notFound } from '../../base/errors.ts'
import { networkOf } from '../../base/network/networks.ts'
import type { Transaction } from '../../db/sql.ts'
import type { FoundMessage } from '../../domain/message-search/found-message.ts'
import { requireMessage } from '../../domain/message-search/message-search.ts'
import { isCode } from '../../domain/short-links/short-link.ts'
import { type Click, findLink, followLink } from '../../domain/short-links/short-links.ts'
import { enqueueEvents } from '../../domain/singles/message-callbacks.ts'
import type { Context } from '../context.ts'
import { ClickLimit } from './click-limit.ts'

/**
 * `GET /s/{code}`: redirects a browser to the target of the short link. The answer is not cached, so that the service sees
 * every click. The target page does not learn the short link.
 */
export function registerShortLinks(app: FastifyInstance, { sql, clock, publicUrl }: Context) {
  const base = `${publicUrl}/s`
  const clicks = new ClickLimit()

  async function follow(code: string, address: string) {
    const now = clock()
    if (!clicks.take(code, address, now)) return findLink(sql, code)
    try {
      return await followLink(sql, code, { base, now, enqueue: enqueueClick })
    } catch (error) {
      clicks.giveBack(code, address)
      throw error
    }
  }

  app.route<{ Params: { code: string } }>({
    method: ['GET', 'HEAD'],
    url: '/s/:code',
    handler: async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      const { code } = request.params
      const find = () => (isClick(request) ? follow(code, networkOf(request.ip)) : findLink(sql, code))
      const link = isCode(code) && (await find())
      if (!link) throw notFound('Link')
      return reply.code(302).header('location', new URL(link.url).href).send()
    },
  })
}

/** Whether a person clicked: no HEAD request, no prefetch by a browser, no preview by a messenger. */
const isClick = ({ method, headers }: FastifyRequest) =>
  method === 'GET' &&
  !/prefetch|preview/i.test(`${headers.purpose} ${headers['sec-purpose']} ${headers['x-purpose']}`) &&
  !ROBOTS.test(headers['user-agent'] ?? '')

/** The user agents of previews and crawlers, but not phones of the brand Cubot. */
const ROBOTS = /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit|vkshare|^whatsapp\/|^viber\//i

/** The client of the message, if it requested callbacks for clicks. */
async function enqueueClick(sql: Transaction, { companyId, messageUuid, url, shortUrl, clickedAt }: Click) {
  const message = await messageOf(sql, companyId, messageUuid)
  if (!message) return
  await enqueueEvents(
    sql,
    companyId,
    [{ of: message, what: { kind: 'click', url, shortUrl, at: clickedAt } }],
    clickedAt,
  )
}

/** Undefined if the month of the message is detached. The link still works. */
async function messageOf(sql: Transaction, companyId: number, uuid: string): Promise<FoundMessage | undefined> {
  try {
    const found = await requireMessage(sql, companyId, uuid)
    return found.uuid === uuid ? found : undefined // and not a message whose external id is this uuid
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}
