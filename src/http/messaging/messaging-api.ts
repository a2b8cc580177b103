import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { type KeyType, keyTypes } from '../../domain/keys/key.ts'
import { Intake } from '../../domain/singles/intake.ts'
import { CodeChecker } from '../../domain/verifications/checker.ts'
import { CodeBox } from '../../domain/verifications/code-box.ts'
import type { GuardWatch } from '../../domain/verifications/guard.ts'
import type { Context } from '../context.ts'
import { describeApi } from '../openapi.ts'
import { introductionOf } from '../reference/introduction.ts'
import { ErrorAnswer } from '../schemas.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import { requireKey, securitySchemes } from './auth.ts'
import { balanceRoutes } from './balance.ts'
import { senderNameRoutes } from './entities/sender-names.ts'
import { templateRoutes } from './entities/templates.ts'
import { referenceRoutes } from './error-codes.ts'
import { cascadeRoutes } from './messages/cascades.ts'
import { dispatchRoutes } from './messages/dispatches.ts'
import { flashcallRoutes } from './messages/flashcall.ts'
import { messageListRoutes } from './messages/message-list.ts'
import { messageRoutes } from './messages/messages.ts'
import { stopRoutes } from './messages/stop.ts'
import { addMessagingSchemas } from './reference/messaging-schemas.ts'
import { messagingWords } from './reference/words.ts'
import { subscriberRoutes } from './subscribers.ts'
import { verifierRoutes } from './verification/verifier.ts'
import { widgetCheckRoutes, widgetSendRoutes } from './verification/widget.ts'

/** One intake for all prefixes and for the widget, so that messages that arrive together are written together. */
export type MessagingContext = Context & {
  intake: Intake
  codes: CodeBox
  checker: CodeChecker
  strangerBytes: StrangerBytes
}

export function createMessagingContext(
  given: Context & { guard?: GuardWatch; strangerBytes: StrangerBytes },
): MessagingContext {
  const codes = new CodeBox(given.secret)
  const intake = new Intake({ ...given, linkBase: `${given.publicUrl}/s` })
  return { ...given, intake, codes, checker: new CodeChecker(given.sql, codes) }
}

type Routes = (context: MessagingContext) => FastifyPluginAsync

/** The resources by the types of keys that they accept. */
const sections: { types: readonly KeyType[]; routes: Routes[] }[] = [
  { types: keyTypes, routes: [balanceRoutes, referenceRoutes] },
  {
    types: ['MESSAGE'],
    routes: [
      messageRoutes,
      messageListRoutes,
      cascadeRoutes,
      stopRoutes,
      dispatchRoutes,
      flashcallRoutes,
      subscriberRoutes,
    ],
  },
  { types: ['ENTITY'], routes: [senderNameRoutes, templateRoutes] },
  { types: ['VERIFIER'], routes: [verifierRoutes] },
  { types: ['VERIFIER', 'BUILDER_WIDGET'], routes: [widgetCheckRoutes] },
]

const description = introductionOf(
  "Messages, cascades and dispatches of a company, its sender names and templates, for the company's own software.",
  'Send the key as it is, as `Authorization: Bearer KEY` or `Authorization: Basic KEY`. Each operation names the type of key it takes. `/v1/X` and `/api/v1/v1/X` are other spellings of `/api/v1/X`.',
)

const PREFIX = '/api/v1'
/** Other prefixes of the same routes: the specification also uses `/v1/X`. */
const OTHER_PREFIXES = ['/v1', '/api/v1/v1']

/** The messaging API, for the software of companies. The reference shows only its first prefix. */
export async function registerMessagingApi(app: FastifyInstance, context: MessagingContext) {
  await app.register(
    async api => {
      await describeApi(api, {
        title: 'Tidings messaging API',
        description,
        serverUrl: PREFIX,
        security: securitySchemes,
        words: messagingWords,
        addOwn: addMessagingSchemas,
      })
      await registerRoutes(api, context)
      app.get('/docs/messaging.json', async () => api.swagger())
    },
    { prefix: PREFIX },
  )
  for (const prefix of OTHER_PREFIXES) await app.register(api => registerRoutes(api, context), { prefix })
}

async function registerRoutes(api: FastifyInstance, context: MessagingContext) {
  registerPing(api)
  for (const { types, routes } of sections) {
    await api.register(async section => {
      requireKey(section, context, ...types)
      for (const resource of routes) await section.register(resource(context))
    })
  }
  await api.register(widgetSendRoutes(context))
}

const pingSchema = {
  tags: ['Connection'],
  summary: 'Check that the service is available',
  description: 'Needs no key and checks none.',
  response: {
    200: {
      description: 'The service is available',
      content: { 'text/plain': { schema: { type: 'string', const: 'PONG' } } },
    },
    default: ErrorAnswer,
  },
}

const registerPing = (api: FastifyInstance) =>
  api.get('/ping', { schema: pingSchema }, async (_, reply) => reply.type('text/plain; charset=utf-8').send('PONG'))
