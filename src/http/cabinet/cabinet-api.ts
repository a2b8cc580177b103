import type { FastifyInstance } from 'fastify'
import { SecondFactors } from '../../domain/people/second-factor.ts'
import type { Context } from '../context.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import { guardCabinet } from './access.ts'
import { accountRoutes } from './account.ts'
import { auditRoutes } from './audit.ts'
import { blacklistRoutes } from './blacklist.ts'
import type { CabinetContext } from './cabinet-context.ts'
import { callbackLogRoutes } from './callback-log.ts'
import { companyRoutes } from './companies.ts'
import { companyListRoutes } from './company-list.ts'
import { SessionCookie } from './cookie.ts'
import { dispatchRoutes } from './dispatches.ts'
import { documentRoutes } from './documents.ts'
import { gatewayRoutes } from './gateways.ts'
import { healthRoutes } from './health.ts'
import { inboundRoutes } from './inbound.ts'
import { keyRoutes } from './keys.ts'
import { linkRoutes } from './links.ts'
import { liveRoutes } from './live.ts'
import { messageRoutes } from './messages.ts'
import { moneyRoutes } from './money.ts'
import { newDispatchRoutes } from './new-dispatch.ts'
import { numberingRoutes } from './numbering.ts'
import { otherPriceRoutes } from './other-prices.ts'
import { overviewRoutes } from './overview.ts'
import { partnerRoutes } from './partners.ts'
import { peopleRoutes } from './people.ts'
import { priceRoutes } from './prices.ts'
import { requestLogRoutes } from './request-log.ts'
import { reviewRoutes } from './review.ts'
import { sendRoutes } from './send.ts'
import { senderRoutes } from './senders.ts'
import { sessionRoutes } from './session.ts'
import { tariffRoutes } from './tariffs.ts'
import { templateRoutes } from './templates.ts'
import { verificationRoutes } from './verification.ts'

const PREFIX = '/cabinet/api'

/** What the pages of the cabinet ask. Closed by default: every route states the right that it needs. */
export function registerCabinetApi(app: FastifyInstance, given: Context & { strangerBytes: StrangerBytes }) {
  const cookie = new SessionCookie(given.publicUrl)
  const secondFactors = new SecondFactors(given.sql, given.secret)
  const context: CabinetContext = { ...given, cookie, secondFactors }
  app.register(
    async scope => {
      guardCabinet(scope, context, cookie)
      given.strangerBytes.guard(scope)
      await scope.register(sessionRoutes(context))
      await scope.register(accountRoutes(context))
      await scope.register(peopleRoutes(context))
      await scope.register(companyRoutes(context))
      await scope.register(companyListRoutes(context))
      await scope.register(partnerRoutes(context))
      await scope.register(auditRoutes(context))
      await scope.register(blacklistRoutes(context))
      await scope.register(inboundRoutes(context))
      await scope.register(linkRoutes(context))
      await scope.register(messageRoutes(context))
      await scope.register(overviewRoutes(context))
      await scope.register(dispatchRoutes(context))
      await scope.register(gatewayRoutes(context))
      await scope.register(healthRoutes(context))
      await scope.register(liveRoutes(context))
      await scope.register(newDispatchRoutes(context))
      await scope.register(moneyRoutes(context))
      await scope.register(verificationRoutes(context))
      await scope.register(tariffRoutes(context))
      await scope.register(otherPriceRoutes(context))
      await scope.register(priceRoutes(context))
      await scope.register(senderRoutes(context))
      await scope.register(templateRoutes(context))
      await scope.register(reviewRoutes(context))
      await scope.register(sendRoutes(context))
      await scope.register(keyRoutes(context))
      await scope.register(callbackLogRoutes(context))
      await scope.register(requestLogRoutes(context))
      await scope.register(numberingRoutes(context))
    },
    { prefix: PREFIX },
  )
  // Not within the limits for bodies of strangers: the person is known before a file is read.
  app.register(
    async scope => {
      guardCabinet(scope, context, cookie)
      await scope.register(documentRoutes(context))
    },
    { prefix: PREFIX },
  )
}
