import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { describeApi } from '../openapi.ts'
import { introductionOf } from '../reference/introduction.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import { authenticatePartner } from './auth.ts'
import { companyRoutes } from './companies.ts'
import { dispatchRoutes } from './dispatches.ts'
import { documentRoutes } from './documents.ts'
import { messageRoutes } from './messages.ts'
import { priceRoutes } from './prices.ts'
import { recipientRoutes } from './recipients.ts'
import { addPartnerCallbacks } from './reference.ts'
import { reportRoutes } from './reports.ts'
import { senderRoutes } from './senders.ts'
import { tokenRoutes } from './tokens.ts'
import { partnerWords } from './words.ts'

const description = introductionOf(
  'Companies, documents, sender names, dispatches, message statuses, blacklist and prices, for a partner that looks after client companies.',
  'Get a token with `POST /auth/token` and send it as `Authorization: Bearer TOKEN` with every other request.',
)

/** The partner API, one file for each resource. All routes but the login need a token. */
export async function registerPartnerApi(app: FastifyInstance, context: Context & { strangerBytes: StrangerBytes }) {
  await app.register(
    async api => {
      await describeApi(api, {
        title: 'Tidings partner API',
        description,
        serverUrl: '/partner/v1',
        security: {
          token: { type: 'http', scheme: 'bearer', description: 'The token that `POST /auth/token` answered.' },
        },
        words: partnerWords,
        addOwn: addPartnerCallbacks,
      })
      await api.register(async open => {
        context.strangerBytes.guard(open)
        await open.register(tokenRoutes(context))
      })
      await api.register(async guarded => {
        authenticatePartner(guarded, context)
        await guarded.register(companyRoutes(context), { prefix: '/company' })
        await guarded.register(documentRoutes(context), { prefix: '/company/:id/documents' })
        await guarded.register(senderRoutes(context), { prefix: '/senders' })
        await guarded.register(dispatchRoutes(context), { prefix: '/dispatches' })
        await guarded.register(reportRoutes(context), { prefix: '/dispatches' })
        await guarded.register(messageRoutes(context), { prefix: '/messages' })
        await guarded.register(recipientRoutes(context), { prefix: '/recipients' })
        await guarded.register(priceRoutes(context), { prefix: '/price' })
      })
      app.get('/docs/partner.json', async () => api.swagger())
    },
    { prefix: '/partner/v1' },
  )
}
