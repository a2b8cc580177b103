import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../base/errors.ts'
import { simulatedMessage } from '../../../domain/gateways/gateways.ts'
import { outcomeOf, type SessionContext, sendForSession } from '../../../domain/verification/widget-sessions.ts'
import type { Widget } from '../../../domain/verifiers/verifier.ts'
import { findSession, widgetIdIn } from '../../../domain/widgets/sessions.ts'
import type { Session } from '../../../domain/widgets/widget.ts'
import { KIB } from '../../bodies/body.ts'
import type { Context } from '../../context.ts'
import { answerRefusal } from '../../messaging/verification/verifier.ts'
import type { StrangerBytes } from '../../server/stranger-bytes.ts'
import { findDemoWidget, isAllSimulated } from './demo-widget.ts'
import { demoPage } from './page.ts'

type DemoContext = Context & SessionContext & { strangerBytes: StrangerBytes }

const WithLanguage = Type.Object({ lang: Type.Optional(Type.String({ maxLength: 10 })) })
const WithKey = Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) })

/**
 * A page that demonstrates the widget with the simulated operators. The server of that page runs in this
 * process and answers as the messaging API does. Register it in demo mode only.
 */
export function registerWidgetDemo(app: FastifyInstance, context: DemoContext) {
  app.register(
    async scope => {
      context.strangerBytes.guard(scope)
      await scope.register(routes(context))
    },
    { prefix: '/widget/demo' },
  )
}

const routes =
  (context: DemoContext): FastifyPluginAsyncTypebox =>
  async demo => {
    const { sql } = context
    const ofServer = { bodyLimit: 4 * KIB, schema: { hide: true, body: WithKey } }
    demo.addHook('onRequest', async (_, reply) => void reply.headers(pageHeaders))

    demo.get('/', { schema: { hide: true, querystring: WithLanguage } }, async ({ query }, reply) => {
      const { verifierId } = await requireDemoWidget(context)
      return reply.type('text/html; charset=utf-8').send(demoPage(query.lang === 'ru' ? 'ru' : 'en', verifierId))
    })

    demo.get('/page.js', { schema: { hide: true } }, (_, reply) => sendFile(reply, 'page.js', 'text/javascript'))
    demo.get('/page.css', { schema: { hide: true } }, (_, reply) => sendFile(reply, 'page.css', 'text/css'))

    demo.post('/send', ofServer, async ({ body }, reply) => {
      const { widget, session } = await requireDemoSession(context, body.key)
      const outcome = await sendForSession(context, widget, session)
      return outcome.kind === 'accepted' ? { messageUuid: outcome.uuid } : answerRefusal(reply, outcome)
    })

    demo.post('/check', ofServer, async ({ body }) =>
      outcomeOf(sql, (await requireDemoSession(context, body.key)).session),
    )

    demo.post('/outbox', ofServer, async ({ body }) => {
      const { session } = await requireDemoSession(context, body.key)
      return { items: await handedFor(context, session) }
    })
  }

async function requireDemoWidget({ sql }: Context): Promise<Widget> {
  const widget = await findDemoWidget(sql)
  if (!widget) throw new AppError('not_found', 'The widget of the demo is missing: the next start makes it')
  if (!(await isAllSimulated(sql)))
    throw new AppError('not_found', 'The demo of the widget works with simulated operators alone')
  return widget
}

/** Keys of other widgets are unknown here: the page serves only numbers that were entered on it. */
async function requireDemoSession(context: DemoContext, key: string): Promise<{ widget: Widget; session: Session }> {
  const widget = await requireDemoWidget(context)
  const isOurs = widgetIdIn(key) === widget.verifierId
  const session = isOurs ? await findSession(context.sql, widget.companyId, key) : undefined
  if (!session || session.isOver) throw new AppError('not_found', 'Key not found: it is unknown or too old')
  return { widget, session }
}

/** The newest code of a session, as the simulated operator got it. */
async function handedFor({ sql }: Context, { companyId, messageUuid }: Session) {
  const handed = messageUuid ? await simulatedMessage(sql, companyId, messageUuid) : undefined
  if (!handed) return []
  const { uuid, channelType, senderName, destination, text } = handed
  return [{ messageUuid: uuid, channelType, senderName, destination, text }]
}

/** The page needs only scripts, styles and answers of this service, and a worker that the widget starts for its captcha. */
const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

const sendFile = async (reply: FastifyReply, name: string, type: string) =>
  reply.type(`${type}; charset=utf-8`).send(await readFile(new URL(name, import.meta.url)))
